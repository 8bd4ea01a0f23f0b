"""Every error reply has one shape: {"error": {"code", "message"}, …details}."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_exception_handler

from annotate.errors import Refusal


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(error, Refusal):
        return _reply(error.status, error.code, error.message, error.details)
    if isinstance(error, Http404):
        return _reply(404, "not_found", str(error) or "There is no such thing here.")
    if isinstance(error, PermissionDenied):
        return _reply(403, getattr(error, "code", "forbidden"), str(error) or "You may not do this.")
    response = drf_exception_handler(error, context)
    if response is None or not isinstance(error, exceptions.APIException):
        return response
    if isinstance(error, exceptions.ValidationError):
        response.data = {
            "error": {"code": "invalid", "message": "Some fields can't be taken as they are."},
            "fields": error.detail,
        }
        response.status_code = 422
        return response
    code = error.get_codes()
    response.data = {"error": {"code": code if isinstance(code, str) else "invalid", "message": str(error.detail)}}
    return response


def _reply(status: int, code: str, message: str, details: dict[str, Any] | None = None) -> Response:
    return Response({"error": {"code": code, "message": message}, **(details or {})}, status=status)
