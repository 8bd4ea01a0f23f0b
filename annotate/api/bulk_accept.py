from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api import schema_adjudication as shapes
from annotate.api.base import ProjectAPIView, body, whole_number
from annotate.errors import Invalid
from annotate.models import Criterion
from annotate.selectors.adjudication import Queue
from annotate.selectors.proposals import FEWEST_VOTES, Preview, agreed, probable
from annotate.services.bulk_accept import accept_agreed, accept_probable

_FIELDS = {"method", "criterion", "batch", "agreement", "votes", "posterior", "dry_run", "seen", "reason"}
_METHODS = ("agreement", "dawid_skene")
_POSTERIOR = 0.95


class AcceptView(ProjectAPIView):
    actions = {"POST": "adjudication.decide"}

    @shape.describes(shapes.AcceptanceResult, request=shapes.Acceptance, conflict=True)
    def post(self, request: Request, slug: str) -> Response:
        """Settles many disputed units at once.

        By `agreement`: those on which a stated share of at least `votes` votes agree. By `dawid_skene`: those to which
        the model, fitted to all labels of the criterion, gives a value with at least the `posterior`; 409 when the
        labels can't carry it. First with `dry_run`, which counts and gives `seen`; then with that. What was labelled or
        decided in between is left as it is and counted. What a reviewer decided before is never touched.
        """
        data = body(request, _FIELDS)
        method = data.get("method", "agreement")
        if method not in _METHODS:
            raise Invalid("bad_method", _("method: one of %(known)s.") % {"known": ", ".join(_METHODS)})
        if not isinstance(data.get("dry_run", False), bool):
            raise Invalid("bad_dry_run", _("dry_run: true or false."))
        return Response(self._preview(method, data) if data.get("dry_run") else self._accept(method, data))

    def _preview(self, method: str, data: dict[str, Any]) -> dict[str, Any]:
        criterion = self._criterion(method, data)
        batch = data.get("batch")
        queue = Queue(
            self.project,
            self.user,
            criterion=criterion.key if criterion else "",
            batch=None if batch is None else whole_number(batch, "batch"),
        )
        if criterion is not None and method == "dawid_skene":
            return _shown(probable(queue, criterion, posterior=data.get("posterior", _POSTERIOR)))
        return _shown(agreed(queue, agreement=data.get("agreement"), votes=data.get("votes", FEWEST_VOTES)))

    def _accept(self, method: str, data: dict[str, Any]) -> dict[str, Any]:
        criterion = self._criterion(method, data)
        given: dict[str, Any] = {"project": self.project, "seen": data.get("seen")}
        if criterion is not None and method == "dawid_skene":
            done = accept_probable(
                criterion=criterion,
                posterior=data.get("posterior", _POSTERIOR),
                reason=data.get("reason", ""),
                reviewer=self.user,
                **given,
            )
        else:
            done = accept_agreed(
                agreement=data.get("agreement"),  # type: ignore[arg-type]
                votes=data.get("votes", FEWEST_VOTES),
                reason=data.get("reason"),  # type: ignore[arg-type]
                reviewer=self.user,
                **given,
            )
        return {"settled": done.settled, "left": done.left}

    def _criterion(self, method: str, data: dict[str, Any]) -> Criterion | None:
        key = data.get("criterion")
        if key is None and method == "agreement":
            return None
        criterion = self.project.criteria.filter(is_current=True, key=key).first() if isinstance(key, str) else None
        if criterion is None:
            raise Invalid("unknown_criterion", _("criterion: the key of a criterion of this project."))
        return criterion


def _shown(preview: Preview) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "considered": preview.considered,
        "would_settle": len(preview.proposals),
        "more": preview.more,
        "by_value": [{"criterion": row.criterion, "value": row.value, "n": row.n} for row in preview.by_value],
        "seen": [[one.id, one.revision, one.value] for one in preview.proposals],
    }
    if preview.model is not None:
        shown["annotators"] = [
            {"annotator": str(place), "labels": rater.labels, "right": rater.right}
            for place, rater in enumerate(preview.model.raters, start=1)
        ]
    return shown
