"""What diagnoses come to: how many responses failed at which stage, abstentions, the triad, noise sensitivity, and how
far the tree agrees with people's own word on what failed.

Every response that was asked stays in the denominator, undecided ones too: a stage's share is that which is known to
have failed there, and grows as labels come. Intervals are by question group, so that repeats, near duplicates and turns
of a conversation are one piece of evidence. Of judges there are counts alone: no figure is a judge's word as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import alignment
from alignment.base.estimate import FEW_COMMON, NO_UNITS, Estimate, remark
from systems.diagnosis.cases import Diagnosed
from systems.diagnosis.read import DiagnosedResponses
from systems.diagnosis.tree import Stage
from systems.models import QuestionKind

_ABSTAINED = (Stage.ABSTAINED_RIGHTLY, Stage.ABSTAINED_WRONGLY)
Estimated = dict[str, Any]


@dataclass(frozen=True)
class StageCount:
    """stage: None for undecided responses. share: an estimate as a dict; None where judges said it."""

    stage: Stage | None
    count: int
    share: Estimated | None


@dataclass(frozen=True)
class Part:
    """The responses of a version, or of a kind or category of questions; name "": all, or not stated."""

    name: str
    responses: int
    stages: Sequence[StageCount]


@dataclass(frozen=True)
class TreeAgreement:
    """The tree beside people's own word. labelled: of how many responses people named the stage. Of these, compared: on
    how many both are compared. without_option: how many the tree put on a stage that no option of theirs means.
    undecided: how many it has not decided."""

    kappa: Estimated
    compared: int
    without_option: int
    undecided: int
    labelled: int


@dataclass(frozen=True)
class Figures:
    """versions, kinds, categories: each with counts of its own; those that there is more than one of. abstention,
    triad, noise, agreement: None where judges said it. triad: context relevance, groundedness, answer relevance."""

    whole: Part
    versions: Sequence[Part]
    kinds: Sequence[Part]
    categories: Sequence[Part]
    abstention: Mapping[str, Estimated] | None
    triad: Mapping[str, Estimated] | None
    noise: Mapping[str, Estimated] | None
    agreement: TreeAgreement | None


def figures_of(found: DiagnosedResponses) -> Figures:
    rows, by_people = found.rows, not found.by_judges
    part = partial(_part, by_people=by_people)
    return Figures(
        whole=part("", rows),
        versions=_parts(rows, part, lambda row: row.asking.version),
        kinds=_parts(rows, part, lambda row: row.asking.kind),
        categories=_parts(rows, part, lambda row: row.asking.category),
        abstention=_abstention(rows) if by_people else None,
        triad=_triad(rows) if by_people else None,
        noise=_noise(rows) if by_people else None,
        agreement=_agreement(found) if by_people else None,
    )


def _parts(
    rows: Sequence[Diagnosed], part: Callable[[str, Sequence[Diagnosed]], Part], name_of: Callable[[Diagnosed], str]
) -> list[Part]:
    by_name: dict[str, list[Diagnosed]] = {}
    for row in rows:
        by_name.setdefault(name_of(row), []).append(row)
    return [part(name, of_name) for name, of_name in sorted(by_name.items())] if len(by_name) > 1 else []


def _part(name: str, rows: Sequence[Diagnosed], *, by_people: bool) -> Part:
    stages = []
    for stage in (*Stage, None):
        of_stage = [row.diagnosis.stage is stage for row in rows]
        share = _share("share of responses", ((row, int(hit), 1) for row, hit in zip(rows, of_stage, strict=True)))
        stages.append(StageCount(stage, sum(of_stage), share if by_people else None))
    return Part(name, len(rows), stages)


def _abstention(rows: Sequence[Diagnosed]) -> dict[str, Estimated]:
    """Of unanswerable questions the share that the system rightly abstained on, of all others the share that it wrongly
    did; a failed request is no abstention."""
    of: dict[bool, list[tuple[Diagnosed, int, int]]] = {True: [], False: []}
    for row in rows:
        abstained = row.diagnosis.stage in _ABSTAINED
        # Undecided at this very step: it may be one.
        if not (row.diagnosis.stage is None and row.diagnosis.path[-1].stage in _ABSTAINED):
            of[row.asking.kind == QuestionKind.UNANSWERABLE].append((row, int(abstained), 1))
    return {"right": _share("right abstention", of[True]), "wrong": _share("wrong abstention", of[False])}


def _triad(rows: Sequence[Diagnosed]) -> dict[str, Estimated]:
    """Shares of what is labelled: contexts that are needed, claims that are supported, answers that are on topic."""
    return {
        "context_relevance": _share("context relevance", ((row, *row.counts.needed) for row in rows)),
        "groundedness": _share("groundedness", ((row, *row.counts.supported) for row in rows)),
        "answer_relevance": _share("answer relevance", ((row, *row.counts.on_topic) for row in rows)),
    }


def triad_of_response(row: Diagnosed) -> dict[str, Estimated]:
    """The same of one response: shares without interval."""
    counted = {
        "context_relevance": row.counts.needed,
        "groundedness": row.counts.supported,
        "answer_relevance": row.counts.on_topic,
    }
    return {
        name: Estimate(hits / n, None, None, n=n, clusters=1, method=name, reason=remark("one_sample")).as_dict()
        if n
        else Estimate.undefined(NO_UNITS, method=name).as_dict()
        for name, (hits, n) in counted.items()
    }


def _noise(rows: Sequence[Diagnosed]) -> dict[str, Estimated]:
    """Of wrong claims, where a needed context was there, the share that a relevant, and an irrelevant, one supports."""
    return {
        "relevant": _share("noise sensitivity, relevant", ((r, r.counts.by_relevant, r.counts.wrong) for r in rows)),
        "irrelevant": _share(
            "noise sensitivity, irrelevant", ((r, r.counts.by_irrelevant, r.counts.wrong) for r in rows)
        ),
    }


def _share(name: str, counted: Iterable[tuple[Diagnosed, int, int]]) -> Estimated:
    """Of responses, each with hits and trials; by question group."""
    hits: dict[str, int] = {}
    trials: dict[str, int] = {}
    for row, some, all_of_them in counted:
        group = row.asking.group
        hits[group] = hits.get(group, 0) + some
        trials[group] = trials.get(group, 0) + all_of_them
    found = alignment.clustered_share(list(hits.values()), list(trials.values()), name=name, undefined=NO_UNITS)
    return found.as_dict()


def _agreement(found: DiagnosedResponses) -> TreeAgreement:
    named = [row for row in found.rows if row.failure is not None]
    stages = [(row, _in_options(row.diagnosis.stage)) for row in named]
    options = found.mapped.failure_stages
    compared = [(row, stage) for row, stage in stages if stage in options]
    return TreeAgreement(
        kappa=_kappa(compared, sorted(options)).as_dict(),
        compared=len(compared),
        without_option=sum(stage is not None and stage not in options for _, stage in stages),
        undecided=sum(stage is None for _, stage in stages),
        labelled=len(named),
    )


def _in_options(stage: Stage | None) -> Stage | None:
    """As people name it, who have no word for an abstention that is right: nothing failed."""
    return Stage.NOTHING_WRONG if stage is Stage.ABSTAINED_RIGHTLY else stage


def _kappa(compared: Sequence[tuple[Diagnosed, Stage | None]], levels: Sequence[str]) -> Estimate:
    if len(compared) < 2:
        return Estimate.undefined(FEW_COMMON, n=len(compared), clusters=len(compared), method="Cohen's kappa")
    ratings = alignment.Ratings.from_columns(
        [row.asking.response for row, _ in compared] * 2,
        ["people"] * len(compared) + ["tree"] * len(compared),
        [*(str(row.failure) for row, _ in compared), *(str(stage) for _, stage in compared)],
        [row.asking.group for row, _ in compared] * 2,
        scale="nominal",
        levels=levels,
    )
    return alignment.cohen_kappa(ratings, "people", "tree", interval="jackknife")
