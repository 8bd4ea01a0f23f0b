"""Parts of the application as forks of a process that has loaded it: they begin at once, and share what is loaded."""

from __future__ import annotations

import os
import runpy
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from config import embedded

BASE_DIR = Path(__file__).resolve().parent.parent
# What the process that forks has handlers for.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


# What each part would load besides, at its start or at the first request or task.
_LOADED_LATER = (
    "annotate.files.import_labels",
    "annotate.files.import_samples",
    "celery.apps.worker",
    "celery.worker.consumer",
    "config.pool",
    "gunicorn.app.wsgiapp",
    "gunicorn.arbiter",
    "gunicorn.workers.gthread",
    "judges.files.import_scores",
    "kombu.transport.redis",
)


def load_application() -> None:
    """What web, worker and importer have in common. It leaves neither a thread nor a connection, which a fork would
    not survive."""
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application
    from django.urls import reverse
    from django.utils import translation

    from config import collector
    from frontend.translation.catalogue import compile_catalogues

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    compile_catalogues()  # before anything reads them: a process reads each language once
    get_wsgi_application()
    for module in _LOADED_LATER:
        import_module(module)
    for language, _ in settings.LANGUAGES:
        with translation.override(language):
            reverse("home")
            translation.gettext("Overview")
    collector.freeze()


@contextmanager
def signals_held() -> Iterator[None]:
    """A signal that comes within arrives afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def fork(command: list[str], death_signal: signal.Signals, forget: Callable[[], object]) -> int:
    """Run `python -m COMMAND` in a fork of this process, with a process group of its own. Returns its id.

    To be called with `signals_held`: one that comes before the fork has let go of our handlers is not for us.

    death_signal: what it gets when we die. forget: closes what it must not hold open, such as our locks.
    """
    die_with_us = embedded.die_with_parent(death_signal)
    sys.stdout.flush()
    sys.stderr.flush()
    if pid := os.fork():
        return pid
    code = 1
    try:
        os.setsid()
        die_with_us()
        forget()
        for sent in SIGNALS:
            if signal.getsignal(sent) != signal.SIG_IGN:
                signal.signal(sent, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        code = _run(command)
    except BaseException:  # noqa: BLE001 - it must not go on as a second one of us
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(command: list[str]) -> int:
    """The exit code that `python -m` would end with."""
    from setproctitle import setproctitle

    setproctitle(" ".join(["python", "-m", *command]))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.chdir(BASE_DIR)
    os.environ[embedded.LOOKED_AFTER] = "true"
    sys.argv = list(command)
    try:
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    return 0
