from annotate.models.account import ApiToken, Attempts, PasswordReset
from annotate.models.audit import AuditSchedule, ScheduledAudit
from annotate.models.batch import Batch, BatchCriterion, BatchSample, DeclaredDraw, Task
from annotate.models.guideline import GuidelineVersion
from annotate.models.label import GoldAnswer, Label, LabelEvent, LessonRead, Verdict, VerdictEvent
from annotate.models.project import AuditEntry, Criterion, Flag, Invite, Membership, Project, Rater, User
from annotate.models.sample import ClaimEdit, Sample
from annotate.models.thread import Thread, ThreadMessage
from annotate.models.transfer import ImportJob, LeftFile, Release
from annotate.models.view import SavedView

__all__ = [
    "ApiToken",
    "Attempts",
    "AuditEntry",
    "AuditSchedule",
    "Batch",
    "BatchCriterion",
    "BatchSample",
    "ClaimEdit",
    "Criterion",
    "DeclaredDraw",
    "Flag",
    "GoldAnswer",
    "GuidelineVersion",
    "ImportJob",
    "Invite",
    "Label",
    "LabelEvent",
    "LeftFile",
    "LessonRead",
    "Membership",
    "PasswordReset",
    "Project",
    "Rater",
    "Release",
    "Sample",
    "SavedView",
    "ScheduledAudit",
    "Task",
    "Thread",
    "ThreadMessage",
    "User",
    "Verdict",
    "VerdictEvent",
]
