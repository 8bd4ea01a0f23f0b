"""No page, reply or download depends on what a judge said of single units of the test half (docs/decisions/0032): an
admin reads everything, then the judges' answers change hands among the samples of the test half, and everything reads
the same. Where a guard is taken away, something reads differently.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

import pytest
from django.core.cache import cache

from annotate.models import Sample
from bench.promises.locked import attack
from config.celery import app as celery_app
from judges.core import locked_read
from judges.core.split import sides_of
from judges.models import AlignmentReport, Ask, JudgeVersion, RunPurpose, Score
from judges.reports import evidence
from judges.reports.evidence import align
from judges.reports.write import freeze_report
from tests.clients import as_user
from tests.config.crawling import Crawl, Told
from tests.config.hidden_world import SETTLED, SLUG, Hidden, hidden_world
from tests.config.test_crawl import crawl_of, posts_of, put_in_place
from tests.conftest import ROOT

# Different each time: marks of a session and of a form, seeds that were drawn, and when.
_OF_A_REPLY = re.compile(
    r"""csrfmiddlewaretoken" value="[^"]*"|nonce-?[='"\w-]+|csrf-?token[^,>]*|[0-9a-f-]{36}"""
    r"""|'(?:Expires|Content-Length|X-Request-ID)': '[^']*'"""
    r"""|seed \d+|name="seed" value="\d+"|seed=\d+|"seed": \d+|\d+ ?(?:seconds?|minutes?) ago"""
    r"""|"last_login": "[^"]*"|"sessions_until": \[[^\]]*\]|"made_at": ?"[^"]*"|\d+ \w{3} \d{4} \d\d:\d\d""",
    re.IGNORECASE,
)
# After a look, and of it: what its certificate makes of scores goes with the samples that it was looked at on.
AFTER_A_LOOK = re.compile("/apply/")
KEYS = ("support", "grade")


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Hidden:
    """Where a judge that gives labels says different things, and reports know of it."""
    world = hidden_world()
    version = JudgeVersion.objects.get(judge__name="labeller", number=2)
    wrong = [name for place, name in enumerate(SETTLED) if place % 3 == 0 or place % 5 == 0]
    Score.objects.filter(version=version, sample__external_id__in=wrong).update(label="v-contradicted")
    for key in KEYS:
        freeze_report(criterion=world.criterion(key))
    return world


@pytest.fixture
def world(_world: Hidden, db: None, monkeypatch: pytest.MonkeyPatch) -> Hidden:
    cache.clear()
    monkeypatch.setattr(celery_app, "send_task", lambda *_, **__: None)
    return copy.deepcopy(_world)


def on_test(world: Hidden, key: str) -> list[str]:
    sides = sides_of(world.criterion(key), SETTLED)
    return sorted(name for name, is_dev in sides.items() if not is_dev)


def crawler(world: Hidden, name: str) -> Crawl:
    """About samples of both halves."""
    crawl = crawl_of(world, name)
    names = [SETTLED[0], SETTLED[1], *(on_test(world, key)[place] for key in KEYS for place in (0, 3))]
    samples = Sample.objects.filter(external_id__in=names)
    values = {**crawl.values, "sample_id": sorted(samples.values_list("pk", flat=True))}
    return Crawl(as_user(world.users[name]), values, crawl.queries, crawl.without)


def everything(world: Hidden, name: str) -> dict[str, str]:
    cache.clear()
    crawl = crawler(world, name)

    def told() -> Iterator[Told]:
        yield from crawl.everything()
        for address in posts_of(world):
            yield crawl.read(address)

    return {one.url: _OF_A_REPLY.sub("", one.text) for one in told() if not AFTER_A_LOOK.search(one.url)}


SAID = ("status", "number", "label", "finding", "rationale", "confidence")


def change_hands(world: Hidden) -> None:
    """Each sample on test gets what judges said of the next one; then whoever makes reports makes them."""
    for key in KEYS:
        names = on_test(world, key)
        order = ("version", "dimension", "unit", "repeat", "sample__external_id")
        scores = Score.objects.filter(dimension=key, sample__external_id__in=names).order_by(*order)
        for _, rows in groupby(scores, lambda one: (one.version_id, one.dimension, one.unit, one.repeat)):
            rotate(list(rows), SAID)
    closed = on_test(world, "support")
    asks = Ask.objects.filter(run__purpose__in=(RunPurpose.CANARIES, RunPurpose.PROBES), sample__external_id__in=closed)
    for _, checks in groupby(asks.order_by("run", "repeat", "pk"), lambda one: (one.run_id, one.repeat)):
        rotate(list(checks), ("outcome",))
    for key in KEYS:
        freeze_report(criterion=world.criterion(key))


def rotate(rows: Sequence[Score | Ask], fields: Sequence[str]) -> None:
    said = [[getattr(row, name) for name in fields] for row in rows]
    for row, values in zip(rows, [*said[1:], *said[:1]], strict=True):
        type(row).objects.filter(pk=row.pk).update(**dict(zip(fields, values, strict=True)))


def differing(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return sorted(url for url in before.keys() | after.keys() if before.get(url) != after.get(url))


@pytest.mark.parametrize("name", ["aldo", "rita"])
def test_nothing_depends_on_single_answers_about_the_test_half(world: Hidden, name: str) -> None:
    before = everything(world, name)
    reports = AlignmentReport.objects.count()
    change_hands(world)
    assert AlignmentReport.objects.count() == reports
    after = everything(world, name)
    assert len(before) > 200
    found = differing(before, after)
    assert found == [], "\n\n".join(f"{url}\n{first_difference(before, after, url)}" for url in found[:20])


def first_difference(before: dict[str, str], after: dict[str, str], url: str) -> str:
    one, other = before.get(url, ""), after.get(url, "")
    at = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return f"{one[max(0, at - 150) : at + 80]!r}\n{other[max(0, at - 150) : at + 80]!r}"


def addresses(world: Hidden) -> list[str]:
    """Where each guard stands."""
    api, page = f"/api/projects/{SLUG}", f"/p/{SLUG}"
    closed = world.samples[on_test(world, "grade")[0]]
    versions = JudgeVersion.objects.order_by("pk").values_list("judge_id", "number", "runs")
    return [
        f"{page}/samples/{closed.pk}/",
        *(f"{api}/runs/{run}/scores/?limit=100" for _, _, run in versions if run),
        *(f"{api}/judges/{judge}/versions/{number}/scores/?limit=100" for judge, number, _ in versions),
        *(f"{api}/criteria/{key}/alignment/" for key in KEYS),
    ]


def read(world: Hidden) -> dict[str, str]:
    crawl = crawler(world, "aldo")
    return {url: crawl.read((url, None)).text for url in addresses(world)}


@pytest.mark.parametrize("guard", ["locked", "open_evidence"])
def test_one_guard_less_is_found(world: Hidden, monkeypatch: pytest.MonkeyPatch, guard: str) -> None:
    if guard == "locked":
        put_in_place(monkeypatch, locked_read.locked, lambda *_, **__: locked_read.Locked())
    else:
        monkeypatch.setattr(evidence, "open_evidence", lambda criterion, found: found)
    before = read(world)
    change_hands(world)
    assert differing(before, read(world))


def test_the_matrix_of_test_can_not_be_worked_out(world: Hidden, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the API's reply on a judge that answers with labels."""

    def found() -> tuple[int, ...] | None:
        said = align(world.criterion("support"), "labeller", stores=False)
        return attack({"reference": said["reference"], "judge": said["judges"][0]})

    assert found() is None
    monkeypatch.setattr(evidence, "open_evidence", lambda criterion, found: found)
    matrix = found()
    assert matrix is not None
    assert sum(matrix) == 2 * len(on_test(world, "support"))


def test_reports_of_before_are_left_with_what_people_said(world: Hidden) -> None:
    report = AlignmentReport.objects.filter(criterion__key="grade").latest("number")
    AlignmentReport.objects.filter(pk=report.pk).update(parameters={**report.parameters, "figures": 6})
    for name in ("aldo", "rita"):
        crawl = crawler(world, name)
        for form in (f"/api/projects/{SLUG}/reports/{report.number}/", f"/p/{SLUG}/reports/grade/{report.number}.json"):
            told = crawl.read((form, None))
            assert told.status == 200, form
            assert '"agreement"' in told.text
            assert "roc_auc" not in told.text
            assert "<svg" not in told.text
    report.refresh_from_db()
    assert "judges" in report.result


def test_only_a_look_reads_unlocked_evidence() -> None:
    files = [path for room in ("judges", "frontend", "annotate", "config") for path in (ROOT / room).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix() for path in files if "evidence_of_look" in path.read_text("utf-8")}
    assert found == {"judges/reports/evidence.py", "judges/certificates/write.py", "judges/certificates/cascades.py"}
