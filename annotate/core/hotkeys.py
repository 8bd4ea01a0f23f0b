"""The keys of the pages on which people work. Options of criteria stay clear of them; each person may choose others."""

from __future__ import annotations

from collections.abc import Collection, Mapping

# Action -> its keys, unless a user chose another. Keys that are no characters (arrows, Enter, PgUp) always work and
# are bound in the browser.
DEFAULT_HOTKEYS: dict[str, tuple[str, ...]] = {
    "next_unit": ("n", "j"),
    "previous_unit": ("p", "k"),
    "next_step": (".",),
    "previous_step": (",",),
    "cant_tell": ("x",),
    "clear": ("u",),
    "comment": ("c",),
    "undo": ("z",),
    "redo": ("y",),
    "evidence": ("e",),
    "search": ("/",),
    "markers": ("v",),
    "help_text": ("h",),
    "guidelines": ("g",),
    "view": ("a",),
    "skip": ("s",),
    "flag": ("f",),
    "ask": ("q",),
    "back": ("b",),
    "keys": ("?",),
    "start": ("s",),
    "approve": ("a",),
    "send_back": ("b",),
    "rest": ("o",),
    "split": ("s",),
    "merge": ("m",),
    "edit": ("e",),
    "bounds": ("b",),
    "add": ("a",),
    "write": ("w",),
    "drop": ("d",),
    "dropped": ("r",),
}

# Page -> what its keys do. A key may do one thing on one page and another thing on the next.
PAGE_ACTIONS: dict[str, tuple[str, ...]] = {
    "workspace": (
        "next_unit", "previous_unit", "next_step", "previous_step", "cant_tell", "clear", "comment", "undo", "redo",
        "evidence", "search", "markers", "help_text", "guidelines", "view", "skip", "flag", "ask", "back", "keys",
    ),
    # The reviewers' queue, and one unit of it.
    "disputes": ("start",),
    "dispute": ("next_unit", "previous_unit", "approve", "comment", "evidence", "send_back", "rest", "keys"),
    "claims": (
        "next_unit", "previous_unit", "split", "merge", "edit", "bounds", "add", "write", "drop", "dropped", "undo",
        "redo", "keys",
    ),
}  # fmt: skip
# Pages on which the keys of options are pressed as well.
_PAGES_WITH_OPTIONS = ("workspace", "dispute")
ACTIONS_BESIDE_OPTIONS = frozenset(action for page in _PAGES_WITH_OPTIONS for action in PAGE_ACTIONS[page])

RESERVED_HOTKEYS = frozenset(key for action in ACTIONS_BESIDE_OPTIONS for key in DEFAULT_HOTKEYS[action])
# Options without a hotkey of their own are on these (optionKeys in frontend/base/static/base/keys.js).
OPTION_KEYS = frozenset("0123456789-")


def keys_on(page: str, chosen: Mapping[str, str], *, options: Collection[str] = ()) -> dict[str, list[str]]:
    """Action -> the keys that do it on this page. A key that the user chose for one action is no other's: it may
    have been free when they chose it. So may the keys of `options`, which are theirs alone."""
    taken = {chosen[action] for action in PAGE_ACTIONS[page] if action in chosen}
    found = {
        action: [chosen[action]] if action in chosen else [key for key in DEFAULT_HOTKEYS[action] if key not in taken]
        for action in PAGE_ACTIONS[page]
    }
    return {action: [key for key in keys if key not in options] for action, keys in found.items()}


def collision(chosen: Mapping[str, str]) -> tuple[str, list[str]] | None:
    """A key that would do two things on one page, and which."""
    for actions in PAGE_ACTIONS.values():
        owner: dict[str, str] = {}
        for action in actions:
            for key in (chosen[action],) if action in chosen else DEFAULT_HOTKEYS[action]:
                if key in owner:
                    return key, [owner[key], action]
                owner[key] = action
    return None
