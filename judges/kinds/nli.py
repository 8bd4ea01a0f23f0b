"""NLI judges: whether the contexts entail a claim, by a model from a folder on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.units import unit_text, units_of
from annotate.models import Project, Sample
from judges.kinds.base import Config, Item, Outcome, Scored, Size
from judges.kinds.fields import SOURCES, Fields, against_field, has_source, source_texts, target
from judges.kinds.local_models import NoModel, checked_folder, config_of, folder_fields, load, longest_of
from judges.models import JudgeKind, JudgeVersion, ScoreStatus

_KINDS = ("claim", "fact", "answer")
# Windows of a context that is too long for the model begin so many tokens before the one before ends.
_OVERLAP = 64
# Of the premise, at least so many tokens have to fit beside the hypothesis.
_LEAST_ROOM = 32
_AT_ONCE = 16


class NliKind:
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
        held = against_field(fields, of["unit"], "contexts")
        model, folder = folder_fields(fields)
        try:
            labels = _labels(config_of(folder))
        except NoModel as error:
            raise fields.refuse("folder", error.why) from error
        found = [label for label in labels.values() if _says_entailment(label)]
        entailment = fields.choice("entailment", list(labels.values()), default=found[0] if len(found) == 1 else None)
        fields.finish()
        return {**of, "against": held, **model, "entailment": entailment}

    def asks_model(self, config: Config) -> bool:
        return False

    def dimensions(self, config: Config) -> Sequence[tuple[str, str]]:
        return [(config["unit"], config["dimension"])]

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        return units_of(sample, config["unit"]) if has_source(sample, config["against"]) else []

    def size(self, config: Config, sample: Sample) -> Size:
        return Size(requests=0, tokens_in=0, tokens_out=0)

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[NliScorer]:
        folder = checked_folder(version.config["folder"], version.config["sha256"])
        yield NliScorer(version.config, *load(folder, "AutoModelForSequenceClassification"))


def _labels(config: Mapping[str, Any]) -> dict[int, str]:
    """The model's classes. Raises NoModel when it has no names for them."""
    named = config.get("id2label")
    if not isinstance(named, dict) or not all(str(key).isdecimal() for key in named):
        raise NoModel(_("The model doesn't name its classes (id2label), so it is none that tells entailment."))
    return {int(key): str(label) for key, label in named.items()}


def _says_entailment(label: str) -> bool:
    word = label.lower().replace("-", "_")
    return word.startswith("entail")


class NliScorer:
    def __init__(self, config: Config, torch: Any, tokenizer: Any, model: Any) -> None:
        self._config = config
        self._torch = torch
        self._tokenizer = tokenizer
        self._model = model
        self._longest = longest_of(tokenizer, model.config)
        (self._index,) = (
            index
            for index, label in _labels({"id2label": model.config.id2label}).items()
            if label == config["entailment"]
        )

    def score(self, items: Sequence[Item]) -> Sequence[Outcome]:
        return [Outcome([self._scored(item)]) for item in items]

    def _scored(self, item: Item) -> Scored:
        unit, against = item.unit, self._config["against"]
        hypothesis = unit_text(item.sample, unit)
        premises = {at: text for at, text in enumerate(source_texts(item.sample, against)) if text.strip()}
        if not hypothesis.strip():
            return self._failed(unit, ScoreStatus.ERROR, "There is no word in what is to be scored.")
        if not premises:
            return self._failed(unit, ScoreStatus.ERROR, f"There is no word in {SOURCES[against]}.")
        room = self._longest - self._tokenizer.num_special_tokens_to_add(pair=True)
        room_for_premise = room - len(self._tokenizer(hypothesis, add_special_tokens=False)["input_ids"])
        if room_for_premise < _LEAST_ROOM:
            return self._failed(unit, ScoreStatus.TRUNCATED, f"It is longer than the model reads: {room} tokens.")
        windows = self._windows(premises, hypothesis, min(_OVERLAP, room_for_premise // 2))
        likely = self._likely([inputs for _, inputs in windows])
        best = max(range(len(windows)), key=lambda at: likely[at])
        where = f"context {windows[best][0] + 1}" if against == "contexts" else SOURCES[against]
        cut = " It was read in windows." if len(windows) > len(premises) else ""
        return Scored(unit, self._config["dimension"], number=likely[best], rationale=f"Entailed most by {where}.{cut}")

    def _windows(
        self, premises: Mapping[int, str], hypothesis: str, overlap: int
    ) -> list[tuple[int, dict[str, list[int]]]]:
        """(index of the premise, what the model reads) of each premise and window of it."""
        found = []
        for at, premise in premises.items():
            read = self._tokenizer(
                premise,
                hypothesis,
                truncation="only_first",
                max_length=self._longest,
                stride=overlap,
                return_overflowing_tokens=True,
            )
            names = [name for name in self._tokenizer.model_input_names if name in read]
            found += [(at, {name: read[name][window] for name in names}) for window in range(len(read["input_ids"]))]
        return found

    def _likely(self, inputs: Sequence[Mapping[str, list[int]]]) -> list[float]:
        found: list[float] = []
        with self._torch.inference_mode():
            for start in range(0, len(inputs), _AT_ONCE):
                batch = self._tokenizer.pad(list(inputs[start : start + _AT_ONCE]), return_tensors="pt")
                logits = self._model(**batch).logits.double()
                found += self._torch.softmax(logits, dim=-1)[:, self._index].tolist()
        return found

    def _failed(self, unit: str, status: ScoreStatus, detail: str) -> Scored:
        return Scored(unit, self._config["dimension"], status, detail=detail)


KIND = NliKind()
