"""What a trial shows: against second sources, against a report on the same samples, and with test closed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from alignment import paired_at_thresholds, paired_labels
from alignment.report import Judged, compare, reference_of
from alignment.report.compared import compared_figures
from annotate.core.blindness import SYSTEM
from annotate.models import Label, Sample, Verdict
from annotate.models.label import VerdictMethod, VerdictState
from frontend.judges.lab_trial import trial_context
from judges.lab.read import Found, dev_names, on_dev, trial_figures, tried_on
from judges.lab.units_read import differing, with_words
from judges.models import GroupSide, JudgeVersion, Reply, Score, Trial, VersionState
from judges.models.run import Ask, AskState
from judges.reports.evidence import full_evidence, settled_on_dev
from tests.database import copied_from_world
from tests.frontend.building import make_user
from tests.judges.lab.building import CLOSED, World, make_trial, trial_world

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Iterator[dict[str, World]]:
    return {
        "labels": trial_world("labels"),
        "numbers": trial_world("numbers", numbers=True),
        "unread": trial_world("unread", passes=False, count=30),
    }


worlds = copied_from_world()


def outcomes(world: World) -> dict[tuple[str, str], bool]:
    """People's majority on dev, by hand."""
    votes: dict[tuple[str, str], list[bool]] = {}
    for label in Label.objects.filter(criterion=world.criterion, sample__external_id__in=world.dev):
        votes.setdefault((label.sample.external_id, label.unit), []).append(label.value == "supported")
    return {unit: 2 * sum(said) > len(said) for unit, said in votes.items() if 2 * sum(said) != len(said)}


def said(world: World, version: Any) -> dict[tuple[str, str], Any]:
    rows = Score.objects.filter(version=version, sample__external_id__in=world.dev)
    return {(one.sample.external_id, one.unit): one.number if one.label is None else one.label for one in rows}


def test_labels_against_scikit_learn_and_the_paired_function(worlds: dict[str, World]) -> None:
    world = worlds["labels"]
    figures = trial_figures(make_trial(world), reader=SYSTEM).figures
    people, old, new = outcomes(world), said(world, world.base), said(world, world.version)
    both = sorted(unit for unit in people if unit in old and unit in new)
    truth = [people[unit] for unit in both]
    passed = [[one[unit] == "supported" for unit in both] for one in (old, new)]
    kappas = [cohen_kappa_score(truth, column) for column in passed]
    assert [own["kappa"]["value"] for own in figures["own"]] == pytest.approx(kappas)
    assert figures["difference"]["kappa"]["value"] == pytest.approx(kappas[1] - kappas[0])
    assert figures["units"] == len(both)
    columns = [[float(value) for value in column] for column in passed]
    paired = paired_at_thresholds(*columns, truth, [sample for sample, _ in both], (0.5, 0.5), interval="jackknife")
    assert figures["difference"]["kappa"] == paired.kappa.as_dict()

    gained = [unit for unit, right in people.items() if unit in both and (new[unit] == "supported") == right
              and (old[unit] == "supported") != right]  # fmt: skip
    lost = [unit for unit, right in people.items() if unit in both and (new[unit] == "supported") != right
            and (old[unit] == "supported") == right]  # fmt: skip
    alike = [unit for unit in both if new[unit] != old[unit] and "supported" not in (new[unit], old[unit])]
    assert figures["flips"] == {"only_first_right": len(lost), "only_second_right": len(gained), "both_wrong": 0}
    listed = {gain: {(r["sample"], r["unit"]) for r in figures["flipped"] if r["gain"] == gain} for gain in (1, -1)}
    assert listed == {1: set(gained), -1: set(lost)}
    assert {(row["sample"], row["unit"]) for row in figures["changed"]} == set(alike)
    assert figures["coverage"][1]["scored"] == len(new.keys() & people.keys())
    assert figures["coverage"][1]["missing"] == len(people) - len(new.keys() & people.keys())


def test_numbers_as_a_report_on_the_same_samples_has_them(worlds: dict[str, World]) -> None:
    """All of dev tried: a report pairs the same versions on the same units, by thresholds chosen without them."""
    world = worlds["numbers"]
    figures = trial_figures(make_trial(world), reader=SYSTEM).figures
    JudgeVersion.objects.filter(pk=world.version.pk).update(state=VersionState.KEPT)
    evidence = full_evidence(world.criterion)
    reference, latest = reference_of(evidence), evidence.judges[0]
    assert latest.version == "2"
    pair = compared_figures(reference, [compare(reference, latest)], ["checker"])["pairs"][0]
    assert figures["own"] == pair["own"]
    assert figures["difference"] == pair["difference"]
    assert figures["flips"] == pair["flips"]
    judged = Judged(reference, latest)
    assert figures["thresholds"][1] == judged.sweep(judged.dev).best_threshold


def test_numbers_each_decided_by_a_threshold_of_its_own(worlds: dict[str, World]) -> None:
    world = worlds["numbers"]
    figures = trial_figures(make_trial(world), reader=SYSTEM).figures
    people, new = outcomes(world), said(world, world.version)
    tried = {
        at: cohen_kappa_score([people[u] for u in sorted(new)], [new[u] >= at for u in sorted(new)])
        for at in sorted(set(new.values()))
    }
    best = max(tried.values())
    assert figures["thresholds"][1] == next(at for at, kappa in tried.items() if kappa > best - 1e-12)
    for row in (*figures["flipped"], *figures["changed"]):
        assert row["second_score"] == new[row["sample"], row["unit"]]
    moved = [abs(row["second_score"] - row["first_score"]) for row in figures["changed"]]
    assert moved == sorted(moved, reverse=True)
    assert all(moved)


def test_without_pass_and_fail_the_labels_themselves(worlds: dict[str, World]) -> None:
    world = worlds["unread"]
    trial = make_trial(world)
    found = trial_figures(trial, reader=SYSTEM)
    new, old = said(world, world.version), said(world, world.base)
    truth = found.on_dev.evidence()
    majority = reference_of(truth).labels()
    both = sorted(unit for unit in majority if unit in new and unit in old)
    paired = paired_labels(
        [majority[unit] for unit in both],
        [old[unit] for unit in both],
        [new[unit] for unit in both],
        [sample for sample, _ in both],
        scale="nominal",
        levels=truth.criterion.levels,
        interval="jackknife",
    )
    assert found.figures["basis"] == "labels"
    assert found.figures["difference"]["kappa"] == paired.kappa.as_dict()
    rows = differing(found)
    assert rows.counts["both_wrong"] == found.figures["flips"]["both_wrong"]
    units = with_words(trial, found, rows.rows, named=True)
    assert {unit.people for unit in units} <= {"Supported", "Contradicted", "Silent"}
    assert trial_context(trial, found)["on_dev"] is False


def test_what_people_said_is_what_reports_rest_on(worlds: dict[str, World]) -> None:
    world = worlds["labels"]
    unit = world.samples[world.dev[0]]
    Verdict.objects.create(
        sample=unit, unit="claim:0", criterion=world.criterion, state=VerdictState.SETTLED, value="silent",
        method=VerdictMethod.ADJUDICATED, decided_by=make_user("rev"), reason="Says nothing of it.",
    )  # fmt: skip
    whole, dev = full_evidence(world.criterion), on_dev(world.criterion, list(world.samples), reader=SYSTEM).evidence()
    kept = [place for place, (sample, _) in enumerate(whole.units) if whole.is_dev[sample]]
    assert dev.units == [whole.units[place] for place in kept]
    assert dev.raters == [whole.raters[place] for place in kept]
    assert dev.values == [whole.values[place] for place in kept]
    assert dev.verdicts == {(world.dev[0], "claim:0"): "silent"}
    assert reference_of(dev).positive[world.dev[0], "claim:0"] is False


def texts_of(found: Found, trial: Trial) -> str:
    """Everything that can be read of a trial."""
    units = with_words(trial, found, differing(found).rows, named=True)
    return repr((found.figures, trial_context(trial, found), [asdict(unit) for unit in units]))


@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_a_test_sample_that_slips_in_is_neither_read_nor_counted(worlds: dict[str, World], kind: str) -> None:
    world = worlds[kind]
    trial = make_trial(world)
    clean = trial_figures(trial, reader=SYSTEM)
    trial.samples = [*world.samples]
    trial.save()
    slipped = trial_figures(trial, reader=SYSTEM)
    assert set(slipped.on_dev.samples) == set(world.dev)
    assert slipped.figures == clean.figures
    assert CLOSED not in texts_of(slipped, trial)
    assert not any(name in texts_of(slipped, trial) for name in world.test)
    # And the mark is where it was meant to be.
    assert Label.objects.filter(comment=CLOSED).exists()
    assert Score.objects.filter(rationale=CLOSED).exists()


def test_only_test_samples_give_nothing_and_say_so(worlds: dict[str, World]) -> None:
    world = worlds["labels"]
    trial = make_trial(world, samples=world.test)
    found = trial_figures(trial, reader=SYSTEM)
    assert found.figures["units"] == 0
    assert found.figures["difference"]["kappa"]["value"] is None
    assert found.figures["coverage"][0] == {"scored": 0, "failed": 0, "missing": 0, "unlabelled": 0}
    assert found.caveat is None
    context = trial_context(trial, found)
    assert context["outcome"].startswith("They can’t be compared")
    assert context["plot"] == ""


def test_a_sample_without_a_side_is_closed_until_it_has_one(worlds: dict[str, World]) -> None:
    world = worlds["labels"]
    name = world.dev[0]
    GroupSide.objects.filter(group=name).delete()
    assert name not in dev_names(world.criterion, world.dev)
    # As at a report: who has none gets one, and keeps it.
    assert (name in settled_on_dev(world.criterion)) is (name in dev_names(world.criterion, world.dev))


def test_the_words_of_a_unit(worlds: dict[str, World]) -> None:
    world = worlds["labels"]
    trial = make_trial(world)
    found = trial_figures(trial, reader=SYSTEM)
    rows = differing(found)
    assert [row["group"] for row in rows.rows] == sorted(
        (row["group"] for row in rows.rows), key=["mended", "broken", "both_wrong", "changed"].index
    )
    assert rows.counts["mended"] == sum(row["group"] == "mended" for row in rows.rows) > 0
    first = with_words(trial, found, rows.rows[:1], named=True)[0]
    score = Score.objects.get(version=world.version, sample=first.sample, unit=first.unit)
    assert first.second_rationale == score.rationale == f"Version 2 on {first.unit} of {first.external_id}."
    assert first.second == ("pass" if score.label == "supported" else "fail") + f" ({score.label.title()})"
    assert first.people in ("pass", "fail")
    assert first.people == first.second.split()[0]
    assert [vote.who for vote in first.votes] == ["ann", "ben", "cat"]
    assert first.votes[0].comment == "ann says so"
    assert first.votes[0].evidence == [{"context": 1, "quote": "Paris"}]
    unnamed = with_words(trial, found, rows.rows[:1], named=False)[0]
    assert [vote.who for vote in unnamed.votes] == ["Annotator A", "Annotator B", "Annotator C"]


def test_the_number_of_queries_does_not_grow(worlds: dict[str, World], django_assert_max_num_queries: Any) -> None:
    world = worlds["labels"]
    trial = make_trial(world)
    with django_assert_max_num_queries(18):
        found = trial_figures(trial, reader=make_user("reader"))
        with_words(trial, found, differing(found).rows, named=False)


def test_failures_are_missing_and_said(worlds: dict[str, World]) -> None:
    world = worlds["labels"]
    units = Score.objects.filter(version=world.version, sample__external_id__in=world.dev)[:7]
    Score.objects.filter(pk__in=[one.pk for one in units]).update(status="refused", label=None, rationale="")
    trial = make_trial(world)
    found = trial_figures(trial, reader=SYSTEM)
    before = found.figures["coverage"][0], found.figures["coverage"][1]
    assert before[1]["failed"] == 7
    assert dict(found.failed[1]) == {"refused": 7}
    shown = trial_context(trial, found)
    assert shown["versions"][1]["failed"] == [{"status": "Refused", "n": 7}]
    assert shown["uneven"] == sum(one["scored"] for one in before) - 2 * found.figures["units"] > 0


def test_what_it_took(worlds: dict[str, World]) -> None:
    world = worlds["labels"]
    trial, run = make_trial(world), world.version.runs.get()
    assert trial_figures(trial, reader=SYSTEM).spent[1].replies == 0
    prices = [("0.002", 0.2), (None, 0.4), ("0.001", 0.6)]
    replies = [
        Reply.objects.create(
            project=world.project, key=str(at), body={}, latency=latency, cost=cost, tokens_in=10, tokens_out=5
        )
        for at, (cost, latency) in enumerate(prices)
    ]
    dev, test = (Sample.objects.get(external_id=names[0], project=world.project) for names in (world.dev, world.test))
    for at, (sample, given) in enumerate([(dev, replies[:2]), (test, replies[2:])]):
        Ask.objects.create(
            run=run, sample=sample, unit=f"claim:{at}", state=AskState.DONE, replies=[one.pk for one in given]
        )
    spent = trial_figures(trial, reader=SYSTEM).spent[1]
    assert (spent.replies, spent.unpriced, spent.tokens_in, spent.tokens_out) == (2, 1, 20, 10)
    assert spent.latency == pytest.approx(0.3)
    assert str(spent.cost.normalize()) == "0.002"
    assert trial_context(trial, trial_figures(trial, reader=SYSTEM))["versions"][1]["spent"]["cost"] == "0.002"


def test_how_many_were_tried(worlds: dict[str, World]) -> None:
    world = worlds["labels"]
    trial = make_trial(world)
    make_trial(world, seed=2)
    assert tried_on(trial) == 1
    other = copy.copy(world.version)
    other.pk, other.number, other.label, other.content_hash = None, 3, "3", "3"
    other.save()
    make_trial(world, version=other, run=trial.run)
    assert tried_on(trial) == 2
