"""gate.yaml is read strictly: what is wrong is named with the file, the place, and what was expected there."""

from __future__ import annotations

import pytest

from annotate.core.errors import Invalid
from systems.experiments.gate_file import Condition, read_gate

TOP = "version: 1\ncandidate: v2\nbaseline: v1\n"
ONE = TOP + "conditions:\n  - {metric: faithfulness, versus: bar, bar: 0.8}\n"


def condition(**keys: str) -> str:
    """One condition with these keys instead of its own."""
    said = {"metric": "faithfulness", "versus": "bar", "bar": "0.8"} | keys
    return TOP + "conditions:\n  - {" + ", ".join(f"{key}: {value}" for key, value in said.items() if value) + "}\n"


def test_what_is_left_out_is_the_stricter_way() -> None:
    found = read_gate(ONE, "gate.yaml")
    assert (found.candidate, found.baseline) == ("v2", "v1")
    assert found.conditions == (Condition("faithfulness", "bar", 0.8, "lower", 0, True),)


def test_all_that_can_be_said() -> None:
    said = "[{metric: latency_ms, versus: baseline, margin: 200, by: point, min_labelled: 40, required: false}]"
    _required, found = read_gate(ONE + said.strip("[]").join(("  - ", "\n")), "gate.yaml").conditions
    assert found == Condition("latency_ms", "baseline", 200.0, "point", 40, False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected keys with their values, not nothing"),
        ("[1]", "expected keys with their values, not a list"),
        ("version: 1", "candidate: expected a value, not nothing"),
        (ONE.replace("version: 1", "version: 2"), "version: expected 1, not 2"),
        (ONE.replace("version: 1", "version: true"), "version: expected 1, not true"),
        (ONE + "strict: true", "expected only version, candidate, baseline, conditions, not “strict”"),
        (ONE.replace("candidate: v2", "candidate: 7"), "candidate: expected a text (in quotes if it"),
        (ONE.replace("candidate: v2", "candidate: v1"), "candidate: expected another version than the baseline"),
        (TOP + "conditions: []", "conditions: expected a list with a condition, not an empty list"),
        (TOP + "conditions: {a: 1}", "conditions: expected a list with a condition, not an object"),
        (TOP + "conditions: [faithfulness]", "conditions[1]: expected keys with their values, not “faithfulness”"),
        (condition(bar=""), "conditions[1].bar: expected a value, not nothing"),
        (condition(metric=""), "conditions[1].metric: expected a value, not nothing"),
        (condition(versus="all"), "conditions[1].versus: expected bar or baseline, not “all”"),
        (condition(versus="[bar]"), "conditions[1].versus: expected bar or baseline, not a list"),
        (condition(margin="0.1"), "conditions[1]: expected only metric, versus, bar, by, min_labelled, required"),
        (condition(versus="baseline", bar="", margin="-0.1"), "conditions[1].margin: expected a number from 0"),
        (condition(bar="high"), "conditions[1].bar: expected a number, not “high”"),
        (condition(bar="true"), "conditions[1].bar: expected a number, not true"),
        (condition(bar=".nan"), "conditions[1].bar: expected a number, not nan"),
        (condition(bar="9" * 400), "conditions[1].bar: expected a number, not 999"),
        (condition(bar="9" * 5000), "expected YAML, Exceeds the limit"),
        (condition(by="upper"), "conditions[1].by: expected lower or point, not “upper”"),
        (condition(min_labelled="1.5"), "conditions[1].min_labelled: expected a whole number from 0, not 1.5"),
        (condition(min_labelled="-1"), "conditions[1].min_labelled: expected a whole number from 0, not -1"),
        (condition(required="false"), "conditions: expected at least one that is required, not nothing"),
        (condition(required="1"), "conditions[1].required: expected true or false, not 1"),
        (TOP + "conditions: [", "line 4, column 14: expected YAML"),
        (TOP + "baseline: v0\n", "line 4: expected “baseline” only once"),
        (ONE.replace("bar: 0.8", "bar: 0.8, bar: 0.1"), "line 5: expected “bar” only once"),
        (TOP + "conditions: 2026-99-99", "expected YAML, month must be in 1..12"),
        (TOP + "conditions: " + "[" * 5000, "not brackets within brackets"),
        (TOP + "conditions: !!python/object/apply:os.getcwd []", "expected YAML, without tags, anchors and aliases"),
        (condition(required="!!bool maybe"), "expected YAML, without tags, anchors and aliases"),
        (condition(bar="!!int ''"), "expected YAML, without tags, anchors and aliases"),
        (TOP + "conditions: [&one {a: 1}, *one]", "expected YAML, without tags, anchors and aliases"),
        (condition(**{"<<": "{bar: 0.9, bar: 0.1}"}), "line 5: expected no “<<”"),
        (TOP + "conditions: {a: {b: 1, b: 2}}", "line 4: expected “b” only once"),
        (condition(bar="0x" + "f" * 5000), "conditions[1].bar: expected a number, not so large a number"),
        (TOP + "? [a, b]\n: 1\n", "expected YAML"),
        (ONE + "# " + "x" * 60_000, "expected at most 50,000 characters"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(text: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_gate(text, "ci/gate.yaml")
    message = refused.value.message
    assert message.startswith("ci/gate.yaml: ")
    assert said in message
    assert "\n" not in message
