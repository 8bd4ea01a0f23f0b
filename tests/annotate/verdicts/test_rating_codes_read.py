"""Ratings read as numbers are the labels that count, one by one, and those that are read by name."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from annotate.core.blindness import SYSTEM
from annotate.labels.read import counting_labels, latest_per_rater
from annotate.models import Criterion, Label, Rater, Sample
from annotate.projects.criteria import add_criteria
from annotate.samples.read import groups_of
from annotate.verdicts.evidence_read import reference_evidence
from annotate.verdicts.rating_codes_read import ELSEWHERE, rating_columns, ratings_of
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


def one_by_one(criterion: Criterion) -> list[Label]:
    latest = latest_per_rater(counting_labels().filter(criterion=criterion)).select_related("sample", "rater")
    return sorted(latest, key=lambda label: (label.sample.external_id, label.unit, label.rater.name))


def assert_equal(criterion: Criterion) -> None:
    labels, columns = one_by_one(criterion), rating_columns(criterion, reader=SYSTEM)
    assert columns.units == [(label.sample.external_id, label.unit) for label in labels]
    assert columns.raters == [label.rater.name for label in labels]
    # 2 and 2.0 are different evidence.
    assert list(map(repr, columns.values)) == [repr(label.value) for label in labels]
    assert columns.days == [label.task_id and label.updated_at.astimezone(UTC).date().isoformat() for label in labels]
    assert columns.labels.tolist() == [label.pk for label in labels]
    assert columns.tasks.tolist() == [label.task_id or ELSEWHERE for label in labels]
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
    # The last microsecond of a day before 2000, and the first of one after.
    for place, moment in enumerate(
        (datetime(1999, 12, 30, 23, 59, 59, 999_999, UTC), datetime(2026, 11, 21, tzinfo=UTC))
    ):
        Label.objects.filter(pk=one_by_one(support)[place].pk).update(updated_at=moment)
    assert_equal(support)


def test_samples_that_the_reader_still_has_to_label_are_left_out(world: World, samples: list[Sample]) -> None:
    batch = world.batch(criteria=["support"], annotators=[world.ann, world.ben], overlap=2)
    for task in batch.tasks.filter(annotator=world.ben, sample__external_id__in=["s1", "s2"]):
        finish(task, support="yes")
    finish(batch.tasks.get(annotator=world.ann, sample__external_id="s1"), support="no")
    (support,) = world.criteria("support")
    everything = rating_columns(support, reader=SYSTEM)
    assert {sample for sample, _ in everything.units} == {"s1", "s2"}
    assert {sample for sample, _ in rating_columns(support, reader=world.ann).units} == {"s1"}
