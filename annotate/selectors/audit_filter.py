"""What somebody asks of the trail, as texts of a form or a query string."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.errors import Invalid
from annotate.models import Project, Sample, User
from annotate.selectors.audit import TrailFilter

PARAMETERS = ("person", "kind", "sample", "since", "until")


def read_filter(
    project: Project, *, person: str = "", kind: str = "", sample: str = "", since: str = "", until: str = ""
) -> TrailFilter:
    """person: a user name; sample: its own id; since, until: a day or a moment, a day counted in whole where the server
    is. Raises Invalid for what the project doesn't have and for what is no day."""
    return TrailFilter(
        person=_person(person) if person else None,
        kind=kind or None,
        sample=_sample(project, sample) if sample else None,
        since=_moment(since, "since") if since else None,
        until=_moment(until, "until", end=True) if until else None,
    )


def _person(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise Invalid("unknown_user", _("There is no account “%(name)s”.") % {"name": name[:80]})
    return user


def _sample(project: Project, name: str) -> Sample:
    sample = Sample.objects.filter(project=project, external_id=name).first()
    if sample is None:
        raise Invalid("unknown_sample", _("This project has no sample “%(name)s”.") % {"name": name[:80]})
    return sample


def _moment(text: str, name: str, *, end: bool = False) -> datetime:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            raise Invalid("bad_date", _("%(name)s: a day such as 2026-12-31.") % {"name": name}) from error
        return moment if moment.tzinfo else timezone.make_aware(moment)
    try:
        return timezone.make_aware(datetime.combine(day + timedelta(days=end), time()))
    except OverflowError as error:
        raise Invalid("bad_date", _("%(name)s: a day such as 2026-12-31.") % {"name": name}) from error
