"""Labels, verdicts and known answers of claims of an answer that abstains stay stored and count in nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.http import Http404
from django.test.utils import CaptureQueriesContext

from annotate.batches.criterion_change_read import Choices, impact, versions_of
from annotate.batches.gold import gold_from_verdicts, import_gold
from annotate.batches.read import batch_criteria, counts_of
from annotate.batches.relabelling import change_criterion
from annotate.batches.steps import close_batch
from annotate.batches.version_uses_read import version_uses
from annotate.batches.write import create_batch
from annotate.core import walking
from annotate.core.blindness import samples_without_judges
from annotate.core.errors import Invalid
from annotate.core.walking import Counted
from annotate.files.releases import make_release
from annotate.labels.consensus import settle_imported
from annotate.labels.gold_read import gold_accuracy, gold_samples
from annotate.labels.read import counting_labels
from annotate.models import Criterion, Label, Project, Rater, Sample, Task, Verdict
from annotate.projects.criteria import check_spec
from annotate.samples.abstaining import set_abstained
from annotate.verdicts.ground_truth_read import ground_truth
from annotate.verdicts.queue_sql import SINGLE
from annotate.verdicts.read import Queue, one_verdict
from judges.core.sample_read import said_about
from tests.annotate.factories import TRISTATE, World, finish, make_sample, make_samples, make_world, must_take
from tests.clients import as_user, client_of
from tests.plans import nodes, plan_of

REFUSAL = "I don't have that information."


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def _support(world: World) -> Criterion:
    return world.criteria("support")[0]


def _abstains(world: World, sample: Sample, abstained: bool = True) -> None:
    set_abstained(actor=world.rita, project=world.project, sample_id=sample.pk, abstained=abstained)


def _label_elsewhere(world: World, sample: Sample, **said: str) -> None:
    for name, value in said.items():
        rater, _ = Rater.objects.get_or_create(project=world.project, name=name)
        Label.objects.create(rater=rater, sample=sample, unit="claim:0", criterion=_support(world), value=value)


def _counted(world: World) -> dict[str, Any]:
    project, criterion = Project.objects.get(pk=world.project.pk), _support(world)
    (truth,) = [row for row in ground_truth(project) if row["key"] == "support"]
    (use,) = version_uses(versions_of(project, "support"))
    counts = counts_of([project])[project.pk]
    sample = Sample.objects.get(external_id="s1")
    return {
        "queue": [verdict.unit for verdict in Queue(project, reader=world.rita)],
        "disputed": len(Queue(project, reader=world.rita).disputed()),
        "truth": (truth["waiting"], truth["settled"]),
        "project": (counts.disputed, counts.settled, counts.has_verdicts),
        "version": tuple(one.number for one in (use.labels, use.verdicts, use.waiting)),
        "labels": counting_labels().count(),
        "without judges": samples_without_judges(world.rita, [sample.pk]) == {sample.pk},
        "said": len(said_about(sample, reader=world.alice).entries),
        "settled anew": settle_imported(project=project, criterion=criterion, needed=1),
    }


NOTHING = {
    "queue": [], "disputed": 0, "truth": (0, 0), "project": (0, 0, 0), "version": (0, 0, 0), "labels": 0,
    "without judges": False, "said": 0, "settled anew": 0,
}  # fmt: skip


def test_a_dispute_about_an_abstention_waits_for_no_one_and_counts_nowhere(world: World) -> None:
    sample = make_sample(world.project, 1, answer=REFUSAL)
    _label_elsewhere(world, sample, one="yes", two="no")
    settle_imported(project=world.project, criterion=_support(world), needed=2)
    before = _counted(world)
    assert before == {
        "queue": ["claim:0"], "disputed": 1, "truth": (1, 0), "project": (1, 0, True), "version": (2, 0, 1),
        "labels": 2, "without judges": True, "said": 1, "settled anew": 0,
    }  # fmt: skip
    verdict = Verdict.objects.get()
    url = f"/p/desk/adjudicate/{verdict.pk}/"
    assert as_user(world.rita).get(url).status_code == 200
    _abstains(world, sample)
    assert _counted(world) == NOTHING
    assert as_user(world.rita).get(url).status_code == 404
    with pytest.raises(Http404):
        one_verdict(world.project, verdict.pk, reader=world.rita)
    decided = client_of(world.rita).put(
        f"/api/projects/desk/adjudication/{verdict.pk}/", {"value": "yes", "reason": "So."}, format="json",
        HTTP_IF_MATCH=str(verdict.revision),
    )  # fmt: skip
    assert decided.status_code == 404
    _abstains(world, sample, False)
    assert _counted(world) == before


def test_no_row_that_is_counted_is_asked_whether_its_answer_abstains(world: World) -> None:
    """By that PostgreSQL would read millions of them one after another, by one process."""
    one, two = make_samples(world.project, 2)
    for sample in (one, two):
        _label_elsewhere(world, sample, one="yes", two="no")
    settle_imported(project=world.project, criterion=_support(world), needed=2)
    _abstains(world, one)
    with CaptureQueriesContext(connection) as asked:
        (use,) = version_uses(versions_of(world.project, "support"))
        ground_truth(world.project)
    assert (use.labels.number, use.waiting.number) == (2, 1)
    counting = [query["sql"] for query in asked if "COUNT(" in query["sql"]]
    assert len(counting) == 12, (
        "labels, those carried over, verdicts, and three of ground truth, with what is taken off"
    )
    for sql in counting:
        assert not [node for node in nodes(plan_of(sql, run=False)) if node.get("Parent Relationship") == "SubPlan"]


def test_what_rests_on_a_version_is_counted_up_to_a_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    one, *others = make_samples(world.project, 4)
    for sample in (one, *others):
        _label_elsewhere(world, sample, one="yes", two="no" if sample == others[0] else "yes")
    settle_imported(project=world.project, criterion=_support(world), needed=2)
    _abstains(world, one)
    versions = versions_of(world.project, "support")
    (use,) = version_uses(versions, exactly=False)
    assert (use.labels.number, use.verdicts.number, use.waiting.number) == (6, 2, 1)
    assert [use] == version_uses(versions)
    monkeypatch.setattr(walking, "MOST_COUNTED", 2)
    with CaptureQueriesContext(connection) as asked:
        (use,) = version_uses(versions, exactly=False)
    assert (use.labels, use.verdicts, use.waiting) == (Counted(2, False), Counted(2, True), Counted(1, True))
    page = as_user(world.rita).get(f"/p/{world.project.slug}/criteria/versions/support/").content.decode()
    assert "<dd>2+</dd>" in page
    assert "uses version 1" not in page
    form = as_user(world.alice).get(f"/p/{world.project.slug}/criteria/edit/support/").content.decode()
    assert "2+ labels use version 1" in form
    # Where they stand in the table is as good as unknown: labels of the latest version are its last rows.
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_sort = off")
    for sql in (query["sql"] for query in asked if "LIMIT 3" in query["sql"]):
        tables = [node for node in nodes(plan_of(sql, run=False)) if node["Node Type"] == "Seq Scan"]
        assert not {node["Relation Name"] for node in tables} & {"annotate_label", "annotate_verdict"}


def test_labels_of_an_abstention_are_not_settled(world: World) -> None:
    one, two = make_samples(world.project, 2)
    for sample in (one, two):
        _label_elsewhere(world, sample, one="yes", two="yes")
    _abstains(world, one)
    assert settle_imported(project=world.project, criterion=_support(world), needed=2) == 1
    assert Verdict.objects.get().sample == two
    _abstains(world, one, False)
    assert settle_imported(project=world.project, criterion=_support(world), needed=2) == 1


def test_a_batch_counts_no_labels_of_an_abstention(world: World) -> None:
    one, _two = make_samples(world.project, 2)
    batch = world.batch(criteria=["support", "grade"], annotators=[world.ann], overlap=1)
    for _ in range(2):
        finish(must_take(world.ann, batch))
    close_batch(batch=batch)

    def waiting() -> int:
        return Queue(world.project, reader=world.rita, state=SINGLE, criterion="support").count()

    assert waiting() == 4
    _abstains(world, one)
    support, grade = batch_criteria(batch)
    assert (support.expected, support.given, support.single, support.agreed, support.not_asked) == (2, 2, 2, 2, 0)
    assert (grade.expected, grade.given, grade.single) == (2, 2, 2)
    assert waiting() == 2
    manifest = make_release(
        project=world.project, user=world.alice, file_format="jsonl",
        filters={"include_single": True, "criteria": ["support"]},
    ).manifest  # fmt: skip
    assert (manifest["abstained"], manifest["states"]["units"], manifest["verdicts"]) == (1, 2, 2)
    answers = make_release(project=world.project, user=None, file_format="jsonl", filters={"rows": "samples"}).manifest
    assert answers["abstained"] == 1


def test_no_known_answer_is_drawn_or_asked_of_an_abstention(world: World) -> None:
    one, two = make_samples(world.project, 2)
    for sample in (one, two):
        _label_elsewhere(world, sample, one="yes", two="yes")
    criterion = _support(world)
    settle_imported(project=world.project, criterion=criterion, needed=2)
    rows = [{"sample_id": name, "unit": "claim:1", "criterion": "support", "value": "yes"} for name in ("s1", "s2")]
    assert import_gold(actor=world.alice, project=world.project, rows=rows) == 2
    batch = create_batch(
        project=world.project, name="B", criteria=[criterion], selection={"method": "list", "samples": ["s2"]},
        annotators=[world.ann], overlap=1, seed=1, created_by=world.alice,
    )  # fmt: skip
    assert gold_samples(batch) == [one.pk, two.pk]
    _abstains(world, one)
    assert gold_samples(batch) == [two.pk]
    with pytest.raises(Invalid, match="Only 1 units"):
        gold_from_verdicts(actor=world.alice, project=world.project, criterion=criterion, n=2)


def test_no_one_is_measured_by_an_abstention(world: World) -> None:
    one, _two = make_samples(world.project, 2)
    rows = [{"sample_id": "s1", "unit": f"claim:{n}", "criterion": "support", "value": "yes"} for n in (0, 1)]
    import_gold(actor=world.alice, project=world.project, rows=rows)
    batch = world.batch(
        criteria=["support"], annotators=[world.ann], overlap=1, gold_share=1,
        selection={"method": "list", "samples": ["s2"]},
    )  # fmt: skip
    for task in Task.objects.filter(batch=batch):
        finish(task)
    close_batch(batch=batch)
    assert [row.answered for row in gold_accuracy(batch)] == [2]
    _abstains(world, one)
    assert gold_accuracy(batch) == []


def test_a_change_of_a_criterion_asks_no_one_about_an_abstention(world: World) -> None:
    one, two = make_samples(world.project, 2)
    batch = world.batch(criteria=["support"], annotators=[world.ann], overlap=1)
    for _ in range(2):
        finish(must_take(world.ann, batch))
    close_batch(batch=batch)
    _abstains(world, one)
    spec = check_spec({**TRISTATE, "prompt": "Is it supported?"})
    found = impact(old=_support(world), new=spec)
    assert (found.labels, found.touched, [value.verdicts for value in found.values]) == (2, 2, [2, 0, 0])
    made = change_criterion(
        actor=world.alice, project=world.project, seen=_support(world), spec=spec, choices=Choices()
    )
    assert (made.asked, made.left, made.waiting) == (2, 0, 0)
    assert made.batch is not None
    assert set(made.batch.tasks.values_list("sample", flat=True)) == {two.pk}
