"""How long every page and every list of the API takes in one large project.

    python -m bench.scale_data DATA_DIR [--samples 1000000]
    python -m bench.scale DATA_DIR [--calls 5] [--only samples]

Reads each route of the URL configuration about things at the beginning, in the middle and at the end of the project,
with choices of each filter, each order, and the pages that it links to, as the project's admin. Each address is asked
once, and those of each route that took longest `--calls` times. Of what streams (exports, the trail as a file) the time
until its first megabyte counts.
"""

from __future__ import annotations

import argparse
import http.client
import sys
import time
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlsplit

from bench.scale_data import SLUG
from bench.stage import heading, median, own_services, percentile, session_of, web

AIM = 300
# What takes longer than that is asked once.
LONG = 10_000
SLOWEST = 2  # addresses of each route that are asked again
VALUES = 6  # of each parameter of a query
THINGS = 30  # of each route, those that pages link to: from each unit to the next would be all of a million
MOST_BYTES = 1 << 20
TIMEOUT = 60
# They end the session, change the language, or fetch from elsewhere.
WITHOUT = frozenset({"/logout/", "/language/", "/login/provider/"})


class Reply(SimpleNamespace):
    """As much of a reply as a crawl reads."""

    streaming, _resource_closers = False, ()

    def __getitem__(self, name: str) -> str:
        return str(self.headers[name])


class Asking:
    """Asks over HTTP with a person's session, and notes how long that takes, in milliseconds."""

    def __init__(self, port: int, session: str) -> None:
        from django.conf import settings

        self._port, self._headers = port, {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}"}
        self.times: dict[str, list[float]] = defaultdict(list)
        self.statuses: dict[str, int] = {}

    def get(self, url: str) -> Reply:
        client = http.client.HTTPConnection("localhost", self._port, timeout=TIMEOUT)
        began = time.perf_counter()
        try:
            client.request("GET", url, headers=self._headers)
            reply = client.getresponse()
            body, status = reply.read(MOST_BYTES), reply.status
            headers = reply.headers
        except TimeoutError:
            body, status, headers = b"", 0, http.client.HTTPMessage()
        self.times[url].append((time.perf_counter() - began) * 1000)
        self.statuses[url] = status
        client.close()
        return Reply(status_code=status, content=body, headers=headers)


def values_of(project: Any) -> dict[str, list[Any]]:
    """Of each parameter of a route, things at the beginning, in the middle and at the end; of what there is none of,
    nothing."""
    from django.apps import apps

    from annotate.models import Batch, Sample, Task, Verdict

    def ends(name: str) -> list[Any]:
        rows = apps.get_model(name).objects.order_by("pk")
        found = [rows.first(), rows.last()]
        return sorted({row.pk for row in found if row})

    samples = Sample.objects.filter(project=project).order_by("pk")
    first, last = samples.first(), samples.last()
    middle = samples.filter(pk__gte=(first.pk + last.pk) // 2).first()
    waiting = Verdict.objects.filter(state="disputed").order_by("pk")
    kept = {
        "gold_id": "annotate.GoldAnswer",
        "flag_id": "annotate.Flag",
        "thread_id": "annotate.Thread",
        "job_id": "annotate.ImportJob",
        "judge_id": "judges.Judge",
        "run_id": "judges.Run",
    }
    return defaultdict(
        list,
        {
            "slug": [project.slug],
            "sample_id": [first.pk, middle.pk, last.pk],
            "verdict_id": [waiting.first().pk, waiting.last().pk],
            "task_id": list(Task.objects.filter(batch__status="open").values_list("pk", flat=True)[:1]),
            "number": list(Batch.objects.filter(number__in=(1, 19, 20)).values_list("number", flat=True)),
            "key": [criterion.key for criterion in project.criteria.all()],
            "version": [1],
            "username": ["annotator-000"],
            "of": ["samples", "units"],
            **{name: ends(model) for name, model in kept.items()},
        },
    )


def queries_of(project: Any) -> dict[str, list[str]]:
    """Of what the API's lists can be asked; the others not at all."""
    return defaultdict(
        list,
        {
            "batch": ["1"],
            "criterion": ["grade"],
            "annotator": ["annotator-000"],
            "judge": ["grader"],
            "pipeline": ["v2"],
            "search": ["claimjud", "sample-77777"],
            "status": ["disputed", "submitted"],
            "limit": ["100"],
            "offset": [str(project.samples.count() // 2)],
            "sort": ["agreement"],
            "agreement": ["disagree"],
            "metadata": ["topic=topic 3"],
        },
    )


def addresses(project: Any, only: str) -> list[str]:
    """What no link leads to: searches, and each list far from its beginning."""
    samples, middle = f"/p/{SLUG}/samples/", project.samples.count() // 2
    found = [f"{samples}?q={quote_plus(words)}" for words in ("claimjud", "no such words", "sample-77777", "退货")]
    found += [f"/p/{SLUG}/units/?q={quote_plus(words)}" for words in ("claimjud", "no such words", "sample-77777")]
    at = project.samples.order_by("pk")[middle].pk
    found += [f"/p/{SLUG}/{name}/?{side}={at}" for name in ("samples", "units") for side in ("after", "before")]
    found += [f"{samples}?sort={sort}&after={at}" for sort in ("id", "-pipeline", "-added")]
    return [url for url in found if only in url]


def measure(port: int, user: Any, project: Any, asked: Any) -> dict[str, tuple[str, list[float], int]]:
    """Of each route, and of each filter on it: the address that took longest, its times and its status."""
    from tests.annotate.api import routes
    from tests.config.crawling import Crawl, _route

    asking = Asking(port, session_of(user))
    client: Any = asking

    kept_of: dict[str, set[tuple[str, str]]] = defaultdict(set)
    things_of: dict[str, set[str]] = defaultdict(set)

    class Few(Crawl):
        """Of what a filter can be, the first values: 200 people are as slow as three."""

        def _asks_something_new(self, url: str) -> bool:
            kept, things = kept_of[_route(url)], things_of[_route(url)]
            things.add(urlsplit(url).path)
            if len(things) > THINGS:
                return False
            given = parse_qsl(urlsplit(url).query)
            new = [(name, value) for name, value in given if (name, value) not in kept]
            if given and all(sum(name == one for one, _ in kept) >= VALUES for name, _ in new):
                return False
            kept.update(given)
            return super()._asks_something_new(url)

    crawl = Few(client, values_of(project), queries_of(project), WITHOUT, most=asked.most)
    # Of the whole crawl only what was asked for.
    routes_kept = [route for route in (*routes.PAGES, *routes.API) if asked.only in route.path]
    crawl.without = frozenset({*WITHOUT, *(r.path for r in (*routes.PAGES, *routes.API) if r not in routes_kept)})
    for told in crawl.everything():
        took = asking.times[told.url][-1]
        if took > AIM or told.status >= 500 or not told.status:
            print(f"  {took:8.0f} ms  {told.status}  {told.url}", file=sys.stderr, flush=True)
    for url in addresses(project, asked.only):
        asking.get(url)
    by_route: dict[str, list[str]] = defaultdict(list)
    for url in asking.times:
        by_route[_route(url)].append(url)
    found = {}
    for urls in by_route.values():
        for url in sorted(urls, key=lambda one: -asking.times[one][-1])[:SLOWEST]:
            for _ in range(asked.calls if asking.times[url][-1] < LONG else 0):
                asking.get(url)
            found[url] = (_route(url), asking.times[url][1:] or asking.times[url], asking.statuses[url])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DATA_DIR", help="as bench.scale_data made it")
    parser.add_argument("--calls", type=int, default=5, help="of the slowest addresses of each route")
    parser.add_argument("--only", default="", help="routes that have this in their path")
    parser.add_argument("--most", type=int, default=20_000, help="addresses found, also those that are left out")
    asked = parser.parse_args()
    with own_services(asked.folder), web() as running:
        from annotate.models import Project, User

        project = Project.objects.get(slug=SLUG)
        user = User.objects.get(username="admin")
        found = measure(running.port, user, project, asked)
        heading(f"{project.samples.count():,} samples")
        print("| ms, p50 | p95 | address |\n|---|---|---|")
        for url, (_, times, status) in sorted(found.items(), key=lambda one: -median(one[1][1])):
            at_most = percentile(times, 95) if len(times) > 1 else times[0]
            print(f"| {median(times):.0f} | {at_most:.0f} | `{url}`{'' if status == 200 else f' ({status})'} |")


if __name__ == "__main__":
    main()
