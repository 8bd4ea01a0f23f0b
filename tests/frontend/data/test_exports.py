import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.files.export_writers import WRITERS
from annotate.models import Label, Project, Release, Sample, User, Verdict
from annotate.projects.read import one_criterion
from frontend.data.files import FORMATS
from tests.clients import as_user


@pytest.fixture
def imported(project: Project, samples: list[Sample]) -> list[Label]:
    criterion = one_criterion(project, "support")
    raters = [project.raters.create(name=name) for name in ("Xia", "Yan", "Zoe")]
    return Label.objects.bulk_create(
        Label(rater=rater, sample=sample, unit="claim:0", criterion=criterion, value="supported")
        for sample in samples
        for rater in raters
    )


def test_the_form_offers_what_can_be_written() -> None:
    assert [name for name, _ in FORMATS] == list(WRITERS)


@pytest.mark.usefixtures("disputes")
def test_counts_what_is_settled_and_how(alice: User) -> None:
    shown = as_user(alice).get("/p/help/export/").context
    truth = {row["key"]: row for row, _counts in shown["truth"]}
    assert [str(title) for title in shown["ways"]] == ["Unanimous"], "nothing came about otherwise"
    assert (truth["support"]["settled"], truth["support"]["waiting"]) == (0, 2)
    assert (truth["relevance"]["unanimous"], truth["relevance"]["waiting"]) == (1, 0)


@pytest.mark.usefixtures("disputes")
@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet", "qrels"])
def test_makes_a_release_and_hands_it_out(file_format: str, alice: User) -> None:
    client = as_user(alice)
    assert client.post("/p/help/export/", {"file_format": file_format}).url == "/p/help/export/"
    release = Release.objects.get()
    assert release.manifest["sha256"][:12] in client.get("/p/help/export/").content.decode()
    file = client.get("/p/help/export/1/")
    assert file["Content-Disposition"].startswith("attachment")
    assert b"".join(file.streaming_content)  # type: ignore[arg-type]


def test_nothing_to_export_is_said(alice: User, project: Project) -> None:
    reply = as_user(alice).post("/p/help/export/", {"file_format": "jsonl"})
    assert reply.status_code == 409
    assert "Nothing to export" in reply.content.decode()
    assert as_user(alice).post("/p/help/export/", {"file_format": "docx"}).status_code == 422
    assert as_user(alice).get("/p/help/export/1/").status_code == 404


@pytest.mark.usefixtures("disputes")
def test_a_file_that_is_gone_is_said_to_be(alice: User) -> None:
    client = as_user(alice)
    client.post("/p/help/export/", {"file_format": "jsonl"})
    Release.objects.update(stored_as="releases/none")
    assert "no longer on the server" in client.get("/p/help/export/1/", follow=True).content.decode()


def test_settles_imported_labels(alice: User, imported: list[Label]) -> None:
    client = as_user(alice)
    assert "12 labels; raters: 3" in client.get("/p/help/export/").content.decode()
    reply = client.post("/p/help/export/settle/", {"criterion": "support", "needed": 3}, follow=True)
    assert "4 verdicts created" in reply.content.decode()
    assert Verdict.objects.filter(state="settled", method="unanimous").count() == 4


@pytest.mark.parametrize("sent", [{"criterion": "none", "needed": 2}, {"criterion": "support", "needed": 0}, {}])
def test_a_bad_form_settles_nothing(sent: dict[str, object], alice: User, imported: list[Label]) -> None:
    assert as_user(alice).post("/p/help/export/settle/", sent).status_code == 422
    assert not Verdict.objects.exists()


@pytest.mark.usefixtures("disputes")
def test_the_number_of_queries_does_not_grow(alice: User) -> None:
    client = as_user(alice)
    client.post("/p/help/export/", {"file_format": "jsonl"})
    client.get("/p/help/export/")
    with CaptureQueriesContext(connection) as few:
        client.get("/p/help/export/")
    for _ in range(3):
        client.post("/p/help/export/", {"file_format": "csv"})
    client.get("/p/help/export/")
    with CaptureQueriesContext(connection) as many:
        client.get("/p/help/export/")
    assert len(many) == len(few)
