"""NLI judges: whether the contexts entail a claim, by a model from a folder on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.units import unit_text, units_of
from annotate.models import Project, Sample
from judges.kinds.base import Config, Item, Kind, NoScore, Outcome, score_each
from judges.kinds.fields import SOURCES, Fields, against_field, has_source, source_texts, target
from judges.kinds.local_models import Loaded, NoModel, config_of, folder_fields, load
from judges.models import JudgeKind, JudgeVersion, ScoreStatus

_KINDS = ("claim", "fact", "answer")
# Windows of a context that is too long for the model overlap by this many tokens.
_OVERLAP = 64
# At least this many tokens of the premise have to fit beside the hypothesis.
_LEAST_ROOM = 32
_AT_ONCE = 16


class NliKind(Kind):
    """Its configuration: {"criterion" or "dimension" and "unit", "against", "folder", "sha256", "entailment"}.

    A score is the probability of entailment with the text as premise and the unit as hypothesis; of several contexts
    the greatest. A text that is too long for the model is read in windows that overlap, and the greatest counts.
    entailment: the model's own name of that class; taken from its config.json when it isn't given.
    """

    key = JudgeKind.NLI.value
    code_version = 1

    def complete(self, config: Any, project: Project) -> dict[str, Any]:
        fields = Fields(config)
        of = target(fields, project, _KINDS)
        against = against_field(fields, of["unit"], "contexts")
        model, folder = folder_fields(fields)
        try:
            labels = _labels(config_of(folder))
        except NoModel as error:
            raise fields.refuse("folder", str(error)) from error
        found = [label for label in labels.values() if label.lower().startswith("entail")]
        entailment = fields.choice("entailment", list(labels.values()), default=found[0] if len(found) == 1 else None)
        fields.finish()
        return {**of, "against": against, **model, "entailment": entailment}

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        return units_of(sample, config["unit"]) if has_source(sample, config["against"]) else []

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[NliScorer]:
        yield NliScorer(version.config, load(version.config, "AutoModelForSequenceClassification"))


def _labels(config: Mapping[str, Any]) -> dict[int, str]:
    """The model's classes. Raises NoModel when it has no names for them."""
    named = config.get("id2label")
    if not isinstance(named, dict) or not all(str(key).isdecimal() for key in named):
        raise NoModel(_("The model doesn’t name its classes (id2label), so it can’t be used for entailment."))
    return {int(key): str(label) for key, label in named.items()}


class NliScorer:
    def __init__(self, config: Config, loaded: Loaded) -> None:
        self._config = config
        self._loaded = loaded
        labels = _labels({"id2label": loaded.model.config.id2label})
        (self._index,) = (index for index, label in labels.items() if label == config["entailment"])

    def score(self, items: Sequence[Item]) -> Sequence[Outcome]:
        return score_each(items, self._config["dimension"], self._score)

    def _score(self, item: Item) -> tuple[float, str]:
        against, tokenizer = self._config["against"], self._loaded.tokenizer
        hypothesis = unit_text(item.sample, item.unit)
        premises = {at: text for at, text in enumerate(source_texts(item.sample, against)) if text.strip()}
        if not hypothesis.strip():
            raise NoScore("There is no word in what is to be scored.")
        if not premises:
            raise NoScore(f"There is no word in {SOURCES[against]}.")
        room = self._loaded.longest - tokenizer.num_special_tokens_to_add(pair=True)
        room_for_premise = room - len(tokenizer(hypothesis, add_special_tokens=False)["input_ids"])
        if room_for_premise < _LEAST_ROOM:
            raise NoScore(f"It is longer than the model reads: {room} tokens.", ScoreStatus.TRUNCATED)
        windows = self._windows(premises, hypothesis, min(_OVERLAP, room_for_premise // 2))
        likely = self._likely([inputs for _, inputs in windows])
        best = max(range(len(windows)), key=lambda at: likely[at])
        where = f"context {windows[best][0] + 1}" if against == "contexts" else SOURCES[against]
        cut = " It was read in windows." if len(windows) > len(premises) else ""
        return likely[best], f"Entailed most by {where}.{cut}"

    def _windows(
        self, premises: Mapping[int, str], hypothesis: str, overlap: int
    ) -> list[tuple[int, dict[str, list[int]]]]:
        """(index of the premise, what the model reads) of each premise and window of it."""
        tokenizer = self._loaded.tokenizer
        found = []
        for at, premise in premises.items():
            read = tokenizer(
                premise,
                hypothesis,
                truncation="only_first",
                max_length=self._loaded.longest,
                stride=overlap,
                return_overflowing_tokens=True,
            )
            names = [name for name in tokenizer.model_input_names if name in read]
            found += [(at, {name: read[name][window] for name in names}) for window in range(len(read["input_ids"]))]
        return found

    def _likely(self, inputs: Sequence[Mapping[str, list[int]]]) -> list[float]:
        torch = self._loaded.torch
        found: list[float] = []
        with torch.inference_mode():
            for start in range(0, len(inputs), _AT_ONCE):
                batch = self._loaded.tokenizer.pad(list(inputs[start : start + _AT_ONCE]), return_tensors="pt")
                logits = self._loaded.model(**batch).logits.double()
                found += torch.softmax(logits, dim=-1)[:, self._index].tolist()
        return found


KIND = NliKind()
