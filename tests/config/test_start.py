"""What every process of the application loads before it does anything."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

# Each takes a good part of a second, and every web process and every command would pay for it.
SLOW = {
    "alignment.public", "alignment.report", "authlib", "gepa", "httpcore2", "httpx", "httpx2", "matplotlib", "numpy",
    "openai", "pandas", "prometheus_client", "pyarrow", "rapidfuzz", "requests", "scipy", "sklearn", "torch",
    "transformers",
}  # fmt: skip

LOAD = """
import sys, django
# Only the tests' S3 server brings it, and REST framework loads it where it is: a server has none.
sys.modules["requests"] = None
django.setup()
from django.urls import get_resolver
import config.celery, judges.celery_tasks, annotate.celery_tasks
assert get_resolver().url_patterns
print(" ".join(name for name, module in sys.modules.items() if module))
"""


def test_what_is_slow_to_load_waits_until_it_is_needed() -> None:
    done = subprocess.run([sys.executable, "-c", LOAD], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {"judges", "rest_framework"} <= loaded
    assert not SLOW & loaded


def test_the_supervisor_says_what_is_wrong_before_it_loads_the_application() -> None:
    script = "import sys, config.supervisor; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"celery", "django.apps", "django.db"} & set(done.stdout.split())


def test_every_benchmark_loads() -> None:
    """They share pieces with each other, and most run seldom."""
    script = """
import importlib, pathlib
for path in sorted(pathlib.Path("bench").glob("**/*.py")):
    if path.stem != "__main__":
        importlib.import_module(".".join(path.with_suffix("").parts))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
