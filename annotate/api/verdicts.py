from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api import schema_adjudication as shapes
from annotate.api.base import Pages, ProjectAPIView, body, expected_revision, text_parameter
from annotate.api.serializers import whole_number
from annotate.core.errors import Invalid
from annotate.core.permissions import may
from annotate.core.units import unit_text
from annotate.models import Criterion, Verdict
from annotate.verdicts.adjudication import accept_agreed, accept_probable, approve, decide, mark_read, send_back
from annotate.verdicts.disputes_read import dispute_payload, require_unblind
from annotate.verdicts.lessons_read import Lesson, Lessons
from annotate.verdicts.proposals_read import FEWEST_VOTES, Preview, agreed, probable
from annotate.verdicts.read import ORDERS, STATES, Queue, one_verdict, verdict_as_dict


class DisputesView(ProjectAPIView):
    actions = {"GET": "adjudication.read"}
    params = Pages.params | {"criterion", "batch", "state", "order", "annotator", "share", "seed"}

    @shape.describes(
        shapes.DisputePage,
        params=[
            *shape.PAGE,
            OpenApiParameter("criterion", description="Key of a criterion."),
            OpenApiParameter("batch", OpenApiTypes.INT, description="Number of a batch."),
            OpenApiParameter(
                "state",
                enum=STATES,
                description="short: too few labels; returned: sent back to an annotator; agreed: settled by the votes "
                "themselves, and not approved yet.",
            ),
            OpenApiParameter(
                "annotator", description="Only what this rater voted on. For those who see who said what."
            ),
            OpenApiParameter("share", OpenApiTypes.INT, description="Of agreed: this many percent, drawn at random."),
            OpenApiParameter("seed", OpenApiTypes.INT, description="Of the draw; the same seed draws the same units."),
            OpenApiParameter("order", enum=ORDERS, description="matters when left out."),
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The units that wait for a reviewer, those of one sample together.

        Reopened ones first: decided, and a label has changed since. Then the samples with the most to decide, and among
        those the ones whose votes split most evenly; or, with `order=sample`, samples as they were imported. What was
        sent back to an annotator is listed with `state=returned` only, until it is submitted again. What needs nobody
        is listed with `state=agreed`, for whoever wants to check it.
        """
        batch, share, seed = (request.query_params.get(name) for name in ("batch", "share", "seed"))
        annotator = text_parameter(request, "annotator")
        if annotator and not (self.project.show_names or may(self.role, "adjudication.names")):
            raise Invalid("names_hidden", _("Who said what is hidden in this project."))
        queue = Queue(
            self.project,
            self.user,
            criterion=text_parameter(request, "criterion"),
            batch=None if batch is None else whole_number(batch, "batch"),
            state=_one_of(text_parameter(request, "state"), "state", STATES, ""),
            order=_one_of(text_parameter(request, "order"), "order", ORDERS, ORDERS[0]),
            annotator=annotator,
            share=1 if share is None else whole_number(share, "share", low=1, high=100) / 100,
            seed=0 if seed is None else whole_number(seed, "seed"),
        )
        pages = Pages()
        rows: list[Verdict] = pages.paginate_queryset(queue, request) or []  # type: ignore[arg-type]
        return pages.get_paginated_response(
            [{**verdict_as_dict(row), "sample_id": row.sample.external_id} for row in rows]
        )


def _one_of(given: str, name: str, known: tuple[str, ...], default: str) -> str:
    if given and given not in known:
        raise Invalid("bad_choice", _("%(name)s: one of %(known)s.") % {"name": name, "known": ", ".join(known)})
    return given or default


class DisputeView(ProjectAPIView):
    actions = {"GET": "adjudication.read", "PUT": "adjudication.decide"}

    @shape.describes(shapes.Dispute, conflict=True)
    def get(self, request: Request, slug: str, verdict_id: int) -> Response:
        """One unit with its labels side by side.

        People are lettered instead of named, unless the project shows names. `changed` marks a label that is not the
        one that was counted any more; `changes` says what reopened a decision. 409 when you have the sample to label
        yourself and did not submit it yet.
        """
        verdict = one_verdict(self.project, verdict_id)
        require_unblind(self.user, verdict.sample)
        return Response(dispute_payload(self.project, verdict))

    @shape.describes(shapes.Verdict, request=shapes.Decision, params=[shape.IF_MATCH])
    def put(self, request: Request, slug: str, verdict_id: int) -> Response:
        """Decides a unit.

        Value and reason become the verdict, which stays until a reviewer decides again. `If-Match` carries the revision
        that you saw; 412 when the unit was decided or labelled anew since. Repeating the same decision changes nothing.
        """
        data = body(request, {"value", "reason"}, required={"value", "reason"})
        verdict = decide(
            reviewer=self.user,
            project=self.project,
            verdict_id=verdict_id,
            value=data["value"],
            reason=data["reason"],
            expected_revision=expected_revision(request),
        )
        return Response(verdict_as_dict(verdict))


class DisputeApproveView(ProjectAPIView):
    actions = {"POST": "adjudication.decide"}

    @shape.describes(shapes.Verdict, params=[shape.IF_MATCH], conflict=True)
    def post(self, request: Request, slug: str, verdict_id: int) -> Response:
        """Approves what the votes settled by themselves.

        Value and method stay; who approved it and when stands in the log. `If-Match` carries the revision that you saw;
        412 when the unit was decided or labelled anew since. 409 when a person decided it, or has to. To overrule it,
        decide it.
        """
        body(request, set())
        verdict = approve(
            reviewer=self.user,
            project=self.project,
            verdict_id=verdict_id,
            expected_revision=expected_revision(request),
        )
        return Response(verdict_as_dict(verdict))


class DisputeReturnView(ProjectAPIView):
    actions = {"POST": "adjudication.decide"}

    @shape.describes(shapes.SentBack, request=shapes.SendingBack, conflict=True)
    def post(self, request: Request, slug: str, verdict_id: int) -> Response:
        """Sends a task back to the annotator who has a letter on this unit.

        The message says what to look at. Everything they said about the sample can be changed again, and its units wait
        (`state=returned`) until they submit.
        """
        data = body(request, {"annotator", "message"}, required={"annotator", "message"})
        task = send_back(
            reviewer=self.user,
            project=self.project,
            verdict_id=verdict_id,
            letter=data["annotator"],
            message=data["message"],
        )
        return Response({"annotator": data["annotator"], "status": task.status})


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


class LessonsView(ProjectAPIView):
    actions = {"GET": "lessons.read", "POST": "lessons.read"}
    params = Pages.params | {"criterion"}

    @shape.describes(
        shapes.LessonPage, params=[*shape.PAGE, OpenApiParameter("criterion", description="Key of a criterion.")]
    )
    def get(self, request: Request, slug: str) -> Response:
        """What reviewers decided otherwise than you had said, with their reasons, the latest first.

        Only your own labels, of batches whose labelling has ended, and only where the project teaches. Empty for those
        who label nothing.
        """
        pages = Pages()
        lessons = Lessons(self.user, self.project, text_parameter(request, "criterion"))
        rows: list[Lesson] = pages.paginate_queryset(lessons, request) or []  # type: ignore[arg-type]
        return pages.get_paginated_response([_lessons_shown(lesson) for lesson in rows])

    @shape.describes(shapes.LessonsMarked, request=shapes.LessonsRead)
    def post(self, request: Request, slug: str) -> Response:
        """Marks lessons of yours as read.

        They are new again when a reviewer decides anew. Ids of anything else are ignored.
        """
        ids = body(request, {"read"}, required={"read"})["read"]
        if not isinstance(ids, list) or len(ids) > Pages.max_limit:
            raise Invalid("bad_read", f"read: a list of at most {Pages.max_limit} ids.")
        known = [whole_number(each, "read", high=2**62) for each in ids]
        return Response({"marked": mark_read(user=self.user, project=self.project, verdict_ids=known)})


def _lessons_shown(lesson: Lesson) -> dict[str, object]:
    label, verdict = lesson.label, lesson.verdict
    return {
        "id": verdict.pk,
        "is_new": lesson.is_new,
        "sample_id": verdict.sample.external_id,
        "question": verdict.sample.question,
        "unit": verdict.unit,
        "unit_text": unit_text(verdict.sample, verdict.unit),
        "criterion": verdict.criterion.key,
        "mine": label.value,
        "my_comment": label.comment,
        "my_evidence": label.evidence,
        "verdict": verdict.value,
        "reason": verdict.reason,
        "decided_at": lesson.decided_at,
    }
