"""`python -m config.browser`: find a Chromium for the browser tests, or install one. Prints its path."""

import os
import shutil
import subprocess
import sys

from config import debian

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
    if debian.may_install():
        print(f"Installing Debian's {WINDOWLESS} for the browser tests.", file=sys.stderr)
        # The fonts are for screenshots; without them the tests still pass.
        packages = (WINDOWLESS, "fonts-liberation", "fonts-noto-cjk")
        if debian.ran("apt-get", "update") and debian.ran("apt-get", "install", "--yes", *packages):
            return
    if find_chromium() is None:
        print("No Chromium found: installing Playwright's own.", file=sys.stderr)
        debian.ran(sys.executable, "-m", "playwright", "install", "chromium")


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
