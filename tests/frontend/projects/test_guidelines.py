"""The pages of the guidelines: versions with what changed, the form, and what annotators are told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from io import BytesIO

import pytest
from django.test import Client
from PIL import Image

from annotate.models import Batch, GuidelineImage, Label, Project, User, Verdict
from annotate.projects.guideline_images import add_image
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


def test_a_version_shows_what_changed(rita: User, ben: User, project: Project) -> None:
    changed = GUIDELINES.replace("Read **all** contexts.", "Read **all** contexts <b>twice</b>.")
    assert as_user(rita).post(EDIT, sent(changed, note="Read <i>twice</i>.")).url == PAGE
    page = as_user(ben).get(PAGE).content.decode()
    assert "Read &lt;i&gt;twice&lt;/i&gt;." in page
    assert "<mark> &lt;b&gt;twice&lt;/b&gt;</mark>" in page
    assert "<script>alert" not in page
    assert "<b>twice" not in page
    assert "Version 2" in page
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
    assert "Version 1: 1 label made under it." in text
    assert "Version 2: No labels made under it yet." in text
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


def test_over_the_api_too(alice: User, rita: User, ben: User, project: Project) -> None:
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
    listed = client.get(url).json()
    assert (listed["count"], [(one["number"], one["labels"]) for one in listed["results"]]) == (2, [(2, 0), (1, 0)])
    assert "text" not in listed["results"][0]
    (second,) = client.get(f"{url}?limit=1&offset=1").json()["results"]
    assert second["number"] == 1
    # An annotator is told neither how much was labelled nor, where names are hidden, who wrote it.
    project.show_names = False
    project.save()
    for one in as_user(ben).get(url).json()["results"]:
        assert (one["labels"], one["author"]) == (None, None)
    shown = as_user(ben).get(f"{url}1/").json()
    assert (shown["number"], shown["text"], shown["author"]) == (1, GUIDELINES, None)
    assert as_user(rita).get(f"{url}2/").json()["author"] == "alice"
    assert as_user(ben).get(f"{url}3/").status_code == 404


def test_annotators_read_the_authors_name_where_names_are_shown(
    rita: User, alice: User, ben: User, project: Project
) -> None:
    change_guidelines(actor=rita, project=project, text="Other.", note="N.")
    for shown in (True, False):
        project.show_names = shown
        project.save()
        assert ("Rita" in words(as_user(ben))) is shown
        assert "Rita" in words(as_user(alice))


# Images


def image_of(project: Project, alice: User) -> GuidelineImage:
    file = BytesIO()
    Image.new("RGB", (8, 6), "red").save(file, "PNG")
    size = file.tell()
    file.seek(0)
    return add_image(actor=alice, project=project, file=file, name="box.png", size=size)


def test_every_page_with_guidelines_shows_their_images(
    alice: User, rita: User, ben: User, project: Project, batch: Batch, disputes: list[Verdict]
) -> None:
    image = image_of(project, alice)
    change_guidelines(actor=alice, project=project, text=f"![A red box](image:{image.name})\n", note="A box.")
    shown = f'<img src="/api/projects/help/guidelines/images/{image.name}/" alt="A red box" width="8" height="6"'
    dispute = f"/p/help/adjudicate/{disputes[0].pk}/guidelines/"
    for user, url in (
        (ben, PAGE), (ben, "/p/help/"), (ben, "/p/help/label/"), (ben, f"{PAGE}2/"), (rita, EDIT), (rita, dispute),
    ):  # fmt: skip
        assert shown in as_user(user).get(url).content.decode(), url
    # An older version goes on showing what it names.
    change_guidelines(actor=alice, project=project, text="No box.", note="No box.")
    assert shown in as_user(ben).get(f"{PAGE}2/").content.decode()
    assert shown not in as_user(ben).get(PAGE).content.decode()


def test_each_version_can_be_read(who_may: WorldMay, alice: User, ben: User, project: Project) -> None:
    change_guidelines(actor=alice, project=project, text="# Other\n", note="Other.")
    assert who_may(f"{PAGE}1/") == {"anonymous": 302, "admin": 200, "reviewer": 200, "annotator": 200, "stranger": 404}
    older = as_user(ben).get(f"{PAGE}1/").content.decode()
    assert "<strong>all</strong> contexts" in older
    assert "This is an older version" in older
    assert "This is the current version" in as_user(ben).get(f"{PAGE}2/").content.decode()
    assert as_user(ben).get(f"{PAGE}3/").status_code == 404
    assert f'href="{PAGE}1/"' in as_user(ben).get(PAGE).content.decode()


def test_the_preview_shows_what_is_written_and_stores_nothing(who_may: WorldMay, alice: User, project: Project) -> None:
    url, before = f"{PAGE}preview/", project.guideline_versions.count()
    posted = who_may(url, "post", {"text": "Mine."})
    assert posted == {"anonymous": 302, "admin": 200, "reviewer": 200, "annotator": 403, "stranger": 404}
    image = image_of(project, alice)
    text = f"# Rules\n\n![A red box](image:{image.name}) ![x](https://elsewhere.example/x.png) <b>bold</b>"
    page = as_user(alice).post(url, {"text": text}).content.decode()
    assert "<h2>Rules</h2>" in page
    assert page.count("<img ") == 1
    assert "&lt;b&gt;" in page
    assert "No guidelines yet." in as_user(alice).post(url, {}).content.decode()
    assert project.guideline_versions.count() == before


def test_an_image_without_words_is_refused_beside_the_text(alice: User, project: Project) -> None:
    image = image_of(project, alice)
    reply = as_user(alice).post(EDIT, sent(f"![](image:{image.name})"))
    assert reply.status_code == 422
    assert "Say what each image shows" in str(reply.context["form"].errors["text"])
    assert reply.context["form"]["text"].value() == f"![](image:{image.name})"
