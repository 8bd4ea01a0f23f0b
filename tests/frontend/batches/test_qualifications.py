"""The pages of qualifications: an admin's, and an annotator's own."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.batches import qualifications
from annotate.batches.gold import import_gold
from annotate.batches.qualifications import (
    Asked,
    create_qualification,
    end_qualification,
    known_counts,
    known_samples,
)
from annotate.batches.steps import open_batch
from annotate.core import walking
from annotate.core.walking import Counted
from annotate.models import Batch, Candidate, Project, Qualification, Sample, Task, User
from annotate.qualification.read import own_standing
from annotate.qualification.tries import start_test
from tests.clients import as_user
from tests.frontend.building import ADMINS_POST, ADMINS_READ, WhoMay, label_task, make_samples

HOME = "/p/help/"
LIST = "/p/help/qualifications/"
VALUES = ("supported", "contradicted", "not in context")


def truth(sample: Sample) -> str:
    return VALUES[sample.pk % 3]


def wrong(sample: Sample) -> str:
    return VALUES[(sample.pk + 1) % 3]


@pytest.fixture
def known(project: Project, alice: User) -> list[Sample]:
    make_samples(project, 20)
    samples = list(project.samples.order_by("pk"))
    rows = [
        {"sample_id": one.external_id, "unit": "claim:0", "criterion": "support", "value": truth(one), "reason": "So."}
        for one in samples
    ]
    import_gold(actor=alice, project=project, rows=rows)
    return samples


@pytest.fixture
def qualification(known: list[Sample], project: Project, alice: User, ben: User) -> Qualification:
    asked = Asked(criteria=[project.criteria.get(key="support")], training=3, test=6, tries=2)
    return create_qualification(actor=alice, project=project, name="Newcomers", asked=asked, annotators=[ben], seed=1)


def label(user: User, batch: Batch, said: Any = truth) -> None:
    tasks = Task.objects.filter(batch=batch, annotator=user, status="pending")
    for task in tasks.select_related("annotator", "sample", "batch"):
        label_task(task, {"support": said(task.sample)})


def take_test(user: User, qualification: Qualification, said: Any = truth) -> None:
    start_test(actor=user, qualification=qualification)
    label(user, qualification.test, said)


def text(user: User, url: str) -> str:
    reply = as_user(user).get(url)
    assert reply.status_code == 200
    return " ".join(reply.content.decode().split())


def test_who_may(qualification: Qualification, who_may: WhoMay) -> None:
    one = f"{LIST}{qualification.pk}/"
    for url in (LIST, f"{LIST}new/", one, f"{one}end/", f"{one}waive/ben/", f"{one}withdraw/ben/"):
        assert who_may(url) == ADMINS_READ
    assert who_may(f"{one}try/ben/", method="post") == ADMINS_POST
    own = {"anonymous": 302, "admin": 404, "reviewer": 404, "annotator": 200, "stranger": 404}
    assert who_may(f"/p/help/qualification/{qualification.pk}/") == own


def test_one_is_created(alice: User, ben: User, project: Project, known: list[Sample]) -> None:
    client = as_user(alice)
    page = client.get(f"{LIST}new/")
    assert "20" in page.content.decode()
    support = project.criteria.get(key="support")
    sent = {
        "name": "Newcomers", "criteria": [support.pk], "training": 10, "test": 15, "tries": 2, "kappa": "0.6",
        "annotators": [ben.pk],
    }  # fmt: skip
    refused = client.post(f"{LIST}new/", sent)
    assert refused.status_code == 422
    assert "This needs 40 samples" in refused.content.decode()
    reply = client.post(f"{LIST}new/", {**sent, "training": 4, "test": 8}, follow=True)
    made = Qualification.objects.get()
    assert (made.kappa, made.test_samples, made.tries) == (0.6, 8, 2)
    assert made.candidates.get().user == ben
    assert "Not started" in reply.content.decode()
    named = {"training_samples": "s0\ns1\ns2", "test_samples": "s3\ns4\ns5\ns6"}
    client.post(f"{LIST}new/", {**sent, "name": "Named", "test": 4, **named})
    assert Qualification.objects.get(name="Named").training.batch_samples.count() == 3
    assert "Newcomers" in text(alice, LIST)


def test_known_answers_are_counted_for_a_while(
    known: list[Sample], project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    support = project.criteria.get(key="support")
    assert len(known_samples(project, [support])) == 20
    assert "</bdi> 20" in text(alice, f"{LIST}new/")
    monkeypatch.setattr(qualifications, "STRETCH", 3)
    monkeypatch.setattr(walking, "SECONDS", 60)
    assert known_counts(project, [support]) == [Counted(20, is_all=True)]
    # With no time one stretch of each criterion is counted.
    monkeypatch.setattr(walking, "SECONDS", -1)
    assert known_counts(project, [support]) == [Counted(3, is_all=False)]
    assert "</bdi> at least 3" in text(alice, f"{LIST}new/")
    assert "</bdi> unknown" in text(alice, f"{LIST}new/")


def test_an_annotator_trains_is_tested_and_works(qualification: Qualification, alice: User, ben: User) -> None:
    own = f"/p/help/qualification/{qualification.pk}/"
    assert "Complete the training first" in text(ben, HOME)
    assert "Start training" in text(ben, "/")
    assert f"?batch={qualification.training.number}" in text(ben, own)
    refused = as_user(ben).post(own, follow=True)
    assert "Complete the training first." in refused.content.decode()
    label(ben, qualification.training)
    assert "Training complete: take the test" in text(ben, HOME)
    started = as_user(ben).post(own)
    assert started.headers["Location"] == f"/p/help/label/?batch={qualification.test.number}"
    assert "Test under way" in text(ben, HOME)
    assert "0 of 6 samples" in text(ben, own)
    label(ben, qualification.test)
    page = text(ben, own)
    assert "You are qualified" in page
    assert "1.00" in page
    assert "Newcomers" not in text(ben, HOME)
    assert "Qualified" in text(alice, f"{LIST}{qualification.pk}/")
    assert "You are qualified in “Newcomers”" in text(ben, "/notices/")


def test_who_does_not_pass_is_told_so_and_may_review(qualification: Qualification, alice: User, ben: User) -> None:
    own, one = f"/p/help/qualification/{qualification.pk}/", f"{LIST}{qualification.pk}/"
    label(ben, qualification.training, wrong)
    take_test(ben, qualification, wrong)
    page = text(ben, own)
    assert "Not passed yet" in page
    assert "You have 1 try left" in page
    assert page.count("So.") == 3, "the reasons of the training"
    assert "−" in page
    assert "Not yet" in text(alice, one)
    take_test(ben, qualification, wrong)
    assert "Not passed, and no tries left" in text(ben, own)
    assert "Not passed. Ask an admin for another try." in text(ben, HOME)
    client = as_user(alice)
    assert "Allow another try" in text(alice, one)
    assert "another try" in client.post(f"{one}try/ben/", follow=True).content.decode()
    assert own_standing(qualification, ben).tries_left == 1
    assert "doesn’t need another try" in client.post(f"{one}try/ben/", follow=True).content.decode()


def test_admins_add_waive_withdraw_and_end(qualification: Qualification, alice: User, ben: User, bea: User) -> None:
    client, one = as_user(alice), f"{LIST}{qualification.pk}/"
    assert client.post(f"{one}add/", {"annotators": []}).status_code == 422
    client.post(f"{one}add/", {"annotators": [bea.pk]})
    assert Candidate.objects.filter(user=bea).exists()
    assert client.post(f"{one}waive/bea/", {"reason": ""}).status_code == 422
    client.post(f"{one}waive/bea/", {"reason": "Wrote the guidelines."})
    assert "Wrote the guidelines." in text(alice, one)
    assert "An admin waived the test." in text(bea, f"/p/help/qualification/{qualification.pk}/")
    assert client.post(f"{one}waive/bea/", {"reason": "Again."}).status_code == 409
    client.post(f"{one}withdraw/bea/", {"reason": "Away for a year."})
    assert "Away for a year." in text(bea, f"/p/help/qualification/{qualification.pk}/")
    assert client.get(f"{one}promote/bea/").status_code == 404
    assert client.get(f"{one}waive/nobody/").status_code == 404
    client.post(f"{one}end/")
    page = text(bea, f"/p/help/qualification/{qualification.pk}/")
    assert "This qualification has ended" in page
    assert "Newcomers" not in text(bea, HOME)
    assert client.get("/p/help/audit/?kind=qualification").content.decode().count("Newcomers") >= 5


def test_a_batch_requires_it(qualification: Qualification, alice: User, ben: User, bea: User, project: Project) -> None:
    client = as_user(alice)
    make_samples(project, 3)
    support = project.criteria.get(key="support")
    sent = {
        "name": "Work", "method": "all", "criteria": [support.pk], "annotators": [ben.pk, bea.pk], "overlap": 1,
        "strategy": "balanced", "lease_minutes": 30, "overlap_percent": 100, "consensus": "majority",
        "settle_percent": 80, "settle_votes": 2, "gold_percent": 0, "repeat_percent": 0, "requires": qualification.pk,
    }  # fmt: skip
    plan = client.post("/p/help/batches/new/preview/", sent).content.decode()
    assert "15 samples are excluded: they are part of the required qualification." in plan
    assert "Not qualified yet:" in plan
    client.post("/p/help/batches/new/", sent)
    batch = Batch.objects.get(name="Work")
    assert batch.requires == qualification
    assert "Newcomers" in text(alice, f"/p/help/batches/{batch.number}/")
    refused = client.post(f"/p/help/batches/{batch.number}/open/", follow=True).content.decode()
    assert "Not qualified in “Newcomers” yet: Ben, Bea." in refused
    edited = client.get(f"/p/help/batches/{batch.number}/edit/").context["form"]
    assert edited["requires"].value() == qualification.pk
    client.post(f"/p/help/batches/{batch.number}/edit/", {**sent, "method": "keep", "strategy": "pull"})
    batch.refresh_from_db()
    assert (batch.strategy, batch.requires) == ("pull", qualification)
    open_batch(batch=batch)
    assert "Complete the training first" in text(bea, HOME)
    assert f"/p/help/batches/{batch.number}/" in text(alice, f"{LIST}{qualification.pk}/")
    assert "Newcomers" not in text(alice, "/p/help/batches/"), "its rounds are no batches"


def test_an_older_version_is_named(qualification: Qualification, alice: User) -> None:
    qualification.project.criteria.filter(key="support").update(is_current=False)
    assert "Made under an older version" in text(alice, f"{LIST}{qualification.pk}/")


def test_the_end_while_someone_trains(qualification: Qualification, alice: User, ben: User) -> None:
    end_qualification(actor=alice, qualification=qualification)
    page = text(ben, f"/p/help/qualification/{qualification.pk}/")
    assert "Start training" not in page
