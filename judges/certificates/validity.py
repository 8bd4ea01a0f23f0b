"""Whether a judge's certificate is still valid: no more once judge or criterion changed, the test half was looked at
with it again, what a look promises has changed, or the judge has drifted, or may have. That rule's one home; and how
looks are counted."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Max, QuerySet

from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import first_or_raise
from annotate.models import Criterion, Project
from annotate.projects.read import criterion_named
from judges.certificates.drift_read import Drift, drift_of, drift_sentence
from judges.core.scores_read import current_version
from judges.models import Certificate, Judge, Look


@dataclass(frozen=True, slots=True)
class Validity:
    """A judge's latest certificate for a criterion, and why it isn't valid (a code and a sentence); None when it is.
    drift: it is watched as long as judge and criterion are the certified ones."""

    criterion: Criterion
    judge: Judge
    certificate: Certificate | None
    drift: Drift | None
    why: tuple[str, str] | None

    @property
    def valid(self) -> Certificate:
        """The certificate, where `why` is None."""
        assert self.certificate is not None
        return self.certificate


def certificate_validity(
    *, project: Project, criterion_key: str, judge_name: str, dimension: str | None = None
) -> Validity:
    """The judge's latest certificate for the criterion, of any version of both, so that what changed is told from what
    was never certified.

    Raises Invalid for an unknown criterion or judge, and for a judge that was certified for several things of which
    none is named.
    """
    criterion = criterion_named(project, criterion_key)
    unknown = Invalid("unknown_judge", f"“{project.slug}” has no judge “{judge_name}”.")
    judge = first_or_raise(Judge.objects.filter(project=project, name=judge_name), unknown)
    certificate = _latest(criterion, judge, dimension)
    if certificate is None:
        what = f"“{judge.name}”" if dimension is None else f"“{dimension}” of “{judge.name}”"
        sentence = f"{what} has no certificate for “{criterion.key}”."
        return Validity(criterion, judge, None, None, ("no_certificate", sentence))
    why = _changed(criterion, judge, certificate) or _out_of_date(certificate) or _looked_since(certificate)
    drift = None
    if why is None:
        drift = drift_of(certificate)
        if drift.alarm is not None:
            why = "drift", f"Certificate {certificate.number} no longer holds. {drift_sentence(drift)}"
        elif drift.streaks:
            unclear = f"Whether certificate {certificate.number} still holds cannot be told."
            why = "drift_or_streak", f"{unclear} {drift_sentence(drift)}"
    return Validity(criterion, judge, certificate, drift, why)


def valid_certificate(
    *, project: Project, criterion_key: str, judge_name: str, dimension: str | None = None
) -> Certificate:
    """The judge's latest certificate for the criterion. Raises Conflict, in the gate's words, when it isn't valid, and
    Invalid as `certificate_validity`."""
    found = certificate_validity(
        project=project, criterion_key=criterion_key, judge_name=judge_name, dimension=dimension
    )
    if found.why is not None:
        raise Conflict(*found.why)
    return found.valid


def next_look(criterion: Criterion) -> int:
    """The number that the next look at the criterion would have, with whichever judge."""
    last = _ledger(criterion).aggregate(last=Max("number"))["last"]
    return (last or 0) + 1


def later_look(look: Look) -> Look | None:
    """The latest look with the same judge at the same thing, where it came after this one."""
    looks = _ledger(look.criterion).filter(judge=look.judge, dimension=look.dimension)
    return looks.filter(number__gt=look.number).defer("samples").first()


def _ledger(criterion: Criterion) -> QuerySet[Look]:
    """Every look at the criterion, of any version and with any judge, the latest first."""
    return Look.objects.filter(project=criterion.project_id, criterion_key=criterion.key)


def _out_of_date(certificate: Certificate) -> tuple[str, str] | None:
    look = certificate.look
    if not look.is_out_of_date:
        return None
    return "out_of_date", (
        f"Certificate {certificate.number} rests on look {look.number}, which was taken before what a look promises "
        "changed: look again, and certify that look."
    )


def _looked_since(certificate: Certificate) -> tuple[str, str] | None:
    """The judge's latest look at the same thing has shown more than the one that was certified."""
    later = later_look(certificate.look)
    if later is None:
        return None
    sentence = f"Look {later.number} at test came after certificate {certificate.number}: certify that one."
    return "looked_since", sentence


def _latest(criterion: Criterion, judge: Judge, dimension: str | None) -> Certificate | None:
    found = Certificate.objects.filter(
        look__criterion__project_id=criterion.project_id, look__criterion__key=criterion.key, look__judge=judge
    )
    if dimension is not None:
        found = found.filter(look__dimension=dimension)
    names = sorted(found.order_by().values_list("look__dimension", flat=True).distinct())
    if len(names) > 1:
        raise Invalid(
            "unclear_dimension", f"“{judge.name}” was certified for {', '.join(names)}: say which one is meant."
        )
    parts = ("look__criterion__project", "look__judge", "look__version", "created_by")
    # Which samples a look rests on is long, and seldom asked for.
    return found.select_related(*parts).defer("look__samples").first()


def _changed(criterion: Criterion, judge: Judge, certificate: Certificate) -> tuple[str, str] | None:
    look, named = certificate.look, f"Certificate {certificate.number}"
    if look.criterion_id != criterion.pk:
        certified = f"{named} is for version {look.criterion.version} of “{criterion.key}”"
        return "criterion_changed", f"{certified}, which is now at version {criterion.version}."
    current = current_version(judge)
    if current is None or current.content_hash != certificate.judge_hash:
        now = "without a version in use" if current is None else f"“{current.label}”"
        if current is not None and current.label == look.version.label:
            now = f"{now}, with another configuration"
        certified = f"{named} is for version “{look.version.label}” of “{judge.name}”"
        return "judge_changed", f"{certified}, which is now {now}."
    return None
