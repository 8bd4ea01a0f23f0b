"""Embedding judges: the cosine between the vectors of two texts, from an endpoint or a local model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from annotate.core.units import unit_text, units_of, whole_unit
from annotate.models import Project, Sample
from judges.endpoints.calls import Answered, EmbedRequest, Model
from judges.kinds.base import Config, Item, Kind, NoScore, Outcome, Size, score_each
from judges.kinds.fields import SOURCES, Fields, against_field, has_source, source_texts, target
from judges.kinds.local_models import Loaded, folder_fields, load
from judges.models import JudgeKind, JudgeVersion, ScoreStatus

_KINDS = ("claim", "context", "fact", "entity", "answer")
_AT_ONCE = 16
# Roughly, and rather too few.
_CHARACTERS_PER_TOKEN = 4
Vector = Sequence[float]


class EmbeddingKind(Kind):
    """Its configuration: {"criterion" or "dimension" and "unit", "against", "contexts", and either "model" and
    "texts_per_request" or "folder", "sha256" and "pooling"}.

    A score is the cosine, from -1 to 1, between the unit's vector and that of what it is compared with; of several
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
                # The vectors of this many texts fit into the largest reply that is read.
                "texts_per_request": fields.whole("texts_per_request", default=_AT_ONCE, low=1, high=256),
            }
        fields.finish()
        return complete

    def asks_model(self, config: Config) -> bool:
        return "model" in config

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        """A sample's units are asked about together, as one: what they are compared with is sent once."""
        if not has_source(sample, config["against"]):
            return []
        units = units_of(sample, config["unit"])
        return [whole_unit(sample)] if units and self.asks_model(config) else units

    def size(self, config: Config, sample: Sample) -> Size:
        if not self.asks_model(config):
            return Size()
        texts = _texts(config, sample)
        characters = sum(map(len, texts))
        return Size(
            requests=math.ceil(len(texts) / config["texts_per_request"]),
            tokens_in=math.ceil(characters / _CHARACTERS_PER_TOKEN),
        )

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[AskingScorer | LocalScorer]:
        config = version.config
        yield AskingScorer(config) if self.asks_model(config) else LocalScorer(config, load(config, "AutoModel"))


def _texts(config: Config, sample: Sample) -> list[str]:
    """Everything of the sample that needs a vector, each once."""
    units = (unit_text(sample, unit) for unit in units_of(sample, config["unit"]))
    return list(dict.fromkeys(text for text in (*units, *source_texts(sample, config["against"])) if text.strip()))


def _nearness(config: Config, item: Item, vectors: Mapping[str, Vector]) -> tuple[float, str]:
    """The number and its rationale. Raises NoScore."""
    sample, against = item.sample, SOURCES[config["against"]]
    own = vectors.get(unit_text(sample, item.unit))
    others = [vectors.get(text) for text in source_texts(sample, config["against"])]
    near = [(_cosine(own, other), at) for at, other in enumerate(others) if own is not None and other is not None]
    known = [(cosine, at) for cosine, at in near if cosine is not None]
    if own is None:
        raise NoScore("There is no word in what is to be scored.")
    if not near:
        raise NoScore(f"There is no word in {against}.")
    if len(known) < len(near):
        raise NoScore("A vector has no direction, so there is no cosine.")
    if config["contexts"] == "mean" or len(known) == 1:
        return math.fsum(cosine for cosine, _ in known) / len(known), f"Cosine with {against}."
    number, at = max(known, key=lambda one: one[0])
    return number, f"Nearest to context {at + 1}."


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
        units = units_of(sample, config["unit"])
        texts = _texts(config, sample)
        vectors: dict[str, Vector] = {}
        replies: list[Answered] = []
        for start in range(0, len(texts), config["texts_per_request"]):
            part = texts[start : start + config["texts_per_request"]]
            answered = model.embed(EmbedRequest(config["model"], part, draw=item.repeat))
            replies.append(answered)
            if answered.vectors is None or len(answered.vectors) != len(part):
                failure = NoScore("The reply holds no vectors of these texts.", ScoreStatus.PARSE_ERROR)
                return Outcome([failure.scored(unit, config["dimension"]) for unit in units], replies)
            vectors.update(zip(part, answered.vectors, strict=True))
        outcomes = score_each(
            [Item(sample, unit) for unit in units], config["dimension"], lambda one: _nearness(config, one, vectors)
        )
        return Outcome([scored for outcome in outcomes for scored in outcome.scores], replies)


class LocalScorer:
    def __init__(self, config: Config, loaded: Loaded) -> None:
        self._config = config
        self._loaded = loaded

    def score(self, items: Sequence[Item]) -> Sequence[Outcome]:
        known: dict[int, tuple[dict[str, Vector], str]] = {}

        def score(item: Item) -> tuple[float, str]:
            if item.sample.pk not in known:
                known[item.sample.pk] = self._vectors(_texts(self._config, item.sample))
            vectors, cut = known[item.sample.pk]
            number, rationale = _nearness(self._config, item, vectors)
            return number, rationale + cut

        return score_each(items, self._config["dimension"], score)

    def _vectors(self, texts: Sequence[str]) -> tuple[dict[str, Vector], str]:
        """The vector of each text, of as much of it as the model reads; and a sentence on that if it isn't all."""
        loaded = self._loaded
        found: dict[str, Vector] = {}
        is_cut = False
        with loaded.torch.inference_mode():
            for start in range(0, len(texts), _AT_ONCE):
                part = list(texts[start : start + _AT_ONCE])
                read = loaded.tokenizer(
                    part, padding=True, truncation=True, max_length=loaded.longest, return_tensors="pt"
                )
                is_cut |= any(encoding.overflowing for encoding in read.encodings)
                states = loaded.model(**read).last_hidden_state.double()
                mask = read["attention_mask"].unsqueeze(-1)
                if self._config["pooling"] == "first":
                    pooled = states[:, 0]
                else:
                    pooled = (states * mask).sum(1) / mask.sum(1)
                found.update(zip(part, pooled.tolist(), strict=True))
        return found, f" Of long texts the model read the first {loaded.longest} tokens." if is_cut else ""


KIND = EmbeddingKind()
