"""The gate: may a version be shipped? An experiment's figures held to the conditions of a file, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import alignment
from annotate.core.text_tables import in_words
from systems.experiments.gate_file import Condition, GateFile
from systems.experiments.specification import LEVEL
from systems.experiments.spelling import Estimate, decisive, interval_in, is_measured, value_in

Outcome = Literal["pass", "fail", "cannot_tell"]
# Of the command; what could not be asked at all is 3.
EXIT_CODES: dict[Outcome, int] = {"pass": 0, "fail": 1, "cannot_tell": 2}
IN_WORDS: dict[Outcome, str] = {"pass": "pass", "fail": "fail", "cannot_tell": "cannot tell"}


@dataclass(frozen=True, slots=True)
class Held:
    """A condition and what came of it.

    code: "met", "not_met", or why it cannot be told: "too_few_labelled", "not_known". labelled: how many questions
    people labelled, of the version that has the fewest; None of what needs no labels. levels: of the baseline and of
    the candidate. needed: by the experiment, until it can tell how far they are apart.
    """

    condition: Condition
    title: str
    unit: str
    direction: str
    outcome: Outcome
    code: str
    sentence: str
    labelled: int | None
    levels: tuple[Estimate, Estimate]
    difference: Estimate
    needed: Mapping[str, int | None]

    @property
    def limit(self) -> str:
        """`≥ 0.85`, or by how much less good than the baseline it may be."""
        condition = self.condition
        if condition.versus == "baseline":
            return f"worse by ≤ {condition.limit:g}"
        return f"{'≥' if self.direction == 'higher' else '≤'} {condition.limit:g}"


@dataclass(frozen=True, slots=True)
class Gate:
    """experiment: its name. set: the test set, None where it is of all questions that were asked. level: of all
    intervals against the baseline together."""

    experiment: str
    set: str | None
    candidate: str
    baseline: str
    level: float
    conditions: Sequence[Held]

    @property
    def outcome(self) -> Outcome:
        """Of the conditions that are required: a fail beats what cannot be told."""
        found = {one.outcome for one in self.conditions if one.condition.required}
        return "fail" if "fail" in found else "cannot_tell" if "cannot_tell" in found else "pass"

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.outcome]

    @property
    def sentence(self) -> str:
        """Ends with those conditions that are why."""
        required = [one for one in self.conditions if one.condition.required]
        why = [one.sentence for one in required if one.outcome == self.outcome != "pass"]
        head = {"pass": "passes", "fail": "fails", "cannot_tell": "cannot be told yet"}[self.outcome]
        met = sum(one.outcome == "pass" for one in required)
        counted = f"{met} of {len(required)} required conditions met"
        said = [f"{self.candidate} against {self.baseline} {head}: {counted}.", *why, self.caveat]
        return " ".join(filter(None, said))

    @property
    def caveat(self) -> str:
        """Narrower intervals are easier to pass by."""
        if self.level >= LEVEL:
            return ""
        return f"Intervals are at {self.level:.4g}, below the usual {LEVEL:.4g}: more versions pass by chance."


def held_to(figures: Mapping[str, Any], gate: GateFile) -> Gate:
    """figures: of the experiment, as `manage.py experiment --format json` prints them. Raises Invalid for a metric or a
    version that it does not have."""
    metrics = {metric["metric"]: metric for metric in figures["metrics"]}
    if gate.baseline != figures["baseline"]:
        raise gate.refused("baseline", f"“{figures['baseline']}”, as in the experiment", gate.baseline)
    candidates = [one for one in figures["versions"] if one != gate.baseline]
    if gate.candidate not in candidates:
        raise gate.refused("candidate", _one_of(candidates), gate.candidate)
    held = []
    for place, condition in enumerate(gate.conditions, start=1):
        if condition.metric not in metrics:
            raise gate.refused(f"conditions[{place}].metric", _one_of(list(metrics)), condition.metric)
        held.append(_held(condition, metrics[condition.metric], gate))
    level = figures["rule"]["level"]
    return Gate(figures["experiment"], figures["set"], gate.candidate, gate.baseline, level, held)


def _one_of(names: Sequence[str]) -> str:
    return " or ".join(f"“{name}”" for name in names)


def _held(condition: Condition, metric: Mapping[str, Any], gate: GateFile) -> Held:
    levels = {one["version"]: one for one in metric["levels"]}
    baseline, candidate = levels[gate.baseline], levels[gate.candidate]
    difference = next(one for one in metric["differences"] if one["b"] == gate.candidate)
    asked = [candidate] if condition.versus == "bar" else [baseline, candidate]
    labelled = None if is_measured(candidate) else min(one["labelled"] for one in asked)
    outcome, code, remark = _outcome(condition, metric, difference, asked, labelled)
    said = _sentence(condition, metric, difference, candidate, gate, code, labelled)
    return Held(
        condition=condition,
        title=metric["title"],
        unit=metric["unit"],
        direction=metric["direction"],
        outcome=outcome,
        code=code,
        sentence=f"{said} ({in_words(remark)})." if remark else f"{said}.",
        labelled=labelled,
        levels=(decisive(baseline), decisive(candidate)),
        difference=decisive(difference),
        needed=difference["needed"],
    )


def _outcome(
    condition: Condition,
    metric: Mapping[str, Any],
    difference: Mapping[str, Any],
    asked: Sequence[Mapping[str, Any]],
    labelled: int | None,
) -> tuple[Outcome, str, Mapping[str, Any] | None]:
    """With its code, and why it cannot be told. By the rule of the experiment's verdicts, of what is left of the level
    above the bar, or of the difference with the margin."""
    if labelled is not None and labelled < condition.min_labelled:
        return "cannot_tell", "too_few_labelled", None
    versus_bar = condition.versus == "bar"
    found = alignment.Estimate(**decisive(asked[-1] if versus_bar else difference))
    # What keeps the experiment from concluding, beside what its figure lacks.
    if not versus_bar and difference["verdict"] == "cannot_tell" and difference["reason"] not in (None, found.reason):
        return "cannot_tell", "not_known", difference["reason"]
    if condition.by == "point" and found.value is not None:
        found = replace(found, low=found.value, high=found.value)
    if versus_bar and found.value is not None and found.low is not None and found.high is not None:
        bar = condition.limit
        found = replace(found, value=found.value - bar, low=found.low - bar, high=found.high - bar)
    conclusion = alignment.conclude(
        found,
        margin=0.0 if versus_bar else condition.limit,
        higher_is_better=metric["direction"] == "higher",
        unresolved=sum(one["unresolved"] for one in asked) / max(sum(one["drawn"] for one in asked), 1),
    )
    if conclusion.reason is not None:
        return "cannot_tell", "not_known", conclusion.reason
    return ("pass", "met", None) if conclusion.verdict in ("better", "not_worse") else ("fail", "not_met", None)


def _sentence(
    condition: Condition,
    metric: Mapping[str, Any],
    difference: Mapping[str, Any],
    candidate: Mapping[str, Any],
    gate: GateFile,
    code: str,
    labelled: int | None,
) -> str:
    """Without its full stop."""
    title, unit, limit = metric["title"], metric["unit"], f"{condition.limit:g}"
    if code == "too_few_labelled":
        return f"{title}: {labelled} labelled of each version, and {condition.min_labelled} are asked for"
    if code == "not_known":
        return f"{title}: it cannot be told"
    is_higher, versus_bar = metric["direction"] == "higher", condition.versus == "bar"
    found = decisive(candidate if versus_bar else difference)
    what = f"{title} of {gate.candidate}" if versus_bar else f"{title}, {gate.candidate} − {gate.baseline},"
    text = f"{what} is {interval_in(found, unit, signed=not versus_bar)}"
    if code == "met":
        bound = "within the margin of" if not versus_bar else "at least" if is_higher else "at most"
    else:
        bound = "beyond the margin of" if not versus_bar else "under" if is_higher else "over"
    if condition.by == "point":
        return f"{text}, {bound} {limit}"
    end = "low" if is_higher else "high"
    return f"{text}; its {end} end, {value_in(found[end], unit, signed=not versus_bar)}, is {bound} {limit}"
