from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api import schema_adjudication as shapes
from annotate.api.base import Pages, ProjectAPIView, body, text_parameter, whole_number
from annotate.errors import Invalid
from annotate.selectors.lessons import Lesson, Lessons
from annotate.services.lessons import mark_read
from annotate.units import unit_text


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
        return pages.get_paginated_response([_shown(lesson) for lesson in rows])

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


def _shown(lesson: Lesson) -> dict[str, object]:
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
