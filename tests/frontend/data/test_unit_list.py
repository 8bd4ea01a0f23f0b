"""The list of units as its address chooses and sorts it, by the page and the endpoint themselves."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.core import walking
from annotate.core.walking import Counted
from annotate.models import Batch, Label, Project, Sample, User, Verdict
from annotate.projects.guidelines import change_guidelines
from judges.models import GroupSide, JudgeVersion, Side, VersionState
from judges.reports.write import freeze_report
from tests.annotate.factories import decide_unit
from tests.clients import as_user
from tests.frontend.building import REVIEWERS_READ, WhoMay, label_task, make_samples
from tests.frontend.conftest import give
from tests.judges.building import add_judge
from tests.plans import plan_of, rows_read

PAGE, NEW = "/p/help/units/", "/p/help/batches/new/"


def found(client: Client, query: str) -> list[str]:
    reply = client.get(f"{PAGE}?{query}")
    assert reply.status_code == 200
    rows = list(reply.context["rows"])
    assert reply.context["counted"] == Counted(len(rows), is_all=True)
    return [f"{row.sample.external_id} {row.unit} {row.criterion.key}" for row in rows]


def by_api(client: Client, query: str) -> list[str]:
    reply = client.get(f"/api/projects/help/units/?{query}").json()
    assert reply["count"] == len(reply["results"])
    return [f"{row['sample_id']} {row['unit']} {row['criterion']}" for row in reply["results"]]


def row_of(client: Client, name: str, unit: str = "claim:0") -> dict[str, Any]:
    rows = client.get(f"{PAGE}?criterion=support&q={name}").context["units"]
    return next(row for row in rows if row["unit"].unit == unit)


def of_claims(*names: str) -> list[str]:
    return [f"{name} claim:{index} support" for name in names for index in (0, 1)]


@pytest.fixture
def labelled(batch: Batch, samples: list[Sample], disputes: list[Verdict]) -> None:
    """s0: disputed on both claims, resolved on its context. s1: all agree. s2: Ben has labelled it, Bea has not. s3: to
    be labelled. s4: in no batch, and about something else."""
    for task in batch.tasks.filter(sample=samples[1]):
        label_task(task, {"support": "supported", "relevance": 2})
    ben = batch.tasks.get(sample=samples[2], annotator__username="ben")
    label_task(ben, {"support": "contradicted", "relevance": 0})
    # Here all of it is one transaction, and one moment.
    earlier = timezone.now() - timedelta(days=1)
    Verdict.objects.filter(sample=samples[0]).update(updated_at=earlier)
    [other] = make_samples(batch.project, 1)
    other.claims[0]["text"] = "100%_sure"
    other.save()


CONTEXTS = [f"s{n} context:0 relevance" for n in range(5)]


@pytest.mark.usefixtures("labelled")
@pytest.mark.parametrize(
    ("query", "units"),
    [
        ("", [one for n in range(5) for one in (*of_claims(f"s{n}"), CONTEXTS[n])]),
        ("criterion=support", of_claims("s0", "s1", "s2", "s3", "s4")),
        ("status=disputed", of_claims("s0")),
        ("status=disputed&criterion=relevance", []),
        ("status=resolved", [CONTEXTS[0], *of_claims("s1"), CONTEXTS[1]]),
        ("status=in_progress&criterion=support", of_claims("s2", "s3")),
        ("status=unlabelled", [*of_claims("s4"), CONTEXTS[4]]),
        ("status=reopened", []),
        ("criterion=relevance&value=2", [CONTEXTS[1]]),
        ("criterion=support&value=supported", of_claims("s1")),
        ("criterion=support&value=supported&status=disputed", []),
        ("method=unanimous&criterion=relevance", CONTEXTS[:2]),
        ("method=adjudicated", []),
        ("agreement=disagree", of_claims("s0")),
        ("agreement=agree", [CONTEXTS[0], *of_claims("s1"), CONTEXTS[1]]),
        ("criterion=relevance&sort=-id", CONTEXTS[::-1]),
        ("criterion=relevance&sort=-added", CONTEXTS[::-1]),
        ("criterion=support&sort=agreement", of_claims("s0", "s1", "s2", "s3", "s4")),
        ("criterion=support&sort=-agreement", of_claims("s1", "s0", "s2", "s3", "s4")),
        ("criterion=relevance&sort=-changed", [CONTEXTS[1], CONTEXTS[0], *CONTEXTS[2:]]),
        ("batch=1&status=unlabelled", []),
        ("batch=1&criterion=relevance", CONTEXTS[:4]),
    ],
)
def test_page_and_api_find_the_same(rita: User, query: str, units: list[str]) -> None:
    client = as_user(rita)
    assert found(client, query) == units
    assert by_api(client, query) == units


@pytest.mark.usefixtures("labelled")
def test_words_and_metadata(rita: User) -> None:
    client = as_user(rita)
    assert found(client, "q=france&criterion=support&m.tier=gold") == ["s1 claim:1 support", "s3 claim:1 support"]
    assert by_api(client, "search=france&metadata=tier=gold") == ["s1 claim:1 support", "s3 claim:1 support"]
    assert found(client, "q=S3") == [*of_claims("s3"), CONTEXTS[3]], "the id of its sample"
    assert found(client, "q=0%25_s") == ["s4 claim:0 support"], "no pattern"
    assert found(client, "q=france&status=disputed") == ["s0 claim:1 support"]


@pytest.mark.usefixtures("labelled")
def test_a_row_says_how_far_it_is_and_names_nobody(rita: User, samples: list[Sample]) -> None:
    client = as_user(rita)
    disputed, resolved, begun = (row_of(client, name) for name in ("s0", "s1", "s2"))
    assert sorted(disputed["votes"]) == [("Contradicted", 1), ("Supported", 1)]
    assert disputed["value"] == ""
    assert disputed["url"] == f"/p/help/adjudicate/{disputed['unit'].verdict.pk}/"
    assert (resolved["value"], resolved["votes"], resolved["unit"].percent) == ("Supported", [("Supported", 2)], 100)
    assert resolved["url"] == f"/p/help/samples/{samples[1].pk}/#claim-0"
    assert begun["votes"] == [("Contradicted", 1)]
    page = client.get(f"{PAGE}?criterion=support").content.decode()
    assert "50%" in page
    assert "Unanimous" in page
    for name in ("Ben", "Bea", "Said by"):
        assert name not in page
    rows = client.get("/api/projects/help/units/?criterion=support&search=s0").json()["results"]
    assert rows[0]["text"] == "Paris is old."
    assert sorted(vote["value"] for vote in rows[0]["votes"]) == ["contradicted", "supported"]
    assert "ben" not in str(rows)


def test_what_is_no_unit_is_not_listed(rita: User, samples: list[Sample]) -> None:
    dropped, abstaining, *_ = samples
    dropped.claims[0]["dropped"] = True
    dropped.save()
    Sample.objects.filter(pk=abstaining.pk).update(abstained=True)
    client = as_user(rita)
    assert found(client, "criterion=support") == ["s0 claim:1 support", *of_claims("s2", "s3")]
    assert found(client, "criterion=support&status=unlabelled") == ["s0 claim:1 support", *of_claims("s2", "s3")]


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize(
    "query",
    [
        "status=x",
        "criterion=x",
        "value=supported",
        "criterion=support&value=x",
        "method=x",
        "judge=x",
        "batch=9",
        "q=%00",
    ],
)
def test_what_cannot_be_understood_matches_nothing(rita: User, query: str) -> None:
    reply = as_user(rita).get(f"{PAGE}?{query}")
    assert reply.status_code == 200
    assert reply.context["form"].errors
    assert list(reply.context["rows"]) == []


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize(
    "query",
    ["status=x", "value=supported", "criterion=support&value=x", "method=x", "sort=x", "guidelines=x", "search=%00"],
)
def test_the_api_says_what_is_wrong(rita: User, query: str) -> None:
    assert as_user(rita).get(f"/api/projects/help/units/?{query}").status_code == 422


ASKED = [
    f"{name}{more}"
    for name in (
        "status=disputed", "status=resolved", "status=unlabelled", "agreement=disagree", "agreement=agree",
        "method=unanimous", "guidelines=older",
    )
    for more in ("", "&criterion=support", "&criterion=relevance")
]  # fmt: skip


@pytest.mark.usefixtures("labelled")
def test_what_others_said_chooses_nothing_that_one_has_still_to_label(
    rita: User, alice: User, project: Project, samples: list[Sample]
) -> None:
    change_guidelines(project=project, actor=alice, text="Others")
    Label.objects.filter(sample=samples[0]).update(guideline_version=1)
    client = as_user(rita)
    asked = [*ASKED, "criterion=support&value=supported", "criterion=relevance&value=3"]
    assert [query for query in asked if "s0" in str(found(client, query))]
    give(project, rita, "s0")
    for query in asked:
        assert "s0" not in str(found(client, query)), query
        assert "s0" not in str(by_api(client, query)), query
    assert found(client, "criterion=support&sort=agreement")[:2] == of_claims("s1")
    assert set(found(client, "status=in_progress")) >= {*of_claims("s0"), CONTEXTS[0]}, "whatever others said"
    row = row_of(client, "s0")
    assert (row["unit"].status, row["unit"].verdict, row["votes"]) == ("in_progress", None, [])
    assert "Yours to label" in client.get(f"{PAGE}?q=s0").content.decode()
    shown = client.get("/api/projects/help/units/?search=s0").json()["results"]
    assert {(one["held_back"], one["value"], one["agreement"], str(one["votes"])) for one in shown} == {
        (True, None, None, "[]")
    }
    chosen = client.get("/api/projects/help/units/?agreement=disagree").json()
    assert chosen["count"] == 0


@pytest.mark.usefixtures("labelled")
def test_labels_of_older_guidelines(
    rita: User, alice: User, project: Project, samples: list[Sample], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = as_user(rita)
    Label.objects.update(guideline_version=1)
    assert found(client, "guidelines=older") == []
    change_guidelines(project=project, actor=alice, text="Others")
    Label.objects.filter(sample=samples[1]).update(guideline_version=2)
    Label.objects.filter(sample=samples[0], criterion__key="relevance").update(guideline_version=None)
    units = [*of_claims("s0"), *of_claims("s2"), CONTEXTS[2]]
    assert found(client, "guidelines=older") == by_api(client, "guidelines=older") == units
    # Each part reads its own labels, the last ones none.
    monkeypatch.setattr(walking, "STRETCH", 1)
    monkeypatch.setattr(walking, "SECONDS", 60)
    with CaptureQueriesContext(connection) as asked:
        assert found(client, "guidelines=older") == units
    parts = [one["sql"] for one in asked if "guideline_version <" in one["sql"]]
    assert len(parts) == 10, "rows and number of five samples"
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # so few rows are read at once
    read = [rows_read(plan_of(sql), "annotate_label") for sql in parts]
    assert read[0] > 0 == read[4] == read[9]


@pytest.mark.usefixtures("disputes")
def test_a_judge_against_annotators(
    alice: User, rita: User, batch: Batch, project: Project, samples: list[Sample]
) -> None:
    for verdict in Verdict.objects.exclude(state="settled"):
        decide_unit(rita, verdict, "supported")
    for task in batch.tasks.filter(sample=samples[1]):
        label_task(task, {"support": "contradicted", "relevance": 2})
    rows = [("s0", "claim:0", 0.0), ("s0", "claim:1", 1.0), ("s1", "claim:0", 0.0)]
    add_judge(project, "strict", {"s0": samples[0], "s1": samples[1]}, rows)
    client = as_user(alice)

    def reported(side: Side) -> tuple[list[str], list[str]]:
        for name in ("s0", "s1"):
            given = {"project": project, "criterion_key": "support", "group": name}
            GroupSide.objects.update_or_create(**given, defaults={"side": side})
        freeze_report(criterion=project.criteria.get(key="support"))
        return found(client, "judge=disagrees:strict"), found(client, "judge=agrees:strict")

    assert reported(Side.TEST) == ([], []), "the test set tells nothing"
    assert row_of(client, "s0")["judges"] == []
    disagrees, agrees = reported(Side.DEV)
    assert sorted(disagrees + agrees) == ["s0 claim:0 support", "s0 claim:1 support", "s1 claim:0 support"]
    assert disagrees == ["s0 claim:0 support"]
    assert found(client, "judge=agrees:strict&criterion=relevance") == []
    unscored = found(client, "judge=unscored:strict&criterion=support")
    assert unscored == ["s1 claim:1 support", *of_claims("s2", "s3")]
    assert row_of(client, "s0")["judges"] == [("strict", "0")]
    give(project, alice, "s0")
    assert "s0" not in str(found(client, "judge=disagrees:strict") + found(client, "judge=agrees:strict"))
    assert row_of(client, "s0")["judges"] == []


def test_units_without_a_score_are_looked_through_part_by_part(
    alice: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And of the scores each part reads its own."""
    samples = make_samples(project, 40)
    by_name = {sample.external_id: sample for sample in samples}
    add_judge(project, "strict", by_name, [(name, "claim:0", 1.0) for name in by_name])
    add_judge(project, "strict", by_name, [("s7", "claim:1", 1.0)], label="dropped")
    JudgeVersion.objects.filter(label="dropped").update(state=VersionState.DROPPED)
    client, query = as_user(alice), "judge=unscored:strict&criterion=support"
    at_once = found(client, query)
    assert at_once == [f"{sample.external_id} claim:1 support" for sample in samples]
    assert f"s7 {CONTEXTS[0].split()[1]} relevance" in found(client, "judge=unscored:strict&criterion=relevance")
    monkeypatch.setattr(walking, "STRETCH", 2)
    monkeypatch.setattr(walking, "SECONDS", 60)
    with CaptureQueriesContext(connection) as asked:
        assert found(client, query) == at_once
    parts = [one["sql"] for one in asked if "judges_score" in one["sql"] and "annotate_sample" in one["sql"]]
    assert len(parts) == 40, "rows and number of twenty parts"
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # so few rows are read at once
    # A condition on the samples alone would not be carried over.
    assert max(rows_read(plan_of(sql), "judges_score") for sql in parts) <= 3


@pytest.mark.usefixtures("disputes")
def test_a_reviewer_sees_no_judge_before_the_sample_is_decided(
    rita: User, batch: Batch, project: Project, samples: list[Sample]
) -> None:
    add_judge(project, "strict", {"s0": samples[0]}, [("s0", "claim:0", 0.0)])
    GroupSide.objects.create(project=project, criterion_key="support", group="s0", side=Side.DEV)
    client = as_user(rita)
    assert row_of(client, "s0")["judges"] == []
    for verdict in Verdict.objects.exclude(state="settled"):
        decide_unit(rita, verdict, "supported")
    assert row_of(client, "s0")["judges"] == [("strict", "0")]


def test_the_number_of_queries_does_not_grow(rita: User, project: Project) -> None:
    client = as_user(rita)
    for query in ("status=unlabelled&sort=agreement&m.tier=gold", ""):
        counts = []
        for more in (2, 24):
            make_samples(project, more)
            client.get(f"{PAGE}?{query}")
            with CaptureQueriesContext(connection) as queries:
                client.get(f"{PAGE}?{query}")
            counts.append(len(queries))
        assert counts[0] == counts[1]


def test_who_may(who_may: WhoMay, samples: list[Sample]) -> None:
    assert who_may(PAGE) == REVIEWERS_READ


def opened(client: Client, sent: dict[str, Any]) -> Any:
    reply = client.post(NEW, {"opening": "on", "of": "units", "matching": "", **sent})
    assert reply.status_code == 200
    return reply.context["form"]


def create(client: Client, form: Any, people: list[User]) -> Batch:
    sent = {field.html_name: field.value() for field in form if field.value() is not None}
    sent |= {**dict(form.chosen.fields), "name": "Chosen", "annotators": [one.pk for one in people]}
    assert client.post(NEW, sent).status_code == 302
    return Batch.objects.latest("id")


@pytest.mark.usefixtures("labelled")
def test_all_that_match_become_a_batch_of_their_samples(alice: User, ben: User, bea: User) -> None:
    client = as_user(alice)
    form = opened(client, {"matching": "criterion=support&agreement=disagree", "every": "on"})
    assert form.chosen.label().startswith("The 2 units you selected, in 1 sample (")
    assert form.opens_criteria()
    batch = create(client, form, [ben, bea])
    assert list(batch.samples.values_list("external_id", flat=True)) == ["s0"]
    assert [one.key for one in batch.criteria.all()] == ["support"]
    assert batch.selection["came"] == "disputed"


@pytest.mark.usefixtures("labelled")
def test_ticked_units_of_several_pages(alice: User, ben: User, bea: User, samples: list[Sample]) -> None:
    client = as_user(alice)
    first, second, third = (sample.pk for sample in samples[:3])
    ticked = [
        f"{first}/claim:0/support {second}/claim:1/support",
        f"{third}/context:0/relevance {first}/claim:1/support",
    ]
    wrong = [
        f"{first}/claim:7/support",
        f"{first}/claim:0/relevance",
        "x/claim:0/support",
        "1/answer",
        f"{first}/x/support",
    ]
    form = opened(client, {"unit": [*ticked, *wrong]})
    assert form.chosen.label() == "The 4 units you selected, in 3 samples"
    batch = create(client, form, [ben, bea])
    assert set(batch.samples.values_list("external_id", flat=True)) == {"s0", "s1", "s2"}
    assert {one.key for one in batch.criteria.all()} == {"support", "relevance"}
    assert batch.selection == {"method": "list", "n": 3, "came": "by_hand"}


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize("sent", [{}, {"unit": "1/claim:0"}, {"unit": "x" * 20}])
def test_nothing_selected_is_said_in_the_list(alice: User, sent: dict[str, str]) -> None:
    reply = as_user(alice).post(NEW, {"opening": "on", "of": "units", "matching": "", **sent}, follow=True)
    assert reply.redirect_chain[0][0] == PAGE
    assert "Select units first." in reply.content.decode()
