"""What a reviewer sees: the disputed units, each with its labels side by side."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.models import Label, Project, Verdict
from annotate.models.verdict import VerdictState
from annotate.selectors.counting import undecided_labels
from annotate.selectors.versions import latest_of_unit
from annotate.services.adjudication import verdict_as_dict
from annotate.units import unit_text


def queue(project: Project, criterion_key: str | None = None) -> QuerySet[Verdict]:
    """Disputed and reopened units, those of one sample together. Where the unit has a verdict on a later version of the
    criterion, the earlier one needs nobody any more."""
    verdicts = latest_of_unit(
        Verdict.objects.filter(criterion__project=project, state__in=[VerdictState.DISPUTED, VerdictState.REOPENED])
    )
    if criterion_key:
        verdicts = verdicts.filter(criterion__key=criterion_key)
    return verdicts.select_related("criterion", "sample").order_by("sample_id", "criterion__position", "unit", "id")


def one_verdict(project: Project, verdict_id: int) -> Verdict:
    verdict = (
        Verdict.objects.select_related("criterion", "sample", "decided_by")
        .filter(pk=verdict_id, criterion__project=project)
        .first()
    )
    if verdict is None:
        raise Http404(_("There is no such unit to decide."))
    return verdict


def side_by_side(verdict: Verdict) -> list[dict[str, Any]]:
    """The labels the verdict rests on, as they are now. People are lettered, so that a name doesn't decide.

    `changed`: the label is not the revision any more that the vote was counted from.
    """
    labels = {
        label.pk: label
        for label in Label.objects.filter(pk__in=[vote["label"] for vote in verdict.votes]).select_related("rater")
    }
    return [
        {
            "who": _letter(index),
            "value": vote["value"],
            "comment": labels[vote["label"]].comment if vote["label"] in labels else "",
            "evidence": labels[vote["label"]].evidence if vote["label"] in labels else [],
            "changed": vote["label"] in labels and labels[vote["label"]].revision != vote["revision"],
        }
        for index, vote in enumerate(verdict.votes)
    ]


def cant_tell(verdict: Verdict) -> list[dict[str, Any]]:
    """Who looked at the unit and could not tell, with the reason. Lettered on from those who voted."""
    labels = undecided_labels().filter(
        sample_id=verdict.sample_id, unit=verdict.unit, criterion_id=verdict.criterion_id
    )
    return [
        {"who": _letter(len(verdict.votes) + index), "reason": label.cant_tell, "comment": label.comment}
        for index, label in enumerate(labels.order_by("rater_id", "id"))
    ]


def _letter(index: int) -> str:
    return f"Annotator {chr(65 + index)}" if index < 26 else f"Annotator {index + 1}"


def verdict_payload(verdict: Verdict) -> dict[str, Any]:
    sample, criterion = verdict.sample, verdict.criterion
    return {
        **verdict_as_dict(verdict),
        "unit_text": unit_text(sample, verdict.unit),
        "sample": {
            "external_id": sample.external_id,
            "question": sample.question,
            "answer": sample.answer,
            "reference": sample.reference,
            "contexts": sample.contexts,
        },
        "prompt": criterion.prompt,
        "options": criterion.options,
        "labels": side_by_side(verdict),
        "cant_tell": cant_tell(verdict),
    }
