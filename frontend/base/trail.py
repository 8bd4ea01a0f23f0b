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
from systems.models import Holds

# Of what was noted: the sentence; subject and details are its parts. What is not here is shown as it was written.
NOTED = {
    "adjudication.names_shown": gettext_noop("turned annotator names on for adjudication."),
    "adjudication.names_hidden": gettext_noop("turned annotator names off for adjudication."),
    "project.created": gettext_noop("created the project “%(subject)s”."),
    "project.changed": gettext_noop("changed the project: %(fields)s."),
    "project.archived": gettext_noop("archived the project; open batches paused: %(batches)s."),
    "project.deletion_started": gettext_noop("started to delete the project."),
    "project.delete_failed": gettext_noop("could not delete the project “%(subject)s”: nothing was deleted."),
    "project.deleted": gettext_noop("deleted the project “%(subject)s” with all its data."),
    "project.restored": gettext_noop("unarchived the project."),
    "guidelines.changed": gettext_noop("saved version %(version)s of the guidelines. %(note)s"),
    "guidelines.image_added": gettext_noop(
        "uploaded an image for the guidelines: %(width)s × %(height)s pixels, %(bytes)s bytes."
    ),
    "member.added": gettext_noop("added %(subject)s as %(role)s."),
    "member.role_changed": gettext_noop("changed the role of %(subject)s from %(before)s to %(role)s."),
    "member.removed": gettext_noop("removed %(subject)s from the project."),
    "member.tags_changed": gettext_noop("changed the expertise of %(subject)s from “%(before)s” to “%(after)s”."),
    "member.deactivated": gettext_noop("deactivated %(subject)s; open tasks reassigned: %(tasks)s."),
    "member.reactivated": gettext_noop("reactivated %(subject)s."),
    "member.reset_created": gettext_noop("created a password reset link for %(subject)s."),
    "member.reset_used": gettext_noop("set a new password by a reset link."),
    "invite.created": gettext_noop("created invitation %(subject)s: role %(role)s, uses %(max_uses)s."),
    "invite.accepted": gettext_noop("joined as %(role)s with invitation %(subject)s."),
    "invite.revoked": gettext_noop("revoked invitation %(subject)s."),
    "criterion.added": gettext_noop("added the criterion %(subject)s."),
    "criterion.changed": gettext_noop("changed the unused criterion %(subject)s: %(fields)s."),
    "criterion.versioned": gettext_noop("created version %(version)s of the criterion %(subject)s: %(fields)s."),
    "criterion.relabelled": gettext_noop(
        "carried %(carried)s labels of %(subject)s over from version %(before)s to %(version)s; "
        "%(asked)s are asked again."
    ),
    "criterion.required": gettext_noop(
        "set the minimum for judges on %(subject)s: %(measure)s at least %(bar)s; of automatic "
        "decisions, at most %(risk)s wrong per kind; share scored, at least %(coverage)s; "
        "earlier test evaluations: %(looks)s."
    ),
    "batch.created": gettext_noop("created batch %(number)s, “%(subject)s”, with %(samples)s samples."),
    "batch.edited": gettext_noop("edited batch %(number)s, “%(subject)s”."),
    "batch.opened": gettext_noop("opened batch %(number)s, “%(subject)s”: %(tasks)s tasks."),
    "batch.adjudicating": gettext_noop("ended the labelling of batch %(number)s, “%(subject)s”."),
    "batch.closed": gettext_noop("closed batch %(number)s, “%(subject)s”."),
    "batch.reopened": gettext_noop("reopened batch %(number)s, “%(subject)s”."),
    "batch.deleted": gettext_noop("deleted batch %(number)s, “%(subject)s”."),
    "batch.paused": gettext_noop("paused batch %(number)s, “%(subject)s”."),
    "batch.resumed": gettext_noop("resumed batch %(number)s, “%(subject)s”."),
    "batch.single_labels_count": gettext_noop("let single labels resolve units of batch %(number)s, “%(subject)s”."),
    "batch.single_labels_discounted": gettext_noop(
        "stopped single labels from resolving units of batch %(number)s, “%(subject)s”."
    ),
    "batch.extended": gettext_noop("extended batch %(number)s, “%(subject)s”."),
    "schedule.created": gettext_noop("set up the audit schedule “%(subject)s”; first batch on %(on)s."),
    "schedule.changed": gettext_noop("changed the audit schedule “%(subject)s”: %(fields)s."),
    "schedule.paused": gettext_noop("paused the audit schedule “%(subject)s”."),
    "schedule.resumed": gettext_noop("resumed the audit schedule “%(subject)s”."),
    "schedule.ended": gettext_noop("ended the audit schedule “%(subject)s”."),
    "schedule.empty": gettext_noop("found no new samples on %(on)s and made no batch."),
    "schedule.stuck": gettext_noop("could not make a batch: %(why)s."),
    "qualification.created": gettext_noop("created the qualification “%(subject)s”: kappa at least %(kappa)s."),
    "qualification.joined": gettext_noop("added people to the qualification “%(subject)s”: %(people)s."),
    "qualification.tested": gettext_noop("finished a test of “%(subject)s”: kappa %(kappa)s."),
    "qualification.try_granted": gettext_noop("gave %(to)s another try at “%(subject)s”."),
    "qualification.waived": gettext_noop("qualified %(to)s in “%(subject)s” without a test: %(reason)s"),
    "qualification.withdrawn": gettext_noop(
        "withdrew “%(subject)s” from %(to)s: %(reason)s Open tasks reassigned: %(tasks)s."
    ),
    "qualification.ended": gettext_noop("ended the qualification “%(subject)s”."),
    "task.returned": gettext_noop("sent a task back (%(subject)s): %(message)s"),
    "task.reassigned": gettext_noop("reassigned a task to %(to)s (%(subject)s); before: %(of)s."),
    "task.released": gettext_noop("released a task of %(of)s (%(subject)s)."),
    "tasks.handed_on": gettext_noop("reassigned the open tasks of %(subject)s: %(tasks)s."),
    "gold.set": gettext_noop("set a known answer (%(subject)s, %(criterion)s): %(value)s."),
    "gold.imported": gettext_noop("imported known answers: %(rows)s, new or changed: %(changed)s."),
    "gold.drawn": gettext_noop("drew known answers for %(subject)s from verdicts: %(answers)s."),
    "gold.removed": gettext_noop("removed a known answer (%(subject)s, %(criterion)s): %(value)s."),
    "flag.resolved": gettext_noop("resolved a flag on %(subject)s: %(resolution)s"),
    "thread.asked": gettext_noop("asked about %(subject)s: %(message)s"),
    "thread.answered": gettext_noop("answered a question about %(subject)s: %(message)s"),
    "thread.closed": gettext_noop("closed a question about %(subject)s."),
    "thread.reopened": gettext_noop("reopened a question about %(subject)s."),
    "sample.abstained": gettext_noop("marked the answer of %(subject)s as an abstention."),
    "sample.answered": gettext_noop("marked the answer of %(subject)s as not an abstention."),
    "view.shared": gettext_noop("shared the view “%(subject)s” of samples."),
    "view.changed": gettext_noop("changed the shared view “%(subject)s” of samples."),
    "view.unshared": gettext_noop("stopped sharing the view “%(subject)s” of samples."),
    "view.deleted": gettext_noop("deleted the shared view “%(subject)s” of samples, saved by %(of)s."),
    "units_view.shared": gettext_noop("shared the view “%(subject)s” of units."),
    "units_view.changed": gettext_noop("changed the shared view “%(subject)s” of units."),
    "units_view.unshared": gettext_noop("stopped sharing the view “%(subject)s” of units."),
    "units_view.deleted": gettext_noop("deleted the shared view “%(subject)s” of units, saved by %(of)s."),
    "version.created": gettext_noop("created the system version %(subject)s."),
    "version.changed": gettext_noop("changed the system version %(subject)s: %(fields)s."),
    "questions.confirmed": gettext_noop(
        "confirmed questions that several versions answered: %(questions)s questions, %(responses)s responses."
    ),
    "set.frozen": gettext_noop("froze the test set %(subject)s: %(questions)s questions."),
    "pool.created": gettext_noop(
        "pooled %(passages)s passages that %(versions)s retrieved for %(questions)s questions of %(subject)s: batch "
        "%(batch)s."
    ),
    "relevance.decided": gettext_noop(
        "decided whether the document %(document)s is relevant to the question %(subject)s: %(holds)s."
    ),
    "experiment.created": gettext_noop("created the experiment %(subject)s: %(primary)s decides."),
    "experiment.rule_changed": gettext_noop(
        "changed the rule of the experiment %(subject)s: %(primary)s decides, %(labels_before)s answers were labelled."
    ),
    "experiment.drawn": gettext_noop(
        "drew %(questions)s questions of the experiment %(subject)s to be labelled: batch %(batch)s."
    ),
    "experiment.pairs_drawn": gettext_noop(
        "drew %(questions)s questions of the experiment %(subject)s, to compare answers of %(version)s with the "
        "baseline’s: batch %(batch)s."
    ),
    "diagnosis.mapped": gettext_noop("changed which criteria the diagnosis goes by."),
    "bands.changed": gettext_noop("changed the bands and targets of metrics: %(metrics)s."),
    "experiment.figures": gettext_noop("created figures of the experiment %(subject)s by rule %(rule)s."),
    "import.done": gettext_noop("imported %(kind)s from %(subject)s: %(rows)s rows."),
    "import.failed": gettext_noop("tried to import %(kind)s from %(subject)s: %(errors)s errors, nothing imported."),
    "verdicts.settled": gettext_noop(
        "created verdicts for %(subject)s, version %(version)s, from imported labels (at least "
        "%(needed)s each): %(written)s."
    ),
    "labels.declared": gettext_noop("stated how the samples labelled elsewhere for %(subject)s were chosen: %(how)s."),
    "verdicts.accepted": gettext_noop("resolved disputed units in bulk (%(method)s): %(settled)s."),
    "release.created": gettext_noop("created release %(subject)s (%(format)s): %(rows)s rows."),
    "release.downloaded": gettext_noop("downloaded release %(subject)s (%(format)s)."),
    "token.created": gettext_noop("created the token %(subject)s…"),
    "token.revoked": gettext_noop("revoked the token %(subject)s…"),
    "target.set": gettext_noop("said how %(subject)s is asked, at the endpoint %(endpoint)s: %(fields)s."),
    "target.removed": gettext_noop("removed the target of %(subject)s."),
    "asking.started": gettext_noop(
        "started run %(run)s, which asks version %(subject)s the questions of %(set)s: %(planned)s to ask."
    ),
    "asking.paused": gettext_noop("paused run %(run)s, which asks version %(subject)s."),
    "asking.resumed": gettext_noop("resumed run %(run)s, which asks version %(subject)s."),
    "asking.cancelled": gettext_noop("cancelled run %(run)s, which asks version %(subject)s."),
    "asking.done": gettext_noop("ended run %(run)s: version %(subject)s was asked everything."),
    "asking.stopped": gettext_noop(
        "stopped run %(run)s, which asks version %(subject)s: it could not continue (%(code)s)."
    ),
    "endpoint.added": gettext_noop("added the endpoint %(subject)s: %(base_url)s."),
    "endpoint.changed": gettext_noop("changed the endpoint %(subject)s, %(base_url)s: %(fields)s."),
    "endpoint.deleted": gettext_noop("deleted the endpoint %(subject)s."),
    "judge.created": gettext_noop("created the judge “%(subject)s”."),
    "judge.version_added": gettext_noop("created version %(label)s of the judge “%(subject)s”."),
    "judge.version_kept": gettext_noop("activated version %(label)s of the judge “%(subject)s”."),
    "judge.version_dropped": gettext_noop("discarded version %(label)s of the judge “%(subject)s”."),
    "judge.version_tried_again": gettext_noop("made version %(label)s of the judge “%(subject)s” experimental again."),
    "run.started": gettext_noop("started run %(run)s: the judge “%(subject)s”, version %(version)s."),
    "run.paused": gettext_noop("paused run %(run)s of the judge “%(subject)s”."),
    "run.resumed": gettext_noop("resumed run %(run)s of the judge “%(subject)s”."),
    "run.cancelled": gettext_noop("cancelled run %(run)s of the judge “%(subject)s”."),
    "run.claims_taken": gettext_noop(
        "accepted the claims that run %(run)s of the judge “%(subject)s” proposed for %(samples)s samples."
    ),
    "run.stopped": gettext_noop("stopped run %(run)s of the judge “%(subject)s”: it could not continue (%(code)s)."),
    "judge.direction_set": gettext_noop("set the score direction of %(subject)s."),
    "trial.started": gettext_noop(
        "started a trial on %(criterion)s: version %(version)s of %(subject)s against version "
        "%(base)s, %(samples)s dev samples."
    ),
    "alignment.started": gettext_noop(
        "started to align version %(version)s of %(subject)s with labels on %(criterion)s: %(units)s dev units."
    ),
    "alignment.rule_decided": gettext_noop("decided rule %(rule)s of an alignment of %(subject)s: %(state)s."),
    "test.looked": gettext_noop("evaluated %(judge)s on the test set of %(subject)s: test evaluation %(number)s."),
    "test.looked_at_cascade": gettext_noop(
        "evaluated %(judge)s, then %(then)s on the test set of %(subject)s: test evaluation %(number)s."
    ),
    "certificate.issued": gettext_noop("certified %(judge)s for %(criterion)s: certificate %(subject)s."),
    "certificate.ended": gettext_noop(
        "found that certificate %(subject)s of %(judge)s for %(criterion)s no longer holds (%(code)s)."
    ),
    "certificate.resumed": gettext_noop(
        "found that certificate %(subject)s of %(judge)s for %(criterion)s holds again."
    ),
    "report.made": gettext_noop("created report %(number)s on %(subject)s, version %(version)s."),
    "report.shared": gettext_noop("created link %(subject)s to report %(number)s on %(criterion)s."),
    "report.unshared": gettext_noop("revoked link %(subject)s to report %(number)s on %(criterion)s."),
}

# Of what is in the way of an audit schedule; its page says more while it is.
_WHY_STUCK = {
    "too_few_annotators": gettext_noop("too few of its annotators are active members"),
    "no_criterion": gettext_noop("the project no longer has all of its criteria"),
}
_OTHERWISE_STUCK = gettext_noop("its settings can’t be used as they are")

KIND_LABELS = {
    LABELS: gettext_lazy("Labels"),
    VERDICTS: gettext_lazy("Verdicts"),
    CLAIMS: gettext_lazy("Claims edited"),
    "verdicts": gettext_lazy("Verdicts in bulk"),
    "adjudication": gettext_lazy("Annotator names"),
    "alignment": gettext_lazy("Alignments"),
    "batch": gettext_lazy("Batches"),
    "certificate": gettext_lazy("Certificates"),
    "criterion": gettext_lazy("Criteria"),
    "endpoint": gettext_lazy("Endpoints"),
    "flag": gettext_lazy("Flags"),
    "gold": gettext_lazy("Known answers"),
    "guidelines": gettext_lazy("Guidelines"),
    "import": gettext_lazy("Imports"),
    "labels": gettext_lazy("Labels made elsewhere"),
    "invite": gettext_lazy("Invitations"),
    "judge": gettext_lazy("Judges"),
    "member": gettext_lazy("Members"),
    "project": gettext_lazy("Project"),
    "qualification": gettext_lazy("Qualifications"),
    "release": gettext_lazy("Releases"),
    "report": gettext_lazy("Reports"),
    "run": gettext_lazy("Runs"),
    "sample": gettext_lazy("Abstentions"),
    "schedule": gettext_lazy("Audit schedules"),
    "task": gettext_lazy("Tasks"),
    "tasks": gettext_lazy("Tasks reassigned"),
    "thread": gettext_lazy("Annotator questions"),
    "test": gettext_lazy("Test evaluations"),
    "token": gettext_lazy("Tokens"),
    "trial": gettext_lazy("Trials"),
}

# Of a change of claims: its operation.
CLAIM_EDITS = {
    "imported": gettext_noop("recorded the original claims of %(sample)s"),
    "split": gettext_noop("split a claim of %(sample)s"),
    "merge": gettext_noop("merged two claims of %(sample)s"),
    "edit": gettext_noop("edited a claim of %(sample)s"),
    "move": gettext_noop("adjusted the passage of a claim of %(sample)s"),
    "add": gettext_noop("added a claim to %(sample)s"),
    "drop": gettext_noop("removed a claim of %(sample)s"),
    "restore": gettext_noop("restored a claim of %(sample)s"),
    "split_again": gettext_noop("split the answer of %(sample)s into sentences again"),
    "replace": gettext_noop("replaced the claims of %(sample)s"),
    "restore_revision": gettext_noop("restored an earlier version of the claims of %(sample)s"),
    "checked": gettext_noop("checked the claims of %(sample)s"),
}

# What was changed of a project, a criterion or an endpoint, as its form calls it.
FIELDS = {
    "name": gettext_noop("name"),
    "guidelines": gettext_noop("guidelines"),
    "show_names": gettext_noop("annotator names for reviewers"),
    "show_judges": gettext_noop("judge results for reviewers"),
    "teach": gettext_noop("reviewer feedback for annotators"),
    "unit": gettext_noop("unit"),
    "scale": gettext_noop("scale"),
    "prompt": gettext_noop("question"),
    "help": gettext_noop("help"),
    "options": gettext_noop("options"),
    "passes": gettext_noop("options that pass"),
    "required": gettext_noop("required"),
    "cant_tell": gettext_noop("“can’t tell”"),
    "weeks": gettext_noop("frequency"),
    "weekday": gettext_noop("weekday"),
    "samples": gettext_noop("samples"),
    "conditions": gettext_noop("metadata filter"),
    "overlap": gettext_noop("annotators per sample"),
    "days": gettext_noop("days until due"),
    "opens": gettext_noop("opening"),
    "criteria": gettext_noop("criteria"),
    "annotators": gettext_noop("annotators"),
    "base_url": gettext_noop("address"),
    "key": gettext_noop("key"),
    "requests_per_minute": gettext_noop("requests per minute"),
    "concurrency": gettext_noop("concurrent requests"),
    "timeout_seconds": gettext_noop("timeout"),
    "price_in": gettext_noop("price of input tokens"),
    "price_out": gettext_noop("price of output tokens"),
    "currency": gettext_noop("currency"),
}

# Details whose values have a name, by the detail's name.
_CHOICES: dict[str, type[TextChoices]] = {
    "role": Role, "before": Role, "kind": ImportKind, "method": VerdictMethod, "measure": Measure, "how": HowDeclared,
    "holds": Holds,
}  # fmt: skip

# Entries whose subject is a criterion.
_ABOUT_CRITERION = ("criterion.", "report.made", "test.looked", "labels.declared", "verdicts.settled", "gold.drawn")

# What the worker finds.
_WATCHED = ("certificate.ended", "certificate.resumed")

_UNITS = {
    "claim": gettext_noop("claim %(n)d"),
    "context": gettext_noop("context %(n)d"),
    "fact": gettext_noop("key fact %(n)d"),
    "entity": gettext_noop("entity %(n)d"),
    "answer": gettext_noop("the answer"),
    "sample": gettext_noop("the sample"),
}


def who(row: Happening) -> str:
    if row.actor:
        return row.actor.name
    if "schedule" in row.details:
        return _("Audit schedule “%(name)s”") % {"name": row.details["schedule"]}
    if row.action in _WATCHED:
        return _("Certificate check")
    return _("Consensus rule") if row.log == VERDICTS else _("Command line")


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
        text = _("imported the label of %(rater)s on %(what)s")
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
        return _("(hidden)")
    return _("can’t tell") if details.get("cant_tell") else _shown(details["value"])


def _shown(value: Any) -> str:
    return _("no choice") if value is None else str(rounded(value))


def _verdict(row: Happening, of_unit: bool) -> str:
    said = {**_about(row, of_unit), "value": _value(row.details)}
    if row.action == "verdict.disputed":
        text = _("left %(what)s to the reviewers: %(votes)s labels without consensus")
    elif row.action == "verdict.reopened":
        text = _("reopened %(what)s: a label changed after the decision (%(value)s)")
    elif row.actor is None:
        text = _("resolved %(what)s: %(value)s")
    elif row.details["revision"] == 1:
        # A reviewer decides about what stands there already; a first state that is theirs was carried over.
        text = _("had decided %(what)s, still valid for version %(version)s: %(value)s")
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
    if row.action == "schedule.stuck":
        parts["why"] = _(_WHY_STUCK.get(row.details["code"], _OTHERWISE_STUCK))
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
        said = [_(FIELDS[entry]) if name == "fields" and entry in FIELDS else str(entry) for entry in value]
        return ", ".join(said)
    return _("no one") if value is None else str(rounded(value))
