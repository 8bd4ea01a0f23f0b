"""Ratings read as numbers are those that are read by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from annotate.core.blindness import SYSTEM
from annotate.models import Criterion, Label, Rater, Sample
from annotate.projects.criteria import add_criteria
from annotate.samples.read import groups_of
from annotate.verdicts.evidence_read import reference_evidence
from annotate.verdicts.rating_codes_read import ratings_of
from tests.annotate.conftest import World
from tests.annotate.factories import finish, make_samples

pytestmark = pytest.mark.django_db

CLAIMS = [{"text": f"Claim {number}."} for number in range(12)]


def said(world: World, criterion: Criterion, units: list[str], values: list[Any]) -> None:
    """By people whose names are not in the order of their keys, of samples whose ids are not either."""
    raters = [Rater.objects.create(project=world.project, name=name) for name in ("zoe", "Ada", "émile", "bob")]
    rng = np.random.default_rng(7)
    labels = [
        Label(rater=rater, sample=sample, unit=unit, criterion=criterion, value=values[rng.integers(len(values))])
        for sample in Sample.objects.filter(project=world.project)
        for unit in units
        for rater in raters
        if rng.random() < 0.6
    ]
    Label.objects.bulk_create(labels)


def assert_equal(criterion: Criterion) -> None:
    by_name = replace(reference_evidence(criterion, reader=SYSTEM), groups=groups_of(criterion.project)).ratings()
    found = ratings_of(criterion)
    assert found.raters == by_name.raters
    assert found.levels == by_name.levels
    for name in ("unit", "rater", "value", "cluster"):
        assert getattr(found, name).tolist() == getattr(by_name, name).tolist(), name
        assert getattr(found, name).dtype == getattr(by_name, name).dtype


@pytest.fixture
def samples(world: World) -> list[Sample]:
    make_samples(world.project, 25, claims=CLAIMS)
    return list(Sample.objects.filter(project=world.project))


def test_claims_and_groups(world: World, samples: list[Sample]) -> None:
    (support,) = world.criteria("support")
    said(world, support, [f"claim:{number}" for number in (0, 2, 10, 11)], ["yes", "no"])
    assert_equal(support)
    # What abstains has no claims; groups are named as samples are, by others, and by no one.
    Sample.objects.filter(external_id__in=["s3", "s14"]).update(abstained=True, abstained_source="person")
    for name, group in (("s2", "s20"), ("s20", "z"), ("s5", "A"), ("s6", "A"), ("s1", "s1")):
        Sample.objects.filter(external_id=name).update(group_key=group)
    assert_equal(support)


@pytest.mark.parametrize(
    ("scale", "values"),
    [("ordinal", [1, 2, 3]), ("binary", [True, False]), ("nominal", ["a", "ü", "c'\""]), ("interval", [0.1, 2, -3.5])],
)
def test_scales(world: World, samples: list[Sample], scale: str, values: list[Any]) -> None:
    options = [] if scale == "interval" else [{"value": value} for value in values]
    spec = {"key": "other", "unit": "answer", "scale": scale, "prompt": "?", "options": options}
    (criterion,) = add_criteria(project=world.project, specs=[spec])
    assert_equal(criterion)  # of nobody
    said(world, criterion, ["answer"], values)
    assert_equal(criterion)


def test_of_two_labels_of_one_person_the_later_counts(world: World, samples: list[Sample]) -> None:
    (support,) = world.criteria("support")
    for value in ("yes", "no"):
        for task in world.batch(criteria=["support"]).tasks.filter(sample__external_id__in=["s1", "s2"]):
            finish(task, support=value)
    assert Label.objects.filter(criterion=support).count() > len(ratings_of(support)) > 0
    assert_equal(support)
