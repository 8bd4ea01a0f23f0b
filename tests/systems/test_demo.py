"""The demo that `make run` loads: its files are what the generator writes, and it shows what the product is for."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from django.db.models import F, Q
from django.test import Client
from django.utils import timezone

from annotate.batches.draws_read import how_labelled
from annotate.core.blindness import SYSTEM
from annotate.demo import DEMO_FOLDER, DEMO_SLUG
from annotate.models import Label, LabelEvent, Project, Task, User, Verdict
from annotate.models.label import VerdictState
from annotate.projects.notices_read import new_notices
from annotate.projects.read import criterion_named
from fixtures.demo.build_demo import SEED, build
from judges.certificates.decision_read import Standing, standing_of
from judges.certificates.triage_read import left_to_people
from judges.models import Certificate, Look
from judges.reports.evidence import full_evidence
from systems.demo import work_out_figures
from systems.diagnosis.figures_read import figures_of
from systems.diagnosis.read import diagnosed
from systems.diagnosis.tree import Stage
from systems.models import ExperimentFigures
from tests.systems.building import command


def test_the_files_are_what_the_generator_writes() -> None:
    texts = build(np.random.default_rng(SEED))
    stored = {path.name: path.read_text(encoding="utf-8") for path in DEMO_FOLDER.glob("*.jsonl")}
    assert texts.keys() - {"project.json"} == stored.keys()
    differing = [name for name, text in texts.items() if (DEMO_FOLDER / name).read_text(encoding="utf-8") != text]
    assert not differing, "run: python -m fixtures.demo.build_demo"
    size = sum(path.stat().st_size for path in DEMO_FOLDER.rglob("*") if path.suffix in (".jsonl", ".json", ".toml"))
    assert size < 3_300_000


@pytest.fixture(scope="module")
def _loaded(module_transaction: None) -> Project:
    call_command("load_demo", stdout=StringIO())
    project = Project.objects.get(slug=DEMO_SLUG)
    # As when it is committed, which these tests don't.
    work_out_figures(project)
    return project


@pytest.fixture
def project(_loaded: Project, db: None) -> Project:
    return _loaded


def standing(project: Project, judge: str) -> Standing:
    return standing_of(project=project, criterion_key="support", judge_name=judge)


def week_of(project: Project, moment: datetime) -> int:
    """Counted from the Monday of the week in which the first samples came."""
    first = timezone.localtime(project.samples.order_by("created_at")[0].created_at).date()
    return (timezone.localtime(moment).date() - (first - timedelta(days=first.weekday()))).days // 7 + 1


def test_twelve_weeks_are_settled(project: Project) -> None:
    verdicts = Verdict.objects.filter(criterion__project=project, criterion__key="support")
    of_weeks = verdicts.filter(sample__pipeline_version__in=["v1", "v2"], state=VerdictState.SETTLED)
    assert 390 <= of_weeks.values("sample").distinct().count() <= 400
    assert verdicts.filter(method="adjudicated", decided_by__username="remy").count() > 50
    done = Task.objects.filter(status="submitted", sample__pipeline_version__in=["v1", "v2"])
    submitted = done.values_list("submitted_at", flat=True)
    assert {week_of(project, moment) for moment in submitted} == set(range(1, 13))
    # Each label was given within its task, and its event says when.
    said = Label.objects.filter(sample__project=project)
    outside = Q(updated_at__lt=F("task__started_at")) | Q(updated_at__gt=F("task__submitted_at"))
    assert not said.filter(outside).exists()
    assert LabelEvent.objects.filter(label__in=said).count() == said.count()
    assert not project.samples.filter(created_at__gt=timezone.now()).exists()
    # Every sample that is labelled came with a known chance, but for what was drawn to compare builds.
    drawn = project.samples.filter(pipeline_version__in=["v3", "v4"], labels__criterion__key="support").distinct()
    assert how_labelled(criterion_named(project, "support")).chosen == drawn.count()


def test_one_judge_has_earned_a_certificate_and_triage_pays(project: Project) -> None:
    found = standing(project, "claim-checker")
    assert found.refusal is None
    assert found.decision is not None
    assert found.decision["verdict"] == "alone_in_region"
    assert found.drift is not None
    assert found.drift.alarm is None
    assert found.drift.units > 300
    assert found.alone_in is not None
    left = left_to_people(found.alone_in, reader=SYSTEM)
    assert left is not None
    waiting = project.samples.filter(labels__isnull=True).count()
    assert waiting > 50
    assert len(left.unlabelled) < waiting / 3


def test_one_judge_is_refused(project: Project) -> None:
    look = Look.objects.get(project=project, judge__name="lenient-llm")
    assert look.decision is not None
    assert look.decision["verdict"] == "not_for_use"
    assert not Certificate.objects.filter(look=look).exists()


def test_drift_is_caught_in_week_9(project: Project) -> None:
    found = standing(project, "passage-match")
    assert found.certificate is not None
    assert found.certificate.look.decision is not None
    assert found.certificate.look.decision["verdict"] == "with_a_person"
    assert week_of(project, found.certificate.created_at) == 6
    assert found.ended is not None
    assert found.ended[0] == "drift"
    assert found.drift is not None
    assert found.drift.alarm is not None
    assert week_of(project, found.drift.alarm) == 9


def test_a_small_batch_waits_for_a_newcomer(project: Project) -> None:
    batch = project.batches.get(status="open")
    asked = set(batch.criteria.values_list("key", flat=True))
    assert asked == {"support", "relevance", "fact_in_answer", "relevancy"}
    assert batch.tasks.filter(annotator__username="ana", status="pending").count() == 10
    assert Verdict.objects.filter(criterion__project=project, state=VerdictState.DISPUTED).exists()
    # That is all there is to be told: the weeks before are long over.
    assert new_notices(User.objects.get(username="ana")) == 1


def test_both_sides_have_about_as_many_samples(project: Project) -> None:
    sides = Counter(full_evidence(criterion_named(project, "support")).is_dev.values())
    assert sides[True] + sides[False] > 390
    assert abs(sides[True] - sides[False]) < 20


def test_a_build_is_better_on_faithfulness_and_worse_where_nothing_can_be_answered(project: Project) -> None:
    found = ExperimentFigures.objects.get(rule__experiment__name="v4-or-v3").result
    by_name = {one["metric"]: one for one in found["metrics"]}
    gain = {name: one["differences"][0] for name, one in by_name.items()}
    assert (gain["faithfulness"]["verdict"], gain["right_abstention"]["verdict"]) == ("better", "worse")
    assert gain["faithfulness"]["corrected"]["low"] > 0
    assert found["verdict"] == "worse"
    # Who sees both answers to a question side by side prefers those of v4.
    (side_by_side,) = found["preferences"]
    assert (side_by_side["drawn"], side_by_side["counts"]["open"], side_by_side["verdict"]) == (40, 0, "better")
    # The judge that looks for the passages' words would have preferred the other build.
    alone, corrected = gain["faithfulness by words"]["raw"], gain["faithfulness by words"]["corrected"]
    assert alone["high"] < 0 < corrected["low"]


def test_the_page_says_that_a_judge_alone_points_the_other_way(project: Project, client: Client) -> None:
    client.force_login(User.objects.get(username="alma"))
    page = client.get("/p/demo/systems/experiments/v4-or-v3/").content.decode()
    assert "Do not ship yet" in page
    assert "points the other way" in page
    assert "have changed since these figures" not in page


def test_what_both_builds_found_is_pooled_and_the_tree_agrees_with_people(project: Project) -> None:
    recall = {}
    for name in ("v3", "v4"):
        asked = ("--set", "common-questions@1", "--version", name, "--k", "5", "--format", "json")
        found = json.loads(command("retrieval", "demo", *asked))
        assert found["metrics"]["Judged"]["value"] > 0.99
        recall[name] = found["metrics"]["R"]["value"]
    assert 0.7 < recall["v3"] < recall["v4"] < 1
    figures = figures_of(diagnosed(project, reader=SYSTEM))
    assert figures.agreement is not None
    assert figures.agreement.compared > 140
    assert figures.agreement.kappa["low"] > 0.8
    stages = {one.stage for one in figures.whole.stages if one.count}
    # Nothing asks about contradictory sources, and no answer is off topic.
    assert stages - {None} == set(Stage) - {Stage.CONTRADICTORY_SOURCES, Stage.OFF_TOPIC}
