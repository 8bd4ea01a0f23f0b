"""The library itself. Whoever imports this needs it installed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

# Before the import: else it tells its makers what is measured.
os.environ["RAGAS_DO_NOT_TRACK"] = "true"

from ragas.embeddings.base import BaseRagasEmbedding
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.metrics import collections

from judges.kinds.base import Config

__all__ = ["BaseRagasEmbedding", "InstructorBaseRagasLLM", "metric_for"]


def metric_for(
    config: Config, llm: InstructorBaseRagasLLM, embeddings: BaseRagasEmbedding
) -> tuple[Any, Sequence[str]]:
    """The metric of the configuration, and what it takes of a sample by the library's names."""
    question, answer, reference, contexts = "user_input", "response", "reference", "retrieved_contexts"
    match config["metric"]:
        case "faithfulness":
            return collections.Faithfulness(llm=llm), (question, answer, contexts)
        case "answer_relevancy":
            strictness = config["strictness"]
            metric = collections.AnswerRelevancy(llm=llm, embeddings=embeddings, strictness=strictness)
            return metric, (question, answer)
        case "context_precision" if config["against"] == "answer":
            return collections.ContextPrecisionWithoutReference(llm=llm), (question, answer, contexts)
        case "context_precision":
            return collections.ContextPrecisionWithReference(llm=llm), (question, reference, contexts)
        case "context_recall":
            return collections.ContextRecall(llm=llm), (question, contexts, reference)
        case "answer_correctness":
            similarity = config["similarity_weight"]
            metric = collections.AnswerCorrectness(
                llm=llm,
                embeddings=embeddings if similarity else None,
                weights=[1.0 - similarity, similarity],
                beta=config["beta"],
            )
            return metric, (question, answer, reference)
        case "context_entity_recall":
            return collections.ContextEntityRecall(llm=llm), (reference, contexts)
        case "noise_sensitivity":
            metric = collections.NoiseSensitivity(llm=llm, mode=config["mode"])
            return metric, (question, answer, reference, contexts)
    raise ValueError(f"no metric {config['metric']!r}")
