"""What another wording of a criterion would mean for the labels there are: what changes, and which labels it touches.

The rule, in one place:
- another scale or another kind of unit touches every label;
- another question or help touches every label, unless the admin says that the meaning stays (and why);
- an option that goes touches the labels with its value; so does one whose label or help changes, unless the meaning
  stays;
- a new option touches every label, unless the admin says which values might be the new one now;
- of a multi-select criterion each label says something about every option: whatever changes an option touches every
  label, unless it is only what the option is called, and the meaning stays;
- a value that the new version doesn't take is touched whatever the admin says.
Name, order, keys, what passes and what is required change how labels are given and counted, not what they say.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.counting import GIVEN
from annotate.core.errors import Invalid
from annotate.core.rows import fetch_all
from annotate.core.scales import Value, json_spelling
from annotate.core.units import no_abstention, without_abstentions
from annotate.labels.read import ANSWERED, LATEST_FIRST
from annotate.models import Criterion, GoldAnswer, Project, Task, Verdict
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES

MAX_REASON = 2000
# How a choice names the labels that say "can't tell".
CANT_TELL = None


@dataclass(frozen=True, slots=True)
class Choices:
    """What only the admin can know. same_meaning: the words change, what they ask does not; `reason` says why.

    maybe_new: with new options, the values (None: "can't tell") that might be one of them now; None: any of them.
    """

    same_meaning: bool = False
    reason: str = ""
    maybe_new: tuple[Value | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class OptionChange:
    value: Value
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    @property
    def kind(self) -> str:
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        return "meaning" if _meaning(self.before) != _meaning(self.after) else "key"


@dataclass(frozen=True, slots=True)
class Change:
    """fields: name -> (before, after), of what is no option. reordered: the options that stay change places."""

    fields: dict[str, tuple[Any, Any]]
    options: list[OptionChange]
    reordered: bool
    passes: tuple[list[Any], list[Any]] | None

    def __bool__(self) -> bool:
        return bool(self.fields or self.options or self.reordered or self.passes)

    def of(self, kind: str) -> list[OptionChange]:
        return [option for option in self.options if option.kind == kind]

    @property
    def touches_wording(self) -> bool:
        """Whether "the meaning stays" would make a difference."""
        return not _MOVES_ALL & self.fields.keys() and bool(_WORDS & self.fields.keys() or self.of("meaning"))


@dataclass(frozen=True, slots=True)
class Touched:
    """Which labels a change touches. all: every one; else those with a value of `values`, and with one that is not of
    `allowed` (None: any value is). cant_tell: those that say "can't tell"."""

    all: bool = False
    values: tuple[Value, ...] = ()
    cant_tell: bool = False
    allowed: tuple[Value, ...] | None = None

    def __call__(self, value: Value | None) -> bool:
        if self.all:
            return True
        if value is None:
            return self.cant_tell
        return _holds(self.values, value) or (self.allowed is not None and not _holds(self.allowed, value))


_MOVES_ALL = {"unit", "scale"}
_WORDS = {"prompt", "help"}
_FIELDS = ("name", "unit", "scale", "prompt", "help", "required", "cant_tell", "prefill")


def change_between(old: Criterion, new: Criterion | Mapping[str, Any]) -> Change:
    """new: a later version, or a specification as annotate.projects.criteria.check_spec gives it."""
    after = new if isinstance(new, Mapping) else content_of(new)
    before = content_of(old)
    fields = {name: (before[name], after[name]) for name in _FIELDS if name in after and before[name] != after[name]}
    was, now = before["options"], after["options"]
    options = [
        OptionChange(option["value"], option, kept)
        for option in was
        for kept in [_same(now, option["value"])]
        if kept is None or dict(kept) != dict(option)
    ]
    options += [OptionChange(option["value"], None, option) for option in now if _same(was, option["value"]) is None]
    stayed = [option["value"] for option in was if _same(now, option["value"]) is not None]
    order = [option["value"] for option in now if _same(was, option["value"]) is not None]
    passes = None
    if {json_spelling(value) for value in before["pass"]} != {json_spelling(value) for value in after["pass"]}:
        passes = (before["pass"], after["pass"])
    return Change(fields, options, [json_spelling(v) for v in stayed] != [json_spelling(v) for v in order], passes)


def content_of(criterion: Criterion) -> dict[str, Any]:
    return {
        **{name: getattr(criterion, name) for name in _FIELDS},
        "options": criterion.options,
        "pass": criterion.passes,
    }


def touched_by(
    change: Change, choices: Choices, *, new_options: Collection[Mapping[str, Any]], multi: bool = False
) -> Touched:
    """The rule; multi: of a multi-select criterion. Raises Invalid when the meaning stays and no reason is given."""
    if choices.same_meaning and not (choices.reason.strip() and len(choices.reason) <= MAX_REASON):
        raise Invalid(
            "no_reason", _("Explain why the meaning stays the same. The reason is recorded in the audit log.")
        )
    if _MOVES_ALL & change.fields.keys():
        return Touched(all=True)
    if _WORDS & change.fields.keys() and not choices.same_meaning:
        return Touched(all=True)
    # A selection is spelt in the order of the options: the same one in another order would be another vote.
    if multi and (change.reordered or change.of("removed") or change.of("added")):
        return Touched(all=True)
    if multi and change.of("meaning") and not choices.same_meaning:
        return Touched(all=True)
    values = [option.value for option in change.of("removed")]
    if not choices.same_meaning:
        values += [option.value for option in change.of("meaning")]
    # Where it is no answer any more, the raters who gave it have to choose another.
    cant_tell = change.fields.get("cant_tell") == (True, False)
    if change.of("added"):
        if choices.maybe_new is None:
            return Touched(all=True)
        values += [value for value in choices.maybe_new if value is not None and not _holds(values, value)]
        cant_tell = cant_tell or any(value is None for value in choices.maybe_new)
    allowed = tuple(option["value"] for option in new_options) if new_options and not multi else None
    return Touched(values=tuple(values), cant_tell=cant_tell, allowed=allowed)


# Whether the rule touches a value, for statements by hand with the parameters of `given`. `{value}` names the column.
IS_TOUCHED = """
    %(all)s OR {value} = ANY(%(values)s::text[]::jsonb[])
            OR NOT coalesce({value} = ANY(%(allowed)s::text[]::jsonb[]), true)
"""
# One label per person and unit, as votes are counted; `touched` says whether the change touches it.
LATEST = f"""
    SELECT DISTINCT ON (l.criterion_id, l.sample_id, l.unit, l.rater_id)
           l.id, l.task_id, l.rater_id, r.name, r.user_id, l.sample_id, l.unit, l.value, l.cant_tell, l.comment,
           l.evidence, l.active_ms, l.guideline_version, l.revision, l.updated_at, t.batch_id,
           %(all)s OR CASE WHEN l.value IS NULL THEN %(cant_tell)s ELSE {IS_TOUCHED.format(value="l.value")} END
               AS touched
      FROM annotate_label l
      JOIN annotate_rater r ON r.id = l.rater_id
      LEFT JOIN annotate_task t ON t.id = l.task_id
     WHERE l.criterion_id = %(old)s AND {ANSWERED} AND {GIVEN}
     ORDER BY {LATEST_FIRST}
"""


def given(old: Criterion, touched: Touched) -> dict[str, Any]:
    """The parameters of LATEST and IS_TOUCHED."""
    return {
        "old": old.pk,
        "all": touched.all,
        "cant_tell": touched.cant_tell,
        "values": [json.dumps(value) for value in touched.values],
        "allowed": None if touched.allowed is None else [json.dumps(value) for value in touched.allowed],
    }


@dataclass(frozen=True, slots=True)
class ValueCount:
    """value None: "can't tell"."""

    value: Value | None
    label: str
    labels: int
    verdicts: int
    touched: bool


@dataclass(frozen=True, slots=True)
class PersonCount:
    """A rater of labels that are touched. can_redo: is a member who can be asked again."""

    rater_id: int
    name: str
    touched: int
    samples: int
    can_redo: bool


@dataclass(frozen=True, slots=True)
class BatchCount:
    """number None: labels made elsewhere."""

    number: int | None
    name: str
    labels: int
    touched: int


@dataclass(frozen=True, slots=True)
class Impact:
    change: Change
    rule: Touched
    labels: int
    touched: int
    values: list[ValueCount] = field(default_factory=list)
    batches: list[BatchCount] = field(default_factory=list)
    people: list[PersonCount] = field(default_factory=list)
    # Tasks that still ask the old version: what they bring stays with it.
    open_tasks: int = 0
    # Known answers that hold for the new version, and those that an admin has to set again.
    gold_kept: int = 0
    gold_again: int = 0

    @property
    def untouched(self) -> int:
        return self.labels - self.touched

    @property
    def left_behind(self) -> list[PersonCount]:
        """The raters whose labels another member would have to give anew."""
        return [person for person in self.people if not person.can_redo]


_COUNTED = f"SELECT * FROM ({LATEST}) AS said WHERE {no_abstention('said')}"
_VALUES = f"SELECT value, count(*) FROM ({_COUNTED}) AS latest GROUP BY value"
_PEOPLE = f"""
    SELECT latest.rater_id, latest.name, count(*), count(DISTINCT latest.sample_id),
           bool_or(m.is_active IS TRUE AND u.is_active IS TRUE)
      FROM ({_COUNTED}) AS latest
      LEFT JOIN annotate_user u ON u.id = latest.user_id
      LEFT JOIN annotate_membership m ON m.user_id = u.id AND m.project_id = %(project)s
     WHERE latest.touched GROUP BY latest.rater_id, latest.name ORDER BY latest.name
"""
_BATCHES = f"""
    SELECT b.number, coalesce(b.name, ''), count(*), count(*) FILTER (WHERE latest.touched)
      FROM ({_COUNTED}) AS latest LEFT JOIN annotate_batch b ON b.id = latest.batch_id
     GROUP BY b.number, b.name ORDER BY b.number NULLS LAST
"""


def impact(*, old: Criterion, new: Criterion | Mapping[str, Any], choices: Choices | None = None) -> Impact:
    """What making `new` of `old` would touch. Nothing is stored."""
    change = change_between(old, new)
    options = new["options"] if isinstance(new, Mapping) else new.options
    rule = touched_by(change, choices or Choices(), new_options=options, multi=old.is_multi)
    parameters = {**given(old, rule), "project": old.project_id}
    counted = [(None if value is None else json.loads(value), n) for value, n in fetch_all(_VALUES, parameters)]
    people = [PersonCount(*row) for row in fetch_all(_PEOPLE, parameters)]
    gold = [rule(value) for value in GoldAnswer.objects.filter(criterion=old).values_list("value", flat=True)]
    return Impact(
        change=change,
        rule=rule,
        labels=sum(n for _, n in counted),
        touched=sum(row.touched for row in people),
        values=_by_value(old, counted, rule),
        batches=[BatchCount(*row) for row in fetch_all(_BATCHES, parameters)],
        people=people,
        open_tasks=Task.objects.filter(
            batch__criteria=old,
            batch__status__in=RUNNING_BATCH_STATUSES,
            status__in=OPEN_TASK_STATUSES,
        ).count(),
        gold_kept=gold.count(False),
        gold_again=gold.count(True),
    )


def _by_value(old: Criterion, counted: list[tuple[Any, int]], rule: Touched) -> list[ValueCount]:
    """In the order of the scale; every option of the old version, also one without labels. None of free text and
    of selections, of which there are too many."""
    if old.is_text or old.is_multi:
        return []
    labels = {json_spelling(value): n for value, n in counted}
    decided = (
        without_abstentions(Verdict.objects.filter(criterion=old, value__isnull=False)).order_by().values_list("value")
    )
    verdicts = {json_spelling(value): n for value, n in decided.annotate(Count("pk"))}
    names = {json_spelling(option["value"]): str(option.get("label") or option["value"]) for option in old.options}
    known = [option["value"] for option in old.options]
    others = [value for value, _ in counted if value is not None and json_spelling(value) not in names]
    others.sort(key=lambda value: (isinstance(value, str), value))
    cant_tell = [CANT_TELL] if json_spelling(None) in labels else []
    return [
        ValueCount(
            value=value,
            label=names.get(json_spelling(value), "" if value is None else str(value)),
            labels=labels.get(json_spelling(value), 0),
            verdicts=verdicts.get(json_spelling(value), 0),
            touched=rule(value),
        )
        for value in [*known, *others, *cant_tell]
    ]


def _holds(values: Collection[Any], value: Any) -> bool:
    return any(json_spelling(one) == json_spelling(value) for one in values)


def _same(options: Collection[Mapping[str, Any]], value: Any) -> Mapping[str, Any] | None:
    return next((option for option in options if json_spelling(option["value"]) == json_spelling(value)), None)


def _meaning(option: Mapping[str, Any]) -> tuple[str, str]:
    return str(option.get("label") or option["value"]), str(option.get("help") or "")


def versions_of(project: Project, key: str) -> list[Criterion]:
    """The latest first. Raises Http404 where there are none."""
    versions = list(Criterion.objects.filter(project=project, key=key).order_by("-version"))
    if not versions:
        raise Http404(_("Criterion “%(key)s” not found in this project.") % {"key": key})
    return versions
