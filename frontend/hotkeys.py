"""What people read about the workspace's keys (annotate.hotkeys)."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

ACTION_TEXTS = {
    "next_unit": gettext_noop("next claim, context, fact …"),
    "previous_unit": gettext_noop("the one before"),
    "next_step": gettext_noop("next line of the list"),
    "previous_step": gettext_noop("previous line of the list"),
    "cant_tell": gettext_noop("can't tell, with a reason"),
    "clear": gettext_noop("take the choice back"),
    "comment": gettext_noop("write a comment; Esc leaves it"),
    "undo": gettext_noop("undo"),
    "redo": gettext_noop("do it again"),
    "evidence": gettext_noop("attach evidence: the words selected, or sentences by the arrow keys"),
    "search": gettext_noop("search in the contexts; Enter, Shift+Enter or F3: next, previous hit; Esc closes"),
    "markers": gettext_noop("show or hide invisible characters"),
    "help_text": gettext_noop("show or hide the help"),
    "guidelines": gettext_noop("guidelines"),
    "view": gettext_noop("one question at a time, or all at once"),
    "skip": gettext_noop("skip the sample, with a reason"),
    "flag": gettext_noop("tell the admin that something is wrong with the sample"),
    "back": gettext_noop("take the last submission back"),
    "keys": gettext_noop("list of keys"),
}


def key_rows(keys: Mapping[str, list[str]]) -> list[dict[str, object]]:
    """Action, its keys, and what it does, in the order of the table."""
    return [{"action": action, "keys": keys[action], "text": _(text)} for action, text in ACTION_TEXTS.items()]
