"""A criterion that has labels: what a change touches is shown before it is saved, and who decides is the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Batch, Label, Project, User, Verdict
from annotate.projects.read import one_criterion
from annotate.projects.write import remove_member
from frontend.projects.criteria_forms import initial_of
from judges.models import AlignmentReport
from judges.reports.write import freeze_report
from tests.clients import as_user
from tests.frontend.building import WhoMay

EDIT = "/p/help/criteria/edit/support/"


def sent(project: Project, *, without: str = "", **fields: Any) -> dict[str, Any]:
    """The form as it stands, with changes."""
    standing, rows = initial_of(one_criterion(project, "support"))
    rows = [row for row in rows if row["value"] != without]
    data = {name: value for name, value in {**standing, **fields}.items() if value not in (None, False)}
    data |= {"option-TOTAL_FORMS": len(rows), "option-INITIAL_FORMS": len(rows), "option-MAX_NUM_FORMS": 50}
    for number, row in enumerate(rows):
        data |= {f"option-{number}-{name}": value for name, value in row.items() if value not in (None, False)}
    return data


@pytest.mark.usefixtures("disputes")
def test_nothing_is_saved_before_it_was_seen(alice: User, project: Project) -> None:
    reply = as_user(alice).post(EDIT, sent(project, without="contradicted"))
    text = reply.content.decode()
    assert reply.status_code == 200
    assert "nothing saved yet" in text
    assert one_criterion(project, "support").version == 1
    assert (reply.context["impact"].touched, reply.context["impact"].labels) == (2, 4)
    assert [(row.label, row.touched) for row in reply.context["impact"].values if row.labels] == [
        ("Supported", False), ("Contradicted", True),
    ]  # fmt: skip


@pytest.mark.usefixtures("disputes")
def test_confirmed_it_is_saved_and_only_the_rest_is_asked(alice: User, project: Project) -> None:
    data = {**sent(project, without="contradicted"), "change-step": "confirm", "change-due_date": "2099-01-01"}
    reply = as_user(alice).post(EDIT, data)
    batch = Batch.objects.get(relabels__version=1)
    assert reply.url == f"/p/help/batches/{batch.number}/"
    assert one_criterion(project, "support").version == 2
    assert [task.annotator.username for task in batch.tasks.all()] == ["bea"]
    assert str(batch.due_date) == "2099-01-01"
    assert as_user(alice).get(reply.url).status_code == 200


@pytest.mark.usefixtures("disputes")
def test_only_the_wording_takes_a_reason(alice: User, project: Project) -> None:
    client = as_user(alice)
    data = {**sent(project, prompt="Is it backed?"), "change-same_meaning": "on"}
    refused = client.post(EDIT, {**data, "change-step": "confirm"})
    assert refused.status_code == 422
    assert "why the meaning stays" in refused.content.decode()
    checked = client.post(EDIT, {**data, "change-step": "check", "change-reason": "Shorter."})
    assert (checked.status_code, checked.context["impact"].touched) == (200, 0)
    done = client.post(EDIT, {**data, "change-step": "confirm", "change-reason": "Shorter."})
    assert done.url == "/p/help/criteria/versions/support/"
    assert Verdict.objects.filter(criterion__version=2).count() == 2
    assert not Batch.objects.filter(relabels__isnull=False).exists()


@pytest.mark.usefixtures("disputes")
def test_the_way_back_keeps_what_was_typed(alice: User, project: Project) -> None:
    reply = as_user(alice).post(EDIT, {**sent(project, prompt="Is it backed?"), "change-back": "1"})
    assert reply.status_code == 200
    assert "Is it backed?" in reply.content.decode()
    assert "criterion_form.html" in reply.templates[0].name
    assert one_criterion(project, "support").version == 1


@pytest.mark.usefixtures("disputes")
def test_labels_of_a_former_member_can_be_given_to_another(
    alice: User, bea: User, rita: User, project: Project
) -> None:
    Batch.objects.update(status="closed")
    remove_member(project=project, user=bea, actor=alice)
    client, data = as_user(alice), sent(project, without="contradicted")
    shown = client.post(EDIT, data)
    rater = shown.context["impact"].left_behind[0].rater_id
    assert "Replacement for bea" in shown.content.decode()
    client.post(EDIT, {**data, "change-step": "confirm", f"change-hand_to_{rater}": "rita"})
    assert [task.annotator for task in Batch.objects.get(relabels__isnull=False).tasks.all()] == [rita]


def test_without_labels_nothing_is_asked(alice: User, project: Project) -> None:
    reply = as_user(alice).post(EDIT, sent(project, prompt="Is it backed?"))
    assert reply.url == "/p/help/criteria/"
    assert one_criterion(project, "support").prompt == "Is it backed?"


@pytest.mark.usefixtures("disputes")
def test_the_history_shows_versions_and_what_rests_on_them(
    alice: User, rita: User, ben: User, project: Project
) -> None:
    freeze_report(criterion=one_criterion(project, "support"))
    as_user(alice).post(EDIT, {**sent(project, without="contradicted"), "change-step": "confirm"})
    rows = as_user(rita).get("/p/help/criteria/versions/support/").context["rows"]
    uses = [(row["criterion"].version, row["use"].labels.number, row["use"].carried.number) for row in rows]
    assert uses == [(2, 2, 2), (1, 4, 0)]
    assert [line["what"] for line in rows[0]["lines"]] == ["Option contradicted"]
    assert rows[1]["use"].relabelled_in.relabels.version == 1
    assert [report.number for report in rows[1]["reports"]] == [1]
    # An annotator sees what was asked, and nothing of what was said.
    own = as_user(ben).get("/p/help/criteria/versions/support/")
    assert {row["use"] for row in own.context["rows"]} == {None}
    assert not any(row["reports"] for row in own.context["rows"])


@pytest.mark.usefixtures("disputes")
def test_a_report_on_an_earlier_version_says_so(alice: User, project: Project) -> None:
    freeze_report(criterion=one_criterion(project, "support"))
    client = as_user(alice)
    assert "about version 1" not in client.get("/p/help/reports/support/").content.decode()
    client.post(EDIT, {**sent(project, prompt="Really?"), "change-step": "confirm"})
    old = client.get("/p/help/reports/support/?version=1").content.decode()
    assert "This report is about version 1 of the criterion; annotators now answer version 2." in old
    assert AlignmentReport.objects.count() == 1
    assert client.get("/p/help/reports/support/?version=7").status_code == 404


@pytest.mark.usefixtures("disputes")
def test_labels_of_an_earlier_version_can_be_carried_later(alice: User, project: Project) -> None:
    from annotate.models import Criterion

    first = one_criterion(project, "support")
    Criterion.objects.filter(pk=first.pk).update(is_current=False)
    first.pk, first.version, first.name = None, 2, "Backed"
    first.is_current = True
    first.save(force_insert=True)
    client, url = as_user(alice), "/p/help/criteria/carry/support/1/"
    assert client.get(url).context["impact"].untouched == 4
    assert Label.objects.filter(criterion__version=2).count() == 0
    assert client.post(url, {"change-step": "confirm"}).url == "/p/help/criteria/versions/support/"
    assert Label.objects.filter(criterion__version=2).count() == 4
    assert client.get("/p/help/criteria/carry/support/2/").status_code == 404


@pytest.mark.usefixtures("disputes")
def test_who_may_carry(who_may: WhoMay) -> None:
    expected = {"anonymous": 302, "stranger": 404, "annotator": 403, "reviewer": 403, "admin": 404}
    for method in ("get", "post"):
        assert who_may("/p/help/criteria/carry/support/1/", method) == expected


@pytest.mark.usefixtures("disputes")
def test_the_history_costs_the_same_for_many_versions(alice: User, project: Project) -> None:
    client = as_user(alice)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            client.get("/p/help/criteria/versions/support/")
        return len(asked)

    client.post(EDIT, {**sent(project, without="contradicted"), "change-step": "confirm"})
    before = queries()
    for word in ("One?", "Two?"):
        client.post(EDIT, {**sent(project, prompt=word), "change-step": "confirm"})
    assert queries() == before
