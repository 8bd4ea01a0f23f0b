import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.labels.consensus import settle_imported
from annotate.models import Batch, Label, Project, Sample, User, Verdict
from annotate.projects.read import one_criterion
from tests.clients import as_user
from tests.frontend.conftest import GUIDELINES


def test_only_staff_make_projects(ben: User, charlie: User) -> None:
    for user in (ben, charlie):
        assert as_user(user).get("/new/").status_code == 403
        assert as_user(user).post("/new/", {"name": "X", "slug": "x"}).status_code == 403
    assert not Project.objects.exists()


def test_makes_a_project(alice: User) -> None:
    sent = {"name": "Travel", "slug": "travel", "guidelines": "Read.", "criteria": ["support", "relevance"]}
    reply = as_user(alice).post("/new/", sent)
    assert reply.url == "/p/travel/"
    made = Project.objects.get()
    assert (made.name, made.guidelines) == ("Travel", "Read.")
    assert list(made.criteria.values_list("key", flat=True)) == ["support", "relevance"]
    assert made.memberships.get().user == alice


def test_a_taken_name_is_refused_and_nothing_typed_is_lost(alice: User, project: Project) -> None:
    reply = as_user(alice).post("/new/", {"name": "Mine", "slug": "help", "guidelines": "Long text"})
    assert reply.status_code == 409
    text = reply.content.decode()
    assert "A project “help” already exists." in text
    assert "Long text" in text
    assert 'value="Mine"' in text


def test_a_short_name_with_other_characters_is_refused_in_plain_words(alice: User) -> None:
    reply = as_user(alice).post("/new/", {"name": "Mine", "slug": "a b"})
    assert reply.status_code == 422
    assert "Use only letters, numbers, hyphens and underscores." in reply.content.decode()


def upload(text: str | bytes) -> dict[str, object]:
    content = text.encode() if isinstance(text, str) else text
    return {"upload-slug": "filed", "upload-file": SimpleUploadedFile("project.json", content), "from_file": "1"}


def test_makes_a_project_from_a_file(alice: User) -> None:
    reply = as_user(alice).post("/new/", upload(json.dumps({"name": "Filed", "criteria": ["support"]})))
    assert reply.url == "/p/filed/"
    assert Project.objects.get().name == "Filed"


@pytest.mark.parametrize(
    "content",
    [
        "{",
        b"\xff\xfe{}",
        "[]",
        '{"criteria": ["nothing"]}',
        '{"surprise": 1}',
        '{"name": "A", "name": "B"}',
        "[" * 100_000,
    ],
)
def test_a_bad_file_is_refused_with_a_sentence(content: str | bytes, alice: User) -> None:
    reply = as_user(alice).post("/new/", upload(content))
    assert reply.status_code == 422
    assert reply.context["file_form"].errors
    assert not Project.objects.exists()


def test_guidelines_are_shown_without_their_html(ben: User, project: Project) -> None:
    text = as_user(ben).get("/p/help/").content.decode()
    assert "<strong>all</strong>" in text
    assert "<h2>Rules</h2>" in text
    assert "<script>alert" not in text


def test_an_annotator_sees_own_work_and_no_figures(ben: User, batch: Batch) -> None:
    text = as_user(ben).get("/p/help/").content.decode()
    assert "<strong>4 tasks</strong>" in text
    assert "Disagreements" not in text
    assert "Project steps" not in text


def test_an_admin_sees_figures_and_the_next_step(alice: User, batch: Batch) -> None:
    reply = as_user(alice).get("/p/help/")
    assert [step.state for step in reply.context["steps"]][4:6] == ["next", "later"]
    assert reply.context["counts"].tasks_left == 8


def test_what_is_disputed_can_be_settled_before_labelling_ends(alice: User, disputes: list[Verdict]) -> None:
    reply = as_user(alice).get("/p/help/")
    labelling, settling = reply.context["steps"][4:6]
    assert (labelling.state, settling.state, settling.waits) == ("next", "later", True)
    assert '<a class="button" href="/p/help/adjudicate/">' in reply.content.decode()
    assert reply.content.decode().count("button-primary") == 1


def test_a_project_with_imported_labels_needs_no_batch(alice: User, project: Project, samples: list[Sample]) -> None:
    def next_step() -> tuple[str, str]:
        return next((s.name, s.text) for s in client.get("/p/help/").context["steps"] if s.state == "next")

    client, criterion = as_user(alice), one_criterion(project, "support")
    assert next_step()[0] == "batch-new"
    for name, value in (("Xia", "supported"), ("Yan", "contradicted")):
        rater = project.raters.create(name=name)
        for place, sample in enumerate(samples):
            given = value if place == 0 else "supported"
            Label.objects.create(rater=rater, sample=sample, unit="claim:0", criterion=criterion, value=given)
    assert next_step()[0] == "export"
    assert "Next: Create verdicts from imported labels" in client.get("/").content.decode()
    settle_imported(project=project, criterion=criterion, needed=2)
    assert next_step() == ("adjudicate", "1 unit needs adjudication.")


def test_settings_change_the_name_and_leave_the_guidelines(alice: User, project: Project) -> None:
    client = as_user(alice)
    assert client.post("/p/help/settings/", {"name": "Desk"}).url == "/p/help/settings/"
    project.refresh_from_db()
    assert (project.name, project.guidelines) == ("Desk", GUIDELINES)
    assert client.post("/p/help/settings/", {"name": " "}).status_code == 422
