"""One URL for supervisors, load balancers and compose health checks."""

import logging

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

_log = logging.getLogger(__name__)


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """503 when PostgreSQL does not answer: then nothing works. Without Redis people label, review and read as before,
    and only what the worker does waits: 200, as this process is to be sent requests, with the status `degraded`. What
    went wrong is in the log, not in the public reply."""
    parts = {"database": _database_answers(), "redis": _redis_answers()}
    if not parts["database"]:
        return JsonResponse({"status": "unavailable", **parts}, status=503)
    return JsonResponse({"status": "ok" if parts["redis"] else "degraded", **parts})


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return True
    except DatabaseError as error:
        _log.error("healthz: the database does not answer: %s", error)
        return False


def _redis_answers() -> bool:
    # Here, not above: commands load the URLs too, and have no use for the half second that it takes to load.
    import redis

    # Its own connection: the cache hides an outage on purpose, and a pooled one may have been opened before it.
    client = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=2)
    try:
        client.ping()
        return True
    except redis.RedisError as error:
        _log.error("healthz: Redis does not answer: %s", error)
        return False
    finally:
        client.close()
