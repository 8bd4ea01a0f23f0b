"""Health, the cache that may vanish, and the readable page of the API."""

from typing import Any

import pytest
import redis
from django.conf import settings
from django.core.cache import cache
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from config.cache import RedisCache

NOWHERE = "redis://127.0.0.1:1/0"


WELL = {"status": "ok", "database": True, "migrations": True, "redis": True, "files": True}


def test_alive_asks_nobody(client: Client) -> None:
    """Without the database: the test may use none."""
    reply = client.get("/livez", headers={"Host": "10.0.0.7:8000"})
    assert (reply.status_code, reply.json()) == (200, {"status": "ok"})
    assert client.post("/livez").status_code == 405


@pytest.mark.django_db
def test_ready(client: Client, settings, django_assert_num_queries: Any) -> None:
    """In one query, and as a probe asks: on plain http, by an address that is no name of ours."""
    settings.SECURE_SSL_REDIRECT = True
    with django_assert_num_queries(1):
        reply = client.get("/readyz", headers={"Host": "10.0.0.7:8000"})
    assert (reply.status_code, reply.json()) == (200, WELL)
    assert "no-store" in reply["Cache-Control"]
    assert not reply.cookies


@pytest.mark.django_db
def test_without_redis_it_is_degraded_and_tells_no_address(client: Client, settings) -> None:
    """Labelling goes on; whoever sends requests must not take this process for dead."""
    settings.REDIS_URL = NOWHERE
    reply = client.get("/readyz")
    assert reply.status_code == 200
    assert reply.json() == {**WELL, "status": "degraded", "redis": False}


@pytest.mark.django_db
def test_with_tables_of_an_earlier_version_it_is_not_ready(client: Client) -> None:
    MigrationRecorder.Migration.objects.get(app="annotate", name="0034_chain_entries_of_before").delete()
    reply = client.get("/readyz")
    assert reply.status_code == 503
    assert reply.json() == {**WELL, "status": "unavailable", "migrations": False}


@pytest.mark.django_db
def test_what_a_newer_version_has_applied_does_no_harm(client: Client) -> None:
    """While it is rolled out, processes of both serve."""
    MigrationRecorder.Migration.objects.create(app="annotate", name="9999_newer")
    assert client.get("/readyz").status_code == 200


def test_an_unreachable_redis_is_an_empty_cache() -> None:
    lost = RedisCache(NOWHERE, {"OPTIONS": {"socket_connect_timeout": 0.2}})
    lost.set("key", "value")
    assert lost.get("key", "fallback") == "fallback"
    assert lost.add("key", "value") is False
    assert lost.delete("key") is False
    assert "key" not in lost
    lost.clear()


def test_what_an_earlier_version_put_in_is_a_miss() -> None:
    """Its classes may have moved: an upgrade leaves Redis as it is."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.set(cache.make_key("of-before"), b"\x80\x04cjudges.selectors.drift\nDrift\n.")
    assert cache.get("of-before", "nothing") == "nothing"
    cache.set("of-before", "ours")
    assert cache.get("of-before") == "ours"


def test_emptying_the_cache_leaves_the_queue() -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.set("somebody-else", "1")
        cache.set("key", "value")
        cache.clear()
        assert cache.get("key") is None
        assert client.get("somebody-else") == b"1"
        client.delete("somebody-else")


def test_the_content_security_policy_is_enforced_everywhere(client: Client) -> None:
    for path in ("/api/docs/", "/login/", "/no-such-page/"):
        policy = client.get(path)["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy


def test_the_api_page_has_no_inline_code(client: Client) -> None:
    text = client.get("/api/docs/").content.decode()
    assert "<style" not in text
    assert "<script>" not in text
    assert "api/docs/?script=" in text
