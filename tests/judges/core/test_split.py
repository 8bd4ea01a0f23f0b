"""A sample's side is decided once: nothing that is labelled later moves it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from annotate.models import Criterion, Project, Sample
from annotate.projects.write import create_project
from judges.core.split import as_divided, divide, sides_of
from judges.models import GroupSide, Side
from tests.annotate.factories import GRADE, make_sample

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return create_project(slug="desk", spec={"name": "Desk", "criteria": [GRADE]})


def _samples(project: Project, first: int, last: int) -> list[str]:
    return [make_sample(project, number).external_id for number in range(first, last)]


def test_the_first_division_is_stratified_and_repeatable(project: Project) -> None:
    criterion = Criterion.objects.get(project=project)
    names = _samples(project, 0, 40)
    strata = {sample: place % 4 == 0 for place, sample in enumerate(names)}
    sides = divide(criterion, strata)
    assert sum(sides.values()) == 20
    assert sum(sides[sample] for sample, passes in strata.items() if passes) == 5
    GroupSide.objects.all().delete()
    assert divide(criterion, strata) == sides


def test_later_samples_and_changed_verdicts_move_no_sample(project: Project) -> None:
    criterion = Criterion.objects.get(project=project)
    names = _samples(project, 0, 10)
    sides = divide(criterion, dict.fromkeys(names, True))
    names += _samples(project, 10, 200)
    later = divide(criterion, dict.fromkeys(names, False))
    assert {sample: later[sample] for sample in sides} == sides
    # 190 fair draws: fewer than 60 or more than 130 of them on one side would be no chance.
    assert 60 <= sum(is_dev for sample, is_dev in later.items() if sample not in sides) <= 130


def test_who_comes_later_fills_up_its_stratum(project: Project) -> None:
    """A report that was opened when there was one label must not cost the stratification of all that follow."""
    criterion = Criterion.objects.get(project=project)
    names = _samples(project, 0, 120)
    strata = {name: place % 4 == 0 for place, name in enumerate(names)}
    found = []
    for _ in range(2):
        GroupSide.objects.all().delete()
        divide(criterion, {names[0]: strata[names[0]]})
        for upto in (40, 41, 42, 120):
            sides = divide(criterion, {name: strata[name] for name in names[:upto]})
        found.append(sides)
    assert found[0] == found[1]
    for passes in (True, False):
        of_stratum = [sides[name] for name in names if strata[name] is passes]
        assert abs(sum(of_stratum) - len(of_stratum) / 2) <= 1


def test_who_comes_alone_is_drawn_by_its_own_id(project: Project) -> None:
    """Even chances for each: of 400 first comers to strata of their own, about half come to dev."""
    criterion = Criterion.objects.get(project=project)
    names = _samples(project, 0, 401)
    divide(criterion, {names[0]: True})
    for name in names[1:]:
        divide(criterion, {name: True})
    late = GroupSide.objects.exclude(group=names[0])
    assert 150 <= late.filter(side=Side.DEV).count() <= 250


def _next_version(criterion: Criterion) -> Criterion:
    Criterion.objects.filter(pk=criterion.pk).update(is_current=False)
    return Criterion.objects.create(
        project=criterion.project,
        version=criterion.version + 1,
        **{name: getattr(criterion, name) for name in ("key", "name", "unit", "scale", "options", "passes")},
        prompt="How good is it, all in all?",
    )


@pytest.mark.parametrize("change", ["one label says otherwise", "a sample drops out"])
def test_another_version_of_the_criterion_starts_no_new_division(project: Project, change: str) -> None:
    """Half of the samples that were dev would be test, had the new version a division of its own."""
    criterion = Criterion.objects.get(project=project)
    strata = {name: place % 4 == 0 for place, name in enumerate(_samples(project, 0, 100))}
    before = divide(criterion, strata)
    first = next(iter(strata))
    if change == "a sample drops out":
        del strata[first]
    else:
        strata[first] = not strata[first]
    after = divide(_next_version(criterion), strata)
    assert after == {name: before[name] for name in strata}
    assert sum(after.values()) in (49, 50)


def _grouped(project: Project, groups: Mapping[str, str]) -> None:
    for name, group in groups.items():
        Sample.objects.filter(project=project, external_id=name).update(group_key=group)


def test_the_samples_of_a_group_share_a_side(project: Project) -> None:
    criterion = Criterion.objects.get(project=project)
    names = _samples(project, 0, 120)
    group_of = {name: f"q{place // 3}" for place, name in enumerate(names)}
    _grouped(project, group_of)
    strata = {name: place % 2 == 0 for place, name in enumerate(names)}
    for some in (names[:60], names):
        sides = divide(criterion, {name: strata[name] for name in some})
    assert len({(group_of[name], is_dev) for name, is_dev in sides.items()}) == 40
    assert sum(sides.values()) == 60
    assert GroupSide.objects.count() == 40
    assert sides_of(criterion, names) == sides == as_divided(criterion, strata)


def test_what_was_dev_stays_dev_when_its_group_comes_later(project: Project) -> None:
    criterion = Criterion.objects.get(project=project)
    names = _samples(project, 0, 40)
    before = divide(criterion, dict.fromkeys(names, True))
    dev, test = ([name for name in names if before[name] is is_dev] for is_dev in (True, False))
    late = _samples(project, 40, 44)
    # Of both sides; of test alone; with one that nobody has labelled since; and of a group that was test before.
    groups = {dev[0]: "a", test[0]: "a", test[1]: "b", test[2]: "b", dev[1]: "c", late[0]: "c"}
    _grouped(project, groups)
    GroupSide.objects.create(project=project, criterion_key=criterion.key, group="d", side=Side.TEST)
    _grouped(project, {dev[2]: "d", late[1]: "d"})
    strata = dict.fromkeys([*names[:], *late], True)
    del strata[dev[1]]
    expected = {test[0]: True, dev[0]: True, test[1]: False, test[2]: False, late[0]: True, dev[2]: True, late[1]: True}
    later = _next_version(criterion)
    for sides in (as_divided(criterion, strata), divide(criterion, strata), divide(later, strata)):
        assert {name: sides[name] for name in expected} == expected
        assert all(sides[name] for name in dev if name in strata)


def test_what_is_kept_for_systems_is_on_neither_side(project: Project) -> None:
    criterion = Criterion.objects.get(project=project)
    names = _samples(project, 0, 20)
    for name in names[:5]:
        GroupSide.objects.create(project=project, criterion_key=criterion.key, group=name, side=Side.SYSTEMS)
    sides = divide(criterion, dict.fromkeys(names, True))
    assert sides.keys() == set(names[5:]) == sides_of(criterion, names).keys()
    # Whoever joins what is kept for systems is kept as well; what was dev is dev.
    dev = next(name for name in names[5:] if sides[name])
    test = next(name for name in names[5:] if not sides[name])
    _grouped(project, {names[0]: "a", test: "a", names[1]: "b", dev: "b"})
    after = divide(criterion, dict.fromkeys(names, True))
    assert not {names[0], test} & after.keys()
    assert after[names[1]] is after[dev] is True
