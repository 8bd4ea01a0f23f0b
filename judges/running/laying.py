"""Laying a run's asks: what it has to ask, sample by sample, in chunks that are all or nothing and may be repeated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import connection, transaction

from annotate.models import Sample
from annotate.selectors.samples import of_samples
from annotate.units import parse_unit, units_of
from judges.kinds.base import Kind
from judges.kinds.registry import kind_named
from judges.models import Run, RunState, Score, ScoreStatus
from judges.running.scopes import samples_in

# A few megabytes of samples at a time.
CHUNK = 500

# Of a sample: dimension, unit, repeat.
Said = set[tuple[str, str, int]]


def covered(dimensions: Iterable[tuple[str, str]], unit: str, sample: Sample) -> list[tuple[str, str]]:
    """What an ask about the unit is to bring: (dimension, unit) of every score.

    About the unit itself, in each dimension of its kind; an ask about the answer or the sample as a whole also about
    all its units of the other kinds, since nothing else asks about them.
    """
    kind, index = parse_unit(unit)
    found = [(dimension, unit) for of, dimension in dimensions if of == kind]
    if index is None:
        found += [(dimension, each) for of, dimension in dimensions if of != kind for each in units_of(sample, of)]
    return found


def lay_all(run_id: int) -> None:
    """All that is still to be laid of the run; stops early when the run is no longer to go on."""
    while lay_chunk(run_id):
        pass


def lay_chunk(run_id: int) -> bool:
    """Lays the asks of the next samples. Returns whether there are more to lay."""
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).select_related("version__judge__project").get(pk=run_id)
        if run.is_laid or run.state != RunState.RUNNING:
            return False
        project = run.version.judge.project
        samples = list(samples_in(project, run.scope).filter(id__gt=run.laid_to)[:CHUNK])
        if samples:
            run.planned += _insert(run, to_ask(run, samples))
            run.laid_to = samples[-1].pk
        run.is_laid = len(samples) < CHUNK
        run.save(update_fields=["planned", "laid_to", "is_laid"])
        return not run.is_laid


def to_ask(run: Run, samples: Sequence[Sample]) -> list[tuple[int, str, int]]:
    """(sample, unit, repeat) of everything that the run has to ask about these samples: what has no good score yet in
    all that it is to bring."""
    kind: Kind = kind_named(run.version.judge.kind)
    config = run.version.config
    dimensions = list(kind.dimensions(config))
    repeats = range(run.first_repeat, run.first_repeat + run.repeats)
    said = _said(run, samples)
    found = []
    for sample in samples:
        known = said.get(sample.pk)
        for unit in dict.fromkeys(kind.units(config, sample)):
            wanted = covered(dimensions, unit, sample) if known else []
            for repeat in repeats:
                if known and wanted and all((dimension, each, repeat) in known for dimension, each in wanted):
                    continue
                found.append((sample.pk, unit, repeat))
    return found


def _said(run: Run, samples: Sequence[Sample]) -> dict[int, Said]:
    """The good scores that the version has for these samples."""
    scores = of_samples(
        Score.objects.filter(version_id=run.version_id, status=ScoreStatus.OK), [sample.pk for sample in samples]
    ).filter(repeat__gte=run.first_repeat, repeat__lt=run.first_repeat + run.repeats)
    said: dict[int, Said] = defaultdict(set)
    for sample, dimension, unit, repeat in scores.values_list("sample_id", "dimension", "unit", "repeat"):
        said[sample].add((dimension, unit, repeat))
    return said


def _insert(run: Run, asks: Sequence[tuple[int, str, int]]) -> int:
    """How many of them are new."""
    if not asks:
        return 0
    samples, units, repeats = zip(*asks, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO judges_ask"
            " (run_id, sample_id, unit, repeat, state, fence, lost, tries, status, detail, is_cached, replies)"
            " SELECT %s::bigint, sample, unit, repeat, 'waiting', 0, 0, 0, '', '', false, '{}'"
            " FROM unnest(%s::bigint[], %s::text[], %s::smallint[]) WITH ORDINALITY AS t (sample, unit, repeat, place)"
            " ORDER BY place ON CONFLICT DO NOTHING",
            [run.pk, list(samples), list(units), list(repeats)],
        )
        return cursor.rowcount
