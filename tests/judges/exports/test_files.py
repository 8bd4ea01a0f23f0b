"""The exported file makes the same judge again; who may have it; and what isn't in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotate.core.errors import Invalid
from judges.exports.files import as_file
from judges.models import JudgeVersion
from judges.versions.specs import judge_from_spec
from tests.annotate.factories import World, make_samples, make_world
from tests.clients import as_user, client_of
from tests.judges.runs.building import endpoint_at, llm_judge
from tests.openai_server import OpenAIServer

KEY = "sk-never-told-to-anybody"


@pytest.fixture
def world(db: None, openai_server: OpenAIServer) -> World:
    world = make_world()
    endpoint_at(world, openai_server, "main", key_source="environment", key_variable="JUDGE_KEY_MAIN")
    make_samples(world.project, 2)
    return world


def url(version: JudgeVersion, to: str) -> str:
    return f"/api/projects/desk/judges/{version.judge_id}/versions/{version.number}/export/?to={to}"


def test_the_file_makes_the_same_judge_again(world: World) -> None:
    version = llm_judge(world)
    told = json.loads(json.dumps(as_file(version)))
    assert (told["format"], told["format_version"], told["certificates"]) == ("touchstone-judge", 1, [])
    assert told["identity"]["hash"] == version.content_hash
    made = judge_from_spec(project=world.project, spec={**told, "name": "A copy"})
    assert made.is_new_judge
    assert made.version.content_hash == version.content_hash
    with pytest.raises(Invalid, match="format"):
        judge_from_spec(project=world.project, spec={**told, "format_version": 2})


def test_who_may_have_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY_MAIN", KEY)
    version = llm_judge(world)
    for to in ("json", "ragas", "deepeval", "mlflow"):
        for person, status in ((world.alice, 200), (world.rita, 200), (world.ann, 403)):
            reply = client_of(person).get(url(version, to))
            assert reply.status_code == status, (to, person)
            address = f"/p/desk/judges/{version.judge_id}/versions/{version.number}/export/?to={to}"
            page = as_user(person).get(address)
            assert (page.status_code, page.content == reply.content) == (status, status == 200)
            if status == 200:
                assert "attachment; filename=" in page["Content-Disposition"]
                assert KEY not in page.content.decode()
                assert "JUDGE_KEY_MAIN" not in page.content.decode()
                assert "127.0.0.1" not in page.content.decode()
    assert client_of(world.alice).get(url(version, "excel")).status_code == 422


def test_examples_are_for_those_who_may_know_them(world: World) -> None:
    version = llm_judge(world)
    sample = world.project.samples.order_by("pk").first()
    assert sample is not None
    drawn: list[dict[str, Any]] = [
        {"sample": sample.external_id, "unit": "claim:0", "value": "yes", "shows": {"claim": "zebra"}}
    ]
    examples = {**version.config["examples"], "count": 1, "drawn": drawn}
    JudgeVersion.objects.filter(pk=version.pk).update(config={**version.config, "examples": examples})
    for to in ("json", "ragas"):
        assert b"zebra" in client_of(world.alice).get(url(version, to)).content
        refused = client_of(world.rita).get(url(version, to))
        assert (refused.status_code, b"zebra" in refused.content) == (403, False)
    assert "export/" not in as_user(world.rita).get(f"/p/desk/judges/{version.judge_id}/").content.decode()


def test_what_has_no_such_file(world: World) -> None:
    version = llm_judge(world, template="all_claims")
    assert client_of(world.alice).get(url(version, "json")).status_code == 200
    assert client_of(world.alice).get(url(version, "mlflow")).status_code == 409
    page = as_user(world.alice).get(f"/p/desk/judges/{version.judge_id}/").content.decode()
    assert "export/?to=json" in page
    assert "export/?to=mlflow" not in page


def test_why_there_is_no_file_stands_on_the_versions_page(world: World) -> None:
    version = llm_judge(world)
    options = [*version.config["options"], {**version.config["options"][0], "value": "perhaps"}]
    JudgeVersion.objects.filter(pk=version.pk).update(config={**version.config, "options": options})
    address = f"/p/desk/judges/{version.judge_id}/"
    page = as_user(world.alice).get(f"{address}versions/{version.number}/export/?to=ragas", follow=True)
    assert page.redirect_chain == [(f"{address}?version={version.number}", 302)]
    assert "no longer has all options" in page.content.decode()
    # A link with `download` would save this page in place of the file.
    assert "download" not in next(line for line in page.content.decode().splitlines() if "export/?to=ragas" in line)
