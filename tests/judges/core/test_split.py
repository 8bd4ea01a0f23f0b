"""A sample's side is decided once: nothing that is labelled later moves it."""

from __future__ import annotations

import pytest

from annotate.models import Criterion, Project
from annotate.projects.write import create_project
from judges.core.split import as_divided, divide
from judges.models import SplitMember
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
    SplitMember.objects.all().delete()
    assert divide(criterion, strata) == sides


def test_who_only_looks_sees_the_sides_that_would_be_kept(project: Project) -> None:
    criterion = Criterion.objects.get(project=project)
    names = _samples(project, 0, 30)
    for upto in (10, 30):
        strata = {name: place % 4 == 0 for place, name in enumerate(names[:upto])}
        seen, kept = as_divided(criterion, strata), SplitMember.objects.count()
        assert kept == (0 if upto == 10 else 10)
        assert divide(criterion, strata) == seen == as_divided(criterion, strata)


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
        SplitMember.objects.all().delete()
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
    late = SplitMember.objects.exclude(sample__external_id=names[0])
    assert 150 <= late.filter(is_dev=True).count() <= 250
