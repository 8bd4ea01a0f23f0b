"""The keys of the workspace. Options of criteria stay clear of them, and each person may choose others."""

from __future__ import annotations

# Action -> its keys, before anybody chose another. Keys that are no characters (arrows, Enter, PgUp) always work and
# are bound in frontend/static/js/actions.js.
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
    "back": ("b",),
    "keys": ("?",),
}

RESERVED_HOTKEYS = frozenset(key for keys in DEFAULT_HOTKEYS.values() for key in keys)
# Options without a hotkey of their own are on these (optionKeys in frontend/static/js/keys.js).
OPTION_KEYS = frozenset("0123456789-")
