"""What annotators changed of an answer, as reviewers see it: word by word, on the sample's page and beside disputes."""

from __future__ import annotations

import re

import pytest

from annotate.models import Label, Project, Release, Sample, User, Verdict
from annotate.projects.criteria import add_criteria
from annotate.projects.read import one_criterion
from frontend.base.spelling import changed_from
from frontend.base.word_changes import word_changes
from tests.clients import as_user
from tests.frontend.projects.test_criteria import form

KEY = "corrected_answer"
LONG = " ".join(f"word{n}" for n in range(3000))


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("It opens at nine daily.", "It opens at ten daily.",
         [("same", "It opens at "), ("del", "nine "), ("ins", "ten "), ("same", "daily.")]),
        ("It opens.", "It opens. Daily.", [("same", "It opens"), ("ins", ". Daily"), ("same", ".")]),
        ("图书馆九点开门。", "图书馆十点开门。",
         [("same", "图书馆"), ("del", "九"), ("ins", "十"), ("same", "点开门。")]),
        ("No, never, here.", "Yes, always, here.", [("del", "No, never"), ("ins", "Yes, always"), ("same", ", here.")]),
        ("", "New.", [("ins", "New.")]),
        ("Same.", "Same.", [("same", "Same.")]),
        ("a\r\nb", "a\nb", [("del", "a\r\n"), ("ins", "a\n"), ("same", "b")]),
    ],
)  # fmt: skip
def test_words_that_went_and_came(before: str, after: str, changes: list[tuple[str, str]]) -> None:
    assert list(word_changes(before, after)) == changes


@pytest.mark.parametrize(
    ("before", "after"),
    [("It opens at nine.", "x"), ("a_b – c\u0301 नमस्ते", "नमस्ते\n\n c\u0301  a"), (" \t", "\u2028 "),
     ("ราคา 5฿", "5฿ ราคา"),     (LONG, LONG.replace("word7", "other")), (LONG, LONG[::-1])],
)  # fmt: skip
def test_both_texts_are_whole_in_what_is_shown(before: str, after: str) -> None:
    changes = list(word_changes(before, after))
    assert "".join(words for kind, words in changes if kind != "ins") == before
    assert "".join(words for kind, words in changes if kind != "del") == after


def test_marks_are_elements_with_a_word_for_screen_readers() -> None:
    assert changed_from("It <b>opens</b>.", "It is shut.") == (
        "It <del><span class='visually-hidden'>removed: </span>is shut</del>"
        "<ins><span class='visually-hidden'>added: </span>&lt;b&gt;opens&lt;/b&gt;</ins>."
    )


def corrected(project: Project, sample: Sample) -> None:
    criterion = one_criterion(project, KEY)
    for name, text in (("Xia", f"{sample.answer} Daily."), ("Yan", "Shut.")):
        rater = project.raters.create(name=name)
        Label.objects.create(rater=rater, sample=sample, unit="answer", criterion=criterion, value=text)


@pytest.fixture
def asked(project: Project) -> Project:
    add_criteria(project=project, specs=[KEY])
    return project


def test_the_sample_page_shows_each_correction(asked: Project, samples: list[Sample], rita: User) -> None:
    corrected(asked, samples[0])
    page = as_user(rita).get(f"/p/help/samples/{samples[0].pk}/").content.decode()
    assert page.count('class="text correction"') == 2
    assert re.search(r"added: </span>[^<]*Daily</ins>", page)
    assert "<del>" in page


def test_so_does_a_dispute_about_another_question(project: Project, disputes: list[Verdict], rita: User) -> None:
    add_criteria(project=project, specs=[KEY])
    corrected(project, disputes[0].sample)
    page = as_user(rita).get(f"/p/help/adjudicate/{disputes[0].pk}/").content.decode()
    assert page.count('class="text correction"') == 2
    assert "no verdict needed" in page


def test_a_release_puts_them_in_the_place_of_the_reference(
    project: Project, samples: list[Sample], alice: User
) -> None:
    client = as_user(alice)
    assert "id_reference" not in client.get("/p/help/export/").content.decode()
    add_criteria(project=project, specs=[KEY])
    corrected(project, samples[0])
    assert "id_reference" in client.get("/p/help/export/").content.decode()
    body = {"file_format": "jsonl", "rows": "samples", "reference": "corrected"}
    assert client.post("/p/help/export/", body).status_code == 302
    assert Release.objects.get().filters == {"rows": "samples", "reference": "corrected"}
    refused = client.post("/p/help/export/", {**body, "rows": ""})
    assert (refused.status_code, Release.objects.count()) == (422, 1)


def test_an_admin_adds_it_in_the_language_of_the_page(project: Project, alice: User) -> None:
    client, chinese = as_user(alice), {"Accept-Language": "zh-hans"}
    assert client.post("/p/help/criteria/add/", {"criteria": [KEY]}, headers=chinese).status_code == 302
    made = one_criterion(project, KEY)
    assert (made.name, made.prefill, made.required) == ("更正后的回答", "answer", False)
    assert "以原回答开头" in client.get("/p/help/criteria/", headers=chinese).content.decode()


def test_the_form_makes_one_and_keeps_what_it_starts_with(project: Project, alice: User) -> None:
    client = as_user(alice)
    sent = form([], key="better", unit="answer", scale="text", prompt="What is right?", prefill="answer")
    assert client.post("/p/help/criteria/new/", sent).status_code == 302
    made = one_criterion(project, "better")
    assert (made.prefill, made.required, made.cant_tell) == ("answer", False, False)
    changed = {**sent, "prompt": "What is better?", "prefill": ""}
    assert client.post("/p/help/criteria/edit/better/", changed).status_code == 302
    assert (one_criterion(project, "better").prompt, one_criterion(project, "better").prefill) == (
        "What is better?",
        "answer",
    )


@pytest.mark.parametrize("unit", ["claim", "sample"])
def test_the_form_of_other_units_starts_empty(project: Project, alice: User, unit: str) -> None:
    sent = form([], key="words", unit=unit, scale="text", prompt="What?", prefill="answer")
    assert as_user(alice).post("/p/help/criteria/new/", sent).status_code == 302
    assert one_criterion(project, "words").prefill == ""
