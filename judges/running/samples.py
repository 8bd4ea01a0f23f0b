"""What is needed to ask the asks that were taken, in two queries."""

from __future__ import annotations

from collections.abc import Sequence

from annotate.selectors.samples import of_samples, samples_keyed
from judges.models import Score, ScoreStatus
from judges.running.asking import Todo
from judges.running.opened import OpenRun
from judges.running.queue import Taken


def load(run: OpenRun, taken: Sequence[Taken]) -> list[Todo]:
    """In their order."""
    if not taken:
        return []
    keys = {each.sample for each in taken}
    samples = {sample.pk: sample for sample in samples_keyed(keys).order_by()}
    for sample in samples.values():
        sample.project = run.project
    bad = of_samples(Score.objects.filter(version_id=run.version.pk), keys).exclude(status=ScoreStatus.OK)
    failed = set(bad.values_list("sample_id", "dimension", "unit", "repeat"))
    todos = [Todo(each, run, samples[each.sample]) for each in taken]
    for todo in todos if failed else ():
        taken_of, repeat = todo.taken.sample, todo.taken.repeat
        todo.has_failed = any((taken_of, dimension, unit, repeat) in failed for dimension, unit in todo.wanted)
    return todos
