"""Making a judge, from a template or a file, and editing one."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.models import Project, User
from judges.models import Endpoint, Judge, JudgeKind
from judges.versions.write import create_judge
from tests.clients import as_user
from tests.frontend.building import ADMINS_READ, WhoMay

NEW = "/p/help/judges/new/"
OVERLAP = {"measure": "token_overlap", "criterion": "support"}


def sent_by(reply: Any, **changes: str) -> dict[str, Any]:
    """What the page would send as it stands, with these changes."""
    sent = {}
    for form in (reply.context["form"], reply.context["config"]):
        for field in form:
            value = field.value()
            if value is not None and value != "" and value is not False:
                sent[field.html_name] = "on" if value is True else value
    return sent | changes


@pytest.fixture
def endpoint(project: Project) -> Endpoint:
    return Endpoint.objects.create(project=project, name="house", base_url="http://127.0.0.1:1/v1")


@pytest.fixture
def judge(project: Project, alice: User) -> Judge:
    return create_judge(project=project, name="Words", kind="lexical", config=OVERLAP, actor=alice)


def test_every_template_opens_and_is_named_once(alice: User, project: Project) -> None:
    client = as_user(alice)
    groups = client.get(NEW).context["groups"]
    keys = [start.key for group in groups for start in group.starts]
    assert len(keys) == len(set(keys))
    for key in keys:
        reply = client.get(f"{NEW}{key}/")
        assert reply.status_code == 200, key
        asks = key.startswith(("llm", "ragas")) or key == "embedding-endpoint"
        assert reply.context["config"].endpoint_is_asked == asks, key
    assert client.get(f"{NEW}no-such-thing/").status_code == 404


def test_a_lexical_judge_as_the_page_offers_it(alice: User, project: Project) -> None:
    client = as_user(alice)
    for key in ("token-overlap", "rouge-l", "citation", "bm25", "tf-idf"):
        at = f"{NEW}lexical-{key}/"
        reply = client.post(at, sent_by(client.get(at)), follow=True)
        made = Judge.objects.get(name=key)
        assert (made.kind, made.higher_is_better) == (JudgeKind.LEXICAL, True)
        assert f"“{key}” created" in reply.content.decode()
    assert made.versions.get().config["measure"] == "tf_idf"
    assert made.versions.get().created_by == alice


def test_options_reach_the_configuration(alice: User, project: Project) -> None:
    client, at = as_user(alice), f"{NEW}lexical-token-overlap/"
    changes = {"name": "Own", "config-criterion": "", "config-dimension": "shared", "config-unit": "answer"}
    changes |= {"config-against": "reference", "config-share": "f1", "description": "By words."}
    client.post(at, sent_by(client.get(at), **changes))
    made = Judge.objects.get(name="Own")
    config = made.versions.get().config
    assert (config["dimension"], config["unit"], config["criterion"]) == ("shared", "answer", None)
    assert (config["against"], config["share"], made.description) == ("reference", "f1", "By words.")


@pytest.mark.parametrize(
    ("start", "changes", "field"),
    [
        ("lexical-token-overlap", {"name": ""}, "name"),
        ("lexical-token-overlap", {"name": "Words"}, "name"),
        ("lexical-token-overlap", {"config-criterion": "", "config-dimension": ""}, "config-dimension"),
        ("lexical-token-overlap", {"config-criterion": "", "config-dimension": "support"}, "config-dimension"),
        ("lexical-token-overlap", {"config-criterion": "nothing"}, "config-criterion"),
        ("lexical-bm25", {"config-b": "7"}, "config-b"),
        ("lexical-bm25", {"config-k1": "much"}, "config-k1"),
        (
            "lexical-key-fact",
            {"config-criterion": "", "config-dimension": "f", "config-similar": "2"},
            "config-similar",
        ),
    ],
)
def test_what_is_wrong_is_said_at_its_field(
    start: str, changes: dict[str, str], field: str, alice: User, judge: Judge
) -> None:
    client = as_user(alice)
    reply = client.post(f"{NEW}{start}/", sent_by(client.get(f"{NEW}{start}/"), **changes))
    assert reply.status_code in (409, 422)
    forms = (reply.context["form"], reply.context["config"])
    assert [bound.html_name for form in forms for bound in form if bound.errors] == [field]
    assert not any(form.non_field_errors() for form in forms)
    assert Judge.objects.count() == 1


def test_an_llm_judge_from_each_template(alice: User, endpoint: Endpoint) -> None:
    client = as_user(alice)
    keys = [start.key for group in client.get(NEW).context["groups"] for start in group.starts if group.kind == "llm"]
    for key in keys:
        at = f"{NEW}{key}/"
        needed = {"config-requirements": "Says when.\n2: Is polite."} if key == "llm-rubric" else {}
        reply = client.post(at, sent_by(client.get(at), **{"config-model": "small", **needed}))
        assert reply.status_code == 302, (key, reply.context["form"].errors, reply.context["config"].errors)
    made = {judge.name: judge.versions.get() for judge in Judge.objects.all()}
    assert {version.endpoint for version in made.values()} == {endpoint}
    assert made["claim-support"].config["criterion"] == "support"
    assert (made["claim-support"].config["per"], made["all-claims"].config["per"]) == ("unit", "sample")
    assert (made["correctness"].config["dimension"], made["correctness"].config["max"]) == ("correctness", 10)
    wanted = [{"text": "Says when.", "weight": 1.0}, {"text": "Is polite.", "weight": 2.0}]
    assert made["rubric"].config["requirements"] == wanted


def test_the_options_of_an_llm_judge(alice: User, endpoint: Endpoint) -> None:
    client, at = as_user(alice), f"{NEW}llm-claim-support/"
    page = client.get(at)
    assert "{{claim}}" in [variable["text"] for variable in page.context["config"].variables]
    assert 'data-insert="{{claim}}"' in page.content.decode()
    changes = {"config-model": "large", "config-answer_with": "number", "config-low": "0", "config-high": "10"}
    changes |= {"config-whole": "true", "config-temperature": "", "config-seed": "7", "config-max_tokens": "99"}
    changes |= {"config-confidence": "logprobs"}
    # Two boxes are unticked.
    sent = sent_by(page, **changes)
    sent = {name: value for name, value in sent.items() if name not in ("config-rationale", "config-structured")}
    client.post(at, sent | {"config-prompt": "Judge {{claim}}.\r\nNow."})
    made = Judge.objects.get(name="claim-support")
    config = made.versions.get().config
    wanted = {"model": "large", "answer_with": "number", "min": 0, "max": 10, "whole": True, "temperature": None}
    wanted |= {
        "confidence": "logprobs",
        "seed": 7,
        "max_tokens": 99,
        "rationale": False,
        "structured": False,
        "prompt": "Judge {{claim}}.\nNow.",
    }
    assert {name: config[name] for name in wanted} == wanted

    edit = f"/p/help/judges/{made.pk}/edit/"
    same = client.post(edit, sent_by(client.get(edit)), follow=True)
    assert "No changes from version" in same.content.decode(), "what the form shows is what the version has"
    client.post(edit, sent_by(client.get(edit), **{"config-prompt": "Judge {{claim}}.\nSoon."}))
    text = client.get(f"/p/help/judges/{made.pk}/diff/").content.decode()
    ruled = {"config-prompt": "Judge {{claim}}.\r\n{{rules}}", "config-rules": "Dates count.\r\n\r\n Names too. "}
    client.post(edit, sent_by(client.get(edit), **ruled))
    assert made.versions.latest("number").config["rules"] == ["Dates count.", "Names too."]
    assert "No changes from version" in client.post(edit, sent_by(client.get(edit)), follow=True).content.decode()
    assert "Dates count.\nNames too." in client.get(f"/p/help/judges/{made.pk}/").content.decode()
    for sign, word in (("removed:", "Now"), ("new:", "Soon")):
        assert f"{sign} </span><bdi><mark>{word}</mark>.</bdi>" in text


@pytest.mark.parametrize(
    ("start", "changes", "field"),
    [
        ("claim-support", {}, "config-model"),
        ("claim-support", {"config-model": "m", "config-prompt": "Judge {{claims.__class__}}"}, "config-prompt"),
        ("claim-support", {"config-model": "m", "config-prompt": "Judge it."}, "config-prompt"),
        ("claim-support", {"config-model": "m", "config-temperature": "9"}, "config-temperature"),
        ("claim-support", {"config-model": "m", "config-examples": "3"}, "config-examples"),
        ("claim-support", {"config-model": "m", "config-low": "0"}, "config-low"),
        ("claim-support", {"config-model": "m", "config-endpoint": "elsewhere"}, "config-endpoint"),
        ("rubric", {"config-model": "m"}, "config-requirements"),
        ("rubric", {"config-model": "m", "config-requirements": "2: "}, "config-requirements"),
    ],
)
def test_what_is_wrong_with_an_llm_judge(
    start: str, changes: dict[str, str], field: str, alice: User, endpoint: Endpoint
) -> None:
    client, at = as_user(alice), f"{NEW}llm-{start}/"
    reply = client.post(at, sent_by(client.get(at), **changes))
    assert reply.status_code == 422
    config = reply.context["config"]
    assert ([bound.html_name for bound in config if bound.errors], config.non_field_errors()) == ([field], [])


def test_without_an_endpoint_it_says_so(alice: User, project: Project) -> None:
    client = as_user(alice)
    groups = {group.kind: group for group in client.get(NEW).context["groups"]}
    assert (bool(groups["llm"].missing), groups["lexical"].missing) == (True, "")
    assert "no endpoints yet" in client.get(f"{NEW}llm-claim-support/").content.decode()


def test_a_composite_of_two(alice: User, judge: Judge) -> None:
    client, at = as_user(alice), f"{NEW}composite/"
    create_judge(project=judge.project, name="Runs", kind="lexical", config={**OVERLAP, "measure": "rouge_l"})
    page = client.get(at)
    members = {name: key for key, name in page.context["config"].rows[0].fields["member"].choices}
    words, runs = members["Words (1): Support, Claim"], members["Runs (1): Support, Claim"]
    rows = {f"config-member-{n}-{name}": "" for n in range(4) for name in ("member", "weight", "low", "high")}
    rows |= {"config-member-TOTAL_FORMS": "4", "config-member-INITIAL_FORMS": "4", "config-per": "unit"}
    rows |= {"config-member-0-member": words, "config-member-0-weight": "2", "config-member-2-member": runs}
    sent = sent_by(page, **rows) | {"config-criterion": "support", "config-dimension": ""}
    reply = client.post(at, sent)
    assert reply.context["config"].rows[2].errors.keys() == {"weight"}, "the row that lacks one"
    sent |= {"config-member-2-weight": "1", "config-member-2-flipped": "on"}
    assert client.post(at, sent).context["config"].rows[2].errors.keys() == {"low"}
    client.post(at, sent | {"config-member-2-low": "0", "config-member-2-high": "1"})
    made = Judge.objects.get(kind="composite")
    kept = made.versions.get().config["members"]
    assert [(one["judge"], one["weight"], one["direction"]) for one in kept] == [
        ("Words", 2, "as_is"),
        ("Runs", 1, "flipped"),
    ]
    edit = client.get(f"/p/help/judges/{made.pk}/edit/").context["config"]
    assert [row["member"].value() for row in edit.rows][:2] == [words, runs]
    assert edit.rows[1]["high"].value() == 1


def test_an_ensemble_that_has_nothing_to_learn_from(alice: User, judge: Judge) -> None:
    client, at = as_user(alice), f"{NEW}ensemble/"
    create_judge(project=judge.project, name="Runs", kind="lexical", config={**OVERLAP, "measure": "rouge_l"})
    page = client.get(at)
    chosen = [key for key, name in page.context["config"].fields["members"].choices if "support" in name]
    reply = client.post(at, {"name": "e", "config-criterion": "support", "config-members": chosen})
    assert reply.status_code == 422
    assert reply.context["config"].errors.keys() == {"members"}


def test_embeddings_of_an_endpoint(alice: User, endpoint: Endpoint) -> None:
    client, at = as_user(alice), f"{NEW}embedding-endpoint/"
    client.post(at, sent_by(client.get(at), **{"config-model": "bag", "config-contexts": "mean"}))
    version = Judge.objects.get(kind="embedding").versions.get()
    assert (version.endpoint, version.config["model"], version.config["contexts"]) == (endpoint, "bag", "mean")
    edit = f"/p/help/judges/{version.judge_id}/edit/"
    assert "No changes from version" in client.post(edit, sent_by(client.get(edit)), follow=True).content.decode()


def test_what_needs_more_than_is_here_says_so(alice: User, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judges.kinds.ragas.installed_version", lambda: None)
    client = as_user(alice)
    groups = {group.kind: group for group in client.get(NEW).context["groups"]}
    assert "WITH=ragas" in groups["ragas"].missing
    assert groups["nli"].missing
    assert not groups["embedding"].missing
    at = f"{NEW}ragas-context-precision/"
    refused = client.post(at, sent_by(client.get(at), **{"config-model": "small", "config-against": "answer"}))
    assert "WITH=ragas" in str(refused.context["config"].non_field_errors())
    likeness = client.get(f"{NEW}ragas-answer-relevancy/").context["config"]
    assert likeness.fields["embedding_model"].required
    for start in ("nli", "embedding-folder"):
        reply = client.post(f"{NEW}{start}/", sent_by(client.get(f"{NEW}{start}/")))
        assert list(reply.context["config"].errors) == ["folder"], start


def upload(spec: Any) -> dict[str, SimpleUploadedFile]:
    content = spec if isinstance(spec, bytes) else json.dumps(spec).encode()
    return {"file": SimpleUploadedFile("judge.json", content)}


def test_from_a_file_as_another_page_gives_it(alice: User, judge: Judge) -> None:
    client = as_user(alice)
    spec = client.get(f"/p/help/judges/{judge.pk}/versions/1/export/").json()
    reply = client.post(NEW, upload({**spec, "name": "Copied"}))
    copied = Judge.objects.get(name="Copied")
    assert reply.url == f"/p/help/judges/{copied.pk}/"
    assert copied.versions.get().content_hash == judge.versions.get().content_hash
    again = client.post(NEW, upload({**spec, "name": "Copied"}), follow=True)
    assert "No changes from version 1" in again.content.decode()
    client.post(NEW, upload({**spec, "name": "Copied", "config": {**OVERLAP, "share": "f1"}}))
    assert copied.versions.count() == 2


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (b"{", "can’t be read"),
        ([], "Must be an object"),
        ({"kind": "lexical", "config": OVERLAP}, "name"),
        ({"name": "A", "kind": "lexical", "config": {**OVERLAP, "measure": "guess"}}, "config.measure"),
        ({"name": "A", "kind": "oracle", "config": {}}, "can’t be run here"),
        ({"name": "A", "kind": "lexical", "config": OVERLAP, "secret": 1}, "secret"),
        ({"name": "Words", "kind": "composite", "config": OVERLAP}, "Words"),
    ],
)
def test_a_bad_file_says_why(spec: Any, said: str, alice: User, judge: Judge) -> None:
    reply = as_user(alice).post(NEW, upload(spec))
    assert reply.status_code in (409, 422)
    assert said in reply.content.decode()
    assert Judge.objects.count() == 1


def test_editing_makes_the_next_version(alice: User, judge: Judge) -> None:
    client, at = as_user(alice), f"/p/help/judges/{judge.pk}/edit/"
    reply = client.post(at, sent_by(client.get(at), **{"config-contexts": "best"}), follow=True)
    assert "Saved as version 2" in reply.content.decode()
    first, second = judge.versions.order_by("number")
    assert (second.config["contexts"], second.state, second.based_on) == ("best", "kept", first)
    assert client.get(at).context["standing"] == second
    assert client.get(f"{at}?version=1").context["standing"] == first

    reply = client.post(at, sent_by(client.get(at), **{"config-share": "f1", "state": "trial"}))
    assert judge.versions.get(number=3).state == "trial"
    same = client.post(at, sent_by(client.get(at)), follow=True)
    assert "No changes from version 2" in same.content.decode()
    assert judge.versions.count() == 3


def test_a_bad_edit_keeps_what_was_typed(alice: User, judge: Judge) -> None:
    client, at = as_user(alice), f"/p/help/judges/{judge.pk}/edit/"
    changes = {"config-criterion": "", "config-dimension": "support", "config-share": "f1"}
    reply = client.post(at, sent_by(client.get(at), **changes))
    assert reply.status_code == 422
    assert reply.context["config"]["dimension"].errors
    assert reply.context["config"]["share"].value() == "f1"
    assert reply.context["config"].opens_rare(), "what was typed is seen"
    assert judge.versions.count() == 1


def test_who_may_make_one(judge: Judge, who_may: WhoMay) -> None:
    assert who_may(f"{NEW}lexical-bm25/") == ADMINS_READ
    for path in (NEW, f"{NEW}lexical-bm25/", f"/p/help/judges/{judge.pk}/edit/"):
        assert who_may(path, "post") == {**ADMINS_READ, "admin": 422}, path
