"""For what watches this process: `/livez` and `/readyz`.

They are answered before all else, so without a session, on plain http, and whatever the Host header says: what watches
a process asks it by an address within the machine or its network.
"""

from __future__ import annotations

import logging
import os
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import Error, ProgrammingError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

_log = logging.getLogger(__name__)


@require_safe
@never_cache
def livez(request: HttpRequest) -> HttpResponse:
    """This process answers. It asks nobody else: one that waits for PostgreSQL gets no better by being restarted."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """503 when PostgreSQL does not answer, or has not the tables of this version: then nothing works. Without Redis, or
    the store of files, people label, review and read as before, and only what the worker does, or imports and exports,
    wait: 200, as this process is to be sent requests, with the status `degraded`. What went wrong is in the log, not in
    the public reply."""
    applied = _applied_migrations()
    parts = {
        "database": applied is not None,
        "migrations": applied is not None and _migrations() <= applied,
        "redis": redis_answers(),
        "files": files_answer(),
    }
    if not parts["migrations"]:
        return JsonResponse({"status": "unavailable", **parts}, status=503)
    return JsonResponse({"status": "ok" if all(parts.values()) else "degraded", **parts})


_ANSWERS: dict[str, Callable[[HttpRequest], HttpResponse]] = {"/livez": livez, "/readyz": readyz}


class Probes:
    """The first middleware, which asks no other."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return _ANSWERS.get(request.path_info, self._get_response)(request)


@cache
def _migrations() -> frozenset[tuple[str, str]]:
    """Of this version, by the names of their files: loading them takes as long as a hundred requests."""
    return frozenset(
        (app.label, file.name)
        for app in apps.get_app_configs()
        for file in pkgutil.iter_modules([os.path.join(app.path, "migrations")])
        # As Django tells them from what else is there.
        if file.name[0] not in "_~"
    )


def database_answers() -> bool:
    return _applied_migrations() is not None


def _applied_migrations() -> set[tuple[str, str]] | None:
    """None: PostgreSQL does not answer."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            return set(cursor.fetchall())
    except ProgrammingError:  # a database without tables
        return set()
    except Error as error:
        _log.error("The database does not answer: %s", str(error).strip())
        return None


def files_answer() -> bool:
    """Of an object store: whether it answers. Of a disk: whether we may write there."""
    storage: Any = default_storage
    if hasattr(storage, "answers"):
        return bool(storage.answers())
    return os.access(storage.location, os.W_OK)


def redis_answers() -> bool:
    # Here, not above: commands load the settings' middleware too, and have no use for the half second that it takes.
    import redis

    # Its own connection: the cache hides an outage on purpose, and a pooled one may have been opened before it.
    client = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=2)
    try:
        client.ping()
        return True
    except redis.RedisError as error:
        _log.error("Redis does not answer: %s", error)
        return False
    finally:
        client.close()
