"""What the runs of an alignment ask: the judge as it is, then a model about its errors, then the candidates. A search
for another prompt is one ask of many requests, since each depends on the replies before it.

No score comes of it: an answer of a candidate is kept with its ask, and is read by judges.aligning.outcome alone.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from threading import Lock
from typing import Any

from django.db.models import QuerySet

import alignment
from annotate.core.scales import Value
from annotate.models import Project, Sample
from annotate.samples.read import samples_named
from annotate.verdicts.ratings_read import UnitKey
from judges.aligning.candidates import WHOLE, with_fixed
from judges.aligning.distil import Correction, Found, read_rule, read_united, rule_request, unite_request
from judges.aligning.people import Levels, Unit, for_value, kept_units, reasons_on_dev
from judges.aligning.quotes import Quotes
from judges.aligning.search import GROWTH_TOKENS, MINIBATCH, searched
from judges.core.split import drawn
from judges.endpoints.calls import Answered, CallFailed, ChatRequest, EmbedRequest, Model
from judges.kinds.base import Config, Item, NoScore, OneByOne, Outcome, Scored, Size
from judges.kinds.llm.judging import Judging
from judges.models import Alignment, AlignmentStep, Ask, AskState, Run, RunPurpose, ScoreStatus
from judges.runs.open_run import NotNow
from judges.runs.purposes import Scoring, asked_units
from judges.runs.work import SLICE_SECONDS

# Of a candidate two asks of each unit: of what was made without its fold, and of what was made of all.
INNER, SAME_LABELS = 0, 1
# Corrections that a model is asked about, at most; those of most groups are known by then.
MOST_CORRECTIONS = 200
# About what the quoted task and the words about rules take.
RULE_TOKENS = 400
# What comes of these is not a judge's answer.
_BEFORE_CANDIDATES = (AlignmentStep.RULES, AlignmentStep.UNITE, AlignmentStep.SEARCH)


def repeat_of(candidate: int, which: int) -> int:
    """An ask's number. candidate: its place; the start has only INNER, as it is made of nothing."""
    return 2 * candidate + which


class Aligning(Scoring):
    """terms: {"alignment", "step"}; of the step that unites rules also "rules", those that came (`usable_rules`)."""

    brings_scores = False

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._alignment = Alignment.objects.select_related("criterion", "base__judge").get(pk=run.terms["alignment"])
        self._step = run.terms["step"]
        self._fold_of = {name: fold for name, _unit, _group, fold, _value, _level in self._alignment.units}

    def to_ask(self, samples: Sequence[Sample]) -> list[tuple[int, str, int]]:
        if self._step == AlignmentStep.RULES:
            keys = {sample.external_id: sample.pk for sample in samples}
            return [(keys[name], unit, 0) for name, unit in corrections(self._alignment) if name in keys]
        if self._step == AlignmentStep.UNITE:
            # An ask is of a unit: those of all parts are at the first one, which none of them shows.
            name, unit, *_rest = self._alignment.units[0]
            parts = [part for part, found in self._rules_by_part().items() if found]
            return [(sample.pk, unit, part + 1) for sample in samples if sample.external_id == name for part in parts]
        if self._step == AlignmentStep.SEARCH:
            # The same: of what an ask is has no part in what it asks.
            name, unit, *_rest = self._alignment.units[0]
            parts = parts_of(self._alignment)
            return [(sample.pk, unit, part + 1) for sample in samples if sample.external_id == name for part in parts]
        numbers = [repeat_of(0, INNER)]
        if self._step == AlignmentStep.CANDIDATES:
            others = range(1, len(self._alignment.candidates))
            numbers = [repeat_of(place, which) for place in others for which in (INNER, SAME_LABELS)]
        wanted = self._units_by_sample()
        return [
            (sample.pk, unit, number)
            for sample in samples
            for unit in asked_units(self._run.version, sample)
            # One that is asked about a whole sample is asked once for all its units.
            if unit in wanted[sample.external_id] or self._config["per"] == "sample"
            for number in numbers
        ]

    def _units_by_sample(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for name, unit, *_rest in self._alignment.units:
            found[name].add(unit)
        return found

    def size(self, sample: Sample) -> Size:
        size = super().size(sample)
        if self._step == AlignmentStep.SEARCH:
            return size_of_search(self._alignment.search, size)
        if self._step in _BEFORE_CANDIDATES:
            return Size(requests=1, tokens_in=size.tokens_in + RULE_TOKENS, tokens_out=RULE_TOKENS // 4)
        return size

    def open(self) -> AbstractContextManager[OneByOne]:
        if self._step == AlignmentStep.RULES:
            return nullcontext(_Distilling(self._alignment))
        if self._step == AlignmentStep.UNITE:
            return nullcontext(_Uniting(self._config, self._rules_by_part()))
        if self._step == AlignmentStep.SEARCH:
            return nullcontext(_Searching(self._alignment))
        return nullcontext(_Judges(self._alignment, self._fold_of))

    def _rules_by_part(self) -> dict[int, list[Found]]:
        return by_part(self._alignment, [Found(*one) for one in self._run.terms["rules"]])

    def wanted(self, unit: str, sample: Sample) -> list[tuple[str, str]]:
        return [] if self._step in _BEFORE_CANDIDATES else super().wanted(unit, sample)

    def outcome(self, scores: Sequence[Scored], found: Any) -> Any:
        """Of a correction {"rule"}, of a part {"rules": [{"text", "sources"}]}, of a search {"prompt", "asked",
        "proposed", "refused"} (`Searched`); of a judge's answers [{"unit", "status", "value", "reason"}], value None
        unless it is ok."""
        if self._step in _BEFORE_CANDIDATES:
            return found
        return [
            {
                "unit": one.unit,
                "status": str(one.status),
                "value": one.number if one.label is None else one.label,
                "reason": one.rationale,
            }
            for one in scores
        ]


class _Judges:
    """The judge as it is, or each candidate in its parts; each is made when it is first asked for."""

    def __init__(self, of: Alignment, fold_of: Mapping[str, int]) -> None:
        self._alignment, self._fold_of = of, fold_of
        self._made: dict[tuple[int, int], Judging] = {}
        self._making = Lock()

    def ask(self, item: Item, model: Model) -> Outcome:
        place, which = divmod(item.repeat, 2)
        part = WHOLE if which == SAME_LABELS else self._fold_of[item.sample.external_id]
        key = (place, part if place else WHOLE)
        # All threads need the same one at once, and one with many examples is large.
        with self._making:
            if key not in self._made:
                self._made[key] = Judging(config_of(self._alignment, *key))
        return self._made[key].ask(Item(item.sample, item.unit), model)


class _Distilling:
    """A model, which rule people go by in a unit."""

    def __init__(self, of: Alignment) -> None:
        self._config = of.base.config
        self._corrections = _said_of(of)

    def ask(self, item: Item, model: Model) -> Outcome:
        correction = self._corrections[item.sample.external_id, item.unit]
        request = rule_request(self._config, item.sample, correction)
        if request is None:
            raise CallFailed(ScoreStatus.ERROR, "The sample has changed since.")
        reply = model.chat(request)
        try:
            return Outcome([], [reply], found={"rule": read_rule(reply)})
        except NoScore as failure:
            raise CallFailed(failure.status, failure.detail) from None


class _Uniting:
    """A model, which rules people go by in all that was found in a part."""

    def __init__(self, config: Config, found: Mapping[int, Sequence[Found]]) -> None:
        self._config, self._found = config, found

    def ask(self, item: Item, model: Model) -> Outcome:
        found = self._found[item.repeat - 1]
        reply = model.chat(unite_request(self._config, found))
        try:
            united = read_united(reply, found)
        except NoScore as failure:
            raise CallFailed(failure.status, failure.detail) from None
        rules = [{"text": one.text, "sources": [[of.sample, of.unit] for of in one.sources]} for one in united]
        return Outcome([], [reply], found={"rules": rules})


class _Turn:
    """A model, for so long as one ask of many requests may have it: then that waits for its next turn, so that other
    runs at the endpoint have theirs. It goes on from what came, which is kept."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._until = time.monotonic() + SLICE_SECONDS
        self._has_new = False

    def chat(self, request: ChatRequest) -> Answered:
        if self._has_new and time.monotonic() > self._until:
            raise NotNow
        answered = self._model.chat(request)
        self._has_new |= not answered.is_kept
        return answered

    def embed(self, request: EmbedRequest) -> Answered:
        return self._model.embed(request)


class _Searching:
    """A judge and its model, for a better prompt in each part."""

    def __init__(self, of: Alignment) -> None:
        self._alignment = of
        self._units: list[Unit] = kept_units(of)
        self._said = answers_of(of)[repeat_of(0, INNER)]

    def ask(self, item: Item, model: Model) -> Outcome:
        of, part = self._alignment, item.repeat - 1
        base = of.base.config["prompt"]

        def quotes(prompt: str) -> bool:
            return bool(quoting_rules(of.base.judge.project, [prompt], besides=base))

        found = searched(
            of.base.config,
            [unit for unit in self._units if part == WHOLE or unit.fold != part],
            self._said,
            _Turn(model),
            asks=of.search,
            seed=of.seed,
            level_of=Levels(of.criterion).of,
            quotes=quotes,
        )
        return Outcome([], found=asdict(found))


def size_of_search(asks: int, each: Size) -> Size:
    """At most. each: of one of the judge's answers."""
    proposals = asks // MINIBATCH
    return Size(
        requests=asks,
        tokens_in=asks * (each.tokens_in + GROWTH_TOKENS) + proposals * MINIBATCH * (each.tokens_in + RULE_TOKENS),
        tokens_out=asks * each.tokens_out + proposals * (each.tokens_in + GROWTH_TOKENS),
    )


def config_of(of: Alignment, place: int, part: int, *, rules: Sequence[str] | None = None) -> dict[str, Any]:
    """The configuration of a candidate in a part, as it was fixed when the candidates were made. rules: in place of the
    part's."""
    if not place:
        return dict(of.base.config)
    made = of.candidates[place]["parts"][str(part)]
    names = {name for name, *_rest in made["examples"]}
    samples = {sample.external_id: sample for sample in samples_named(of.base.judge.project, names)}
    return with_fixed(of.base.config, made if rules is None else {**made, "rules": list(rules)}, samples)


def answers_of(of: Alignment) -> dict[int, dict[UnitKey, tuple[Value | None, str]]]:
    """What came so far: ask's number -> unit -> (value, reason); value None where there is none."""
    asks = Ask.objects.filter(
        run__version=of.base_id, run__purpose=RunPurpose.ALIGN, run__terms__alignment=of.pk, state=AskState.DONE
    ).filter(run__terms__step__in=[AlignmentStep.START.value, AlignmentStep.CANDIDATES.value])
    found: dict[int, dict[UnitKey, tuple[Value | None, str]]] = defaultdict(dict)
    for name, number, outcome in asks.values_list("sample__external_id", "repeat", "outcome").iterator():
        for one in outcome or ():
            found[number][name, one["unit"]] = one["value"], one["reason"]
    return found


def wrong_units(of: Alignment) -> dict[UnitKey, tuple[Value, str]]:
    """The units of which the judge as it is says something else than people: its value, and its reason."""
    levels, said = Levels(of.criterion), answers_of(of)[repeat_of(0, INNER)]
    found: dict[UnitKey, tuple[Value, str]] = {}
    for name, unit, _group, _fold, _value, level in of.units:
        value, reason = said.get((name, unit), (None, ""))
        if value is not None and levels.of(value) not in (level, alignment.NO_ANSWER):
            found[name, unit] = value, reason
    return found


def corrections(of: Alignment) -> list[UnitKey]:
    """Those that a model is asked about: of each group in turn, in an order drawn by the seed."""
    group_of = {(name, unit): group for name, unit, group, *_rest in of.units}
    by_group: dict[str, list[UnitKey]] = defaultdict(list)
    for key in sorted(wrong_units(of)):
        by_group[group_of[key]].append(key)
    order = sorted(by_group, key=lambda group: (drawn(of.seed, group, "corrections"), group))
    turns = max((len(keys) for keys in by_group.values()), default=0)
    return [by_group[group][turn] for turn in range(turns) for group in order if turn < len(by_group[group])][
        :MOST_CORRECTIONS
    ]


def usable_rules(of: Alignment) -> list[Found]:
    """The rules that came of corrections, without those that quote a sample: nobody's words become an instruction, and
    none of the test half come into a prompt. It reads all samples of the project."""
    group_of = {(name, unit): group for name, unit, group, *_rest in of.units}
    rows = _outcomes(of, AlignmentStep.RULES).values_list("sample__external_id", "unit", "outcome")
    found = [
        Found(outcome["rule"], name, unit, group_of[name, unit])
        for name, unit, outcome in rows
        if outcome and outcome["rule"]
    ]
    quoting = quoting_rules(of.base.judge.project, {one.text for one in found})
    return [one for one in found if one.text not in quoting]


def by_part(of: Alignment, rules: Sequence[Found]) -> dict[int, list[Found]]:
    """Of each part the rules that come from outside its fold."""
    fold_of = {group: fold for _name, _unit, group, fold, *_rest in of.units}
    return {part: [one for one in rules if part == WHOLE or fold_of[one.group] != part] for part in parts_of(of)}


def parts_of(of: Alignment) -> list[int]:
    return [WHOLE, *sorted({fold for _name, _unit, _group, fold, *_rest in of.units})]


def united_rules(of: Alignment) -> dict[int, list[dict[str, Any]]]:
    """Of each part {"text", "sources"}; none where the model's reply could not be read."""
    rows = _outcomes(of, AlignmentStep.UNITE).values_list("repeat", "outcome")
    found = {number - 1: outcome["rules"] for number, outcome in rows if outcome}
    quoting = quoting_rules(of.base.judge.project, {one["text"] for rules in found.values() for one in rules})
    return {part: [one for one in rules if one["text"] not in quoting] for part, rules in found.items()}


def searches_of(of: Alignment) -> dict[int, dict[str, Any]]:
    """Of each part what its search came to (`Aligning.outcome`); none where it failed."""
    rows = _outcomes(of, AlignmentStep.SEARCH).values_list("repeat", "outcome")
    return {number - 1: outcome for number, outcome in rows if outcome}


def _outcomes(of: Alignment, step: AlignmentStep) -> QuerySet[Ask]:
    runs = {"run__version": of.base_id, "run__purpose": RunPurpose.ALIGN, "run__terms__alignment": of.pk}
    return Ask.objects.filter(**runs, run__terms__step=step.value, state=AskState.DONE).order_by("pk")


_TEXTS = ("question", "answer", "answer_b", "reference")
_LISTS = ("contexts", "claims", "key_facts", "entities")


def quoting_rules(project: Project, rules: Collection[str], besides: str = "") -> set[str]:
    """Those of the rules that quote any sample of the project. besides: a text of which they may hold everything."""
    quotes, found = Quotes(rules, besides), set[str]()
    samples = Sample.objects.filter(project=project).only(*_TEXTS, *_LISTS)
    for sample in samples.iterator(chunk_size=500) if rules else ():
        listed = [one for name in _LISTS for one in getattr(sample, name)]
        members = [one["text"] if isinstance(one, dict) else one for one in listed]
        for text in (*(getattr(sample, name) or "" for name in _TEXTS), *members):
            found |= quotes.of(text)
    return found


def _said_of(of: Alignment) -> dict[UnitKey, Correction]:
    wrong = wrong_units(of)
    reasons = reasons_on_dev(of.criterion, {name for name, _unit in wrong})
    value_of = {(name, unit): value for name, unit, _group, _fold, value, _level in of.units}
    return {
        key: Correction(
            unit=key[1],
            judge=str(said),
            judge_reason=why,
            people=str(value_of[key]),
            reasons=for_value(reasons.get(key, ()), value_of[key]),
        )
        for key, (said, why) in wrong.items()
    }
