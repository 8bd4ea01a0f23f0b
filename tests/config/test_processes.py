"""The fixtures that start real processes do what they say: other tests build on them."""

import urllib.request

import pytest
from django.contrib.auth import get_user_model

from tests.conftest import LiveApp, Worker


def test_the_worker_works_and_becomes_idle(worker: Worker) -> None:
    from config.celery import app

    app.send_task("celery.backend_cleanup")
    worker.wait_idle()
    assert worker.is_running()


def test_the_application_survives_kill_9_at_the_same_address(live_app: LiveApp) -> None:
    address = live_app.url
    live_app.kill()
    assert not live_app.is_running()
    with pytest.raises(OSError):  # refused, or reset
        urllib.request.urlopen(f"{address}/healthz", timeout=5)
    live_app.start()
    assert live_app.url == address
    with urllib.request.urlopen(f"{address}/healthz", timeout=5) as reply:
        assert reply.status == 200


def test_a_signed_in_browser(new_page, live_app: LiveApp) -> None:
    user = get_user_model().objects.create_user(username="ada", password="irrelevant")
    page = new_page(user)
    page.goto("/api/docs/")
    page.get_by_role("heading", name="Touchstone").wait_for()  # swagger-ui ran, under our policy
    assert any(cookie["name"] == "touchstone-session" for cookie in page.context.cookies())
