"""The cache may vanish; the database is the truth. Sessions then cost a query more, and nobody is logged out."""

import logging
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

import redis
from django.core.cache.backends.redis import RedisCache as DjangoRedisCache
from django.core.cache.backends.redis import RedisCacheClient

_log = logging.getLogger(__name__)


class _Client(RedisCacheClient):
    """Django's makes a new client for every operation, which takes longer than the operation."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._clients: dict[bool, Any] = {}

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        if write not in self._clients:
            self._clients[write] = super().get_client(key, write=write)
        return self._clients[write]


class RedisCache(DjangoRedisCache):
    """Django's Redis cache, except that an unreachable Redis is a miss: reads find nothing, writes are dropped.

    Only what the sessions and the application use is softened. Counters (`incr`) still raise: a lost count is wrong.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = _Client

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            return self._or(default, super().get, key, default, version)
        except (AttributeError, ImportError, UnpicklingError) as error:
            # An earlier version of Touchstone put it in, and its class has moved since.
            _log.warning("What the cache has as %s can't be read, and is worked out again: %s", key, error)
            return default

    def set(self, key: Any, value: Any, *args: Any, **kwargs: Any) -> None:
        self._or(None, super().set, key, value, *args, **kwargs)

    def add(self, key: Any, value: Any, *args: Any, **kwargs: Any) -> bool:
        return bool(self._or(False, super().add, key, value, *args, **kwargs))

    def delete(self, key: Any, version: int | None = None) -> bool:
        return bool(self._or(False, super().delete, key, version))

    def has_key(self, key: Any, version: int | None = None) -> bool:
        return bool(self._or(False, super().has_key, key, version))

    def clear(self) -> None:
        """Only our own keys: Celery's queue lives in the same Redis database, and Django's version empties that."""
        self._or(None, self._delete_own)

    def _delete_own(self) -> None:
        client = self._cache.get_client(write=True)
        for key in client.scan_iter(match=f"{self.key_prefix}:*", count=1000):
            client.delete(key)

    @staticmethod
    def _or(fallback: Any, operation: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            return operation(*args, **kwargs)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            _log.warning("Redis is unreachable, going on without the cache: %s", error)
            return fallback
