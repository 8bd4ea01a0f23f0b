"""What reviewers decided otherwise than an annotator had said."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from annotate.core.units import unit_number, unit_text, unit_title
from annotate.verdicts.adjudication import mark_read
from annotate.verdicts.lessons_read import Lesson, Lessons
from frontend.views.base import ProjectPage, project_view
from frontend.views.words import word

PAGE_SIZE = 20


@project_view("label", get="lessons.read", post="lessons.read")
def lessons(page: ProjectPage) -> HttpResponse:
    """The list; a POST marks those of one page of it as read."""
    key = page.request.GET.get("criterion", "").replace("\x00", "")
    own = Lessons(page.user, page.project)
    groups = own.groups()
    key = key if key in {group.key for group in groups} else ""
    query = "?" + urlencode({"criterion": key}) if key else ""
    if page.data is not None:
        ids = [int(text) for text in page.data.getlist("read")[:PAGE_SIZE] if text.isdecimal() and len(text) < 19]
        mark_read(user=page.user, project=page.project, verdict_ids=ids)
        messages.success(page.request, _("Marked as read."))
        return HttpResponseRedirect(page.url("lessons") + query)
    rows = Paginator(Lessons(page.user, page.project, key), PAGE_SIZE).get_page(page.request.GET.get("page"))
    listed = [_shown(lesson) for lesson in rows]
    context = {
        "groups": groups,
        "criterion": key,
        "rows": rows,
        "listed": listed,
        "new": [one["verdict"].pk for one in listed if one["is_new"]],
        "query": query[1:] + "&" if query else "",
        "teaches": page.project.teach,
    }
    return page.render("frontend/lessons.html", context)


def _shown(lesson: Lesson) -> dict[str, Any]:
    label, verdict = lesson.label, lesson.verdict
    sample, criterion = verdict.sample, verdict.criterion
    return {
        "verdict": verdict,
        "is_new": lesson.is_new,
        "question": sample.question,
        "answer": sample.answer,
        "title": unit_title(verdict.unit, unit_number(verdict.sample, verdict.unit)),
        "text": unit_text(sample, verdict.unit),
        "whole": verdict.unit in ("answer", "sample"),
        "criterion": criterion.name,
        "prompt": criterion.prompt,
        "mine": word(criterion.options, label.value),
        "said": word(criterion.options, verdict.value),
        "comment": label.comment,
        "evidence": label.evidence,
        "contexts": [(number, context["text"]) for number, context in enumerate(sample.contexts, start=1)],
        "reason": verdict.reason,
        "decided_at": lesson.decided_at,
    }
