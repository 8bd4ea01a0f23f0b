"""`python3.11 config/install.py VENV FILE [EXTRA …]`: make the virtual environment and install a requirements file into
it, unless that is already done; then each extra, a name out of requirements-NAME.txt (`make run WITH=ragas`).

Run by the Makefile with the system's Python, so it uses the standard library only.
"""

import fcntl
import hashlib
import os
import subprocess
import sys

WANTED = (3, 11)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OURS = ".venv"
EXTRAS = ("models", "ragas", "s3")
# It brings a plugin of pytest, which would take part in every test.
APART = ("exports",)


def main(venv: str, requirements: str, extras: "list[str]") -> None:
    if sys.version_info[:2] != WANTED:
        sys.exit(
            "Touchstone needs Python 3.11, but {} is Python {}.{}. "
            "Name another one: PYTHON=/path/to/python3.11 make".format(sys.executable, *sys.version_info[:2])
        )
    known = EXTRAS if venv == OURS else EXTRAS + APART
    for extra in extras:
        if extra not in known:
            sys.exit("There is nothing to install WITH={}. What there is: {}.".format(extra, ", ".join(known)))
    with open(__file__) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two `make` at once: the second finds the work done
        install(venv, requirements)
        for extra in extras:
            # The file names all that is needed, so nothing else is looked for: what the application pins stays, even
            # where some part of an extra that is never used asks for another version.
            install(venv, "requirements-{}.txt".format(extra), ["--no-deps"])


def install(venv: str, requirements: str, options: "list[str] | None" = None) -> None:
    python = os.path.join(ROOT, venv, "bin", "python")
    mark = os.path.join(ROOT, venv, requirements + ".sha256")
    wanted = fingerprint(requirements)
    usable = works(python)
    if usable and os.path.exists(mark) and read(mark) == wanted:
        return
    if not usable:
        print("Making the virtual environment {} …".format(venv), flush=True)
        run([sys.executable, "-m", "venv", "--clear", venv], "On Debian and Ubuntu: apt-get install python3.11-venv")
    print("Installing {} …".format(requirements), flush=True)
    pip = ["install", "--quiet", "--disable-pip-version-check", "--no-input", "--requirement", requirements]
    pip += options or []
    if not sys.dont_write_bytecode:
        pip.append("--no-compile")  # half of the time, for files that are mostly unused; Python compiles the others
    run([python, "-m", "pip", *pip], "Is the network, or a package index, reachable?")
    with open(mark, "w") as file:
        file.write(wanted)


def fingerprint(requirements: str) -> str:
    """Of this file and those it includes."""
    state = hashlib.sha256()
    text = read(os.path.join(ROOT, requirements))
    state.update(text.encode())
    for line in text.splitlines():
        if line.startswith("-r "):
            state.update(fingerprint(line[3:].strip()).encode())
    return state.hexdigest()


def works(python: str) -> bool:
    """False when it is missing, half made, made by another Python version, or its Python is gone."""
    check = "import sys, pip; sys.exit(sys.version_info[:2] != {!r})".format(WANTED)
    try:
        return subprocess.run([python, "-c", check], capture_output=True).returncode == 0
    except OSError:
        return False


def run(command: "list[str]", hint: str) -> None:
    environment = {**os.environ, "PIP_ROOT_USER_ACTION": "ignore"}
    if subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, env=environment).returncode:
        sys.exit("`{}` failed, see above. {}".format(" ".join(command), hint))


def read(path: str) -> str:
    with open(path) as file:
        return file.read()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
