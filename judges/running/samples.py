"""The samples of asks that were taken, all in one query."""

from __future__ import annotations

from collections.abc import Sequence

from annotate.selectors.samples import samples_keyed
from judges.running.asking import Todo
from judges.running.opened import OpenRun
from judges.running.queue import Taken


def load(run: OpenRun, taken: Sequence[Taken]) -> list[Todo]:
    samples = {sample.pk: sample for sample in samples_keyed({each.sample for each in taken}).order_by()}
    for sample in samples.values():
        sample.project = run.project
    return [Todo(each, run, samples[each.sample]) for each in taken]
