"""The claims of a sample as an editor needs them: also those that were dropped, what rests on them, who did what.

Only users who may read the known answers learn what rests on a claim and which batches have the sample: others are told
that something does, in the same words whatever it is. A count of known answers would name them, and so would a batch
that has the sample only to measure annotators.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.permissions import may, role_of
from annotate.core.units import claims_of, is_dropped, parse_unit
from annotate.models import Batch, BatchSample, ClaimEdit, Sample, Task, User
from annotate.models.batch import RUNNING_BATCH_STATUSES, BatchStatus
from annotate.models.project import UnitKind
from annotate.samples.read import of_samples

# While one of these asks about the claims, people may be reading them.
AT_WORK = (*RUNNING_BATCH_STATUSES, BatchStatus.ADJUDICATING)
CHECKED = "checked"


def said_about_claims(sample: Sample) -> dict[int, dict[str, int]]:
    """Claim -> what rests on it, as {"label": 3, "score": 1}. Read from every table with units of samples, so that one
    that comes later counts as well."""
    found: dict[int, dict[str, int]] = {}
    for name, accessor in tables_with_units().items():
        rows = getattr(sample, accessor).filter(unit__startswith="claim:").order_by()
        for unit, count in rows.values_list("unit").annotate(n=Count("pk")):
            found.setdefault(parse_unit(unit)[1] or 0, {})[name] = count
    return found


def tables_with_units() -> dict[str, str]:
    """Name of a model that refers to a unit of a sample -> what the sample calls its rows."""
    return {
        str(relation.related_model._meta.model_name): str(relation.get_accessor_name())
        for relation in Sample._meta.related_objects
        if any(field.name == "unit" for field in relation.related_model._meta.get_fields())
    }


def may_know(user: User, sample: Sample) -> bool:
    """Whether the user may learn what rests on the sample's claims."""
    return may(role_of(user, sample.project), "gold.read")


def in_words(counts: Mapping[str, int], *, told: bool) -> str:
    """“3 labels, 1 score”; not told: that it is one or more of those that there can be; "": nothing."""
    if not told:
        return _("labels, verdicts, known answers, questions or scores") if counts else ""
    return ", ".join(_counted(name, n) for name, n in counts.items())


def _counted(name: str, n: int) -> str:
    words = {
        "label": ngettext("%(n)d label", "%(n)d labels", n),
        "verdict": ngettext("%(n)d verdict", "%(n)d verdicts", n),
        "goldanswer": ngettext("%(n)d known answer", "%(n)d known answers", n),
        "score": ngettext("%(n)d score", "%(n)d scores", n),
        "thread": ngettext("%(n)d question", "%(n)d questions", n),
    }
    return words[name] % {"n": n}


def batches_at_work(sample: Sample) -> QuerySet[Batch]:
    """The batches that send this sample's claims to people now."""
    return Batch.objects.filter(
        Exists(BatchSample.objects.filter(batch=OuterRef("pk"), sample=sample))
        | Q(pk__in=sample.tasks.values("batch")),
        status__in=AT_WORK,
        criteria__unit=UnitKind.CLAIM,
    ).distinct()


def claims_at_work(samples: Collection[int]) -> set[int]:
    """Of these samples, by primary key, those of whose claims a batch asks people now."""
    asking = Batch.objects.filter(status__in=AT_WORK, criteria__unit=UnitKind.CLAIM)
    found = of_samples(BatchSample.objects.filter(batch__in=asking), samples).values_list("sample_id", flat=True)
    return {*found, *of_samples(Task.objects.filter(batch__in=asking), samples).values_list("sample_id", flat=True)}


def claims_that_stay(samples: Collection[int]) -> set[int]:
    """Of these samples, by primary key, those of which something rests on a claim, or which a batch asks people about
    now: their claims can't be replaced as a whole."""
    found = claims_at_work(samples)
    for accessor in tables_with_units().values():
        relation = getattr(Sample, accessor).rel
        rows = relation.related_model.objects.filter(sample__in=samples, unit__startswith="claim:")
        found |= set(rows.order_by().values_list("sample_id", flat=True).distinct())
    return found


def why_fixed(batches: list[Batch], *, told: bool) -> str:
    """Why no claim of a sample can change now; "" when they can."""
    if not batches:
        return ""
    if not told:
        return _("A batch uses these claims. Close it to change them.")
    names = ", ".join(f"“{batch.name}”" for batch in batches)
    return ngettext(
        "Batch %(names)s uses these claims. Close it to change them.",
        "%(n)d batches use these claims (%(names)s). Close them to change the claims.",
        len(batches),
    ) % {"n": len(batches), "names": names}


def why_abstained() -> str:
    return _(
        "This answer is marked as abstaining, so it has no claims. To edit claims, change that on the sample’s page."
    )


@dataclass(frozen=True, slots=True)
class ClaimsState:
    """What a user may know about a sample's claims.

    fixed: why none can be changed now; "" when they can. claims: with those that were dropped, each {"index", "text",
    "start", "end", "dropped", "from", "carries"}. history: the latest first, without the claims of each revision.
    """

    revision: int
    source: str
    checked: bool
    fixed: str
    claims: list[dict[str, Any]]
    history: list[ClaimEdit]


def claims_state(sample: Sample, *, user: User) -> ClaimsState:
    told = may_know(user, sample)
    said = said_about_claims(sample)
    edits = list(sample.claim_edits.select_related("actor").defer("claims").order_by("-revision"))
    return ClaimsState(
        revision=sample.claims_revision,
        source=sample.claims_source,
        checked=bool(edits) and edits[0].revision == sample.claims_revision and edits[0].change["op"] == CHECKED,
        fixed=why_abstained() if sample.abstained else why_fixed(list(batches_at_work(sample)), told=told),
        claims=[
            {
                "index": index,
                "text": claim["text"],
                "start": claim["start"],
                "end": claim["end"],
                "dropped": is_dropped(claim),
                "from": _made_of(claim),
                "carries": in_words(said.get(index, {}), told=told),
            }
            for index, claim in enumerate(claims_of(sample))
        ],
        history=edits,
    )


IMPORTED = "imported"


def _made_of(claim: Mapping[str, Any]) -> list[int]:
    """Files may have used the word for something of their own."""
    named = claim.get("from")
    return named if isinstance(named, list) and all(type(index) is int for index in named) else []


def batch_claims(batch: Batch) -> QuerySet[Any]:
    """The batch's samples that have an answer, in their order, each with whether its claims are checked as they are
    now."""
    is_checked = Exists(
        ClaimEdit.objects.filter(
            sample=OuterRef("sample"), revision=OuterRef("sample__claims_revision"), change__op=CHECKED
        )
    )
    answered = batch.batch_samples.filter(sample__answer__isnull=False)
    return answered.select_related("sample").annotate(is_checked=is_checked).order_by("position", "id")


@dataclass(frozen=True)
class Walk:
    """Where a sample stands among those of a batch. `next`: the next one not checked, else None when all are."""

    at: int
    count: int
    checked: int
    previous: int | None
    following: int | None
    next: int | None


def walk_through(batch: Batch, sample_id: int | None = None) -> Walk | None:
    """None when the batch doesn't have the sample. Without a sample: from the beginning."""
    rows = list(batch_claims(batch).values_list("sample_id", "is_checked"))
    ids = [sample for sample, _checked in rows]
    if sample_id is not None and sample_id not in ids:
        return None
    at = -1 if sample_id is None else ids.index(sample_id)
    waiting = [sample for sample, checked in [*rows[at + 1 :], *rows[: max(at, 0)]] if not checked]
    return Walk(
        at=at + 1,
        count=len(ids),
        checked=sum(checked for _sample, checked in rows),
        previous=ids[at - 1] if at > 0 else None,
        following=ids[at + 1] if 0 <= at < len(ids) - 1 else None,
        next=waiting[0] if waiting else None,
    )
