"""Many disputes settled at once: by agreement, by Dawid and Skene's model; only what was looked at, only once."""

from __future__ import annotations

import random
from typing import Any

import pytest

from annotate.core.errors import Conflict, Invalid
from annotate.labels.consensus import settle_imported
from annotate.models import AuditEntry, Label, Rater, Verdict
from annotate.verdicts import proposals_read
from annotate.verdicts.adjudication import Accepted, accept_agreed, accept_probable, decide
from annotate.verdicts.proposals_read import Preview, agreed, agreed_from, probable
from annotate.verdicts.read import Queue
from tests.annotate.factories import World, decide_unit, make_samples, stored
from tests.annotate.labels.test_consensus import imported


def queue(world: World, **more: Any) -> Queue:
    return Queue(world.project, reader=world.rita, **more)


def seen(preview: Preview) -> list[list[Any]]:
    return [[one.id, one.revision, one.value] for one in preview.proposals]


@pytest.fixture
def short(world: World) -> World:
    """More labels were asked for than came. Answers: 3 of 4, 2 of 3, 1 of 2, 2 of 2 agree, and one is alone; a claim: 2
    of 2."""
    grade, support = world.criteria("grade", "support")
    samples = make_samples(world.project, 5)
    for sample, values in zip(samples, [(4, 4, 4, 1), (2, 2, 5), (1, 5), (3, 3), (5,)], strict=True):
        imported(world, sample, "answer", grade, *values)
    imported(world, samples[0], "claim:0", support, "yes", "yes")
    for criterion in (grade, support):
        settle_imported(project=world.project, criterion=criterion, needed=1)
    # As settled by a batch with an overlap of five.
    Verdict.objects.update(state="disputed", value=None, method="", confidence=None)
    return world


def accept(world: World, preview: Preview, **change: Any) -> Accepted:
    given = {"agreement": 0.66, "votes": 2, "seen": seen(preview), "reason": "Most agree.", **change}
    return accept_agreed(reviewer=world.rita, project=world.project, **given)


def test_the_preview_counts_by_value(short: World) -> None:
    found = agreed(queue(short), agreement=0.66, votes=2)
    assert found.considered == 6
    assert [(row.criterion, row.value, row.n) for row in found.by_value] == [
        ("grade", 2, 1), ("grade", 3, 1), ("grade", 4, 1), ("support", "yes", 1),
    ]  # fmt: skip
    assert len(agreed(queue(short), agreement=0.7, votes=2).proposals) == 3
    assert len(agreed(queue(short), agreement=0.66, votes=3).proposals) == 2
    assert len(agreed(queue(short, criterion="support"), agreement=0.51, votes=2).proposals) == 1


def test_of_a_long_queue_a_preview_looks_at_a_part(short: World) -> None:
    limits: dict[str, Any] = {"agreement": 0.66, "votes": 2}
    whole = agreed(queue(short, order="sample"), **limits)
    assert agreed_from(queue(short, order="sample"), "", **limits) == whole, "up to the limit nothing changes"
    long = queue(short, most_sorted=0, stretch=1, seconds=-1)
    parts = [agreed_from(long, "", **limits)]
    while parts[-1].reached:
        assert len(parts) < 10
        parts.append(agreed_from(long, parts[-1].reached, **limits))
    assert len(parts) == 6, "the last looks for more and finds none"
    assert [one for part in parts for one in part.proposals] == whole.proposals
    assert [part.considered for part in parts] == [2, 1, 1, 1, 1, 0]
    assert all(part.is_part for part in parts)
    at_once = agreed_from(queue(short, most_sorted=0, seconds=60), "", **limits)
    assert (at_once, at_once.is_part) == (whole, False), "a part may be all"
    assert accept(short, parts[0]) == Accepted(settled=2, left=0)


def test_a_part_has_no_more_than_one_request_takes(short: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals_read, "MOST_AT_ONCE", 4)
    long = queue(short, most_sorted=0, seconds=60)
    first = agreed_from(long, "", agreement=0.51, votes=2)
    second = agreed_from(long, first.reached, agreement=0.51, votes=2)
    assert (first.considered, second.considered, second.reached) == (4, 2, "")
    assert len(first.proposals) + len(second.proposals) == 4


def test_accepting(short: World) -> None:
    preview = agreed(queue(short), agreement=0.66, votes=2)
    assert accept(short, preview) == Accepted(settled=4, left=0)
    verdict = Verdict.objects.get(sample__external_id="s1", unit="answer")
    assert (verdict.state, verdict.method, verdict.value, verdict.confidence) == ("settled", "accepted", 4, 0.75)
    assert (verdict.decided_by, verdict.reason, verdict.revision) == (short.rita, "Most agree.", 2)
    assert verdict.decided_votes == verdict.votes
    assert verdict.decided_at is not None
    entry = AuditEntry.objects.get(action="verdicts.accepted")
    assert (entry.actor, entry.details["settled"], entry.details["agreement"]) == (short.rita, 4, 0.66)
    assert queue(short).count() == 2


def test_a_repeat_says_the_same_and_changes_nothing(short: World) -> None:
    preview = agreed(queue(short), agreement=0.66, votes=2)
    accept(short, preview)
    before = stored()
    assert accept(short, preview) == Accepted(settled=4, left=0)
    assert stored() == before
    assert AuditEntry.objects.filter(action="verdicts.accepted").count() == 1


def test_what_changed_since_is_left(short: World) -> None:
    preview = agreed(queue(short), agreement=0.66, votes=2)
    one, two, *_rest = Verdict.objects.filter(pk__in=[one.id for one in preview.proposals]).order_by("sample", "unit")
    rater = Rater.objects.create(project=short.project, name="late")
    one.sample.labels.create(rater=rater, unit=one.unit, criterion=one.criterion, value=4)
    settle_imported(project=short.project, criterion=one.criterion, needed=9)
    Verdict.objects.filter(pk=one.pk).update(revision=one.revision + 1)
    decide_unit(short.alice, two, two.votes[0]["value"], "Mine.")
    assert accept(short, preview) == Accepted(settled=2, left=2)
    two.refresh_from_db()
    assert (two.method, two.reason) == ("adjudicated", "Mine.")
    one.refresh_from_db()
    assert one.state == "disputed"


def test_only_what_still_reaches_the_agreement(short: World) -> None:
    everything = agreed(queue(short), agreement=0.51, votes=2)
    assert len(everything.proposals) == 4
    assert accept(short, everything, agreement=0.9) == Accepted(settled=2, left=2)


def test_a_value_that_was_not_shown_is_not_settled(short: World) -> None:
    preview = agreed(queue(short), agreement=0.66, votes=2)
    changed = [[pk, revision, 5] for pk, revision, _value in seen(preview)]
    assert accept(short, preview, seen=changed) == Accepted(settled=0, left=4)


def test_another_projects_units_are_left(short: World) -> None:
    preview = agreed(queue(short), agreement=0.66, votes=2)
    before = stored()
    done = accept_agreed(
        reviewer=short.dora, project=short.other, agreement=0.66, votes=2, seen=seen(preview), reason="Mine."
    )
    assert done == Accepted(settled=0, left=4)
    assert stored() == before


def test_a_unit_accepted_in_bulk_is_reopened_by_another_vote(short: World) -> None:
    accept(short, agreed(queue(short), agreement=0.66, votes=2))
    verdict = Verdict.objects.get(sample__external_id="s1", unit="answer")
    rater = Rater.objects.create(project=short.project, name="late")
    verdict.sample.labels.create(rater=rater, unit="answer", criterion=verdict.criterion, value=1)
    settle_imported(project=short.project, criterion=verdict.criterion, needed=1)
    verdict.refresh_from_db()
    assert (verdict.state, verdict.value, verdict.method) == ("reopened", 4, "accepted")
    assert verdict.confidence == pytest.approx(3 / 5)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"agreement": 0.5}, "bad_agreement"),
        ({"agreement": 1.01}, "bad_agreement"),
        ({"agreement": True}, "bad_agreement"),
        ({"agreement": None}, "bad_agreement"),
        ({"agreement": float("nan")}, "bad_agreement"),
        ({"votes": 1}, "bad_votes"),
        ({"votes": 2.5}, "bad_votes"),
        ({"reason": " "}, "no_reason"),
        ({"reason": None}, "no_reason"),
        ({"seen": []}, "nothing_seen"),
        ({"seen": None}, "nothing_seen"),
        ({"seen": [[1, 1]]}, "bad_seen"),
        ({"seen": [[1, "1", 4]]}, "bad_seen"),
        ({"seen": [[True, 1, 4]]}, "bad_seen"),
        ({"seen": [[1, 1, None]]}, "bad_seen"),
        ({"seen": [[1, 1, 4], [1, 1, 5]]}, "bad_seen"),
        ({"seen": [[2**70, 1, 4]]}, "bad_seen"),
        ({"seen": [[n, 1, 4] for n in range(1, 5002)]}, "too_many"),
    ],
)
def test_bad_input(short: World, change: dict[str, Any], code: str) -> None:
    before = stored()
    with pytest.raises(Invalid) as refused:
        accept(short, agreed(queue(short), agreement=0.66, votes=2), **change)
    assert refused.value.code == code
    assert stored() == before


# Dawid and Skene's model


@pytest.fixture
def crowd(world: World) -> World:
    """40 answers; two people who are nearly always right, and some who say 5 whatever it is."""
    grade = world.criteria("grade")[0]
    chance = random.Random(3)
    samples = make_samples(world.project, 40)
    for n, sample in enumerate(samples):
        truth = 2 + n % 2
        careful = truth if chance.random() < 0.95 else 5 - truth
        imported(world, sample, "answer", grade, truth, careful, 5)
    # With these there are ties.
    rater = Rater.objects.create(project=world.project, name="crowd-3")
    Label.objects.bulk_create(
        Label(rater=rater, sample=sample, unit="answer", criterion=grade, value=5) for sample in samples[:6]
    )
    settle_imported(project=world.project, criterion=grade, needed=3)
    return world


def test_the_model_says_how_probable_each_value_is(crowd: World) -> None:
    grade = crowd.criteria("grade")[0]
    found = probable(queue(crowd), grade, posterior=0.9)
    assert found.model is not None
    assert found.considered == Verdict.objects.filter(state="disputed").count() > 0
    assert 0 < len(found.proposals) <= found.considered
    assert all(one.confidence >= 0.9 for one in found.proposals)
    right = {rater.rater: rater.right for rater in found.model.raters}
    assert right["crowd-0"] > 0.8 > 0.5 > right["crowd-2"]


def test_accepting_what_is_probable(crowd: World) -> None:
    grade = crowd.criteria("grade")[0]
    found = probable(queue(crowd), grade, posterior=0.9)
    given: dict[str, Any] = {
        "reviewer": crowd.rita, "project": crowd.project, "criterion": grade, "posterior": 0.9, "seen": seen(found),
    }  # fmt: skip
    done = accept_probable(**given)
    assert done == Accepted(settled=len(found.proposals), left=0)
    verdict = Verdict.objects.get(pk=found.proposals[0].id)
    assert (verdict.state, verdict.method, verdict.value) == ("settled", "dawid_skene", found.proposals[0].value)
    assert verdict.confidence == pytest.approx(found.proposals[0].confidence)
    assert verdict.decided_by == crowd.rita
    assert "at least 0.9; from 126 labels by 4 annotators" in verdict.reason
    latest = verdict.events.latest("id")
    assert (latest.method, latest.actor) == ("dawid_skene", crowd.rita)
    assert accept_probable(**given) == done
    # Another vote reopens it, and its probability stays what it was.
    rater = Rater.objects.create(project=crowd.project, name="late")
    verdict.sample.labels.create(rater=rater, unit="answer", criterion=grade, value=1)
    settle_imported(project=crowd.project, criterion=grade, needed=1)
    before = verdict.confidence
    verdict.refresh_from_db()
    assert (verdict.state, verdict.method, verdict.confidence) == ("reopened", "dawid_skene", before)


def test_a_reviewers_word_is_not_overwritten(crowd: World) -> None:
    grade = crowd.criteria("grade")[0]
    found = probable(queue(crowd), grade, posterior=0.9)
    first = found.proposals[0]
    decide(
        reviewer=crowd.rita, project=crowd.project, verdict_id=first.id, value=1, reason="No.",
        expected_revision=first.revision,
    )  # fmt: skip
    done = accept_probable(
        reviewer=crowd.rita, project=crowd.project, criterion=grade, posterior=0.9, seen=seen(found), reason="Sure."
    )
    assert done.left == 1
    assert Verdict.objects.get(pk=first.id).value == 1
    assert Verdict.objects.filter(method="dawid_skene").first().reason.startswith("Sure. (Dawid–Skene")  # type: ignore[union-attr]


def test_labels_that_do_not_carry_it(short: World) -> None:
    with pytest.raises(Conflict) as refused:
        probable(queue(short), short.criteria("grade")[0], posterior=0.95)
    assert refused.value.code == "not_identified"
    assert "it takes 30" in refused.value.message
    with pytest.raises(Conflict, match="needs options"):
        probable(queue(short), short.criteria("relevance")[0], posterior=0.95)
    with pytest.raises(Invalid):
        probable(queue(short), short.criteria("grade")[0], posterior=0.5)
