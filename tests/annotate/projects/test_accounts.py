from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from annotate.core.errors import Invalid
from annotate.core.hotkeys import DEFAULT_HOTKEYS, OPTION_KEYS, PAGE_ACTIONS, RESERVED_HOTKEYS, collision, keys_on
from annotate.models import Criterion, User
from annotate.projects.accounts import change_preferences, option_hotkeys, preferences_of
from annotate.projects.criteria import add_criteria
from judges.endpoints.duplicate import duplicate_project
from tests.annotate.factories import TRISTATE, World
from tests.clients import as_user

USUAL = {"hotkeys": {}, "single_keys": True, "view": "one", "markers": False, "introduced": False}


def test_the_usual_keys_do_not_collide() -> None:
    assert collision({}) is None
    assert {action for actions in PAGE_ACTIONS.values() for action in actions} == set(DEFAULT_HOTKEYS)
    for page, actions in PAGE_ACTIONS.items():
        assert keys_on(page, {}) == {action: list(DEFAULT_HOTKEYS[action]) for action in actions}
    every = {key for keys in DEFAULT_HOTKEYS.values() for key in keys}
    assert not OPTION_KEYS & every
    # Those of the pages with options, and no more.
    assert every - {"m", "w", "d", "r"} == RESERVED_HOTKEYS


def test_what_is_named_changes_and_null_brings_back_the_usual(world: World) -> None:
    assert asdict(preferences_of(world.ann)) == USUAL
    change_preferences(user=world.ann, changes={"hotkeys": {"skip": "W", "undo": "i"}, "view": "all"})
    changed = change_preferences(user=world.ann, changes={"single_keys": False})
    assert asdict(changed) == {
        "hotkeys": {"skip": "w", "undo": "i"},
        "single_keys": False,
        "view": "all",
        "markers": False,
        "introduced": False,
    }
    keys = changed.keys_on("workspace")
    assert (keys["skip"], keys["undo"], keys["next_unit"]) == (["w"], ["i"], ["n", "j"])
    assert changed.keys_on("claims")["undo"] == ["i"], "what pages share has one key"
    assert asdict(preferences_of(User.objects.get(pk=world.ann.pk))) == asdict(changed)
    nothing = change_preferences(user=world.ann, changes=dict.fromkeys(USUAL))
    assert asdict(nothing) == USUAL
    assert User.objects.get(pk=world.ann.pk).preferences == {}


def test_two_actions_may_change_places(world: World) -> None:
    keys = change_preferences(user=world.ann, changes={"hotkeys": {"skip": "u", "clear": "s"}}).keys_on("workspace")
    assert (keys["skip"], keys["clear"]) == (["u"], ["s"])


def test_a_key_may_do_another_thing_on_another_page(world: World) -> None:
    changed = change_preferences(user=world.ann, changes={"hotkeys": {"approve": "s", "split": "f"}})
    assert (changed.keys_on("dispute")["approve"], changed.keys_on("claims")["split"]) == (["s"], ["f"])
    assert (changed.keys_on("workspace")["skip"], changed.keys_on("workspace")["flag"]) == (["s"], ["f"])


def test_a_key_chosen_before_another_action_had_it(world: World) -> None:
    """A user's own key goes before what came to their pages later; it is refused when they choose anew."""
    world.ann.preferences = {"hotkeys": {"undo": "m"}}
    assert preferences_of(world.ann).keys_on("claims") | {"undo": ["m"], "merge": []} == preferences_of(
        world.ann
    ).keys_on("claims")


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
        ({"hotkeys": {"undo": "m"}}, "hotkey_taken"), ({"hotkeys": {"approve": "o"}}, "hotkey_taken"),
        ({"hotkeys": {"next_unit": "d"}}, "hotkey_taken"), ({"hotkeys": {"start": "3"}}, "hotkey_of_option"),
        ({"hotkeys": {"skip": "w", "undo": "w"}}, "hotkey_taken"), ({"hotkeys": {"skip": "u"}}, "hotkey_taken"),
        ({"single_keys": "no"}, "bad_preference"), ({"markers": 1}, "bad_preference"),
        ({"introduced": "yes"}, "bad_preference"),
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
    assert asdict(preferences_of(User.objects.get(pk=world.ann.pk))) == {**USUAL, "markers": True}


def test_an_option_of_before_keeps_a_key_that_an_action_has_since(world: World) -> None:
    options = [{"value": "yes", "hotkey": "w"}, {"value": "no"}]
    add_criteria(project=world.project, specs=[{**TRISTATE, "key": "ok", "options": options, "pass": ["yes"]}])
    # As it was stored before there was anything to ask.
    Criterion.objects.filter(key="ok").update(options=[{"value": "yes", "hotkey": "q"}, {"value": "no"}])
    assert option_hotkeys(world.project) == {"q"}
    assert option_hotkeys(world.other) == set()
    preferences = preferences_of(world.ann)
    assert preferences.keys_on("workspace", options=option_hotkeys(world.project))["ask"] == []
    page = as_user(world.ann).get("/p/desk/label/").content.decode()
    assert "No key here, because an option has it: ask a reviewer, read answers (Esc: back) (<kbd>q</kbd>)" in page
    change_preferences(user=world.ann, changes={"hotkeys": {"ask": "m"}})
    page = as_user(User.objects.get(pk=world.ann.pk)).get("/p/desk/label/").content.decode()
    assert "No key here" not in page
    assert 'aria-keyshortcuts="m"' in page
    # Its duplicate is made today.
    made = duplicate_project(actor=world.alice, project=world.project, slug="copy", name="Copy")
    assert [option.get("hotkey") for option in made.criteria.get(key="ok").options] == [None, None]


def test_a_key_of_an_option_stays_the_options(world: World) -> None:
    options = [{"value": "yes", "hotkey": "w"}, {"value": "no", "hotkey": "m"}]
    add_criteria(project=world.project, specs=[{**TRISTATE, "key": "ok", "name": "Fine?", "options": options}])
    with pytest.raises(Invalid, match="is used by an option of “Fine\\?”") as refused:
        change_preferences(user=world.ann, changes={"hotkeys": {"skip": "w"}})
    assert (refused.value.code, refused.value.details) == ("hotkey_of_option", {"key": "w"})
    # No option is chosen where claims are edited.
    assert change_preferences(user=world.ann, changes={"hotkeys": {"write": "w"}}).hotkeys == {}
    assert change_preferences(user=world.ann, changes={"hotkeys": {"split": "w", "write": "q"}}).hotkeys["split"] == "w"
    # Charlie never meets that criterion.
    assert change_preferences(user=world.charlie, changes={"hotkeys": {"skip": "w"}}).hotkeys == {"skip": "w"}
