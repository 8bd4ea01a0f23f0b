"""The pages that pool what versions retrieved, and show where annotators and imported judgements differ."""

from __future__ import annotations

import pytest

from annotate.batches.steps import open_batch
from annotate.models import Batch, Sample
from systems.models import RelevanceDecision
from tests.annotate.factories import World
from tests.clients import as_user
from tests.frontend.systems.test_retrieval import PATH, cells, read
from tests.systems.building import command
from tests.systems.retrieval.building import Write
from tests.systems.retrieval.pooling import label, latest, pool, two_versions

POOL, CONFLICTS = f"{PATH}pool/", f"{PATH}conflicts/"


@pytest.fixture
def asked(world: World, write: Write) -> World:
    return two_versions(world, write)


def test_a_pool_is_made_labelled_and_counted(asked: World) -> None:
    client = as_user(asked.alice)
    assert f'href="{POOL}"' in read(client, PATH)
    assert "Documents of each version (k)" in read(client, POOL)
    given = {"versions": ["v7", "v8"], "k": 5, "annotators": [asked.ann.pk, asked.ben.pk], "overlap": 2}
    reply = client.post(POOL, given, follow=True)
    batch = latest()
    assert reply.redirect_chain == [(f"/p/desk/batches/{batch.number}/", 302)]
    page = reply.content.decode()
    assert "14 passages pooled." in page
    assert "Retrieved by the versions of a system" in page
    assert read(client, "/p/desk/samples/").count('<span class="badge">pooled</span>') == batch.samples.count()
    label(batch)
    assert cells(read(as_user(asked.rita), f"{PATH}?k=5"), "v7") == [
        "55%", "0.33", "0.50", "0.67", "0.67", "0.43", "0.50", "0.39",
    ]  # fmt: skip


def test_a_form_that_cannot_be_says_why(asked: World) -> None:
    client = as_user(asked.alice)
    given = {"versions": ["v7"], "k": 5, "annotators": [asked.ann.pk], "overlap": 2}
    for wrong, said in (
        ({"versions": ["v1"]}, "v1 is not one of the available choices"),
        ({"k": 0}, "greater than or equal to 1"),
        ({"annotators": []}, "This field is required"),
        ({}, "annotators per sample need at least"),
    ):
        reply = client.post(POOL, {**given, **wrong})
        assert reply.status_code == 422, wrong
        assert said in reply.content.decode(), wrong
    assert not Sample.objects.filter(composed=True).exists()
    pool()
    again = client.post(POOL, {**given, "overlap": 1})
    assert "All passages that these versions retrieved were pooled or judged before." in again.content.decode()


def test_only_who_makes_batches_pools(asked: World) -> None:
    for person, status in ((asked.rita, 403), (asked.ann, 403), (asked.charlie, 404)):
        read(as_user(person), POOL, status)
        assert as_user(person).post(POOL, {}).status_code == status
    assert f'href="{POOL}"' not in read(as_user(asked.rita), PATH)


def test_the_draft_is_deleted_with_its_samples(asked: World) -> None:
    batch = pool()
    as_user(asked.alice).post(f"/p/desk/batches/{batch.number}/delete/")
    assert not Batch.objects.exists()
    assert not Sample.objects.filter(composed=True).exists()


def test_a_reviewer_decides_a_conflict(asked: World, write: Write) -> None:
    client = as_user(asked.rita)
    assert "No conflicts" in read(client, CONFLICTS)
    label(pool())
    command("import_qrels", "desk", write("c.qrels", "q2 0 a 0\n"), "--set", "support@1")
    assert f'href="{CONFLICTS}"' in read(client, PATH)
    page = read(client, CONFLICTS)
    for shown in (
        "How are certificates renewed?",
        "grade 0: not relevant",
        "grade 3: relevant",
        "What document a says.",
        "Not decided",
    ):
        assert shown in page, shown
    said = {"question": "q2", "document": "a", "imported": 0, "people": 3, "holds": "imported"}
    done = client.post(CONFLICTS, said, follow=True).content.decode()
    assert "Decision saved." in done
    assert "0 open" in done
    assert RelevanceDecision.objects.get().holds == "imported"
    stale = client.post(CONFLICTS, {**said, "people": 2}, follow=True).content.decode()
    assert "The grades have changed since you saw them." in stale
    assert "No changes were made." in client.post(CONFLICTS, {"holds": "x"}, follow=True).content.decode()
    for person, status in ((asked.ann, 403), (asked.charlie, 404)):
        read(as_user(person), CONFLICTS, status)
        assert as_user(person).post(CONFLICTS, said).status_code == status
    trail = read(as_user(asked.alice), "/p/desk/audit/")
    assert "decided whether the document a is relevant to the question q2: imported." in trail
    assert "pooled 14 passages that v7, v8 retrieved for 3 questions of support@1: batch 1." in trail


def test_who_has_passages_to_label_sees_no_retrieval(asked: World) -> None:
    open_batch(batch=pool("--annotators", "rita"))
    version = asked.project.system_versions.get(name="v7").pk
    for path in (PATH, f"{PATH}{version}/", CONFLICTS):
        page = read(as_user(asked.rita), path)
        assert "You still have answers or passages of this test set to label." in page
        assert "0.33" not in page
        read(as_user(asked.alice), path)
