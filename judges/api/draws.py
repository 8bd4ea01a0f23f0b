"""What to label next, by API: a draw to look at, and the batch of the draw that was seen."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import ProjectAPIView, body
from annotate.api.batches import day, people_named
from annotate.api.serializers import whole_number
from annotate.core.errors import Invalid
from annotate.models import Criterion
from annotate.projects.lookup import criterion_named
from annotate.projects.read import batch_as_dict
from judges.api import shapes
from judges.reports.next_samples import (
    About,
    NextSamples,
    OutcomeQueue,
    Shares,
    make_next_batch,
    make_outcome_batch,
    next_samples,
    outcome_queue,
)

BY = ("worth", "outcomes")
_FIELDS = {
    "worth": {"by", "count", "judge", "dimension", "seed"},
    "outcomes": {"by", "judge", "dimension", "threshold", "fails", "passes", "unscored", "seed"},
}
_BATCH = {"plan", "name", "annotators", "overlap", "due_date"}


class DrawsView(ProjectAPIView):
    """A POST that stores nothing."""

    actions = {"POST": "reports.read"}

    @shape.describes(shapes.Drawn, request=shapes.DrawRequest)
    def post(self, request: Request, slug: str, key: str) -> Response:
        """Draws unlabelled samples with known chances; nothing is stored.

        `by` "worth": `count` samples, most where a label teaches most about how people answer, or, with `judge`, about
        its kappa. `by` "outcomes": of what the judge fails, passes, and has no score for, the shares `fails` (1),
        `passes` (0.2) and `unscored` (1); `threshold` is needed where its scores are numbers. `dimension` names what
        the judge measures, where it is not the criterion's key. The reply's `seed` and `plan` make the batch of it.
        """
        data = _asked(request, set(), required=set())
        return Response(_as_dict(_draw(criterion_named(self.project, key), data)))


class DrawBatchView(ProjectAPIView):
    actions = {"POST": "batches.change"}

    @shape.describes(shape.Batch, request=shapes.DrawBatchRequest, status=201, conflict=True)
    def post(self, request: Request, slug: str, key: str) -> Response:
        """Makes a draft batch of a draw that was seen.

        Send what the draw was asked with, its `seed` and `plan`, and who labels it. Each sample keeps its chance, so
        that its labels can speak for all samples. Refused (409) when labels, scores or samples have changed since.
        """
        data = _asked(request, _BATCH, required={"seed", "plan", "name", "annotators", "overlap"})
        criterion = criterion_named(self.project, key)
        if not isinstance(data["plan"], str) or not isinstance(data["name"], str):
            raise Invalid("bad_text", "plan, name: write a text.")
        given = {
            "plan": data["plan"],
            "name": data["name"],
            "annotators": people_named(data["annotators"]),
            "overlap": data["overlap"],
            "due_date": day(data.get("due_date")),
            "created_by": self.user,
        }
        make = make_next_batch if data["by"] == "worth" else make_outcome_batch
        return Response(batch_as_dict(make(criterion=criterion, **_wanted(criterion, data), **given)), status=201)


def _asked(request: Request, more: set[str], *, required: set[str]) -> dict[str, Any]:
    """The request, which has `more` and the fields of the kind of draw that it asks for, no others."""
    by = body(request, set().union(more, *_FIELDS.values())).get("by")
    if by not in BY:
        raise Invalid("bad_by", f"by: one of {', '.join(BY)}.")
    return body(request, _FIELDS[by] | more, required=required)


def _draw(criterion: Criterion, data: dict[str, Any]) -> NextSamples | OutcomeQueue:
    wanted = _wanted(criterion, data)
    return (
        next_samples(criterion=criterion, **wanted)
        if data["by"] == "worth"
        else outcome_queue(criterion=criterion, **wanted)
    )


def _wanted(criterion: Criterion, data: dict[str, Any]) -> dict[str, Any]:
    """The draw as the services take it."""
    seed = None if data.get("seed") is None else whole_number(data["seed"], "seed")
    if data["by"] == "worth":
        return {"count": whole_number(data.get("count"), "count"), "about": _about(criterion, data), "seed": seed}
    about = _about(criterion, data)
    if about is None:
        raise Invalid("missing_field", "The field “judge” is missing.")
    threshold = data.get("threshold")
    shares = {name: data[name] for name in ("fails", "passes", "unscored") if name in data}
    return {
        "about": about,
        "threshold": None if threshold is None else _number(threshold, "threshold"),
        "shares": Shares(**shares),
        "seed": seed,
    }


def _about(criterion: Criterion, data: dict[str, Any]) -> About | None:
    judge, dimension = data.get("judge"), data.get("dimension", criterion.key)
    if judge is None:
        return None
    if not isinstance(judge, str) or not isinstance(dimension, str):
        raise Invalid("bad_text", "judge, dimension: write a text.")
    return About(judge, dimension)


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Invalid("bad_number", f"{name}: a number.")
    return float(value)


def _as_dict(found: NextSamples | OutcomeQueue) -> dict[str, Any]:
    groups: list[dict[str, Any]]
    if isinstance(found, NextSamples):
        groups = [
            {"outcome": None, "samples": stratum.samples, "drawn": stratum.drawn, "chance": stratum.chance}
            for stratum in found.proposal.strata
        ]
    else:
        groups = [
            {"outcome": group.outcome, "samples": group.samples, "drawn": group.drawn, "chance": group.chance}
            for group in found.draw.groups
        ]
    return {
        "frame": found.frame,
        "seed": found.seed,
        "plan": found.plan,
        "strata": groups,
        "samples": [
            {"sample_id": name, "probability": chance.probability, "stratum": chance.stratum}
            for name, chance in sorted(found.chosen.items())
        ],
    }
