"""Ensembles: fitted once on the dev half, frozen, and silent where a member is."""

import random
from typing import Any

import pytest

from annotate.core.errors import Conflict, Invalid
from annotate.models import Label, Project
from judges.core.scores_read import current_version
from judges.kinds.ensemble import KIND
from judges.kinds.stacking import Curve, fold_of
from judges.models import JudgeVersion, Score, ScoreStatus
from judges.versions.write import add_version, create_judge, drop_version, judge_spec
from tests.database import copied_from_world
from tests.judges.building import add_judge, add_labels, add_samples, make_project, stored_sides
from tests.judges.kinds.making import scored_in

pytestmark = pytest.mark.django_db
SAMPLES = [f"s-{n:02}" for n in range(90)]
MEMBERS = [{"judge": "numbers"}, {"judge": "words"}]


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Project:
    """People pass 60 %; one judge says so in noisy numbers, the other in words, of which one in five is wrong."""
    project = make_project()
    samples = add_samples(project, SAMPLES)
    rng = random.Random(2)
    labels, numbers, words = [], [], []
    for name in SAMPLES:
        for unit in (f"claim:{index}" for index in range(4)):
            passes = rng.random() < 0.6
            labels.append((name, unit, "ann", "supported" if passes else "not in context"))
            numbers.append((name, unit, rng.gauss(passes, 0.8)))
            words.append((name, unit, "supported" if passes == (rng.random() < 0.8) else "contradicted"))
    two = [(name, unit, who, value) for name, unit, _, value in labels[: 4 * 80] for who in ("ann", "ben")]
    add_labels(project.criteria.get(), samples, two)
    add_judge(project, "numbers", samples, numbers)
    add_judge(project, "words", samples, words)
    return project


project = copied_from_world()


def _made(project: Project, name: str = "both", **config: Any) -> JudgeVersion:
    judge = create_judge(
        project=project, name=name, kind="ensemble", config={"criterion": "support", "members": MEMBERS, **config}
    )
    version = current_version(judge)
    assert version is not None
    return version


def _sides(project: Project) -> dict[str, bool]:
    return stored_sides(project.criteria.get(key="support", is_current=True))


def test_it_is_fitted_on_dev_alone(project: Project) -> None:
    fit = _made(project).config["fit"]
    sides = _sides(project)
    assert (fit["units"], fit["samples"]) == (4 * sum(sides.values()), sum(sides.values()))
    assert 0 < fit["samples"] < 80
    assert fit["brier"] < 0.6 * fit["brier_of_share"]
    assert all(weight > 0 for weight in fit["whole"]["weights"])
    # Whatever people say of the test half.
    test = [name for name, is_dev in sides.items() if not is_dev]
    Label.objects.filter(sample__external_id__in=test).update(value="contradicted")
    assert _made(project, "again").config["fit"] == fit


def test_a_dev_sample_is_scored_without_its_fold_and_the_others_by_the_whole(project: Project) -> None:
    version = _made(project)
    fit = version.config["fit"]
    sides = _sides(project)
    curves = {name: Curve(**fit["whole"]) for name in SAMPLES}
    curves |= {name: Curve(**fit["folds"][fold_of(fit["seed"], name)]) for name, is_dev in sides.items() if is_dev}
    said = {
        (name, unit): (numbers, 1.0 if label == "supported" else 0.0)
        for name, unit, numbers, label in (
            (one.sample.external_id, one.unit, one.number, other.label)
            for one in Score.objects.filter(version__judge__name="numbers").select_related("sample")
            for other in Score.objects.filter(version__judge__name="words", sample=one.sample, unit=one.unit)
        )
    }
    names = [*SAMPLES[:3], *SAMPLES[-3:], *[name for name, is_dev in sides.items() if is_dev][:5]]
    for (name, unit), score in scored_in(project, KIND, version, *names).items():
        assert score.number == pytest.approx(curves[name].probability(said[name, unit]))
        assert score.rationale.startswith("Log-odds: numbers ")


def test_reading_and_scoring_fit_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    version = _made(project)
    monkeypatch.setattr("judges.kinds.ensemble.fit_stack", None)
    assert KIND.complete(version.config, project) == version.config
    assert KIND.members(version.config) == [("numbers", "1"), ("words", "1")]
    assert KIND.dimensions(version.config) == [("claim", "support")]
    assert scored_in(project, KIND, version, "s-00")


def test_new_verdicts_change_no_version_and_a_new_fit_is_a_new_one(project: Project) -> None:
    version = _made(project)
    config = {"criterion": "support", "members": MEMBERS}
    assert add_version(judge=version.judge, config=config) == version
    dev = next(name for name, is_dev in _sides(project).items() if is_dev)
    Label.objects.filter(sample__external_id=dev).update(value="contradicted")
    version.refresh_from_db()
    assert add_version(judge=version.judge, config=version.config) == version
    refitted = add_version(judge=version.judge, config=config)
    assert refitted.number == 2
    assert refitted.config["fit"] != version.config["fit"]
    assert add_version(judge=version.judge, config=judge_spec(refitted)["config"]) == refitted


def test_a_missing_member_score_is_missing_and_never_zero(project: Project) -> None:
    version = _made(project)
    Score.objects.filter(version__judge__name="numbers", sample__external_id="s-00", unit="claim:0").delete()
    Score.objects.filter(version__judge__name="words", sample__external_id="s-00", unit="claim:1").update(
        status="timeout", label=None
    )
    Score.objects.filter(version__judge__name="numbers", sample__external_id="s-00", unit="claim:2").update(number=0.0)
    found = scored_in(project, KIND, version, "s-00")
    assert found["s-00", "claim:0"].detail == "“numbers” (1) has no score of claim:0."
    assert found["s-00", "claim:1"].detail == "“words” (1) has none either: timeout."
    assert [score.status for score in found.values()] == [ScoreStatus.ERROR] * 2 + [ScoreStatus.OK] * 2
    assert found["s-00", "claim:0"].number is None


def test_units_that_a_member_lacks_are_left_out_and_counted(project: Project) -> None:
    whole = _made(project).config["fit"]
    dev = [name for name, is_dev in _sides(project).items() if is_dev]
    Score.objects.filter(version__judge__name="words", sample__external_id__in=dev[:3]).delete()
    fit = _made(project, "fewer").config["fit"]
    assert fit["units"] == whole["units"] - 12
    assert fit["left_out"] == {"“numbers” (1)": 0, "“words” (1)": 12}


def test_a_version_in_use_is_made_of_versions_in_use(project: Project) -> None:
    overlap = create_judge(
        project=project, name="overlap", kind="lexical", config={"measure": "token_overlap", "criterion": "support"}
    )
    kept = current_version(overlap)
    assert kept is not None
    numbers = Score.objects.filter(version__judge__name="numbers")
    Score.objects.bulk_create(
        Score(version=kept, run=one.run, sample_id=one.sample_id, unit=one.unit, dimension="support", number=one.number)
        for one in numbers.select_related("run")
    )
    version = _made(project, members=[{"judge": "overlap"}, {"judge": "words"}])
    with pytest.raises(Conflict) as error:
        drop_version(version=kept)
    assert error.value.code == "member_of_kept"
    # The member's next version changes nothing here.
    add_version(judge=overlap, config={"measure": "rouge_l", "criterion": "support"})
    version.refresh_from_db()
    assert KIND.members(version.config) == [("overlap", "1"), ("words", "1")]


@pytest.mark.parametrize(
    ("config", "field", "words"),
    [
        ({"criterion": None, "dimension": "x", "unit": "claim"}, "criterion", "Specify the criterion"),
        ({"members": [{"judge": "numbers"}]}, "members", "2 to 20"),
        ({"members": [{"judge": "numbers"}, {"judge": "numbers"}]}, "members", "once"),
        ({"members": [{"judge": "numbers"}, {"judge": "nobody"}]}, "members.1.judge", "numbers, words"),
        ({"members": [{"judge": "numbers", "version": "9"}, {"judge": "words"}]}, "members.0.version", "1"),
        ({"members": [{"judge": "numbers", "dimension": "x"}, {"judge": "words"}]}, "members.0.dimension", "support"),
        ({"members": [{"judge": "numbers", "weight": 1}, {"judge": "words"}]}, "members.0.weight", "Unknown field"),
        ({"members": [{"judge": "numbers"}, "words"]}, "members.1", "object"),
        ({"members": "numbers"}, "members", "list"),
        ({"fit": {"members": []}}, "fit.members", "other members"),
    ],
)
def test_configurations_that_are_refused(project: Project, config: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(Invalid) as error:
        _made(project, **config)
    assert error.value.details["field"] == f"config.{field}"
    assert words in error.value.message


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"whole": {"intercept": "0"}}, "fit.whole.intercept"),
        ({"whole": {"intercept": 0, "weights": [1]}}, "fit.whole.weights"),
        ({"whole": {"intercept": 0, "weights": [1, 1], "centres": [0, 0], "spreads": [1, 0]}}, "fit.whole.spreads.1"),
        ({"folds": []}, "fit.folds"),
        ({"units": -1}, "fit.units"),
        ({"brier": 2}, "fit.brier"),
        ({"left_out": []}, "fit.left_out"),
        ({"more": 1}, "fit.more"),
    ],
)
def test_a_fit_that_is_none_is_refused(project: Project, change: dict[str, Any], field: str) -> None:
    fit = _made(project).config["fit"]
    with pytest.raises(Invalid) as error:
        _made(project, "other", fit={**fit, **change})
    assert error.value.details["field"] == f"config.{field}"


def test_a_member_without_scores_on_dev_is_refused(project: Project) -> None:
    dev = Score.objects.filter(version__judge__name="words", sample__external_id__in=SAMPLES[:80])
    dev.delete()
    with pytest.raises(Invalid) as error:
        _made(project)
    assert "“words” (1) has no scores in the dev set" in error.value.message


def test_too_few_verdicts_and_one_sided_ones_are_refused(project: Project) -> None:
    Label.objects.update(value="supported")
    with pytest.raises(Invalid, match="Annotators pass all or none"):
        _made(project)
    Label.objects.filter(sample__external_id__in=SAMPLES[:4]).update(value="contradicted")
    with pytest.raises(Invalid, match="Too few dev verdicts"):
        _made(project)
