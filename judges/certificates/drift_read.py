"""The drift watch of a certificate: labels that came in since, against the error rate that was certified."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from django.core.cache import cache
from django.db.models import Min, Q
from django.db.models.functions import Coalesce, Collate
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

import alignment
from annotate.core.blindness import SYSTEM
from annotate.core.scales import Value
from annotate.core.text_tables import figure
from annotate.core.units import without_abstentions
from annotate.labels.anchored_read import without_anchored
from annotate.labels.read import counting_labels, latest_per_rater
from annotate.labels.settled_read import HOLDING, STANDING, unsettled_units, waiting_labels
from annotate.models import Criterion, Label, Verdict
from annotate.samples.read import groups_of
from annotate.verdicts.evidence_read import asked
from annotate.verdicts.ratings_read import UnitKey
from judges.core.scores_read import among, load_scores
from judges.models import CascadeLook, Certificate, JudgeKind, JudgeVersion, Look
from judges.reports.read import data_version

# A batch of samples named one by one was chosen by their scores: on what a judge is least sure of it errs most.
CHOSEN = "list"
KEPT_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class Drift:
    """certified: the error rate not to be exceeded, the upper bound of that on test; None where there is none below 1,
    and so nothing to watch.

    error: share of wrong decisions so far, as an estimate of `samples` and their `units`. audits: how many units were
    audited, scored or not; scored, failed: how many of them the certified version scored, and was asked about without a
    score, which counts as wrong; groups: those that they are of. alarm: what was audited up to
    then shows that the judge errs more often than certified. streaks: it would, had errors not come in a row or all at
    once. chosen: samples left out because they were chosen by their scores.
    """

    certified: float | None
    error: Mapping[str, Any] | None
    alarm: datetime | None
    streaks: bool
    chosen: int
    audits: int = 0
    scored: int = 0
    failed: int = 0
    groups: int = 0

    @property
    def units(self) -> int:
        return 0 if self.error is None else int(self.error["n"])

    @property
    def samples(self) -> int:
        return 0 if self.error is None else int(self.error["clusters"])


@dataclass(frozen=True, slots=True)
class Watched:
    """What audits are held against. name: of it in the cache. bound: the error rate that it must not exceed; None: none
    is watched. look: whose samples don't count, and at whose criterion labels came `since`. version, dimension,
    threshold: the decisions that are watched."""

    name: str
    look: Look | CascadeLook
    since: datetime
    version: JudgeVersion
    dimension: str
    threshold: float | None
    bound: float | None


def drift_of(certificate: Certificate) -> Drift:
    """Audits count when their first label came after the certificate, by people, on samples that it doesn't rest on,
    and the certified version was asked about them."""
    look = certificate.look
    bound, threshold = look.result["error"]["high"], look.result["threshold"]
    name = str(certificate.pk)
    return drift_watched(Watched(name, look, certificate.created_at, look.version, look.dimension, threshold, bound))


def drift_watched(watched: Watched) -> Drift:
    """Kept for as long as nothing is said or scored: every view of a page asks."""
    data = hashlib.sha256(data_version(watched.look.criterion).encode()).hexdigest()
    found: Drift | None = cache.get(key := f"drift-of-audits:{watched.name}:{data}")
    if found is None:
        found = _drift_of(watched)
        cache.set(key, found, timeout=KEPT_SECONDS)
    return found


def _drift_of(watched: Watched) -> Drift:
    look, bound = watched.look, watched.bound
    if bound is None or not 0 < bound < 1:
        return Drift(None, None, None, False, 0)
    known = {*look.samples["dev"], *look.samples["test"]}
    new = {pk: name for pk, name in _touched(watched) if name not in known}
    if not new:
        return Drift(bound, None, None, False, 0)
    labels = _labels(look.criterion, new)
    chosen = {name for name, by_score in _chosen(labels).items() if by_score}
    reference, arrived = _people(watched, labels, {pk: name for pk, name in new.items() if name not in chosen})
    if not arrived:
        return Drift(bound, None, None, False, len(chosen))
    scores = load_scores(look.criterion, watched.version, watched.dimension, new.keys(), reader=SYSTEM)
    if watched.version.judge.kind == JudgeKind.CASCADE:
        # What it has no score of people decide: that was certified neither right nor wrong.
        scores = replace(scores, failed={})
    found = alignment.report.audited(reference, scores, watched.threshold, arrived, bound)
    counts = {"audits": found.settled, "scored": found.scored, "failed": found.failed, "groups": found.groups}
    return Drift(bound, found.error.as_dict(), found.alarm, found.streaks, len(chosen), **counts)


def drift_sentence(drift: Drift) -> str:
    """What the watch shows, for people."""
    return " ".join([_watched(drift), *_unscored(drift)])


def _unscored(drift: Drift) -> list[str]:
    """How many audited units have no score, and what becomes of them."""
    said, not_asked = [], drift.audits - drift.scored - drift.failed
    if drift.failed:
        text = ngettext(
            "%(n)s audited unit without a score counts as wrong.",
            "%(n)s audited units without a score count as wrong.",
            drift.failed,
        )
        said.append(text % {"n": drift.failed})
    if not_asked:
        text = ngettext(
            "%(n)s audited unit is excluded: the judge has not processed it.",
            "%(n)s audited units are excluded: the judge has not processed them.",
            not_asked,
        )
        said.append(text % {"n": not_asked})
    return said


def _watched(drift: Drift) -> str:
    if drift.certified is None:
        return _("Drift is not monitored: the certified error rate has no upper bound below 1.")
    given: dict[str, object] = {"certified": figure(drift.certified)}
    if not drift.units or drift.error is None:
        return _("No audits to go by yet, so no drift can show (certified was at most %(certified)s).") % given
    error = drift.error
    given |= {"units": drift.units, "samples": drift.samples, "rate": figure(error["value"])}
    given |= {"low": figure(error["low"]), "high": figure(error["high"])}
    counted = (
        _(
            "%(units)s audited units of %(samples)s samples, error rate %(rate)s (%(low)s to %(high)s); certified was "
            "at most %(certified)s"
        )
        % given
    )
    if drift.streaks:
        unclear = _("The errors came in a row or all at once, so a rise cannot be told from a streak yet: %(counted)s.")
        return unclear % {"counted": counted}
    if drift.alarm is None:
        return _("No drift shown so far: %(counted)s.") % {"counted": counted}
    shown = {"day": date_format(drift.alarm, "DATE_FORMAT"), "counted": counted}
    return _("What was audited up to %(day)s shows that the judge errs more often than certified: %(counted)s.") % shown


def _touched(watched: Watched) -> list[tuple[int, str]]:
    """Samples about which people said something since: primary key and own id."""
    since, criterion = watched.since, watched.look.criterion
    labels = counting_labels().filter(Q(updated_at__gt=since) | Q(task__submitted_at__gt=since), criterion=criterion)
    verdicts = without_abstentions(Verdict.objects.filter(criterion=criterion, updated_at__gt=since))
    labels, verdicts = without_anchored(labels, criterion), without_anchored(verdicts, criterion)
    return [
        *labels.order_by().values_list("sample_id", "sample__external_id").distinct(),
        *verdicts.order_by().values_list("sample_id", "sample__external_id").distinct(),
    ]


def _labels(criterion: Criterion, samples: Mapping[int, str]) -> list[Label]:
    """The labels that count, as rating columns have them."""
    counting = counting_labels().filter(among(samples.keys()), criterion=criterion)
    latest = latest_per_rater(counting)
    found = (
        Label.objects.filter(pk__in=latest.values("pk"))
        .select_related("rater", "sample", "task__batch")
        .only(
            "unit", "value", "rater__name", "sample__external_id", "task__batch__selection",
        )
        .order_by(Collate("sample__external_id", "C"), Collate("unit", "C"), Collate("rater__name", "C"))
    )  # fmt: skip
    return [label for label in found if label.sample_id in samples]


def _chosen(labels: list[Label]) -> dict[str, bool]:
    """Of each sample whether it came to people only because it was chosen by its scores."""
    chosen: dict[str, bool] = defaultdict(lambda: True)
    for label in labels:
        by_score = label.task is not None and label.task.batch.selection.get("method") == CHOSEN
        chosen[label.sample.external_id] &= by_score
    return chosen


def _first_labels(criterion: Criterion, samples: Mapping[int, str]) -> dict[UnitKey, datetime]:
    """When the first label of each unit came, also where its rater has replaced it since."""
    counting = counting_labels().filter(among(samples.keys()), criterion=criterion).order_by()
    came = counting.values_list("sample_id", "unit").annotate(first=Min(Coalesce("task__submitted_at", "updated_at")))
    return {(samples[pk], unit): first for pk, unit, first in came if pk in samples}


def _people(
    watched: Watched, labels: list[Label], samples: Mapping[int, str]
) -> tuple[alignment.report.Reference, dict[UnitKey, datetime]]:
    """People's side on these samples, and when the first label of a unit came, where that was since.

    Not when it was settled: what people differ on is settled last, and of what was labelled before and settled after,
    that is all there is.
    """
    criterion = watched.look.criterion
    rows: list[tuple[UnitKey, str, Value]] = []
    names = set(samples.values())
    for label in labels:
        unit = (label.sample.external_id, label.unit)
        if unit[0] in names:
            rows.append((unit, label.rater.name, cast("Value", label.value)))
    first = _first_labels(criterion, samples)
    verdicts: dict[UnitKey, Value] = {}
    standings: dict[UnitKey, str] = {}
    here = [label.task_id is not None for label in labels if label.sample.external_id in names]
    for verdict in (
        without_abstentions(Verdict.objects.filter(among(samples.keys()), criterion=criterion))
        .annotate(standing=STANDING)
        .select_related("sample")
    ):
        unit = (verdict.sample.external_id, verdict.unit)
        if verdict.sample_id not in samples:
            continue
        standings[unit] = verdict.standing
        if verdict.standing in HOLDING:
            verdicts[unit] = cast("Value", verdict.value)
            first.setdefault(unit, verdict.updated_at)
    units = [unit for unit, _, _ in rows]
    evidence = alignment.report.Evidence(
        criterion=asked(criterion),
        seed=criterion.project.seed,
        units=units,
        raters=[rater for _, rater, _ in rows],
        values=[value for _, _, value in rows],
        verdicts=verdicts,
        unsettled=unsettled_units(units, here, standings),
        waiting=waiting_labels(units, here, standings),
        groups=groups_of(criterion.project, names),
    )
    since = watched.since
    return alignment.report.reference_of(evidence), {unit: moment for unit, moment in first.items() if moment > since}
