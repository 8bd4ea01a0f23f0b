"""A project's guidelines change: every saved text is a version of its own (decision 42)."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid, Stale
from annotate.core.texts import is_storable
from annotate.core.trail import note as note_in_trail
from annotate.models import GuidelineVersion, Membership, Project, User, Verdict
from annotate.projects.guideline_images_read import lacks_words

MAX_TEXT = 100_000
MAX_LINES = 5_000
MAX_NOTE = 500


def first_guidelines(*, project: Project, actor: User | None) -> None:
    """Of a new project, in the transaction that makes it: what it begins with is version 1, also when it is empty."""
    GuidelineVersion.objects.create(
        project=project, number=1, text=project.guidelines, author=actor, created_at=timezone.now()
    )


def change_guidelines(
    *,
    actor: User | None,
    project: Project,
    text: Any,
    note: Any = "",
    seen: int | None = None,
    dispute: Verdict | None = None,
) -> GuidelineVersion:
    """Saves the next version. The text that stands already makes none.

    seen: the version that the author began with; None: whatever stands. dispute: what made them change it.

    Raises Invalid, and Stale when there is a later version than the one that was seen.
    """
    text, note = check_guidelines(text), _check_note(note)
    if lacks_words(text):
        raise Invalid(
            "image_without_words",
            _("Say what each image shows, for people who don’t see it: in the brackets of ![](image:…)."),
        )
    with transaction.atomic():
        stands = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        newest = GuidelineVersion.objects.filter(project=project).select_related("author").first()
        number = newest.number if newest else 0
        if newest is not None and text == newest.text.replace("\r\n", "\n"):
            project.guidelines = text
            return newest
        if newest is not None and seen is not None and seen != number:
            raise Stale(
                "stale",
                _("Version %(version)d of the guidelines was saved in the meantime. Your text was not saved.")
                % {"version": number},
                current={"version": number, "text": newest.text, "note": newest.note},
                yours={"version": seen, "text": text, "note": note},
            )
        made = GuidelineVersion.objects.create(
            project=project,
            number=number + 1,
            text=text,
            note=note,
            dispute=dispute,
            author=actor,
            created_at=timezone.now(),
        )
        project.guidelines = stands.guidelines = text
        stands.save(update_fields=["guidelines"])
        note_in_trail(
            actor=actor,
            action="guidelines.changed",
            subject=stands.name,
            project=stands,
            version=made.number,
            note=note,
        )
    return made


def note_seen(*, user: User, project: Project, number: int) -> None:
    """The person has closed the news of the versions up to this one. What they have closed already stays closed."""
    newest = GuidelineVersion.objects.filter(project=project, number=number)
    if not newest.exists():
        raise Invalid("unknown_version", _("Version %(version)d of the guidelines not found.") % {"version": number})
    own = Membership.objects.filter(project=project, user=user)
    own.exclude(guidelines_seen__gte=number).update(guidelines_seen=number)


def check_guidelines(text: Any) -> str:
    if not is_storable(text):
        raise Invalid("bad_text", "guidelines: write a text.")
    # As a browser sends the ends of lines.
    text = text.replace("\r\n", "\n")
    if len(text) > MAX_TEXT or text.count("\n") >= MAX_LINES:
        raise Invalid(
            "guidelines_too_long",
            _("The guidelines have %(n)d characters in %(lines)d lines. Shorten them to %(most)d and %(most_lines)d.")
            % {"n": len(text), "lines": text.count("\n") + 1, "most": MAX_TEXT, "most_lines": MAX_LINES},
        )
    return text


def _check_note(note: Any) -> str:
    if not is_storable(note):
        raise Invalid("bad_note", _("note: must be text."))
    note = note.strip()
    if len(note) > MAX_NOTE:
        raise Invalid(
            "note_too_long",
            _("The note has %(n)d characters. Shorten it to %(most)d.") % {"n": len(note), "most": MAX_NOTE},
        )
    return note
