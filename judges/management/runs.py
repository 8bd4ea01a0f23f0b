"""What commands share that start a run: they wait for its end, and work it themselves where there is no worker."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import ClassVar, Protocol, TypeVar

from django.core.management.base import CommandError

from annotate.core.errors import Refusal
from annotate.management.base import OneLineCommand
from judges.models import RunState

# It ended, but not as done, or not with everything; and it didn't begin.
NOT_DONE, NOT_STARTED = 1, 2
_LOOK_SECONDS = 0.5
# For so long a worker may take to come before this process works the run itself.
_PATIENCE_SECONDS = 3.0


class Waited(Protocol):
    """A run, of a judge or of a target."""

    state: str
    stop_message: str

    def refresh_from_db(self) -> None: ...

    def get_state_display(self) -> str: ...


class Progress(Protocol):
    @property
    def is_waiting_for_worker(self) -> bool: ...


_Progress = TypeVar("_Progress", bound=Progress)


class RunCommand(OneLineCommand):
    """working: what it says that it does in this process."""

    refused = NOT_STARTED
    working: ClassVar[str]

    def wait(self, run: Waited, look: Callable[[], tuple[_Progress, str]], work: Callable[[], None]) -> _Progress:
        """Its progress at the end. look: its progress, and that in a line. work: works it in this process. Raises
        CommandError where it ends otherwise than as done, or can't go on."""
        try:
            progress = self._until_it_ends(run, look, work)
        except Refusal as refusal:
            raise CommandError(refusal.message, returncode=NOT_DONE) from refusal
        if run.state != RunState.DONE:
            raise CommandError(
                run.stop_message or f"The run is {run.get_state_display().lower()}.", returncode=NOT_DONE
            )
        return progress

    def _until_it_ends(
        self, run: Waited, look: Callable[[], tuple[_Progress, str]], work: Callable[[], None]
    ) -> _Progress:
        without_worker_since: float | None = None
        shown = ""
        while True:
            run.refresh_from_db()
            progress, line = look()
            if line != shown:
                self.stdout.write(line)
                self.stdout.flush()
                shown = line
            if run.state != RunState.RUNNING:
                return progress
            if not progress.is_waiting_for_worker:
                without_worker_since = None
            elif without_worker_since is None:
                without_worker_since = time.monotonic()
            elif time.monotonic() - without_worker_since > _PATIENCE_SECONDS:
                self.stdout.write(f"No worker found; {self.working} in this process.")
                work()
                continue
            time.sleep(_LOOK_SECONDS)


def amount_of(text: str | None) -> Decimal | None:
    """A budget. Raises Refusal."""
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        raise Refusal("bad_budget", "--budget takes an amount, such as 2.50.") from None
