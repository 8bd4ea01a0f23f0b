"""An answer is cut by the rules of its own language."""

from __future__ import annotations

import pytest

from annotate.samples.claim_splitting import language_of, split_into_claims


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The desk opens at nine.", "en"),
        ("", "en"),
        ("Ja.", "en"),
        ("Das Büro öffnet um neun und schließt um fünf.", "de"),
        ("El Sr. Pérez vive en la calle de Alcalá.", "es"),
        ("De winkel is niet open op zondag.", "nl"),
        ("O balcão não abre ao domingo, mas é possível ligar.", "pt"),
        ("柜台九点开门。周六不开门。", "zh"),
        ("窓口は九時に開きます。", "ja"),
        ("東京都港区六本木です", "ja"),
        ("창구는 아홉 시에 엽니다.", "ko"),
        ("يفتح المكتب في التاسعة.", "ar"),
        ("میز ساعت نه باز می‌شود، پس بیایید.", "fa"),
        ("دفتر نو بجے کھلتا ہے۔", "ur"),
        ("הדלפק נפתח בתשע.", "he"),
        ("Стойка открывается в девять.", "ru"),
        ("Стійка відчиняється о дев'ятій, її легко знайти.", "uk"),
        ("काउंटर नौ बजे खुलता है।", "hi"),
        ("Το γραφείο ανοίγει στις εννέα.", "el"),
        ("安装 Docker Compose 之后请重新启动服务器，然后检查日志。", "zh"),
        ("The word 柜台 means counter.", "en"),
        ("😀 12:30 – 17 €", "en"),
    ],
)
def test_the_language_follows_from_the_letters(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("柜台九点开门。周六不开门！几点关门？", ["柜台九点开门。", "周六不开门！", "几点关门？"]),
        ("窓口は九時に開きます。土曜日は休みです。", ["窓口は九時に開きます。", "土曜日は休みです。"]),
        ("يفتح المكتب في التاسعة. متى يغلق؟ في الخامسة.", ["يفتح المكتب في التاسعة.", "متى يغلق؟", "في الخامسة."]),
        ("דלפק נפתח בתשע. הוא נסגר בחמש.", ["דלפק נפתח בתשע.", "הוא נסגר בחמש."]),
        ("काउंटर नौ बजे खुलता है। शनिवार को बंद है।", ["काउंटर नौ बजे खुलता है।", "शनिवार को बंद है।"]),
        (
            "Das gilt z. B. für Dr. Müller. Er kam am 3. Mai und blieb ca. 10 Tage.",
            ["Das gilt z. B. für Dr. Müller.", "Er kam am 3. Mai und blieb ca. 10 Tage."],
        ),
        ("El Sr. Pérez vive en la ciudad. ¿Qué tal?", ["El Sr. Pérez vive en la ciudad.", "¿Qué tal?"]),
        ("It is online. (Source 2) It is free.\n\n[1]", ["It is online.", "(Source 2) It is free."]),
        ("设备在线。【1】免费。\n【2】", ["设备在线。", "【1】免费。"]),
        ("Πού είναι το γραφείο; Είναι αριστερά.", ["Πού είναι το γραφείο;", "Είναι αριστερά."]),
    ],
)
def test_an_answer_is_cut_by_the_rules_of_its_language(answer: str, claims: list[str]) -> None:
    found = split_into_claims(answer)
    assert [claim["text"] for claim in found] == claims
    assert all(answer[claim["start"] : claim["end"]] == claim["text"] for claim in found)


@pytest.mark.parametrize("sentence", ["Dr. Smith saw it on Jan. 5. ", "太阳很热。", "Is it hot? "])
def test_a_long_text_is_split_like_a_short_one(sentence: str) -> None:
    """Long ones are split window by window; no sentence is cut or lost where two windows meet."""
    times = 40_000 // len(sentence)
    few, many = split_into_claims(sentence * 5), split_into_claims(sentence * times)

    each = [claim["text"] for claim in few[: len(few) // 5]]
    assert [claim["text"] for claim in many] == each * times
    assert all((sentence * times)[claim["start"] : claim["end"]] == claim["text"] for claim in many)


def test_a_sentence_longer_than_a_window_stays_whole() -> None:
    long = "word " * 10_000 + "end."
    assert [claim["text"] for claim in split_into_claims(f"First. {long} Last.")] == ["First.", long, "Last."]
