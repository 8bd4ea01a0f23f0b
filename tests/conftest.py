"""The tests' own PostgreSQL and Redis, before Django reads its settings; and what is tidied up after every test.

What tests ask for is in the plugins: `tests.database`, `tests.processes` and `tests.pages`.
"""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Services and settings come before Django. pytest-xdist's workers inherit the environment of the process that starts
# them, so that one only starts the services, and the workers find them.

_XDIST_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
_SETTINGS = (
    "ALLOWED_HOSTS",
    "DATABASE_POOLER_URL",
    "DATABASE_URL",
    "DEBUG",
    "DEFAULT_FROM_EMAIL",
    "EMAIL_URL",
    "HOST",
    "JUDGE_MODELS_DIR",
    "JUDGE_SECRET_KEYS",
    "OIDC_ISSUER",
    "PASSWORD_LOGIN",
    "PORT",
    "PUBLIC_URL",
    "REDIS_URL",
    "S3_BUCKET",
    "SECRET_KEY",
    "TOUCHSTONE_ENV",
)

if not _XDIST_WORKER:
    # A developer's or a server's settings are none of the tests' business, and its database even less.
    for _name in _SETTINGS:
        os.environ.pop(_name, None)
    os.environ["DATA_DIR"] = tempfile.mkdtemp(prefix="ts-")  # short, for the sockets in it
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
os.environ["JUDGE_PRIVATE_HOSTS"] = "127.0.0.1"  # where `openai_server` is

# Thousands of tests are objects that stay: to look through all of them again and again takes a good part of the time.
gc.set_threshold(100_000, 50, 100)

from config import embedded  # noqa: E402

_DATA = embedded.data_dir()
_services = embedded.ensure_services() if not _XDIST_WORKER else None
# Each xdist worker has a Redis database of its own as well; pytest-django gives it a PostgreSQL database.
_REDIS_NUMBER = int(_XDIST_WORKER.removeprefix("gw")) + 1 if _XDIST_WORKER else 0
os.environ["REDIS_URL"] = embedded.redis_url(_DATA).replace("db=0", f"db={_REDIS_NUMBER}")

from frontend.translation.catalogue import compile_catalogues  # noqa: E402

compile_catalogues()

import django  # noqa: E402
import hypothesis  # noqa: E402
from django.conf import settings  # noqa: E402

# The same examples in every run, and no opinion on how fast a busy machine makes them.
hypothesis.settings.register_profile(
    "touchstone", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("touchstone")

# Slow on purpose, which tests that make users have no use for.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# In this process no hashed names and no manifest; `live_app` serves the real ones.
settings.STORAGES = {
    **settings.STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# And none of its files: every new test client starts WhiteNoise, which looks at each of hundreds.
settings.STATIC_ROOT = _DATA / "no-static"
settings.STATIC_ROOT.mkdir(exist_ok=True)  # WhiteNoise warns of one that isn't there, and a warning is an error here
django.setup()

from django.core.cache import cache  # noqa: E402
from django.utils import translation  # noqa: E402

import tests.clients  # noqa: E402, F401 (it makes logging in quicker)

pytest_plugins = ["tests.database", "tests.processes", "tests.pages", "tests.oidc_provider"]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """pytest-django has tests without a database come last, and of those the supervisor's take minutes: all other
    workers would wait for it. In the middle of the run it has company, and is not beside what a run begins with."""
    long = [item for item in items if item.path.name.startswith("test_supervisor")]
    others = [item for item in items if not item.path.name.startswith("test_supervisor")]
    middle = len(others) // 2
    items[:] = [*others[:middle], *long, *others[middle:]]


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    if _services is not None:
        _services.close()
        shutil.rmtree(_DATA, ignore_errors=True)


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    yield
    cache.clear()


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    """A request's language stays with its thread until the next request; here that is another test's."""
    yield
    translation.deactivate()
