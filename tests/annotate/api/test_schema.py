"""The OpenAPI schema: made without a warning, covers every route, and says what the replies really are."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

from annotate.batches.audits_make import make_audit
from annotate.models import User
from annotate.models.project import Scale
from tests.annotate.api.conftest import Both
from tests.annotate.api.routes import API
from tests.annotate.api.test_access import PUBLIC, ask
from tests.annotate.factories import make_sample
from tests.clients import client_of


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return SchemaGenerator().get_schema(request=None, public=True)


def test_it_is_made_without_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("spectacular", "--fail-on-warn", "--validate", "--file", "/dev/null")
    assert capsys.readouterr().err == ""


def test_it_covers_every_route_and_method(schema: dict[str, Any]) -> None:
    described = {
        (path, method.upper()) for path, item in schema["paths"].items() for method in item if method != "parameters"
    }
    names = {path.replace("{", "<").replace("}", ">") for path, _ in described}
    for route in API:
        if route.path in PUBLIC:
            continue
        path = route.url({name: f"{{{name}}}" for name in route.parameters})
        assert {(path, method) for method in route.methods} <= described, names


def operations(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, item in schema["paths"].items()
        for method, operation in item.items()
    ]


def test_every_operation_is_listed_under_a_subject(schema: dict[str, Any]) -> None:
    declared = [tag["name"] for tag in schema["tags"]]
    found = {name: operation["tags"] for name, operation in operations(schema)}
    assert {name for name, tags in found.items() if len(tags) != 1} == set()
    assert {tag for tags in found.values() for tag in tags} == set(declared)
    assert all(tag["description"] for tag in schema["tags"])
    assert found["POST /api/projects/{slug}/criteria/{key}/settle/"] == ["Criteria"]
    assert found["GET /api/projects/{slug}/criteria/{key}/agreement/"] == ["Agreement and alignment"]
    assert found["PUT /api/tasks/{task_id}/labels/"] == ["Work"]
    assert found["GET /api/projects/{slug}/"] == ["Projects"]


def test_every_operation_has_an_id_of_its_own_a_summary_and_a_description(schema: dict[str, Any]) -> None:
    found = operations(schema)
    ids = [operation["operationId"] for _, operation in found]
    assert sorted(ids) == sorted(set(ids))
    for name, operation in found:
        summary = operation["summary"]
        assert 0 < len(summary) <= 110, name
        assert summary[0].isupper(), name
        assert summary[-1] not in ".:,", name
        assert operation["description"] != summary, name
        assert len(operation["description"]) >= 20, name
        for parameter in operation.get("parameters", []):
            assert parameter["in"] == "path" or parameter.get("description"), (name, parameter["name"])
    titles = [(operation["tags"][0], operation["summary"]) for _, operation in found]
    assert len(titles) == len(set(titles))


def test_it_says_who_may(schema: dict[str, Any]) -> None:
    said = {name: operation["description"].splitlines()[-1] for name, operation in operations(schema)}
    assert said["GET /api/projects/{slug}/members/"] == "For admins of the project."
    assert said["GET /api/projects/{slug}/samples/"] == "For admins and reviewers of the project."
    assert said["GET /api/projects/{slug}/work/"] == "For every member of the project."


def test_the_document_explains_what_all_operations_share(schema: dict[str, Any]) -> None:
    for word in (
        "Authorization: Token", "X-CSRFToken", '{"error": {"code"', "?limit=", "If-Match", "Idempotency-Key",
    ):  # fmt: skip
        assert word in schema["info"]["description"], word


def test_every_operation_names_the_error_reply(schema: dict[str, Any]) -> None:
    for name, operation in operations(schema):
        assert {"401", "403", "404"} <= set(operation["responses"]), name
        asks = "requestBody" in operation or any(one["in"] == "query" for one in operation.get("parameters", []))
        assert asks <= ("422" in operation["responses"]), name


def test_a_status_that_a_description_names_is_among_the_replies(schema: dict[str, Any]) -> None:
    missing = [
        (name, status)
        for name, operation in operations(schema)
        for status in re.findall(r"\b(4\d\d)\b", operation["description"])
        if status not in operation["responses"]
    ]
    assert not missing


def test_an_import_that_fails_may_have_read_no_file(schema: dict[str, Any]) -> None:
    failed = schema["paths"]["/api/projects/{slug}/imports/"]["post"]["responses"]["422"]
    shape = failed["content"]["application/json"]["schema"]
    assert problems({"error": {"code": "bad_kind", "message": "Which kind?"}}, shape, schema) == []


def test_the_labelling_loop_is_described(schema: dict[str, Any]) -> None:
    put = schema["paths"]["/api/tasks/{task_id}/labels/"]["put"]
    assert {p["name"] for p in put["parameters"]} == {"task_id", "If-Match", "Idempotency-Key"}
    assert {"200", "409", "412", "422", "428"} <= set(put["responses"])
    saving = schema["components"]["schemas"]["LabelSavingRequest"]
    assert set(saving["required"]) == {"unit", "criterion", "value"}


def test_it_is_public_and_valid(both: Both, schema: dict[str, Any]) -> None:
    assert client_of(None).get("/api/schema/").status_code == 200
    validate_schema(schema)


def problems(value: Any, shape: dict[str, Any], schema: dict[str, Any], where: str = "") -> list[str]:
    """Where a reply is not what its schema says; a field that the schema doesn't name is a problem too."""
    if "$ref" in shape:
        shape = schema["components"]["schemas"][shape["$ref"].rpartition("/")[2]]
    if value is None:
        return [] if shape.get("nullable") else [f"{where} is null"]
    for part in shape.get("allOf", []):
        return problems(value, part, schema, where)
    if "oneOf" in shape:
        found = [problems(value, part, schema, where) for part in shape["oneOf"]]
        return [] if any(not one for one in found) else found[0]
    kind = shape.get("type")
    if kind == "array":
        listed = enumerate(value) if isinstance(value, list) else []
        inside = [p for n, item in listed for p in problems(item, shape["items"], schema, f"{where}[{n}]")]
        return inside if isinstance(value, list) else [f"{where} is no list"]
    if kind == "object":
        if not isinstance(value, dict):
            return [f"{where} is no object"]
        fields = shape.get("properties", {})
        if not fields:
            return []
        named = {**value} if "additionalProperties" in shape else fields
        unnamed = [f"{where}.{name} is not in the schema" for name in value if name not in named]
        missing = [f"{where}.{name} is missing" for name in shape.get("required", []) if name not in value]
        inside = [
            p
            for name in fields
            if name in value
            for p in problems(value[name], fields[name], schema, f"{where}.{name}")
        ]
        return unnamed + missing + inside
    types: dict[Any, Any] = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
    fits = isinstance(value, types.get(kind, object)) and (kind == "boolean" or not isinstance(value, bool))
    return [] if fits or kind is None else [f"{where} is no {kind}: {value!r}"]


def test_replies_are_what_the_schema_says(both: Both, schema: dict[str, Any]) -> None:
    world, own = both.world, both.own
    User.objects.filter(pk=world.alice.pk).update(is_staff=True)
    seen = set()

    def check(
        user: Any, method: str, path: str, body: Any = None, values: dict[str, Any] | None = None, **headers: str
    ) -> Any:
        url = path.format(**{**own, **(values or {})})
        reply = ask(client_of(user), method, url, body, **headers)
        operation = schema["paths"][path][method.lower()]
        assert str(reply.status_code) in operation["responses"], (method, path, reply.status_code, reply.content)
        content = operation["responses"][str(reply.status_code)].get("content")
        assert bool(content) == bool(reply.content), path
        if content:
            assert problems(reply.json(), content["application/json"]["schema"], schema) == [], path
        seen.add((path, method, reply.status_code))
        return reply

    desk = "/api/projects/{slug}/"
    check(world.alice, "POST", "/api/projects/", {"slug": "new", "name": "New", "criteria": ["support", "relevance"]})
    check(world.alice, "POST", "/api/projects/", {"slug": "new", "name": "New"})
    check(world.ann, "GET", "/api/projects/")
    check(world.ann, "GET", desk)
    check(world.alice, "PATCH", desk, {"name": "Other"})
    check(world.ann, "PATCH", desk, {"name": "Other"})
    check(world.charlie, "GET", desk)
    check(world.alice, "GET", desk + "criteria/")
    check(world.alice, "POST", desk + "criteria/", ["failure"])
    check(world.alice, "POST", desk + "criteria/{key}/settle/", {"needed": 1})
    check(world.rita, "GET", desk + "criteria/{key}/came/")
    check(world.alice, "PUT", desk + "criteria/{key}/came/", {"how": "all"})
    check(world.alice, "PUT", desk + "criteria/{key}/came/", {"how": "random"})
    check(world.alice, "GET", desk + "members/")
    check(world.alice, "PUT", desk + "members/{username}/", {"role": "reviewer"})
    check(world.alice, "DELETE", desk + "members/{username}/", values={"username": "chen"})
    check(world.alice, "DELETE", desk + "members/{username}/", values={"username": "alice"})
    check(world.alice, "GET", desk + "samples/")
    check(world.alice, "GET", desk + "samples/{sample_id}/")
    check(world.alice, "GET", desk + "samples/{sample_id}/claims/")
    claims = {"sample_id": make_sample(world.project, 50).pk}
    drop = {"op": "drop", "claim": 0}
    check(world.rita, "PATCH", desk + "samples/{sample_id}/claims/", drop, values=claims)
    check(world.rita, "PATCH", desk + "samples/{sample_id}/claims/", drop, values=claims, **{"If-Match": "1"})
    check(world.rita, "PATCH", desk + "samples/{sample_id}/claims/", {"op": "x"}, values=claims, **{"If-Match": "2"})
    check(world.alice, "PATCH", desk + "samples/{sample_id}/claims/", drop, values=claims, **{"If-Match": "1"})
    check(world.rita, "PATCH", desk + "samples/{sample_id}/claims/", drop, **{"If-Match": "1"})
    check(world.alice, "GET", desk + "samples/{sample_id}/claims/", values=claims)
    check(world.alice, "GET", desk + "batches/")
    made = {
        "name": "B",
        "criteria": ["grade"],
        "annotators": ["ann"],
        "overlap": 1,
        "selection": {"method": "random", "n": 1},
    }
    number = check(world.alice, "POST", desk + "batches/", made).json()["number"]
    for step in ("open", "open", "adjudicate", "close"):
        check(world.alice, "POST", desk + "batches/{number}/{step}/", values={"number": number, "step": step})
    check(world.alice, "GET", desk + "batches/{number}/")
    check(world.alice, "DELETE", desk + "batches/{number}/", values={"number": number})
    audited = {"name": "A", "criteria": ["grade"], "annotators": ["ann"], "overlap": 1, "samples": 5}
    schedules = desk + "audit-schedules/"
    schedule = {"schedule_id": check(world.alice, "POST", schedules, audited).json()["id"]}
    make_audit(schedule["schedule_id"], today=timezone.localdate() + timedelta(days=7))
    check(world.alice, "POST", schedules, {**audited, "weeks": 3})
    check(world.rita, "GET", schedules)
    check(world.rita, "POST", schedules, audited)
    check(world.rita, "GET", schedules + "{schedule_id}/", values=schedule)
    change = {"status": "paused", "samples": 6}
    check(world.alice, "PATCH", schedules + "{schedule_id}/", change, values=schedule)
    check(world.alice, "DELETE", schedules + "{schedule_id}/", values=schedule)
    check(world.alice, "PATCH", schedules + "{schedule_id}/", change, values=schedule)
    check(world.rita, "GET", desk + "disputes/")
    check(world.rita, "GET", desk + "disputes/{verdict_id}/")
    decision = {"value": 3, "reason": "So."}
    check(world.rita, "PUT", desk + "disputes/{verdict_id}/", decision)
    check(world.rita, "PUT", desk + "disputes/{verdict_id}/", decision, **{"If-Match": "9"})
    check(world.rita, "PUT", desk + "disputes/{verdict_id}/", decision, **{"If-Match": "1"})
    check(world.rita, "POST", desk + "disputes/{verdict_id}/approve/", {})
    check(world.rita, "POST", desk + "disputes/{verdict_id}/approve/", {}, **{"If-Match": "9"})
    check(world.rita, "POST", desk + "disputes/{verdict_id}/approve/", {}, **{"If-Match": "2"})
    check(world.rita, "GET", desk + "judges/")
    check(world.rita, "GET", desk + "judges/{judge_id}/")
    check(world.alice, "PATCH", desk + "judges/{judge_id}/", {"higher_is_better": False})
    check(world.alice, "PATCH", desk + "judges/{judge_id}/", {"higher_is_better": "no"})
    check(world.rita, "PATCH", desk + "judges/{judge_id}/", {"higher_is_better": False})
    trials = desk + "judges/{judge_id}/trials/"
    check(world.alice, "GET", trials)
    check(world.alice, "POST", trials, {"config": {}, "criterion": "grade"})
    check(world.rita, "POST", trials, {"config": {}, "criterion": "grade"})
    check(world.alice, "GET", trials + "{trial_id}/")
    check(world.alice, "POST", trials + "{trial_id}/keep/")
    check(world.alice, "POST", trials + "{trial_id}/drop/")
    mistakes = desk + "judges/{judge_id}/mistakes/{key}/"
    check(world.rita, "GET", mistakes)
    check(world.rita, "POST", mistakes, {})
    check(world.rita, "POST", mistakes, {"dimension": 7})
    alignments = desk + "judges/{judge_id}/alignments/"
    check(world.alice, "GET", alignments)
    check(world.alice, "POST", alignments, {"criterion": "grade"})
    check(world.rita, "POST", alignments, {"criterion": "grade"})
    check(world.alice, "POST", alignments + "estimate/", {"criterion": "grade", "search": 7})
    check(world.alice, "GET", alignments + "{alignment_id}/")
    check(world.alice, "PATCH", alignments + "{alignment_id}/rules/{rule_id}/", {"state": "accepted", "text": "Yes."})
    check(world.alice, "PATCH", alignments + "{alignment_id}/rules/{rule_id}/", {"state": "kept"})
    check(world.alice, "POST", alignments + "{alignment_id}/try/", {})
    check(world.alice, "POST", alignments + "{alignment_id}/resume/", {})
    check(world.alice, "POST", alignments + "{alignment_id}/pause/")
    check(world.alice, "POST", alignments + "{alignment_id}/cancel/")
    cascades = desk + "cascades/"
    check(world.rita, "GET", cascades)
    check(world.alice, "POST", cascades, {"criterion": "grade", "cheap": "nobody", "dear": "none"})
    check(world.alice, "POST", cascades + "{look_id}/judge/", {"agreement": 0.9, "name": "both"})
    check(world.ann, "GET", cascades)
    check(world.ann, "GET", desk + "work/")
    task = "/api/tasks/{task_id}/"
    key = {"Idempotency-Key": "5f0c1fb0-0d63-4f0a-9a55-2f1f0ad1e5f1"}
    label = {"unit": "answer", "criterion": "grade", "value": 2, "comment": "c"}
    check(world.ann, "PUT", task + "labels/", label, **key)
    check(world.ann, "PUT", task + "labels/", label, **key, **{"If-Match": "7"})
    check(world.ann, "PUT", task + "labels/", {**label, "value": 9}, **key, **{"If-Match": "0"})
    check(world.ann, "PUT", task + "labels/", label, **key, **{"If-Match": "0"})
    check(world.ann, "GET", task)
    check(world.ann, "POST", task + "submit/")
    check(world.ann, "POST", task + "skip/", {"reason": "No."})
    check(world.ann, "POST", task + "submit/")
    check(world.ann, "GET", desk + "work/")
    token = check(world.ann, "POST", "/api/tokens/").json()["token"]
    check(world.ann, "POST", task + "reopen/")
    check(world.ann, "PUT", task + "labels/", {**label, "value": None, "cant_tell": "No idea."}, **key)
    check(world.ann, "POST", task + "flag/", {"reason": "Cut off."})
    check(world.ann, "POST", task + "flag/", {"reason": ""})
    check(world.ann, "POST", desk + "work/", {"exclude": []})
    check(world.ann, "POST", task + "threads/", {"text": "Of what?"}, **key)
    check(world.ann, "POST", task + "threads/", {"text": ""}, **key)
    other = {"Idempotency-Key": "5f0c1fb0-0d63-4f0a-9a55-2f1f0ad1e5f2"}
    thread = desk + "threads/{thread_id}/"
    check(world.rita, "GET", desk + "threads/")
    check(world.rita, "POST", thread + "messages/", {"text": "Of that."}, **other)
    check(world.ann, "GET", task)
    check(world.ann, "POST", thread + "read/", {"number": 2})
    check(world.ann, "POST", thread + "read/", {"number": 99})
    check(world.ann, "POST", thread + "close/")
    check(world.rita, "POST", thread + "messages/", {"text": "Of that."}, **key)
    check(world.rita, "POST", thread + "reopen/")
    check(world.rita, "GET", desk + "flags/")
    check(world.alice, "POST", desk + "flags/{flag_id}/resolve/", {"resolution": "Seen."})
    check(world.alice, "POST", desk + "flags/{flag_id}/resolve/", {"resolution": "Otherwise."})
    check(world.alice, "GET", desk + "flags/")
    check(world.ann, "GET", "/api/me/")
    check(world.ann, "PATCH", "/api/me/", {"preferences": {"view": "all", "hotkeys": {"skip": "w"}}})
    check(world.ann, "PATCH", "/api/me/", {"preferences": {"hotkeys": {"skip": "n"}}})
    check(world.ann, "GET", "/api/tokens/")
    check(world.ann, "DELETE", "/api/tokens/{token_id}/", values={"token_id": token[:15]})
    assert len(seen) > 35


def test_every_scale_is_named(schema: dict[str, Any]) -> None:
    said = schema["components"]["schemas"]["Criterion"]["properties"]["scale"]["description"]
    for scale in Scale.values:
        assert scale in said
