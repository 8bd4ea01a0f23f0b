"""Debian's packages of programs that the tests need and PyPI does not have."""

import os
import shutil
import subprocess
import sys


def may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def ran(*command: str, cwd: str | None = None) -> bool:
    """Whether it succeeded. What it says is shown only where it fails."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        cwd=cwd,
    )
    if done.returncode:
        print(f"`{' '.join(command)}` failed:\n{done.stdout[-2000:]}", file=sys.stderr)
    return done.returncode == 0
