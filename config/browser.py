"""`python -m config.browser`: find a Chromium for the browser tests, or install one. Prints its path."""

import os
import shutil
import subprocess
import sys

# The same browser without windows to draw: the tests take a quarter less time with it.
WINDOWLESS = "chromium-headless-shell"
NAMES = (WINDOWLESS, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """A Chromium that starts: the one named by CHROMIUM, one on the PATH, or Playwright's own."""
    if named := os.environ.get("CHROMIUM", "").strip():
        if not _starts(named):
            sys.exit(f"The environment variable CHROMIUM is {named!r}, but that is no Chromium that starts.")
        return named
    candidates = [found for name in NAMES if (found := shutil.which(name))]
    candidates.append(_playwrights_own())
    return next((path for path in candidates if _starts(path)), None)


def _playwrights_own() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _starts(path: str) -> bool:
    """Some distributions put a stub on the PATH that only says how to install the real one."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and "Chrom" in answer.stdout


def install_chromium() -> None:
    """Debian's where we may install it, else Playwright's own unless there is a Chromium already."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"Installing Debian's {WINDOWLESS} for the browser tests.", file=sys.stderr)
        # The fonts are for screenshots; without them the tests still pass.
        packages = (WINDOWLESS, "fonts-liberation", "fonts-noto-cjk")
        if _ran("apt-get", "update") and _ran("apt-get", "install", "--yes", *packages):
            return
    if find_chromium() is None:
        print("No Chromium found: installing Playwright's own.", file=sys.stderr)
        _ran(sys.executable, "-m", "playwright", "install", "chromium")


def _ran(*command: str) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    if done.returncode:
        print(f"`{' '.join(command)}` failed:\n{done.stdout[-2000:]}", file=sys.stderr)
    return done.returncode == 0


def main() -> None:
    if not os.environ.get("CHROMIUM", "").strip() and not shutil.which(WINDOWLESS):
        install_chromium()
    path = find_chromium()
    if path is None:
        sys.exit(
            "The browser tests need Chromium, and none could be found or installed. Install it (Debian: apt-get "
            "install chromium-headless-shell), or name one: CHROMIUM=/path/to/chromium make test"
        )
    print(path)


if __name__ == "__main__":
    main()
