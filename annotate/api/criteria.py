"""A criterion evolves: what a change would touch, and the labels that no longer hold given anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request

from annotate.api import projects_serializers as shapes
from annotate.api.base import ProjectAPIView
from annotate.api.schema import answers
from annotate.api.serializers import With
from annotate.batches.criterion_change_read import Choices, Impact, impact, version_uses, versions_of
from annotate.batches.relabelling import Relabelled, relabel
from annotate.core.errors import Invalid
from annotate.models import Rater, User
from annotate.projects.criteria import check_spec
from annotate.projects.read import one_criterion


class VersionsView(ProjectAPIView):
    actions = {"GET": "batches.read"}

    @answers(shapes.CriterionVersion(many=True))
    def get(self, request: Request, slug: str, key: str) -> list[With]:
        """All versions of a criterion, the latest first, with what rests on each."""
        return [
            With(
                use.criterion,
                labels=use.labels,
                carried=use.carried,
                verdicts=use.verdicts,
                waiting=use.waiting,
                batches=[batch.number for batch in use.batches],
                relabelled_in=use.relabelled_in.number if use.relabelled_in else None,
            )
            for use in version_uses(versions_of(self.project, key))
        ]


class ImpactView(ProjectAPIView):
    actions = {"POST": "criteria.change"}

    @answers(shapes.Impact, takes=shapes.ImpactAsked)
    def post(self, request: Request, data: dict[str, Any], slug: str, key: str) -> Impact:
        """What a change of a criterion would touch. Nothing is stored.

        Send the whole criterion as it would be, and what only you know: that the meaning stays the same (with the
        reason), or which values might be a new option now (null: "can't tell"). The counts are of labels that count,
        one per person and unit.
        """
        standing = one_criterion(self.project, key)
        spec = check_spec({**data["criterion"], "key": standing.key})
        return impact(old=standing, new=spec, choices=_choices(data))


class RelabelView(ProjectAPIView):
    actions = {"POST": "criteria.change"}

    @answers(shapes.Relabelled, takes=shapes.RelabelAsked, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, key: str) -> Relabelled:
        """Carries labels of an earlier version over to the current one, and asks only the touched ones again.

        The choices are those of `impact`. `hand_to` names who gives the labels of a rater who can't be asked any more.
        Repeating it changes nothing.
        """
        number = data["from_version"]
        new = one_criterion(self.project, key)
        old = next((one for one in versions_of(self.project, key) if one.version == number), None)
        if old is None:
            raise Invalid("unknown_version", f"“{key}” has no version {number}.")
        return relabel(
            actor=self.user,
            project=self.project,
            old=old,
            new=new,
            choices=_choices(data),
            hand_to=_hand_to(self, data.get("hand_to", {})),
            due_date=data.get("due_date"),
        )


def _choices(data: Mapping[str, Any]) -> Choices:
    some = data.get("maybe_new")
    return Choices(
        same_meaning=data.get("same_meaning", False),
        reason=data.get("reason", ""),
        maybe_new=None if some is None else tuple(some),
    )


def _hand_to(view: ProjectAPIView, given: Mapping[str, str]) -> dict[int, User]:
    raters = dict(Rater.objects.filter(project=view.project, name__in=list(given)).values_list("name", "pk"))
    users = {user.username: user for user in User.objects.filter(username__in=list(given.values()))}
    for rater, name in given.items():
        if rater not in raters:
            raise Invalid("unknown_rater", f"Nobody labelled here as “{rater[:80]}”.")
        if name not in users:
            raise Invalid("unknown_user", f"There is no account “{name[:80]}”.")
    return {raters[rater]: users[name] for rater, name in given.items()}
