"""The fixtures that start real processes do what they say: other tests build on them."""

import urllib.request

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from tests.processes import LiveApp, Worker


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
        urllib.request.urlopen(f"{address}/readyz", timeout=5)
    live_app.start()
    assert live_app.url == address
    with urllib.request.urlopen(f"{address}/readyz", timeout=5) as reply:
        assert reply.status == 200


def test_a_lost_database_connection_costs_no_request(live_app: LiveApp) -> None:
    """PostgreSQL restarts, a firewall cuts a connection: the next request opens another one, without an error."""
    for _ in range(3):
        for _ in range(8):  # more than there are threads to keep a connection
            with urllib.request.urlopen(f"{live_app.url}/readyz", timeout=5) as reply:
                assert reply.status == 200
        assert _end_other_sessions(), "the application kept no connection, so this shows nothing"


def _end_other_sessions() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, 10000)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return int(cursor.fetchone()[0])


def test_a_signed_in_browser(new_page, live_app: LiveApp) -> None:
    user = get_user_model().objects.create_user(username="ada", password="irrelevant")
    page = new_page(user)
    page.goto("/api/docs/")
    page.get_by_role("heading", name="Touchstone").wait_for()  # swagger-ui ran, under our policy
    assert any(cookie["name"] == "touchstone-session" for cookie in page.context.cookies())
