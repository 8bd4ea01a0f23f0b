"""What a criterion's figures rest on (what people said, what judges scored, which samples are dev), its hash, and how
well each judge agrees with people.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from typing import Any

import orjson
from django.http import Http404
from django.utils.translation import gettext as _

import alignment
from annotate.core.blindness import SYSTEM
from annotate.models import Criterion, Project
from annotate.projects.read import rated_criteria
from annotate.samples.read import groups_of, samples_named
from annotate.verdicts.evidence_read import evidence_of
from annotate.verdicts.ratings_read import UnitKey
from judges.core.requirement import endpoint_of
from judges.core.scores_read import judge_scores, measured_by, whole_scores
from judges.core.split import as_divided, divide, on_test, on_test_elsewhere, sides_of
from judges.models import JudgeKind, JudgeVersion
from judges.versions.learned_read import learned_if_aligned

_ROWS_AT_ONCE = 50_000


def full_evidence(
    criterion: Criterion, judge_name: str | None = None, *, stores: bool = True, settled_only: bool = True
) -> alignment.report.Evidence:
    """With all judges or the one named, and nothing of what they said on the test half (docs/decisions/0032). Samples
    that have a reference, or may get one, and no side yet get one, and keep it; or get one for this once, where nothing
    is stored. settled_only: as `evidence_of`.

    Raises Invalid for a judge that the project doesn't have.
    """
    found = _evidence(criterion, judge_name, stores=stores, settled_only=settled_only)
    if stores and _is_shared(found):
        # What others may measure is closed here: they divide it now, and on the same sides.
        for other in rated_criteria(criterion.project).exclude(pk=criterion.pk):
            _divided(other)
    return open_evidence(criterion, found)


def open_evidence(criterion: Criterion, found: alignment.report.Evidence) -> alignment.report.Evidence:
    """Without what judges said of the criterion's test half, whichever version of it has labels there; and, under names
    that are no criterion's, of that of each other criterion."""
    names = found.samples()
    # What has labels that count is taken out by the evidence itself.
    own = on_test(criterion, names) - found.closed()
    elsewhere = on_test_elsewhere(criterion, names) if _is_shared(found) else set[str]()

    def left(one: alignment.report.JudgeScores) -> alignment.report.JudgeScores:
        if one.dimension == criterion.key:
            return one.without(own) if own else one
        return replace(one.without(own | elsewhere), closed=sorted(elsewhere))

    judges: dict[str, Any] = {name: list(map(left, getattr(found, name))) for name in ("judges", "earlier", "whole")}
    return replace(found, **judges).locked()


def _is_shared(found: alignment.report.Evidence) -> bool:
    """Whether something of it is compared with other criteria as well."""
    return any(one.dimension != found.criterion.key for one in (*found.judges, *found.earlier, *found.whole))


def evidence_of_look(criterion: Criterion, judge_name: str) -> alignment.report.Evidence:
    """With what the judge said on the test half as well: for a look, which is counted and paid for, and for nothing
    else. Raises as `full_evidence`."""
    return _evidence(criterion, judge_name, stores=True, settled_only=True)


def _evidence(
    criterion: Criterion, judge_name: str | None, *, stores: bool, settled_only: bool
) -> alignment.report.Evidence:
    people = _divided(criterion, stores=stores, settled_only=settled_only)
    judges, earlier = judge_scores(criterion, judge_name, reader=SYSTEM)
    judges = _with_learned(criterion.project, judges)
    whole = whole_scores(criterion, judge_name, reader=SYSTEM)
    measures = measured_by(criterion, whole)
    versions = _versions(criterion.project, judges)
    found = replace(
        people,
        judges=judges,
        earlier=earlier,
        whole=whole,
        measures=measures,
        versions=versions,
        endpoint=endpoint_of(criterion),
    )
    groups = groups_of(criterion.project)
    return replace(found, groups=groups_with(found.samples(), groups)) if groups else found


def _with_learned(
    project: Project, judges: Sequence[alignment.report.JudgeScores]
) -> list[alignment.report.JudgeScores]:
    versions = JudgeVersion.objects.filter(judge__project=project, judge__kind=JudgeKind.LLM).select_related("judge")
    named = versions.filter(judge__name__in={one.judge for one in judges})
    learned = {(version.judge.name, version.label): learned_if_aligned(version) for version in named}
    return [replace(one, learned=learned.get((one.judge, one.version), {})) for one in judges]


def of_a_look(
    evidence: alignment.report.Evidence, judges: Sequence[alignment.report.JudgeScores]
) -> alignment.report.Evidence:
    """Only what a look with these judges rests on: a label given anew with the same value must not make another look,
    which costs."""
    rests_on = alignment.report.Evidence(
        criterion=evidence.criterion,
        seed=evidence.seed,
        units=evidence.units,
        raters=evidence.raters,
        values=evidence.values,
        waiting=evidence.waiting,
        verdicts=evidence.verdicts,
        unsettled=evidence.unsettled,
        settled_only=evidence.settled_only,
        is_dev=evidence.is_dev,
        judges=judges,
        endpoint=evidence.endpoint,
    )
    # Of groups and draws all, also what was not asked about: it says with what chance the rest came.
    return replace(rests_on, groups=groups_with(rests_on.samples(), evidence.groups), chances=evidence.chances)


def groups_with(samples: Collection[str], groups: Mapping[str, str]) -> dict[str, str]:
    """Of the groups of these samples all members, asked about or not: how large a group is says how it was drawn."""
    present = {groups.get(name, name) for name in samples}
    return {name: group for name, group in groups.items() if group in present}


def _versions(project: Project, judges: Sequence[alignment.report.JudgeScores]) -> dict[str, str]:
    """Of each scored sample the version of the pipeline that answered; nothing where these are of one."""
    if project.samples.order_by().values("pipeline_version").distinct().count() < 2:
        return {}
    scored = {sample for one in judges for values in (one.numbers, one.labels) for sample, _unit in values}
    of = dict(samples_named(project, scored).values_list("external_id", "pipeline_version"))
    return of if len(set(of.values())) > 1 else {}


def settled_on_dev(criterion: Criterion) -> list[str]:
    """The samples of the dev half of which people settled a unit, by their own ids, in order; those without a side get
    one, as at a report. Where there are no halves, since the criterion says nowhere what passes: all settled samples,
    but for those that an earlier version put on test.
    """
    people = _divided(criterion)
    reference = alignment.report.reference_of(people)
    if not criterion.passes:
        settled = {sample for sample, _ in reference.labels()}
        return sorted(settled - on_test(criterion, settled))
    return sorted(name for name in reference.strata() if people.is_dev.get(name, False))


def _divided(criterion: Criterion, *, stores: bool = True, settled_only: bool = True) -> alignment.report.Evidence:
    """People's side of the evidence, each sample with its side that has a unit which judges are compared with, or one
    that is open: people's agreement with each other and with a judge rests on those too."""
    people = evidence_of(criterion, reader=SYSTEM, settled_only=settled_only)
    alone = {unit: why for unit, why in people.unsettled.items() if why != "open"}
    strata = alignment.report.reference_of(replace(people, unsettled=alone)).strata()
    # Where nothing is stored, what has no side yet stays closed: it may get another side than it would now.
    is_dev = divide(criterion, strata) if stores else sides_of(criterion, strata) or as_divided(criterion, strata)
    return replace(people, is_dev=is_dev)


def spelled_rows(rows: Iterable[Any]) -> Iterator[bytes]:
    """The JSON of their list, of which only a part is spelled at a time."""
    left, before = iter(rows), b"["
    while part := list(islice(left, _ROWS_AT_ONCE)):
        yield before + orjson.dumps(part)[1:-1]
        before = b","
    yield b"[]" if before == b"[" else b"]"


def fingerprint_of(evidence: alignment.report.Evidence, parameters: dict[str, Any]) -> str:
    """SHA-256 over the criterion's version, every rating, verdict and score that went in, which units are settled, and
    the parameters."""
    digest = hashlib.sha256()

    def add(part: Any) -> None:
        digest.update(orjson.dumps(part))
        digest.update(b"\n")

    def add_rows(rows: Iterable[Any]) -> None:
        for part in spelled_rows(rows):
            digest.update(part)
        digest.update(b"\n")

    def add_units(values: Mapping[UnitKey, Any]) -> None:
        in_order = isinstance(values, alignment.report.ByUnit)
        add_rows(values.items() if in_order else sorted(values.items(), key=itemgetter(0)))

    criterion = evidence.criterion
    add([criterion.key, criterion.version, criterion.scale, criterion.levels, list(criterion.passes)])
    add(json.dumps(parameters, sort_keys=True))
    # Evidence is in the order of unit and rater; all else is sorted, so that the order of import doesn't matter.
    for column in (evidence.units, evidence.raters, evidence.values, evidence.days, evidence.seconds):
        if column:
            add_rows(column)
        else:
            add(None)
    add_units(evidence.verdicts)
    # Only where there is something of it, so that a look taken before this was asked is the same look.
    if evidence.unsettled:
        add([evidence.settled_only, sorted(evidence.unsettled.items(), key=itemgetter(0))])
    if evidence.declared:
        add([tuple(row) for row in evidence.declared])
    if any(evidence.too_fast):
        add_rows(evidence.too_fast)
    if any(evidence.waiting):
        add(["waiting", list(evidence.waiting)])
    add(sorted(evidence.is_dev.items()))
    # Named tuples are no tuples to orjson.
    add([tuple(row) for row in sorted(evidence.before, key=str)])
    of_samples = sorted(evidence.metadata.items(), key=itemgetter(0))
    add_rows((sample, sorted(values.items())) for sample, values in of_samples)
    add_rows((name, *chance) for name, chance in sorted(evidence.chances.items()))
    if evidence.nameless:
        add(["nameless", [tuple(chance) for chance in evidence.nameless]])
    if evidence.drawn_by:
        add(["drawn_by", [tuple(row) for row in evidence.drawn_by]])
    add(sorted(evidence.sizes.items()))
    add(sorted(evidence.measures.items()))
    if evidence.groups:
        add(["groups", sorted(evidence.groups.items())])
    if evidence.versions:
        add(sorted(evidence.versions.items()))
    if evidence.dropped:
        add(["dropped", sorted((sample, list(gone)) for sample, gone in evidence.dropped.items())])
    if evidence.abstained:
        add(["abstained", evidence.abstained])
    if evidence.endpoint != alignment.Endpoint():
        add(["endpoint", evidence.endpoint.as_dict()])
    for judges in (evidence.judges, evidence.earlier, evidence.whole):
        add(len(judges))
        for judge in judges:
            add([*judge.name, judge.higher_is_better, *([judge.closed] if judge.closed else [])])
            for values in (judge.numbers, judge.labels, judge.failed, judge.again):
                add_units(values)
            if judge.confidence:
                add("confidence")
                add_units(judge.confidence)
    return digest.hexdigest()


def align(
    criterion: Criterion, judge_name: str | None = None, *, stores: bool = True, settled_only: bool = True
) -> dict[str, Any]:
    """Every judge (or the one named) against people on the criterion, as plain JSON (docs/statistics.md).

    stores, settled_only, and what it raises: as `full_evidence`; and Http404 where nothing is stored and no sample has
    a side yet, since there is no dev half to compare judges on.
    """
    evidence = full_evidence(criterion, judge_name, stores=stores, settled_only=settled_only)
    if not stores and evidence.judges and evidence.is_dev and not sides_of(criterion, evidence.is_dev):
        said = _(
            "The samples labelled on “%(criterion)s” are not split into dev and test sets yet. Create a report first."
        )
        raise Http404(said % {"criterion": criterion.key})
    reference = alignment.report.reference_of(evidence)
    return {
        "criterion": criterion.key,
        "version": criterion.version,
        "reference": alignment.report.reference_figures(reference),
        "judges": [alignment.report.compare(reference, judge).row for judge in evidence.judges],
    }
