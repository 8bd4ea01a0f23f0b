from annotate.models.batch import Batch, BatchCriterion, BatchSample, Task
from annotate.models.label import Label, LabelEvent
from annotate.models.people import Invite, Membership, Rater, User
from annotate.models.project import Criterion, Project
from annotate.models.sample import ClaimEdit, Sample
from annotate.models.trail import AuditEntry, Flag
from annotate.models.transfer import ImportJob, Release
from annotate.models.verdict import GoldAnswer, LessonRead, Verdict, VerdictEvent

__all__ = [
    "AuditEntry",
    "Batch",
    "BatchCriterion",
    "BatchSample",
    "ClaimEdit",
    "Criterion",
    "Flag",
    "GoldAnswer",
    "ImportJob",
    "Invite",
    "Label",
    "LabelEvent",
    "LessonRead",
    "Membership",
    "Project",
    "Rater",
    "Release",
    "Sample",
    "Task",
    "User",
    "Verdict",
    "VerdictEvent",
]
