"""Everything that is held about a person, as one JSON file (docs/personal-data.md), without secrets and without what
others said. Samples have their numbers in it: ids may tell which version of a system answered.

What the person still has to label, or to label again, is held back from them: their labels of it, and what they
decided.

What they are and said is written out. Where they are only named as the author of something else (a batch, a run, a
report), the row is listed: which tables those are is read from the models, so none that comes later is forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import F, ForeignKey, Q, QuerySet

from annotate.core.blindness import SYSTEM, Reader, without_held_back
from annotate.core.rows import snapshot
from annotate.models import (
    ApiToken,
    AuditEntry,
    Candidate,
    ClaimEdit,
    DeletedAccount,
    Flag,
    GoldAnswer,
    GuidelineVersion,
    Identity,
    Invite,
    Label,
    LabelEvent,
    Membership,
    PasswordReset,
    Rater,
    SavedView,
    SecondFactor,
    Task,
    Thread,
    ThreadMessage,
    Try,
    User,
    Verdict,
    VerdictEvent,
)

FORMAT = 1
_CHUNK = 2000
Rows = QuerySet[Any, Any]


def written(user: User, *, reader: Reader) -> Iterator[str]:
    """The file, piece by piece and of one moment. reader: the person, or SYSTEM for an operator."""
    with snapshot():
        head = {"format": FORMAT, "account": _account(user), "sign_in": _sign_in(user)}
        yield _json(head)[:-1]
        sections = {name: rows(user) for name, rows in _SECTIONS.items()}
        sections["invitations"] = _invitations(user, reader)
        said = {name: rows(user, reader=reader) for name, rows in _SAID.items()}
        for name, rows in {**sections, **said}.items():
            yield f",\n{_json(name)}: ["
            yield from _listed(rows.iterator(chunk_size=_CHUNK))
            yield "]"
        held_back = {name: _SAID[name](user, reader=SYSTEM).count() - rows.count() for name, rows in said.items()}
        yield f',\n"held_back": {_json(held_back)}'
        yield ',\n"named_in": ['
        yield from _listed(_named_in(user))
        yield "]}\n"


def _listed(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield (",\n" if number else "\n") + _json(row)


def _json(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)


def _account(user: User) -> dict[str, Any]:
    fields = (
        "username", "display_name", "first_name", "last_name", "email", "confirmed_email", "language",
        "preferences", "is_active", "is_staff", "is_superuser", "date_joined", "last_login", "notices_seen_at",
    )  # fmt: skip
    groups = sorted(user.groups.values_list("name", flat=True))
    return {**{field: getattr(user, field) for field in fields}, "groups": groups}


def _sign_in(user: User) -> dict[str, Any]:
    """How they get in, and nothing with which one does."""
    factor = SecondFactor.objects.filter(user=user).first()
    tokens = ApiToken.objects.filter(user=user).order_by("created")
    return {
        "password": user.has_usable_password(),
        "second_factor": factor and {"since": factor.created_at, "recovery_codes_left": len(factor.recovery)},
        "provider": Identity.objects.filter(user=user).values("issuer", "subject", "flags", "roles").first(),
        "reset_link_until": PasswordReset.objects.filter(user=user).values_list("expires_at", flat=True).first(),
        "tokens": list(tokens.values("token_key", "name", "scopes", "created", "expiry", "last_used")),
        "sessions_until": sorted(session.expire_date for session in sessions_of(user)),
    }


def sessions_of(user: User) -> Iterator[Session]:
    """Also those that have run out and are still stored."""
    for session in Session.objects.iterator():
        if session.get_decoded().get("_auth_user_id") == str(user.pk):
            yield session


def end_sessions(user: User) -> None:
    store = import_module(settings.SESSION_ENGINE).SessionStore
    for session in sessions_of(user):
        store(session.session_key).delete()


def _of_unit(rows: QuerySet[Any], on: str = "") -> QuerySet[Any]:
    """With what it is about, which `on` leads to."""
    return rows.annotate(
        project=F(f"{on}sample__project__slug"),
        of_sample=F(f"{on}sample__pk"),
        of_criterion=F(f"{on}criterion__key"),
        criterion_version=F(f"{on}criterion__version"),
    )


_UNIT = ("project", "of_sample", "of_criterion", "criterion_version")


def _labels(user: User, *, reader: Reader) -> Rows:
    mine = without_held_back(Label.objects.filter(rater__user=user), reader=reader)
    rows = _of_unit(mine).order_by("pk")
    return rows.values(
        "id", *_UNIT, "unit", "task_id", "value", "cant_tell", "comment", "evidence", "active_ms", "guideline_version",
        "revision", "updated_at", called=F("rater__name"),
    )  # fmt: skip


def _label_changes(user: User, *, reader: Reader) -> Rows:
    shown = without_held_back(Label.objects.all(), reader=reader)
    rows = LabelEvent.objects.filter(actor=user, label__in=shown).order_by("pk")
    return rows.values("label_id", "revision", "value", "cant_tell", "comment", "evidence", "created_at")


def _tasks(user: User) -> Rows:
    """Without their purpose: which samples have a known answer is not told to those whom it measures."""
    return Task.objects.filter(annotator=user).order_by("pk").values(
        "id", "status", "skip_reason", "return_message", "active_seconds", "started_at", "submitted_at",
        project=F("batch__project__slug"), in_batch=F("batch__number"), of_sample=F("sample__pk"),
    )  # fmt: skip


def _decisions(user: User, *, reader: Reader) -> Rows:
    """Every one, also those that were changed since."""
    shown = without_held_back(Verdict.objects.all(), reader=reader)
    rows = _of_unit(VerdictEvent.objects.filter(actor=user, verdict__in=shown), "verdict__").order_by("pk")
    return rows.values(
        *_UNIT, "revision", "state", "value", "method", "reason", "created_at", of_unit=F("verdict__unit")
    )


def _trail(user: User) -> Rows:
    """What they did, and what is noted of their account and memberships by whoever did it."""
    about = Q(subject=user.username) & (Q(action__startswith="account.") | Q(action__startswith="member."))
    return AuditEntry.objects.filter(Q(actor=user) | about).order_by("pk").values(
        "created_at", "action", "subject", "details", in_project=F("project__slug")
    )  # fmt: skip


def _invitations(user: User, reader: Reader) -> Rows:
    """Anybody may write any address into their account: the person is told of those to one that was confirmed."""
    to = user.email if reader is SYSTEM or user.has_confirmed_email else ""
    rows = Invite.objects.filter(email__iexact=to).exclude(email="").order_by("pk")
    return rows.values("email", "role", "created_at", "expires_at", in_project=F("project__slug"))


_SECTIONS: dict[str, Callable[[User], Rows]] = {
    "memberships": lambda user: (
        Membership.objects.filter(user=user)
        .order_by("pk")
        .values("role", "is_active", "tags", "guidelines_seen", "created_at", in_project=F("project__slug"))
    ),
    "called": lambda user: Rater.objects.filter(user=user).order_by("pk").values("name", in_project=F("project__slug")),
    "qualifications": lambda user: (
        Candidate.objects.filter(user=user)
        .order_by("pk")
        .values("qualified_at", "how", "withdrawn_at", "reason", "more_tries", of=F("qualification__name"))
    ),
    "tests": lambda user: (
        Try.objects.filter(candidate__user=user)
        .order_by("pk")
        .values("number", "started_at", "finished_at", "passed", "results", of=F("candidate__qualification__name"))
    ),
    "tasks": _tasks,
    "known_answers": lambda user: (
        _of_unit(GoldAnswer.objects.filter(created_by=user))
        .order_by("pk")
        .values(*_UNIT, "unit", "value", "reason", "created_at")
    ),
    "flags": lambda user: (
        Flag.objects.filter(raised_by=user)
        .order_by("pk")
        .values("reason", "created_at", in_project=F("project__slug"), of_sample=F("sample__pk"))
    ),
    "flags_resolved": lambda user: (
        Flag.objects.filter(resolved_by=user)
        .order_by("pk")
        .values("resolution", "resolved_at", in_project=F("project__slug"), of_sample=F("sample__pk"))
    ),
    "questions": lambda user: (
        Thread.objects.filter(asked_by=user)
        .order_by("pk")
        .values("id", "unit", "state", "created_at", in_project=F("project__slug"), of_sample=F("sample__pk"))
    ),
    "messages": lambda user: (
        ThreadMessage.objects.filter(author=user).order_by("pk").values("thread_id", "number", "text", "created_at")
    ),
    "claim_edits": lambda user: (
        ClaimEdit.objects.filter(actor=user)
        .order_by("pk")
        .values("revision", "change", "created_at", of_sample=F("sample__pk"))
    ),
    "guidelines": lambda user: (
        GuidelineVersion.objects.filter(author=user)
        .order_by("pk")
        .values("number", "note", "text", "created_at", in_project=F("project__slug"))
    ),
    "saved_views": lambda user: (
        SavedView.objects.filter(owner=user)
        .order_by("pk")
        .values("name", "of", "conditions", "is_shared", "created_at", in_project=F("project__slug"))
    ),
    "trail": _trail,
}
# What they may be asked again.
_SAID: dict[str, Callable[..., Rows]] = {
    "labels": _labels,
    "label_changes": _label_changes,
    "decisions": _decisions,
}
# Whose rows are told above.
_TOLD = {
    (ApiToken, "user"), (PasswordReset, "user"), (Identity, "user"), (SecondFactor, "user"), (Membership, "user"),
    (Rater, "user"), (Candidate, "user"), (Task, "annotator"), (LabelEvent, "actor"), (VerdictEvent, "actor"),
    (GoldAnswer, "created_by"), (Flag, "raised_by"), (Flag, "resolved_by"), (Thread, "asked_by"),
    (ThreadMessage, "author"), (ClaimEdit, "actor"), (GuidelineVersion, "author"), (SavedView, "owner"),
    (AuditEntry, "actor"), (DeletedAccount, "user"),
}  # fmt: skip
# When a row came to be, by the first of these that it has.
_TIMES = ("created_at", "made_at", "decided_at", "frozen_at", "set_at", "declared_at", "updated_at")


def _named_in(user: User) -> Iterator[dict[str, Any]]:
    """The rows of other tables that name the person: which, as what, and since when."""
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.get_fields():
            if not isinstance(field, ForeignKey) or field.related_model is not User or (model, field.name) in _TOLD:
                continue
            times = [name for name in _TIMES if any(one.name == name for one in model._meta.fields)]
            rows: Rows = QuerySet(model).filter(**{field.name: user}).order_by("pk")
            for pk, *at in rows.values_list("pk", *times[:1]).iterator(chunk_size=_CHUNK):
                yield {"table": model._meta.db_table, "id": pk, "as": field.name, "at": at[0] if at else None}
