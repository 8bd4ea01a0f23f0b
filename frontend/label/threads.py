"""Questions to reviewers: one's own with their answers, everyone's for those who answer, and one of them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.units import unit_number, unit_text, unit_title
from annotate.models import Sample
from annotate.models.thread import ThreadState
from annotate.tasks.threads import MAX_MESSAGE, close, mark_read, reopen, write
from annotate.tasks.threads_read import ShownThread, Threads, one_thread
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of

AT_ONCE = 20


class MessageForm(forms.Form):
    """key: makes a form that is sent twice one message."""

    key = forms.UUIDField(widget=forms.HiddenInput)
    text = forms.CharField(
        label=gettext_lazy("Message"),
        max_length=MAX_MESSAGE,
        widget=forms.Textarea({"rows": 3, "autocomplete": "off"}),
    )


@dataclass(frozen=True)
class Card:
    """A thread on a page. form: None where nothing can be written. turns: the reader may close and reopen it. named:
    who asked is told, to those who may know it."""

    shown: ShownThread
    title: str
    text: str
    form: MessageForm | None
    turns: bool
    named: bool = True


def cards(page: ProjectPage, threads: Iterable[ShownThread]) -> list[Card]:
    return [_card(page, shown) for shown in threads]


def cards_about(page: ProjectPage, sample: Sample, unit: str, *, named: bool) -> list[Card]:
    """What annotators asked about the unit or the whole sample, the latest first."""
    found = Threads(page.project, reader=page.user, sample=sample, unit=unit)[:AT_ONCE]
    return [_card(page, shown, named=named) for shown in found]


def _card(page: ProjectPage, shown: ShownThread, form: MessageForm | None = None, *, named: bool = True) -> Card:
    """form: the one that was sent."""
    thread, sample = shown.thread, shown.thread.sample
    turns = page.may("threads.write") and not shown.held_back
    if form is None:
        form = MessageForm(initial={"key": uuid.uuid4()}, auto_id=f"id_{thread.pk}_%s")
    form.fields["text"].label = _("Your message") if shown.mine else _("Your answer")
    return Card(
        shown,
        title=_title(shown),
        # A whole answer is too long beside its question.
        text=unit_text(sample, shown.unit) if shown.unit not in ("", "answer", "sample") else "",
        form=form if turns and thread.state != ThreadState.CLOSED else None,
        turns=turns,
        named=named,
    )


def _title(shown: ShownThread) -> str:
    if shown.held_back:
        return _("Question")
    return unit_title(shown.unit, unit_number(shown.thread.sample, shown.unit)) if shown.unit else _("Whole sample")


@project_view("label", get="own_threads.read")
def own(page: ProjectPage) -> HttpResponse:
    rows = page.rows(Threads(page.project, reader=page.user, of=page.user), AT_ONCE)
    return page.render("label/own_questions.html", {"rows": rows, "cards": cards(page, rows)})


@project_view("questions", get="threads.read")
def everyones(page: ProjectPage) -> HttpResponse:
    asked = page.request.GET.get("state", "")
    state = asked if asked in ThreadState.values else ThreadState.WAITING.value
    rows = page.rows(Threads(page.project, reader=page.user, state=state), AT_ONCE)
    context = {
        "rows": rows,
        "cards": cards(page, rows),
        "state": state,
        "states": ThreadState.choices,
        "query": f"state={state}&",
    }
    return page.render("label/questions.html", context)


@project_view("label", get="own_threads.read", post="threads.write")
def question(page: ProjectPage, thread_id: int) -> HttpResponse:
    """One of them; a POST adds a message to it."""
    shown = one_thread(page.project, thread_id, reader=page.user)
    form = MessageForm(page.data) if page.data is not None else None
    if form is not None and form.is_valid():
        with RefusalsShown(form, "text"):
            write(
                actor=page.user,
                project=page.project,
                thread_id=thread_id,
                text=form.cleaned_data["text"],
                idempotency_key=form.cleaned_data["key"],
            )
            messages.success(page.request, _("Sent.") if shown.mine else _("Answer sent."))
            return _back(page, shown)
    context = {"card": _card(page, shown, form), "mine": shown.mine}
    return page.render("label/question.html", context, status=200 if form is None else status_of(form))


@project_view("label", post="threads.write")
def read(page: ProjectPage, thread_id: int) -> HttpResponse:
    """Marks its answers as read, up to the one that was shown."""
    given = page.request.POST.get("number", "")
    number = int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else 0
    return _done(page, thread_id, mark_read, _("Marked as read."), number=number)


@project_view("label", post="threads.write")
def end(page: ProjectPage, thread_id: int) -> HttpResponse:
    return _done(page, thread_id, close, _("Question closed."))


@project_view("label", post="threads.write")
def begin_again(page: ProjectPage, thread_id: int) -> HttpResponse:
    return _done(page, thread_id, reopen, _("Question reopened."))


def _done(
    page: ProjectPage, thread_id: int, act: Callable[..., object], done: str, **more: Any
) -> HttpResponseRedirect:
    shown = one_thread(page.project, thread_id, reader=page.user)
    page.attempt(lambda: act(actor=page.user, project=page.project, thread_id=thread_id, **more), done)
    return _back(page, shown)


def _back(page: ProjectPage, shown: ShownThread) -> HttpResponseRedirect:
    """To the list, or the unit that is being decided."""
    verdict = page.request.POST.get("verdict", "")
    if verdict.isascii() and verdict.isdecimal() and len(verdict) < 19 and page.may("adjudication.read"):
        return page.redirect("dispute", int(verdict))
    return page.redirect("own-questions" if shown.mine else "questions")
