"""A request that waits for a row gives up after a few seconds, and says when to try again."""

from __future__ import annotations

import urllib.error
import urllib.request

from django.conf import settings
from django.db import transaction
from django.utils.crypto import get_random_string

from annotate.models import Membership, Project, User
from config.waits import LOCK_SECONDS
from tests.processes import LiveApp


def test_who_waits_for_a_row_gets_a_503(live_app: LiveApp) -> None:
    project = Project.objects.create(slug="p", name="P")
    user = User.objects.create_user("ada")
    Membership.objects.create(project=project, user=user, role="admin")
    session, token = live_app.session_cookie(user), get_random_string(32)
    request = urllib.request.Request(
        f"{live_app.url}/api/projects/p/",
        method="PATCH",
        data=b'{"name": "Another"}',
        headers={
            "Content-Type": "application/json",
            "Cookie": f"{session['name']}={session['value']}; {settings.CSRF_COOKIE_NAME}={token}",
            "X-CSRFToken": token,
        },
    )
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        try:
            with urllib.request.urlopen(request, timeout=10 * LOCK_SECONDS) as reply:
                answer = reply.status, dict(reply.headers), reply.read()
        except urllib.error.HTTPError as error:
            answer = error.code, dict(error.headers), error.read()
    status, headers, body = answer
    assert status == 503, body
    assert int(headers["Retry-After"]) > 0
    assert b'"unavailable"' in body
    with urllib.request.urlopen(request, timeout=10 * LOCK_SECONDS) as reply:
        assert reply.status == 200
