"""Whether a cascade still holds, what its two judges cost, and what it leaves to people."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, Sum
from django.utils.translation import gettext as _

from annotate.core.blindness import Reader
from annotate.core.rows import fetch_all
from annotate.labels.read import COUNTING
from annotate.models.label import VerdictState
from judges.certificates.decision_read import is_taken_back
from judges.certificates.drift_read import Drift, Watched, drift_sentence, drift_watched
from judges.certificates.triage_read import Left, left_of
from judges.models import (
    WITHOUT_SCORES,
    Ask,
    AskState,
    CascadeLook,
    JudgeKind,
    JudgeVersion,
    Run,
    Score,
    ScoreStatus,
    VersionState,
)


@dataclass(frozen=True, slots=True)
class CascadeStanding:
    """ended: why the cascade's decisions may no longer be relied on (a code and a sentence); None while they may."""

    look: CascadeLook
    drift: Drift | None
    ended: tuple[str, str] | None


def cascade_standing(version: JudgeVersion) -> CascadeStanding:
    """Of a version of a cascade: by what it rests on, and by what people have said since of what it decided."""
    look = look_of(version)
    current = look.project.criteria.get(key=look.criterion_key, is_current=True)
    given = {"n": look.number, "criterion": look.criterion_key}
    if look.criterion_id != current.pk:
        said = _("Test evaluation %(n)s is for another version of “%(criterion)s”.")
        return CascadeStanding(look, None, ("criterion_changed", said % given))
    if look.is_out_of_date:
        said = _("Test evaluation %(n)s was made before the promise of test evaluations changed. Evaluate again.")
        return CascadeStanding(look, None, ("out_of_date", said % given))
    if is_taken_back(current, look):
        said = _("Test evaluation %(n)s rests on a word on how labels came that has been withdrawn. Evaluate again.")
        return CascadeStanding(look, None, ("labels_undeclared", said % given))
    bound = 1 - version.config["agreement"]
    name = f"cascade-{version.pk}"
    drift = drift_watched(Watched(name, look, look.created_at, version, version.config["dimension"], 0.5, bound))
    if drift.alarm is not None:
        return CascadeStanding(look, drift, ("drift", drift_sentence(drift)))
    if drift.streaks:
        return CascadeStanding(look, drift, ("drift_or_streak", drift_sentence(drift)))
    return CascadeStanding(look, drift, None)


def look_of(version: JudgeVersion) -> CascadeLook:
    """The look that a version of a cascade is made of."""
    assert version.judge.kind == JudgeKind.CASCADE
    return CascadeLook.objects.select_related("project", "criterion", "cheap__judge", "dear__judge").get(
        project=version.judge.project_id,
        criterion_key=version.config["criterion"],
        number=version.config["look"],
    )


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a unit on average over a version's runs, in the currency: 0 where no model is asked, None where that is not
    known."""

    unit: Decimal | None
    currency: str | None = None


def cost_of(version: JudgeVersion) -> Cost:
    """What replies that were kept from earlier would have cost is taken to be what the others did."""
    if version.endpoint is None:
        return Cost(None if version.judge.kind == JudgeKind.IMPORTED else Decimal(0))
    runs = Run.objects.filter(version=version).exclude(purpose__in=WITHOUT_SCORES)
    found = runs.aggregate(cost=Sum("cost"), unpriced=Sum("unpriced"))
    asks = Ask.objects.filter(run__in=runs, state=AskState.DONE, was_there=False).aggregate(
        done=Count("pk"), paid=Count("pk", filter=Q(is_cached=False))
    )
    units = Score.objects.filter(run__in=runs).count()
    if not asks["paid"] or not units or found["unpriced"] or found["cost"] is None:
        return Cost(None, version.endpoint.currency)
    return Cost(found["cost"] * asks["done"] / asks["paid"] / units, version.endpoint.currency)


def left_by_cascade(version: JudgeVersion, *, reader: Reader) -> Left:
    """Of what the cascade was asked about: neither judge was sure, or one had no answer. From the scores and labels
    there are now."""
    look = look_of(version)
    values = {
        "version": version.pk,
        "dimension": version.config["dimension"],
        "decided": ScoreStatus.OK,
        "criterion": look.criterion_id,
        "disputed": VerdictState.DISPUTED,
    }
    return left_of(fetch_all(_LEFT, values), look.project, reader=reader)


_LEFT = f"""
WITH labelled AS (
    SELECT l.sample_id, l.unit FROM annotate_label l LEFT JOIN annotate_task t ON t.id = l.task_id
    WHERE l.criterion_id = %(criterion)s AND {COUNTING}
    UNION
    SELECT sample_id, unit FROM annotate_verdict WHERE criterion_id = %(criterion)s AND state <> %(disputed)s
)
SELECT s.id, s.external_id, bool_or(c.status <> %(decided)s), bool_or(c.status <> %(decided)s AND labelled.unit IS NULL)
FROM judges_score c
JOIN annotate_sample s ON s.id = c.sample_id AND NOT s.composed
LEFT JOIN labelled ON labelled.sample_id = c.sample_id AND labelled.unit = c.unit
WHERE c.version_id = %(version)s AND c.dimension = %(dimension)s AND c.repeat = 0
GROUP BY s.id, s.external_id ORDER BY s.id
"""


def judges_of(look: CascadeLook) -> list[JudgeVersion]:
    """The versions in use that were made of what the look certified, by their judges' names."""
    versions = JudgeVersion.objects.filter(
        state=VersionState.KEPT,
        judge__kind=JudgeKind.CASCADE,
        judge__project=look.project_id,
        config__criterion=look.criterion_key,
        config__look=look.number,
    )
    return list(versions.select_related("judge__project").order_by("judge__name", "number"))
