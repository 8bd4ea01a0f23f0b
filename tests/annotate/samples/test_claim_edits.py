"""What the changes of claims do, and what none of them may ever do."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.core.errors import Invalid
from annotate.core.units import is_dropped, reading_order
from annotate.samples.claim_edits import apply_change, go_back
from annotate.samples.claim_splitting import split_into_claims

ANSWER = "It opens at nine 😀 and closes at five. 周六不开门。The desk is on the left."
CLAIMS = split_into_claims(ANSWER)


def claim(text: str, answer: str = ANSWER) -> dict[str, Any]:
    start = answer.find(text)
    return {"text": text, "start": start, "end": start + len(text)}


def live(claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in claims[at].items() if name in ("text", "start", "end")}
        for at in reading_order(claims)
    ]


def test_the_example_is_what_the_tests_think() -> None:
    texts = ["It opens at nine 😀 and closes at five.", "周六不开门。", "The desk is on the left."]
    assert [one["text"] for one in CLAIMS] == texts


def test_a_claim_is_split_at_a_place_of_its_text() -> None:
    after = apply_change({"op": "split", "claim": 0, "at": len("It opens at nine 😀 ")}, CLAIMS, ANSWER)
    assert after[0] == {**CLAIMS[0], "dropped": True}
    assert after[3:] == [
        {**claim("It opens at nine 😀"), "from": [0]},
        {**claim("and closes at five."), "from": [0]},
    ]
    assert [one["text"] for one in live(after)][:2] == ["It opens at nine 😀", "and closes at five."]


def test_parts_of_a_paraphrase_have_no_place_either() -> None:
    claims = [{"text": "Open nine to five", "start": None, "end": None}]
    after = apply_change({"op": "split", "claim": 0, "at": 9}, claims, ANSWER)
    assert live(after) == [
        {"text": "Open nine", "start": None, "end": None},
        {"text": "to five", "start": None, "end": None},
    ]


@pytest.mark.parametrize("at", [0, 1000, len(CLAIMS[0]["text"]) - 1, len(CLAIMS[0]["text"])])
def test_a_cut_leaves_words_on_both_sides(at: int) -> None:
    with pytest.raises(Invalid, match="between two words"):
        apply_change({"op": "split", "claim": 0, "at": at}, CLAIMS, ANSWER)


def test_neighbours_merge_into_the_stretch_that_covers_both() -> None:
    after = apply_change({"op": "merge", "claims": [1, 0]}, CLAIMS, ANSWER)
    assert after[3] == {**claim("It opens at nine 😀 and closes at five. 周六不开门。"), "from": [0, 1]}
    assert [is_dropped(one) for one in after] == [True, True, False, False]


def test_claims_with_words_between_them_merge_without_a_place() -> None:
    after = apply_change({"op": "merge", "claims": [0, 2]}, CLAIMS, ANSWER)
    assert after[3] == {
        "text": "It opens at nine 😀 and closes at five. The desk is on the left.",
        "start": None,
        "end": None,
        "from": [0, 2],
    }


def test_chinese_is_joined_without_a_blank() -> None:
    answer = "周六不开门。但是周日开门。我们九点开门。"
    after = apply_change({"op": "merge", "claims": [0, 2]}, split_into_claims(answer), answer)
    assert after[3]["text"] == "周六不开门。我们九点开门。"


def test_one_inside_another_merges_into_the_larger() -> None:
    claims = [claim("opens at nine"), claim("at nine")]
    assert live(apply_change({"op": "merge", "claims": [1, 0]}, claims, ANSWER)) == [claim("opens at nine")]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("closes at five", ANSWER.find("closes")),
        ("It closes at five o'clock", None),
        (" 周六不开门。 ", ANSWER.find("周")),
    ],
)
def test_an_edited_claim_is_found_again_or_has_no_place(text: str, start: int | None) -> None:
    after = apply_change({"op": "edit", "claim": 0, "text": text}, CLAIMS, ANSWER)
    assert (after[0]["text"], after[0]["start"], len(after)) == (text.strip(), start, 3)


def test_of_two_places_the_nearer_is_taken() -> None:
    answer = "Yes it is. No it is not. Yes it is."
    claims = split_into_claims(answer)
    after = apply_change({"op": "edit", "claim": 2, "text": "it is"}, claims, answer)
    assert after[2]["start"] == answer.rfind("it is")


def test_a_boundary_is_moved() -> None:
    start = ANSWER.find("closes")
    after = apply_change({"op": "move", "claim": 0, "start": start, "end": start + 15}, CLAIMS, ANSWER)
    assert after[0] == claim("closes at five.")


def test_a_passage_or_a_text_is_added_at_the_end() -> None:
    start = ANSWER.find("desk")
    after = apply_change({"op": "add", "start": start - 1, "end": start + 5}, CLAIMS, ANSWER)
    assert after[3] == claim("desk")
    assert apply_change({"op": "add", "text": "desk is on"}, CLAIMS, ANSWER)[3] == claim("desk is on")
    free = {"text": "The desk is not on the right.", "start": None, "end": None}
    assert apply_change({"op": "add", "text": free["text"]}, CLAIMS, ANSWER)[3] == free


def test_dropped_and_restored() -> None:
    dropped = apply_change({"op": "drop", "claim": 1}, CLAIMS, ANSWER)
    assert dropped == [CLAIMS[0], {**CLAIMS[1], "dropped": True}, CLAIMS[2]]
    assert apply_change({"op": "restore", "claim": 1}, dropped, ANSWER) == CLAIMS


def test_splitting_again_brings_back_what_was_and_names_what_it_replaces() -> None:
    cut = apply_change({"op": "split", "claim": 0, "at": 8}, CLAIMS, ANSWER)
    again = apply_change({"op": "split_again"}, cut, ANSWER)
    assert live(again) == CLAIMS
    assert len(again) == len(cut)
    merged = [{"text": ANSWER, "start": 0, "end": len(ANSWER)}]
    again = apply_change({"op": "split_again"}, merged, ANSWER)
    assert live(again) == CLAIMS
    assert [one.get("from") for one in again] == [None, [0], [0], [0]]


def test_going_back_keeps_later_indices_as_dropped_ones() -> None:
    after = apply_change({"op": "split", "claim": 0, "at": 8}, CLAIMS, ANSWER)
    back = go_back(after, CLAIMS)
    assert back[:3] == CLAIMS
    assert all(is_dropped(one) for one in back[3:])
    assert len(back) == len(after)
    assert go_back(back, after) == after


@pytest.mark.parametrize(
    "change",
    [
        {}, {"op": 3}, {"op": "rename"}, {"op": "drop"}, {"op": "drop", "claim": 9}, {"op": "drop", "claim": -1},
        {"op": "drop", "claim": "0"}, {"op": "drop", "claim": True}, {"op": "drop", "claim": 0, "more": 1},
        {"op": "merge", "claims": [0, 0]}, {"op": "merge", "claims": [0]}, {"op": "merge", "claims": [0, 9]},
        {"op": "merge", "claims": "01"}, {"op": "edit", "claim": 0, "text": " … "},
        {"op": "edit", "claim": 0, "text": 4},
        {"op": "edit", "claim": 0, "text": "x" * 10_001}, {"op": "edit", "claim": 0, "text": "a\x00b"},
        {"op": "add"}, {"op": "add", "start": 0}, {"op": "add", "text": "a", "start": 0, "end": 3},
        {"op": "add", "start": 3, "end": 3}, {"op": "add", "start": 0, "end": 10_000},
        {"op": "add", "start": 0.5, "end": 3},
        {"op": "move", "claim": 0, "start": 9, "end": 2}, {"op": "restore", "claim": 0},
        {"op": "split", "claim": 0, "at": None},
    ],
)  # fmt: skip
def test_what_cant_be_done_is_refused_in_a_sentence(change: dict[str, Any]) -> None:
    before = deepcopy(CLAIMS)
    with pytest.raises(Invalid) as refused:
        apply_change(change, CLAIMS, ANSWER)
    assert refused.value.message.endswith(".")
    assert before == CLAIMS


def test_a_dropped_claim_is_only_restored() -> None:
    dropped = apply_change({"op": "drop", "claim": 0}, CLAIMS, ANSWER)
    for change in (
        {"op": "drop", "claim": 0}, {"op": "split", "claim": 0, "at": 8}, {"op": "merge", "claims": [0, 1]},
        {"op": "edit", "claim": 0, "text": "Other"}, {"op": "move", "claim": 0, "start": 0, "end": 8},
    ):  # fmt: skip
        with pytest.raises(Invalid, match="Restore it first"):
            apply_change(change, dropped, ANSWER)


def test_there_is_a_limit() -> None:
    claims = [claim("It opens")] * 1000
    with pytest.raises(Invalid, match="1000"):
        apply_change({"op": "add", "text": "One more"}, claims, ANSWER)
    assert apply_change({"op": "drop", "claim": 0}, claims, ANSWER)


LETTERS = st.text(alphabet="ab .。文😀\n-", min_size=1, max_size=60)
NUMBER = st.integers(0, 12)
ANY_CHANGE = st.one_of(
    st.fixed_dictionaries({"op": st.just("split"), "claim": NUMBER, "at": st.integers(0, 30)}),
    st.fixed_dictionaries({"op": st.just("merge"), "claims": st.lists(NUMBER, min_size=2, max_size=2)}),
    st.fixed_dictionaries({"op": st.just("edit"), "claim": NUMBER, "text": LETTERS}),
    st.fixed_dictionaries(
        {"op": st.just("move"), "claim": NUMBER, "start": st.integers(0, 60), "end": st.integers(0, 60)}
    ),
    st.fixed_dictionaries({"op": st.just("add"), "text": LETTERS}),
    st.fixed_dictionaries({"op": st.just("add"), "start": st.integers(0, 60), "end": st.integers(0, 60)}),
    st.fixed_dictionaries({"op": st.sampled_from(["drop", "restore"]), "claim": NUMBER}),
    st.just({"op": "split_again"}),
)


@given(LETTERS, st.lists(ANY_CHANGE, max_size=12))
def test_whatever_is_done_indices_keep_their_meaning_and_spans_quote_the_answer(
    answer: str, changes: list[dict[str, Any]]
) -> None:
    claims: list[dict[str, Any]] = split_into_claims(answer)
    revisions = [claims]
    for change in changes:
        given_claims = deepcopy(claims)
        try:
            after = apply_change(change, claims, answer)
        except Invalid:
            after = claims
        assert claims == given_claims, "what was given is not touched"
        assert len(after) >= len(claims)
        for index, (then, now) in enumerate(zip(claims, after, strict=False)):
            if change["op"] in ("edit", "move") and change["claim"] == index:
                continue
            assert (then["text"], then["start"], then["end"]) == (now["text"], now["start"], now["end"])
        for one in after:
            assert one["text"].strip()
            if one["start"] is None:
                assert one["end"] is None
            else:
                assert answer[one["start"] : one["end"]] == one["text"]
            assert all(0 <= source < len(after) for source in one.get("from", []))
        revisions.append(after)
        claims = after
    for then in revisions:
        back = go_back(claims, then)
        assert live(back) == live(then)
        assert len(back) == len(claims)


@given(LETTERS, st.integers(0, 60), st.integers(0, 60))
def test_what_was_split_and_merged_again_is_what_it_was(answer: str, which: int, at: int) -> None:
    claims = split_into_claims(answer)
    if not claims:
        return
    index = which % len(claims)
    try:
        split = apply_change({"op": "split", "claim": index, "at": at}, claims, answer)
    except Invalid:
        return
    merged = apply_change({"op": "merge", "claims": [len(claims), len(claims) + 1]}, split, answer)
    assert live(merged) == live(claims)
