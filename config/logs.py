"""What log lines say, as text or as JSON: with the request or the task that they belong to, and without what is secret.

A line never has a query, a body or a header in it. Of addresses, the secret of a page that opens by its link alone is
left out, and the names of members; who asks stands there by id.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.core.signals import request_finished
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.encoding import escape_uri_path
from django.utils.functional import SimpleLazyObject

from config import env

HEADER = "X-Request-ID"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# The tokens of links have 43 characters (annotate/core/secret_links.py); one that was copied badly is a secret, too.
_SECRET = re.compile(r"(?<=/)[\w-]{40,}")
_QUERY = re.compile(r"(?<=\S)\?\S+")

_requests = logging.getLogger("touchstone.request")
_tasks = logging.getLogger("touchstone.task")


def configuration() -> dict[str, Any]:
    """For web, worker and importer alike."""
    level = env.choice("LOG_LEVEL", "WARNING", ("DEBUG", "INFO", "WARNING", "ERROR"))
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"text": {"()": "config.logs.Text"}, "json": {"()": "config.logs.Json"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": env.choice("LOG_FORMAT", "text", ("text", "json")),
            }
        },
        "root": {
            "handlers": ["stderr"],
            "level": level,
        },
        "loggers": {
            # Django's own default mails admins, and gunicorn's has a format of its own; all goes to stderr instead.
            "gunicorn.error": {"handlers": [], "propagate": True},
            # Django's own level, INFO, would let its warnings past ERROR; at DEBUG it logs SQL with its values.
            "django": {"handlers": [], "propagate": True, "level": "INFO" if level == "DEBUG" else level},
            # What these say of every task at INFO is in our line of it.
            **{name: {"level": "WARNING"} for name in ("celery.app.trace", "celery.worker.strategy")},
        },
    }


# What a line belongs to


@dataclass
class _Request:
    id: str
    request: HttpRequest

    @property
    def request_id(self) -> str:
        return self.id

    @property
    def path(self) -> str:
        """As it was sent."""
        return escape_uri_path(_without_secrets(self.request.path))

    def about(self) -> dict[str, Any]:
        user_id = _user_id(self.request)
        return {"request_id": self.id, "method": self.request.method, "path": self.path, "user_id": user_id}


@dataclass
class _Task:
    name: str
    id: str
    request_id: str | None
    began: float = field(default_factory=time.perf_counter)

    def about(self) -> dict[str, Any]:
        return {"task": self.name, "task_id": self.id, "request_id": self.request_id}


_current: ContextVar[_Request | _Task | None] = ContextVar("current", default=None)


def request_id() -> str | None:
    """Of the request that is answered here, or that asked for this task."""
    current = _current.get()
    return current.request_id if current else None


class RequestLog:
    """Middleware: an id for the request, the client's or a proxy's where it sent one, and a line about it at INFO."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent = request.META.get("HTTP_X_REQUEST_ID", "")
        current = _Request(sent if _REQUEST_ID.fullmatch(sent) else secrets.token_hex(8), request)
        # Until the response is sent: Django says what it has to say of it when no middleware is at work any more.
        _current.set(current)
        began = time.perf_counter()
        response = self._get_response(request)
        response.headers[HEADER] = current.id
        if _requests.isEnabledFor(logging.INFO):
            taken = {"status_code": response.status_code, "duration_ms": _milliseconds_since(began)}
            _requests.info("%s %s %s", request.method, current.path, response.status_code, extra=taken)
        return response


def _forget(**_: Any) -> None:
    _current.set(None)


request_finished.connect(_forget, dispatch_uid="logs")


def begin_task(name: str, task_id: str, asked_by: str | None = None) -> None:
    """asked_by: the id of a request."""
    _current.set(_Task(name, task_id, asked_by))


def end_task(how: str) -> None:
    task = _current.get()
    if isinstance(task, _Task):
        # Every few seconds the worker looks for work, mostly in vain.
        level = logging.DEBUG if ".look_for_" in task.name else logging.INFO
        _tasks.log(level, "%s: %s", task.name, how, extra={"duration_ms": _milliseconds_since(task.began)})
    _current.set(None)


def _milliseconds_since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 1)


def _user_id(request: HttpRequest) -> int | None:
    """If it is known by now: a log line asks the database nothing."""
    user = vars(request).get("user")
    if isinstance(user, SimpleLazyObject):
        user = vars(request).get("_cached_user")
    return getattr(user, "pk", None)


def _without_secrets(text: str) -> str:
    current = _current.get()
    match = current.request.resolver_match if isinstance(current, _Request) else None
    if match and "username" in match.kwargs:
        text = text.replace(f"/{match.kwargs['username']}/", "/***/")
    return _SECRET.sub("***", text)


# How a line is written


class _Formatter(logging.Formatter):
    def message(self, record: logging.LogRecord) -> str:
        return _without_secrets(_QUERY.sub("", record.getMessage()))


class Text(_Formatter):
    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}{where}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the library's)
        record.message = self.message(record)
        current = _current.get()
        record.where = f" [{current.id}]" if current else ""
        return super().formatMessage(record)


class Json(_Formatter):
    def format(self, record: logging.LogRecord) -> str:
        current = _current.get()
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self.message(record),
            **(current.about() if current else {}),
            # The second is Django's name as well, in what it says of responses.
            "duration_ms": vars(record).get("duration_ms"),
            "status": vars(record).get("status_code"),
            "exception": self.formatException(record.exc_info) if record.exc_info else None,
        }
        return json.dumps({name: value for name, value in line.items() if value is not None})
