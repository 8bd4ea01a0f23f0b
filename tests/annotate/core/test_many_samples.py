"""More samples than PostgreSQL takes parameters: nothing may name them one by one."""

from typing import Any

import pytest
from django.db import connection

from annotate.core.blindness import without_judges_held_back
from annotate.files.claim_naming import with_labels_or_tasks
from annotate.models import Project, Sample
from annotate.tasks.moving import lock_samples, settle_batch
from judges.core.split import divide
from judges.files.import_scores import with_scored_claims
from judges.kinds.members import Member, member_values
from judges.models import Judge, JudgeVersion, Run, RunPurpose, Score
from tests.annotate.factories import World, make_batch, make_world

pytestmark = pytest.mark.django_db
MANY = 70_000


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    world = make_world()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotate_sample (project_id, external_id, question, answer, contexts, claims, claims_source,"
            " key_facts, entities, retrieved_doc_ids, relevant_doc_ids, pipeline_version, metadata, content_hash)"
            " SELECT %s, 's' || n, 'q', 'a', '[]', '[{\"text\": \"a\"}]', 'file', '[]', '[]', '{}', '{}', '', '{}', ''"
            " FROM generate_series(1, %s) n",
            [world.project.pk, MANY],
        )
        cursor.execute("ANALYZE annotate_sample")  # as an import does
    return world


@pytest.fixture
def project(world: World) -> Project:
    return world.project


@pytest.mark.parametrize("listed", [False, True])
def test_a_batch(world: World, listed: bool) -> None:
    names = [f"s{number}" for number in range(1, MANY + 1)]
    more: dict[str, Any] = {"samples": names, "chances": dict.fromkeys(names, (0.5, 1))} if listed else {}
    batch = make_batch(world.project, [world.ann], opened=False, **more)
    assert batch.batch_samples.count() == MANY


def test_dev_and_test(project: Project) -> None:
    criterion = project.criteria.first()
    assert criterion is not None
    sides = divide(criterion, {f"s{number}": number % 3 == 0 for number in range(1, MANY + 1)})
    assert len(sides) == MANY
    assert sum(sides.values()) == pytest.approx(MANY / 2, abs=2)


def test_the_end_of_a_batch(world: World) -> None:
    batch = make_batch(world.project, [world.ann], opened=False)
    keys = list(Sample.objects.values_list("pk", flat=True))
    lock_samples(keys)
    assert settle_batch(batch, keys) == 0


def test_what_judges_said_of_samples_to_decide_about(world: World) -> None:
    judge = Judge.objects.create(project=world.project, name="j", kind="imported")
    version = JudgeVersion.objects.create(judge=judge, number=1, label="1", content_hash="1")
    run = Run.objects.create(version=version, purpose=RunPurpose.IMPORT)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO judges_score (version_id, run_id, sample_id, unit, dimension, repeat, status, number,"
            " rationale) SELECT %s, %s, id, 'answer', 'd', 0, 'ok', 1, '' FROM annotate_sample",
            [version.pk, run.pk],
        )
    scores = Score.objects.filter(version=version)
    assert without_judges_held_back(scores, reader=world.rita).count() == 0
    assert without_judges_held_back(scores, reader=world.alice).count() == MANY
    keys = Sample.objects.values_list("pk", flat=True)
    (found,) = member_values(world.project, [Member("j", "1", "d", None)], list(keys))
    assert len(found) == MANY


def test_whose_claims_are_in_use(project: Project) -> None:
    keys = set(Sample.objects.values_list("pk", flat=True))
    assert with_labels_or_tasks(keys) == with_scored_claims(keys) == set()
