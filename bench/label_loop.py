"""Label loops against gunicorn on this machine: save one label, submit, receive the next task.

    .venv/bin/python bench/label_loop.py [--loops 2000] [--port 8123]

Starts its own services in a temporary folder, so it disturbs nothing. Prints, for 1 and for 8 annotators at once:
loops per second, p50/p95 of saving, of submitting and of the whole loop, the count of replies that were not 200, and
for one annotator the p50 of the first and of the last 200 loops (flat: a history of labels costs nothing).
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def prepare(annotators: int, samples_each: int) -> dict[str, str]:
    """One project: every annotator has `samples_each` samples of their own. Returns session cookies by user name."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.cached_db import SessionStore

    from annotate.models import Sample, User
    from annotate.models.people import Role
    from annotate.services.batches import create_batch, open_batch
    from annotate.services.projects import create_project, set_member

    slug = f"bench-{annotators}"
    project = create_project(slug=slug, spec={"name": slug, "criteria": ["relevancy"]})
    users = []
    for index in range(annotators):
        user = User.objects.create_user(f"{slug}-{index}")
        set_member(project=project, user=user, role=Role.ANNOTATOR)
        users.append(user)
    contexts = [{"id": f"d{n}", "text": "The parcel is sent within two days. " * 12} for n in range(5)]
    Sample.objects.bulk_create(
        (
            Sample(
                project=project,
                external_id=f"s{n}",
                question="When is my parcel sent?",
                answer="Within two days. " * 12,
                contexts=contexts,
                claims=[{"text": "Within two days.", "start": 17 * k, "end": 17 * k + 16} for k in range(4)],
                content_hash=b"0" * 16,
            )
            for n in range(annotators * samples_each)
        ),
        batch_size=2000,
    )
    open_batch(
        batch=create_batch(
            project=project,
            name="bench",
            criteria=list(project.criteria.all()),
            annotators=users,
            overlap=1,
            selection={"method": "all"},
            seed=1,
        )
    )
    cookies = {}
    for user in users:
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.save()
        cookies[user.username] = str(session.session_key)
    return cookies


class Client:
    """One browser: a kept-alive connection with session and CSRF cookie."""

    def __init__(self, port: int, session: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        token = "a" * 32
        self.headers = {
            "Cookie": f"touchstone-session={session}; touchstone-csrf={token}",
            "X-CSRFToken": token,
            "Content-Type": "application/json",
        }

    def send(self, method: str, path: str, data: Any = None, **headers: str) -> tuple[int, Any, float]:
        payload = json.dumps(data) if data is not None else None
        start = time.perf_counter()
        self.connection.request(method, path, payload, {**self.headers, **headers})
        reply = self.connection.getresponse()
        text = reply.read()
        seconds = time.perf_counter() - start
        if reply.getheader("Content-Type") != "application/json":
            raise SystemExit(f"{method} {path} answered {reply.status}: {text[:500]!r}")
        return reply.status, json.loads(text), seconds


def work(port: int, session: str, slug: str, loops: int) -> dict[str, list[float]]:
    """The browser's loop: the current task and the prefetched one are held; each submit brings the one after."""
    client = Client(port, session)
    status, reply, _ = client.send("GET", f"/api/projects/{slug}/work/")
    task = reply["task"]
    _, reply, _ = client.send("GET", f"/api/projects/{slug}/work/?exclude={task['id']}")
    following = reply["task"]
    times: dict[str, list[float]] = {"save": [], "submit": [], "loop": [], "bad": []}
    for _ in range(loops):
        label = {"unit": "answer", "criterion": "relevancy", "value": 4, "active_seconds": 3}
        saved, _, save = client.send(
            "PUT",
            f"/api/tasks/{task['id']}/labels/",
            label,
            **{"If-Match": '"0"', "Idempotency-Key": str(uuid.uuid4())},
        )
        held = [following["id"]] if following else []
        submitted, reply, submit = client.send("POST", f"/api/tasks/{task['id']}/submit/", {"exclude": held})
        times["save"].append(save)
        times["submit"].append(submit)
        times["loop"].append(save + submit)
        times["bad"] += [float(code) for code in (saved, submitted) if code != 200]
        if following is None:
            break
        task, following = following, reply["next"]
    return times


def percentile(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1] * 1000


def measure(port: int, cookies: dict[str, str], slug: str, loops: int) -> None:
    start = time.perf_counter()
    with ProcessPoolExecutor(len(cookies)) as pool:
        runs = [pool.submit(work, port, session, slug, loops) for session in cookies.values()]
        results = [run.result() for run in runs]
    seconds = time.perf_counter() - start
    merged = {key: [value for result in results for value in result[key]] for key in results[0]}
    count = len(merged["loop"])
    print(
        f"{len(cookies)} annotator(s): {count / seconds:.0f} loops/s over {count} loops, {len(merged['bad'])} not 200"
    )
    for key in ("save", "submit", "loop"):
        print(f"  {key:6} p50 {percentile(merged[key], 50):5.1f} ms   p95 {percentile(merged[key], 95):5.1f} ms")
    if len(cookies) == 1 and count >= 400:
        first, last = statistics.median(merged["loop"][:200]), statistics.median(merged["loop"][-200:])
        print(f"  last 200 loops against the first 200: {last / first:.2f} x")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--loops", type=int, default=2000)
    parser.add_argument("--port", type=int, default=8123)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ts-") as folder:
        os.chmod(folder, 0o755)  # run as root, PostgreSQL works as another user and must pass
        os.environ["DATA_DIR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        from config import embedded

        with embedded.ensure_services():
            run(options)


def run(options: argparse.Namespace) -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from config.supervisor import WEB

    server = subprocess.Popen([sys.executable, "-m", *WEB], cwd=ROOT, env={**os.environ, "PORT": str(options.port)})
    try:
        one, eight = prepare(1, options.loops + 1), prepare(8, options.loops // 4 + 1)
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        connection.close()
        for _ in range(100):
            try:
                http.client.HTTPConnection("127.0.0.1", options.port, timeout=1).request("GET", "/healthz")
                break
            except OSError:
                time.sleep(0.1)
        measure(options.port, one, "bench-1", options.loops)
        measure(options.port, eight, "bench-8", options.loops // 4)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
