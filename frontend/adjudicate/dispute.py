"""One unit with its labels side by side, and who marked which words of the contexts: decide it, or send it back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.utils.html import format_html
from django.utils.translation import gettext as _

from annotate.core.choices import choices_of
from annotate.core.errors import Conflict, Refusal, Stale
from annotate.core.units import claims_of, unit_number, unit_text, unit_title
from annotate.models import Criterion, Verdict
from annotate.models.label import RULED_METHODS, VerdictState
from annotate.projects.guidelines_read import led_to
from annotate.verdicts.adjudication import approve, decide, send_back
from annotate.verdicts.disputes_read import Dispute, Said, one_dispute
from frontend.adjudicate.disputes import narrowing
from frontend.adjudicate.forms import DecisionForm, ReturnForm
from frontend.base.hotkeys import keys_context
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, refuse, sees_names, status_of, word
from frontend.data.samples import answer_pieces, units_by_kind
from frontend.label.threads import cards_about
from judges.core.scores_read import judges_on


@dataclass(frozen=True)
class Stretch:
    """A stretch of a context. letters: of the annotators who marked all of it."""

    text: str
    letters: tuple[str, ...] = ()

    @property
    def who(self) -> str:
        return " ".join(self.letters)

    @property
    def depth(self) -> int:
        """How deep its colour is: one, two, or more people."""
        return min(len(self.letters), 3)


def stretches(text: str, index: int, said: Iterable[Said]) -> list[Stretch]:
    """The context's text, cut where evidence begins or ends. Overlapping spans make a stretch with the letters of both.
    A span whose words don't stand there any more is left out; its quote is still with the label."""
    spans = {
        (span["start"], span["end"], one.letter)
        for one in said
        for span in one.evidence
        if span["context"] == index and text[span["start"] : span["end"]] == span["quote"]
    }
    cuts = sorted({0, len(text), *(start for start, _, _ in spans), *(end for _, end, _ in spans)})
    found = []
    for start, end in pairwise(cuts):
        letters = {letter for first, last, letter in spans if first <= start and end <= last}
        found.append(Stretch(text[start:end], tuple(sorted(letters, key=lambda letter: (len(letter), letter)))))
    return found or [Stretch(text)]


@dataclass(frozen=True)
class Around:
    """What stands beside a unit in the queue, and how many wait in it: with this one, and without; where not is_all,
    there are more. next: where none was found in time, the list from there on."""

    waiting: int
    others: int
    is_all: bool
    previous: str
    next: str
    query: str


@project_view("adjudicate", get="adjudication.read", post="adjudication.decide")
def dispute(page: ProjectPage, verdict_id: int) -> HttpResponse:
    found = found_or_blind(page, verdict_id)
    if isinstance(found, HttpResponse):
        return found
    verdict, around = found.verdict, _around(page, found.verdict)
    form = _decision(verdict, page.data)
    status, stale = status_of(form), None
    if form.is_valid():
        given = form.cleaned_data
        try:
            decide(
                reviewer=page.user,
                project=page.project,
                verdict_id=verdict.pk,
                value=given["value"],
                reason=given["reason"],
                expected_revision=given["revision"],
            )
        except Stale as refusal:
            status, stale = refuse(form, refusal), refusal.details
            form = _seen(form, verdict)
        except Refusal as refusal:
            status = refuse(form, refusal, "value" if refusal.code == "not_an_option" else None)
        else:
            return _onwards(page, verdict, around)
    return _show(page, found, around, form, status=status, stale=stale)


@project_view("adjudicate", post="adjudication.decide")
def approve_unit(page: ProjectPage, verdict_id: int) -> HttpResponse:
    """Approves what the votes settled by themselves, and on to the next."""
    found = found_or_blind(page, verdict_id)
    if isinstance(found, HttpResponse):
        return found
    verdict, around = found.verdict, _around(page, found.verdict)
    given = page.request.POST.get("revision", "")
    try:
        approve(
            reviewer=page.user,
            project=page.project,
            verdict_id=verdict.pk,
            expected_revision=int(given) if given.isascii() and given.isdecimal() and len(given) <= 9 else 0,
        )
    except Stale as refusal:
        return _show(page, found, around, _decision(verdict), status=refusal.status, outdated=True)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return HttpResponseRedirect(page.url("dispute", verdict.pk) + around.query)
    return _onwards(page, verdict, around, _("Approved."))


@project_view("adjudicate", post="adjudication.decide")
def return_label(page: ProjectPage, verdict_id: int) -> HttpResponse:
    """Sends somebody's task back with a message; the unit waits for them."""
    found = found_or_blind(page, verdict_id)
    if isinstance(found, HttpResponse):
        return found
    verdict, around = found.verdict, _around(page, found.verdict)
    returnable = _returnable(found.labels)
    form = ReturnForm(returnable, page.data)
    if form.is_valid():
        letter = form.cleaned_data["annotator"]
        with RefusalsShown(form):
            send_back(
                reviewer=page.user,
                project=page.project,
                verdict_id=verdict.pk,
                letter=letter,
                message=form.cleaned_data["message"],
            )
            who = dict(returnable)[letter]
            messages.success(page.request, _("Sent back to %(who)s. Listed under “Sent back”.") % {"who": who})
            return HttpResponseRedirect(around.next or page.url("adjudicate") + around.query)
    return _show(page, found, around, _decision(verdict), returning=form, status=status_of(form))


def _decision(verdict: Verdict, data: QueryDict | None = None) -> DecisionForm:
    standing = {"revision": verdict.revision, "value": verdict.value, "reason": verdict.reason}
    standing["none"] = verdict.value == []
    return DecisionForm(verdict.criterion, data, initial=standing)


def found_or_blind(page: ProjectPage, verdict_id: int) -> Dispute | HttpResponse:
    """Or the page that says to label it first."""
    try:
        return one_dispute(page.project, verdict_id, reader=page.user, named=sees_names(page))
    except Conflict as refusal:
        context = {"title": _("Label this sample first"), "message": refusal.message, "url": page.url("label")}
        return page.render("adjudicate/dispute_blind.html", context, status=refusal.status)


def _around(page: ProjectPage, verdict: Verdict) -> Around:
    narrowed = narrowing(page)
    place = narrowed.queue(page).place(verdict.pk)

    def link(pk: int | None) -> str:
        return page.url("dispute", pk) + narrowed.query if pk is not None else ""

    following = link(place.next)
    if place.further:
        following = page.url("adjudicate") + narrowed.after(place.further)
    return Around(place.waiting, place.others, place.is_all, link(place.previous), following, narrowed.query)


def _returnable(said: Sequence[Said]) -> list[tuple[str, str]]:
    """Whose label can go back: letter and what to call them."""
    return [(one.letter, one.who) for one in said if one.may_return]


def _show(
    page: ProjectPage,
    found: Dispute,
    around: Around,
    form: DecisionForm,
    *,
    returning: ReturnForm | None = None,
    stale: dict[str, Any] | None = None,
    outdated: bool = False,
    status: int,
) -> HttpResponse:
    verdict, said = found.verdict, found.labels
    sample, criterion = verdict.sample, verdict.criterion
    units = units_by_kind(sample)
    marked = [(view, stretches(view.text, index, said)) for index, view in enumerate(units["context"])]
    title = unit_title(verdict.unit, unit_number(verdict.sample, verdict.unit))
    returnable = _returnable(said)
    if returning is None and returnable:
        about = f"{title} – {criterion.name}: "
        returning = ReturnForm(returnable, initial={"message": about})
    chosen = form.chosen()
    context = {
        "verdict": verdict,
        "criterion": criterion,
        "sample": sample,
        "unit_title": title,
        "unit_text": unit_text(sample, verdict.unit),
        "pieces": answer_pieces(sample.answer or "", claims_of(sample), units["claim"], len(sample.contexts)),
        "contexts": marked,
        "labels": [(one, word(criterion.options, one.value)) for one in said],
        "waiting_for": [one.who for one in said if one.returned],
        "changes": [
            {
                "who": change.who,
                "before": _said(criterion, change.before),
                "after": _said(criterion, change.after),
                "same": change.before == change.after,
            }
            for change in found.changes
        ],
        "history": [
            (event, word(criterion.options, event.value), event.actor is not None and event.method in RULED_METHODS)
            for event in found.history
        ],
        "rest": _rest(found),
        "questions": cards_about(page, sample, verdict.unit, named=sees_names(page)),
        "judges": judges_on(verdict, reader=page.user) if page.project.show_judges else [],
        "options": [{**option, "chosen": str(option["value"]) in chosen} for option in choices_of(criterion)],
        "verdict_word": _said(criterion, verdict.value),
        "form": form,
        "returning": returning,
        "batch_over": not returnable and any(one.task_id and not one.returned for one in said),
        "around": around,
        "stale": _stale(stale, criterion),
        "named": sees_names(page),
        "led_to": led_to(verdict),
        "relabel_url": page.url("samples") + f"?guidelines=older&criterion={criterion.key}"
        if page.may("batches.change") and not criterion.is_text
        else "",
        "may_change_guidelines": page.may("guidelines.change"),
        "may_name": page.may("adjudication.names") and not page.project.show_names,
        "here": page.url("dispute", verdict.pk) + around.query,
        "outdated": outdated,
        **keys_context(page.user, "dispute"),
        "may_approve": verdict.state == VerdictState.SETTLED
        and verdict.method in RULED_METHODS
        and verdict.approved_at is None,
        "waits": verdict.state != VerdictState.SETTLED,
    }
    return page.render("adjudicate/dispute.html", context, status=status)


def _said(criterion: Criterion, value: Any) -> str:
    return "" if value is None else word(criterion.options, value)


def _rest(found: Dispute) -> list[dict[str, Any]]:
    """The other questions about the sample: first this unit on other criteria."""
    verdict = found.verdict
    return [
        {
            "title": unit_title(other.unit, unit_number(verdict.sample, other.unit)),
            "this_unit": other.unit == verdict.unit,
            "criterion": other.criterion,
            "version": other.version,
            "is_correction": bool(other.prefill),
            "votes": [(vote["letter"], word(other.options, vote["value"])) for vote in other.votes],
            "verdict": other.verdict,
            "word": ""
            if other.verdict is None or other.verdict.value is None
            else word(other.options, other.verdict.value),
        }
        for other in found.rest
    ]


def _stale(stale: dict[str, Any] | None, criterion: Criterion) -> dict[str, Any] | None:
    if stale is None:
        return None
    current = stale["current"]
    return {
        "current": _said(criterion, current.value),
        "reason": current.reason,
        "yours": word(criterion.options, stale["yours"]["value"]),
    }


def _seen(form: DecisionForm, verdict: Verdict) -> DecisionForm:
    """The same decision, to be sent again by somebody who has now seen the new state."""
    data = cast("QueryDict", form.data).copy()
    data["revision"] = str(verdict.revision)
    again = DecisionForm(verdict.criterion, data)
    again.full_clean()
    return again


def _onwards(page: ProjectPage, verdict: Verdict, around: Around, done: str = "") -> HttpResponse:
    if not around.next:
        left = _("That was the last one.")
    elif around.is_all:
        left = _("%(n)d left.") % {"n": around.others}
    else:
        # Counting ended before the first, where time was short.
        left = _("At least %(n)d left.") % {"n": around.others} if around.others else ""
    verdict.refresh_from_db(fields=["state", "method"])
    hears = page.project.show_judges and judges_on(verdict, reader=page.user)
    link = _("See judge results") if hears else _("Open it again")
    url = page.url("dispute", verdict.pk) + around.query
    messages.success(page.request, format_html('{} {} <a href="{}">{}</a>', done or _("Decided."), left, url, link))
    return HttpResponseRedirect(around.next or page.url("adjudicate") + around.query)
