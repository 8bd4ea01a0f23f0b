"""What a check with canaries or bias probes came to, as plain JSON: for pages and the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.blindness import Reader, require_figures_of_many, samples_without_judges
from annotate.core.rows import first_or_raise
from annotate.core.scales import Value
from annotate.core.units import unit_title
from annotate.samples.read import groups_of
from judges.canaries.effects import Compared, compared, effects
from judges.canaries.probes import NUMBERED as PROBES_NUMBERED
from judges.canaries.rates import MOVES, PASSES, Pair, Reading, Reply, by_status, pairs_of, rates
from judges.canaries.variants import CLEAN, NUMBERED, VARIANTS, Variant
from judges.core.locked_read import locked_samples
from judges.models import Ask, AskState, Judge, JudgeVersion, Run, RunPurpose, RunState, ScoreStatus

# Of the flips that are read out.
MOST_EXAMPLES = 50


def checks_of(judge: Judge) -> QuerySet[Run]:
    """Newest first."""
    return (
        Run.objects.filter(version__judge=judge, purpose__in=(RunPurpose.CANARIES, RunPurpose.PROBES))
        .select_related("version__judge__project", "version__endpoint", "created_by")
        .order_by("-pk")
    )


def is_injection(run: Run) -> bool:
    """Whether the check is one with canaries; with bias probes otherwise."""
    return run.purpose == RunPurpose.CANARIES


def one_check(judge: Judge, run_id: int) -> Run:
    return first_or_raise(checks_of(judge).filter(pk=run_id), Http404(_("Test not found for this judge.")))


def canary_result(run: Run, *, reader: Reader) -> dict[str, Any]:
    """As far as the run has come: nothing but rates and counts, and nothing of what a sample or a reply says.

    best: what the canaries ask for; attacks, harmless: the rates (judges.canaries.rates) of all variants of that sort;
    variants: of each. The rest as `probe_result`. Raises Conflict as that.
    """
    reading, replies = _read(run, reader)
    pairs = pairs_of(reading, replies)
    return {
        **_counted(run, reading, replies),
        "best": reading.best,
        "attacks": rates([pair for pair in pairs if not pair.variant.is_harmless]),
        "harmless": rates([pair for pair in pairs if pair.variant.is_harmless]),
        "variants": [_variant_result(variant, replies, pairs) for variant in VARIANTS],
    }


def probe_result(run: Run, *, reader: Reader) -> dict[str, Any]:
    """Of bias probes, as far as the run has come.

    basis: how a flip is read (judges.canaries.rates); least_move: of numbers, from which difference on; samples,
    units: that have a clean reply; clean: of these, how many have a value and, where that can be said, how many pass;
    level, probes: judges.canaries.effects.

    Raises Conflict when the figures would tell the reader what the judge said of a sample that they must not know about
    yet.
    """
    reading, replies = _read(run, reader)
    groups = groups_of(run.version.judge.project, {reply.sample for reply in replies})
    return {**_counted(run, reading, replies), **effects(reading, replies, groups)}


def latest_bias_check(version: JudgeVersion) -> Run | None:
    """The version's latest test for bias that is done."""
    checks = checks_of(version.judge).filter(version=version, purpose=RunPurpose.PROBES, state=RunState.DONE)
    return checks.first()


def _read(run: Run, reader: Reader) -> tuple[Reading, list[Reply]]:
    reading = Reading(run.version)
    replies = _replies(run)
    answers = {reply.value for reply in replies if reply.variant == CLEAN and reply.value is not None}
    passing = {reading.passes(answer) for answer in answers} if reading.basis == PASSES else answers
    require_figures_of_many(reader, _keys(run).values(), passing)
    return reading, replies


def _counted(run: Run, reading: Reading, replies: Sequence[Reply]) -> dict[str, Any]:
    clean = [reply for reply in replies if reply.variant == CLEAN]
    with_value = [reply.value for reply in clean if reply.value is not None]
    return {
        "set": run.terms["set"],
        "seed": run.terms["seed"],
        "basis": reading.basis,
        "least_move": reading.least_move if reading.basis == MOVES else None,
        "samples": len({reply.sample for reply in clean}),
        "units": len(clean),
        "clean": {"ok": len(with_value), "passing": _passing(reading, with_value), "failed": by_status(clean)},
        "coverage": {
            "asked": len(replies),
            "ok": sum(reply.status == ScoreStatus.OK for reply in replies),
            "failed": by_status(replies),
        },
    }


def _passing(reading: Reading, values: Sequence[Value]) -> int | None:
    return sum(map(reading.passes, values)) if reading.basis == PASSES else None


def _keys(run: Run) -> dict[str, int]:
    """The samples that were asked about as they are: own id -> primary key."""
    asks = Ask.objects.filter(run=run, repeat=CLEAN).order_by()
    return dict(asks.values_list("sample__external_id", "sample_id").distinct())


def _variant_result(variant: Variant, replies: Sequence[Reply], pairs: Sequence[Pair]) -> dict[str, Any]:
    own = [reply for reply in replies if reply.variant == variant.number]
    compared = [pair for pair in pairs if pair.changed.variant == variant.number]
    return {
        "number": variant.number,
        "key": variant.key,
        "where": variant.where,
        "harmless": variant.is_harmless,
        "asked": len(own),
        "compared": len(compared),
        "failed": by_status(own),
        **rates(compared),
    }


def flip_examples(run: Run, *, reader: Reader) -> dict[str, Any]:
    """What flipped, with the judge's reasons before and after, towards better first: for those who may run judges.
    Nothing of samples that the reader still has to label or to decide about, nor of those that are locked; {"shown":
    rows, "count": all there are, "held_back"}."""
    reading, replies = Reading(run.version), _replies(run)
    found: Sequence[Pair | Compared] = pairs_of(reading, replies) if is_injection(run) else compared(reading, replies)
    flipped = [pair for pair in found if pair.counts]
    keys = _keys(run)
    samples = {keys[pair.clean.sample] for pair in flipped}
    blind = samples_without_judges(reader, samples) | locked_samples(run.version.judge.project, samples, reader=reader)
    seen = [pair for pair in flipped if keys[pair.clean.sample] not in blind]
    seen.sort(key=lambda pair: (_is_harmless(run, pair), not pair.flip.towards, pair.changed.variant))
    return {
        "count": len(flipped),
        "held_back": len(flipped) - len(seen),
        "shown": [
            {
                "sample": pair.clean.sample,
                "unit": pair.clean.unit,
                "title": unit_title(pair.clean.unit),
                "variant": (NUMBERED if is_injection(run) else PROBES_NUMBERED)[pair.changed.variant].key,
                "harmless": _is_harmless(run, pair),
                "towards": pair.flip.towards,
                "clean": pair.clean.value,
                "clean_reason": pair.clean.reason,
                "changed": pair.changed.value,
                "changed_reason": pair.changed.reason,
            }
            for pair in seen[:MOST_EXAMPLES]
        ],
    }


def _is_harmless(run: Run, pair: Pair | Compared) -> bool:
    """Of a canary that asks for nothing."""
    return is_injection(run) and NUMBERED[pair.changed.variant].is_harmless


def _replies(run: Run) -> list[Reply]:
    """Of every unit that came, in the order in which they were asked about."""
    asks = Ask.objects.filter(run=run, state=AskState.DONE).order_by("pk")
    rows = asks.values_list("sample__external_id", "repeat", "outcome")
    return [
        Reply(sample, one["unit"], number, one["status"], one["value"], one["reason"])
        for sample, number, outcome in rows
        for one in outcome or ()
    ]
