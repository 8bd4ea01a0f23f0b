"""Health, the cache that may vanish, and the readable page of the API."""

import pytest
import redis
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from config.cache import RedisCache

NOWHERE = "redis://127.0.0.1:1/0"


@pytest.mark.django_db
def test_healthy(client: Client) -> None:
    reply = client.get("/healthz")
    assert reply.status_code == 200
    assert reply.json() == {"status": "ok", "database": True, "redis": True}


@pytest.mark.django_db
def test_without_redis_it_is_degraded_and_tells_no_address(client: Client, settings) -> None:
    """Labelling goes on; whoever sends requests must not take this process for dead."""
    settings.REDIS_URL = NOWHERE
    reply = client.get("/healthz")
    assert reply.status_code == 200
    assert reply.json() == {"status": "degraded", "database": True, "redis": False}


@pytest.mark.django_db
def test_without_database_it_is_unavailable(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.health._database_answers", lambda: False)
    assert client.get("/healthz").status_code == 503


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
