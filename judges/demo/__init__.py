"""The demo's judges: made, looked at as its admin did, and run."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import datetime
from random import Random

from annotate.core.errors import Refusal
from annotate.demo import DEMO_FOLDER
from annotate.models import Project, User
from annotate.projects.read import criterion_named
from judges.certificates.write import issue_certificate, look_at_test
from judges.endpoints.write import create_endpoint
from judges.models import Certificate, Look, Run, RunState
from judges.runs.places import place_of
from judges.runs.work import work
from judges.runs.write import start_run
from judges.versions.specs import judge_from_spec

_SEED = 7
_WAIT_SECONDS = 60
# Which judges are looked at, in which order, and whether a certificate is issued.
_LOOKS = (("claim-checker", True), ("lenient-llm", False), ("passage-match", True))


def look_at_judges(project: Project, *, at: datetime) -> None:
    """As the admin did then, by the labels there were."""
    alma = User.objects.get(username="alma")
    criterion = criterion_named(project, "support")
    for name, certifies in _LOOKS:
        look = look_at_test(criterion=criterion, judge_name=name, user=alma)
        Look.objects.filter(pk=look.pk).update(created_at=at)
        if certifies:
            certificate = issue_certificate(look=look, user=alma)
            Certificate.objects.filter(pk=certificate.pk).update(created_at=at)


def create_demo_judges(project: Project) -> list[Run]:
    """Makes them, and starts the runs of those that ask no model. Where an endpoint on this machine isn't allowed
    (JUDGE_PRIVATE_HOSTS), the one that needs it is left out."""
    has_endpoint = _create_endpoint(project)
    runs = []
    for file in sorted((DEMO_FOLDER / "judges").glob("*.json")):
        spec = json.loads(file.read_text(encoding="utf-8"))
        if spec.get("endpoint") is None:
            version = judge_from_spec(project=project, spec=spec).version
            runs.append(start_run(version=version, scope={"all": True}))
        elif has_endpoint:
            judge_from_spec(project=project, spec=spec)
    return runs


def finish_runs(runs: Sequence[Run]) -> None:
    """Works at runs that are committed until they are done, also when a worker is at them. Raises Refusal when that
    takes too long."""
    deadline = time.monotonic() + _WAIT_SECONDS
    for run in runs:
        while run.state == RunState.RUNNING:
            if time.monotonic() > deadline:
                raise Refusal("not_scored", f"The demo's judges are not done after {_WAIT_SECONDS} s.")
            work(place_of(run), rng=Random(_SEED), in_worker=False)
            run.refresh_from_db()
            if run.state == RunState.RUNNING:
                # A worker has got hold of it first.
                time.sleep(0.05)


def _create_endpoint(project: Project) -> bool:
    try:
        create_endpoint(project=project, **json.loads((DEMO_FOLDER / "endpoint.json").read_text(encoding="utf-8")))
    except Refusal:
        return False
    return True
