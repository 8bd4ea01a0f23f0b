"""Reading endpoints. Of a stored key no more than its last four characters is ever shown."""

from __future__ import annotations

from django.db.models import Count, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.rows import first_or_raise
from annotate.models import Project
from judges.models import Endpoint


def endpoints_of(project: Project) -> QuerySet[Endpoint]:
    """By name, each with `version_count`: how many versions of judges use it. Without the stored keys."""
    found = Endpoint.objects.filter(project=project).defer("key_encrypted")
    return found.annotate(version_count=Count("versions")).order_by("name")


def one_endpoint(project: Project, name: str) -> Endpoint:
    return first_or_raise(endpoints_of(project).filter(name=name), Http404(_("Endpoint not found in this project.")))
