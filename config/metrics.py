"""`/metrics` for Prometheus, once METRICS_TOKEN is set; only then is this loaded.

The processes of one gunicorn count into files of a folder of their own, and whichever is asked adds them up. What is
told names routes and states, and never a person, a project or an address.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import Error
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotate.files.import_queue import TO_DO
from annotate.models import ImportJob, Job
from annotate.models.job import UNDER_WAY, JobKind, JobStatus
from annotate.tasks.labelling import labels_saved, task_submitted
from config import env
from config.health import database_answers, files_answer, redis_answers
from judges.models import Run, RunState
from systems.models import TargetRun

_OPEN = (RunState.RUNNING, RunState.PAUSED, RunState.STOPPED)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def _make_folder() -> None:
    """Before the library is loaded, which asks for it then, and before workers are forked, which share it."""
    folder = tempfile.mkdtemp(prefix="touchstone-metrics-", dir=env.text("WEB_HEARTBEAT_DIR") or None)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
    maker = os.getpid()

    def remove() -> None:
        if os.getpid() == maker:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)


_make_folder()

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest  # noqa: E402
from prometheus_client.core import GaugeMetricFamily, Metric  # noqa: E402
from prometheus_client.multiprocess import MultiProcessCollector  # noqa: E402

_requests = Counter("touchstone_requests", "Requests answered.", ["route", "method", "status"])
_durations = Histogram(
    "touchstone_request_duration_seconds",
    "Seconds until the first byte of the response.",
    ["route", "method"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
_labels = Counter("touchstone_labels_saved", "Labels that people saved, changes of labels among them.")
_submitted = Counter("touchstone_tasks_submitted", "Tasks that people submitted.")


class Metrics:
    """Middleware: counts what is answered, and answers `/metrics`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info == "/metrics":
            return _page(request)
        began = time.perf_counter()
        response = self._get_response(request)
        route, method = _route(request), request.method if request.method in _METHODS else "other"
        _requests.labels(route, method, f"{response.status_code // 100}xx").inc()
        _durations.labels(route, method).observe(time.perf_counter() - began)
        return response


def _route(request: HttpRequest) -> str:
    """As it stands in the URLs, with the names of its parameters in place of what they are."""
    if request.resolver_match:
        return "/" + request.resolver_match.route.removeprefix("^")
    return settings.STATIC_URL if request.path_info.startswith(settings.STATIC_URL) else "none"


def _count_labels(count: int, **_: Any) -> None:
    _labels.inc(count)


def _count_task(**_: Any) -> None:
    _submitted.inc()


labels_saved.connect(_count_labels)
task_submitted.connect(_count_task)


@require_safe
@never_cache
def _page(request: HttpRequest) -> HttpResponse:
    expected = f"Bearer {settings.METRICS_TOKEN}".encode()
    if not secrets.compare_digest(request.headers.get("Authorization", "").encode(), expected):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    registry.register(_Now())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Now:
    """What is so at this moment, whichever process is asked."""

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("touchstone_up", "Whether it answers.", labels=["service"])
        has_database = database_answers()
        up.add_metric(["database"], has_database)
        up.add_metric(["redis"], redis_answers())
        up.add_metric(["files"], files_answer())
        yield up
        if has_database:
            try:
                yield from _jobs()
            except Error:
                pass  # it went away in between
        if memory := _memory():
            yield GaugeMetricFamily(
                "touchstone_web_memory_bytes", "Of all web processes, with what they share counted once.", value=memory
            )


def _jobs() -> Iterator[Metric]:
    jobs = GaugeMetricFamily("touchstone_jobs", "Background jobs that are not done.", labels=["kind", "state"])
    oldest = GaugeMetricFamily(
        "touchstone_oldest_waiting_job_seconds",
        "Since the oldest job that waits was created; 0 while none does.",
        labels=["kind"],
    )
    now = timezone.now()
    for kind, found, field, states in (
        ("import", ImportJob.objects.all(), "status", TO_DO),
        *((kind, Job.objects.filter(kind=kind), "status", UNDER_WAY) for kind in JobKind.values),
        ("judge_run", Run.objects.all(), "state", _OPEN),
        ("target_run", TargetRun.objects.all(), "state", _OPEN),
    ):
        open_jobs = found.filter(**{f"{field}__in": states}).order_by()
        rows = open_jobs.values_list(field).annotate(Count("pk"), Min("created_at"))
        by_state = {state: (count, first) for state, count, first in rows}
        for state in states:
            count, first = by_state.get(state, (0, now))
            jobs.add_metric([kind, state], count)
            # Runs have no such state: they are running from the start.
            if state == JobStatus.WAITING:
                oldest.add_metric([kind], max(0.0, (now - first).total_seconds()))
    yield from (jobs, oldest)


def _memory() -> int:
    """Of gunicorn's main process and those that it has forked; 0 where the system doesn't say."""
    main = os.getppid()
    try:
        forked = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        return sum(_proportional_size(pid) for pid in [str(main), *forked])
    except OSError:
        return 0


def _proportional_size(pid: str) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0
