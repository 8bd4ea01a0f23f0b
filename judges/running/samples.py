"""What is needed to ask the asks that were taken, in a query or two."""

from __future__ import annotations

from collections.abc import Sequence

from annotate.samples.read import of_samples, samples_keyed
from judges.models import Score, ScoreStatus
from judges.running.asking import Todo
from judges.running.opened import OpenRun
from judges.running.queue import Taken


def load(run: OpenRun, taken: Sequence[Taken]) -> list[Todo]:
    """In their order."""
    if not taken:
        return []
    samples = {sample.pk: sample for sample in samples_keyed({each.sample for each in taken}).order_by()}
    for sample in samples.values():
        sample.project = run.project
    todos = [Todo(each, run, samples[each.sample]) for each in taken]
    # Where nobody is asked there are no replies of an earlier time.
    if run.version.endpoint_id is not None:
        _note_failed(run, todos)
    return todos


def _note_failed(run: OpenRun, todos: Sequence[Todo]) -> None:
    keys = {todo.taken.sample for todo in todos}
    bad = of_samples(Score.objects.filter(version_id=run.version.pk), keys).exclude(status=ScoreStatus.OK)
    failed = set(bad.values_list("sample_id", "dimension", "unit", "repeat"))
    for todo in todos if failed else ():
        sample, repeat = todo.taken.sample, todo.taken.repeat
        todo.has_failed = any((sample, dimension, unit, repeat) in failed for dimension, unit in todo.wanted)
