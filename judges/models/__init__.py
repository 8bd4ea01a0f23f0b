"""What machines say: judges, their immutable versions, runs and scores; frozen alignment reports."""

from judges.models.endpoint import Endpoint, KeySource
from judges.models.judge import Judge, JudgeKind, JudgeVersion, VersionState
from judges.models.report import AlignmentReport, Certificate, Look, SplitMember
from judges.models.run import (
    LARGEST_SCORE,
    WITHOUT_SCORES,
    Ask,
    AskState,
    Reply,
    Run,
    RunPurpose,
    RunState,
    Score,
    ScoreStatus,
    Trial,
)

__all__ = [
    "LARGEST_SCORE",
    "WITHOUT_SCORES",
    "AlignmentReport",
    "Ask",
    "AskState",
    "Certificate",
    "Endpoint",
    "Judge",
    "JudgeKind",
    "JudgeVersion",
    "KeySource",
    "Look",
    "Reply",
    "Run",
    "RunPurpose",
    "RunState",
    "Score",
    "ScoreStatus",
    "SplitMember",
    "Trial",
    "VersionState",
]
