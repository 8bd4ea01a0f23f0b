"""The list of samples as its address chooses and sorts it, by the pages and endpoints themselves."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.models import Batch, Project, Sample, User, Verdict
from judges.models import GroupSide, Side
from judges.reports.write import freeze_report
from tests.annotate.factories import decide_unit
from tests.clients import as_user
from tests.frontend.building import label_task, make_samples
from tests.frontend.conftest import give
from tests.judges.building import add_judge

PAGE = "/p/help/samples/"


def found(client: Client, query: str) -> list[str]:
    reply = client.get(f"{PAGE}?{query}")
    assert reply.status_code == 200
    return [row.sample.external_id for row in reply.context["rows"]]


def by_api(client: Client, query: str) -> list[str]:
    return [row["id"] for row in client.get(f"/api/projects/help/samples/?{query}").json()["results"]]


@pytest.fixture
def labelled(batch: Batch, samples: list[Sample], disputes: list[Verdict]) -> None:
    """s0: disputed on both claims. s1: all agree. s2, s3: to be labelled. s4: in no batch."""
    for task in batch.tasks.filter(sample=samples[1]):
        label_task(task, {"support": "supported", "relevance": 2})
    make_samples(batch.project, 1)


@pytest.mark.usefixtures("labelled")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["s0", "s1", "s2", "s3", "s4"]),
        ("status=disputed", ["s0"]),
        ("status=resolved", ["s1"]),
        ("status=labelling", ["s2", "s3"]),
        ("status=unlabelled", ["s4"]),
        ("status=disputed&criterion=relevance", []),
        ("status=resolved&criterion=relevance", ["s0", "s1"]),
        ("agreement=disagree", ["s0"]),
        ("agreement=agree", ["s1"]),
        ("agreement=agree&criterion=relevance", ["s0", "s1"]),
        ("sort=-id", ["s4", "s3", "s2", "s1", "s0"]),
        ("sort=-added", ["s4", "s3", "s2", "s1", "s0"]),
        ("sort=agreement", ["s0", "s1", "s2", "s3", "s4"]),
        ("sort=-agreement", ["s1", "s0", "s2", "s3", "s4"]),
    ],
)
def test_page_and_api_find_the_same(rita: User, query: str, names: list[str]) -> None:
    client = as_user(rita)
    assert found(client, query) == names
    assert by_api(client, query) == names


@pytest.mark.usefixtures("labelled")
def test_conditions_combine_and_are_counted(rita: User) -> None:
    client = as_user(rita)
    assert found(client, "m.tier=gold") == ["s1", "s3"]
    assert found(client, "m.tier=gold&status=labelling") == ["s3"]
    assert found(client, "m.row=2") == ["s2"]
    assert found(client, "m.tier=gold&m.row=2") == []
    assert by_api(client, "metadata=tier=gold&status=labelling") == ["s3"]
    text = client.get(f"{PAGE}?m.tier=gold&status=labelling&sort=-id").content.decode()
    assert "1 sample" in text
    assert "Status: Being labelled" in text
    assert 'aria-sort="descending"' in text
    assert 'name="sort" value="-id"' in text, "searching again keeps the order"


def test_a_sample_without_such_units_is_not_asked(rita: User, samples: list[Sample]) -> None:
    Sample.objects.filter(pk=samples[0].pk).update(claims=[])
    assert found(as_user(rita), "criterion=support") == ["s1", "s2", "s3"]
    assert found(as_user(rita), "criterion=support&status=unlabelled") == ["s1", "s2", "s3"]
    assert found(as_user(rita), "sort=claims")[0] == "s0"
    assert found(as_user(rita), "sort=-claims")[-1] == "s0"


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize(
    "query",
    ["status=x", "criterion=x", "agreement=x", "judge=x", "m.tier=%00", "m.%00=x", "q=%00", "m.tier=" + "x" * 300],
)
def test_what_cannot_be_understood_matches_nothing(rita: User, query: str) -> None:
    reply = as_user(rita).get(f"{PAGE}?{query}")
    assert reply.status_code == 200
    assert reply.context["form"].errors
    assert list(reply.context["rows"]) == []
    assert "No samples yet" not in reply.content.decode()


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize("query", ["status=x", "agreement=x", "metadata=tier", "metadata==x", "sort=x", "metadata=%00"])
def test_the_api_says_what_is_wrong(rita: User, query: str) -> None:
    assert as_user(rita).get(f"/api/projects/help/samples/?{query}").status_code == 422


@pytest.mark.usefixtures("labelled")
def test_what_others_said_chooses_nothing_that_one_has_still_to_label(
    rita: User, project: Project, samples: list[Sample]
) -> None:
    client = as_user(rita)
    asked = [
        f"{name}{more}"
        for name in ("status=disputed", "status=resolved", "agreement=disagree", "agreement=agree")
        for more in ("", "&criterion=support", "&criterion=relevance")
    ]
    assert any("s0" in found(client, query) for query in asked)
    give(project, rita, "s0")
    for query in asked:
        assert "s0" not in found(client, query), query
        assert "s0" not in by_api(client, query), query
    assert found(client, "sort=agreement")[0] == "s1"
    row = next(one for one in client.get(PAGE).context["rows"] if one.sample.external_id == "s0")
    assert row.agreement is None
    assert row.statuses == ["labelling"]


@pytest.mark.usefixtures("disputes")
def test_where_a_judge_disagrees(
    alice: User, rita: User, ben: User, batch: Batch, project: Project, samples: list[Sample]
) -> None:
    for verdict in Verdict.objects.exclude(state="settled"):
        decide_unit(rita, verdict, "supported")
    for task in batch.tasks.filter(sample=samples[1]):
        label_task(task, {"support": "contradicted", "relevance": 2})
    rows = [("s0", "claim:0", 0.0), ("s0", "claim:1", 1.0), ("s1", "claim:0", 0.0), ("s1", "claim:1", 0.0)]
    add_judge(project, "strict", {"s0": samples[0], "s1": samples[1]}, rows)
    client = as_user(alice)

    def reported(side: Side) -> list[str]:
        for name in ("s0", "s1"):
            given = {"project": project, "criterion_key": "support", "group": name}
            GroupSide.objects.update_or_create(**given, defaults={"side": side})
        freeze_report(criterion=project.criteria.get(key="support"))
        return found(client, "judge=strict")

    assert reported(Side.TEST) == [], "the test set tells nothing"
    assert reported(Side.DEV) == ["s0"]
    assert found(client, "judge=strict&criterion=relevance") == []
    give(project, alice, "s0")
    assert found(client, "judge=strict") == [], "it is still to be labelled"


def test_the_number_of_queries_does_not_grow(rita: User, project: Project) -> None:
    client, query = as_user(rita), f"{PAGE}?status=unlabelled&sort=agreement&m.tier=gold"
    counts = []
    for more in (2, 48):
        make_samples(project, more)
        client.get(query)
        with CaptureQueriesContext(connection) as queries:
            client.get(query)
        counts.append(len(queries))
    assert counts[0] == counts[1]
