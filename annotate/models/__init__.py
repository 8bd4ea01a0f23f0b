from annotate.models.batch import Batch, BatchCriterion, BatchSample, Task
from annotate.models.label import Label, LabelEvent
from annotate.models.people import Membership, Rater, User
from annotate.models.project import Criterion, Project
from annotate.models.sample import Sample
from annotate.models.transfer import ImportJob, Release
from annotate.models.verdict import Verdict

__all__ = [
    "Batch",
    "BatchCriterion",
    "BatchSample",
    "Criterion",
    "ImportJob",
    "Label",
    "LabelEvent",
    "Membership",
    "Project",
    "Rater",
    "Release",
    "Sample",
    "Task",
    "User",
    "Verdict",
]
