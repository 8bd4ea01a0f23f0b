"""Instruction search: other words for a judge's prompt, proposed by its model from what people said of its errors, and
kept where it then agrees better with them. The loop is the `gepa` package's (decision 75); every ask goes out through
the model that the caller passes.

It depends on nothing but its seed and the replies: one that is begun again with the same replies goes the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.core.scales import Value
from annotate.core.texts import is_blank, is_storable
from annotate.verdicts.ratings_read import UnitKey
from judges.aligning.distil import Correction, case_of, request_of, task_of
from judges.aligning.people import Unit
from judges.core.split import drawn
from judges.endpoints.calls import Answered, CallFailed, ChatRequest, Model, TryLater
from judges.kinds.base import Config, Item, NoScore, Refused
from judges.kinds.llm.answers import NoAnswer, object_in, object_schema
from judges.kinds.llm.judging import END, Judging, tokens_of
from judges.kinds.llm.prompt import code_for, fenced, names_between, parts_of, texts_in

# Units of which a model is shown what people said, for one proposal; it is asked again about these.
MINIBATCH = 10
# Units of other groups by which proposals are compared, at most.
MOST_COMPARED = 60
# Requests for a proposal in a row that brought no reply at all: what is asked is too long for the model, as a rule.
MOST_UNANSWERED = 3
# In characters, beside the prompt that it starts from; about so many tokens.
LONGEST_GROWTH, GROWTH_TOKENS = 3_000, 1_000
FEWEST_ASKS, MOST_ASKS = 100, 5_000
_PROMPT = "prompt"

_TASK = """\
A judge does the task that is quoted below, and its words decide what the judge says. People did the same task on the \
cases below; where they came to another value than the judge, the people are right.

Write the task anew, so that a judge that goes by it comes to people's values, with other material too. Put what \
people go by into it as general rules, above all what they give as their reasons, and keep what it says already that \
is right. Name nothing that only this material has, and quote nothing from it. What stands between double braces is \
filled in later: keep each of these exactly as it is and as often as it is there, and add no other."""
_FORM = """\
Reply with exactly one JSON object and nothing else: {"prompt": …}
- prompt: the whole task in its new words, in the language of the task."""
_SCHEMA = object_schema({"prompt": {"type": "string"}})


@dataclass(slots=True)
class Searched:
    """prompt: "" where none is better than the one it started from. asked: requests, kept replies included; proposed:
    how many prompts, and of these refused: why (a word of `Unfit`) -> how many."""

    prompt: str = ""
    asked: int = 0
    proposed: int = 0
    refused: dict[str, int] = field(default_factory=dict)


class Unfit(Exception):
    """A proposal is no prompt for this judge. why: "no_answer", "empty", "too_long", "variables", "language",
    "quotes"."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class _Through(BaseException):
    """What a model raised, on its way through gepa, which takes an Exception in a proposal for a bad proposal."""

    def __init__(self, raised: Exception) -> None:
        super().__init__()
        self.raised = raised


def searched(
    config: Config,
    units: Sequence[Unit],
    said: Mapping[UnitKey, tuple[Value | None, str]],
    model: Model,
    *,
    asks: int,
    seed: int,
    level_of: Callable[[Value], int],
    quotes: Callable[[str], bool],
) -> Searched:
    """Looks for a prompt by which the judge agrees with people on more of these units.

    said: the judge's answers about them as it is. asks: at most so many requests. quotes: whether a prompt quotes a
    sample; it is asked before anything is asked with the prompt. A proposal rests on some of the groups, and is
    compared by others. Raises what the model raises.
    """
    shown, compared = _dealt(units, seed)
    found = Searched()
    judge = _Adapter(config, said, model, found, level_of, quotes)
    wrong = [unit for unit in shown if not judge.agrees(unit, said.get(unit.key, (None, "")))]
    if not wrong or not compared:
        return found
    from gepa import optimize

    # As many that are right beside those that are wrong, or a proposal rests on one or two errors.
    mistaken = {unit.key for unit in wrong}
    rest = [unit for unit in shown if unit.key not in mistaken]
    # What an iteration asks at most: the prompt that it starts from and the new one, and that once more compared.
    at_once = 2 * MINIBATCH + 1 + len(compared)

    def is_over(state: Any) -> bool:
        is_spent = found.asked + at_once > asks or found.proposed * MINIBATCH >= asks or state.i >= asks
        return bool(is_spent or judge.unanswered >= MOST_UNANSWERED)

    try:
        best = optimize(
            seed_candidate={_PROMPT: config[_PROMPT]},
            trainset=[*wrong, *rest[: len(wrong)]],
            valset=compared,
            adapter=judge,
            reflection_minibatch_size=MINIBATCH,
            stop_callbacks=is_over,
            logger=_Silent(),
            seed=seed,
        )
    except _Through as through:
        raise through.raised from None
    candidate = best.candidates[best.best_idx][_PROMPT]
    found.prompt = "" if candidate == config[_PROMPT] else candidate
    return found


def _dealt(units: Sequence[Unit], seed: int) -> tuple[list[Unit], list[Unit]]:
    """Those that proposals rest on, and those that they are compared by, of other groups; in an order that is drawn."""
    groups = sorted({unit.group for unit in units}, key=lambda group: (drawn(seed, group, "search"), group))
    half = set(groups[: len(groups) // 2])
    order = sorted(units, key=lambda unit: (drawn(seed, "\x1f".join(unit.key), "search"), unit.key))
    shown = [unit for unit in order if unit.group not in half]
    return shown, [unit for unit in order if unit.group in half][:MOST_COMPARED]


class _Silent:
    def log(self, message: str) -> None:
        """gepa prints what it does, with the texts of units."""


# A judge's value, None where it has none, and its reason.
_Said = tuple[Value | None, str]


class _Adapter:
    """What gepa asks of: a judge with a prompt, and its model about another one."""

    def __init__(
        self,
        config: Config,
        said: Mapping[UnitKey, _Said],
        model: Model,
        found: Searched,
        level_of: Callable[[Value], int],
        quotes: Callable[[str], bool],
    ) -> None:
        self._config, self._model, self._found = config, model, found
        self._level_of, self._quotes = level_of, quotes
        self._said = {(str(config[_PROMPT]), key): one for key, one in said.items()}
        self._judges: dict[str, Judging] = {}
        self.unanswered = 0

    def agrees(self, unit: Unit, said: _Said) -> bool:
        return said[0] is not None and self._level_of(said[0]) == unit.level

    def evaluate(self, batch: list[Unit], candidate: dict[str, str], capture_traces: bool = False) -> Any:
        from gepa import EvaluationBatch

        said = [self._answer(candidate[_PROMPT], unit) for unit in batch]
        scores = [float(self.agrees(unit, one)) for unit, one in zip(batch, said, strict=True)]
        pairs = list(zip(batch, said, strict=True))
        return EvaluationBatch(outputs=said, scores=scores, trajectories=pairs if capture_traces else None)

    def make_reflective_dataset(self, candidate: dict[str, str], evaluated: Any, components: list[str]) -> Any:
        return {_PROMPT: [{"unit": unit, "said": said} for unit, said in evaluated.trajectories]}

    def propose_new_texts(self, candidate: dict[str, str], dataset: Any, components: list[str]) -> dict[str, str]:
        """Empty where the proposal is refused: then gepa goes on with other units."""
        try:
            request = prompt_request(
                self._config, candidate[_PROMPT], [(one["unit"], one["said"]) for one in dataset[_PROMPT]]
            )
            self._found.proposed += 1
            reply = self._asked(lambda: self._model.chat(request))
            self.unanswered = self.unanswered + 1 if reply is None else 0
            if reply is None:
                raise Unfit("no_answer")
            return {_PROMPT: read_prompt(reply, self._config[_PROMPT], self._quotes)}
        except Unfit as unfit:
            self._found.refused[unfit.why] = self._found.refused.get(unfit.why, 0) + 1
            return {}
        except Exception as error:  # noqa: BLE001 - raised again outside of gepa
            raise _Through(error) from None

    def _answer(self, prompt: str, unit: Unit) -> _Said:
        if (prompt, unit.key) not in self._said:
            if prompt not in self._judges:
                self._judges[prompt] = Judging({**self._config, _PROMPT: prompt})
            judge = self._judges[prompt]
            outcome = self._asked(lambda: judge.ask(Item(unit.sample, unit.unit), self._model))
            for one in () if outcome is None else outcome.scores:
                value = one.number if one.label is None else one.label
                self._said[prompt, (unit.sample.external_id, one.unit)] = value, one.rationale
            self._said.setdefault((prompt, unit.key), (None, ""))
        return self._said[prompt, unit.key]

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """None: no reply, and another try would bring none."""
        self._found.asked += 1
        try:
            return ask()
        except TryLater:
            raise
        except CallFailed:
            return None


def prompt_request(config: Config, prompt: str, cases: Sequence[tuple[Unit, _Said]]) -> ChatRequest:
    """For another prompt in place of this one. cases: units with what the judge says by it."""
    shown = []
    for unit, (value, reason) in cases:
        judge = "no valid answer" if value is None else str(value)
        said = Correction(unit.unit, judge, reason, str(unit.value), unit.reasons)
        case = case_of(config, unit.sample, said)
        if case is not None:
            shown.append(case)
    # Of what the variables stand for, that which is the same for all material.
    beside = task_of({**config, _PROMPT: ""})
    code = code_for(texts_in([prompt, beside, *(text for case in shown for text in case.values())]))
    parts = [_TASK, fenced("task", prompt, code)]
    if beside:
        parts.append(
            f"The judge is told this too, where the task has a variable for it:\n{fenced('told', beside, code)}"
        )
    for number, case in enumerate(shown, start=1):
        parts += [f"Case {number}:", *(fenced(name, value, code) for name, value in case.items())]
    parts += [END.format(code=code), f"The task once more:\n{_TASK}", _FORM]
    return request_of(config, parts, _SCHEMA, tokens=2 * tokens_of(config[_PROMPT]) + GROWTH_TOKENS)


def read_prompt(reply: Answered, base: str, quotes: Callable[[str], bool]) -> str:
    """The proposed prompt, fit to take the base's place. Raises Unfit."""
    try:
        node = object_in(reply)
        if node.keys() != {_PROMPT} or not isinstance(node[_PROMPT], str):
            raise NoAnswer("The reply holds no prompt, or something else beside it.")
    except NoScore:
        raise Unfit("no_answer") from None
    prompt = node[_PROMPT].strip()
    if is_blank(prompt) or not is_storable(prompt):
        raise Unfit("empty")
    if len(prompt) > len(base) + LONGEST_GROWTH:
        raise Unfit("too_long")
    if _variables(prompt, base) != _variables(base, base):
        raise Unfit("variables")
    if _is_wide(prompt) != _is_wide(base):
        raise Unfit("language")
    if quotes(prompt):
        raise Unfit("quotes")
    return prompt


def _variables(prompt: str, base: str) -> Counter[str] | None:
    """How often each stands there; None where there is one that the base has not."""
    try:
        return Counter(part.text for part in parts_of(prompt, names_between(base)) if part.is_variable)
    except Refused:
        return None


def _is_wide(text: str) -> bool:
    """Whether it is written in a script without spaces between words, names and variables aside."""
    letters = [character for character in text if character.isalpha()]
    return 4 * sum(character > "\u2e7f" for character in letters) > len(letters)
