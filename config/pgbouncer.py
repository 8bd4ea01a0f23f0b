"""`python -m config.pgbouncer`: find a PgBouncer for the tests of the pooler, or fetch Debian's."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from config import debian

# The package installed would run as a service, and have PostgreSQL's user and folders made. Its program alone does not.
_FETCHED = Path(sys.prefix) / "pgbouncer"
MISSING = (
    "No PgBouncer found. `make test` fetches Debian's where it runs as root; elsewhere install it (Debian: apt-get "
    "install pgbouncer), or name one: PGBOUNCER=/path/to/pgbouncer make test"
)


def find_pgbouncer() -> str | None:
    """A PgBouncer that starts: the one named by PGBOUNCER, an installed one, or the one that was fetched."""
    if named := os.environ.get("PGBOUNCER", "").strip():
        if not _starts(named):
            sys.exit(f"The environment variable PGBOUNCER is {named!r}, but that is no PgBouncer that starts.")
        return named
    # Debian's stands where only root's PATH leads.
    installed = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin")
    candidates = [path for path in (installed, str(_FETCHED / "usr" / "sbin" / "pgbouncer")) if path]
    return next((path for path in candidates if _starts(path)), None)


def _starts(path: str) -> bool:
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and answer.stdout.startswith("PgBouncer")


def _fetch() -> None:
    print("Fetching Debian's PgBouncer for the tests of the pooler.", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=sys.prefix) as folder:
        if not (debian.ran("apt-get", "update") and debian.ran("apt-get", "download", "pgbouncer", cwd=folder)):
            return
        (package,) = Path(folder).glob("*.deb")
        needed = subprocess.run(["dpkg-deb", "--field", package, "Depends"], capture_output=True, text=True, check=True)
        libraries = [one for one in re.split(r",\s*", needed.stdout.strip()) if one.startswith("lib")]
        unpacked = Path(folder) / "unpacked"
        if debian.ran("apt-get", "satisfy", "--yes", "--no-install-recommends", ", ".join(libraries)) and debian.ran(
            "dpkg-deb", "--extract", str(package), str(unpacked)
        ):
            shutil.rmtree(_FETCHED, ignore_errors=True)
            unpacked.rename(_FETCHED)


def main() -> None:
    if find_pgbouncer() is None and debian.may_install():
        _fetch()
    if find_pgbouncer() is None:
        sys.exit(MISSING)


if __name__ == "__main__":
    main()
