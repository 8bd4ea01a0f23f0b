"""Laying a run's asks: what it has to ask, sample by sample, in chunks that are all or nothing and may be repeated."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection, transaction

from judges.models import Run, RunState
from judges.running.purposes import purpose_of
from judges.running.scopes import samples_in

# A few megabytes of samples at a time; each counts once per repeat, since it brings that many asks.
CHUNK = 500


def lay_all(run_id: int) -> None:
    """All that is still to be laid of the run; stops early when the run is no longer to go on."""
    while lay_chunk(run_id):
        pass


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
    """With its version, judge and project. Its key stays what it is: whoever writes scores of it needs not wait."""
    runs = Run.objects.select_for_update(of=("self",), no_key=True)
    return runs.select_related("version__judge__project").get(pk=run_id)


def insert(run: Run, asks: Sequence[tuple[int, str, int]], *, lost: int = 0) -> int:
    """Lays these; how many of them are new. lost: how often somebody died with them."""
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
