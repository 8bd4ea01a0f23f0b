"""`python -m config.worker`: Celery's worker without its command line, of which the start alone takes half a second.

What `celery --app config worker` does with the options that we use, and no check that has been made before.
"""

import argparse
import os
import sys
import warnings

from config.celery import app


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m config.worker")
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--include", action="append", default=[], help="a module to import at the start")
    options = parser.parse_args()
    # Celery advises against root at length; the operator who runs all of this as root has decided so.
    warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")
    os.environ.setdefault("SKIP_CHECKS", "1")  # Django's; config.prepare has made them
    worker = app.Worker(
        concurrency=options.concurrency,
        include=options.include,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
    )
    worker.start()
    sys.exit(worker.exitcode)


if __name__ == "__main__":
    main()
