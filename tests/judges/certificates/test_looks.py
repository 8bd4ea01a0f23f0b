"""What a look at test shows: everything fitted on dev, held against second sources, and what is kept of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, cohen_kappa_score, roc_auc_score

from alignment import level_of_look
from alignment.base.estimate import remark
from alignment.calibration.calibrators import Calibrator
from alignment.report import Judged, looked, reference_of
from annotate.core.errors import Conflict
from annotate.models import Criterion, Project, Sample
from frontend.reports.looks import calibrator_in_words, looks_context, percent_of, region_in_words
from judges.api import certificates_serializers as shapes
from judges.certificates.write import look_at_test
from judges.models import Look
from judges.reports.evidence import evidence_of_look
from tests.judges.building import (
    add_judge,
    add_labels,
    add_samples,
    drawn_in_full,
    graded_project,
    make_project,
    scores_like,
    stored_sides,
)

pytestmark = pytest.mark.django_db

GRADES = {"key": "grade", "unit": "answer", "scale": "ordinal", "prompt": "How good?", "pass": [4, 5],
          "options": [{"value": value} for value in (1, 2, 3, 4, 5)]}  # fmt: skip


def noisy_project(slug: str = "noisy", *, count: int = 160, noise: float = 0.6, turned: bool = False) -> Project:
    """Three people's grades of `count` answers and a judge with noise of its own, all from one hidden quality."""
    project, rng = make_project(slug, criteria=[GRADES]), np.random.default_rng(7)
    samples = add_samples(project, [f"s{place:03}" for place in range(count)])
    quality = rng.normal(size=count)
    people = np.clip(np.round(3 + 1.3 * (quality[:, None] + rng.normal(scale=0.3, size=(count, 3)))), 1, 5).astype(int)
    names = list(samples)
    rows = [
        (name, "answer", rater, int(people[place, at]))
        for place, name in enumerate(names)
        for at, rater in enumerate(("ann", "ben", "cat"))
    ]
    add_labels(project.criteria.get(), samples, rows)
    drawn_in_full(project.criteria.get())
    scores = np.round(quality + rng.normal(scale=noise, size=count), 3) * (-1 if turned else 1)
    said = [(name, "answer", float(scores[place])) for place, name in enumerate(names)]
    add_judge(project, "judge", samples, said, dimension="grade", higher_is_better=not turned)
    return project


def columns(project: Project) -> tuple[Judged, dict[str, Any]]:
    """The judge beside people, and of each part its scores and people's passes."""
    evidence = evidence_of_look(project.criteria.get(key="grade"), "judge")
    judged = Judged(reference_of(evidence), evidence.judges[0])
    parts = {name: judged.columns(getattr(judged, name))[:2] for name in ("dev", "test")}
    return judged, parts


@pytest.mark.parametrize("turned", [False, True])
def test_every_figure_is_that_of_a_second_source(turned: bool) -> None:
    project = noisy_project(turned=turned)
    look = look_at_test(criterion=project.criteria.get(), judge_name="judge")
    judged, parts = columns(project)
    scores, people = (np.array(column) for column in parts["test"])
    result = look.result
    sign = -1 if turned else 1

    # Every threshold on dev, tried one by one.
    dev_scores, dev_people = (np.array(column) for column in parts["dev"])
    tried = {at: cohen_kappa_score(dev_people, sign * dev_scores >= sign * at) for at in sorted(set(dev_scores))}
    best = max(tried.values())
    assert result["threshold"] == next(at for at, kappa in tried.items() if kappa > best - 1e-12)
    decided = sign * scores >= sign * result["threshold"]
    assert result["kappa"]["value"] == pytest.approx(cohen_kappa_score(people, decided))
    assert result["error"]["value"] == pytest.approx((decided != people).mean())
    assert result["roc_auc"]["value"] == pytest.approx(roc_auc_score(people, sign * scores))

    calibrated = result["calibrated"]
    likely = Calibrator.from_dict(calibrated["calibrator"]).probability(scores)
    assert calibrated["brier"]["value"] == pytest.approx(brier_score_loss(people, likely))
    assert calibrated["kappa"]["value"] == pytest.approx(cohen_kappa_score(people, likely >= 0.5))
    assert sum(point["observed"]["n"] for point in calibrated["points"]) == len(scores)
    for point in calibrated["points"]:
        inside = (likely >= point["lowest"]) & (likely <= point["highest"])
        assert point["observed"]["value"] == pytest.approx(people[inside].mean())
        assert point["predicted"] == pytest.approx(likely[inside].mean())

    labels = judged.reference.labels()
    graded = [unit for unit in judged.test if unit in labels]
    given = Calibrator.from_dict(result["cutpoints"]["calibrator"]).verdict([judged.scores[unit] for unit in graded])
    by_people = [labels[unit] for unit in graded]
    levels = result["cutpoints"]["levels"]
    assert result["cutpoints"]["kappa"]["value"] == pytest.approx(
        cohen_kappa_score(by_people, [levels[place] for place in given], weights="quadratic", labels=levels)
    )
    assert result["cutpoints"]["confusion"][2][2] == sum(
        value == 3 and place == 2 for value, place in zip(by_people, given, strict=True)
    )


def test_calibrators_come_from_dev_alone() -> None:
    project = noisy_project()
    look = look_at_test(criterion=project.criteria.get(), judge_name="judge")
    _, parts = columns(project)
    scores, people = (np.array(column, dtype=float) for column in parts["dev"])
    assert calibrator_is_of(look.result["calibrated"]["calibrator"], scores, people)
    # And would be another one with test.
    both = [np.concatenate([parts["dev"][at], parts["test"][at]]).astype(float) for at in (0, 1)]
    assert not calibrator_is_of(look.result["calibrated"]["calibrator"], *both)


def calibrator_is_of(stored: dict[str, Any], scores: Any, people: Any) -> bool:
    grid = np.linspace(scores.min(), scores.max(), 50)
    given = Calibrator.from_dict(stored).probability(grid)
    if stored["method"] == "isotonic":
        own = IsotonicRegression(out_of_bounds="clip").fit(scores, people).predict(grid)
    else:
        assert stored["method"] == "platt"
        own = platt(scores, people)(grid)
    return bool(np.abs(given - own).max() < 1e-4)


def platt(scores: Any, people: Any) -> Any:
    """Platt's curve by Newton's steps, with his targets."""
    passed = people.sum()
    target = np.where(people == 1, (passed + 1) / (passed + 2), 1 / (people.size - passed + 2))
    design = np.column_stack([np.ones_like(scores), scores])
    weights = np.zeros(2)
    for _ in range(100):
        likely = 1 / (1 + np.exp(-design @ weights))
        hessian = design.T @ (design * (likely * (1 - likely))[:, None])
        weights += np.linalg.solve(hessian, design.T @ (target - likely))
    return lambda at: 1 / (1 + np.exp(-(weights[0] + weights[1] * at)))


def test_only_endpoint_and_region_have_the_level_of_the_look() -> None:
    judged, _ = columns(noisy_project())
    first, third = looked(judged, 1).row, looked(judged, 3).row
    for row, number in ((first, 1), (third, 3)):
        assert row["figure"]["level"] == row["region"]["confidence"] == level_of_look(number)
        estimates = [row[name] for name in ("kappa", "tpr", "tnr", "roc_auc", "error", "ceiling", "coverage")]
        estimates += [row["calibrated"][name] for name in ("kappa", "brier")]
        estimates += [row["cutpoints"]["kappa"], *(p["observed"] for p in row["calibrated"]["points"])]
        assert {one["level"] for one in estimates} == {0.95}
    assert first["kappa"] == third["kappa"]
    assert third["figure"]["value"] == first["figure"]["value"] == pytest.approx(first["kappa"]["value"])
    assert third["figure"]["low"] < first["figure"]["low"] < first["kappa"]["low"]


def test_the_region_and_the_decision_follow_from_the_figures() -> None:
    good = look_at_test(criterion=noisy_project("good", count=1000, noise=0.1).criteria.get(), judge_name="judge")
    region = good.result["region"]
    assert region["distance"] is not None
    assert region["false_passes"]["high"] <= region["risk"] == 0.1
    assert region["false_fails"]["high"] <= 0.1
    assert good.result["decision"]["verdict"] == "alone_in_region"
    assert good.result["decision"]["part"] == "test"
    assert "It passes scores of" in region_in_words(region, True)

    bad = look_at_test(criterion=noisy_project("bad", noise=100).criteria.get(), judge_name="judge")
    assert bad.result["region"]["distance"] is None
    assert bad.result["decision"]["verdict"] in ("not_for_use", "cannot_tell")
    assert bad.result["region"]["reason"] == remark("region_after_endpoint")
    assert region_in_words(bad.result["region"], True) == (
        "A score range is tried only when the declared minimum is reached."
    )


def test_a_look_keeps_its_samples() -> None:
    project = noisy_project()
    criterion = project.criteria.get()
    look = look_at_test(criterion=criterion, judge_name="judge")
    sides = stored_sides(criterion)
    assert look.samples["dev"] == sorted(name for name, is_dev in sides.items() if is_dev)
    assert set(look.samples["test"]) == {name for name, is_dev in sides.items() if not is_dev}
    counted = np.sum(list(look.samples["test"].values()), axis=0)
    (tn, fp), (fn, tp) = look.result["confusion"]
    assert counted.tolist() == [tn, fp, fn, tp]
    assert "samples" not in shapes.Look.show(look)


def test_a_judge_that_answers_with_labels() -> None:
    project, samples = graded_project(count=60)
    said = [(name, unit, str(1 + round(4 * score))) for name, unit, score in scores_like(samples)]
    add_judge(project, "grader", samples, said, dimension="grade")
    look = look_at_test(criterion=project.criteria.get(key="grade"), judge_name="grader")
    result = look.result
    assert result["threshold"] is None
    assert result["kappa"]["value"] is not None
    assert [(one["value"], one["score"], one["passes"]) for one in result["answers"]] == [
        (1, 1.0, False), (2, 2.0, False), (3, 3.0, False), (4, 4.0, True), (5, 5.0, True),
    ]  # fmt: skip
    for part in ("calibrated", "cutpoints"):
        assert result[part]["calibrator"] is None
        assert result[part]["reason"] == remark("answers_labels")
    assert "answers with labels" in region_in_words(result["region"], True)


def test_another_look_in_between() -> None:
    criterion = noisy_project().criteria.get()
    with pytest.raises(Conflict, match="Yours would now be number 1"):
        look_at_test(criterion=criterion, judge_name="judge", expected=2)
    assert not Look.objects.exists()
    first = look_at_test(criterion=criterion, judge_name="judge", expected=1)
    # The same data again: nothing is spent, whatever was expected.
    assert look_at_test(criterion=criterion, judge_name="judge", expected=2) == first


def test_what_a_look_does_not_rest_on_costs_no_other_one() -> None:
    """Nor does an upgrade that leaves what a look promises as it is: the fingerprint is of data alone."""
    project, samples = graded_project(count=60)
    add_judge(project, "judge", samples, scores_like(samples), dimension="grade")
    criterion = project.criteria.get(key="grade")
    first = look_at_test(criterion=criterion, judge_name="judge")
    assert first.fingerprint == "cf2382613cf00639036ca3ec8f3fcd695e43972a63266cd09a666bc713220381"
    Sample.objects.filter(external_id__lt="s30").update(pipeline_version="v1", metadata={"topic": "tax"})
    evidence = evidence_of_look(criterion, "judge")
    assert len(set(evidence.versions.values())) == 2
    assert any(evidence.metadata.values())
    assert look_at_test(criterion=criterion, judge_name="judge") == first


def test_looks_as_the_page_has_them(grade: Criterion) -> None:
    before = looks_context(grade, "good", "grade")
    assert (before["history"], before["latest"]) == ([], None)
    assert (before["next"].number, before["next"].level, before["next"].wider) == (1, "96.96%", "1.1")
    look = look_at_test(criterion=grade, judge_name="good")
    after = looks_context(grade, "good", "grade")
    assert (after["latest"]["look"], after["next"].number) == (look, 2)
    assert [row["certificate"] for row in after["history"]] == [None]
    assert looks_context(grade, "good", "other")["latest"] is None


@pytest.fixture
def grade() -> Criterion:
    project, samples = graded_project(count=80)
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    return project.criteria.get(key="grade")


def test_words() -> None:
    assert percent_of(level_of_look(1)) == "96.96%"
    assert percent_of(level_of_look(10)) == "99.970%"
    assert percent_of(level_of_look(100)) == "99.99970%"
    assert calibrator_in_words(None) == ""
    platt = {"method": "platt", "lowest": 0.0, "highest": 1.0, "slope": 2.5, "intercept": -0.25}
    assert calibrator_in_words(platt) == "Platt, slope 2.5, intercept -0.25, between the scores 0 and 1"
    steps = {"method": "isotonic", "scores": [1.0, 3.0], "probabilities": [0.2, 0.6]}
    assert calibrator_in_words(steps) == "isotonic, 2 points between the scores 1 and 3"
    region = {
        "threshold": 0.5, "distance": 0.25, "false_passes": {"high": 0.04}, "false_fails": {"high": 0.07},
        "inside": {"value": 0.4}, "reason": None,
    }  # fmt: skip
    assert region_in_words(region, True).startswith(
        "It passes scores of 0.75 or more and fails those of 0.25 or less. Of what annotators fail there it passes at "
        "most 4.0%, of what they pass it fails at most 7.0%. 40.0% of all units on the test set lie there"
    )
    assert region_in_words(region, False).startswith(
        "It passes scores of 0.25 or less and fails those of 0.75 or more."
    )
    assert region_in_words({**region, "distance": 0}, True).startswith("It decides every score.")
