"""By which criteria answers are judged one by one, and which one is of two answers to a question."""

from __future__ import annotations

from django.db.models import QuerySet

from annotate.models import Criterion, Project
from annotate.projects.read import rated_criteria

# The built-in criterion that asks which of two answers is better.
PREFERENCE = "preference"


def answer_criteria(project: Project) -> QuerySet[Criterion]:
    """What an experiment may have a metric of."""
    return rated_criteria(project).exclude(key=PREFERENCE)
