import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Batch, Project, User
from annotate.projects.criteria import add_criteria
from annotate.projects.read import one_criterion
from tests.clients import as_user


def form(rows: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    sent = {"key": "tone", "unit": "answer", "scale": "ordinal", "prompt": "How is the tone?", "required": "on"}
    sent |= {"option-TOTAL_FORMS": len(rows), "option-INITIAL_FORMS": 0, "option-MAX_NUM_FORMS": 50, **fields}
    return sent | {f"option-{n}-{name}": value for n, row in enumerate(rows) for name, value in row.items()}


ROWS = [
    {"value": "1", "label": "Rude", "help": "Hurts."},
    {"value": "2", "label": "Kind", "hotkey": "d", "passes": "on"},
    {"value": ""},
]


def test_makes_a_criterion_from_the_form(alice: User, project: Project) -> None:
    assert as_user(alice).post("/p/help/criteria/new/", form(ROWS)).url == "/p/help/criteria/"
    made = one_criterion(project, "tone")
    assert made.options == [
        {"value": 1, "label": "Rude", "help": "Hurts."},
        {"value": 2, "label": "Kind", "hotkey": "d"},
    ]
    assert made.passes == [2]
    assert made.name == "Tone"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (ROWS[:1], "between 2 and 50 options"),
        ([ROWS[0], ROWS[0]], "given twice"),
        ([ROWS[0], {"label": "No value"}], "Enter a value for this option"),
        ([ROWS[0], {**ROWS[1], "hotkey": "n"}], "already has a meaning"),
    ],
)
def test_a_bad_form_says_why_and_keeps_what_was_typed(
    rows: list[dict[str, Any]], said: str, alice: User, project: Project
) -> None:
    reply = as_user(alice).post("/p/help/criteria/new/", form(rows))
    assert reply.status_code == 422
    text = reply.content.decode()
    assert said in text
    assert "How is the tone?" in text
    assert 'value="Rude"' in text
    assert not project.criteria.filter(key="tone").exists()


def test_saving_unchanged_changes_nothing(alice: User, project: Project) -> None:
    """Also the types of values: texts that look like numbers stay texts."""
    spec = {
        "key": "odd",
        "unit": "answer",
        "scale": "nominal",
        "prompt": "Odd?",
        "options": [{"value": "1", "label": "One"}, {"value": "2", "label": "Two"}],
        "pass": ["2"],
    }
    before = add_criteria(project=project, specs=[spec])[0]
    rows = [{"value": "1", "label": "One"}, {"value": "2", "label": "Two", "passes": "on"}]
    sent = form(rows, scale="nominal", prompt="Odd?", name="Odd")
    as_user(alice).post("/p/help/criteria/edit/odd/", sent)
    after = one_criterion(project, "odd")
    assert (after.pk, after.options, after.passes) == (before.pk, before.options, before.passes)


def test_editing_one_in_use_makes_the_next_version(alice: User, batch: Batch, project: Project) -> None:
    client = as_user(alice)
    assert 'value="supported"' in client.get("/p/help/criteria/edit/support/").content.decode()
    rows = [{"value": "yes", "label": "Yes", "passes": "on"}, {"value": "no", "label": "No"}]
    client.post("/p/help/criteria/edit/support/", form(rows, scale="nominal", unit="claim"))
    assert one_criterion(project, "support").version == 2
    assert batch.criteria.get(key="support").version == 1


def test_adds_built_in_ones(alice: User, project: Project) -> None:
    client = as_user(alice)
    offered = client.get("/p/help/criteria/add/").content.decode()
    assert 'value="failure"' in offered
    assert 'value="support"' not in offered
    client.post("/p/help/criteria/add/", {"criteria": ["failure", "relevancy"]})
    assert project.criteria.filter(is_current=True).count() == 4


def test_adds_from_a_file(alice: User, project: Project) -> None:
    spec = {"key": "length", "unit": "answer", "scale": "interval", "prompt": "How long?"}
    bad = ("[1", '[{"key": 1}]', '[{"key": "a", "key": "b"}]')
    for content, status in ((json.dumps([spec]), 302), (json.dumps(spec), 302), *((text, 422) for text in bad)):
        file = SimpleUploadedFile("criteria.json", content.encode())
        reply = as_user(alice).post("/p/help/criteria/add/", {"file": file, "from_file": "1"})
        assert reply.status_code == status, content
    assert one_criterion(project, "length").scale == "interval"


def test_an_annotator_reads_and_finds_no_buttons(ben: User, project: Project) -> None:
    text = as_user(ben).get("/p/help/criteria/").content.decode()
    assert "Do the contexts support this claim?" in text
    assert "criteria/new" not in text
    assert "criteria/edit" not in text


def test_the_number_of_queries_does_not_grow(alice: User, project: Project) -> None:
    client = as_user(alice)
    client.get("/p/help/criteria/")
    with CaptureQueriesContext(connection) as few:
        client.get("/p/help/criteria/")
    add_criteria(project=project, specs=["failure", "relevancy", "correct", "evidence"])
    with CaptureQueriesContext(connection) as many:
        client.get("/p/help/criteria/")
    assert len(many) == len(few)


def test_what_a_judge_must_show_is_declared_on_the_criterions_page(alice: User, ben: User, project: Project) -> None:
    url = "/p/help/criteria/versions/support/"
    text = as_user(alice).get(url).content.decode()
    assert "On the test set: kappa with annotators of at least 0.4." in text
    assert "These are the defaults" in text
    assert "Requirements for judges" not in as_user(ben).get(url).content.decode()
    sent = {"measure": "kappa_less_people", "bar": "-0.05", "risk": "0.05", "coverage": "0.95"}
    assert as_user(ben).post(url, sent).status_code == 403
    wrong = as_user(alice).post(url, {**sent, "bar": "-0.6"})
    assert wrong.status_code == 422
    assert "must be a number, from -0.5, and below 1." in wrong.content.decode()
    assert as_user(alice).post(url, sent).url == url
    text = as_user(alice).get(url).content.decode()
    assert "kappa difference, judge − person of at least -0.05." in text
    assert "When deciding alone: at most 0.05 of human fails" in text
    trail = as_user(alice).get("/p/help/audit/").content.decode()
    assert (
        "kappa difference, judge − person at least -0.05; of automatic decisions, at most 0.05 wrong per kind" in trail
    )


def test_built_in_criteria_come_in_the_language_of_who_adds_them(alice: User, project: Project) -> None:
    client = as_user(alice)
    client.post("/p/help/criteria/add/", {"criteria": ["completeness"]}, headers={"Accept-Language": "zh-hans"})
    added = project.criteria.get(key="completeness", is_current=True)
    assert (added.name, added.prompt) == ("完整性", "回答是否包含用户需要的全部内容？")
    assert [option["value"] for option in added.options] == [1, 2, 3, 4, 5]
    assert added.options[-1]["help"] == "没有遗漏。"
