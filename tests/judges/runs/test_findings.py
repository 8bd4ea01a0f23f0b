"""Scores that are 0 for a reason of their own are counted by it: on the run's page and in the API."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotate.core.blindness import SYSTEM
from judges.models import Run, Score, ScoreStatus
from judges.runs.read import findings_of, progress_of
from judges.runs.write import start_run
from judges.versions.write import create_judge
from tests.annotate.factories import World, make_sample
from tests.clients import as_user, client_of
from tests.judges.runs.building import worked

ENDS = ("[1].", "[2].", ".", "(2).", "[3].", "[2-1].", "[ 0 ].")
COUNTED = {"no_citation": 2, "invalid_citation": 3}
CONTEXTS = [{"id": None, "text": text, "score": None} for text in ("The light", "The hub")]


@pytest.fixture
def run(world: World) -> Run:
    for number, end in enumerate(ENDS):
        answer = f"The light is amber {end}"
        claims = [{"text": answer, "start": 0, "end": len(answer)}]
        make_sample(world.project, number, answer=answer, claims=claims, contexts=CONTEXTS)
    config = {"measure": "citation", "criterion": "support"}
    judge = create_judge(project=world.project, name="citations", kind="lexical", config=config)
    version = judge.versions.select_related("judge__project", "endpoint").get()
    return worked(start_run(version=version, scope={"all": True}, actor=world.alice))


def test_no_citations_and_invalid_ones_are_counted_apart(world: World, run: Run) -> None:
    progress = progress_of(run)
    assert (progress.done, progress.failed, findings_of(run, reader=SYSTEM)) == (7, 0, COUNTED)
    # The same by hand: all of them are scores of 0, and one more is, that cites a context with none of its words.
    zeros = Score.objects.filter(run=run, number=0).order_by("sample__external_id")
    assert list(zeros.values_list("sample__external_id", "finding")) == [
        ("s2", "no_citation"),
        ("s3", "no_citation"),
        ("s4", "invalid_citation"),
        ("s5", "invalid_citation"),
        ("s6", "invalid_citation"),
    ]
    reply = client_of(world.alice).get(f"/api/projects/desk/runs/{run.pk}/").json()
    assert reply["progress"]["findings"] == COUNTED
    page = as_user(world.alice).get(f"/p/desk/runs/{run.pk}/").content.decode()
    assert "No citation: 2" in page
    assert "Invalid citation: 3" in page


def test_of_few_they_are_not_told_to_who_still_decides(world: World, run: Run) -> None:
    reply = client_of(world.rita).get(f"/api/projects/desk/runs/{run.pk}/").json()
    assert reply["progress"]["findings"] is None
    assert reply["progress"]["by_status"] == {"ok": 7}
    for page in ("", "progress/"):
        assert "Cites " not in as_user(world.rita).get(f"/p/desk/runs/{run.pk}/{page}").content.decode()
    # Of many, unless they are all alike.
    first = Score.objects.filter(run=run)[0]
    for number in range(30, 50):
        sample = make_sample(world.project, number, contexts=CONTEXTS)
        first.pk, first.sample, first.finding, first.number = None, sample, "no_citation", 0.0
        first.save()
    found = findings_of(run, reader=world.rita)
    assert found == findings_of(run, reader=SYSTEM)
    assert found is not None
    assert found["no_citation"] == 22
    Score.objects.exclude(finding="no_citation").delete()
    assert findings_of(run, reader=world.rita) is None
    assert findings_of(run, reader=world.alice) == {"no_citation": 22}


def test_none_looks_like_those_that_are_not_told(world: World, run: Run) -> None:
    """Or the one would tell what the other does not. Nor are the other scores read for it: a page asks again and again
    while a run goes on."""
    assert findings_of(run, reader=world.rita) is None
    Score.objects.filter(run=run).update(finding="")
    for reader in (world.rita, world.alice, SYSTEM):
        with CaptureQueriesContext(connection) as said:
            assert findings_of(run, reader=reader) is None
        (asked,) = said.captured_queries
        with connection.cursor() as cursor:
            cursor.execute("SET enable_seqscan = off")
            cursor.execute(f"EXPLAIN {asked['sql']}")
            assert "score_with_finding" in str(cursor.fetchall())
            cursor.execute("RESET enable_seqscan")


@pytest.mark.parametrize(("status", "finding"), [("ok", "made up"), ("error", "no_citation")])
def test_a_finding_is_one_of_those_known_and_of_a_score_that_is_there(run: Run, status: str, finding: str) -> None:
    number = 0.0 if status == ScoreStatus.OK else None
    with pytest.raises(IntegrityError), transaction.atomic():
        Score.objects.filter(run=run).update(status=status, number=number, finding=finding)
