"""Key 1 is the best option, and every option says what it means; what is stored keeps its order."""

from typing import Any

import pytest

from annotate.core.choices import choices
from annotate.projects.builtin_criteria import BUILTIN_CRITERIA


def shown(spec: dict[str, Any]) -> list[tuple[Any, str]]:
    listed = choices(unit=spec["unit"], scale=spec["scale"], options=spec["options"], passes=spec["pass"])
    return [(option["value"], option["meaning"]) for option in listed]


@pytest.mark.parametrize("key", sorted(key for key, spec in BUILTIN_CRITERIA.items() if spec["options"]))
def test_the_best_option_of_a_built_in_criterion_comes_first(key: str) -> None:
    spec = BUILTIN_CRITERIA[key]
    listed = shown(spec)
    assert sorted(map(str, (value for value, _ in listed))) == sorted(str(o["value"]) for o in spec["options"])
    if all(option["label"].isdecimal() for option in spec["options"]):
        # A grade is its own key.
        assert [value for value, _ in listed] == sorted(value for value, _ in listed)
    elif spec["unit"] != "sample":
        order = [("pass", "fail", "undecided").index(meaning) for _, meaning in listed]
        assert listed[0][1] == "pass"
        assert order == sorted(order)


@pytest.mark.parametrize(
    ("key", "listed"),
    [
        ("relevance", [(3, "pass"), (2, "pass"), (1, "fail"), (0, "fail")]),
        ("fact_in_answer", [("yes", "pass"), ("partly", "fail"), ("no", "fail")]),
        ("entity_in_context", [("yes", "pass"), ("no", "fail")]),
        ("correct", [("correct", "pass"), ("incorrect", "fail"), ("can't tell", "undecided")]),
        # Neither answer is wrong.
        ("preference", [("A", ""), ("tie", ""), ("B", "")]),
    ],
)
def test_built_in(key: str, listed: list[tuple[Any, str]]) -> None:
    assert shown(BUILTIN_CRITERIA[key]) == listed


def _spec(scale: str, *values: str, passes: list[Any], **own_keys: str) -> dict[str, Any]:
    options = [{"value": v, "label": v, **({"hotkey": own_keys[v]} if v in own_keys else {})} for v in values]
    return {"unit": "claim", "scale": scale, "options": options, "pass": passes}


@pytest.mark.parametrize(
    ("spec", "order"),
    [
        (_spec("ordinal", "bad", "fair", "good", passes=["good"]), "good fair bad"),
        (_spec("ordinal", "good", "fair", "bad", passes=["good"]), "good fair bad"),
        # Neither end is the best.
        (_spec("ordinal", "short", "right", "long", passes=["right"]), "short right long"),
        (_spec("ordinal", "low", "high", passes=[]), "low high"),
        (_spec("nominal", "a", "b", "c", "d", passes=["b", "d"]), "b d a c"),
        (_spec("binary", "no", "yes", passes=["yes"]), "yes no"),
        # Whoever gives options keys arranges them as well.
        (_spec("binary", "no", "yes", passes=["yes"], no="n"), "no yes"),
    ],
)
def test_own_criteria(spec: dict[str, Any], order: str) -> None:
    assert " ".join(value for value, _ in shown(spec)) == order


def test_true_is_not_1_and_without_a_reading_nothing_has_a_meaning() -> None:
    options = [{"value": True, "label": "Yes"}, {"value": False, "label": "No"}]
    assert [o["meaning"] for o in choices(unit="claim", scale="binary", options=options, passes=[True])] == [
        "pass",
        "fail",
    ]
    assert [o["meaning"] for o in choices(unit="claim", scale="binary", options=options, passes=[])] == ["", ""]
