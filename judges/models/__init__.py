"""What machines say: judges, their immutable versions, runs and scores; frozen alignment reports."""

from judges.models.judge import Judge, JudgeKind, JudgeVersion
from judges.models.look import Certificate, Look, SplitMember
from judges.models.report import AlignmentReport
from judges.models.run import Run
from judges.models.score import LARGEST_SCORE, Score, ScoreStatus

__all__ = [
    "LARGEST_SCORE",
    "AlignmentReport",
    "Certificate",
    "Judge",
    "JudgeKind",
    "JudgeVersion",
    "Look",
    "Run",
    "Score",
    "ScoreStatus",
    "SplitMember",
]
