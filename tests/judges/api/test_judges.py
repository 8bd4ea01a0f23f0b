"""Judges, their versions, runs and scores by API: what is made, who is shown what, and what odd JSON gets."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

from annotate.models import Sample, User
from judges.models import Ask, AskState, Endpoint, Judge, JudgeVersion, Run, Score
from judges.runs.write import cancel_run
from judges.versions.write import create_judge
from tests.annotate.api.conftest import lexical_config
from tests.annotate.api.test_access import ask
from tests.annotate.api.test_schema import problems
from tests.annotate.factories import World, make_samples, make_world
from tests.clients import client_of
from tests.database import copied_from_world

pytestmark = pytest.mark.django_db

ROOT = "/api/projects/desk/"
CONFIG = lexical_config("grade")
OTHER = {**CONFIG, "measure": "rouge_l"}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    """Six samples and a lexical judge that has scored none of them."""
    world = make_world()
    make_samples(world.project, 6, reference="It opens at nine.", pipeline_version="v7")
    create_judge(project=world.project, name="overlap", kind="lexical", config=CONFIG, actor=world.alice)
    return world


world = copied_from_world()


@pytest.fixture
def judge(world: World) -> str:
    """Its address."""
    return f"{ROOT}judges/{Judge.objects.get(name='overlap').pk}/"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return SchemaGenerator().get_schema(request=None, public=True)


def post(world: World, url: str, body: Any = None, *, status: int, who: str = "alice") -> Any:
    reply = ask(client_of(getattr(world, who)), "POST", url, body)
    assert reply.status_code == status, reply.content
    return reply.json()


def get(world: World, url: str, *, who: str = "alice", **query: Any) -> Any:
    reply = client_of(getattr(world, who)).get(url, query)
    assert reply.status_code == 200, reply.content
    return reply.json()


# Judges and versions


def test_a_judge_is_made_with_its_first_version(world: World) -> None:
    body = {"name": "rouge", "kind": "lexical", "config": OTHER, "description": "By words.", "higher_is_better": True}
    made = post(world, f"{ROOT}judges/", body, status=201)
    assert (made["name"], made["kind"], made["versions"], made["current"]) == ("rouge", "lexical", ["1"], 1)
    (version,) = get(world, f"{ROOT}judges/{made['id']}/versions/")
    assert version["config"]["measure"] == "rouge_l"
    assert (version["state"], version["created_by"], version["endpoint"]) == ("kept", "alice", None)
    assert post(world, f"{ROOT}judges/", body, status=409)["error"]["code"] == "name_taken"
    wrong = post(world, f"{ROOT}judges/", {**body, "name": "x", "config": {**OTHER, "tempo": 1}}, status=422)
    assert wrong["field"] == "config.tempo"
    assert post(world, f"{ROOT}judges/", {**body, "name": "x", "kind": "imported"}, status=422)


def test_versions_are_added_compared_kept_and_dropped(world: World, judge: str) -> None:
    added = post(world, f"{judge}versions/", {"config": OTHER, "state": "trial", "based_on": 1}, status=201)
    assert (added["number"], added["state"], added["based_on"]) == (2, "trial", 1)
    assert post(world, f"{judge}versions/", {"config": OTHER, "state": "trial"}, status=200)["number"] == 2
    assert get(world, judge)["current"] == 1
    diff = get(world, f"{judge}versions/diff/", older=1, newer=2)
    assert ("config.measure", "token_overlap", "rouge_l") in [
        (one["field"], one["older"], one["newer"]) for one in diff["differences"]
    ]
    assert post(world, f"{judge}versions/2/keep/", {}, status=200)["state"] == "kept"
    assert get(world, judge)["current"] == 2
    assert post(world, f"{judge}versions/2/drop/", {}, status=200)["state"] == "dropped"
    assert get(world, judge)["current"] == 1
    assert get(world, f"{judge}versions/2/")["state"] == "dropped"
    assert [version["number"] for version in get(world, f"{judge}versions/")] == [1, 2]


def test_versions_that_are_not_there(world: World, judge: str) -> None:
    client = client_of(world.alice)
    for query in ({}, {"older": 1}, {"older": 1, "newer": 9}, {"older": "x", "newer": 1}, {"older": 1, "newer": -1}):
        assert client.get(f"{judge}versions/diff/", query).status_code == 422, query
    for number in (0, 2, 10**12, 10**30):
        assert client.get(f"{judge}versions/{number}/").status_code == 404
        assert ask(client, "POST", f"{judge}versions/{number}/keep/", {}).status_code == 404


def test_verdicts_in_a_configuration_are_for_those_who_may_know_them(world: World, judge: str) -> None:
    urls = (f"{judge}versions/", f"{judge}versions/1/")
    diff = f"{judge}versions/diff/?older=1&newer=2"
    assert all("token_overlap" in json.dumps(get(world, url, who="rita")) for url in urls)
    examples = {"count": 1, "drawn": [{"sample": "s1", "unit": "answer", "value": "zebra"}]}
    JudgeVersion.objects.update(config={**CONFIG, "examples": examples})
    for url in urls:
        assert "zebra" in json.dumps(get(world, url))
        assert "zebra" not in json.dumps(get(world, url, who="rita"))
        assert client_of(world.ann).get(url).status_code == 403
    post(world, f"{judge}versions/", {"config": OTHER}, status=201)
    assert "zebra" in json.dumps(get(world, diff))
    assert "zebra" not in json.dumps(get(world, diff, who="rita"))
    assert "rouge_l" in json.dumps(get(world, diff, who="rita"))
    world.batch(annotators=[world.alice], overlap=1, selection={"method": "list", "samples": ["s1"]})
    for url in urls:
        assert "zebra" not in json.dumps(get(world, url))
    assert "zebra" not in json.dumps(get(world, diff))


def test_what_one_may_start_from(world: World) -> None:
    found = get(world, f"{ROOT}judge-kinds/", who="rita")
    assert {"llm", "lexical"} <= {kind["key"] for kind in found["kinds"]}
    assert "imported" not in {kind["key"] for kind in found["kinds"]}
    support = next(one for one in found["templates"] if one["key"] == "claim_support")
    assert (support["units"], support["per"]) == (["claim"], "unit")
    assert all(f"{{{{{name}}}}}" in support["prompt"] for name in support["variables"])
    Endpoint.objects.create(project=world.project, name="local", base_url="http://127.0.0.1:1/v1")
    config = {"template": "claim_support", "criterion": "support", "model": "m"}
    body = {"name": "llm", "kind": "llm", "config": config, "endpoint": "local"}
    made = post(world, f"{ROOT}judges/", body, status=201)
    (version,) = get(world, f"{ROOT}judges/{made['id']}/versions/")
    assert (version["config"]["prompt"], version["endpoint"]) == (support["prompt"], "local")


# Runs


def test_a_run_is_estimated_started_watched_paused_resumed_and_cancelled(world: World, judge: str) -> None:
    plan = {"scope": {"pipeline": "v7"}}
    estimate = post(world, f"{judge}runs/estimate/", plan, status=200)
    assert (estimate["asks"], estimate["requests"], estimate["cost"]) == (6, 0, None)
    run = post(world, f"{judge}runs/", plan, status=202)
    assert (run["state"], run["judge"], run["version"], run["scope"]) == ("running", "overlap", 1, plan["scope"])
    assert (run["progress"]["planned"], run["progress"]["waiting"], run["created_by"]) == (6, 6, "alice")
    url = f"{ROOT}runs/{run['id']}/"
    assert post(world, f"{url}pause/", {}, status=200)["state"] == "paused"
    assert post(world, f"{url}pause/", {}, status=409)["error"]["code"] == "run_state"
    assert post(world, f"{url}resume/", {"budget": "2.5"}, status=200)["budget"] == "2.500000"
    assert post(world, f"{url}cancel/", {}, status=200)["progress"]["cancelled"] == 6
    assert get(world, url, who="rita")["state"] == "cancelled"
    assert get(world, f"{ROOT}runs/")["count"] == 1
    assert get(world, f"{ROOT}runs/", judge="overlap")["results"][0]["id"] == run["id"]
    assert get(world, f"{ROOT}runs/", judge="x")["count"] == 0


def test_a_request_that_is_repeated_starts_one_run(world: World, judge: str) -> None:
    def start(key: str, plan: Any = None, who: str = "alice") -> Any:
        client = client_of(User.objects.get(username=who))
        body = {"scope": {"all": True}, "again": True} if plan is None else plan
        return client.post(f"{judge}runs/", body, content_type="application/json", headers={"Idempotency-Key": key})

    key, other = str(uuid.uuid4()), str(uuid.uuid4())
    first = start(key)
    assert first.status_code == 202
    assert [start(key).json()["id"] for _ in range(3)] == [first.json()["id"]] * 3
    assert start(other).json()["id"] != first.json()["id"]
    # Whatever has become of it.
    cancel_run(run=Run.objects.get(pk=first.json()["id"]))
    assert start(key).json()["state"] == "cancelled"
    for plan in (
        {"scope": {"pipeline": "v7"}, "again": True},
        {"scope": {"samples": [{}]}, "again": True},
        {"scope": {"all": True}, "again": True, "repeats": 2},
        {"scope": {"all": True}},
        {"scope": {"all": True}, "again": True, "budget": 2},
        {"scope": {"all": True}, "again": True, "version": 1},
    ):
        assert start(key, plan).json()["error"]["code"] == "key_reused"
    assert start("mine").json()["error"]["code"] == "bad_key"
    assert Run.objects.count() == 2


def test_a_version_can_be_named(world: World, judge: str) -> None:
    post(world, f"{judge}versions/", {"config": OTHER, "state": "trial"}, status=201)
    assert post(world, f"{judge}runs/", {"scope": {"all": True}}, status=202)["version"] == 1
    assert post(world, f"{judge}runs/", {"scope": {"all": True}, "version": 2}, status=202)["version"] == 2
    JudgeVersion.objects.filter(judge__name="overlap").update(state="dropped")
    assert post(world, f"{judge}runs/", {"scope": {"all": True}}, status=422)["error"]["code"] == "no_version"


def test_the_list_of_runs_takes_a_few_queries(world: World, judge: str, django_assert_max_num_queries: Any) -> None:
    for _ in range(5):
        post(world, f"{judge}runs/", {"scope": {"all": True}, "again": True}, status=202)
    client = client_of(world.alice)
    with django_assert_max_num_queries(6):  # session, user, project, count, runs
        assert client.get(f"{ROOT}runs/").json()["count"] == 5


# Scores and failures


def scored(world: World) -> Run:
    """A run that scored the samples 1 to 5, and failed at the sixth."""
    version = JudgeVersion.objects.get(judge__name="overlap")
    run = Run.objects.create(version=version, purpose="scores", state="done", scope={"all": True}, planned=6)
    for sample in Sample.objects.order_by("id"):
        ok = sample.external_id != "s6"
        Ask.objects.create(
            run=run, sample=sample, unit="answer", state=AskState.DONE, status="ok" if ok else "error", detail="zebra"
        )
        Score.objects.create(
            version=version,
            run=run,
            sample=sample,
            unit="answer",
            dimension="grade",
            status="ok" if ok else "error",
            number=0.8173625 if ok else None,
            rationale="zebra",
        )
    return run


def test_scores_and_failures_come_in_pages(world: World, judge: str) -> None:
    run = scored(world)
    for url in (f"{ROOT}runs/{run.pk}/scores/", f"{judge}versions/1/scores/"):
        page = get(world, url, limit=4)
        assert (page["count"], len(page["results"])) == (6, 4)
        assert page["results"][0] == {
            "sample": "s1", "unit": "answer", "dimension": "grade", "repeat": 0, "status": "ok", "number": 0.8173625,
            "label": None, "rationale": "zebra", "confidence": None, "held_back": False,
        }  # fmt: skip
        last = get(world, url, limit=4, offset=4)["results"][-1]
        assert (last["sample"], last["status"], last["number"]) == ("s6", "error", None)
    failed = get(world, f"{ROOT}runs/{run.pk}/failures/")
    assert (failed["count"], failed["results"][0]["sample"], failed["results"][0]["detail"]) == (1, "s6", "zebra")


def test_what_one_still_has_to_label_is_held_back(world: World, judge: str) -> None:
    """Whatever the role: an admin may be an annotator too."""
    run = scored(world)
    world.batch(annotators=[world.alice], overlap=1, selection={"method": "list", "samples": ["s2", "s6"]})
    for url in (f"{ROOT}runs/{run.pk}/scores/", f"{judge}versions/1/scores/"):
        rows = get(world, url)["results"]
        assert [row["sample"] for row in rows if row["held_back"]] == ["s2", "s6"]
        assert {(row["number"], row["rationale"]) for row in rows if row["held_back"]} == {(None, None)}
        assert {row["number"] for row in rows if not row["held_back"]} == {0.8173625}
    text = json.dumps(get(world, f"{ROOT}runs/{run.pk}/failures/"))
    assert "s6" in text
    assert "zebra" not in text


def test_single_scores_are_for_admins(world: World, judge: str) -> None:
    run = scored(world)
    for who in ("rita", "ann"):
        client = client_of(getattr(world, who))
        for url in (f"{ROOT}runs/{run.pk}/scores/", f"{judge}versions/1/scores/", f"{ROOT}runs/{run.pk}/failures/"):
            assert client.get(url).status_code == 403
    assert "zebra" not in json.dumps(get(world, f"{ROOT}runs/{run.pk}/", who="rita"))


# Odd JSON

ODD = (
    None, True, 0, -1, 1.5, 10**30, 1e308, "", "x" * 5000, "NaN", "sNaN", [], [[None]], {}, {"": None},
)  # fmt: skip
MORE: dict[str, tuple[Any, ...]] = {
    "scope": (
        {"all": 1}, {"all": False}, {"all": True, "batch": 1}, {"batch": "1"}, {"batch": 10**30}, {"batch": True},
        {"samples": []}, {"samples": [1]}, {"samples": "s1"}, {"samples": ["nobody"]}, {"pipeline": []},
        {"pipeline": ""},
    ),
    "config": (
        {"measure": []}, {"measure": {"a": 1}}, {"measure": "token_overlap", "criterion": ["grade"]},
        {"measure": "token_overlap", "criterion": "grade", "unit": 3},
    ),
    "budget": ("1e999", "-1", "\u200b", "0x1", 1e-300),
}  # fmt: skip
GOOD: dict[str, dict[str, Any]] = {
    "judges/": {
        "name": "new", "kind": "lexical", "config": CONFIG, "endpoint": None, "description": "",
        "higher_is_better": True,
    },
    "judges/{judge}/versions/": {"config": CONFIG, "endpoint": None, "state": "kept", "based_on": None},
    "judges/{judge}/runs/": {
        "scope": {"all": True}, "version": 1, "repeats": 1, "again": False, "fresh": False, "budget": None,
    },
    "judges/{judge}/runs/estimate/": {"scope": {"all": True}, "version": 1, "repeats": 1, "again": False},
    "runs/{run}/resume/": {"budget": None},
}  # fmt: skip


@pytest.mark.parametrize(("route", "field"), [(route, field) for route, body in GOOD.items() for field in body])
def test_odd_values_are_refused_or_taken_but_never_a_fault(world: World, route: str, field: str) -> None:
    version = JudgeVersion.objects.get(judge__name="overlap")
    run = Run.objects.create(version=version, purpose="scores", state="paused", scope={"all": True})
    client, url = client_of(world.alice), ROOT + route.format(judge=version.judge_id, run=run.pk)
    for odd in (*ODD, *MORE.get(field, ())):
        reply = ask(client, "POST", url, {**GOOD[route], field: odd})
        assert reply.status_code in (200, 201, 202, 409, 422), (odd, reply.content)
        if reply.status_code > 400:
            assert reply.json()["error"]["message"], odd
    assert set(Judge.objects.values_list("kind", flat=True)) == {"lexical"}


def test_replies_are_what_the_schema_says(world: World, judge: str, schema: dict[str, Any]) -> None:
    run, number = scored(world), judge.split("/")[-2]
    Endpoint.objects.create(project=world.project, name="local", base_url="http://127.0.0.1:1/v1")
    desk = "/api/projects/{slug}/"

    def check(method: str, path: str, status: int, body: Any = None, query: str = "", who: str = "alice") -> None:
        url = path.format(slug="desk", judge_id=number, number=1, run_id=run.pk)
        reply = ask(client_of(getattr(world, who)), method, url + query, body)
        assert reply.status_code == status, reply.content
        said = schema["paths"][path][method.lower()]["responses"][str(status)]["content"]["application/json"]["schema"]
        assert problems(reply.json(), said, schema) == [], path

    check("POST", f"{desk}judges/", 201, {"name": "b", "kind": "lexical", "config": OTHER})
    check("POST", f"{desk}judges/", 409, {"name": "b", "kind": "lexical", "config": OTHER})
    check("POST", f"{desk}judges/", 422, {"name": "c", "kind": "lexical", "config": {}})
    check("GET", f"{desk}judges/", 200)
    check("GET", f"{desk}judge-kinds/", 200)
    check("POST", f"{desk}judges/{{judge_id}}/versions/", 201, {"config": OTHER})
    check("POST", f"{desk}judges/{{judge_id}}/versions/", 200, {"config": OTHER})
    check("GET", f"{desk}judges/{{judge_id}}/versions/", 200, who="rita")
    check("GET", f"{desk}judges/{{judge_id}}/versions/{{number}}/", 200)
    check("GET", f"{desk}judges/{{judge_id}}/versions/diff/", 200, query="?older=1&newer=2")
    check("POST", f"{desk}judges/{{judge_id}}/versions/{{number}}/drop/", 200, {})
    check("POST", f"{desk}judges/{{judge_id}}/versions/{{number}}/keep/", 409, {})
    check("POST", f"{desk}judges/{{judge_id}}/runs/estimate/", 200, {"scope": {"all": True}})
    check("POST", f"{desk}judges/{{judge_id}}/runs/", 202, {"scope": {"all": True}})
    check("POST", f"{desk}judges/{{judge_id}}/runs/", 422, {"scope": {}})
    check("GET", f"{desk}runs/", 200)
    check("GET", f"{desk}runs/{{run_id}}/", 200)
    check("POST", f"{desk}runs/{{run_id}}/cancel/", 409, {})
    for name in ("scores", "failures"):
        check("GET", f"{desk}runs/{{run_id}}/{name}/", 200)
    check("GET", f"{desk}judges/{{judge_id}}/versions/{{number}}/scores/", 200)
