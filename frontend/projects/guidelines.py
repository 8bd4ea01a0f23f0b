"""The guidelines: what they say, their versions with what each changed, and the form in which the next is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.errors import Refusal, Stale
from annotate.core.line_diff import lines_between
from annotate.labels.under_guidelines_read import first_labels_by_version
from annotate.models import GuidelineVersion, Verdict
from annotate.projects.guidelines import MAX_NOTE, MAX_TEXT, change_guidelines
from annotate.projects.guidelines_read import (
    may_know_authors,
    newest_version,
    one_version,
    versions_of,
)
from frontend.base.folding import Skip, folded
from frontend.base.guideline_text import guidelines_html
from frontend.base.pages import ProjectPage, project_view, refuse, status_of

VERSIONS_AT_ONCE = 20


class GuidelinesForm(forms.Form):
    """version: the one that the author began with."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)
    text = forms.CharField(
        label=gettext_lazy("Guidelines"),
        required=False,
        strip=False,
        max_length=MAX_TEXT,
        widget=forms.Textarea({"rows": 18}),
        help_text=gettext_lazy("Markdown: headings, lists, tables, links, images. Raw HTML is not shown."),
    )
    note = forms.CharField(
        label=gettext_lazy("What changed"),
        max_length=MAX_NOTE,
        widget=forms.Textarea({"rows": 2}),
        help_text=gettext_lazy("Annotators read this before their next task. Don’t name the answer of a sample."),
    )


@dataclass(frozen=True)
class Row:
    """A version on the page. lines: what it changed of the one before; empty for the first."""

    version: GuidelineVersion
    lines: Sequence[Any]
    is_current: bool


@project_view("project", get="project.read")
def guidelines(page: ProjectPage) -> HttpResponse:
    may_count = page.may("batches.read")
    versions = list(versions_of(page.project))
    shown = page.rows(versions, VERSIONS_AT_ONCE)
    under = None
    if may_count:
        newest = versions[0].number if versions else 0
        under = first_labels_by_version(page.project, [version.number for version in shown], newest)
    before = {version.number + 1: version.text for version in versions}
    context = {
        "rows": shown,
        "listed": [
            Row(
                version,
                folded(lines_between(before[version.number], version.text)) if version.number in before else [],
                version == versions[0],
            )
            for version in shown
        ],
        "text": guidelines_html(page.project, page.project.guidelines),
        "counts": [(version, under.counts[version.number]) for version in shown] if under else [],
        "unknown": under.counts[None] if under else None,
        "may_count": may_count,
        "may_change": page.may("guidelines.change"),
        "named": may_know_authors(page.project, page.role),
        "may_adjudicate": page.may("adjudication.read"),
        "may_relabel": page.may("batches.change"),
        "has_older": under is not None and under.has_older,
    }
    return page.render("projects/guidelines.html", context)


@project_view("project", get="project.read")
def version(page: ProjectPage, number: int) -> HttpResponse:
    """One version as those who labelled under it read it."""
    shown = one_version(page.project, number)
    newest = newest_version(page.project)
    context = {
        "version": shown,
        "is_current": shown == newest,
        "text": guidelines_html(page.project, shown.text),
    }
    return page.render("projects/guidelines_version.html", context)


@project_view("project", post="guidelines.change")
def preview(page: ProjectPage) -> HttpResponse:
    """What the text of the form would look like. Stores nothing; the form says what is wrong with a text."""
    text = page.request.POST.get("text", "")[:MAX_TEXT]
    return page.render("projects/partials/guidelines_text.html", {"text": guidelines_html(page.project, text)})


@project_view("project", get="guidelines.change", post="guidelines.change")
def edit(page: ProjectPage) -> HttpResponse:
    editing = Editing(page)
    if editing.save():
        messages.success(page.request, editing.said())
        return page.redirect("guidelines")
    return page.render("projects/guidelines_edit.html", editing.context(), status=status_of(editing.form))


class Editing:
    """One request for the form. A text that others have overtaken is not lost: both stand on the page, and saving again
    puts this one on top of theirs."""

    def __init__(self, page: ProjectPage, *, dispute: Verdict | None = None, note: str = "") -> None:
        self._page, self._dispute = page, dispute
        newest = newest_version(page.project)
        self._number = newest.number if newest else 0
        self.saved: GuidelineVersion | None = None
        self._theirs: dict[str, Any] | None = None
        # The text of that very version: another may have been saved since the project was read.
        text = newest.text if newest else page.project.guidelines
        initial = {"version": self._number, "text": text, "note": note}
        self.form = GuidelinesForm(page.data, initial=initial)
        # What was never said needs no note on what changed.
        self.form.fields["note"].required = bool(page.project.guidelines)

    def save(self) -> bool:
        if not self.form.is_valid():
            return False
        given = self.form.cleaned_data
        try:
            self.saved = change_guidelines(
                actor=self._page.user,
                project=self._page.project,
                text=given["text"],
                note=given["note"],
                seen=given["version"],
                dispute=self._dispute,
            )
        except Stale as refusal:
            self._overtaken(given, refusal)
        except Refusal as refusal:
            refuse(self.form, refusal, "note" if refusal.code in ("bad_note", "note_too_long") else "text")
        return self.saved is not None

    @property
    def is_new(self) -> bool:
        """Whether a version was saved; not when the text is as it stood."""
        return self.saved is not None and self.saved.number > self._number

    def said(self) -> str:
        if self.saved is None or not self.is_new:
            return _("Nothing changed: the text is the same.")
        return _("Version %(n)d of the guidelines saved.") % {"n": self.saved.number}

    def context(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "theirs": self._theirs,
            "text": guidelines_html(self._page.project, str(self.form["text"].value() or "")[:MAX_TEXT]),
            "editor": {
                "upload": f"/api/projects/{self._page.project.slug}/guidelines/images/",
                "user_id": self._page.user.pk,
                "csrf_cookie": settings.CSRF_COOKIE_NAME,
            },
        }

    def _overtaken(self, given: dict[str, Any], refusal: Stale) -> None:
        theirs = one_version(self._page.project, refusal.details["current"]["version"])
        began = one_version(self._page.project, given["version"]).text if given["version"] else ""
        self._page.project.guidelines = theirs.text
        self._theirs = {
            "version": theirs,
            "lines": _changes(began, theirs.text),
            "against": _changes(theirs.text, given["text"]),
        }
        # Sent again, it is on top of what is shown now.
        self.form = GuidelinesForm({**given, "version": theirs.number})
        self.form.refused_with = refusal.status  # type: ignore[attr-defined]


def _changes(before: str, after: str) -> list[Any]:
    lines = folded(lines_between(before, after))
    return [] if all(isinstance(line, Skip) for line in lines) else lines
