"""Known answers, and how annotators did against them and against themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import campaign_shapes as shapes
from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView, body, json_body
from annotate.batches.gold import gold_from_verdicts, import_gold, remove_gold
from annotate.batches.read import batch_annotators, batch_criteria, free_tasks
from annotate.batches.steps import (
    close_batch,
    delete_batch,
    extend_batch,
    open_batch,
    pause_batch,
    reopen_batch,
    resume_batch,
    start_adjudication,
)
from annotate.batches.write import create_batch
from annotate.core.errors import Invalid
from annotate.labels.consensus import settle_imported
from annotate.labels.gold_read import answer_as_dict, gold_accuracy, known_answers, self_consistency, to_set_again
from annotate.models import Batch, Criterion, Project, User
from annotate.projects.read import batch_as_dict, batches_of, current_criteria, one_batch, one_criterion
from annotate.tasks.write import HandedOn

STEPS: dict[str, Callable[..., Batch | HandedOn]] = {
    "open": open_batch,
    "adjudicate": start_adjudication,
    "close": close_batch,
    "reopen": reopen_batch,
    "pause": pause_batch,
    "resume": resume_batch,
}
# What `create_batch` takes as it comes: it checks each.
_OPTIONS = {
    "strategy",
    "tag_key",
    "overlap_share",
    "gold_share",
    "repeat_share",
    "gold_feedback",
    "lease_minutes",
    "consensus",
    "settle_share",
    "settle_votes",
}


class BatchesView(ProjectAPIView):
    actions = {"GET": "batches.read", "POST": "batches.change"}

    @shape.describes(shape.Batch(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The batches, with what they ask of whom.

        The latest first.
        """
        return Response([batch_as_dict(batch) for batch in batches_of(self.project)])

    @shape.describes(shape.Batch, request=shape.BatchCreation, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Makes a draft from a choice of samples, criteria and annotators.

        Samples are all, those whose metadata match a filter, a random draw, which the stored seed draws again, or a
        list of their own ids.
        Annotators are members, by user name; `overlap` of them label each sample. Nobody sees a draft: open it to make
        the tasks.
        """
        known = {"name", "criteria", "annotators", "overlap", "selection", "seed", "due_date"} | _OPTIONS
        data = body(request, known, required={"name", "criteria", "annotators", "overlap"})
        if not isinstance(data["name"], str):
            raise Invalid("bad_name", "name: write a text.")
        selection = _selection(data.get("selection", {"method": "all"}))
        batch = create_batch(
            project=self.project,
            name=data["name"],
            criteria=_criteria(self.project, data["criteria"]),
            annotators=people_named(data["annotators"], "annotators"),
            overlap=data["overlap"],
            selection=selection,
            seed=data.get("seed"),
            due_date=day(data.get("due_date")),
            created_by=self.user,
            **{name: data[name] for name in _OPTIONS & set(data)},
        )
        return Response(batch_as_dict(batch), status=201)


class BatchView(ProjectAPIView):
    actions = {"GET": "batches.read", "DELETE": "batches.change"}

    @shape.describes(shape.BatchWithProgress)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """One batch with its progress, per annotator and per criterion.

        Progress counts tasks of people, and labels and verdicts of units.
        """
        batch = one_batch(self.project, number)
        return Response(
            {
                **batch_as_dict(batch),
                "progress": {
                    "free": free_tasks(batch),
                    "annotators": [{**asdict(row), "left": row.left} for row in batch_annotators(batch)],
                    "criteria": [asdict(row) for row in batch_criteria(batch)],
                },
            }
        )

    @shape.describes(conflict=True)
    def delete(self, request: Request, slug: str, number: int) -> Response:
        """Deletes a batch that carries no labels.

        One that carries some is refused (409, with their number in `labels`); close it instead.
        """
        delete_batch(batch=one_batch(self.project, number), actor=self.user)
        return Response(status=204)


class BatchStepView(ProjectAPIView):
    actions = {"POST": "batches.change"}

    @shape.describes(shapes.SteppedBatch, conflict=True)
    def post(self, request: Request, slug: str, number: int, step: str) -> Response:
        """Moves a batch on: open, pause, resume, adjudicate, close, or reopen.

        `open` makes a draft's tasks, evenly spread over its annotators or free for whoever asks. `pause` stops the
        labelling for a while, until `resume`. `adjudicate` ends the labelling, and what is
        disputed waits for the reviewers. `close` ends both. `reopen` lets the labelling go on. A step that doesn't fit
        the batch's state is refused (409). There is no body.

        `adjudicate` and `close` count what was submitted, also of samples that people were still at work on. `reopen`
        gives open tasks of people who have left to somebody else; `handed_on` and `given_up` say how many.
        """
        body(request, set())
        done = STEPS[step](batch=one_batch(self.project, number), actor=self.user)
        moved = done if isinstance(done, HandedOn) else HandedOn()
        return Response(
            {
                **batch_as_dict(one_batch(self.project, number)),
                "handed_on": moved.handed_on,
                "given_up": moved.given_up,
            }
        )


class BatchExtendView(ProjectAPIView):
    actions = {"POST": "batches.change"}

    @shape.describes(shape.Batch, request=shapes.BatchExtension, conflict=True)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Gives an open or paused batch a later date, more samples, or more people.

        Each is optional, and nothing is taken away. New samples are shared out by what everybody still has to do.
        People who join a balanced batch take over tasks that nobody has begun.
        """
        data = body(request, {"due_date", "selection", "annotators"})
        batch = one_batch(self.project, number)
        extended = extend_batch(
            actor=self.user,
            batch=batch,
            due_date=day(data.get("due_date")),
            selection=_selection(data["selection"]) if "selection" in data else None,
            annotators=people_named(data.get("annotators", []), "annotators"),
        )
        return Response(batch_as_dict(extended))


class SettleView(ProjectAPIView):
    actions = {"POST": "project.change"}

    @shape.describes(shape.Settled, request=shape.Settling)
    def post(self, request: Request, slug: str, key: str) -> Response:
        """Works out verdicts for units with at least `needed` labels.

        For labels that came in as a file; batches do it by themselves. A unit is settled when more than half of its
        labels agree, and disputed otherwise. Units with fewer labels are left without a verdict. `written` counts the
        verdicts that changed.
        """
        data = body(request, {"needed"}, required={"needed"})
        criterion = one_criterion(self.project, key)
        count = settle_imported(project=self.project, criterion=criterion, needed=data["needed"], actor=self.user)
        return Response({"criterion": key, "written": count})


def _criteria(project: Project, keys: Any) -> list[Criterion]:
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise Invalid("bad_criteria", "criteria: a list of keys.")
    found = {criterion.key: criterion for criterion in current_criteria(project)}
    unknown = [key for key in keys if key not in found]
    if unknown:
        raise Invalid("unknown_criterion", f"This project has no criterion “{unknown[0][:80]}”.")
    return [found[key] for key in dict.fromkeys(keys)]


def _selection(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise Invalid("bad_selection", 'selection: write an object such as {"method": "all"}.')
    return given


def people_named(names: Any, field: str = "annotators") -> list[User]:
    """The accounts with these names, from a request's list."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Invalid(f"bad_{field}", _("%(field)s: a list of user names.") % {"field": field})
    found = {user.username: user for user in User.objects.filter(username__in=names)}
    unknown = [name for name in names if name not in found]
    if unknown:
        raise Invalid("unknown_user", _("There is no account “%(name)s”.") % {"name": unknown[0][:80]})
    return [found[name] for name in dict.fromkeys(names)]


def day(text: Any) -> date | None:
    if text is None or text == "":
        return None
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError) as error:
        raise Invalid("bad_date", "due_date: a date such as 2026-12-31.") from error


class GoldView(ProjectAPIView):
    actions = {"GET": "gold.read", "POST": "gold.change"}
    params = Pages.params | {"to_set_again"}

    @shape.describes(
        shapes.GoldPage,
        params=[*shape.PAGE, OpenApiParameter("to_set_again", description="true: those that a change touched.")],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The known answers, by sample.

        Those to the criteria as they are now. `to_set_again=true`: those to earlier versions that a change of the
        criterion touched; set them again, or take them back.
        """
        again = request.query_params.get("to_set_again", "false")
        if again not in ("true", "false"):
            raise Invalid("bad_to_set_again", "to_set_again: write true or false.")
        pages = Pages()
        found = to_set_again(self.project) if again == "true" else known_answers(self.project)
        rows = pages.paginate_queryset(found, request)
        return pages.get_paginated_response([answer_as_dict(answer) for answer in rows or []])

    @shape.describes(shapes.GoldChanged, request=shapes.GoldRow(many=True))
    def post(self, request: Request, slug: str) -> Response:
        """Sets known answers, from a list or a JSON file with one.

        All of them or none: `problems` says what is wrong with which row. An answer that is there already is changed.
        `changed` counts those that are new or different.
        """
        rows = json_body(request, or_file=True)
        return Response({"changed": import_gold(actor=self.user, project=self.project, rows=rows)})


class GoldDrawView(ProjectAPIView):
    actions = {"POST": "gold.change"}

    @shape.describes(shapes.Gold(many=True), request=shapes.GoldDrawing)
    def post(self, request: Request, slug: str) -> Response:
        """Draws known answers from verdicts.

        From units of a criterion that a reviewer decided, or on which all agreed, and that have none yet.
        """
        data = body(request, {"criterion", "n", "seed"}, required={"criterion", "n"})
        criterion = one_criterion(self.project, str(data["criterion"]))
        answers = gold_from_verdicts(
            actor=self.user, project=self.project, criterion=criterion, n=data["n"], seed=data.get("seed")
        )
        return Response([answer_as_dict(answer) for answer in answers])


class GoldAnswerView(ProjectAPIView):
    actions = {"DELETE": "gold.change"}

    @shape.describes()
    def delete(self, request: Request, slug: str, gold_id: int) -> Response:
        """Takes a known answer back.

        Tasks that were given because of it stay; nobody is measured by it any more.
        """
        remove_gold(actor=self.user, project=self.project, gold_id=gold_id)
        return Response(status=204)


class BatchQualityView(ProjectAPIView):
    actions = {"GET": "batches.read"}

    @shape.describes(shapes.BatchQuality)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """How well annotators did in a batch: against known answers, and against themselves.

        Each figure with its interval, or with the reason why there is none.
        """
        batch = one_batch(self.project, number)
        return Response(
            {
                "gold": [asdict(row) for row in gold_accuracy(batch)],
                "repeats": [asdict(row) for row in self_consistency(batch)],
            }
        )
