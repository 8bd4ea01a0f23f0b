"""The rows of the trail as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import TextChoices
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from annotate.core.units import KIND_ORDER, parse_unit
from annotate.models.batch import HowDeclared
from annotate.models.label import VerdictMethod
from annotate.models.project import Role
from annotate.models.transfer import ImportKind
from annotate.projects.trail_read import CLAIMS, LABELS, VERDICTS, Happening
from frontend.base.spelling import rounded
from judges.models import Measure

# Of what was noted: the sentence; subject and details are its parts. What is not here is shown as it was written.
NOTED = {
    "adjudication.names_shown": gettext_noop("had names shown to them on the pages of disputed units."),
    "adjudication.names_hidden": gettext_noop("had names hidden from them again on the pages of disputed units."),
    "project.created": gettext_noop("made the project “%(subject)s”."),
    "project.changed": gettext_noop("changed the project: %(fields)s."),
    "member.added": gettext_noop("added %(subject)s as %(role)s."),
    "member.role_changed": gettext_noop("made %(subject)s %(role)s; before: %(before)s."),
    "member.removed": gettext_noop("took %(subject)s out of the project."),
    "member.tags_changed": gettext_noop("changed the expertise of %(subject)s from “%(before)s” to “%(after)s”."),
    "member.deactivated": gettext_noop("ended the membership of %(subject)s; open tasks handed on: %(tasks)s."),
    "member.reactivated": gettext_noop("let %(subject)s take part again."),
    "member.reset_created": gettext_noop("created a password reset link for %(subject)s."),
    "member.reset_used": gettext_noop("set a new password by a reset link."),
    "invite.created": gettext_noop("made invitation %(subject)s: as %(role)s, people: %(max_uses)s."),
    "invite.accepted": gettext_noop("joined as %(role)s by invitation %(subject)s."),
    "invite.revoked": gettext_noop("took invitation %(subject)s back."),
    "criterion.added": gettext_noop("added the criterion %(subject)s."),
    "criterion.changed": gettext_noop("changed the criterion %(subject)s, which nobody had used yet: %(fields)s."),
    "criterion.versioned": gettext_noop("made version %(version)s of the criterion %(subject)s: %(fields)s."),
    "criterion.relabelled": gettext_noop(
        "carried %(carried)s labels of %(subject)s from version %(before)s to %(version)s; %(asked)s are asked anew."
    ),
    "criterion.required": gettext_noop(
        "said what a judge must show on %(subject)s: %(measure)s at least %(bar)s; alone, of each kind %(risk)s "
        "wrong at most; scored, at least %(coverage)s; looks taken before: %(looks)s."
    ),
    "batch.created": gettext_noop("made batch %(number)s, “%(subject)s”, of %(samples)s samples."),
    "batch.opened": gettext_noop("opened batch %(number)s, “%(subject)s”: %(tasks)s tasks."),
    "batch.adjudicating": gettext_noop("ended the labelling of batch %(number)s, “%(subject)s”."),
    "batch.closed": gettext_noop("closed batch %(number)s, “%(subject)s”."),
    "batch.reopened": gettext_noop("reopened batch %(number)s, “%(subject)s”."),
    "batch.deleted": gettext_noop("deleted batch %(number)s, “%(subject)s”."),
    "batch.paused": gettext_noop("paused batch %(number)s, “%(subject)s”."),
    "batch.resumed": gettext_noop("let batch %(number)s, “%(subject)s”, go on."),
    "batch.single_labels_count": gettext_noop(
        "said that single labels settle units of batch %(number)s, “%(subject)s”."
    ),
    "batch.single_labels_discounted": gettext_noop(
        "said that single labels no longer settle units of batch %(number)s, “%(subject)s”."
    ),
    "batch.extended": gettext_noop("extended batch %(number)s, “%(subject)s”."),
    "task.returned": gettext_noop("sent a task back (%(subject)s): %(message)s"),
    "task.reassigned": gettext_noop("handed a task on to %(to)s (%(subject)s); before: %(of)s."),
    "task.released": gettext_noop("took a task from %(of)s (%(subject)s)."),
    "tasks.handed_on": gettext_noop("handed on the open tasks of %(subject)s: %(tasks)s."),
    "gold.set": gettext_noop("made an answer known (%(subject)s, %(criterion)s): %(value)s."),
    "gold.imported": gettext_noop("sent known answers: %(rows)s, of which new or different: %(changed)s."),
    "gold.drawn": gettext_noop("drew known answers for %(subject)s from verdicts: %(answers)s."),
    "gold.removed": gettext_noop("took a known answer back (%(subject)s, %(criterion)s): %(value)s."),
    "flag.resolved": gettext_noop("resolved a flag on %(subject)s: %(resolution)s"),
    "sample.abstained": gettext_noop("said that the answer of %(subject)s abstains."),
    "sample.answered": gettext_noop("said that the answer of %(subject)s doesn’t abstain."),
    "import.done": gettext_noop("imported %(kind)s from %(subject)s: %(rows)s rows."),
    "import.failed": gettext_noop("tried to import %(kind)s from %(subject)s: refused, %(errors)s errors."),
    "verdicts.settled": gettext_noop(
        "settled %(subject)s, version %(version)s, from %(needed)s labels: %(written)s verdicts."
    ),
    "labels.declared": gettext_noop("said how the samples of %(subject)s came that were labelled elsewhere: %(how)s."),
    "verdicts.accepted": gettext_noop("settled disputed units at once (%(method)s): %(settled)s."),
    "release.created": gettext_noop("made release %(subject)s (%(format)s): %(rows)s rows."),
    "release.downloaded": gettext_noop("downloaded release %(subject)s (%(format)s)."),
    "token.created": gettext_noop("made the token %(subject)s…"),
    "token.revoked": gettext_noop("revoked the token %(subject)s…"),
    "endpoint.added": gettext_noop("added the endpoint %(subject)s: %(base_url)s."),
    "endpoint.changed": gettext_noop("changed the endpoint %(subject)s, %(base_url)s: %(fields)s."),
    "endpoint.deleted": gettext_noop("deleted the endpoint %(subject)s."),
    "judge.created": gettext_noop("made the judge “%(subject)s”."),
    "judge.version_added": gettext_noop("made version %(label)s of the judge “%(subject)s”."),
    "judge.version_kept": gettext_noop("took version %(label)s of the judge “%(subject)s” into use."),
    "judge.version_dropped": gettext_noop("took version %(label)s of the judge “%(subject)s” out of use."),
    "judge.version_tried_again": gettext_noop("put version %(label)s of the judge “%(subject)s” on trial again."),
    "run.started": gettext_noop("started run %(run)s: the judge “%(subject)s”, version %(version)s."),
    "run.paused": gettext_noop("paused run %(run)s of the judge “%(subject)s”."),
    "run.resumed": gettext_noop("let run %(run)s of the judge “%(subject)s” go on."),
    "run.cancelled": gettext_noop("cancelled run %(run)s of the judge “%(subject)s”."),
    "run.claims_taken": gettext_noop(
        "took over the claims that run %(run)s of the judge “%(subject)s” proposed for %(samples)s samples."
    ),
    "run.stopped": gettext_noop("stopped run %(run)s of the judge “%(subject)s”, which could not go on (%(code)s)."),
    "judge.direction_set": gettext_noop("said which way the scores of %(subject)s go."),
    "trial.started": gettext_noop(
        "tried version %(version)s of %(subject)s against version %(base)s on %(criterion)s: %(samples)s dev samples."
    ),
    "test.looked": gettext_noop("looked at the test part of %(subject)s with %(judge)s: look %(number)s."),
    "certificate.issued": gettext_noop("certified %(judge)s for %(criterion)s: certificate %(subject)s."),
    "report.made": gettext_noop("had report %(number)s on %(subject)s, version %(version)s, made."),
}

KIND_LABELS = {
    LABELS: gettext_lazy("Labels"),
    VERDICTS: gettext_lazy("Verdicts"),
    CLAIMS: gettext_lazy("Claims edited"),
    "verdicts": gettext_lazy("Settling"),
    "adjudication": gettext_lazy("Names shown"),
    "batch": gettext_lazy("Batches"),
    "certificate": gettext_lazy("Certificates"),
    "criterion": gettext_lazy("Criteria"),
    "endpoint": gettext_lazy("Endpoints"),
    "flag": gettext_lazy("Flags"),
    "gold": gettext_lazy("Known answers"),
    "import": gettext_lazy("Imports"),
    "labels": gettext_lazy("Labels made elsewhere"),
    "invite": gettext_lazy("Invitations"),
    "judge": gettext_lazy("Judges"),
    "member": gettext_lazy("Members"),
    "project": gettext_lazy("Project"),
    "release": gettext_lazy("Releases"),
    "report": gettext_lazy("Reports"),
    "run": gettext_lazy("Runs"),
    "sample": gettext_lazy("Answers that abstain"),
    "task": gettext_lazy("Tasks"),
    "tasks": gettext_lazy("Tasks handed on"),
    "test": gettext_lazy("Looks at test"),
    "token": gettext_lazy("Tokens"),
    "trial": gettext_lazy("Trials"),
}

# Of a change of claims: its operation.
CLAIM_EDITS = {
    "imported": gettext_noop("kept the claims of %(sample)s as they were before the first change"),
    "split": gettext_noop("split a claim of %(sample)s"),
    "merge": gettext_noop("merged two claims of %(sample)s"),
    "edit": gettext_noop("edited a claim of %(sample)s"),
    "move": gettext_noop("moved the bounds of a claim of %(sample)s"),
    "add": gettext_noop("added a claim to %(sample)s"),
    "drop": gettext_noop("dropped a claim of %(sample)s"),
    "restore": gettext_noop("restored a claim of %(sample)s"),
    "split_again": gettext_noop("split the answer of %(sample)s into sentences again"),
    "replace": gettext_noop("replaced the claims of %(sample)s"),
    "restore_revision": gettext_noop("took the claims of %(sample)s back to an earlier state"),
    "checked": gettext_noop("checked the claims of %(sample)s"),
}

# Details whose values have a name, by the detail's name.
_CHOICES: dict[str, type[TextChoices]] = {
    "role": Role, "before": Role, "kind": ImportKind, "method": VerdictMethod, "measure": Measure, "how": HowDeclared,
}  # fmt: skip

# Entries whose subject is a criterion.
_ABOUT_CRITERION = ("criterion.", "report.made", "test.looked", "labels.declared", "verdicts.settled", "gold.drawn")

_UNITS = {
    "claim": gettext_noop("claim %(n)d"),
    "context": gettext_noop("context %(n)d"),
    "fact": gettext_noop("key fact %(n)d"),
    "entity": gettext_noop("entity %(n)d"),
    "answer": gettext_noop("the answer"),
    "sample": gettext_noop("the sample"),
}


def who(row: Happening) -> str:
    return row.actor.name if row.actor else (_("The rule") if row.log == VERDICTS else _("The command line"))


def sentence(row: Happening, names: Mapping[str, str], *, of_unit: bool = False) -> str:
    """What was done, without who did it: that stands before it, set apart. names: of criteria, by their keys. of_unit:
    where the unit is known already."""
    if row.log == LABELS:
        return _label(row, of_unit)
    if row.log == VERDICTS:
        return _verdict(row, of_unit)
    return _claims(row) if row.log == CLAIMS else _noted(row, names)


def unit_words(unit: str) -> str:
    """As people count: claim:1 is claim 2."""
    kind, index = parse_unit(unit)
    assert kind in KIND_ORDER
    return _(_UNITS[kind]) % {"n": (index or 0) + 1}


def _about(row: Happening, of_unit: bool) -> dict[str, Any]:
    parts = {**row.details, "unit": unit_words(row.details["unit"]), "criterion": row.details["criterion_name"]}
    of_what = "%(criterion)s" if of_unit else _("%(unit)s of %(sample)s on %(criterion)s")
    return {**parts, "what": of_what % parts}


def _label(row: Happening, of_unit: bool) -> str:
    said = {**_about(row, of_unit), "value": _value(row.details), "before": _shown(row.details["before"])}
    if row.action == "label.carried":
        text = _("carried the label of %(rater)s on %(what)s over to version %(version)s")
    elif not row.details["own"]:
        text = _("brought in the label of %(rater)s on %(what)s")
    else:
        text = _("labelled %(what)s")
    if row.details["revision"] > 1 and not _is_held_back(row.details):
        return (text + ": %(before)s → %(value)s") % said
    return (text + ": %(value)s") % said


def _is_held_back(details: Mapping[str, Any]) -> bool:
    """What was said is not told to this reader; why, stands beside it."""
    return bool(details.get("held_back"))


def _value(details: Mapping[str, Any]) -> str:
    if _is_held_back(details):
        return _("(held back)")
    return _("can't tell") if details.get("cant_tell") else _shown(details["value"])


def _shown(value: Any) -> str:
    return _("nothing chosen") if value is None else str(rounded(value))


def _verdict(row: Happening, of_unit: bool) -> str:
    said = {**_about(row, of_unit), "value": _value(row.details)}
    if row.action == "verdict.disputed":
        text = _("left %(what)s to the reviewers: %(votes)s labels don't settle it")
    elif row.action == "verdict.reopened":
        text = _("reopened %(what)s: a label changed after the decision (%(value)s)")
    elif row.actor is None:
        text = _("settled %(what)s: %(value)s")
    elif row.details["revision"] == 1:
        # A reviewer decides about what stands there already; a first state that is theirs was carried over.
        text = _("had decided %(what)s, and it holds for version %(version)s: %(value)s")
    else:
        text = _("decided %(what)s: %(value)s")
    return text % said


def _claims(row: Happening) -> str:
    operation = row.details["change"]["op"]
    return _(CLAIM_EDITS[operation]) % row.details


def _noted(row: Happening, names: Mapping[str, str]) -> str:
    parts = {name: _named(name, value) for name, value in row.details.items()}
    if "criterion" in parts:
        parts["criterion"] = names.get(parts["criterion"], parts["criterion"])
    subject = names.get(row.subject, row.subject) if row.action.startswith(_ABOUT_CRITERION) else row.subject
    if _is_held_back(row.details):
        parts["value"] = _value(row.details)
    try:
        return _(NOTED[row.action]) % {**parts, "subject": subject}
    except KeyError:
        listed = ", ".join(f"{name}: {value}" for name, value in parts.items())
        return f"{row.action}: {subject}" + (f" ({listed})" if listed else "")


def _named(name: str, value: Any) -> str:
    choices = _CHOICES.get(name)
    if choices is not None and value in choices.values:
        label = str(choices(value).label)
        # A proper name keeps its capitals.
        return label if value == VerdictMethod.DAWID_SKENE else label.lower()
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return _("nobody") if value is None else str(rounded(value))
