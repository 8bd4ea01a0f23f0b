"""An experiment held to the conditions of a gate: what passes, what fails, and what nobody can tell."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from annotate.core.errors import Invalid
from systems.experiments.gate import Gate, Held, held_to
from systems.experiments.gate_file import read_gate
from systems.experiments.gate_formats import gate_junit, gate_markdown, gate_text
from tests.systems.experiments.invented import estimate, invented

FAITHFUL = "{metric: faithfulness, versus: bar, bar: 0.75}"
NOT_WORSE = "{metric: faithfulness, versus: baseline, margin: 0}"
DECLINES = "{metric: abstention, versus: baseline, margin: 0.05}"
UNLABELLED = "{metric: relevancy, versus: bar, bar: 0.5}"


def gate(*conditions: str, figures: Any = None, candidate: str = "v2", baseline: str = "v1") -> Gate:
    top = f"version: 1\ncandidate: {candidate}\nbaseline: {baseline}\nconditions: [{', '.join(conditions)}]\n"
    return held_to(invented() if figures is None else figures, read_gate(top, "gate.yaml"))


def one(condition: str, figures: Any = None) -> Held:
    (found,) = gate(condition, figures=figures).conditions
    return found


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        # It is 0.84, from 0.78 to 0.90.
        ("metric: faithfulness, versus: bar, bar: 0.78", "pass"),
        ("metric: faithfulness, versus: bar, bar: 0.79", "fail"),
        ("metric: faithfulness, versus: bar, bar: 0.84, by: point", "pass"),
        # The judge alone says 0.94.
        ("metric: faithfulness, versus: bar, bar: 0.85, by: point", "fail"),
        # It is 0.09 less, from 0.15 to 0.03.
        ("metric: abstention, versus: baseline, margin: 0.15", "pass"),
        ("metric: abstention, versus: baseline, margin: 0.14", "fail"),
        ("metric: abstention, versus: baseline, margin: 0.09, by: point", "pass"),
        ("metric: abstention, versus: baseline, margin: 0, by: point", "fail"),
        # Lower is better: it is 2900, from 2700 to 3100, and 400 more than the baseline, from 250 to 550.
        ("metric: latency_ms, versus: bar, bar: 3100", "pass"),
        ("metric: latency_ms, versus: bar, bar: 3000", "fail"),
        ("metric: latency_ms, versus: bar, bar: 2900, by: point", "pass"),
        ("metric: latency_ms, versus: baseline, margin: 550", "pass"),
        ("metric: latency_ms, versus: baseline, margin: 549", "fail"),
        ("metric: latency_ms, versus: baseline, margin: 399, by: point", "fail"),
        # Nobody labels how long it took.
        ("metric: latency_ms, versus: bar, bar: 3100, min_labelled: 100", "pass"),
    ],
)
def test_the_less_good_end_of_the_interval_decides_or_the_figure(condition: str, outcome: str) -> None:
    assert one(f"{{{condition}}}").outcome == outcome


def test_too_few_labels_tell_nothing() -> None:
    enough = one("{metric: abstention, versus: bar, bar: 0.5, min_labelled: 48}")
    few = one("{metric: abstention, versus: bar, bar: 0.5, min_labelled: 49}")
    assert (enough.outcome, few.outcome, few.code) == ("pass", "cannot_tell", "too_few_labelled")
    assert few.sentence == "Right abstention: 48 labelled of each version, and 49 are asked for."


def test_against_the_baseline_both_versions_need_the_labels() -> None:
    figures = invented()
    figures["metrics"][1]["levels"][0]["labelled"] = 30
    asked = "{{metric: faithfulness, versus: {}, min_labelled: 40}}"
    assert one(asked.format("baseline, margin: 0"), figures).code == "too_few_labelled"
    assert one(asked.format("bar, bar: 0.5"), figures).outcome == "pass"


@pytest.mark.parametrize("versus", ["bar, bar: 0.5", "bar, bar: 0.5, by: point", "baseline, margin: 0.1"])
def test_without_labels_nothing_is_told_however_sure_the_judge_is(versus: str) -> None:
    found = one(f"{{metric: relevancy, versus: {versus}}}")
    assert (found.outcome, found.code, found.labelled) == ("cannot_tell", "not_known", 0)
    assert "Answer relevancy: it cannot be told (" in found.sentence


def test_a_figure_without_an_interval_is_one_by_point_only() -> None:
    figures = invented()
    figures["metrics"][1]["levels"][1]["corrected"] = estimate(0.84, reason={"code": "few_units"})
    assert one(FAITHFUL, figures).outcome == "cannot_tell"
    assert one("{metric: faithfulness, versus: bar, bar: 0.75, by: point}", figures).outcome == "pass"


@pytest.mark.parametrize("condition", [FAITHFUL, NOT_WORSE])
def test_with_many_labels_unresolved_nothing_is_told(condition: str) -> None:
    figures = invented()
    assert one(condition, figures).outcome == "pass"
    for level in figures["metrics"][1]["levels"]:
        level["unresolved"] = 7
    found = one(condition, figures)
    assert (found.outcome, found.code) == ("cannot_tell", "not_known")
    assert "5.8%" in found.sentence


def test_what_the_experiment_cannot_conclude_the_gate_cannot_either() -> None:
    figures = invented()
    reason = {"code": "answers_less_often", "difference": -0.1}
    figures["metrics"][1]["differences"][0].update(verdict="cannot_tell", reason=reason)
    assert one(NOT_WORSE, figures).outcome == "cannot_tell"


@pytest.mark.parametrize(
    ("conditions", "outcome", "code"),
    [
        ([FAITHFUL, NOT_WORSE], "pass", 0),
        ([FAITHFUL, DECLINES], "fail", 1),
        ([FAITHFUL, UNLABELLED], "cannot_tell", 2),
        ([UNLABELLED, DECLINES, FAITHFUL], "fail", 1),
        ([FAITHFUL, DECLINES.replace("}", ", required: false}")], "pass", 0),
        ([FAITHFUL, UNLABELLED.replace("}", ", required: false}")], "pass", 0),
    ],
)
def test_a_fail_beats_what_cannot_be_told_and_only_what_is_required_counts(
    conditions: list[str], outcome: str, code: int
) -> None:
    found = gate(*conditions)
    assert (found.outcome, found.exit_code) == (outcome, code)
    assert len(found.conditions) == len(conditions)


def test_the_sentence_says_why() -> None:
    assert gate(FAITHFUL, DECLINES).sentence == (
        "v2 against v1 fails: 1 of 2 required conditions met. Right abstention, v2 − v1, is −0.090 [−0.150, −0.030]; "
        "its low end, −0.150, is beyond the margin of 0.05."
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"candidate": "v9"}, "candidate: expected “v2”, not “v9”"),
        ({"baseline": "v0"}, "baseline: expected “v1”, as in the experiment, not “v0”"),
        (
            {"conditions": [FAITHFUL, "{metric: bleu, versus: bar, bar: 1}"]},
            "conditions[2].metric: expected “relevancy” or “faithfulness” or “abstention” or “latency_ms”, not “bleu”",
        ),
    ],
)
def test_what_the_experiment_does_not_have_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Invalid) as refused:
        gate(*given.pop("conditions", [FAITHFUL]), **given)
    assert refused.value.message == f"gate.yaml: {said}."


def test_a_lower_level_than_usual_is_said_in_every_format() -> None:
    figures = invented()
    assert gate(FAITHFUL, figures=figures).caveat == ""
    figures["rule"]["level"] = 0.8
    found = gate(FAITHFUL, figures=figures)
    said = "Intervals are at 0.8, below the usual 0.95: more versions pass by chance."
    assert (found.level, found.sentence) == (0.8, f"v2 against v1 passes: 1 of 1 required conditions met. {said}")
    assert said in gate_markdown(found, "https://t.example.org/")
    assert said in gate_junit(found)


def test_as_text() -> None:
    lines = gate_text(gate(FAITHFUL, UNLABELLED.replace("}", ", required: false}"))).splitlines()
    assert lines[0].startswith("pass  ")
    assert lines[0].endswith("Faithfulness of v2 is 0.840 [0.780, 0.900]; its low end, 0.780, is at least 0.75.")
    assert lines[1].startswith("cannot tell (not required)  Answer relevancy:")


def test_as_markdown() -> None:
    slow = "{metric: latency_ms, versus: baseline, margin: 500}"
    page = gate_markdown(gate(FAITHFUL, DECLINES, slow), "https://t.example.org/p/desk/systems/experiments/e/")
    assert page.startswith("**❌ Fail:** v2 against v1 on support@4\n")
    row = (
        "| Right abstention | 0.900 [0.850, 0.950] | 0.810 [0.740, 0.880] | −0.090 [−0.150, −0.030] | worse by ≤ 0.05 "
    )
    assert row in page
    assert (
        "| 2500 [2300, 2700] | 2900 [2700, 3100] | +400 [+250, +550] | worse by ≤ 500 (interval) | — | ❌ fail |"
        in page
    )
    assert "With about 1,500 questions, it could be told." in page
    assert "[Experiment smaller-chunks](https://t.example.org/p/desk/systems/experiments/e/)" in page


def test_as_junit() -> None:
    optional = DECLINES.replace("}", ", required: false}")
    suite = ET.fromstring(gate_junit(gate(FAITHFUL, DECLINES, UNLABELLED, optional)))
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    assert [next(iter(case)).tag for case in suite] == ["system-out", "failure", "error", "skipped"]
    assert "is beyond the margin of 0.05" in str(suite[1][0].get("message"))


def test_names_that_xml_cannot_hold_are_held() -> None:
    figures = invented()
    figures["metrics"][1]["title"] = "Faithful\x0bness <&>"
    suite = ET.fromstring(gate_junit(gate(FAITHFUL, figures=figures)))
    assert suite[0].get("name") == "Faithful�ness <&> ≥ 0.75"
