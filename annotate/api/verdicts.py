from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from rest_framework.request import Request

from annotate.api import verdicts_serializers as shapes
from annotate.api.base import ProjectAPIView, expected_revision
from annotate.api.schema import IF_MATCH, answers
from annotate.api.serializers import Nothing, With
from annotate.core.errors import Invalid
from annotate.core.scales import require_voted
from annotate.models import Criterion, Verdict
from annotate.verdicts.adjudication import accept_agreed, accept_probable, approve, decide, mark_read, send_back
from annotate.verdicts.disputes_read import one_dispute
from annotate.verdicts.lessons_read import Lessons
from annotate.verdicts.proposals_read import FEWEST_VOTES, Preview, agreed, probable
from annotate.verdicts.read import ORDERS, Queue

_POSTERIOR = 0.95


class DisputesView(ProjectAPIView):
    actions = {"GET": "adjudication.read"}

    @answers(shapes.DisputePage, query=shapes.DisputesAsked)
    def get(self, request: Request, asked: dict[str, Any], slug: str) -> Queue:
        """The units that wait for a reviewer, those of one sample together.

        Reopened ones first: decided, and a label has changed since. Then the samples with the most to decide, and among
        those the ones whose votes split most evenly; or, with `order=sample`, samples as they were imported. What was
        sent back to an annotator is listed with `state=returned` only, until it is submitted again. What needs nobody
        is listed with `state=agreed`, for whoever wants to check it. Where more than 10,000 units wait in the project,
        all are listed by sample.
        """
        return Queue(
            self.project,
            reader=self.user,
            criterion=asked.get("criterion", ""),
            batch=asked.get("batch"),
            state=asked.get("state") or "",
            order=asked.get("order") or ORDERS[0],
            annotator=asked.get("annotator", ""),
            share=asked.get("share", 100) / 100,
            seed=asked.get("seed", 0),
        )


class DisputeView(ProjectAPIView):
    actions = {"GET": "adjudication.read", "PUT": "adjudication.decide"}

    @answers(shapes.Dispute, conflict=True)
    def get(self, request: Request, slug: str, verdict_id: int) -> With:
        """One unit with its labels side by side.

        People are lettered instead of named, unless the project shows names. `changed` marks a label that is not the
        one that was counted any more; `changes` says what reopened a decision. 409 when you have the sample to label
        yourself and did not submit it yet.
        """
        found = one_dispute(self.project, verdict_id, reader=self.user, named=self.project.show_names)
        return With(found.verdict, labels=found.labels, changes=found.changes, history=found.history)

    @answers(shapes.Verdict, takes=shapes.Decision, headers=[IF_MATCH])
    def put(self, request: Request, data: dict[str, Any], slug: str, verdict_id: int) -> Verdict:
        """Decides a unit.

        Value and reason become the verdict, which stays until a reviewer decides again. `If-Match` carries the revision
        that you saw; 412 when the unit was decided or labelled anew since. Repeating the same decision changes nothing.
        """
        return decide(
            reviewer=self.user,
            project=self.project,
            verdict_id=verdict_id,
            expected_revision=expected_revision(request),
            **data,
        )


class DisputeApproveView(ProjectAPIView):
    actions = {"POST": "adjudication.decide"}

    @answers(shapes.Verdict, takes=Nothing, headers=[IF_MATCH], conflict=True)
    def post(self, request: Request, slug: str, verdict_id: int) -> Verdict:
        """Approves what the votes settled by themselves.

        Value and method stay; who approved it and when stands in the log. `If-Match` carries the revision that you saw;
        412 when the unit was decided or labelled anew since. 409 when a person decided it, or has to. To overrule it,
        decide it.
        """
        seen = expected_revision(request)
        return approve(reviewer=self.user, project=self.project, verdict_id=verdict_id, expected_revision=seen)


class DisputeReturnView(ProjectAPIView):
    actions = {"POST": "adjudication.decide"}

    @answers(shapes.SentBack, takes=shapes.SendingBack, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, verdict_id: int) -> dict[str, Any]:
        """Sends a task back to the annotator who has a letter on this unit.

        The message says what to look at. Everything they said about the sample can be changed again, and its units wait
        (`state=returned`) until they submit.
        """
        task = send_back(
            reviewer=self.user,
            project=self.project,
            verdict_id=verdict_id,
            letter=data["annotator"],
            message=data["message"],
        )
        return {"annotator": data["annotator"], "status": task.status}


class AcceptView(ProjectAPIView):
    actions = {"POST": "adjudication.decide"}

    @answers(shapes.AcceptanceResult, takes=shapes.Acceptance, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> dict[str, Any]:
        """Settles many disputed units at once.

        By `agreement`: those on which a stated share of at least `votes` votes agree. By `dawid_skene`: those to which
        the model, fitted to all labels of the criterion, gives a value with at least the `posterior`; 409 when the
        labels can't carry it. First with `dry_run`, which counts and gives `seen`; then with that. What was labelled or
        decided in between is left as it is and counted. What a reviewer decided before is never touched.
        """
        method = data.get("method", "agreement")
        criterion = self._criterion(method, data)
        fitted = criterion if method == "dawid_skene" else None
        posterior, votes = data.get("posterior", _POSTERIOR), data.get("votes", FEWEST_VOTES)
        if data.get("dry_run"):
            key = criterion.key if criterion else ""
            queue = Queue(self.project, reader=self.user, criterion=key, batch=data.get("batch"))
            if fitted is not None:
                return _shown(probable(queue, fitted, posterior=posterior))
            return _shown(agreed(queue, agreement=data.get("agreement"), votes=votes))
        given: dict[str, Any] = {"project": self.project, "seen": data.get("seen")}
        if fitted is not None:
            given |= {"criterion": fitted, "posterior": posterior, "reason": data.get("reason", "")}
            done = accept_probable(reviewer=self.user, **given)
        else:
            given |= {"agreement": data.get("agreement"), "votes": votes, "reason": data.get("reason")}
            done = accept_agreed(reviewer=self.user, **given)
        return {"settled": done.settled, "left": done.left}

    def _criterion(self, method: str, data: dict[str, Any]) -> Criterion | None:
        key = data.get("criterion")
        if key is None and method == "agreement":
            return None
        criterion = self.project.criteria.filter(is_current=True, key=key).first() if isinstance(key, str) else None
        if criterion is None:
            raise Invalid("unknown_criterion", _("criterion: must be the key of a criterion in this project."))
        require_voted(criterion)
        return criterion


def _shown(preview: Preview) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "considered": preview.considered,
        "would_settle": len(preview.proposals),
        "more": preview.more,
        "by_value": preview.by_value,
        "seen": [[one.id, one.revision, one.value] for one in preview.proposals],
    }
    if preview.model is not None:
        raters = enumerate(preview.model.raters, start=1)
        shown["annotators"] = [With(rater, annotator=str(place)) for place, rater in raters]
    return shown


class LessonsView(ProjectAPIView):
    actions = {"GET": "lessons.read", "POST": "lessons.read"}

    @answers(shapes.LessonPage, query=shapes.LessonsAsked)
    def get(self, request: Request, asked: dict[str, str], slug: str) -> Lessons:
        """What reviewers decided otherwise than you had said, with their reasons, the latest first.

        Only your own labels, of batches whose labelling has ended, and only where the project teaches. Empty for those
        who label nothing.
        """
        return Lessons(self.project, reader=self.user, criterion=asked.get("criterion", ""))

    @answers(shapes.LessonsMarked, takes=shapes.LessonsRead)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> dict[str, Any]:
        """Marks lessons of yours as read.

        They are new again when a reviewer decides anew. Ids of anything else are ignored.
        """
        return {"marked": mark_read(user=self.user, project=self.project, verdict_ids=data["read"])}
