"""What an annotator says of the units of a task: whether it makes sense there, and whether it is new."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid, Stale, key_reused
from annotate.core.scales import normalise, require_changed
from annotate.core.spans import check_evidence
from annotate.core.texts import MAX_COMMENT, is_storable
from annotate.core.units import parse_unit
from annotate.models import LabelEvent, Sample
from annotate.tasks.sql import AskedCriterion, NewRevision, TaskRow

# A page left open overnight is not a day of work.
MAX_ACTIVE_SECONDS = 24 * 3600
MAX_ACTIVE_MS = MAX_ACTIVE_SECONDS * 1000
# A page sends what was chosen while a request was under way, a pipeline a whole task.
MAX_CHANGES = 1000
# What a label says; the rest is where it says it.
_SAID = ("value", "cant_tell", "comment", "evidence")


@dataclass(frozen=True)
class LabelInput:
    """What a person said about one unit. `value` None takes the choice back and keeps the comment.

    cant_tell: why no value can be given; "" when one can. Stands in the place of a value.
    active_ms: the browser's running total for this label.
    guideline_version: of the guidelines that the person was shown; None: nobody knows.
    """

    unit: str
    criterion: str
    value: Any
    comment: str = ""
    evidence: Any = ()
    active_seconds: int | None = None
    cant_tell: Any = ""
    active_ms: int | None = None
    guideline_version: Any = None


@dataclass(frozen=True)
class LabelChange:
    """One label of several. seen: the revision that the person saw (0: none); key: of this change, for repeating it."""

    said: LabelInput
    seen: int
    key: uuid.UUID


def labels_named(changes: Sequence[LabelChange]) -> dict[str, Any]:
    """What `read_task` has to bring so that the changes can be checked. Raises Invalid."""
    if len(changes) > MAX_CHANGES:
        raise Invalid("too_many_labels", f"labels: at most {MAX_CHANGES} at once.")
    named = [(_text(one.said.unit, "unit"), _text(one.said.criterion, "criterion")) for one in changes]
    if len(set(named)) < len(named) or len({one.key for one in changes}) < len(changes):
        raise Invalid("label_twice", "labels: each has a unit and criterion, and a key, that no other has.")
    return {"labels": named, "with_contexts": any(one.said.evidence for one in changes)}


@dataclass(frozen=True)
class Checked:
    """The labels as they stand once `new` is stored: of each what it says, with its revision."""

    labels: list[dict[str, Any]]
    new: list[NewRevision]


def check_changes(task: TaskRow, changes: Sequence[LabelChange], used: Collection[uuid.UUID] = ()) -> Checked:
    """Of a change that was stored before, under its key, nothing is new. used: keys that can't be stored any more.

    Raises Invalid, or Stale with both versions; of several changes Invalid with `problems`: what is wrong with which.
    """
    checked, problems = Checked([], []), []
    for number, change in enumerate(changes, 1):
        try:
            _check(task, change, used, checked)
        except (Invalid, Stale) as refusal:
            if len(changes) == 1:
                raise
            problems.append({"row": number, "code": refusal.code, "message": refusal.message})
    if problems:
        said = _("%(n)d of %(count)d labels can’t be saved, so none of them was.")
        raise Invalid("labels_refused", said % {"n": len(problems), "count": len(changes)}, problems=problems)
    return checked


def used_keys(changes: Sequence[LabelChange]) -> set[uuid.UUID]:
    """Those under which something is stored."""
    events = LabelEvent.objects.filter(idempotency_key__in=[one.key for one in changes])
    return set(events.values_list("idempotency_key", flat=True))


def _check(task: TaskRow, change: LabelChange, used: Collection[uuid.UUID], checked: Checked) -> None:
    said = change.said
    criterion = asked_criterion(task, said.unit, said.criterion)
    comment, cant_tell = _check_comment(said.comment), _check_cant_tell(said.cant_tell)
    active_ms = _check_active_ms(said.active_ms)
    guideline_version = _check_guideline_version(said.guideline_version, task.guideline_version)
    value = None if said.value is None else normalise(criterion, said.value)
    if criterion.prefill and value is not None:
        require_changed(criterion, value, Sample.objects.values_list("answer", flat=True).get(pk=task.sample_id))
    _require_one_answer(criterion, value, cant_tell)
    evidence = check_evidence(list(said.evidence), task.contexts or [])
    says: dict[str, Any] = {"value": value, "cant_tell": cant_tell, "comment": comment, "evidence": evidence}
    at = {"unit": said.unit, "criterion": said.criterion}
    stored = task.labels.get((said.unit, said.criterion))
    if change.seen != (stored.revision if stored else 0):
        checked.labels.append({**at, **says, "revision": _repeated(task, change, says)})
        return
    if change.key in used:
        raise key_reused()
    new = NewRevision(
        unit=said.unit,
        criterion=criterion,
        **says,
        active_ms=active_ms,
        guideline_version=guideline_version,
        seen=change.seen,
        key=change.key,
    )
    checked.new.append(new)
    checked.labels.append({**at, **says, "revision": change.seen + 1})


def _repeated(task: TaskRow, change: LabelChange, says: Mapping[str, Any]) -> int:
    """The revision as which this change was stored before. Raises Stale where it was not."""
    stored = task.labels.get((change.said.unit, change.said.criterion))
    event = LabelEvent.objects.filter(idempotency_key=change.key).first()
    if event is None:
        current = None
        if stored is not None:
            now = {name: getattr(stored, name) for name in (*_SAID, "revision")}
            current = {"unit": change.said.unit, "criterion": change.said.criterion, **now}
        raise Stale("stale", _("This label was changed elsewhere."), current=current, yours=dict(says))
    same = all(getattr(event, name) == says[name] for name in _SAID)
    if stored is None or event.label_id != stored.id or not same:
        raise key_reused()
    return int(event.revision)


def asked_criterion(task: TaskRow, unit: str, key: str) -> AskedCriterion:
    criterion = next((criterion for criterion in task.criteria if criterion.key == key), None)
    if criterion is None:
        raise Invalid("criterion_not_asked", _("This task doesn’t ask for “%(key)s”.") % {"key": key[:80]})
    try:
        kind, index = parse_unit(unit)
    except ValueError as error:
        raise Invalid("bad_unit", str(error)) from error
    if kind != criterion.unit:
        raise Invalid(
            "wrong_unit",
            _("“%(key)s” applies to each %(unit)s, not to %(given)s.")
            % {"key": key, "unit": criterion.unit, "given": unit},
        )
    if index is not None and index not in task.unit_indices[kind]:
        raise Invalid("unknown_unit", _("%(unit)s not found in this sample.") % {"unit": unit})
    return criterion


def _text(value: Any, name: str) -> str:
    if not is_storable(value):
        raise Invalid("bad_text", f"{name}: write a text.")
    return value


def _check_comment(comment: Any) -> str:
    if not is_storable(comment):
        raise Invalid("bad_comment", _("comment: must be text."))
    if len(comment) > MAX_COMMENT:
        raise Invalid(
            "comment_too_long",
            _("The comment has %(length)s characters. Shorten it to %(most)s.")
            % {"length": len(comment), "most": MAX_COMMENT},
        )
    return comment


def _check_cant_tell(reason: Any) -> str:
    if not is_storable(reason):
        raise Invalid("bad_cant_tell", _("cant_tell: must be text (the reason), or empty."))
    if len(reason) > MAX_COMMENT:
        raise Invalid(
            "cant_tell_too_long",
            _("The reason has %(n)d characters. Shorten it to %(most)d.") % {"n": len(reason), "most": MAX_COMMENT},
        )
    return reason.strip()


def _require_one_answer(criterion: AskedCriterion, value: Any, cant_tell: str) -> None:
    if cant_tell and value is not None:
        raise Invalid("two_answers", _("Give either a value or “can’t tell”, not both."))
    if cant_tell and not criterion.cant_tell:
        raise Invalid("cant_tell_off", _("“%(key)s” doesn’t allow “can’t tell”.") % {"key": criterion.key})


def _check_active_ms(milliseconds: Any) -> int | None:
    """The browser sends its running total for the label, as it does for the task; a stored total is never lowered."""
    if milliseconds is None:
        return None
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int) or milliseconds < 0:
        raise Invalid("bad_active_ms", _("active_ms: must be a whole number, at least 0."))
    return min(milliseconds, MAX_ACTIVE_MS)


def _check_guideline_version(number: Any, newest: int | None) -> int | None:
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= (newest or 0):
        raise Invalid(
            "bad_guideline_version",
            _("guideline_version: there are versions 1 to %(newest)d, or leave it out.") % {"newest": newest or 0},
        )
    return number
