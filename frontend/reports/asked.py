"""The criterion that a page of figures is asked for."""

from __future__ import annotations

from django.http import Http404

from annotate.core.errors import Invalid
from annotate.models import Criterion, Project
from annotate.projects.read import one_rated_criterion


def asked_criterion(project: Project, key: str) -> Criterion:
    """Raises Http404, with the reason also for free text: no link leads to a page of its figures."""
    try:
        return one_rated_criterion(project, key)
    except Invalid as refusal:
        raise Http404(refusal.message) from None
