"""What people read about the keys of pages (annotate.core.hotkeys)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotate.core.hotkeys import PAGE_ACTIONS
from annotate.models import User
from annotate.projects.accounts import preferences_of

ACTION_TEXTS = {
    "next_unit": gettext_noop("next claim, context, fact …"),
    "previous_unit": gettext_noop("previous claim, context, fact …"),
    "next_step": gettext_noop("next line of the list"),
    "previous_step": gettext_noop("previous line of the list"),
    "cant_tell": gettext_noop("can’t tell, with a reason"),
    "clear": gettext_noop("clear choice"),
    "comment": gettext_noop("write a comment (Esc: leave)"),
    "undo": gettext_noop("undo"),
    "redo": gettext_noop("redo"),
    "evidence": gettext_noop("attach evidence before you answer: selected words, or sentences with the arrow keys"),
    "search": gettext_noop("search the contexts (Enter or F3: next match; Shift+Enter: previous; Esc: close)"),
    "markers": gettext_noop("show or hide invisible characters"),
    "help_text": gettext_noop("show or hide the help"),
    "guidelines": gettext_noop("guidelines"),
    "view": gettext_noop("all questions at once, or one at a time"),
    "skip": gettext_noop("skip the sample, with a reason"),
    "flag": gettext_noop("flag a problem with the sample to the admin"),
    "ask": gettext_noop("ask a reviewer, read answers (Esc: back)"),
    "back": gettext_noop("reopen the previous sample"),
    "keys": gettext_noop("list of shortcuts"),
    "start": gettext_noop("open the first unit in the list"),
    "approve": gettext_noop("approve and go to the next unit"),
    "send_back": gettext_noop("send back to an annotator"),
    "rest": gettext_noop("other units of this sample"),
    "split": gettext_noop("split the claim (← →: move the split point; Enter: split)"),
    "merge": gettext_noop("merge with the next claim"),
    "edit": gettext_noop("edit the text (Enter: save; Esc: cancel)"),
    "bounds": gettext_noop("adjust its passage in the answer"),
    "add": gettext_noop("add the selection as a claim, or choose a passage"),
    "write": gettext_noop("when choosing a passage: type the claim instead"),
    "drop": gettext_noop("remove the claim"),
    "dropped": gettext_noop("go to removed claims, to restore one"),
}
# What an action of several pages is on one of them.
_HERE = {
    ("dispute", "next_unit"): gettext_noop("skip to the next unit"),
    ("dispute", "previous_unit"): gettext_noop("previous unit"),
    ("dispute", "comment"): gettext_noop("write the reason (Esc: leave)"),
    ("dispute", "evidence"): gettext_noop("next evidence in the contexts"),
    ("claims", "next_unit"): gettext_noop("next claim"),
    ("claims", "previous_unit"): gettext_noop("previous claim"),
}
_GROUPS = {
    "workspace": gettext_noop("Labelling"),
    "disputes": gettext_noop("Adjudicating"),
    "dispute": gettext_noop("Adjudicating"),
    "claims": gettext_noop("Editing claims"),
}


def key_rows(page: str, keys: Mapping[str, Sequence[str]]) -> list[dict[str, object]]:
    """Action, its keys, and what it does on the page, in the order of the table; what has no key is left out."""
    return [
        {"action": action, "keys": listed, "text": _(_HERE.get((page, action), ACTION_TEXTS[action]))}
        for action, listed in keys.items()
        if listed
    ]


def grouped_actions() -> dict[str, list[str]]:
    """The actions under the names of their pages; those of several pages come first."""
    groups: dict[str, list[str]] = {_("On several pages"): []}
    for page, actions in PAGE_ACTIONS.items():
        for action in actions:
            on_several = sum(action in others for others in PAGE_ACTIONS.values()) > 1
            group = groups.setdefault(_("On several pages") if on_several else _(_GROUPS[page]), [])
            if action not in group:
                group.append(action)
    return groups


def keys_context(user: User, page: str) -> dict[str, Any]:
    """For a page's template: the keys in force (none when somebody does without single keys), and what they do."""
    preferences = preferences_of(user)
    keys = preferences.keys_on(page) if preferences.single_keys else {}
    return {"keys": keys, "key_rows": key_rows(page, keys)}
