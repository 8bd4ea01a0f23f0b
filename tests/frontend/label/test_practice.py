"""The practice sample, in every language."""

import pytest
from django.conf import settings
from django.utils.translation import override

from frontend.label.practice import practice


@pytest.mark.parametrize("language", [code for code, _ in settings.LANGUAGES])
def test_claims_stand_in_the_answer_and_have_known_answers(language: str) -> None:
    with override(language):
        made = practice()
    sample, (criterion,) = made["task"]["sample"], made["task"]["criteria"]
    for claim in sample["claims"]:
        assert sample["answer"][claim["start"] : claim["end"]] == claim["text"]
    values = {option["value"] for option in criterion["options"]}
    assert [answer["unit"] for answer in made["answers"]] == [f"claim:{claim['index']}" for claim in sample["claims"]]
    assert {answer["criterion"] for answer in made["answers"]} == {criterion["key"]}
    assert {answer["answer"] for answer in made["answers"]} <= values
