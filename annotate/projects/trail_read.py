"""The trail: who did what when, of everything in a project, newest first.

Four logs, one order: labels, verdicts and claims have logs of their own, and everything else is in AuditEntry. Each is
read along its index for as many rows as a page has, and the pages follow each other by (moment, log, id), so that the
thousandth page costs what the first one does.

What others said about a sample that the reader still has to label is held back (annotate.core.blindness), with the
reason in its place; that they said something, and all the rest of the trail, is not.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.blindness import Reader, may_know_names, samples_still_to_label, still_to_label, why_held_back
from annotate.core.errors import Invalid
from annotate.core.former_names import present_names
from annotate.core.rows import fetch_all, first_or_raise
from annotate.models import (
    AuditEntry,
    ClaimEdit,
    Label,
    LabelEvent,
    Project,
    Sample,
    Task,
    User,
    Verdict,
    VerdictEvent,
)

PAGE_SIZE = 50
_CHUNK = 500

LABELS, VERDICTS, CLAIMS = "label", "verdict", "claims"
# Where rows of one moment stand; part of every cursor, so it never changes.
_RANKS = {"entry": 0, CLAIMS: 1, VERDICTS: 2, LABELS: 3}


@dataclass(frozen=True, slots=True)
class TrailFilter:
    """kind: "label", "verdict", "claims", or the first word of an entry's action ("member"); None: everything.

    since, until: from the one moment to before the other."""

    person: User | None = None
    kind: str | None = None
    sample: Sample | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Happening:
    """One row of the trail. actor None: by rule, or the command line. details: by log (`_label`, `_verdict`, …).

    held_back in them: why what was said is not told to this reader."""

    at: datetime
    log: str
    id: int
    actor: User | None
    action: str
    subject: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TrailPage:
    rows: list[Happening]
    # Where the next page begins; None: this is the last one.
    next: str | None


_Key = tuple[datetime, int, int]

# Of each log: its table, what ties it to the project, and to a person and a sample.
_FROM = {
    LABELS: """annotate_labelevent e JOIN annotate_label l ON l.id = e.label_id
               JOIN annotate_criterion c ON c.id = l.criterion_id AND c.project_id = %(project)s""",
    VERDICTS: """annotate_verdictevent e JOIN annotate_verdict v ON v.id = e.verdict_id
                 JOIN annotate_criterion c ON c.id = v.criterion_id AND c.project_id = %(project)s""",
    CLAIMS: """annotate_claimedit e JOIN annotate_sample s ON s.id = e.sample_id AND s.project_id = %(project)s""",
    "entry": "annotate_auditentry e",
}
_OF_SAMPLE = {
    LABELS: "l.sample_id = %(sample)s",
    VERDICTS: "v.sample_id = %(sample)s",
    CLAIMS: "e.sample_id = %(sample)s",
}
# Tokens belong to no project, and are part of the trail of each project that the person is a member of. Nothing else of
# what belongs to none is: it tells of projects that are no more.
_ENTRIES = (
    "e.project_id = %(project)s",
    """e.project_id IS NULL AND starts_with(e.action, 'token.')
       AND e.actor_id IN (SELECT user_id FROM annotate_membership WHERE project_id = %(project)s)""",
)


def trail(
    *, project: Project, reader: User, asked: TrailFilter, after: str | None = None, size: int = PAGE_SIZE
) -> TrailPage:
    """A page of the trail. `after`: the `next` of the page before. Raises Invalid for a cursor that is none."""
    keys = _keys(project, asked, _read_cursor(after) if after else None, size + 1)
    shown = keys[:size]
    return TrailPage(_happenings(shown, project, reader), _cursor(shown[-1]) if len(keys) > size else None)


def whole_trail(*, project: Project, reader: User, asked: TrailFilter) -> Iterator[Happening]:
    """All of it, a piece at a time."""
    last: _Key | None = None
    while True:
        keys = _keys(project, asked, last, _CHUNK)
        yield from _happenings(keys, project, reader)
        if len(keys) < _CHUNK:
            return
        last = keys[-1]


def kinds_of(project: Project) -> list[str]:
    """What one can filter by: the logs, and the first words of the actions that were noted."""
    sql = f"SELECT DISTINCT split_part(action, '.', 1) FROM annotate_auditentry e WHERE {' OR '.join(_ENTRIES)}"
    noted = {kind for (kind,) in fetch_all(sql, {"project": project.pk})}
    return [LABELS, VERDICTS, CLAIMS, *sorted(noted - set(_RANKS))]


def _keys(project: Project, asked: TrailFilter, last: _Key | None, limit: int) -> list[_Key]:
    parts = [part for log in _RANKS for part in _selects(log, asked, last)]
    if not parts:
        return []
    given: dict[str, Any] = {
        "project": project.pk,
        "person": asked.person and asked.person.pk,
        "sample": asked.sample and asked.sample.pk,
        "sample_name": asked.sample and asked.sample.external_id,
        "action": f"{asked.kind}.%",
        "since": asked.since,
        "until": asked.until,
        "limit": limit,
    }
    if last is not None:
        given |= dict(zip(("last_at", "last_rank", "last_id"), last, strict=True))
    rows = " UNION ALL ".join(parts)
    sql = f"SELECT at, rank, id FROM ({rows}) AS rows ORDER BY at DESC, rank DESC, id DESC LIMIT %(limit)s"
    return fetch_all(sql, given)


def _selects(log: str, asked: TrailFilter, last: _Key | None) -> list[str]:
    if asked.kind is not None and (log != asked.kind if log != "entry" else asked.kind in _RANKS):
        return []
    rules = []
    if asked.person is not None:
        rules.append("e.actor_id = %(person)s")
    if asked.sample is not None:
        # An entry that is about a sample names it.
        rules.append(_OF_SAMPLE.get(log, "e.action LIKE 'sample.%%' AND e.subject = %(sample_name)s"))
    if asked.kind is not None and log == "entry":
        rules.append("e.action LIKE %(action)s")
    if asked.since is not None:
        rules.append("e.created_at >= %(since)s")
    if asked.until is not None:
        rules.append("e.created_at < %(until)s")
    rank = _RANKS[log]
    if last is not None:
        if rank == last[1]:
            rules.append("(e.created_at, e.id) < (%(last_at)s, %(last_id)s)")
        else:
            rules.append(f"e.created_at {'<=' if rank < last[1] else '<'} %(last_at)s")
    ties = _ENTRIES if log == "entry" else ("true",)
    return [
        f"(SELECT e.created_at AS at, {rank} AS rank, e.id FROM {_FROM[log]} WHERE {' AND '.join([tie, *rules])}"
        " ORDER BY e.created_at DESC, e.id DESC LIMIT %(limit)s)"
        for tie in ties
    ]


def _happenings(keys: list[_Key], project: Project, reader: User) -> list[Happening]:
    """The rows of the keys, in their order; one query for each log that has any, and two for what is held back."""
    wanted: dict[int, list[int]] = {rank: [] for rank in _RANKS.values()}
    for _at, rank, pk in keys:
        wanted[rank].append(pk)
    found: dict[tuple[int, int], Happening] = {}
    for log, read in (
        ("entry", _entries),
        (CLAIMS, _claims),
        (VERDICTS, lambda ids: _verdicts(VerdictEvent.objects.filter(pk__in=ids))),
        (LABELS, lambda ids: _labels(LabelEvent.objects.filter(pk__in=ids))),
    ):
        ids = wanted[_RANKS[log]]
        if ids:
            found |= {(_RANKS[log], row.id): row for row in read(ids)}
    return _without_what_is_held_back([found[rank, pk] for _at, rank, pk in keys], project, reader)


# The details that tell what was said, and what stands in their place.
_TELLING: dict[str, Any] = {
    "value": None, "before": None, "cant_tell": "", "comment": "", "reason": "", "message": "", "resolution": "",
}  # fmt: skip
# Other entries that tell something about a sample. In the subject of a known answer the unit follows the sample's own
# id (annotate.batches.gold).
_KNOWN_ANSWERS = ("gold.set", "gold.removed")
_OF_FLAG, _OF_TASK, _OF_THREAD = "flag.resolved", "task.returned", "thread."


def _without_what_is_held_back(rows: list[Happening], project: Project, reader: User) -> list[Happening]:
    # The actor of an imported label is not its rater.
    others = [row for row in rows if row.actor != reader or not row.details.get("own", True)]
    tasks = {row.details["task"] for row in others if row.action == _OF_TASK}
    of_task = dict(Task.objects.filter(pk__in=tasks).values_list("pk", "sample__external_id"))
    names = {id(row): name for row in others if (name := _sample_of(row, of_task))}
    samples = Sample.objects.filter(project=project, external_id__in=set(names.values()))
    ids = dict(samples.values_list("external_id", "id"))
    blind = samples_still_to_label(reader, ids.values())
    return [_held_back(row) if ids.get(names.get(id(row), "")) in blind else row for row in rows]


def _sample_of(row: Happening, of_task: Mapping[int, str]) -> str | None:
    """The own id of the sample about which the row tells something."""
    if row.log in (LABELS, VERDICTS) or row.action == _OF_FLAG or row.action.startswith(_OF_THREAD):
        return row.subject
    if row.action in _KNOWN_ANSWERS:
        return row.subject.rpartition(": ")[0]
    return of_task.get(row.details["task"]) if row.action == _OF_TASK else None


def _held_back(row: Happening) -> Happening:
    telling = {name: nothing for name, nothing in _TELLING.items() if name in row.details}
    if row.action.startswith(_OF_THREAD):
        telling["unit"] = ""  # who asks about it is unsure of it
    return replace(row, details={**row.details, **telling, "held_back": why_held_back()})


def _entries(ids: list[int]) -> list[Happening]:
    rows = list(AuditEntry.objects.filter(pk__in=ids).select_related("actor"))
    present = present_names({name for row in rows for name in _named(row)})

    def subject(row: AuditEntry) -> str:
        return present.get(row.subject, row.subject) if row.action.startswith(_ABOUT_PEOPLE) else row.subject

    def details(row: AuditEntry) -> dict[str, Any]:
        return {key: _present(value, present) if key in _PEOPLE else value for key, value in row.details.items()}

    return [
        Happening(row.created_at, "entry", row.pk, row.actor, row.action, subject(row), details(row)) for row in rows
    ]


# Where entries name people by their user names, or addresses, of then: of these actions the subject, and these details.
# What was written stays; of an account that was deleted since, readers see the pseudonym (decision 67).
_ABOUT_PEOPLE = ("account.", "member.", "tasks.handed_on")
_PEOPLE = ("email", "of", "people", "to", "user")


def _named(row: AuditEntry) -> Iterator[str]:
    if row.action.startswith(_ABOUT_PEOPLE):
        yield row.subject
    for key in _PEOPLE:
        value = row.details.get(key)
        yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str))


def _present(value: Any, present: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_present(one, present) for one in value]
    return present.get(value, value) if isinstance(value, str) else value


def _claims(ids: list[int]) -> list[Happening]:
    rows = ClaimEdit.objects.filter(pk__in=ids).select_related("actor", "sample")
    return [
        _of_sample(row, CLAIMS, "claims.edited", row.sample, {"revision": row.revision, "change": row.change})
        for row in rows
    ]


def _labels(events: QuerySet[LabelEvent]) -> list[Happening]:
    """Events of labels, each with the value that it replaced."""
    rows = events.select_related("actor", "label__sample", "label__criterion", "label__rater").order_by(
        "created_at", "id"
    )
    before = _values_before(rows)
    return [
        _of_sample(
            row,
            LABELS,
            "label.carried" if row.carried_from_id else "label.saved",
            row.label.sample,
            {
                **_unit_of(row.label),
                "rater": row.label.rater.name,
                "own": row.actor_id is not None and row.actor_id == row.label.rater.user_id,
                "task": row.label.task_id,
                "revision": row.revision,
                "before": before.get((row.label_id, row.revision - 1)),
                "value": row.value,
                "cant_tell": row.cant_tell,
                "comment": row.comment,
            },
        )
        for row in rows
    ]


def _values_before(rows: QuerySet[LabelEvent]) -> dict[tuple[int, int], Any]:
    changed = [(row.label_id, row.revision - 1) for row in rows if row.revision > 1]
    if not changed:
        return {}
    earlier = LabelEvent.objects.filter(
        label_id__in={label for label, _ in changed}, revision__in={revision for _, revision in changed}
    )
    return {(label, revision): value for label, revision, value in earlier.values_list("label", "revision", "value")}


def _verdicts(events: QuerySet[VerdictEvent]) -> list[Happening]:
    rows = events.select_related("actor", "verdict__sample", "verdict__criterion").order_by("created_at", "id")
    return [
        _of_sample(
            row,
            VERDICTS,
            f"verdict.{row.state}",
            row.verdict.sample,
            {
                **_unit_of(row.verdict),
                "revision": row.revision,
                "method": row.method,
                "value": row.value,
                "votes": len(row.votes),
                "reason": row.reason,
            },
        )
        for row in rows
    ]


def _of_sample(
    row: ClaimEdit | LabelEvent | VerdictEvent, log: str, action: str, sample: Sample, details: dict[str, Any]
) -> Happening:
    name = sample.external_id
    return Happening(row.created_at, log, row.pk, row.actor, action, name, {"sample": name, **details})


def _unit_of(said: Label | Verdict) -> dict[str, Any]:
    return {
        "unit": said.unit,
        "criterion": said.criterion.key,
        "criterion_name": said.criterion.name,
        "version": said.criterion.version,
    }


def unit_history(*, sample: Sample, reader: Reader) -> dict[str, list[Happening]]:
    """Unit -> everything that was ever said and decided about it, oldest first; nothing while the reader still has the
    sample to label. Where they may not know who said what, only what was decided: when a label was given tells whose it
    is, beside the times of tasks."""
    if still_to_label(reader, sample):
        return {}
    labels = LabelEvent.objects.filter(label__sample=sample)
    if not may_know_names(reader, sample.project):
        labels = labels.none()
    rows = [
        *_labels(labels),
        *_verdicts(VerdictEvent.objects.filter(verdict__sample=sample)),
    ]
    history: dict[str, list[Happening]] = {}
    # Of one moment: first what was said, then what follows from it.
    for row in sorted(rows, key=lambda row: (row.at, row.log != LABELS, row.id)):
        history.setdefault(row.details["unit"], []).append(row)
    return history


def _cursor(key: _Key) -> str:
    at, rank, pk = key
    return base64.urlsafe_b64encode(f"{at.isoformat()}|{rank}|{pk}".encode()).decode().rstrip("=")


def _read_cursor(text: str) -> _Key:
    try:
        at, rank, pk = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().split("|")
        key = (datetime.fromisoformat(at), int(rank), int(pk))
    except ValueError as error:
        raise Invalid("bad_cursor", _("Invalid cursor; start from the first page.")) from error
    if key[0].tzinfo is None or key[1] not in _RANKS.values() or not 0 <= key[2] < 2**63:
        raise Invalid("bad_cursor", _("Invalid cursor; start from the first page."))
    return key


def read_filter(
    project: Project, *, person: str = "", kind: str = "", sample: str = "", since: str = "", until: str = ""
) -> TrailFilter:
    """person: a user name; sample: its own id; since, until: a day or a moment, a day counted in whole where the server
    is. Raises Invalid for what the project doesn't have and for what is no day."""
    no_user = Invalid("unknown_user", _("No actions by “%(name)s” in this project.") % {"name": person[:80]})
    actors = AuditEntry.objects.filter(project=project).values("actor")
    people = User.objects.filter(Q(raters__project=project) | Q(pk__in=actors)).distinct()
    no_sample = Invalid("unknown_sample", _("Sample “%(name)s” not found in this project.") % {"name": sample[:80]})
    samples = Sample.objects.filter(project=project, external_id=sample)
    return TrailFilter(
        person=first_or_raise(people.filter(username=person), no_user) if person else None,
        kind=kind or None,
        sample=first_or_raise(samples, no_sample) if sample else None,
        since=_moment(since, "since") if since else None,
        until=_moment(until, "until", end=True) if until else None,
    )


def _moment(text: str, name: str, *, end: bool = False) -> datetime:
    try:
        try:
            moment = datetime.combine(date.fromisoformat(text) + timedelta(days=end), time())
        except ValueError:
            moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        raise Invalid("bad_date", _("%(name)s: must be a date such as 2026-12-31.") % {"name": name}) from error
    return moment if moment.tzinfo else timezone.make_aware(moment)
