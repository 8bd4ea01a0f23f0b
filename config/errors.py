"""What is answered when a request can't be: a page of the frontend's, or below /api/ an error in the API's one shape.

Neither needs a database, except to know whether a project was deleted while its view was at work. That PostgreSQL is
away, restarts, or has no connection left, or that the store of files does not answer, is no fault in our code: it is
answered 503 with Retry-After, wherever in the request it shows, and logged in a line; the workspace keeps what was
chosen, and sends it again.
"""

from __future__ import annotations

import errno
import sys
from typing import Any

from django.core.exceptions import DisallowedHost, ObjectDoesNotExist
from django.db import IntegrityError, InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template import loader
from django.utils.log import log_response
from django.views.decorators.csrf import csrf_exempt

from annotate.api.auth import foreign_origin
from annotate.core.errors import RETRY_SECONDS, StorageError
from annotate.models import Project
from config.requests import CutOff, throw_away_body

# Classes of SQLSTATE: connections, transactions that lost against others, resources, locks, and being shut down.
_PASSING = ("08", "40", "53", "55P03", "57P")


def server_error(request: HttpRequest) -> HttpResponse:
    """Django calls it while it handles what a view or a middleware raised."""
    error = sys.exception()
    if error is not None and _is_of_deleted_project(request, error):
        return _api_error(404, "not_found", "This project was deleted.") if _is_api(request) else _page(404)
    if error is not None and _is_no_room(error):
        message = "The server has no room left on its disk. Nothing was stored."
        full: HttpResponse = _api_error(507, "no_room", message) if _is_api(request) else _page(507)
        throw_away_body(request)
        log_response("No room for %s: %s", request.path, error, response=full, request=request, level="error")
        return full
    if error is None or not passes(error):
        return _api_error(500, "server_error", "Something went wrong on our side.") if _is_api(request) else _page(500)
    is_of_files = isinstance(error, StorageError)
    if _is_api(request):
        who = "The store of files" if is_of_files else "The database"
        response: HttpResponse = _api_error(503, "unavailable", f"{who} can't answer just now; send the request again.")
    else:
        again = request.get_full_path() if request.method in ("GET", "HEAD") else ""
        response = _page(503, again=again, is_of_files=is_of_files)
    response["Retry-After"] = str(RETRY_SECONDS)
    said = "The store of files can't answer %s: %s" if is_of_files else "PostgreSQL can't answer %s: %s"
    why = str(error).partition("\n")[0]
    log_response(said, request.path, why, response=response, request=request, level="warning")
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, DisallowedHost):
        host = request.META.get("HTTP_HOST", "")[:80]
        message = (
            f"This installation doesn't answer to the host “{host}”. Its setting ALLOWED_HOSTS says to which it does."
        )
        return _api_error(400, "bad_host", message) if _is_api(request) else _page(400, host=host)
    if isinstance(exception, CutOff):
        return _api_error(400, "cut_off", str(exception)) if _is_api(request) else _page(400, cut_off=True)
    return _api_error(400, "bad_request", "The request can't be read.") if _is_api(request) else _page(400)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403_csrf.html", {"origin": foreign_origin(request, reason)}, status=403)


def too_large(request: HttpRequest, most: int) -> HttpResponse:
    """What a route was sent, of which it takes so many bytes."""
    if _is_api(request):
        return _api_error(413, "too_large", f"Send at most {most:,} bytes at once.")
    return _page(413, most=most)


def length_required(request: HttpRequest) -> HttpResponse:
    if _is_api(request):
        return _api_error(411, "length_required", "Send Content-Length, not the body in chunks.")
    return _page(400, status=411)


def other_charset(request: HttpRequest) -> HttpResponse:
    """A form whose texts would be misread (config/requests.py)."""
    if _is_api(request):
        return _api_error(415, "unsupported_media_type", "Send forms in UTF-8.")
    return _page(400, status=415)


def packed(request: HttpRequest) -> HttpResponse:
    if _is_api(request):
        return _api_error(415, "unsupported_media_type", "Send the body as it is, without Content-Encoding.")
    return _page(400, status=415)


@csrf_exempt  # or a POST to an address with a typing error is told that a form has expired
def no_such_route(request: HttpRequest) -> JsonResponse:
    message = "Route not found; /api/docs/ lists them all. Addresses end with a slash."
    return _api_error(404, "not_found", message)


def passes(error: BaseException) -> bool:
    """Whether it is PostgreSQL, or the store of files, that can't answer now and can later, not a statement that
    PostgreSQL refuses."""
    if isinstance(error, StorageError):
        return True
    if isinstance(error, OperationalError):
        code = getattr(error.__cause__, "sqlstate", None)
        return code is None or code.startswith(_PASSING)
    # What is said about a cursor of a connection that was lost before.
    return isinstance(error, InterfaceError) and (connection.connection is None or connection.connection.closed)


def _is_no_room(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _is_of_deleted_project(request: HttpRequest, error: BaseException) -> bool:
    """The view found the project of its address, which was then deleted: what it read or wrote next belongs to none."""
    match = request.resolver_match
    if match is None or "slug" not in match.kwargs or not isinstance(error, ObjectDoesNotExist | IntegrityError):
        return False
    return not Project.objects.filter(slug=match.kwargs["slug"]).exists()


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def _api_error(status: int, code: str, message: str) -> JsonResponse:
    return JsonResponse({"error": {"code": code, "message": message}}, status=status)


def _page(name: int, *, status: int = 0, **about: Any) -> HttpResponse:
    """Without the request, whose user is in the database."""
    return HttpResponse(loader.get_template(f"{name}.html").render(about), status=status or name)
