"""A run that stops by itself."""

from __future__ import annotations

from django.db import transaction

from annotate.core.trail import note
from judges.models import Run, RunState


def stop_run(run_id: int, code: str, message: str) -> None:
    """What is under way still comes in; what waits stays, for when the run is resumed."""
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).select_related("version__judge__project").get(pk=run_id)
        if run.state != RunState.RUNNING:
            return
        run.state = RunState.STOPPED
        run.stop_code, run.stop_message = code[:40], message
        run.save(update_fields=["state", "stop_code", "stop_message"])
        judge = run.version.judge
        note(
            actor=None, action="run.stopped", subject=judge.name, project=judge.project, run=run.pk, code=run.stop_code
        )
