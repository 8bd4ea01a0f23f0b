"""What to label next, by API: a draw to look at, and the batch of the draw that was seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rest_framework import serializers as s
from rest_framework.request import Request

from annotate import models
from annotate.api.base import ProjectAPIView
from annotate.api.batches_serializers import Batch
from annotate.api.bodies import json_body
from annotate.api.schema import answers
from annotate.api.serializers import Choice, Day, Names, Number, Shape, Text, Whole, whole_number
from annotate.core.errors import Invalid
from annotate.projects.read import criterion_named, people_of
from judges.reports.next_samples import (
    About,
    Draw,
    Shares,
    make_drawn_batch,
    next_samples,
    outcome_queue,
)

_DRAWS: dict[str, Callable[..., Draw[Any]]] = {"worth": next_samples, "outcomes": outcome_queue}
_FIELDS = {
    "worth": {"by", "count", "judge", "dimension", "seed"},
    "outcomes": {"by", "judge", "dimension", "threshold", "fails", "passes", "unscored", "seed"},
}
_BATCH = {"plan", "name", "annotators", "overlap", "due_date"}
_NAMES = "judge, dimension: write a text."


class DrawRequest(Shape, required="by"):
    by = Choice(list(_FIELDS), code="bad_by", help_text="worth or outcomes")
    count = s.IntegerField(help_text="worth: how many samples.")
    judge = Text(says=_NAMES, allow_null=True, help_text="Its name. worth: empty for how people answer.")
    dimension = Text(says=_NAMES, help_text="What it measures, where that is not the criterion's key.")
    threshold = Number(allow_null=True, help_text="outcomes: from which score on a unit passes.")
    fails = s.FloatField(help_text="outcomes: the share of what it fails, above 0 and up to 1.")
    passes = s.FloatField(help_text="outcomes: the share of what it passes.")
    unscored = s.FloatField(help_text="outcomes: the share of what it has no score for.")
    seed = Whole(allow_null=True, help_text="The same seed draws the same samples again.")


class DrawBatchRequest(DrawRequest, required="by seed plan name annotators overlap"):
    plan = Text(says="plan, name: write a text.", help_text="Of the draw that was seen.")
    name = Text(says="plan, name: write a text.")
    annotators = Names(help_text="User names.")
    overlap = s.IntegerField()
    due_date = Day(allow_null=True)


class DrawnStratum(Shape):
    outcome = s.CharField(allow_null=True, help_text="outcomes: fail, pass or no score.")
    samples = s.IntegerField()
    drawn = s.IntegerField()
    chance = s.FloatField()

    def get_outcome(self, stratum: Any) -> str | None:
        return getattr(stratum, "outcome", None)


class DrawnSample(Shape):
    sample_id = s.CharField(help_text="Its own id.")
    probability = s.FloatField()
    stratum = s.IntegerField(help_text="Its place among the strata, from 1.")


class Drawn(Shape):
    frame = s.IntegerField(help_text="How many samples it was drawn from.")
    seed = s.IntegerField()
    plan = s.CharField()
    strata = DrawnStratum(many=True)
    samples = DrawnSample(many=True, help_text="Those that you may know by name.")
    held_back = s.IntegerField(
        help_text="How many are left out: all, while you still have to label or to decide one of those that it draws "
        "from, as their strata say what the judge said of it."
    )

    def get_strata(self, draw: Draw[Any]) -> Any:
        return draw.found.strata if hasattr(draw.found, "strata") else draw.found.groups

    def get_samples(self, draw: Draw[Any]) -> list[dict[str, Any]]:
        return [
            {"sample_id": name, "probability": chance.probability, "stratum": chance.stratum}
            for name, chance in sorted(draw.chosen.items())
            if name not in draw.held_back
        ]

    def get_held_back(self, draw: Draw[Any]) -> int:
        return sum(name in draw.held_back for name in draw.chosen)


class DrawsView(ProjectAPIView):
    """A POST that stores nothing."""

    actions = {"POST": "reports.read"}

    @answers(Drawn, request=DrawRequest, conflict=True)
    def post(self, request: Request, slug: str, key: str) -> Draw[Any]:
        """Draws unlabelled samples with known chances; nothing is stored.

        `by` "worth": `count` samples, most where a label teaches most about how people answer, or, with `judge`, about
        its kappa. `by` "outcomes": of what the judge fails, passes, and has no score for, the shares `fails` (1),
        `passes` (0.2) and `unscored` (1); `threshold` is needed where its scores are numbers. `dimension` names what
        the judge measures, where it is not the criterion's key. The reply's `seed` and `plan` make the batch of it.
        Refused (409) when the strata, of few samples, would tell you what a judge said of one that you still have to
        label or to decide.
        """
        data = _asked(request, DrawRequest)
        criterion = criterion_named(self.project, key)
        return _DRAWS[data["by"]](criterion=criterion, reader=self.user, **_wanted(criterion, data))


class DrawBatchView(ProjectAPIView):
    actions = {"POST": "batches.change"}

    @answers(Batch, request=DrawBatchRequest, status=201, conflict=True)
    def post(self, request: Request, slug: str, key: str) -> models.Batch:
        """Makes a draft batch of a draw that was seen.

        Send what the draw was asked with, its `seed` and `plan`, and who labels it. Each sample keeps its chance, so
        that its labels can speak for all samples. Refused (409) when labels, scores or samples have changed since.
        """
        data = _asked(request, DrawBatchRequest)
        criterion = criterion_named(self.project, key)
        given = {name: data[name] for name in _BATCH & set(data)} | {
            "annotators": people_of(self.project, data["annotators"])
        }
        wanted = _wanted(criterion, data)
        return make_drawn_batch(_DRAWS[data["by"]], criterion=criterion, created_by=self.user, **wanted, **given)


def _asked(request: Request, shape: type[DrawRequest]) -> dict[str, Any]:
    """The request, which has the fields of the kind of draw that it asks for, and no others."""
    sent = json_body(request)
    if isinstance(sent, dict):
        sent = {"by": None, **sent}
    by = shape.take(sent)["by"]
    return shape.take(sent, known=_FIELDS[by] | (_BATCH if shape is DrawBatchRequest else set()))


def _wanted(criterion: models.Criterion, data: dict[str, Any]) -> dict[str, Any]:
    """What the draw is asked with."""
    judge, seed = data.get("judge"), data.get("seed")
    about = None if judge is None else About(judge, data.get("dimension", criterion.key))
    if data["by"] == "worth":
        return {"count": whole_number(data.get("count"), "count"), "about": about, "seed": seed}
    if about is None:
        raise Invalid("missing_field", "The field “judge” is missing.")
    shares = {name: data[name] for name in ("fails", "passes", "unscored") if name in data}
    return {"about": about, "threshold": data.get("threshold"), "shares": Shares(**shares), "seed": seed}
