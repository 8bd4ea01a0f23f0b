"""Embedding judges: how near two texts are, by the cosine between their vectors, from an endpoint or a local model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from annotate.core.units import unit_text, units_of
from annotate.models import Project, Sample
from judges.endpoints.calls import Answered, EmbedRequest, Model
from judges.kinds.base import Config, Item, Outcome, Scored, Size
from judges.kinds.fields import SOURCES, Fields, against_field, has_source, source_texts, target
from judges.kinds.local_models import checked_folder, folder_fields, load, longest_of
from judges.models import JudgeKind, JudgeVersion, ScoreStatus

_KINDS = ("claim", "context", "fact", "entity", "answer")
_AT_ONCE = 16
# About as many characters as one token of a text, either way round too few.
_CHARACTERS_PER_TOKEN = 4
Vector = Sequence[float]


class EmbeddingKind:
    """Its configuration: {"criterion" or "dimension" and "unit", "against", "contexts", and either "model" and
    "texts_per_request" or "folder", "sha256" and "pooling"}.

    A score is the cosine, from -1 to 1, between the unit's vector and that of what it is held against; of several
    contexts the greatest ("best"), or the mean ("mean"). model: as the endpoint calls it; a request carries texts of
    one sample, as many as fit. folder: of a model on this machine; pooling: how its tokens' vectors become the text's.
    """

    key = JudgeKind.EMBEDDING.value
    code_version = 1

    def complete(self, config: Any, project: Project) -> dict[str, Any]:
        fields = Fields(config)
        of = target(fields, project, _KINDS)
        usual = "question" if of["unit"] in ("context", "answer") else "contexts"
        complete = {
            **of,
            "against": against_field(fields, of["unit"], usual),
            "contexts": fields.choice("contexts", ("best", "mean"), default="best"),
        }
        if fields.raw("folder") is not None:
            model, _folder = folder_fields(fields)
            complete |= {**model, "pooling": fields.choice("pooling", ("mean", "first"), default="mean")}
        else:
            complete |= {
                "model": fields.text("model"),
                # The vectors of so many texts fit into the largest reply that is read.
                "texts_per_request": fields.whole("texts_per_request", default=_AT_ONCE, low=1, high=256),
            }
        fields.finish()
        return complete

    def asks_model(self, config: Config) -> bool:
        return "model" in config

    def dimensions(self, config: Config) -> Sequence[tuple[str, str]]:
        return [(config["unit"], config["dimension"])]

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        """A sample's units are asked about together, as its answer: what they are held against is sent once."""
        if not has_source(sample, config["against"]):
            return []
        units = units_of(sample, config["unit"])
        return ["answer"] if units and self.asks_model(config) else units

    def size(self, config: Config, sample: Sample) -> Size:
        if not self.asks_model(config):
            return Size(requests=0, tokens_in=0, tokens_out=0)
        texts = _texts(config, sample)
        characters = sum(map(len, texts))
        return Size(
            requests=math.ceil(len(texts) / config["texts_per_request"]),
            tokens_in=math.ceil(characters / _CHARACTERS_PER_TOKEN),
            tokens_out=0,
        )

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[AskingScorer | LocalScorer]:
        config = version.config
        if self.asks_model(config):
            yield AskingScorer(config)
        else:
            folder = checked_folder(config["folder"], config["sha256"])
            yield LocalScorer(config, *load(folder, "AutoModel"))


def _texts(config: Config, sample: Sample) -> list[str]:
    """Everything of the sample that needs a vector, each once."""
    units = (unit_text(sample, unit) for unit in units_of(sample, config["unit"]))
    return list(dict.fromkeys(text for text in (*units, *source_texts(sample, config["against"])) if text.strip()))


def _scored(config: Config, sample: Sample, unit: str, vectors: Mapping[str, Vector], cut: str = "") -> Scored:
    own = vectors.get(unit_text(sample, unit))
    others = [vectors.get(text) for text in source_texts(sample, config["against"])]
    near = [(_cosine(own, other), at) for at, other in enumerate(others) if own is not None and other is not None]
    known = [(cosine, at) for cosine, at in near if cosine is not None]
    dimension, against = config["dimension"], SOURCES[config["against"]]
    if own is None:
        return Scored(unit, dimension, ScoreStatus.ERROR, detail="There is no word in what is to be scored.")
    if not near:
        return Scored(unit, dimension, ScoreStatus.ERROR, detail=f"There is no word in {against}.")
    if len(known) < len(near):
        return Scored(unit, dimension, ScoreStatus.ERROR, detail="A vector has no direction, so there is no cosine.")
    if config["contexts"] == "mean" or len(known) == 1:
        number = math.fsum(cosine for cosine, _ in known) / len(known)
        return Scored(unit, dimension, number=number, rationale=f"Cosine with {against}.{cut}")
    number, at = max(known, key=lambda one: one[0])
    return Scored(unit, dimension, number=number, rationale=f"Nearest to context {at + 1}.{cut}")


def _cosine(one: Vector | None, other: Vector | None) -> float | None:
    """None for a vector without a direction: of zeros, or too large for its length to be a number."""
    if not one or not other or len(one) != len(other):
        return None
    import numpy as np

    first, second = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    # By the largest part, so that no square overflows or vanishes.
    largest = [float(np.linalg.norm(vector, ord=np.inf)) for vector in (first, second)]
    if not all(0 < part < math.inf for part in largest):
        return None
    first, second = first / largest[0], second / largest[1]
    cosine = float(first @ second) / math.sqrt(float(first @ first) * float(second @ second))
    return min(max(cosine, -1.0), 1.0)


class AskingScorer:
    def __init__(self, config: Config) -> None:
        self._config = config

    def ask(self, item: Item, model: Model) -> Outcome:
        config, sample = self._config, item.sample
        texts = _texts(config, sample)
        vectors: dict[str, Vector] = {}
        replies: list[Answered] = []
        for start in range(0, len(texts), config["texts_per_request"]):
            part = texts[start : start + config["texts_per_request"]]
            answered = model.embed(EmbedRequest(config["model"], part, draw=item.repeat))
            replies.append(answered)
            if answered.vectors is None or len(answered.vectors) != len(part):
                detail = "The reply holds no vectors of these texts."
                failed = [
                    Scored(unit, config["dimension"], ScoreStatus.PARSE_ERROR, detail=detail)
                    for unit in units_of(sample, config["unit"])
                ]
                return Outcome(failed, replies)
            vectors.update(zip(part, answered.vectors, strict=True))
        scores = [_scored(config, sample, unit, vectors) for unit in units_of(sample, config["unit"])]
        return Outcome(scores, replies)


class LocalScorer:
    def __init__(self, config: Config, torch: Any, tokenizer: Any, model: Any) -> None:
        self._config = config
        self._torch = torch
        self._tokenizer = tokenizer
        self._model = model
        self._longest = longest_of(tokenizer, model.config)

    def score(self, items: Sequence[Item]) -> Sequence[Outcome]:
        known: dict[int, tuple[dict[str, Vector], str]] = {}
        outcomes = []
        for item in items:
            if item.sample.pk not in known:
                known[item.sample.pk] = self._vectors(_texts(self._config, item.sample))
            vectors, cut = known[item.sample.pk]
            outcomes.append(Outcome([_scored(self._config, item.sample, item.unit, vectors, cut)]))
        return outcomes

    def _vectors(self, texts: Sequence[str]) -> tuple[dict[str, Vector], str]:
        """Of each text its vector, from as much of it as the model reads; and a word on that, if it wasn't all."""
        found: dict[str, Vector] = {}
        is_cut = False
        with self._torch.inference_mode():
            for start in range(0, len(texts), _AT_ONCE):
                part = list(texts[start : start + _AT_ONCE])
                read = self._tokenizer(
                    part, padding=True, truncation=True, max_length=self._longest, return_tensors="pt"
                )
                is_cut |= any(encoding.overflowing for encoding in read.encodings)
                states = self._model(**read).last_hidden_state.double()
                mask = read["attention_mask"].unsqueeze(-1)
                if self._config["pooling"] == "first":
                    pooled = states[:, 0]
                else:
                    pooled = (states * mask).sum(1) / mask.sum(1)
                found.update(zip(part, pooled.tolist(), strict=True))
        return found, f" Of long texts the model read the first {self._longest} tokens." if is_cut else ""


KIND = EmbeddingKind()
