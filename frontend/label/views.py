"""The labelling workspace: one page, then JSON, with the first two tasks so that nothing is waited for. Beside it what
one has labelled, to search and to change while its batch is open, and what reviewers decided otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie

from annotate.core.errors import Refusal
from annotate.core.line_diff import lines_between
from annotate.core.scales import MAX_TEXT
from annotate.core.texts import MAX_COMMENT
from annotate.core.units import unit_number, unit_text, unit_title
from annotate.models import GuidelineVersion
from annotate.models.batch import OPEN_TASK_STATUSES
from annotate.projects.accounts import Preferences, option_hotkeys, preferences_of
from annotate.projects.guidelines_read import guideline_news, newest_version, one_version
from annotate.qualification.read import qualification_of_round
from annotate.tasks.read import (
    finished_tasks,
    has_labelled,
    is_own_task,
    may_change,
    next_task,
    own_task,
    work_progress,
)
from annotate.tasks.threads import MAX_MESSAGE
from annotate.tasks.write import reopen_task
from annotate.verdicts.adjudication import mark_read
from annotate.verdicts.lessons_read import Lesson, Lessons
from frontend.base.folding import folded
from frontend.base.forms import WorkSearch
from frontend.base.guideline_text import guidelines_html
from frontend.base.hotkeys import key_rows
from frontend.base.pages import ProjectPage, project_view, word
from frontend.label.practice import practice


@never_cache
@ensure_csrf_cookie
@project_view("label", get="work.label")
def workspace(page: ProjectPage) -> HttpResponse:
    """`?batch=3`: only that batch. `?task=17`: that one of one's own first. `?introduction=1`: a practice sample before
    all others, as at the first visit."""
    number = _whole_number(page.request.GET.get("batch"))
    wanted = _whole_number(page.request.GET.get("task"))
    work: dict[str, Any] = {"user": page.user, "project": page.project, "batch_number": number}
    if wanted is None:
        task = next_task(**work)
    else:
        task = _own(page, wanted)
        if task["status"] not in OPEN_TASK_STATUSES:
            return page.redirect("label-done")
    preferences = preferences_of(page.user)
    of_options = option_hotkeys(page.project)
    keys = preferences.keys_on("workspace", options=of_options)
    newest = newest_version(page.project)
    data = {
        "user_id": page.user.pk,
        "project": {"slug": page.project.slug, "name": page.project.name},
        "api": {
            "work": f"/api/projects/{page.project.slug}/work/",
            "task": "/api/tasks/",
            "threads": f"/api/projects/{page.project.slug}/threads/",
            "guidelines_seen": f"/api/projects/{page.project.slug}/guidelines/seen/",
            "me": "/api/me/",
        },
        "login_url": reverse("login"),
        "home_url": reverse("home"),
        "done_url": page.url("label-done"),
        "csrf_cookie": settings.CSRF_COOKIE_NAME,
        "preferences": asdict(preferences),
        "keys": keys,
        "guideline_version": newest.number if newest else None,
        "batch": number,
        "task": task,
        "next": next_task(**work, exclude=[task["id"]]) if task else None,
        "progress": work_progress(**work),
    }
    asked = "introduction" in page.request.GET
    is_new = task is not None and not preferences.introduced and not has_labelled(page.user)
    if wanted is None and (asked or is_new):
        data["introduction"] = practice()
    context = {
        "workspace": data,
        "guidelines": guidelines_html(page.project, newest.text if newest else page.project.guidelines),
        "news": _news(page, newest),
        "keys": keys,
        "most_text": MAX_TEXT,
        "most_comment": MAX_COMMENT,
        "most_message": MAX_MESSAGE,
        "key_rows": key_rows("workspace", keys),
        "keyless": key_rows("workspace", _keyless(preferences, keys)),
        "reasons": _reasons(),
        "qualification_id": qualification_of_round(page.project, number),
    }
    return page.render("label/workspace.html", context)


def _keyless(preferences: Preferences, keys: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The actions that have no key here, since options have theirs; with these."""
    usual = preferences.keys_on("workspace")
    return {action: listed for action, listed in usual.items() if listed and not keys[action]}


def _news(page: ProjectPage, newest: GuidelineVersion | None) -> dict[str, Any] | None:
    """What changed in the guidelines since the person's last task here; None: nothing, or they know."""
    versions = guideline_news(page.user, page.project, newest)
    if not versions:
        return None
    known = one_version(page.project, versions[-1].number - 1)
    return {"versions": versions, "lines": folded(lines_between(known.text, versions[0].text))}


def _own(page: ProjectPage, task_id: int) -> dict[str, Any]:
    if not is_own_task(page.user, page.project, task_id):
        raise Http404(_("Task not found."))
    return own_task(user=page.user, task_id=task_id)


def _reasons() -> dict[str, list[str]]:
    """What is usually said; one's own words are always possible."""
    return {
        "skip": [
            _("Outside my expertise"),
            _("The question makes no sense"),
            _("Text is broken or missing"),
            _("In a language I don’t read"),
        ],
        "flag": [
            _("Text is broken or missing"),
            _("Claims are split incorrectly"),
            _("Contains personal data"),
            _("Duplicate"),
        ],
        "cant_tell": [
            _("Not enough information in the contexts"),
            _("The question or this passage is unclear"),
            _("Needs another expert"),
            _("Text is broken or missing"),
        ],
    }


def _whole_number(text: str | None) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise Http404(_("Batch or task not found."))
    return int(text)


@project_view("label", get="work.label")
def done(page: ProjectPage) -> HttpResponse:
    form = WorkSearch(page.request.GET)
    words = form.cleaned_data["q"] if form.is_valid() else ""
    rows = page.rows(finished_tasks(user=page.user, project=page.project, words=words))
    listed = [{"task": task, "may_change": may_change(task)} for task in rows]
    query = urlencode({"q": words}) + "&" if words else ""
    left = work_progress(user=page.user, project=page.project)["left"]
    context = {"form": form, "words": words, "query": query, "rows": rows, "listed": listed, "left": left}
    return page.render("label/own_work.html", context)


@project_view("label", post="work.label")
def change(page: ProjectPage, task_id: int) -> HttpResponse:
    """Takes the task back and opens it."""
    if not is_own_task(page.user, page.project, task_id):
        raise Http404(_("Task not found."))
    try:
        reopen_task(actor=page.user, task_id=task_id)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("label-done")
    return HttpResponseRedirect(f"{page.url('label')}?task={task_id}")


LESSONS_AT_ONCE = 20


@project_view("label", get="lessons.read", post="lessons.read")
def lessons(page: ProjectPage) -> HttpResponse:
    """The list; a POST marks those of one page of it as read."""
    key = page.request.GET.get("criterion", "").replace("\x00", "")
    own = Lessons(page.project, reader=page.user)
    groups = own.groups()
    key = key if key in {group.key for group in groups} else ""
    query = "?" + urlencode({"criterion": key}) if key else ""
    if page.data is not None:
        ids = [int(text) for text in page.data.getlist("read")[:LESSONS_AT_ONCE] if text.isdecimal() and len(text) < 19]
        mark_read(user=page.user, project=page.project, verdict_ids=ids)
        messages.success(page.request, _("Marked as read."))
        return HttpResponseRedirect(page.url("lessons") + query)
    narrowed = Lessons(page.project, reader=page.user, criterion=key)
    rows = page.rows(narrowed, LESSONS_AT_ONCE)
    listed = [_shown(lesson) for lesson in rows]
    context = {
        "groups": groups,
        "criterion": key,
        "rows": rows,
        "listed": listed,
        "new": [lesson.verdict.pk for lesson in rows if lesson.is_new],
        "query": query[1:] + "&" if query else "",
        "teaches": page.project.teach,
    }
    return page.render("label/lessons.html", context)


def _shown(lesson: Lesson) -> dict[str, Any]:
    label, verdict = lesson.label, lesson.verdict
    sample, criterion = verdict.sample, verdict.criterion
    return {
        "lesson": lesson,
        "title": unit_title(verdict.unit, unit_number(sample, verdict.unit)),
        "text": unit_text(sample, verdict.unit),
        "whole": verdict.unit in ("answer", "sample"),
        "mine": word(criterion.options, label.value),
        "said": word(criterion.options, verdict.value),
        "contexts": [(number, context["text"]) for number, context in enumerate(sample.contexts, start=1)],
    }
