"""A sample's side is decided once: nothing that is labelled later moves it."""

from __future__ import annotations

import pytest

from annotate.models import Criterion, Project
from annotate.services.projects import create_project
from judges.models import SplitMember
from judges.services.split import divide
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


def test_later_samples_and_changed_verdicts_move_nobody(project: Project) -> None:
    criterion = Criterion.objects.get(project=project)
    names = _samples(project, 0, 10)
    sides = divide(criterion, dict.fromkeys(names, True))
    names += _samples(project, 10, 200)
    later = divide(criterion, dict.fromkeys(names, False))
    assert {sample: later[sample] for sample in sides} == sides
    # 190 fair draws: fewer than 60 or more than 130 of them on one side would be no chance.
    assert 60 <= sum(is_dev for sample, is_dev in later.items() if sample not in sides) <= 130


def test_who_comes_later_is_drawn_whatever_the_company(project: Project) -> None:
    criterion = Criterion.objects.get(project=project)
    names = _samples(project, 0, 30)
    first, late = names[:10], names[10:]
    divide(criterion, dict.fromkeys(first, True))
    together = divide(criterion, dict.fromkeys(names, True))
    SplitMember.objects.filter(sample__external_id__in=late).delete()
    for sample in reversed(late):
        divide(criterion, {sample: True})
    assert divide(criterion, {}) == together
