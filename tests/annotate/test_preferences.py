from __future__ import annotations

from typing import Any

import pytest

from annotate.errors import Invalid
from annotate.hotkeys import DEFAULT_HOTKEYS, OPTION_KEYS, RESERVED_HOTKEYS
from annotate.models import User
from annotate.services.criteria import add_criteria
from annotate.services.preferences import as_dict, change_preferences, preferences_of
from tests.annotate.factories import TRISTATE, World, at_once, make_world

USUAL = {"hotkeys": {}, "single_keys": True, "view": "one", "markers": False}


def test_the_usual_keys_do_not_collide() -> None:
    every = [key for keys in DEFAULT_HOTKEYS.values() for key in keys]
    assert len(every) == len(set(every)) == len(RESERVED_HOTKEYS)
    assert not OPTION_KEYS & RESERVED_HOTKEYS


def test_what_is_named_changes_and_null_brings_back_the_usual(world: World) -> None:
    assert as_dict(preferences_of(world.ann)) == USUAL
    change_preferences(user=world.ann, changes={"hotkeys": {"skip": "W", "undo": "q"}, "view": "all"})
    changed = change_preferences(user=world.ann, changes={"single_keys": False})
    assert as_dict(changed) == {
        "hotkeys": {"skip": "w", "undo": "q"},
        "single_keys": False,
        "view": "all",
        "markers": False,
    }
    assert (changed.keys["skip"], changed.keys["undo"], changed.keys["next_unit"]) == (["w"], ["q"], ["n", "j"])
    assert as_dict(preferences_of(User.objects.get(pk=world.ann.pk))) == as_dict(changed)
    nothing = change_preferences(user=world.ann, changes=dict.fromkeys(USUAL))
    assert as_dict(nothing) == USUAL
    assert User.objects.get(pk=world.ann.pk).preferences == {}


def test_two_actions_may_change_places(world: World) -> None:
    keys = change_preferences(user=world.ann, changes={"hotkeys": {"skip": "u", "clear": "s"}}).keys
    assert (keys["skip"], keys["clear"]) == (["u"], ["s"])


def test_the_usual_key_is_nothing_to_remember(world: World) -> None:
    assert change_preferences(user=world.ann, changes={"hotkeys": {"skip": "s", "next_unit": "n"}}).hotkeys == {
        "next_unit": "n"  # and no longer j
    }


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        (None, "bad_preferences"), ([], "bad_preferences"), ("a", "bad_preferences"),
        ({"role": "admin"}, "unknown_preference"), ({"is_superuser": True}, "unknown_preference"),
        ({"__class__": 1}, "unknown_preference"),
        ({"hotkeys": []}, "bad_hotkeys"), ({"hotkeys": {"submit_all": "w"}}, "unknown_action"),
        *(({"hotkeys": {"skip": key}}, "bad_hotkey")
          for key in ("", "ww", " ", "\t", "\0", None, 3, ["w"], "İ", "\u200b")),
        *(({"hotkeys": {"skip": key}}, "hotkey_of_option") for key in sorted(OPTION_KEYS)),
        ({"hotkeys": {"skip": "n"}}, "hotkey_taken"), ({"hotkeys": {"skip": "J"}}, "hotkey_taken"),
        ({"hotkeys": {"skip": "w", "undo": "w"}}, "hotkey_taken"), ({"hotkeys": {"skip": "u"}}, "hotkey_taken"),
        ({"single_keys": "no"}, "bad_preference"), ({"markers": 1}, "bad_preference"),
        ({"view": "two"}, "bad_preference"), ({"view": []}, "bad_preference"),
        ({"view": "all", "hotkeys": {"skip": "n"}}, "hotkey_taken"),
    ],
)  # fmt: skip
def test_what_is_refused_changes_nothing(world: World, changes: Any, code: str) -> None:
    change_preferences(user=world.ann, changes={"markers": True})
    with pytest.raises(Invalid) as refused:
        change_preferences(user=world.ann, changes=changes)
    assert refused.value.code == code
    assert refused.value.message.endswith(".")
    assert as_dict(preferences_of(User.objects.get(pk=world.ann.pk))) == {**USUAL, "markers": True}


def test_a_key_of_an_option_stays_the_options(world: World) -> None:
    options = [{"value": "yes", "hotkey": "w"}, {"value": "no", "hotkey": "m"}]
    add_criteria(project=world.project, specs=[{**TRISTATE, "key": "ok", "name": "Fine?", "options": options}])
    with pytest.raises(Invalid, match="chooses an option of “Fine\\?”") as refused:
        change_preferences(user=world.ann, changes={"hotkeys": {"skip": "w"}})
    assert (refused.value.code, refused.value.details) == ("hotkey_of_option", {"key": "w"})
    # Charlie never meets that criterion.
    assert change_preferences(user=world.charlie, changes={"hotkeys": {"skip": "w"}}).hotkeys == {"skip": "w"}


@pytest.mark.django_db(transaction=True)
def test_two_changes_at_once_are_both_kept(transactional_db: None) -> None:
    world = make_world()
    at_once(
        *[
            lambda changes=changes: change_preferences(user=world.ann, changes=changes)
            for changes in ({"view": "all"}, {"markers": True}, {"single_keys": False}, {"hotkeys": {"skip": "w"}})
        ]
    )
    assert as_dict(preferences_of(User.objects.get(pk=world.ann.pk))) == {
        "hotkeys": {"skip": "w"}, "single_keys": False, "view": "all", "markers": True,
    }  # fmt: skip
