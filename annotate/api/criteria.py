"""A criterion evolves: what a change would touch, and the labels that no longer hold given anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import ProjectAPIView, body, whole_number
from annotate.batches.criterion_change_read import Change, Choices, Impact, impact, version_uses, versions_of
from annotate.batches.relabelling import relabel
from annotate.core.errors import Invalid
from annotate.core.texts import is_storable
from annotate.models import Rater, User
from annotate.projects.criteria import check_spec
from annotate.projects.read import criterion_as_dict, one_criterion

_CHOICES = {"same_meaning", "reason", "maybe_new"}


class VersionsView(ProjectAPIView):
    actions = {"GET": "batches.read"}

    @shape.describes(shape.CriterionVersion(many=True))
    def get(self, request: Request, slug: str, key: str) -> Response:
        """All versions of a criterion, the latest first, with what rests on each."""
        return Response(
            [
                {
                    **criterion_as_dict(use.criterion),
                    "is_current": use.criterion.is_current,
                    "labels": use.labels,
                    "carried": use.carried,
                    "verdicts": use.verdicts,
                    "waiting": use.waiting,
                    "batches": [batch.number for batch in use.batches],
                    "relabelled_in": use.relabelled_in.number if use.relabelled_in else None,
                }
                for use in version_uses(versions_of(self.project, key))
            ]
        )


class ImpactView(ProjectAPIView):
    actions = {"POST": "criteria.change"}

    @shape.describes(shape.Impact, request=shape.ImpactAsked)
    def post(self, request: Request, slug: str, key: str) -> Response:
        """What a change of a criterion would touch. Nothing is stored.

        Send the whole criterion as it would be, and what only you know: that the meaning stays the same (with the
        reason), or which values might be a new option now (null: "can't tell"). The counts are of labels that count,
        one per person and unit.
        """
        data = body(request, {"criterion", *_CHOICES}, required={"criterion"})
        standing = one_criterion(self.project, key)
        if not isinstance(data["criterion"], Mapping):
            raise Invalid("bad_criterion", "criterion: write an object.")
        spec = check_spec({**data["criterion"], "key": standing.key})
        return Response(impact_as_dict(impact(old=standing, new=spec, choices=_choices(data))))


class RelabelView(ProjectAPIView):
    actions = {"POST": "criteria.change"}

    @shape.describes(shape.Relabelled, request=shape.RelabelAsked, conflict=True)
    def post(self, request: Request, slug: str, key: str) -> Response:
        """Carries labels of an earlier version over to the current one, and asks only the touched ones again.

        The choices are those of `impact`. `hand_to` names who gives the labels of a rater who can't be asked any more.
        Repeating it changes nothing.
        """
        data = body(request, {"from_version", "hand_to", "due_date", *_CHOICES}, required={"from_version"})
        number = whole_number(data["from_version"], "from_version", low=1)
        new = one_criterion(self.project, key)
        old = next((one for one in versions_of(self.project, key) if one.version == number), None)
        if old is None:
            raise Invalid("unknown_version", f"“{key}” has no version {number}.")
        done = relabel(
            actor=self.user,
            project=self.project,
            old=old,
            new=new,
            choices=_choices(data),
            hand_to=_hand_to(self, data.get("hand_to", {})),
            due_date=_date(data.get("due_date")),
        )
        return Response(
            {
                "criterion": new.key,
                "version": new.version,
                "carried": done.carried,
                "verdicts": done.verdicts,
                "asked": done.asked,
                "left": done.left,
                "waiting": done.waiting,
                "known_answers": done.known_answers,
                "batch": done.batch.number if done.batch else None,
            }
        )


def _choices(data: Mapping[str, Any]) -> Choices:
    same, reason, some = data.get("same_meaning", False), data.get("reason", ""), data.get("maybe_new")
    if not isinstance(same, bool):
        raise Invalid("bad_same_meaning", "same_meaning: write true or false.")
    if not is_storable(reason):
        raise Invalid("bad_reason", "reason: write a text.")
    if some is not None and not (
        isinstance(some, list) and all(value is None or isinstance(value, str | int | float) for value in some)
    ):
        raise Invalid("bad_maybe_new", "maybe_new: a list of values.")
    return Choices(same_meaning=same, reason=reason, maybe_new=None if some is None else tuple(some))


def _hand_to(view: ProjectAPIView, given: Any) -> dict[int, User]:
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given.values()):
        raise Invalid("bad_hand_to", "hand_to: an object of raters and user names.")
    raters = dict(Rater.objects.filter(project=view.project, name__in=list(given)).values_list("name", "pk"))
    users = {user.username: user for user in User.objects.filter(username__in=list(given.values()))}
    for rater, name in given.items():
        if rater not in raters:
            raise Invalid("unknown_rater", f"Nobody labelled here as “{rater[:80]}”.")
        if name not in users:
            raise Invalid("unknown_user", f"There is no account “{name[:80]}”.")
    return {raters[rater]: users[name] for rater, name in given.items()}


def _date(text: Any) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except (TypeError, ValueError) as error:
        raise Invalid("bad_date", "due_date: a date such as 2026-12-31.") from error


def impact_as_dict(found: Impact) -> dict[str, Any]:
    return {
        "change": _change_as_dict(found.change),
        "labels": found.labels,
        "touched": found.touched,
        "untouched": found.untouched,
        "values": [asdict(row) for row in found.values],
        "batches": [asdict(row) for row in found.batches],
        "people": [
            {"rater": row.name, "touched": row.touched, "samples": row.samples, "can_redo": row.can_redo}
            for row in found.people
        ],
        "open_tasks": found.open_tasks,
        "known_answers": {"kept": found.gold_kept, "to_set_again": found.gold_again},
    }


def _change_as_dict(change: Change) -> dict[str, Any]:
    return {
        "fields": {name: {"before": before, "after": after} for name, (before, after) in change.fields.items()},
        "options": [
            {"value": one.value, "kind": one.kind, "before": one.before, "after": one.after} for one in change.options
        ],
        "reordered": change.reordered,
        "pass": None if change.passes is None else {"before": change.passes[0], "after": change.passes[1]},
    }
