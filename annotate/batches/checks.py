"""What the steps of a batch share: checks of its people, dates and shares, which raise Invalid with a sentence; the
lock that a step begins with; and its entries in the trail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any

from django.db.models import Max
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.batches.proposing import check_proposals, check_withheld
from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import first_or_raise
from annotate.core.texts import is_storable, words_or_raise
from annotate.core.trail import note
from annotate.models import Batch, Criterion, Project, Qualification, User
from annotate.models.batch import BatchStatus, ConsensusRule, Strategy
from annotate.projects.read import active_members

MAX_LEASE_MINUTES = 24 * 60
MAX_SETTLE_VOTES = 1000


def check_name(name: Any) -> str:
    return words_or_raise(name, Invalid("bad_name", _("Enter a batch name of up to 200 characters.")), most=200)


def check_criteria(project: Project, criteria: Sequence[Criterion]) -> None:
    if not criteria:
        raise Invalid("no_criteria", _("Select at least one criterion."))
    for criterion in criteria:
        if criterion.project_id != project.pk or not criterion.is_current:
            said = _("“%(key)s” is not a current criterion of this project.")
            raise Invalid("foreign_criterion", said % {"key": criterion.key})


def check_people(project: Project, annotators: Sequence[User], overlap: int) -> None:
    """Enough people, and active members all of them."""
    if not isinstance(overlap, int) or isinstance(overlap, bool) or overlap < 1:
        raise Invalid("bad_overlap", _("Annotators per sample: must be a whole number, at least 1."))
    if len(annotators) < overlap:
        said = _("%(overlap)d annotators per sample need at least %(overlap)d annotators; %(chosen)d selected.")
        raise Invalid("too_few_annotators", said % {"overlap": overlap, "chosen": len(annotators)})
    check_active(project, annotators)


def check_active(project: Project, users: Iterable[User]) -> None:
    active = active_members(project)
    for user in users:
        if user.pk not in active:
            said = _("%(name)s is not an active member of this project.")
            raise Invalid("not_a_member", said % {"name": user.name})


def earliest_due_date() -> date:
    """Today, where the server is: the first day on which a new batch can be due."""
    return timezone.localdate()


def check_due_date(due_date: date | None) -> None:
    today = earliest_due_date()
    if due_date is not None and due_date < today:
        said = _("The due date %(due)s has passed; today is %(today)s (%(zone)s). Choose today or later.")
        given = {"due": due_date, "today": today, "zone": timezone.get_current_timezone_name()}
        raise Invalid("past_due_date", said % given)


def check_share(share: Any, name: str) -> float:
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise Invalid("bad_share", _("%(name)s: must be a share from 0 to 1.") % {"name": name})
    return float(share)


def check_choice(value: Any, known: Collection[str], name: str) -> str:
    if value not in known:
        raise Invalid(
            f"bad_{name}", _("%(name)s: must be one of %(known)s.") % {"name": name, "known": ", ".join(known)}
        )
    return str(value)


def check_consensus(rule: Any, share: Any, votes: Any) -> dict[str, Any]:
    """The rule that settles a unit; a share and a number of votes belong to a threshold, and to no other rule."""
    rule = check_choice(rule, ConsensusRule.values, "consensus")
    if rule != ConsensusRule.THRESHOLD:
        if share is not None or votes is not None:
            said = _("settle_share and settle_votes apply only to the rule “threshold”.")
            raise Invalid("threshold_of_other_rule", said)
        return {"consensus": rule, "settle_share": None, "settle_votes": None}
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0.5 < share <= 1:
        said = _("Minimum agreement: must be more than half of the labels, and at most all.")
        raise Invalid("bad_settle_share", said)
    if isinstance(votes, bool) or not isinstance(votes, int) or not 1 <= votes <= MAX_SETTLE_VOTES:
        said = _("Minimum number of labels: must be a whole number from 1 to %(most)d.")
        raise Invalid("bad_settle_votes", said % {"most": MAX_SETTLE_VOTES})
    return {"consensus": rule, "settle_share": float(share), "settle_votes": votes}


def check_lease(minutes: Any) -> int:
    if isinstance(minutes, bool) or not isinstance(minutes, int) or not 1 <= minutes <= MAX_LEASE_MINUTES:
        said = _("lease_minutes: must be a whole number from 1 to %(most)d.")
        raise Invalid("bad_lease", said % {"most": MAX_LEASE_MINUTES})
    return minutes


def check_flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise Invalid("bad_flag", _("%(name)s: must be true or false.") % {"name": name})
    return value


def check_tag_key(key: Any) -> str:
    if not is_storable(key) or len(key) > 200:
        raise Invalid("bad_tag_key", _("tag_key: must be a metadata key of the samples."))
    return str(key)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "name": check_name,
    "strategy": lambda value: check_choice(value, Strategy.values, "strategy"),
    "tag_key": check_tag_key,
    **{name: partial(check_share, name=name) for name in ("overlap_share", "gold_share", "repeat_share")},
    "gold_feedback": partial(check_flag, name="gold_feedback"),
    "lease_minutes": check_lease,
    "withheld_share": check_withheld,
}


def check_requires(project: Project, qualification: Qualification | None) -> None:
    if qualification is not None and qualification.project_id != project.pk:
        raise Invalid("foreign_qualification", _("This qualification belongs to another project."))


# What is checked together is given together.
TOGETHER = (("annotators", "overlap"), ("criteria", "proposals"), ("consensus", "settle_share", "settle_votes"))
# All that is asked of a batch beside its samples: as it is created, and as a draft is edited.
SETTINGS = ("due_date", "requires", "single_labels", *_CHECKS, *(name for names in TOGETHER for name in names))


def check_settings(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """Some of SETTINGS: as they were given, or as a Batch stores them. Raises Invalid."""
    found = {**given, **{name: check(given[name]) for name, check in _CHECKS.items() if name in given}}
    if "annotators" in given:
        check_people(project, given["annotators"], given["overlap"])
    if "due_date" in given:
        check_due_date(given["due_date"])
    if "criteria" in given:
        check_criteria(project, given["criteria"])
    if "proposals" in given:
        found["proposals"] = check_proposals(given["criteria"], given["proposals"])
    if "requires" in given:
        check_requires(project, given["requires"])
    if "single_labels" in given:
        check_flag(given["single_labels"], "single_labels")
    if "consensus" in given:
        found |= check_consensus(given["consensus"], given["settle_share"], given["settle_votes"])
    return found


def next_number(project: Project) -> int:
    return (project.batches.aggregate(last=Max("number"))["last"] or 0) + 1


def locked(batch: Batch, *expected: BatchStatus) -> Batch:
    """The batch as it is now, locked, in one of the states that the step can be taken from (none named: in any).
    Raises Http404 when it was deleted meanwhile, and Conflict.

    Without the key: statements that store a reference to the batch need not wait for the step, nor it for them.
    The order of all locks: project, batch, tasks (by id), samples (by id).
    """
    deleted = Http404(_("Batch %(number)d not found in this project.") % {"number": batch.number})
    batch = first_or_raise(Batch.objects.select_for_update(no_key=True).filter(pk=batch.pk), deleted)
    if expected and batch.status not in expected:
        said = _("Batch %(number)d is %(status)s; this step needs a batch that is %(expected)s.")
        names = _(" or ").join(str(status.label).lower() for status in expected)
        given = {"number": batch.number, "status": batch.get_status_display().lower(), "expected": names}
        raise Conflict("wrong_state", said % given)
    return batch


def note_batch(actor: User | None, batch: Batch, what: str, **details: Any) -> None:
    note(
        actor=actor,
        action=f"batch.{what}",
        subject=batch.name,
        project=batch.project,
        number=batch.number,
        **details,
    )
