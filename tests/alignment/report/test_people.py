"""A judge beside people: kappas and wins counted one by one; and behind people's errors: with a known truth, the line
lies at the truth and the plain figure below it."""

from collections import Counter
from dataclasses import replace

import pytest
from sklearn.metrics import cohen_kappa_score

from alignment.base.estimate import remark
from alignment.report import Criterion, JudgeScores, Option
from alignment.report.people import ALONE, MAX_PEOPLE, NO_LABELS, beside_people, ceiling_difference, judge_behind_noise
from tests.alignment.report.building import KINDS, compared, evidence


def said_by(found, said):
    """Of each person what they and the judge said, and the others' majority, on the units all of them have."""
    votes = {}
    for unit, name, value in zip(found.units, found.raters, found.values, strict=True):
        votes.setdefault(unit, {})[name] = value
    for name in sorted(set(found.raters)):
        rows, ties = [], 0
        for unit, by in votes.items():
            others = Counter(value for other, value in by.items() if other != name)
            if name not in by or unit not in said or not others:
                continue
            (value, count) = others.most_common(1)[0]
            if 2 * count > others.total():
                rows.append((by[name], said[unit], value))
            else:
                ties += 1
        yield name, rows, ties


def test_the_ceiling_counted_one_by_one():
    found = evidence()
    reference, one = compared(found)
    said = {unit: "pass" if passes else "fail" for unit, passes in one.decisions.items()}
    shown = beside_people(reference, one)
    rows = {row["name"]: row for row in shown["annotators"]}
    differences = []
    for name, units, ties in said_by(found, said):
        own, judge, majority = zip(*units, strict=True)
        assert (rows[name]["n"], rows[name]["ties"]) == (len(units), ties)
        assert rows[name]["human"]["value"] == pytest.approx(cohen_kappa_score(own, majority))
        assert rows[name]["judge"]["value"] == pytest.approx(cohen_kappa_score(judge, majority))
        differences.append(cohen_kappa_score(judge, majority) - cohen_kappa_score(own, majority))
    assert shown["difference"]["value"] == pytest.approx(sum(differences) / 3)
    assert (shown["basis"], shown["reason"], shown["left_out"]) == ("pass or fail", None, 0)
    assert ceiling_difference(reference, one).as_dict() == shown["difference"]


def test_wins_counted_one_by_one():
    found = evidence()
    reference, one = compared(found)
    said = {unit: "pass" if passes else "fail" for unit, passes in one.decisions.items()}
    votes = {}
    for unit, name, value in zip(found.units, found.raters, found.values, strict=True):
        votes.setdefault(unit, {})[name] = value
    shown = beside_people(reference, one)
    assert shown["test"]["epsilon"] == 0.2
    shares = []
    for row in shown["annotators"]:
        wins = []
        for unit, decided in said.items():
            others = [value for name, value in votes[unit].items() if name != row["name"]]
            mine = votes[unit][row["name"]]
            wins.append(others.count(decided) >= others.count(mine))
        assert row["test"]["n"] == len(wins)
        shares.append(sum(wins) / len(wins))
        assert row["test"]["advantage"]["value"] == pytest.approx(shares[-1])
    assert shown["test"]["advantage"]["value"] == pytest.approx(sum(shares) / 3)
    won = sum(row["test"]["won_clustered"] for row in shown["annotators"])
    assert shown["test"]["winning_rate_clustered"]["value"] == pytest.approx(won / 3)


def test_a_judge_called_like_a_person_is_another():
    found = evidence(people=("judge", "p1", "zoe"))
    shown = beside_people(*compared(found))
    assert {row["name"] for row in shown["annotators"]} == {"judge", "p1", "zoe"}
    same = beside_people(*compared(evidence(people=("ann", "bob", "cat"))))
    assert shown["difference"] == same["difference"]


def test_careless_people_and_a_careful_judge():
    better = beside_people(*compared(evidence(400, right=0.75, judge_right=0.97)))["difference"]
    worse = beside_people(*compared(evidence(400, right=0.95, judge_right=0.7)))["difference"]
    assert better["low"] > -0.05
    assert worse["high"] < 0


def test_labels_where_nothing_passes():
    labels = {}
    values = []
    plain = evidence(criterion=KINDS)
    for place, unit in enumerate(plain.units):
        values.append("abc"[(place // 3) % 3] if place % 7 else "a")
        labels[unit] = "abc"[(place // 3) % 3] if place % 11 else "b"
    found = replace(plain, values=values, judges=[JudgeScores("labels", "1", "kind", True, labels=labels)], is_dev={})
    reference, one = compared(found)
    shown = beside_people(reference, one)
    assert (shown["basis"], shown["reason"]) == ("labels", None)
    rows = {row["name"]: row for row in shown["annotators"]}
    for name, units, _ in said_by(found, labels):
        own, judge, majority = zip(*units, strict=True)
        assert rows[name]["n"] == len(units) > 100
        assert rows[name]["human"]["value"] == pytest.approx(cohen_kappa_score(own, majority))
        assert rows[name]["judge"]["value"] == pytest.approx(cohen_kappa_score(judge, majority))


def test_numbers_where_nothing_passes_have_no_ceiling():
    found = evidence(criterion=KINDS, values=["abc"[place % 3] for place in range(720)], is_dev={})
    shown = beside_people(*compared(found))
    assert shown["reason"] == remark("only_numbers")
    assert (shown["difference"]["value"], shown["test"]) == (None, None)
    assert "verdict" not in shown, "the decision is the only one"


def test_single_labels_and_none():
    single = beside_people(*compared(evidence(people=("ann",))))
    assert single["reason"] == single["difference"]["reason"] == ALONE
    nothing = evidence(units=[], raters=[], values=[], is_dev={})
    reference, one = compared(nothing)
    assert beside_people(reference, one)["reason"] == ceiling_difference(reference, one).reason == NO_LABELS


def test_a_judge_without_scores_says_why():
    found = evidence(judges=[JudgeScores("silent", "1", "ok", True)])
    assert beside_people(*compared(found))["reason"] == remark("no_scores")


def test_of_many_people_the_busiest_are_listed():
    found = evidence(60, people=tuple(f"p{place:02}" for place in range(25)))
    shown = beside_people(*compared(found))
    assert (len(shown["annotators"]), shown["left_out"]) == (MAX_PEOPLE, 5)
    assert shown["difference"]["method"].startswith("mean Cohen's kappa, judge less annotator, over 25 of 25")


def test_mtrag_has_a_ceiling_and_a_test_for_every_judge(mtrag):
    found = from_dataset(mtrag, "faithfulness")
    reference = compared(found)[0]
    for place, judge in enumerate(found.judges):
        shown = beside_people(reference, compared(found, place)[1])
        assert shown["difference"]["value"] is not None, judge.judge
        assert (len(shown["annotators"]), shown["test"]["tested"]) == (7, 7)


def from_dataset(data, dimension):
    """The shared data as evidence, every other sample dev."""
    rows = sorted(
        ((row["sample_id"], row["unit"]), row["rater"], row["value"])
        for row in data.human
        if row["dimension"] == dimension
    )
    facts = data.dimensions[dimension]
    criterion = Criterion(
        dimension, 1, dimension, "answer", facts["scale"], "?", tuple(Option(v, str(v)) for v in facts["levels"]),
        tuple(data.passes(dimension)),
    )  # fmt: skip
    samples = sorted({unit[0] for unit, _, _ in rows})
    return evidence(
        criterion=criterion,
        units=[unit for unit, _, _ in rows],
        raters=[rater for _, rater, _ in rows],
        values=[value for _, _, value in rows],
        judges=[
            JudgeScores(name, "1", "overall", True, data.scores(name))
            for name in sorted({row["judge"] for row in data.judge})
        ],
        is_dev={sample: place % 2 == 0 for place, sample in enumerate(samples)},
    )


def test_independent_errors_are_taken_out():
    shown = judge_behind_noise(*compared(evidence(4000, claims=1, right=0.8, judge_right=0.9, seed=2)))
    assert [line["model"] for line in shown["lines"]] == ["one rate", "two rates"]
    for line in shown["lines"]:
        assert line["human_tpr"]["value"] == pytest.approx(0.8, abs=0.025)
        assert line["accuracy"]["value"] == pytest.approx(0.9, abs=0.03)
        assert line["accuracy"]["low"] < 0.9 < line["accuracy"]["high"]
    # A majority of three is right in 0.8³ + 3 · 0.8² · 0.2 = 0.896 of units.
    assert shown["observed"]["value"] == pytest.approx(0.9 * 0.896 + 0.1 * 0.104, abs=0.03)


def test_two_people_know_one_rate_only():
    one, two = judge_behind_noise(*compared(evidence(people=("ann", "bob"))))["lines"]
    assert one["accuracy"]["value"] is not None
    assert (two["accuracy"]["value"], two["accuracy"]["reason"]) == (None, remark("no_triples"))


def test_nothing_is_invented_from_single_labels():
    shown = judge_behind_noise(*compared(evidence(people=("ann",))))
    assert (shown["reason"], shown["lines"], shown["observed"]["value"]) == (ALONE, [], None)
    assert judge_behind_noise(*compared(evidence(units=[], raters=[], values=[], is_dev={})))["reason"] == NO_LABELS
    kinds = evidence(criterion=KINDS, values=["abc"[place % 3] for place in range(720)], is_dev={})
    assert judge_behind_noise(*compared(kinds))["reason"] == remark("no_passes")
