"""What reports, trials and draws leave out beside the criterion's own test half: what is test for other criteria that
the same scores are compared with, and for other versions of the criterion."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest
from django.core.cache import cache

import alignment
from annotate.core.blindness import SYSTEM
from annotate.labels.consensus import settle_imported
from annotate.models import Criterion, Project
from annotate.projects.criteria import add_criteria
from judges.core.split import divide, sides_of
from judges.lab.read import dev_names, trial_figures
from judges.models import GroupSide, JudgeVersion, Side, Trial
from judges.reports.evidence import evidence_of_look, full_evidence, settled_on_dev
from judges.reports.next_samples import About, Shares, next_samples, outcome_queue
from tests.judges.building import add_judge, add_labels, add_samples, make_project

pytestmark = pytest.mark.django_db
NAMES = [f"s{place:03}" for place in range(60)]


def asking(key: str, *passes: str) -> dict[str, Any]:
    options = [{"value": "yes"}, {"value": "no"}]
    return {"key": key, "unit": "answer", "scale": "nominal", "prompt": key, "options": options, "pass": list(passes)}


@pytest.fixture
def project(db: None) -> Project:
    cache.clear()
    return make_project("p", criteria=[asking("first", "yes"), asking("second", "yes")])


def criterion(project: Project, key: str) -> Criterion:
    return project.criteria.get(key=key, is_current=True)


def label(project: Project, key: str, names: Iterable[str] = NAMES) -> Criterion:
    """Two people agree, on a random half."""
    asked, rng = criterion(project, key), random.Random(key)
    samples = {sample.external_id: sample for sample in project.samples.all()} or add_samples(project, NAMES)
    values = {name: rng.choice(["yes", "no"]) for name in names}
    add_labels(asked, samples, [(name, "answer", who, value) for name, value in values.items() for who in ("a", "b")])
    settle_imported(project=project, criterion=asked, needed=2)
    return asked


def judge(project: Project, dimension: str, label: str = "1") -> JudgeVersion:
    samples, rng = {sample.external_id: sample for sample in project.samples.all()}, random.Random(label)
    rows = [(name, "answer", rng.random()) for name in NAMES]
    return add_judge(project, "judge", samples, rows, dimension=dimension, label=label)


def said_in(evidence: alignment.report.Evidence) -> set[str]:
    series = (*evidence.judges, *evidence.earlier, *evidence.whole)
    return {sample for one in series for sample, _unit in (*one.numbers, *one.labels, *one.failed, *one.again)}


def on_side(asked: Criterion, *, dev: bool) -> set[str]:
    return {name for name, is_dev in sides_of(asked, NAMES).items() if is_dev is dev}


def test_scores_under_a_name_of_their_own_have_one_division_for_all_criteria(project: Project) -> None:
    first, second = label(project, "first"), label(project, "second")
    judge(project, "overall")
    found = full_evidence(first)
    assert 20 < len(on_side(first, dev=True)) < 40
    assert sides_of(first, NAMES) == sides_of(second, NAMES)
    assert said_in(found) == said_in(full_evidence(second)) == on_side(first, dev=True)


def test_what_was_divided_apart_before_is_closed_for_both(project: Project) -> None:
    first, second = label(project, "first"), label(project, "second")
    for asked in (first, second):
        divide(asked, dict.fromkeys(NAMES, True))
        GroupSide.objects.filter(criterion_key=asked.key).update(side=Side.TEST)
    GroupSide.objects.filter(criterion_key="first", group__lt="s040").update(side=Side.DEV)
    GroupSide.objects.filter(criterion_key="second", group__gte="s020").update(side=Side.DEV)
    judge(project, "overall")
    both = set(NAMES[20:40])
    for asked in (first, second):
        found = full_evidence(asked)
        assert said_in(found) == both
        row = alignment.report.report_figures(found)["judges"][0]
        assert row["coverage"] == {"scored": 20, "failed": 0, "missing": 0, "unlabelled": 0}
        again = alignment.report.evidence_from_dict(alignment.report.evidence_as_dict(found))
        assert alignment.report.report_figures(again) == alignment.report.report_figures(found)
    # A look is at what is test for the criterion.
    assert said_in(evidence_of_look(first, "judge")) == set(NAMES)


def test_a_trial_of_such_a_judge_shows_nothing_of_another_test_half(project: Project) -> None:
    first = label(project, "first")
    divide(first, dict.fromkeys(NAMES, True))
    second = label(project, "second")
    divide(second, dict.fromkeys(NAMES, True))
    base, tried = judge(project, "overall"), judge(project, "overall", "2")
    names = sorted(on_side(second, dev=True))
    trial = Trial(
        version=tried, base=base, criterion=second, dimension="overall", seed=1, wanted=60, samples=names
    )  # fmt: skip
    shown = trial_figures(trial, reader=SYSTEM).figures
    rows = {row["sample"] for part in ("flipped", "changed") for row in shown[part]}
    assert rows
    assert not rows & on_side(first, dev=False)


def test_a_version_that_says_nowhere_what_passes_opens_nothing(project: Project) -> None:
    first = label(project, "first")
    judge(project, "first")
    full_evidence(first)
    closed = on_side(first, dev=False)
    assert closed
    (changed,) = add_criteria(project=project, specs=[asking("first")])
    label(project, "first")
    assert not said_in(full_evidence(changed)) & closed
    assert not closed.intersection(settled_on_dev(changed))
    assert not closed.intersection(dev_names(changed, NAMES))


def test_what_has_no_labels_on_the_new_version_stays_closed(project: Project) -> None:
    first = label(project, "first")
    judge(project, "first")
    full_evidence(first)
    closed = on_side(first, dev=False)
    (changed,) = add_criteria(project=project, specs=[{**asking("first", "yes"), "prompt": "Anew?"}])
    label(project, "first", sorted(on_side(first, dev=True)))
    assert not said_in(full_evidence(changed)) & closed
    drawn = outcome_queue(
        criterion=changed, about=About("judge", "first"), threshold=0.5, shares=Shares(), seed=1, reader=SYSTEM
    )
    assert {group.outcome for group in drawn.found.groups} == {"no score"}


@pytest.mark.parametrize("is_divided", [True, False])
def test_a_draw_tells_nothing_of_what_is_closed_for_another_criterion(project: Project, is_divided: bool) -> None:
    first = label(project, "first", NAMES[:30])
    judge(project, "overall")
    if is_divided:
        full_evidence(first)
    closed = set(NAMES[:30]) - (on_side(first, dev=True) if is_divided else set())
    second = criterion(project, "second")
    about = About("judge", "overall")
    drawn = outcome_queue(criterion=second, about=about, threshold=0.5, shares=Shares(), seed=1, reader=SYSTEM)
    sizes = {group.outcome: group.samples for group in drawn.found.groups}
    assert sizes["no score"] == len(closed)
    before = next_samples(criterion=second, count=20, about=about, seed=1, reader=SYSTEM)
    for score in JudgeVersion.objects.get().scores.filter(sample__external_id__in=closed):
        score.number = 1 - score.number
        score.save()
    after = next_samples(criterion=second, count=20, about=about, seed=1, reader=SYSTEM)
    assert before.chosen == after.chosen
