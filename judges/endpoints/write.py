"""Creating, changing, deleting and trying endpoints. Only this room decides where a key is sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

import orjson
from django.db import transaction
from django.db.models import ProtectedError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.errors import Conflict, Invalid, Stale
from annotate.core.trail import note
from annotate.models import Project, User
from judges.endpoints.addresses import Target, addresses_of, read_url
from judges.endpoints.calls import Answered, CallFailed, ChatRequest, StopRun
from judges.endpoints.client import open_client
from judges.endpoints.door import Door
from judges.endpoints.keys import Unreadable, check_key, check_variable, encrypted, encrypted_anew, last4
from judges.models import Endpoint
from judges.models.judge import KeySource

T = TypeVar("T")

# The fields of an endpoint that can be set, and those of its key.
PLAIN = ("base_url", "concurrency", "requests_per_minute", "timeout_seconds", "price_in", "price_out", "currency")
KEY = ("key_source", "key_variable", "key")
_MOST = {"concurrency": 128, "requests_per_minute": 1_000_000, "timeout_seconds": 120}
_HIGHEST_PRICE = Decimal(999_999)


def create_endpoint(*, project: Project, actor: User | None = None, **fields: Any) -> Endpoint:
    """fields: name and base_url, and optionally others of PLAIN and KEY. key: as it is sent; it is encrypted here, and
    decrypted only where a request is sent.

    Raises Invalid, with its `field`, and Conflict for a name that is taken.
    """
    name = _check_name(fields.pop("name", None))
    _check_known(fields)
    endpoint = Endpoint(project=project, name=name, created_by=actor)
    if fields.get("base_url") is None:
        raise _invalid("base_url", "missing_field", _("Base URL: required, such as https://api.openai.com/v1."))
    target = _set_plain(endpoint, fields)
    assert target is not None
    if any(fields.get(field) for field in KEY):
        _set_key(endpoint, fields, target)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if project.endpoints.filter(name=name).exists():
            raise Conflict("name_taken", _("Endpoint “%(name)s” already exists.") % {"name": name}, field="name")
        endpoint.save(force_insert=True)
        note(
            actor=actor,
            action="endpoint.added",
            subject=name,
            project=project,
            base_url=endpoint.base_url,
            key_source=endpoint.key_source,
        )
    return endpoint


def change_endpoint(
    *, endpoint: Endpoint, expected_revision: int, actor: User | None = None, **fields: Any
) -> Endpoint:
    """fields: of PLAIN and KEY; what isn't given stays. The name never changes: versions of judges refer to it.

    A key belongs to the scheme, host and port that it was given for: with another base URL it is erased, and the new
    one has to be given with it, or that there is none. Raises Invalid, and Stale when another change came in between.
    """
    _check_known(fields)
    with transaction.atomic():
        endpoint = Endpoint.objects.select_for_update(of=("self",)).select_related("project").get(pk=endpoint.pk)
        if endpoint.revision != expected_revision:
            raise Stale(
                "stale",
                _("The endpoint was changed in the meantime. Reload it, then change it."),
                current=endpoint,
                yours={name: str(value) for name, value in fields.items() if name != "key"},
            )
        before = _state(endpoint)
        old = read_url(endpoint.base_url)
        target = _set_plain(endpoint, fields) or old
        says_key = any(fields.get(field) for field in KEY)
        if target.origin != old.origin:
            _take_from_old_host(endpoint, fields, target)
        if says_key:
            _set_key(endpoint, fields, target)
        changed = sorted(name for name, value in _state(endpoint).items() if before[name] != value)
        if changed:
            endpoint.revision += 1
            endpoint.save()
            shown = sorted({"key" if name.startswith("key") else name for name in changed})
            note(
                actor=actor,
                action="endpoint.changed",
                subject=endpoint.name,
                project=endpoint.project,
                fields=shown,
                base_url=endpoint.base_url,
                key_source=endpoint.key_source,
            )
    return endpoint


def delete_endpoint(*, endpoint: Endpoint, actor: User | None = None) -> None:
    """Raises Conflict while versions of judges use it, as their scores came from there, or another app does."""
    with transaction.atomic():
        endpoint = Endpoint.objects.select_for_update(of=("self",)).select_related("project").get(pk=endpoint.pk)
        versions = endpoint.versions.count()
        if versions:
            raise Conflict(
                "endpoint_in_use",
                _("“%(name)s” can’t be deleted: judge versions use it (%(versions)s).")
                % {"name": endpoint.name, "versions": versions},
                versions=versions,
            )
        note(actor=actor, action="endpoint.deleted", subject=endpoint.name, project=endpoint.project)
        try:
            endpoint.delete()
        except ProtectedError:
            raise Conflict(
                "endpoint_in_use",
                _("“%(name)s” can’t be deleted: a system is asked there.") % {"name": endpoint.name},
            ) from None


def rotate_stored_keys() -> tuple[int, list[Endpoint]]:
    """Encrypts every stored key with the newest of the installation's keys. Returns how many, and the endpoints whose
    key can't be read."""
    done, unreadable = 0, []
    with transaction.atomic():
        for endpoint in Endpoint.objects.select_for_update().filter(key_source=KeySource.STORED).order_by("pk"):
            try:
                endpoint.key_encrypted = encrypted_anew(bytes(endpoint.key_encrypted or b""))
            except Unreadable:
                unreadable.append(endpoint)
                continue
            endpoint.save(update_fields=["key_encrypted"])
            done += 1
    return done, unreadable


def _take_from_old_host(endpoint: Endpoint, fields: Mapping[str, Any], target: Target) -> None:
    has_new = fields.get("key") or fields.get("key_variable") or fields.get("key_source") == KeySource.NONE
    if endpoint.key_source != KeySource.NONE and not has_new:
        raise _invalid(
            "key",
            "key_needed",
            _("The key belongs to another host and is not sent to %(host)s. Enter a key for it, or choose “No key”.")
            % {"host": target.shown_host},
        )
    _erase_key(endpoint)


def _erase_key(endpoint: Endpoint) -> None:
    endpoint.key_source = KeySource.NONE
    endpoint.key_encrypted = None
    endpoint.key_variable = endpoint.key_last4 = ""


def _set_key(endpoint: Endpoint, fields: Mapping[str, Any], target: Target) -> None:
    source, variable, key = (fields.get(name) or "" for name in ("key_source", "key_variable", "key"))
    if not source:
        source = KeySource.STORED if key else KeySource.ENVIRONMENT if variable else KeySource.NONE
    if source not in KeySource.values:
        raise _invalid("key_source", "bad_key_source", f"key_source: one of {', '.join(KeySource.values)}.")
    if (key and source != KeySource.STORED) or (variable and source != KeySource.ENVIRONMENT):
        raise _invalid("key_source", "two_keys", _("Key: give either a key or the name of a variable, not both."))
    if source == KeySource.STORED:
        if not key and endpoint.key_source == KeySource.STORED:
            return
        key = _about("key", lambda: check_key(key))
        _erase_key(endpoint)
        endpoint.key_source, endpoint.key_encrypted, endpoint.key_last4 = source, encrypted(key), last4(key)
        return
    if source == KeySource.ENVIRONMENT:
        variable = _about("key_variable", lambda: check_variable(variable or endpoint.key_variable, target))
    _erase_key(endpoint)
    endpoint.key_source, endpoint.key_variable = source, variable


def _set_plain(endpoint: Endpoint, fields: Mapping[str, Any]) -> Target | None:
    """The new target; None when no base URL is given."""
    for name, most in _MOST.items():
        if name in fields and (fields[name] is not None or name == "requests_per_minute"):
            setattr(endpoint, name, _whole(name, fields[name], most))
    for name in ("price_in", "price_out"):
        if name in fields:
            setattr(endpoint, name, _price(name, fields[name]))
    if fields.get("currency") is not None:
        endpoint.currency = _currency(fields["currency"])
    if fields.get("base_url") is None:
        return None
    target = _about("base_url", lambda: read_url(fields["base_url"]))
    _about("base_url", lambda: addresses_of(target.host, target.port))
    endpoint.base_url = target.url
    return target


def _check_known(fields: Mapping[str, Any]) -> None:
    unknown = sorted(set(fields) - {*PLAIN, *KEY})
    if unknown:
        raise _invalid(unknown[0][:80], "unknown_field", f"Unknown field “{unknown[0][:80]}”.")
    for name in KEY:
        if not isinstance(fields.get(name) or "", str):
            raise _invalid(name, f"bad_{name}", f"{name}: write a text.")


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,59}", name.strip()):
        raise _invalid(
            "name",
            "bad_name",
            _("Name: must be at most 60 lowercase letters, digits, “-” and “_”, such as openai or vllm-local."),
        )
    return name.strip()


def _whole(name: str, value: object, most: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise _invalid(name, f"bad_{name}", f"{name}: a whole number from 1 to {most}.")
    return value


def _price(name: str, value: object) -> Decimal | None:
    """Per million tokens."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
            raise InvalidOperation
        # A float as it is written: 0.1 means 0.1.
        price = Decimal(str(value))
        if not price.is_finite() or not 0 <= price <= _HIGHEST_PRICE or price != price.quantize(Decimal("0.000001")):
            raise InvalidOperation
    except InvalidOperation:
        raise _invalid(
            name, f"bad_{name}", f"{name}: a price from 0 to {_HIGHEST_PRICE}, with at most 6 decimals."
        ) from None
    return price


def _currency(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z]{3}", value.strip()):
        raise _invalid("currency", "bad_currency", _("Currency: must be three letters, such as USD, EUR or CNY."))
    return value.strip().upper()


def _state(endpoint: Endpoint) -> dict[str, Any]:
    names = (*PLAIN, "key_source", "key_variable", "key_encrypted")
    return {name: getattr(endpoint, name) for name in names}


def _about(field: str, check: Callable[[], T]) -> T:
    """What the check returns; an Invalid that it raises gets the field."""
    try:
        return check()
    except Invalid as refusal:
        raise _invalid(field, refusal.code, refusal.message) from None


def _invalid(field: str, code: str, message: str) -> Invalid:
    return Invalid(code, message, field=field)


# Seconds: a page waits for it.
LONGEST_TRY = 20
MOST_MODELS = 50
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"enum": ["yes", "no"]}},
    "required": ["answer"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Trial:
    """works: whether judges could ask there. message: what happened. status: of a score when it failed, a code of
    StopRun when no request will get through, else "ok". seconds, tokens and cost: of the reply. models: the names of
    the endpoint's models, when it was asked for them."""

    works: bool
    status: str
    message: str
    seconds: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    models: tuple[str, ...] = ()


def try_endpoint(*, endpoint: Endpoint, model: str | None = None) -> Trial:
    """Asks the model for one word, in the form in which judges ask; without a model, asks which models there are."""
    try:
        with open_client(endpoint, door=Door(1), at_most=LONGEST_TRY) as client:
            if not model:
                return _of_models(client.models())
            question = 'Is water wet? Reply with a JSON object: {"answer": "yes"} or {"answer": "no"}.'
            messages = [{"role": "user", "content": question}]
            return _of_answer(client.chat(ChatRequest(model=model, messages=messages, max_tokens=50, schema=_SCHEMA)))
    except StopRun as stop:
        return Trial(works=False, status=stop.code, message=stop.message)
    except CallFailed as failure:
        return Trial(works=False, status=failure.status, message=failure.detail)


def _of_answer(reply: Answered) -> Trial:
    if reply.raw is not None:
        status, message = "parse_error", _("The server responds, but is not OpenAI-compatible.")
    elif reply.refusal:
        status, message = "refused", _("The model responds, but refused a harmless question.")
    elif reply.finish_reason == "length":
        status, message = "truncated", _("The model responds, but the reply was cut off after 50 tokens.")
    elif not _keeps_to_schema(reply.text or ""):
        status = "parse_error"
        message = _("The model responds, but not in the requested format. Judges may not be able to parse its replies.")
    else:
        status, message = "ok", _("The model responds in the requested format.")
    return Trial(
        works=status == "ok",
        status=status,
        message=message,
        seconds=reply.latency,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost=reply.cost,
    )


def _keeps_to_schema(text: str) -> bool:
    try:
        return orjson.loads(text) in ({"answer": "yes"}, {"answer": "no"})
    except orjson.JSONDecodeError:
        return False


def _of_models(names: tuple[str, ...] | None) -> Trial:
    if names is None:
        message = _("The server responds, but doesn’t list models as OpenAI does.")
        return Trial(works=False, status="parse_error", message=message)
    shown = tuple(name for name in names[:MOST_MODELS] if re.fullmatch(r"[\w.:/@+-]{1,100}", name))
    message = ngettext(
        "The endpoint responds. It has %(n)d model.", "The endpoint responds. It has %(n)d models.", len(names)
    )
    return Trial(works=True, status="ok", message=message % {"n": len(names)}, models=shown)
