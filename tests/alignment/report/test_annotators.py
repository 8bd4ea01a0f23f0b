"""The annotators of a report, each figure held against one worked out by hand or by another library."""

from collections import Counter
from dataclasses import replace
from datetime import date
from itertools import combinations
from statistics import median

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from alignment import Ratings, agreement_with_rest, annotator_errors, fit_dawid_skene
from alignment.base.estimate import NO_UNITS, remark
from alignment.base.interval import Plan, exact_share, proportion
from alignment.report import Before, Criterion, Evidence, Option, differences, reference_of
from alignment.report.annotators import (
    LABELS_READ,
    LEAST_ROUNDS,
    MAX_ANNOTATORS,
    MAX_WEEKS,
    annotator_figures,
    clearly_below,
    shares,
)

PEOPLE = ("ann", "ben", "chen", "dora", "eve")
RIGHT = {"ann": 0.95, "ben": 0.9, "chen": 0.8, "dora": 0.6, "eve": 0.85}
GRADES = (1, 2, 3, 4)


def asked(levels=GRADES, passes=(3, 4), scale="ordinal"):
    return Criterion("grade", 1, "Grade", "claim", scale, "?", tuple(Option(n, f"option {n}") for n in levels), passes)


def evidence(seed=1, samples=60, claims=2, criterion=None, people=PEOPLE, dated=True):
    """Three of five people per unit, who are right as often as RIGHT says, in the weeks from 5 January 2026 on; each
    sample's labels lie in one week, five samples to a week. Some labels replaced others, one or more."""
    rng = np.random.default_rng(seed)
    criterion = criterion or asked()
    levels = criterion.levels or [0.0, 0.25, 0.5, 1.0]
    rows, before = [], []
    for place in range(samples):
        day = date.fromordinal(date(2026, 1, 5).toordinal() + 7 * (place // 5) + place % 5).isoformat()
        for claim in range(claims):
            unit, truth = (f"s{place:03}", f"claim:{claim}"), rng.integers(len(levels))
            for who in sorted(rng.choice(len(people), min(3, len(people)), replace=False)):
                name = people[who]
                at = truth if rng.random() < RIGHT.get(name, 0.8) else rng.integers(len(levels))
                gap = None if rng.random() < 0.3 else round(float(rng.lognormal(2, 0.7)), 1)
                rows.append((unit, name, levels[at], day if dated else None, gap))
                while rng.random() < 0.25:
                    again = at if rng.random() < 0.8 else rng.integers(len(levels))
                    before.append(Before(unit, name, levels[again]))
    units, raters, values, days, seconds = map(list, zip(*rows, strict=True))
    return Evidence(criterion, 7, units, raters, values, {}, days=days, seconds=seconds, before=before)


def figures(found):
    return annotator_figures(reference_of(found))


def by_name(found):
    return {one["name"]: one for one in figures(found)["people"]}


def read(found):
    """Value as it counts: pass or fail where there are passes."""
    passes = found.criterion.passes
    return (lambda value: value in passes) if passes else (lambda value: value)


def pairs(found, keep=lambda row: True):
    """Each label and the majority of the others of its unit, in the form (name, own, others, sample); and the ties."""
    said = {}
    for unit, name, value in zip(found.units, found.raters, found.values, strict=True):
        said.setdefault(unit, {})[name] = read(found)(value)
    rows, ties = [], Counter()
    for place, (unit, name) in enumerate(zip(found.units, found.raters, strict=True)):
        others = Counter(value for other, value in said[unit].items() if other != name)
        value, votes = others.most_common(1)[0] if others else (None, 0)
        if 2 * votes > others.total():
            if keep(place):
                rows.append((name, said[unit][name], value, unit[0]))
        elif others:
            ties[name] += 1
    return rows, ties


@pytest.fixture(params=["pass or fail", "labels"])
def found(request):
    return evidence(criterion=asked(passes=(3, 4) if request.param == "pass or fail" else ()))


def test_each_against_the_majority_of_the_others(found):
    rows, ties = pairs(found)
    result = figures(found)
    assert result["basis"] == ("pass or fail" if found.criterion.passes else "labels")
    assert [one["name"] for one in result["people"]] == [
        name for name, _ in sorted(Counter(found.raters).items(), key=lambda row: (-row[1], row[0]))
    ]
    for one in [*result["people"], {**result["together"], "name": None}]:
        mine = [row for row in rows if one["name"] in (None, row[0])]
        own, others = [row[1] for row in mine], [row[2] for row in mine]
        assert one["kappa"]["value"] == pytest.approx(cohen_kappa_score(own, others))
        assert one["agreement"]["value"] == pytest.approx(np.mean([a == b for a, b in zip(own, others, strict=True)]))
        assert one["kappa"]["n"] == one["agreement"]["n"] == len(mine)
        assert one["kappa"]["clusters"] == len({row[3] for row in mine})
        assert one["kappa"]["low"] < one["kappa"]["value"] < one["kappa"]["high"]
        assert one["ties"] == (ties.total() if one["name"] is None else ties[one["name"]])
        if found.criterion.passes:
            for rate, side in (("tpr", True), ("tnr", False)):
                hits = [a == b for a, b in zip(own, others, strict=True) if b == side]
                assert one["rates"][rate]["value"] == pytest.approx(np.mean(hits))
                assert one["rates"][rate]["n"] == len(hits)
        else:
            assert one["rates"] is None


def test_units_samples_and_shares_are_counts(found):
    result = figures(found)
    assert result["together"]["units"] == len(set(found.units))
    assert result["together"]["samples"] == 60
    assert result["together"]["labels"] == len(found.values)
    for one in [*result["people"], {**result["together"], "name": None}]:
        mine = [at for at, name in enumerate(found.raters) if one["name"] in (None, name)]
        values = Counter(found.values[at] for at in mine)
        assert one["shares"] == pytest.approx([values[level] / len(mine) for level in GRADES])
        if one["name"]:
            assert one["units"] == len(mine)
            assert one["samples"] == len({found.units[at][0] for at in mine})


def test_own_consistency_is_of_labels_given_again(found):
    counted = dict(zip(zip(found.units, found.raters, strict=True), found.values, strict=True))
    said = {}
    for row in found.before:
        said.setdefault((row.unit, row.rater), [counted[row.unit, row.rater]]).append(row.value)
    assert {2, 3} <= {len(values) for values in said.values()}
    result = figures(found)
    for one in [*result["people"], {**result["together"], "name": None}]:
        agreeing = []
        for (_, name), values in said.items():
            if one["name"] in (None, name):
                every = combinations(map(read(found), values), 2)
                agreeing.append(np.mean([a == b for a, b in every]))
        assert one["consistency"]["value"] == pytest.approx(np.mean(agreeing))
        assert one["consistency"]["n"] == len(agreeing)


def test_seconds_are_those_that_were_measured(found):
    result = figures(found)
    for one in [*result["people"], {**result["together"], "name": None}]:
        gaps = sorted(
            gap
            for gap, name in zip(found.seconds, found.raters, strict=True)
            if gap is not None and one["name"] in (None, name)
        )
        assert one["seconds"]["n"] == len(gaps) < len(found.seconds)
        assert one["seconds"]["median"] == pytest.approx(median(gaps))
        assert [one["seconds"]["low"], one["seconds"]["high"]] == pytest.approx(np.percentile(gaps, [25, 75]).tolist())


def test_weeks_begin_on_mondays_and_hold_their_own_labels(found):
    result = figures(found)
    weeks = result["weeks"]
    assert weeks["mondays"][0] == "2026-01-05"
    assert all(date.fromisoformat(monday).isoweekday() == 1 for monday in weeks["mondays"])
    assert (len(weeks["mondays"]), weeks["earlier"], weeks["reason"]) == (12, 0, None)
    for at, monday in enumerate(weeks["mondays"]):
        week = date.fromisoformat(monday).isocalendar()[:2]
        rows, _ = pairs(found, lambda at, week=week: date.fromisoformat(found.days[at]).isocalendar()[:2] == week)
        for one in [*result["people"], {**result["together"], "name": None}]:
            mine = [row for row in rows if one["name"] in (None, row[0])]
            cell = one["weeks"][at]
            if not mine:
                assert cell is None
                continue
            assert cell["n"] == len(mine)
            assert cell["value"] == pytest.approx(np.mean([row[1] == row[2] for row in mine]))
            assert cell["low"] is None or cell["low"] <= cell["value"] <= cell["high"]
            assert (cell["low"] is None) == (cell["reason"] is not None)


def test_only_the_latest_weeks_are_shown():
    long = evidence(samples=100)
    weeks = figures(long)["weeks"]
    assert (len(weeks["mondays"]), weeks["earlier"]) == (MAX_WEEKS, 20 - MAX_WEEKS)
    assert weeks["mondays"][-1] == "2026-05-18"
    # A week without labels is no column.
    gone = set(weeks["mondays"][3:5])
    rows = [at for at, day in enumerate(long.days) if _monday(day) not in gone]
    fewer = replace(long, before=(), **{name: [getattr(long, name)[at] for at in rows] for name in _COLUMNS})
    assert figures(fewer)["weeks"]["earlier"] == 20 - MAX_WEEKS - 2
    assert not gone & set(figures(fewer)["weeks"]["mondays"])


_COLUMNS = ("units", "raters", "values", "days", "seconds")


def _monday(day):
    return date.fromordinal(date.fromisoformat(day).toordinal() - date.fromisoformat(day).weekday()).isoformat()


def test_some_labels_without_a_day_are_in_no_week():
    found = evidence()
    half = replace(found, days=[day if at % 2 else None for at, day in enumerate(found.days)])
    rows, _ = pairs(half, lambda at: half.days[at] is not None)
    assert sum(cell["n"] for cell in figures(half)["together"]["weeks"]) == len(rows)


def test_the_order_of_rows_does_not_matter():
    found = evidence()
    order = np.random.default_rng(3).permutation(len(found.units))
    # Units in their order still: it is that of the clusters, which the bootstrap draws by number.
    order = sorted(order, key=lambda at: found.units[at])
    shuffled = replace(found, **{name: [getattr(found, name)[at] for at in order] for name in _COLUMNS})
    assert shuffled.raters != found.raters
    assert figures(shuffled) == figures(found)


def test_the_model_finds_who_errs():
    result = figures(evidence(samples=300))
    assert result["model"]["reason"] is None
    found = {one["name"]: one["model"] for one in result["people"]}
    # Of truths that pass, a wrong draw passes in half of the cases.
    for name, right in RIGHT.items():
        assert found[name]["tpr"]["value"] == pytest.approx(right + (1 - right) / 2, abs=0.06)
        assert found[name]["tpr"]["reason"] == remark("no_interval_of_model")
        assert found[name]["tpr"]["low"] is None
    assert result["together"]["model"] is None


def test_the_model_on_labels_is_weighed_by_what_it_expects():
    found = evidence(samples=200, criterion=asked(passes=()))
    fitted = fit_dawid_skene(found.ratings())
    for code, name in enumerate(fitted.raters):
        # How probable the model takes each of their labels for, on average.
        own = [at for at in range(len(found.units)) if found.raters[at] == name]
        places = {unit: at for at, unit in enumerate(fitted.unit_ids)}
        given = [fitted.posterior[places[found.units[at]], GRADES.index(found.values[at])] for at in own]
        accuracy = by_name(found)[name]["model"]["accuracy"]
        # The model's confusion matrix is smoothed, and by a hundredth of a label only.
        assert accuracy["value"] == pytest.approx(np.mean(given), abs=1e-3)
        assert accuracy["n"] == round(fitted.support[code].sum()) == len(own)


def test_the_model_is_left_out_where_it_would_take_long():
    people = tuple(f"p{n}" for n in range(10))
    units = LABELS_READ // LEAST_ROUNDS // len(people) + 1
    rows = [(unit, name) for unit in range(units) for name in people]
    many = Evidence(
        asked(),
        1,
        [(f"s{unit:05}", "claim:0") for unit, _ in rows],
        [name for _, name in rows],
        [4 if unit % 3 else 1 for unit, _ in rows],
        {},
    )
    model = figures(many)["model"]
    assert model == {
        "reason": remark("too_many_labels_for_model", n=75010),
        "rounds": None,
    }
    assert by_name(many)["p3"]["model"] is None


def test_the_model_that_does_not_settle_is_not_shown():
    # People who agree in nothing.
    rng = np.random.default_rng(5)
    units = [(f"s{at}", "claim:0") for at in range(300)]
    found = Evidence(
        asked(),
        1,
        [unit for unit in units for _ in range(2)],
        ["ann", "ben"] * 300,
        rng.choice([1, 1, 1, 1, 1, 1, 4], 600).tolist(),
        {},
    )
    assert figures(found)["model"]["reason"] == remark("model_not_settled", rounds=200)


def test_many_people_are_cut_and_counted():
    people = tuple(f"p{n:02}" for n in range(MAX_ANNOTATORS + 7))
    crowd = evidence(samples=120, people=people)
    result = figures(crowd)
    assert (len(result["people"]), result["left_out"]) == (MAX_ANNOTATORS, 7)
    counts = Counter(crowd.raters)
    assert min(one["units"] for one in result["people"]) >= max(
        count for name, count in counts.items() if name not in {one["name"] for one in result["people"]}
    )
    # Those left out count in majorities and in what is said of all.
    rows, _ = pairs(crowd)
    assert result["together"]["agreement"]["n"] == len(rows)
    for one in result["people"]:
        assert one["agreement"]["n"] == sum(row[0] == one["name"] for row in rows)


def test_nothing_is_made_up():
    alone = replace(evidence(people=("ann",)), days=(), seconds=(), before=())
    result = figures(alone)
    (ann,) = result["people"]
    assert ann["agreement"]["reason"] == ann["kappa"]["reason"] == remark("no_others")
    assert ann["rates"]["tpr"]["reason"] == remark("no_pairs")
    assert ann["consistency"]["reason"] == remark("rater_rated_nothing_twice")
    assert ann["seconds"] == {"median": None, "low": None, "high": None, "n": 0, "reason": remark("not_timed")}
    assert (ann["weeks"], ann["model"]) == ([], None)
    assert result["weeks"]["reason"] == remark("no_days")
    assert result["model"]["reason"] == remark("no_pairs")
    assert ann["shares"] is not None


def test_a_scale_without_levels_has_counts_and_times_only():
    found = evidence(criterion=asked(levels=(), passes=(), scale="interval"))
    result = figures(found)
    for one in [*result["people"], result["together"]]:
        for name in ("agreement", "kappa", "consistency"):
            assert one[name]["reason"] == remark("no_levels")
        assert (one["rates"], one["shares"], one["weeks"], one["model"]) == (None, None, [], None)
        assert one["seconds"]["n"] > 0
    assert result["weeks"]["reason"] == result["model"]["reason"] == remark("no_levels")


def test_no_labels_at_all():
    result = figures(Evidence(asked(), 1, [], [], [], {}))
    assert (result["people"], result["left_out"], result["together"]["labels"]) == ([], 0, 0)


def test_others_who_never_agree():
    units = [(f"s{at}", "claim:0") for at in range(12) for _ in range(3)]
    found = Evidence(asked(passes=()), 1, units, ["ann", "ben", "chen"] * 12, [1, 2, 4] * 12, {})
    (ann, *_) = figures(found)["people"]
    assert ann["kappa"]["reason"] == ann["agreement"]["reason"] == remark("no_majority")
    assert (ann["ties"], ann["agreement"]["n"]) == (12, 0)


def test_shares_are_proportions_with_their_intervals():
    rng = np.random.default_rng(2)
    group, cluster, hit = rng.integers(0, 6, 400), rng.integers(0, 40, 400), rng.random(400) < 0.8
    hit[group == 1] = True
    cluster[group == 2] = np.arange((group == 2).sum()) + 100
    cluster[group == 3] = 7
    group[group == 4] = 5
    found = shares(hit, cluster, group, 7, name="share", undefined=NO_UNITS)
    for at, one in enumerate(found):
        mine = group == at
        rows = np.unique(cluster[mine], return_inverse=True)[1]
        trials, hits = np.bincount(rows).astype(float), np.bincount(rows, weights=hit[mine])
        alone = proportion(hits, trials, Plan("jackknife", None, 0.95), name="share", undefined=NO_UNITS)
        assert list(differences(one.as_dict(), alone.as_dict())) == []
        assert (one.value is None) == (at in (4, 6))
    # All hits, every trial its own cluster, one cluster.
    assert [one.reason for one in found[1:4]] == [None, None, remark("few_clusters")]
    assert (found[1].low, found[1].high) == pytest.approx(exact_share(1.0, found[1].clusters, 0.95))


def test_those_asked_for_have_the_figures_they_have_among_all():
    found = evidence()
    ratings = found.ratings()
    none = {"interval": "none"}
    everybody, two = (agreement_with_rest(ratings, names, **none) for names in (None, ["eve", "ann"]))
    assert [row.annotator for row in two.annotators] == ["eve", "ann"]
    assert two.annotators == [everybody.annotators[4], everybody.annotators[0]]
    assert two.together == everybody.together
    errors, chosen = (annotator_errors(ratings, [3, 4], annotators=names, **none) for names in (None, ["eve", "ann"]))
    assert chosen.annotators == [errors.annotators[4], errors.annotators[0]]
    with pytest.raises(ValueError, match="no rater 'zoe'"):
        agreement_with_rest(ratings, ["zoe"], **none)
    with pytest.raises(ValueError, match="no rater 'zoe'"):
        annotator_errors(ratings, [3, 4], annotators=["zoe"], **none)


def test_agreement_with_the_rest_of_an_interval_scale():
    ratings = Ratings.from_columns([1, 1], ["ann", "ben"], [0.5, 0.7], [1, 1], scale="interval", levels=None)
    found = agreement_with_rest(ratings, interval="none")
    assert [row.kappa.reason for row in found.annotators] == [remark("no_levels")] * 2


def told(kappa, tpr, tnr, n=100):
    """An annotator's figures, each (value, low, high)."""
    named = {
        name: dict(zip(("value", "low", "high"), ends, strict=True)) for name, ends in (("tpr", tpr), ("tnr", tnr))
    }
    own = dict(zip(("value", "low", "high"), kappa, strict=True))
    return {"kappa": own, "rates": named, "agreement": {"n": n}}


def test_who_agrees_clearly_less():
    high, low, unknown = (0.9, 0.85, 0.93), (0.6, 0.5, 0.7), (None, None, None)
    together = told((0.8, 0.7, 0.88), high, high)
    people = [
        {"name": "ann", **told(high, high, low)},
        {"name": "ben", **told((0.7, 0.6, 0.79), high, high)},
        {"name": "few", **told(low, low, low, n=9)},
        {"name": "new", **told(unknown, unknown, (0.5, None, None))},
    ]
    # ann's TNR is far below; ben's kappa is, by its own interval, but not by one that holds for all six figures.
    assert clearly_below({"people": people, "together": together}, 10) == {"ann": ["tnr"]}
    alone = {"people": people[1:2], "together": together}
    alone["people"][0]["rates"] = None
    assert clearly_below(alone, 10) == {"ben": ["kappa"]}
    assert clearly_below({"people": people[2:3], "together": together}, 10) == {}


def test_annotators_who_are_alike_are_seldom_said_to_stand_out():
    """20 annotators of the same kind; at most 5 % of projects name anybody."""
    names = tuple(f"a{n:02}" for n in range(20))
    named = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, 150)
        rows = [
            ((f"s{sample:03}", "answer"), names[who], int(truth[sample] ^ (rng.random() > 0.85)))
            for sample in range(150)
            for who in rng.choice(20, 4, replace=False)
        ]
        units, raters, values = map(list, zip(*rows, strict=True))
        criterion = asked((0, 1), (1,), "nominal")
        named += bool(clearly_below(figures(Evidence(criterion, 7, units, raters, values, {})), 10))
    assert named <= 6, named
