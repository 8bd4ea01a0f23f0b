"""Which samples a run is over, and its asks: laid sample by sample, in chunks that are all or nothing and may be
repeated, and loaded with what is needed to ask them. The one home of what a scope may say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.texts import is_storable
from annotate.models import Project, Sample
from annotate.projects.read import work_batches
from annotate.samples.read import of_samples, samples_keyed, samples_named
from judges.core.split import drawn
from judges.models import ANSWERED, JudgeVersion, Run, RunState, Score
from judges.runs.asking import Todo
from judges.runs.open_run import OpenRun
from judges.runs.purposes import asked_units, purpose_of
from judges.runs.queue import Taken

MOST_NAMED = 10_000
# A few megabytes of samples at a time; each counts once per repeat, since it brings that many asks.
CHUNK = 500
_EXAMPLES = '{"all": true}, {"batch": 3}, {"samples": ["kb-1", "kb-2"]}, {"pipeline": "v7"}'


def check_scope(project: Project, scope: Any) -> dict[str, Any]:
    """The scope as it is kept. Raises Invalid when it is none, or names what the project doesn't have."""
    how = what = None
    if isinstance(scope, dict) and len(scope) == 1:
        ((how, what),) = scope.items()
    if how == "all" and what is True:
        return {"all": True}
    if how == "batch" and type(what) is int:
        if not work_batches(project).filter(number=what).exists():
            raise Invalid("unknown_batch", _("Batch %(number)s not found in this project.") % {"number": what})
        return {"batch": what}
    if how == "samples" and isinstance(what, list):
        return {"samples": _named(project, what)}
    if how == "pipeline" and isinstance(what, str) and is_storable(what):
        if not project.samples.filter(pipeline_version=what).exists():
            raise Invalid("unknown_pipeline", _("No samples of the pipeline version “%(name)s”.") % {"name": what[:80]})
        return {"pipeline": what}
    raise Invalid("bad_scope", _("samples: must be one of %(ways)s.") % {"ways": _EXAMPLES})


def samples_in(project: Project, scope: dict[str, Any]) -> QuerySet[Sample]:
    """The samples of a checked scope, in the order in which they came."""
    samples = Sample.objects.filter(project=project)
    if "batch" in scope:
        samples = samples.filter(batches__project=project, batches__number=scope["batch"])
    elif "samples" in scope:
        samples = samples_named(project, scope["samples"])
    elif "pipeline" in scope:
        samples = samples.filter(pipeline_version=scope["pipeline"])
    return samples.order_by("id")


def _named(project: Project, names: list[Any]) -> list[str]:
    if not names or len(names) > MOST_NAMED:
        raise Invalid("bad_scope", _("samples: must be 1 to %(most)s samples.") % {"most": f"{MOST_NAMED:,}"})
    if not all(is_storable(name) for name in names):
        raise Invalid("bad_scope", _("samples: must be a list of sample IDs (texts)."))
    wanted = list(dict.fromkeys(names))
    there = set(samples_named(project, wanted).values_list("external_id", flat=True))
    strangers = [name for name in wanted if name not in there]
    if strangers:
        shown = ", ".join(name[:80] for name in strangers[:5])
        raise Invalid(
            "unknown_sample",
            _("%(count)s of these samples not found in this project: %(names)s.")
            % {"count": len(strangers), "names": shown},
        )
    return wanted


def check_sample_count(count: Any, most: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= most:
        raise Invalid(
            "bad_samples", _("samples: must be a whole number from 1 to %(most)d.") % {"most": most}, field="samples"
        )


def draw_samples(
    project: Project, names: Iterable[str], count: int, *, seed: int, purpose: str, versions: Sequence[JudgeVersion]
) -> list[str]:
    """At most `count` of the samples, by their own ids, in order, about which each of the versions has something to
    ask. By a number of each sample's own: more samples with the same seed and purpose are the earlier ones and others.
    A judge has nothing to ask about the samples that it is shown as examples.
    """
    order = sorted(names, key=lambda name: (drawn(seed, name, purpose), name))
    chosen: list[str] = []
    for start in range(0, len(order), CHUNK):
        block = order[start : start + CHUNK]
        samples = {sample.external_id: sample for sample in samples_named(project, block)}
        chosen += [name for name in block if all(asked_units(version, samples[name]) for version in versions)]
        if len(chosen) >= count:
            break
    return sorted(chosen[:count])


def lay_chunk(run_id: int) -> bool:
    """Lays the asks of the next samples. Returns whether there are more to lay."""
    with transaction.atomic():
        run = locked_run(run_id)
        if run.is_laid or run.state != RunState.RUNNING:
            return False
        project = run.version.judge.project
        most = max(1, CHUNK // run.repeats)
        samples = list(samples_in(project, run.scope).filter(id__gt=run.laid_to)[:most])
        if samples:
            run.planned += insert(run, purpose_of(run).to_ask(samples))
            run.laid_to = samples[-1].pk
        run.is_laid = len(samples) < most
        run.save(update_fields=["planned", "laid_to", "is_laid"])
        return not run.is_laid


def locked_run(run_id: int) -> Run:
    """With its version, judge and project. Its key stays what it is: writing scores of it needs not wait."""
    runs = Run.objects.select_for_update(of=("self",), no_key=True)
    return runs.select_related("version__judge__project").get(pk=run_id)


def insert(run: Run, asks: Sequence[tuple[int, str, int]], *, lost: int = 0) -> int:
    """Lays these; returns how many of them are new. lost: how often a process died with them."""
    if not asks:
        return 0
    samples, units, repeats = zip(*asks, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO judges_ask"
            " (run_id, sample_id, unit, repeat, state, fence, lost, tries, status, detail, is_cached, replies)"
            " SELECT %s::bigint, sample, unit, repeat, 'waiting', 0, %s::int, 0, '', '', false, '{}'"
            " FROM unnest(%s::bigint[], %s::text[], %s::smallint[]) WITH ORDINALITY AS t (sample, unit, repeat, place)"
            " ORDER BY place ON CONFLICT DO NOTHING",
            [run.pk, lost, list(samples), list(units), list(repeats)],
        )
        return cursor.rowcount


def load(run: OpenRun, taken: Sequence[Taken]) -> list[Todo]:
    """In their order."""
    if not taken:
        return []
    samples = {sample.pk: sample for sample in samples_keyed({each.sample for each in taken}).order_by()}
    for sample in samples.values():
        sample.project = run.project
    todos = [Todo(each, run, samples[each.sample]) for each in taken]
    # Where no model is asked there are no replies of an earlier time.
    if run.version.endpoint_id is not None:
        _note_failed(run, todos)
    return todos


def _note_failed(run: OpenRun, todos: Sequence[Todo]) -> None:
    keys = {todo.taken.sample for todo in todos}
    bad = of_samples(Score.objects.filter(version_id=run.version.pk), keys).exclude(status__in=ANSWERED)
    failed = set(bad.values_list("sample_id", "dimension", "unit", "repeat"))
    for todo in todos if failed else ():
        sample, repeat = todo.taken.sample, todo.taken.repeat
        todo.has_failed = any((sample, dimension, unit, repeat) in failed for dimension, unit in todo.wanted)
