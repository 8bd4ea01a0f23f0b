"""The labelling workspace in Chromium, over real HTTP, as `make run` serves it.

    python -m bench.workspace [--visits 7] [--swaps 60] [--rounds 10]

First visit, each time with an empty cache: bytes and requests, and the time from the start of the navigation until the
first task is on the screen and keys work. Then one person labels by keyboard: the time from a key that chooses until
the choice is on the screen, and from the key that submits until the next task is. The same with contexts of 200 kB,
together and in one; in the latter also searching and attaching evidence, key by key.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from bench.stage import (
    Annotator,
    Web,
    demo_samples,
    figure,
    heading,
    make_project,
    median,
    own_services,
    percentile,
    web,
)
from config.browser import find_chromium

CRITERIA = ["support", "relevance", "fact_in_answer", "relevancy"]
LARGE = 200_000
ONE_LONG = "one-context-of-200-kb"
PROBE = Path(__file__).with_name("workspace_probe.js")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Every criterion of the demo has an option on this key.
CHOOSE = "1"
SAVED = '#save-state[data-state="saved"]'


class Traffic:
    """What a page loads: bytes as they come over the wire, headers included."""

    def __init__(self, session: CDPSession) -> None:
        self.requests = 0
        self.size_of: Counter[str] = Counter()
        self._kinds: dict[str, str] = {}
        session.on("Network.requestWillBeSent", self._on_request)
        session.on("Network.loadingFinished", self._on_finished)
        session.send("Network.enable")

    def _on_request(self, event: dict[str, Any]) -> None:
        self.requests += 1
        self._kinds[event["requestId"]] = event["type"]

    def _on_finished(self, event: dict[str, Any]) -> None:
        self.size_of[self._kinds[event["requestId"]]] += int(event["encodedDataLength"])


@contextmanager
def chromium() -> Iterator[Browser]:
    path = find_chromium()
    if path is None:
        raise SystemExit("No Chromium found: `python -m config.browser` installs one; or set CHROMIUM to its path.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def visit(browser: Browser, running: Web, slug: str, annotator: Annotator) -> Iterator[tuple[Page, Traffic]]:
    """The workspace in a fresh profile, loaded to its end, and what that took; nothing later is counted."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_cookies([{"name": "touchstone-session", "value": annotator.session, "url": running.url}])
    page = context.new_page()
    page.add_init_script(path=PROBE)
    session = context.new_cdp_session(page)
    traffic = Traffic(session)
    page.goto(f"{running.url}/p/{slug}/label/")
    page.wait_for_selector("#work:not([hidden])")
    page.wait_for_load_state("networkidle")
    session.detach()
    yield page, traffic
    context.close()


def measure_visits(browser: Browser, running: Web, slug: str, annotator: Annotator, count: int) -> None:
    usable: list[float] = []
    # One more, not counted: it finds the server's database connections and Chromium's own start still to be made.
    for number in range(count + 1):
        with visit(browser, running, slug, annotator) as (page, traffic):
            if number:
                usable.append(page.evaluate("probe.usable"))
            press(page, CHOOSE, "choices")  # a key works; saved, before the next visit reads the same task
            page.wait_for_selector(SAVED)
    heading(f"{slug}: first visit, {count} times with an empty cache")
    figure("bytes", f"{sum(traffic.size_of.values()) / 1000:.1f} kB", "≤ 110 kB")
    sizes = ", ".join(f"{kind.lower()} {size / 1000:.1f} kB" for kind, size in traffic.size_of.most_common())
    figure("", sizes)
    figure("requests", f"{traffic.requests}", "≤ 12")
    figure("usable", f"median {median(usable):.0f} ms   worst {max(usable):.0f} ms", "≤ 250 ms")


def measure_swaps(browser: Browser, running: Web, slug: str, annotator: Annotator, count: int) -> None:
    with visit(browser, running, slug, annotator) as (page, _):
        for _ in range(count):
            for _ in range(page.evaluate("Number(document.getElementById('progress').dataset.total)")):
                press(page, CHOOSE, "choices")
            # A person is slower than the server: when they submit, the choices are saved and the next task is here.
            page.wait_for_selector(SAVED)
            press(page, "Enter", "swaps")
        choices, swaps, shown = (page.evaluate(f"probe.{name}") for name in ("choices", "swaps", "shown"))
    heading(f"{slug}: {count} tasks by keyboard, {len(choices) // count} choices each")
    figure("key to choice on the screen", both(choices))
    figure("submit to next task in the page", both(shown))
    figure("submit to next task on the screen", both(swaps), "≤ 50 ms")


def measure_texts(browser: Browser, running: Web, slug: str, annotator: Annotator, rounds: int) -> None:
    """Reading a long context: each key of a search, each step of the evidence cursor, until it is on the screen."""

    def timed(keys: list[str]) -> list[float]:
        before = page.evaluate("probe.choices.length")
        for key in keys:
            press(page, key, "choices")
        times: list[float] = page.evaluate("(from) => probe.choices.slice(from)", before)
        return times

    with visit(browser, running, slug, annotator) as (page, _):
        opening = timed(["/"])
        typing, next_hit = [], []
        for _ in range(rounds):
            # One letter has the most hits.
            typing += timed([*"the day", *["Backspace"] * 6])
            next_hit += timed(["F3"] * 5)
            page.locator("#search-words").fill("")
        timed(["Escape"])
        entering = timed(["e"])
        stepping = timed([*["ArrowDown"] * 5 * rounds, *["ArrowUp"] * rounds])
        extending = timed(["Shift+ArrowDown"] * rounds)
        attaching = timed(["Space"])
        for _ in range(rounds):
            attaching += timed(["ArrowDown", "Space"])[1:]
        timed(["Escape"])
        moving = timed(["n", "p"] * rounds)
        count = page.evaluate("document.getElementById('evidence-count').textContent")
    heading(f"{slug}: searching, and evidence sentence by sentence")
    figure("search, opened", f"{opening[0]:5.1f} ms")
    figure("search, a letter typed", both(typing), "≤ 50 ms")
    figure("search, next hit", both(next_hit), "≤ 50 ms")
    figure("evidence cursor, begun", f"{entering[0]:5.1f} ms")
    figure("evidence cursor, a sentence on", both(stepping), "≤ 50 ms")
    figure("evidence cursor, extended", both(extending), "≤ 50 ms")
    figure("evidence attached", both(attaching), "≤ 50 ms")
    figure(f"to a claim with {count} spans, and back", both(moving), "≤ 50 ms")


def press(page: Page, key: str, what: str) -> None:
    """One key, until what it does is on the screen."""
    before = page.evaluate(f"probe.{what}.length")
    page.keyboard.press(key)
    page.evaluate("([kind, count]) => probe.exceeds(kind, count)", [what, before])


def both(times: list[float]) -> str:
    return f"p50 {median(times):5.1f} ms   p95 {percentile(times, 95):5.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--visits", type=int, default=7)
    parser.add_argument("--swaps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=10, help="of searching and attaching")
    options = parser.parse_args()
    with own_services() as folder:
        people = {}
        for slug, size in (("demo-sized", 0), ("contexts-of-200-kb", LARGE), (ONE_LONG, LARGE)):
            samples = demo_samples(options.swaps + 3, context_bytes=size, in_one=slug == ONE_LONG)
            (people[slug],) = make_project(slug, samples=samples, criteria=CRITERIA, annotators=1, folder=folder)
        with web() as running, chromium() as browser:
            measure_visits(browser, running, "demo-sized", people["demo-sized"], options.visits)
            measure_visits(browser, running, ONE_LONG, people[ONE_LONG], options.visits)
            measure_texts(browser, running, ONE_LONG, people[ONE_LONG], options.rounds)
            for slug, annotator in people.items():
                measure_swaps(browser, running, slug, annotator, options.swaps)


if __name__ == "__main__":
    main()
