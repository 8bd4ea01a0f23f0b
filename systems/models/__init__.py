"""What is known of systems: questions and test sets, versions and their responses, relevant documents,
and where they are asked."""

from systems.models.bands import MetricBands
from systems.models.diagnosis import DiagnosisMapping
from systems.models.experiment import (
    Experiment,
    ExperimentDraw,
    ExperimentFigures,
    ExperimentRule,
    ExperimentVersion,
    PairDraw,
)
from systems.models.question import (
    ComposedSample,
    FrozenQuestion,
    FrozenSet,
    Holds,
    Question,
    QuestionKind,
    QuestionRevision,
    QuestionSet,
    QuestionSetEntry,
    Relevance,
    RelevanceDecision,
)
from systems.models.target import Method, Target, TargetAsk, TargetReply, TargetRun
from systems.models.version import Response, ResponseStatus, SystemVersion

__all__ = [
    "ComposedSample",
    "DiagnosisMapping",
    "Experiment",
    "ExperimentDraw",
    "ExperimentFigures",
    "ExperimentRule",
    "ExperimentVersion",
    "FrozenQuestion",
    "FrozenSet",
    "Holds",
    "Method",
    "MetricBands",
    "PairDraw",
    "Question",
    "QuestionKind",
    "QuestionRevision",
    "QuestionSet",
    "QuestionSetEntry",
    "Relevance",
    "RelevanceDecision",
    "Response",
    "ResponseStatus",
    "SystemVersion",
    "Target",
    "TargetAsk",
    "TargetReply",
    "TargetRun",
]
