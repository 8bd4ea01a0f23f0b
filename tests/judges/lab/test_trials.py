"""Trials are started on dev alone, kept and dropped; both versions get the same samples."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.core.errors import Conflict, Invalid
from annotate.models import AuditEntry, Criterion, Project
from annotate.projects.criteria import add_criteria
from judges.core.scores_read import current_version
from judges.lab.read import dimension_of, is_under_way, one_trial, questions_of, trials_of
from judges.lab.write import MOST_SAMPLES, drop_trial, estimate_trial, keep_trial, same_question, start_trial
from judges.models import Judge, JudgeVersion, Run, RunPurpose, RunState, Trial, VersionState
from judges.runs.write import start_run
from judges.versions.write import add_version, create_judge
from tests.annotate.factories import TRISTATE
from tests.database import copied_from_world
from tests.judges.building import add_labels, add_samples, make_project, stored_sides

pytestmark = pytest.mark.django_db

CONFIG = {"measure": "token_overlap", "criterion": "support"}
OTHER = {**CONFIG, "unspaced": "characters"}


def make_world(slug: str = "trials", count: int = 24) -> tuple[Project, Judge]:
    """Claims of which those with an even number are supported, and lie in the context word for word."""
    project = make_project(slug, criteria=["support"])
    claims = [{"text": f"word{at} of the claim" if at % 2 else f"kept{at} here stands"} for at in range(3)]
    context = [{"id": "doc", "text": "kept0 here stands and kept2 here stands as well"}]
    samples = add_samples(project, [f"s{place:02}" for place in range(count)], claims=claims, contexts=context)
    rows = [
        (name, f"claim:{at}", rater, "contradicted" if at % 2 else "supported")
        for name in samples
        for at in range(3)
        for rater in ("ann", "ben")
    ]
    add_labels(project.criteria.get(), samples, rows)
    return project, create_judge(project=project, name="overlap", kind="lexical", config=CONFIG)


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> tuple[Project, Judge]:
    return make_world()


judge = copied_from_world(1)


@pytest.fixture
def criterion(judge: Judge) -> Criterion:
    return judge.project.criteria.get(key="support")


def start(judge: Judge, config: Any = None, **more: Any) -> Trial:
    given = {"criterion": judge.project.criteria.get(key="support"), "samples": 5, "seed": 1, **more}
    return start_trial(judge=judge, config=config or OTHER, **given)


def test_a_trial_runs_both_versions_on_the_same_dev_samples(judge: Judge, criterion: Criterion) -> None:
    trial = start(judge)
    sides = stored_sides(criterion)
    assert len(trial.samples) == 5 == trial.wanted
    assert all(sides[name] for name in trial.samples)
    assert trial.version.state == VersionState.TRIAL
    assert trial.version.based_on == trial.base == current_version(judge)
    assert trial.base_run is not None
    for run, version in ((trial.run, trial.version), (trial.base_run, trial.base)):
        assert (run.version, run.purpose, run.scope) == (version, RunPurpose.TRIAL, {"samples": trial.samples})
        assert run.planned == 15
    assert is_under_way(trial)
    assert trial.dimension == "support"
    entry = AuditEntry.objects.get(action="trial.started")
    assert entry.details == {
        "version": "2", "base": "1", "criterion": "support", "samples": 5, "seed": 1
    }  # fmt: skip


def test_the_same_seed_draws_the_same_and_more_samples_are_others_too(judge: Judge) -> None:
    few, many = start(judge), start(judge, samples=9)
    assert few.version == many.version
    assert set(few.samples) < set(many.samples)
    assert start(judge, seed=2).samples != few.samples


def test_an_estimate_stores_nothing(judge: Judge, criterion: Criterion) -> None:
    before = JudgeVersion.objects.count(), AuditEntry.objects.count(), Run.objects.count()
    found = estimate_trial(judge=judge, config=OTHER, criterion=criterion, samples=5, seed=1)
    assert (found.samples, found.new.asks) == (5, 15)
    assert found.base is not None
    assert found.base.asks == 15
    assert (JudgeVersion.objects.count(), AuditEntry.objects.count(), Run.objects.count()) == before


def test_what_is_refused(judge: Judge, criterion: Criterion) -> None:
    with pytest.raises(Conflict) as nothing:
        start(judge, CONFIG)
    assert nothing.value.code == "nothing_changed"
    for count in (0, MOST_SAMPLES + 1, True, "5"):
        with pytest.raises(Invalid, match="samples"):
            start(judge, samples=count)
    with pytest.raises(Invalid, match="seed"):
        start(judge, seed=-1)
    with pytest.raises(Invalid, match="measure"):
        start(judge, {"measure": "nothing"})
    stranger = make_project("elsewhere", criteria=["support"]).criteria.get()
    with pytest.raises(Invalid, match="another project"):
        start(judge, criterion=stranger)
    assert not Trial.objects.exists()
    assert judge.versions.count() == 1


def test_another_question_is_refused(judge: Judge, criterion: Criterion) -> None:
    """On other units, on another criterion, or under another name."""
    (other,) = add_criteria(project=judge.project, specs=[{**TRISTATE, "key": "tone", "unit": "claim"}])
    for config in (
        {"measure": "token_overlap", "criterion": "tone"},
        {"measure": "token_overlap", "unit": "claim", "dimension": "overlap"},
        {"measure": "token_overlap", "unit": "answer", "dimension": "overlap"},
    ):
        with pytest.raises(Invalid) as refused:
            start(judge, config)
        assert refused.value.code == "other_question"
    with pytest.raises(Invalid) as unanswered:
        start(judge, criterion=other)
    assert unanswered.value.code == "other_question"
    assert judge.versions.count() == 1
    assert not Run.objects.exists()
    version = judge.versions.get()
    assert questions_of(version) == [criterion]
    assert dimension_of(other, version) is None
    own = add_version(
        judge=judge, config={"measure": "token_overlap", "unit": "claim", "dimension": "overlap"},
        state=VersionState.TRIAL,
    )  # fmt: skip
    assert [one.key for one in questions_of(own)] == ["support", "tone"]
    assert dimension_of(other, own) == "overlap"
    assert same_question(other, own, own) == "overlap"


def test_nothing_to_draw_from() -> None:
    project = make_project("bare", criteria=["support"])
    add_samples(project, ["only"])
    judge = create_judge(project=project, name="overlap", kind="lexical", config=CONFIG)
    with pytest.raises(Conflict) as refused:
        start(judge)
    assert refused.value.code == "no_samples"
    JudgeVersion.objects.update(state=VersionState.DROPPED)
    with pytest.raises(Conflict) as refused:
        start(judge)
    assert refused.value.code == "no_version"


def test_what_a_version_has_nothing_to_ask_about_is_not_drawn(judge: Judge) -> None:
    """Samples without a context, as for an LLM judge its own examples, have no units for it."""
    drawn = start(judge, samples=MOST_SAMPLES)
    bare = drawn.samples[:4]
    judge.project.samples.filter(external_id__in=bare).update(contexts=[])
    assert set(start(judge, samples=MOST_SAMPLES).samples) == set(drawn.samples) - set(bare)


def test_keep(judge: Judge) -> None:
    trial = start(judge)
    with pytest.raises(Conflict, match="still running"):
        keep_trial(trial=trial)
    Run.objects.update(state=RunState.DONE)
    trial = one_trial(judge, trial.pk)
    assert keep_trial(trial=trial).state == VersionState.KEPT
    assert current_version(judge) == trial.version
    # The page of the trial still holds it against what it was tried against.
    assert one_trial(judge, trial.pk).base.number == 1


def test_drop_cancels_what_still_runs(judge: Judge) -> None:
    trial = start(judge)
    assert drop_trial(trial=trial).state == VersionState.DROPPED
    trial = one_trial(judge, trial.pk)
    assert trial.run.state == RunState.CANCELLED
    assert current_version(judge) == trial.base
    assert trial.base.state == VersionState.KEPT
    # Tried once more it is on trial again.
    assert start(judge, seed=3).version.state == VersionState.TRIAL
    assert trials_of(judge).count() == 2


def test_a_kept_version_that_other_runs_use_cannot_be_dropped_meanwhile(judge: Judge) -> None:
    trial = start(judge)
    Run.objects.update(state=RunState.DONE)
    trial = one_trial(judge, trial.pk)
    keep_trial(trial=trial)
    start_run(version=trial.version, scope={"all": True})
    with pytest.raises(Conflict, match="is running"):
        drop_trial(trial=trial)
