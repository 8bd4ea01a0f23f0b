"""Batches over the API, their known answers, and how annotators did against these and against themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request

from annotate.api import batches_serializers as shapes
from annotate.api.base import ProjectAPIView
from annotate.api.bodies import json_body
from annotate.api.schema import answers
from annotate.api.serializers import Nothing, With
from annotate.batches import steps
from annotate.batches.anchoring_read import proposal_effect
from annotate.batches.declared_draws import declare_draw
from annotate.batches.draws_read import HowLabelled, how_labelled
from annotate.batches.edit import edit_batch
from annotate.batches.gold import gold_from_verdicts, import_gold, remove_gold
from annotate.batches.read import batch_annotators, batch_criteria, free_tasks, left_out
from annotate.batches.write import create_batch
from annotate.core.bodies import MANY_ROWS
from annotate.core.errors import Invalid
from annotate.core.permissions import may
from annotate.labels.consensus import settle_imported
from annotate.labels.gold_read import gold_accuracy, known_answers, self_consistency, to_set_again
from annotate.models import Batch, Criterion, GoldAnswer, Project, Qualification
from annotate.projects.read import (
    batches_of,
    current_criteria,
    one_batch,
    one_rated_criterion,
    people_of,
    without_why,
)
from annotate.tasks.write import HandedOn

STEPS: dict[str, Callable[..., Batch | HandedOn]] = {
    "open": steps.open_batch,
    "adjudicate": steps.start_adjudication,
    "close": steps.close_batch,
    "reopen": steps.reopen_batch,
    "pause": steps.pause_batch,
    "resume": steps.resume_batch,
    "count-single-labels": steps.count_single_labels,
    "discount-single-labels": steps.discount_single_labels,
}


class BatchesView(ProjectAPIView):
    actions = {"GET": "batches.read", "POST": "batches.change"}
    body_bytes = MANY_ROWS

    @answers(shapes.Batch(many=True))
    def get(self, request: Request, slug: str) -> Iterable[Batch]:
        """The batches, with what they ask of whom.

        The latest first.
        """
        batches = batches_of(self.project)
        return batches if may(self.role, "batches.change") else [without_why(batch) for batch in batches]

    @answers(shapes.Batch, takes=shapes.BatchCreation, status=201)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Batch:
        """Makes a draft from a choice of samples, criteria and annotators.

        Samples are all, those whose metadata match a filter, a random draw, which the stored seed draws again, or a
        list of their own ids.
        Annotators are members, by user name; `overlap` of them label each sample. Nobody sees a draft: open it to make
        the tasks.
        """
        given = {
            **data,
            "criteria": criteria_keyed(self.project, data["criteria"]),
            "annotators": people_of(self.project, data["annotators"]),
            "requires": required(self.project, data.get("requires")),
        }
        return create_batch(project=self.project, created_by=self.user, **{"selection": {"method": "all"}, **given})


class BatchView(ProjectAPIView):
    actions = {"GET": "batches.read", "PATCH": "batches.change", "DELETE": "batches.change"}
    body_bytes = MANY_ROWS

    @answers(shapes.BatchWithProgress)
    def get(self, request: Request, slug: str, number: int) -> With:
        """One batch with its progress, per annotator and per criterion.

        Progress counts tasks of people, and labels and verdicts of units.
        """
        batch = one_batch(self.project, number)
        if not may(self.role, "batches.change"):
            batch = without_why(batch)
        people, criteria = batch_annotators(batch), batch_criteria(batch)
        counts = {"free": free_tasks(batch), "left_out": left_out(batch)}
        return With(batch, progress={**counts, "annotators": people, "criteria": criteria})

    @answers(shapes.Batch, takes=shapes.BatchChange, conflict=True)
    def patch(self, request: Request, data: dict[str, Any], slug: str, number: int) -> Batch:
        """Edits a draft.

        A field that is left out stays as it is; the others are checked as when a batch is created. `selection` makes
        another choice of samples; `add` and `remove` name single ones by their own ids. A batch that was opened is
        refused (409); extend it instead.
        """
        batch = one_batch(self.project, number)
        if "criteria" in data:
            data["criteria"] = criteria_keyed(self.project, data["criteria"])
        if "annotators" in data:
            data["annotators"] = people_of(self.project, data["annotators"])
        if "requires" in data:
            data["requires"] = required(self.project, data["requires"])
        return edit_batch(actor=self.user, batch=batch, **data)

    @answers(conflict=True)
    def delete(self, request: Request, slug: str, number: int) -> None:
        """Deletes a batch that carries no labels.

        One that carries some is refused (409, with their number in `labels`); close it instead.
        """
        steps.delete_batch(batch=one_batch(self.project, number), actor=self.user)


class BatchStepView(ProjectAPIView):
    actions = {"POST": "batches.change"}

    @answers(shapes.SteppedBatch, takes=Nothing, conflict=True)
    def post(self, request: Request, slug: str, number: int, step: str) -> With:
        """Moves a batch on: open, pause, resume, adjudicate, close, or reopen.

        `open` makes a draft's tasks, evenly spread over its annotators or free for whoever asks. `pause` stops the
        labelling for a while, until `resume`. `adjudicate` ends the labelling, and what is
        disputed waits for the reviewers. `close` ends both. `reopen` lets the labelling go on. A step that doesn't fit
        the batch's state is refused (409). There is no body.

        `adjudicate` and `close` count what was submitted, also of samples that people were still at work on. `reopen`
        gives open tasks of people who have left to somebody else; `handed_on` and `given_up` say how many.

        `count-single-labels` is an admin's word that the label of one person settles a unit of this batch; reports say
        whose. `discount-single-labels` takes it back. Both leave the batch's state as it is.
        """
        done = STEPS[step](batch=one_batch(self.project, number), actor=self.user)
        moved = done if isinstance(done, HandedOn) else HandedOn()
        return With(one_batch(self.project, number), handed_on=moved.handed_on, given_up=moved.given_up)


class BatchExtendView(ProjectAPIView):
    actions = {"POST": "batches.change"}

    @answers(shapes.Batch, takes=shapes.BatchExtension, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, number: int) -> Batch:
        """Gives an open or paused batch a later date, more samples, or more people.

        Each is optional, and nothing is taken away. New samples are shared out by what everybody still has to do.
        People who join a balanced batch take over tasks that nobody has begun.
        """
        batch = one_batch(self.project, number)
        annotators = people_of(self.project, data.pop("annotators", []))
        return steps.extend_batch(actor=self.user, batch=batch, annotators=annotators, **data)


class SettleView(ProjectAPIView):
    actions = {"POST": "project.change"}

    @answers(shapes.Settled, takes=shapes.Settling)
    def post(self, request: Request, data: dict[str, Any], slug: str, key: str) -> dict[str, Any]:
        """Works out verdicts for units with labels that came in as a file and at least `needed` labels in all.

        Batches do it by themselves. A unit is settled when more than half of its
        labels agree, and disputed otherwise. Units with fewer labels are left without a verdict. `written` counts the
        verdicts that changed.
        """
        criterion = one_rated_criterion(self.project, key)
        count = settle_imported(project=self.project, criterion=criterion, needed=data["needed"], actor=self.user)
        return {"criterion": key, "written": count}


class CameView(ProjectAPIView):
    actions = {"GET": "reports.read", "PUT": "project.change"}

    @answers(shapes.HowLabelled)
    def get(self, request: Request, slug: str, key: str) -> HowLabelled:
        """How the labelled samples came: how many were drawn with a known chance, by what, and how many were chosen.

        Only those with a known chance are in guarantees.
        """
        return how_labelled(one_rated_criterion(self.project, key))

    @answers(shapes.HowLabelled, takes=shapes.DrawDeclaration, conflict=True)
    def put(self, request: Request, data: dict[str, Any], slug: str, key: str) -> HowLabelled:
        """Says how samples came that were labelled elsewhere; certificates name who said so.

        It is about the labels there are now. Those that come in later count in no guarantee until it is said again.
        """
        criterion = one_rated_criterion(self.project, key)
        declare_draw(criterion=criterion, actor=self.user, **data)
        return how_labelled(criterion)


def required(project: Project, pk: Any) -> Qualification | None:
    """The qualification with this id. Raises Invalid."""
    if pk is None:
        return None
    found = None
    if isinstance(pk, int) and not isinstance(pk, bool) and 0 < pk < 2**63:
        found = Qualification.objects.filter(project=project, pk=pk).first()
    if found is None:
        raise Invalid("unknown_qualification", f"This project has no qualification {str(pk)[:20]}.")
    return found


def criteria_keyed(project: Project, keys: list[str]) -> list[Criterion]:
    found = {criterion.key: criterion for criterion in current_criteria(project)}
    unknown = [key for key in keys if key not in found]
    if unknown:
        raise Invalid("unknown_criterion", f"This project has no criterion “{unknown[0][:80]}”.")
    return [found[key] for key in dict.fromkeys(keys)]


class GoldView(ProjectAPIView):
    actions = {"GET": "gold.read", "POST": "gold.change"}
    body_bytes = MANY_ROWS

    @answers(shapes.GoldPage, query=shapes.GoldAsked)
    def get(self, request: Request, asked: dict[str, str], slug: str) -> QuerySet[GoldAnswer]:
        """The known answers, by sample.

        Those to the criteria as they are now. `to_set_again=true`: those to earlier versions that a change of the
        criterion touched; set them again, or take them back.
        """
        read = to_set_again if asked.get("to_set_again") == "true" else known_answers
        return read(self.project, reader=self.user)

    @answers(shapes.GoldChanged, request=shapes.GoldRow(many=True))
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Sets known answers, from a list or a JSON file with one.

        All of them or none: `problems` says what is wrong with which row. An answer that is there already is changed.
        `changed` counts those that are new or different.
        """
        rows = json_body(request, or_file=True)
        return {"changed": import_gold(actor=self.user, project=self.project, rows=rows)}


class GoldDrawView(ProjectAPIView):
    actions = {"POST": "gold.change"}

    @answers(shapes.Gold(many=True), takes=shapes.GoldDrawing)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> list[GoldAnswer]:
        """Draws known answers from verdicts.

        From units of a criterion that a reviewer decided, or on which all agreed, and that have none yet.
        """
        criterion = one_rated_criterion(self.project, str(data.pop("criterion")))
        return gold_from_verdicts(actor=self.user, project=self.project, criterion=criterion, **data)


class GoldAnswerView(ProjectAPIView):
    actions = {"DELETE": "gold.change"}

    @answers()
    def delete(self, request: Request, slug: str, gold_id: int) -> None:
        """Takes a known answer back.

        Tasks that were given because of it stay; nobody is measured by it any more.
        """
        remove_gold(actor=self.user, project=self.project, gold_id=gold_id)


class BatchQualityView(ProjectAPIView):
    actions = {"GET": "batches.read"}

    @answers(shapes.BatchQuality)
    def get(self, request: Request, slug: str, number: int) -> dict[str, Any]:
        """How well annotators did in a batch: against known answers and themselves; and how far proposals pull them.

        Each figure with its interval, or with the reason why there is none.
        """
        batch = one_batch(self.project, number)
        return {
            "gold": gold_accuracy(batch),
            "repeats": self_consistency(batch),
            "proposals": proposal_effect(batch, reader=self.user),
        }
