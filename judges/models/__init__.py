"""What machines say: judges, their immutable versions, runs and scores; frozen alignment reports."""

from judges.models.endpoint import Endpoint, KeySource
from judges.models.judge import Judge, JudgeKind, JudgeVersion, VersionState
from judges.models.look import Certificate, Look, SplitMember
from judges.models.report import AlignmentReport
from judges.models.run import WITHOUT_SCORES, Ask, AskState, Reply, Run, RunPurpose, RunState
from judges.models.score import LARGEST_SCORE, Score
from judges.models.status import ScoreStatus
from judges.models.trial import Trial

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
