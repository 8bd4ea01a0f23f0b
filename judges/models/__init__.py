"""What machines say: judges, their immutable versions, runs and scores; frozen alignment reports."""

from judges.models.aligning import Alignment, AlignmentStep, Rule, RuleState
from judges.models.cascade import CascadeLook
from judges.models.judge import Endpoint, Judge, JudgeKind, JudgeVersion, KeySource, VersionState
from judges.models.report import PROMISE, AlignmentReport, Certificate, GroupSide, Look, ReportLink, Side
from judges.models.requirement import Measure, Requirement
from judges.models.run import (
    ANSWERED,
    LARGEST_SCORE,
    WITHOUT_SCORES,
    Ask,
    AskState,
    Confidence,
    Finding,
    Reply,
    Run,
    RunPurpose,
    RunState,
    Score,
    ScoreStatus,
    Trial,
)

__all__ = [
    "ANSWERED",
    "LARGEST_SCORE",
    "PROMISE",
    "WITHOUT_SCORES",
    "Alignment",
    "AlignmentReport",
    "AlignmentStep",
    "Ask",
    "AskState",
    "CascadeLook",
    "Certificate",
    "Confidence",
    "Endpoint",
    "Finding",
    "GroupSide",
    "Judge",
    "JudgeKind",
    "JudgeVersion",
    "KeySource",
    "Look",
    "Measure",
    "Reply",
    "ReportLink",
    "Requirement",
    "Rule",
    "RuleState",
    "Run",
    "RunPurpose",
    "RunState",
    "Score",
    "ScoreStatus",
    "Side",
    "Trial",
    "VersionState",
]
