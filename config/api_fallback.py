"""What is not below /api/ is a page; what is, answers in JSON, also when there is no such route."""

from django.http import HttpRequest, JsonResponse


def no_such_route(request: HttpRequest) -> JsonResponse:
    message = "There is no such route; /api/docs/ lists them. Addresses end with a slash."
    return JsonResponse({"error": {"code": "not_found", "message": message}}, status=404)
