"""The worker brings reports up to date by itself: once they have been out of date for long enough, one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.core.blindness import SYSTEM
from annotate.models import ClaimEdit, Criterion, Label, Project, User
from judges.reports import up_to_date
from judges.reports.read import data_version, pending_key, report_state
from judges.reports.up_to_date import ask_for_due_report, look_for_reports
from judges.reports.write import freeze_report
from tests.judges.building import add_labels, add_samples, make_project
from tests.processes import Worker

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def written(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[list[int]]:
    """How many rows were written: PostgreSQL's own count comes after a commit, and no test here commits."""
    settings.REPORTS_AFTER_MINUTES = 5
    rows = [0]
    monkeypatch.setattr(up_to_date, "_writes", lambda: rows[0])
    cache.clear()
    yield rows
    cache.clear()


@pytest.fixture
def project(db: None) -> Project:
    """Labels by two criteria, none by a third."""
    project = make_project(criteria=["support", "relevance", "correct"])
    samples = add_samples(project, ["a", "b"])
    support, relevance = (project.criteria.get(key=key) for key in ("support", "relevance"))
    add_labels(support, samples, [("a", "claim:0", "ana", "supported"), ("b", "claim:0", "ana", "contradicted")])
    add_labels(relevance, samples, [("a", "context:0", "ana", 3)])
    return project


def at(minutes: float) -> str | None:
    """The criterion that a look at so many minutes past noon asks for a report on."""
    found = ask_for_due_report(now=NOON + timedelta(minutes=minutes))
    return None if found is None else found.key


def relabel(project: Project, key: str, written: list[int]) -> None:
    label = Label.objects.filter(criterion__project=project, criterion__key=key).first()
    assert label is not None
    label.revision += 1
    label.save()
    written[0] += 1


def test_what_has_been_still_for_long_enough_is_made_anew_one_at_a_time(project: Project, written: list[int]) -> None:
    assert [at(0), at(4.9)] == [None, None]
    assert at(5) == "support"
    # It is being made, so the other one waits.
    assert at(6) is None
    support, relevance = (Criterion.objects.get(key=key) for key in ("support", "relevance"))
    assert report_state(support, reader=SYSTEM).is_pending
    freeze_report(criterion=support)
    assert at(7) == "relevance"
    freeze_report(criterion=relevance)
    written[0] += 1
    assert [at(8), at(60)] == [None, None], "no labels by “correct”"
    assert not cache.get(up_to_date._SEEN).changed


def test_labelling_that_goes_on_puts_it_off(project: Project, written: list[int]) -> None:
    for criterion in Criterion.objects.exclude(key="correct"):
        freeze_report(criterion=criterion)
    assert at(0) is None
    for minute in (1, 4, 8, 12):
        relabel(project, "support", written)
        assert at(minute) is None
    assert [at(16.9), at(17)] == [None, "support"]


def test_a_report_that_cannot_be_made_is_asked_for_once(project: Project, written: list[int]) -> None:
    freeze_report(criterion=Criterion.objects.get(key="relevance"))
    at(0)
    assert at(5) == "support"
    cache.delete(pending_key(Criterion.objects.get(key="support").pk))
    assert [at(6), at(90)] == [None, None]
    # With the next change there is a new chance.
    relabel(project, "support", written)
    assert [at(91), at(96)] == [None, "support"]


def test_nothing_is_made_of_what_is_up_to_date_again(project: Project, written: list[int]) -> None:
    freeze_report(criterion=Criterion.objects.get(key="relevance"))
    at(0)
    freeze_report(criterion=Criterion.objects.get(key="support"))
    written[0] += 1
    assert at(5) is None


def test_a_look_at_nothing_new_is_cheap(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    at(0)
    with CaptureQueriesContext(connection) as few:
        at(1)
    assert len(few) == 1


def test_every_table_that_data_are_counted_in_is_watched(project: Project) -> None:
    """Or a change there would be seen at the next write to another table only."""
    watched = {model._meta.db_table for model in up_to_date._WATCHED}
    with CaptureQueriesContext(connection) as queries:
        data_version(project.criteria.get(key="support"))
    asked = {table for query in queries for table in re.findall(r'(?:FROM|JOIN) "?(\w+_\w+)', query["sql"])}
    assert {"annotate_label", "annotate_sample"} <= asked
    assert asked <= watched


def test_a_claim_that_was_dropped_changes_the_data(project: Project) -> None:
    """Though no label of it does: the figures of its sample have one claim less."""
    support = project.criteria.get(key="support")
    before, (sample, *_) = data_version(support), project.samples.order_by("external_id")
    claims = [{**claim, "dropped": True} for claim in sample.claims[:1]] + sample.claims[1:]
    admin = User.objects.create_user("alma")
    ClaimEdit.objects.create(sample=sample, revision=1, change={"op": "drop", "claim": 0}, claims=claims, actor=admin)
    assert data_version(support) != before


def test_of_several_workers_one_looks(project: Project, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    looks: list[datetime] = []
    monkeypatch.setattr(up_to_date, "ask_for_due_report", lambda *, now: looks.append(now))
    look_for_reports()
    look_for_reports()
    assert len(looks) == 1
    cache.clear()
    settings.REPORTS_AFTER_MINUTES = 0
    look_for_reports()
    assert len(looks) == 1


def test_the_worker_looks_by_itself(worker: Worker) -> None:
    """In another process; it looks when it starts, and the look leaves what it saw in the cache."""
    worker.kill()
    worker.start()
    worker.wait_for(lambda: cache.get(up_to_date._SEEN) is not None)
