"""A judge's calibration and score histogram in a report: dev alone, cross-fitted on the threshold's own folds."""

import json

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, cohen_kappa_score, confusion_matrix, log_loss

from alignment import IsotonicCalibrator, NotFitted, PlattCalibrator
from alignment.base.estimate import remark
from alignment.report import Criterion, Evidence, Judged, JudgeScores, Option, reference_of, report_figures
from alignment.report.calibration import (
    ANSWERS_LABELS,
    chosen_calibrator,
    cutpoint_calibrator,
    grade_figures,
    passing_columns,
    probability_figures,
)
from alignment.report.comparison import score_histogram

SAMPLES = 240


def evidence(score, *, passes=(4, 5), levels=5, seed=1, higher_is_better=True, samples=SAMPLES, scale="ordinal"):
    """Two people's grades of each sample's one answer, agreed, and a judge: score(grade, rng)."""
    rng = np.random.default_rng(seed)
    grades = rng.integers(1, levels + 1, samples)
    units = [(f"s{place:04}", "answer") for place in range(samples)]
    numbers = {unit: float(score(grade, rng)) for unit, grade in zip(units, grades.tolist(), strict=True)}
    return Evidence(
        criterion=Criterion(
            "c", 1, "C", "answer", scale, "?", tuple(Option(n, f"grade {n}") for n in range(1, levels + 1)), passes
        ),
        seed=7,
        units=[unit for unit in units for _ in range(2)],
        raters=["ann", "ben"] * samples,
        values=[int(grade) for grade in grades for _ in range(2)],
        verdicts={},
        judges=[JudgeScores("j", "1", "c", higher_is_better, numbers)],
        is_dev={sample: place % 2 == 0 for place, (sample, _) in enumerate(units)},
    )


def judged_of(found):
    return Judged(reference_of(found), found.judges[0])


def noisy(grade, rng):
    return np.clip(grade / 6 + rng.normal(0, 0.12), 0.0, 1.0)


def test_every_fold_is_calibrated_by_the_others():
    """Isotonic, by scikit-learn, fold by fold."""
    judged = judged_of(evidence(noisy))
    fold_of = judged.reference.fold_of
    score = np.array([judged.scores[unit] for unit in judged.dev])
    human = np.array([judged.reference.positive[unit] for unit in judged.dev])
    fold = np.array([fold_of[sample] for sample, _ in judged.dev])
    likely = np.empty(score.size)
    for left_out in range(5):
        model = IsotonicRegression(out_of_bounds="clip").fit(score[fold != left_out], human[fold != left_out])
        likely[fold == left_out] = model.predict(score[fold == left_out])
    found = probability_figures(judged)["methods"]["isotonic"]
    assert found["brier"]["value"] == pytest.approx(brier_score_loss(human, likely), abs=1e-9)
    assert found["kappa"]["value"] == pytest.approx(cohen_kappa_score(human, likely >= 0.5), abs=1e-9)


def test_the_threshold_is_that_of_the_report():
    """Two roads to the same cross-fitted decisions: the folds have one home."""
    found = evidence(noisy)
    columns = passing_columns(judged_of(found))
    (row,) = report_figures(found)["judges"]
    kappa = cohen_kappa_score(columns.human, columns.cross_fit("threshold").verdict)
    assert row["at_threshold"]["kappa"]["value"] == pytest.approx(kappa)


def test_chosen_is_the_lowest_log_loss_and_fitted_on_all_of_dev():
    judged = judged_of(evidence(noisy))
    found = probability_figures(judged)
    losses = {name: found["methods"][name]["log_loss"]["value"] for name in ("platt", "isotonic")}
    defined = {name: loss for name, loss in losses.items() if loss is not None}
    assert found["chosen"] == min(defined, key=defined.get)
    columns = passing_columns(judged)
    assert columns.score.size == SAMPLES / 2
    assert chosen_calibrator(judged) == columns.fit(found["chosen"])


def test_isotonic_is_chosen_where_it_fits_better():
    """Three scores whose shares of passes no logistic curve can follow."""

    def steps(grade, rng):
        passes = grade == 2
        return rng.choice([0.0, 0.1, 1.0], p=[0.05, 0.5, 0.45] if passes else [0.5, 0.03, 0.47])

    judged = judged_of(evidence(steps, passes=(2,), levels=2, scale="binary", samples=600))
    assert probability_figures(judged)["chosen"] == "isotonic"
    assert isinstance(chosen_calibrator(judged), IsotonicCalibrator)


def test_the_yardstick_is_one_probability_for_all():
    judged = judged_of(evidence(noisy))
    human = passing_columns(judged).human
    constant = probability_figures(judged)["constant"]
    same = np.full(human.size, human.mean())
    assert constant["share"] == pytest.approx(human.mean())
    assert constant["brier"] == pytest.approx(brier_score_loss(human, same))
    assert constant["log_loss"] == pytest.approx(log_loss(human, same))


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_scores_as_they_are(higher_is_better):
    turned = noisy if higher_is_better else lambda grade, rng: 1 - noisy(grade, rng)
    judged = judged_of(evidence(turned, higher_is_better=higher_is_better))
    columns = passing_columns(judged)
    likely = columns.score if higher_is_better else 1 - columns.score
    found = probability_figures(judged)["as_is"]
    assert found["brier"]["value"] == pytest.approx(brier_score_loss(columns.human, likely))
    assert probability_figures(judged_of(evidence(lambda grade, _: 2 * grade)))["as_is"] is None


def test_nothing_of_test_is_seen():
    """Whatever the judge scores there, and whatever people say there."""
    one = evidence(noisy)
    scores = one.judges[0].numbers
    other = {unit: score if one.is_dev[unit[0]] else 1 - score for unit, score in scores.items()}
    turned = Judged(reference_of(one), JudgeScores("j", "1", "c", True, other))
    judged = judged_of(one)
    for figures in (probability_figures, grade_figures, score_histogram):
        assert figures(judged) == figures(turned)
    assert chosen_calibrator(judged) == chosen_calibrator(turned)


def test_points_have_ten_units_or_more():
    for samples in (60, 240, 1000):
        points = probability_figures(judged_of(evidence(noisy, samples=samples)))["points"]
        assert sum(point["n"] for point in points) == samples / 2
        assert min(point["n"] for point in points) >= 8  # ties and rounding may take a unit or two
        assert len(points) <= 15
        assert all(point["low"] <= point["observed"] <= point["high"] for point in points)


def test_a_judge_that_knows_nothing_has_no_calibrator():
    judged = judged_of(evidence(lambda grade, rng: -grade))
    found = probability_figures(judged)
    assert found["chosen"] is None
    nothing = remark("nothing_to_calibrate")
    assert found["why_none"]["code"] == "no_method"
    assert {found["why_none"][method]["code"] for method in ("platt", "isotonic")} <= {
        "nothing_to_calibrate",
        "without_fold",
    }
    assert found["points"] == []
    assert isinstance(chosen_calibrator(judged), NotFitted)
    assert grade_figures(judged)["reason"] == nothing


def test_a_judge_of_labels_has_no_score():
    base = evidence(noisy)
    labels = JudgeScores("j", "1", "c", True, labels=dict.fromkeys(base.judges[0].numbers, 4))
    judged = Judged(reference_of(base), labels)
    assert probability_figures(judged) == {"reason": ANSWERS_LABELS}
    assert score_histogram(judged) is None
    assert grade_figures(judged) == {"reason": ANSWERS_LABELS}


def test_one_class_is_a_reason():
    judged = judged_of(evidence(noisy, passes=(1, 2, 3, 4, 5)))
    assert chosen_calibrator(judged).reason["code"] == "all_positive_in_part"
    json.dumps(probability_figures(judged), allow_nan=False)


@pytest.mark.parametrize("higher_is_better", [True, False])
@pytest.mark.parametrize("passes", [(4, 5), (1, 2)])
def test_grades(passes, higher_is_better):
    """Also where low levels pass, and where low scores are good."""

    def score(grade, rng):
        good = grade if 5 in passes else 6 - grade
        return (good if higher_is_better else -good) + rng.normal(0, 0.6)

    judged = judged_of(evidence(score, passes=passes, higher_is_better=higher_is_better))
    found = grade_figures(judged)
    assert found["kappa"]["value"] > 0.7
    fitted = cutpoint_calibrator(judged)
    grades = fitted.verdict([judged.scores[unit] for unit in judged.dev]) + 1
    people = [judged.reference.labels()[unit] for unit in judged.dev]
    optimistic = cohen_kappa_score(people, grades, weights="quadratic")
    # Cross-fitted, and so a little below what the cuts reach on the units they are made for.
    assert found["kappa"]["value"] < optimistic < found["kappa"]["value"] + 0.1
    assert found["cuts"] == list(fitted.cuts)
    assert found["levels"] == [f"grade {n}" for n in range(1, 6)]
    assert (found["higher_is_better"] is higher_is_better) == (5 in passes)


def test_two_levels_have_no_grades():
    assert grade_figures(judged_of(evidence(noisy, levels=2, passes=(2,), scale="binary"))) is None


def whole(grade, rng):
    return float(rng.integers(-3, 4))


def huge(grade, rng):
    """The distance of two such scores is no float any more."""
    return 1.7e308 if grade > 3 else -1.7e308


@pytest.mark.parametrize("score", [noisy, whole, huge])
def test_the_histogram_counts_dev_units(score):
    judged = judged_of(evidence(score))
    found = score_histogram(judged)
    scores, passes, _ = judged.columns(judged.dev)
    for which, name in ((True, "passes"), (False, "fails")):
        values = [value for value, passed in zip(scores, passes, strict=True) if passed == which]
        assert sum(found[name]) == len(values)
        edges = found["edges"]
        for count, low, high in zip(found[name][:-1], edges[:-2], edges[1:-1], strict=True):
            assert count == sum(low <= value < high for value in values)
    assert (found["edges"][0], found["edges"][-1]) == (min(scores), max(scores))
    assert len(found["edges"]) == 21


def test_equal_scores_share_one_bin():
    found = score_histogram(judged_of(evidence(lambda grade, rng: 0.5)))
    assert found["edges"] == [0.5, 0.5]
    assert found["passes"][0] + found["fails"][0] == SAMPLES / 2


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_the_matrix_at_every_threshold_shown(higher_is_better):
    turned = noisy if higher_is_better else lambda grade, rng: 1 - noisy(grade, rng)
    found = evidence(turned, higher_is_better=higher_is_better, samples=800)
    judged = judged_of(found)
    sweep = report_figures(found)["judges"][0]["sweep"]
    assert len(sweep["thresholds"]) <= 200 < sweep["observed"]
    scores, passes, _ = (np.array(column) for column in judged.columns(judged.dev))
    for place, threshold in enumerate(sweep["thresholds"]):
        said = scores >= threshold if higher_is_better else scores <= threshold
        (tn, fp), (fn, tp) = confusion_matrix(passes, said, labels=[False, True]).tolist()
        assert (sweep["tp"][place], sweep["fp"][place]) == (tp, fp)
        assert (sweep["positives"], sweep["negatives"]) == (tp + fn, fp + tn)
        assert sweep["tpr"][place] == pytest.approx(tp / (tp + fn))
        assert sweep["tnr"][place] == pytest.approx(tn / (tn + fp))
    assert isinstance(passing_columns(judged).fit("platt"), PlattCalibrator)
