"""The pages of the guidelines: versions with what changed, the form, and what annotators are told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client

from annotate.models import Batch, Label, Project, User
from annotate.projects.guidelines import change_guidelines
from tests.clients import as_user
from tests.frontend.conftest import GUIDELINES

PAGE, EDIT = "/p/help/guidelines/", "/p/help/guidelines/edit/"
WorldMay = Callable[..., dict[str, int]]


def sent(text: str, *, version: int = 1, note: str = "Clearer.") -> dict[str, object]:
    return {"version": version, "text": text, "note": note}


def words(client: Client, url: str = PAGE) -> str:
    return unescape(re.sub(r"<[^>]+>", "", client.get(url).content.decode()))


def test_members_read_the_versions_and_staff_write_them(who_may: WorldMay, project: Project) -> None:
    assert who_may(PAGE) == {"anonymous": 302, "admin": 200, "reviewer": 200, "annotator": 200, "stranger": 404}
    assert who_may(EDIT) == {"anonymous": 302, "admin": 200, "reviewer": 200, "annotator": 403, "stranger": 404}
    posted = who_may(EDIT, "post", sent("Mine."))
    assert (posted["annotator"], posted["stranger"], posted["anonymous"]) == (403, 404, 302)


def test_a_version_shows_what_changed_and_who_says_so(rita: User, ben: User, project: Project) -> None:
    changed = GUIDELINES.replace("Read **all** contexts.", "Read **all** contexts <b>twice</b>.")
    assert as_user(rita).post(EDIT, sent(changed, note="Read <i>twice</i>.")).url == PAGE
    page = as_user(ben).get(PAGE).content.decode()
    assert "Read &lt;i&gt;twice&lt;/i&gt;." in page
    assert "<mark> &lt;b&gt;twice&lt;/b&gt;</mark>" in page
    assert "<script>alert" not in page
    assert "<b>twice" not in page
    assert "Version 2" in page
    assert "Rita" in page
    # How far others are is not the annotator's business.
    assert "made under it" not in page


def test_how_many_labels_were_made_under_each(alice: User, project: Project, batch: Batch) -> None:
    task = batch.tasks.filter(annotator__username="ben").first()
    api = as_user(task.annotator)
    for unit, version in (("claim:0", 1), ("claim:1", None)):
        body = {"unit": unit, "criterion": "support", "value": "supported"}
        body |= {} if version is None else {"guideline_version": version}
        headers = {"If-Match": '"0"', "Idempotency-Key": f"00000000-0000-4000-8000-00000000000{version or 0}"}
        url = f"/api/tasks/{task.pk}/labels/"
        assert api.put(url, json.dumps(body), content_type="application/json", headers=headers).status_code == 200
    change_guidelines(actor=alice, project=project, text="Other.")
    text = words(as_user(alice))
    assert "1 label made under it." in text
    assert "No labels made under it yet." in text
    assert "1 label has no known version" in text


def test_a_first_text_needs_no_note_and_later_ones_do(alice: User, project: Project) -> None:
    client = as_user(alice)
    assert client.post(EDIT, sent("Other.", note=" ")).status_code == 422
    change_guidelines(actor=alice, project=project, text="")
    assert client.post(EDIT, sent("Again.", version=2, note="")).status_code == 302


def test_the_second_of_two_editors_sees_both_texts_and_loses_nothing(alice: User, rita: User, project: Project) -> None:
    assert as_user(rita).post(EDIT, sent(GUIDELINES + "Hers.\n", note="By Rita.")).status_code == 302
    client = as_user(alice)
    reply = client.post(EDIT, sent(GUIDELINES + "Mine.\n", note="By Alice."))
    assert reply.status_code == 412
    form = reply.context["form"]
    assert (form["text"].value(), form["note"].value(), form["version"].value()) == (
        GUIDELINES + "Mine.\n", "By Alice.", 2,
    )  # fmt: skip
    page = reply.content.decode()
    for part in ("By Rita.", "Hers.", "Mine.", "Version 2 was saved while you were writing."):
        assert part in page
    assert client.post(EDIT, sent(GUIDELINES + "Hers.\nMine.\n", version=2, note="Both.")).status_code == 302
    project.refresh_from_db()
    assert project.guidelines == GUIDELINES + "Hers.\nMine.\n"


@pytest.mark.parametrize("version", ["", "x", "-1", "99999999999999999999"])
def test_a_version_that_is_no_number_is_refused(version: str, alice: User, project: Project) -> None:
    assert as_user(alice).post(EDIT, {**sent("Other."), "version": version}).status_code == 422


def test_annotators_are_told_until_they_close_it(alice: User, ben: User, project: Project, batch: Batch) -> None:
    task = batch.tasks.filter(annotator=ben).first()
    Label.objects.create(
        task=task, rater=project.raters.get(user=ben), sample=task.sample, unit="claim:0", value="supported",
        criterion=project.criteria.get(key="support"), guideline_version=1,
    )  # fmt: skip
    client = as_user(ben)
    assert client.get("/p/help/label/").context["news"] is None
    change_guidelines(actor=alice, project=project, text=GUIDELINES + "More.\n", note="More <to> read.")
    reply = client.get("/p/help/label/")
    assert reply.context["workspace"]["guideline_version"] == 2
    assert "More &lt;to&gt; read." in reply.content.decode()
    seen = client.post("/api/projects/help/guidelines/seen/", '{"version": 2}', content_type="application/json")
    assert (seen.status_code, seen.json()) == (200, {"version": 2})
    assert client.get("/p/help/label/").context["news"] is None


def test_over_the_api_too(alice: User, ben: User, project: Project) -> None:
    url, client = "/api/projects/help/guidelines/", as_user(alice)

    def post(text: str, version: int) -> tuple[int, dict[str, object]]:
        reply = client.post(
            url,
            json.dumps({"text": text, "note": "N."}),
            content_type="application/json",
            headers={"If-Match": f'"{version}"'},
        )
        return reply.status_code, reply.json()

    status, made = post("Other.", 1)
    assert (status, made["number"], made["author"], made["note"]) == (201, 2, "alice", "N.")
    status, both = post("Late.", 1)
    assert (status, both["current"], both["yours"]) == (
        412,
        {"version": 2, "text": "Other.", "note": "N."},
        {"version": 1, "text": "Late.", "note": "N."},
    )
    listed = as_user(ben).get(url).json()
    assert [(one["number"], one["text"], one["labels"]) for one in listed] == [(2, "Other.", 0), (1, GUIDELINES, 0)]
