from annotate.models.account import (
    ApiToken,
    Attempts,
    DeletedAccount,
    Identity,
    PasswordReset,
    Scope,
    SecondFactor,
)
from annotate.models.audit import AuditSchedule, ScheduledAudit
from annotate.models.batch import Batch, BatchCriterion, BatchSample, DeclaredDraw, ProposedValues, Task
from annotate.models.guideline import GuidelineImage, GuidelineVersion
from annotate.models.job import Job
from annotate.models.label import GoldAnswer, Label, LabelEvent, LessonRead, Verdict, VerdictEvent
from annotate.models.project import AuditChain, AuditEntry, Criterion, Flag, Invite, Membership, Project, Rater, User
from annotate.models.qualification import Candidate, Qualification, Try
from annotate.models.sample import ClaimEdit, Sample
from annotate.models.thread import Thread, ThreadMessage
from annotate.models.transfer import ImportJob, LeftFile, Release, UploadPart
from annotate.models.view import SavedView

__all__ = [
    "ApiToken",
    "Attempts",
    "AuditChain",
    "AuditEntry",
    "AuditSchedule",
    "Batch",
    "BatchCriterion",
    "BatchSample",
    "Candidate",
    "ClaimEdit",
    "Criterion",
    "DeclaredDraw",
    "DeletedAccount",
    "Flag",
    "GoldAnswer",
    "GuidelineImage",
    "GuidelineVersion",
    "Identity",
    "ImportJob",
    "Invite",
    "Job",
    "Label",
    "LabelEvent",
    "LeftFile",
    "LessonRead",
    "Membership",
    "PasswordReset",
    "Project",
    "ProposedValues",
    "Qualification",
    "Rater",
    "Release",
    "Sample",
    "SavedView",
    "ScheduledAudit",
    "Scope",
    "SecondFactor",
    "Task",
    "Thread",
    "ThreadMessage",
    "Try",
    "UploadPart",
    "User",
    "Verdict",
    "VerdictEvent",
]
