"""An experiment's figures from columns, beside the same worked out one response at a time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from alignment import Asked, Measured, Quality, Rule, experiment_figures, sliced_figures
from alignment.report import response_bounds, response_values

NAN = math.nan


def random_world(seed: int, *, failures: float = 0.1, undefined: float = 0.1) -> tuple[Asked, Quality]:
    """Three versions, 60 questions in 40 groups of which 20 were drawn, one to three repeats."""
    rng = np.random.default_rng(seed)
    group = np.sort(np.append(np.arange(40), rng.integers(0, 40, 20))).tolist()
    drawn = [place < 20 for place in range(40)]
    rows: list[tuple[int, int, bool, float, float, float, bool]] = []
    for question in range(60):
        for version in range(3):
            for _ in range(int(rng.integers(1, 4))):
                failed, missing = rng.random() < failures, rng.random() < undefined
                score, least = rng.random(2)
                most = least if rng.random() < 0.97 else 1.0
                asked = drawn[group[question]] and not failed and not missing
                rows.append(
                    (
                        version, question, failed, NAN if failed or missing else score,
                        least if asked else NAN, most if asked else NAN, missing and not failed,
                    )
                )  # fmt: skip
    version, question, failed, score, least, most, missing_ = (list(column) for column in zip(*rows, strict=True))
    no = [False] * len(version)
    asked_ = Asked(["a", "b", "c"], 0, version, question, failed, no, group, [False] * 60, drawn, [False] * 40)
    said = [not math.isnan(value) for value in least]
    return asked_, Quality("q", "Quality", score, least, most, said, missing_)


def by_hand(asked: Asked, metric: Quality, place: int) -> dict[str, float]:
    """A version's people's mean and raw mean: failures are 0, repeats are averaged, undefined ones have no say; a
    question of which one version's answers did not go out counts for none."""
    cells: dict[tuple[int, int], list[tuple[float, float, float]]] = {}
    columns = zip(
        asked.version, asked.question, asked.failed, metric.score, metric.least, metric.most, metric.undefined,
        strict=True,
    )  # fmt: skip
    for version, question, failed, score, least, most, undefined in columns:
        if undefined:
            continue
        out = asked.drawn[asked.group[question]]
        row = (0.0, 0.0 if out else NAN, 0.0 if out else NAN) if failed else (score, least, most)
        cells.setdefault((version, question), []).append(row)
    means = {cell: np.nanmean(np.array(rows), axis=0) for cell, rows in cells.items()}
    own = [value for (version, _), value in means.items() if version == place]
    people = [(low + high) / 2 for _, low, high in own if not math.isnan(low)]
    return {"raw": float(np.mean([score for score, _, _ in own])), "people": float(np.mean(people))}


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("seed", range(5))
def test_levels_and_differences_are_those_of_single_responses(seed: int) -> None:
    asked, metric = random_world(seed)
    (found,) = experiment_figures(asked, [metric], Rule("q", 0.05, {}), seed=1)["metrics"]
    hand = [by_hand(asked, metric, place) for place in range(3)]
    for level, own in zip(found["levels"], hand, strict=True):
        assert level["raw"]["value"] == pytest.approx(own["raw"])
        assert level["people"]["value"] == pytest.approx(own["people"])
    for difference, place in zip(found["differences"], (1, 2), strict=True):
        assert difference["raw"]["value"] == pytest.approx(hand[place]["raw"] - hand[0]["raw"])
        assert difference["people"]["value"] == pytest.approx(hand[place]["people"] - hand[0]["people"])
        assert difference["corrected"]["level"] == pytest.approx(0.975)
        assert difference["complete_cases"]["value"] is not None
        assert difference["answering"]["value"] is not None


def simple(least: list[float], *, drawn: int, groups: list[int] | None = None) -> tuple[Asked, Quality]:
    """Version a has 0 everywhere; b has these on the first questions, which went out."""
    n = len(least) + 4
    group = groups or list(range(n))
    places = max(group) + 1
    out = [place < drawn for place in range(places)]
    values = least + [NAN] * (n - len(least))
    zeros = [0.0 if not math.isnan(value) else NAN for value in values]
    no = [False] * (2 * n)
    asked = Asked(
        ["a", "b"], 0, [0] * n + [1] * n, [*range(n), *range(n)], no, no, group, no[:n], out, [False] * places
    )
    both = zeros + values
    said = [not math.isnan(value) for value in both]
    return asked, Quality("q", "Q", [NAN] * (2 * n), both, both, said, [False] * (2 * n))


def sequential(asked: Asked, metric: Quality) -> dict[str, Any]:
    (found,) = experiment_figures(asked, [metric], Rule("q", 0.0, {}), seed=1)["metrics"]
    sequence: dict[str, Any] = found["differences"][0]["sequential"]
    return sequence


def test_the_sequence_ends_at_the_first_group_that_is_not_settled() -> None:
    asked, metric = simple([1.0] * 10, drawn=10)
    assert (sequential(asked, metric)["n"], sequential(asked, metric)["value"]) == (10, 1.0)
    waiting = list(metric.least)
    # Of version b, question 3.
    waiting[14 + 3] = 0.0
    open_one = Quality("q", "Q", metric.score, waiting, metric.most, metric.labelled, metric.undefined)
    assert sequential(asked, open_one)["n"] == 3
    closed = replace(asked, closed=[place == 3 for place in range(14)])
    assert sequential(closed, open_one)["n"] == 10


def test_a_group_counts_in_the_sequence_by_its_questions() -> None:
    """Two questions of one group that differ weigh as two of two groups."""
    groups = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    asked, metric = simple([1.0, 1.0, *([0.0] * 8)], drawn=9, groups=groups)
    found = sequential(asked, metric)
    assert found["n"] == 9
    assert found["value"] == pytest.approx(2 / 9 * 13 / 14)
    assert found["low"] <= 2 / 14 <= found["high"]


def test_what_is_measured_is_raw_and_corrected_alike() -> None:
    asked, metric = simple([1.0] * 10, drawn=10)
    value = [float(n % 5) for n in range(14)] + [float(n % 5 + n % 2) for n in range(14)]
    latency = Measured("latency", "Latency", "ms", value, higher_is_better=False)
    found = experiment_figures(asked, [metric, latency], Rule("q", 0.0, {"latency": 2.0}), seed=1)
    one = found["metrics"][1]["differences"][0]
    assert one["raw"] == one["corrected"]
    assert one["people"]["reason"] == {"code": "measured_without_judge"}
    assert (one["verdict"], found["metrics"][1]["role"], found["metrics"][1]["margin"]) == ("not_worse", "guard", 2.0)


@pytest.mark.parametrize(("margin", "verdict"), [(0.25, "not_worse"), (0.2, "cannot_tell")])
def test_a_guard_that_never_differs_is_told_by_how_much_may_have_been_missed(margin: float, verdict: str) -> None:
    """Of 14 questions: 1 - .025^(1/14) = .232."""
    asked, metric = simple([1.0] * 10, drawn=10)
    answered = Measured("answered", "Answered", "share", [1.0] * 28, higher_is_better=True)
    found = experiment_figures(asked, [metric, answered], Rule("q", 0.0, {"answered": margin}), seed=1)
    assert found["metrics"][1]["differences"][0]["verdict"] == verdict
    assert found["verdict"] == ("better" if verdict == "not_worse" else "cannot_tell")


@pytest.mark.parametrize(
    ("missing", "verdict"),
    [
        ({}, "better"),
        # Neither has a value of two questions; b of one more than a; a of one that b lacks, and the other way round.
        ({0: (12, 13), 1: (12, 13)}, "better"),
        ({0: (12, 13), 1: (12,)}, "better"),
        ({0: (12,), 1: (13,)}, "cannot_tell"),
    ],
)
def test_who_has_a_value_wherever_the_baseline_has_one_is_not_better_for_what_it_leaves_out(
    missing: dict[int, tuple[int, ...]], verdict: str
) -> None:
    asked, metric = simple([1.0] * 10, drawn=10)
    undefined = [question in missing.get(version, ()) for version in (0, 1) for question in range(14)]
    some = Quality("q", "Q", metric.score, metric.least, metric.most, metric.labelled, undefined)
    (found,) = experiment_figures(asked, [some], Rule("q", 0.0, {}), seed=1)["metrics"]
    assert found["differences"][0]["verdict"] == verdict


def test_the_verdict_is_on_the_best_candidate() -> None:
    asked, metric = random_world(3, failures=0.0, undefined=0.0)
    found = experiment_figures(asked, [metric], Rule("q", 1.0, {}), seed=1)
    assert [one["b"] for one in found["verdicts"]] == ["b", "c"]
    assert found["verdict"] in {one["verdict"] for one in found["verdicts"]}


def test_a_metric_of_an_order_reads_passes() -> None:
    assert response_values("context_precision", [[1, 0, 1], [0.4, 0.6]]) == pytest.approx([5 / 6, 0.5])
    assert response_values("precision_at_k", [[1, 1, 0]]) == pytest.approx([0.4])
    assert all(math.isnan(value) for value in response_values("context_precision", [[1, NAN], []]))
    # What lies beyond the fifth says nothing.
    assert response_values("precision_at_k", [[1, 1, 1, 1, 1, NAN]]) == pytest.approx([1.0])


def test_bounds_hold_whatever_becomes_of_units() -> None:
    rng = np.random.default_rng(5)
    for metric in (None, "context_precision", "precision_at_k", "reciprocal_rank"):
        low = rng.integers(0, 2, (50, 6)).astype(float)
        high = np.maximum(low, rng.integers(0, 2, (50, 6)))
        least, most = response_bounds(metric, low.tolist(), high.tolist())
        for _ in range(20):
            between = np.where(rng.random(low.shape) < 0.5, low, high)
            found = np.array(response_values(metric, between.tolist()))
            assert (found >= np.array(least) - 1e-12).all()
            assert (found <= np.array(most) + 1e-12).all()


def abstaining(wrongly: int, rightly: int) -> dict[str, Any]:
    """24 answerable questions and 12 that are not. a answers all of them, half of what it says is right; b is right in
    all that it says, and abstains from so many of either."""
    n = 36
    asked, _ = simple([1.0] * 32, drawn=36)
    silent = [False] * n + [place < wrongly or 24 <= place < 24 + rightly for place in range(n)]
    value = [float(place % 2) for place in range(n)] + [1.0] * n
    known = [NAN if one else said for said, one in zip(value, silent, strict=True)]
    asked = replace(asked, abstained=silent, unanswerable=[place >= 24 for place in range(n)], drawn=[True] * n)
    metric = Quality("q", "Q", [NAN] * (2 * n), known, known, [not one for one in silent], silent)
    (found,) = experiment_figures(asked, [metric], Rule("q", 0.05, {}), seed=1)["metrics"]
    return found


def test_who_abstains_from_what_has_no_answer_may_be_better() -> None:
    found = abstaining(wrongly=0, rightly=10)
    (difference,) = found["differences"]
    assert (difference["verdict"], difference["answering"]["value"]) == ("better", 0.0)
    rates = found["levels"][1]["rates"]
    assert {name: one["value"] for name, one in rates.items()} == {
        "answering": 1.0,
        "wrong_abstention": 0.0,
        "right_abstention": pytest.approx(10 / 12),
    }


def test_who_abstains_from_what_has_one_is_not() -> None:
    (difference,) = abstaining(wrongly=6, rightly=10)["differences"]
    assert (difference["verdict"], difference["reason"]["code"]) == ("cannot_tell", "answers_less_often")
    assert difference["wrong_abstention"]["value"] == pytest.approx(0.25)


def test_wrong_abstention_alone_is_enough() -> None:
    """A metric that is defined of answers that abstain too, but for one."""
    asked, metric = simple([1.0] * 10, drawn=10)
    silent = [False] * 14 + [place < 7 for place in range(14)]
    undefined = [place == 13 for place in range(28)]
    asked = replace(asked, abstained=silent)
    (found,) = experiment_figures(asked, [replace(metric, undefined=undefined)], Rule("q", 0.3, {}), seed=1)["metrics"]
    (difference,) = found["differences"]
    assert (difference["verdict"], difference["reason"]["code"]) == ("cannot_tell", "abstains_wrongly_more_often")


def test_a_band_is_of_the_interval() -> None:
    asked, metric = simple([1.0] * 10, drawn=10)
    limits = [0.1, 0.5, 0.9]
    value = [10.0 + n % 3 for n in range(28)]
    cost = Measured("cost", "Cost", "cost", value, higher_is_better=False, limits=[20.0, 11.0, 5.0])
    metrics = [replace(metric, limits=limits), cost]
    found = experiment_figures(asked, metrics, Rule("q", 0.0, {}), seed=1)["metrics"]
    for one in found[0]["levels"]:
        ends = [one["people"][end] for end in ("low", "high")]
        bands = ["poor", "fair", "good", "excellent"]
        assert one["band"] == [bands[sum(end >= limit for limit in limits)] for end in ends]
    assert found[1]["levels"][0]["band"] == ["fair", "good"]
    unlabelled = replace(metric, least=[NAN] * 28, most=[NAN] * 28, limits=limits)
    (nothing,) = experiment_figures(asked, [unlabelled], Rule("q", 0.0, {}), seed=1)["metrics"]
    assert [one["band"] for one in nothing["levels"]] == [None, None]


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_a_part_is_as_an_experiment_on_its_questions_alone() -> None:
    asked, metric = random_world(7)
    names = [("billing", "setup", "")[question % 7 % 3] for question in range(60)]
    found = sliced_figures(asked, [metric], Rule("q", 0.0, {}), {"category": names, "kind": [""] * 60}, seed=1)
    assert [(one["by"], one["part"], one["questions"], one["few"]) for one in found] == [
        ("category", name, names.count(name), names.count(name) < 20) for name in ("billing", "", "setup")
    ]
    for one in found:
        (of_part,) = one["metrics"]
        rows = [names[question] == one["part"] for question in asked.question]

        def kept(column: Any, rows: list[bool] = rows) -> list[Any]:
            return [value for value, is_there in zip(column, rows, strict=True) if is_there]

        columns = {name: kept(getattr(asked, name)) for name in ("version", "question", "failed")}
        alone = replace(asked, **columns)
        own = replace(
            metric,
            **{name: kept(getattr(metric, name)) for name in ("score", "least", "most", "undefined", "labelled")},
        )
        for place, level in enumerate(of_part["levels"]):
            hand = by_hand(alone, own, place)
            assert level["people"]["value"] == pytest.approx(hand["people"])
            assert level["raw"]["value"] == pytest.approx(hand["raw"])
        assert "verdict" not in of_part["differences"][0]
