"""A transaction that only reads what is committed, as a look's, while people go on labelling: each label keeps its
sample, wherever in between others arrive."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
from django.db import connection, transaction

from annotate.core.blindness import SYSTEM
from annotate.models import Criterion, Label, Rater, Sample
from annotate.verdicts.rating_codes_read import rating_columns, ratings_of
from tests.annotate.factories import World, make_samples, make_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


def label(sample: Sample, criterion: Criterion) -> None:
    """Its value names its sample."""
    rater = Rater.objects.get(name="zoe")
    Label.objects.create(rater=rater, sample=sample, unit="answer", criterion=criterion, value=sample.external_id)


class Meanwhile:
    """Before each statement somebody else, in a session of their own, labels one more sample."""

    def __init__(self, samples: list[Sample], criterion: Criterion) -> None:
        self.left = samples
        self._criterion = criterion

    def __call__(self, execute: Callable[..., Any], *statement: Any) -> Any:
        if self.left:
            thread = Thread(target=self._label, args=[self.left.pop()])
            thread.start()
            thread.join()
        return execute(*statement)

    def _label(self, sample: Sample) -> None:
        try:
            label(sample, self._criterion)
        finally:
            connection.close()


@pytest.mark.parametrize("grouped", [False, True])
def test_each_label_keeps_its_sample(grouped: bool, world: World) -> None:
    (criterion,) = world.criteria("grade")
    Rater.objects.create(project=world.project, name="zoe")
    samples = make_samples(world.project, 40)
    # Of this reading.
    criterion.options, criterion.scale = [{"value": sample.external_id} for sample in samples], "nominal"
    if grouped:
        Sample.objects.filter(project=world.project).update(group_key="g")
    # In the middle, so that those who come are before, between and behind them.
    for sample in samples[10:30:2]:
        label(sample, criterion)
    others = Meanwhile([*samples[:10], *samples[11:30:2], *samples[30:]], criterion)
    with transaction.atomic(), connection.execute_wrapper(others):
        columns = rating_columns(criterion, reader=SYSTEM)
        found = ratings_of(criterion)
    assert len(others.left) < 30, "nobody labelled meanwhile"
    assert len(columns.units) >= 10
    assert [(name, unit) for name, unit in columns.units] == [(value, "answer") for value in columns.values]
    assert found.unit.size >= len(columns.units)
    assert len(set(found.cluster.tolist())) == (1 if grouped else found.unit.size)
