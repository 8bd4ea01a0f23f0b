"""What an experiment says first, from its figures alone."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.translation import override

from frontend.systems.experiment_text import experiment_markdown
from frontend.systems.first_screen import FirstScreen, first_screen
from tests.systems.experiments.invented import difference, invented, judged, level

FAITHFULNESS, ABSTENTION, LATENCY = 1, 2, 3


def screen(figures: dict[str, Any] | None = None) -> FirstScreen:
    return first_screen(invented() if figures is None else figures, "v2")


def verdicts(primary: str, abstention: str, latency: str) -> dict[str, Any]:
    figures = invented()
    for place, verdict in ((FAITHFULNESS, primary), (ABSTENTION, abstention), (LATENCY, latency)):
        figures["metrics"][place]["differences"][0]["verdict"] = verdict
    return figures


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (("better", "not_worse", "not_worse"), "v2 is better on Faithfulness, and worse on no guard."),
        (("better", "worse", "worse"), "v2 is better on Faithfulness, but worse on Right abstention, Latency."),
        (
            ("better", "worse", "cannot_tell"),
            "v2 is better on Faithfulness, but worse on Right abstention.",
        ),
        (
            ("better", "cannot_tell", "better"),
            "v2 is better on Faithfulness. Whether it is worse on Right abstention cannot be told yet.",
        ),
        (("not_worse", "better", "better"), "v2 is not worse on Faithfulness; no gain is shown."),
        (("worse", "cannot_tell", "better"), "v2 is worse on Faithfulness."),
        (("cannot_tell", "better", "better"), "Whether v2 is better on Faithfulness cannot be told yet."),
    ],
)
def test_one_sentence_says_whether_it_may_be_shipped_and_why_not(said: tuple[str, str, str], sentence: str) -> None:
    assert screen(verdicts(*said)).sentence == sentence


def test_without_guards_none_is_named() -> None:
    figures = invented()
    figures["metrics"] = [figures["metrics"][FAITHFULNESS]]
    figures["verdicts"][0]["verdict"] = "better"
    found = screen(figures)
    assert (found.chip, found.sentence) == ("Ready to ship", "v2 is better on Faithfulness.")


def test_the_figures_beside_it_are_the_primary_one_and_the_guard_that_decides() -> None:
    found = screen()
    assert [row.title for row in found.figures] == ["Faithfulness", "Right abstention"]
    assert [(row.difference.text, row.difference.interval) for row in found.figures] == [
        ("+0.12", "+0.03 to +0.21"),
        ("−0.09", "−0.15 to −0.03"),
    ]
    assert [row.change for row in found.figures] == ["0.72 → 0.84", "0.90 → 0.81"]
    assert (found.chip, found.labelled, found.questions) == ("Do not ship yet", 120, 720)


def test_a_metric_says_what_it_is_unless_its_criterion_does() -> None:
    figures = invented()
    figures["metrics"][FAITHFULNESS]["derived"] = "faithfulness"
    assert [row.help for row in screen(figures).figures] == [
        "Share of an answer’s claims that its contexts support",
        "",
    ]


def test_what_was_drawn_and_not_labelled_yet_is_said_to_be_so() -> None:
    figures = invented()
    for one in figures["metrics"][FAITHFULNESS]["levels"]:
        one |= {"labelled": 96, "unresolved": 26}
    figures["metrics"].pop(ABSTENTION)
    found = screen(figures)
    assert (found.drawn, found.labelled, found.rows[0].drawn, found.rows[0].labelled) == (120, 96, "120", "96")
    assert "| 96 of 120 |" in experiment_markdown(figures, "https://t.example.org/e/")


def test_rows_come_by_what_they_decide() -> None:
    found = screen()
    assert [row.title for row in found.decides] == ["Faithfulness", "Right abstention", "Latency"]
    assert [row.title for row in found.explores] == ["Answer relevancy"]


def test_a_judge_alone_is_beside_the_figure_and_never_in_its_place() -> None:
    rows = {row.name: row for row in screen().rows}
    assert (rows["abstention"].raw, rows["abstention"].difference.text) == ("+0.06", "−0.09")
    assert rows["abstention"].sign_turns
    assert screen().misleading == rows["abstention"]
    assert not rows["faithfulness"].sign_turns
    # Without labels there is no figure, however sure the judge is.
    assert (rows["relevancy"].raw, rows["relevancy"].difference.text) == ("+0.05", "—")
    # What is measured has no judge.
    assert (rows["latency_ms"].raw, rows["latency_ms"].labelled) == (None, "")
    assert rows["latency_ms"].difference.text == "+400 ms"


def test_pictures_lie_on_one_scale_with_the_margin_on_the_side_of_what_is_worse() -> None:
    rows = {row.name: row for row in screen().rows}
    pictures = {name: row.picture for name, row in rows.items()}
    assert pictures["latency_ms"] is None
    places = {name: _places(picture) for name, picture in pictures.items() if picture is not None}
    assert len({one["zero"] for one in places.values()}) == 1
    assert places["faithfulness"]["margin"] < places["faithfulness"]["zero"] < places["faithfulness"]["low"]
    assert places["abstention"]["high"] < places["abstention"]["zero"] < places["abstention"]["raw"]
    assert all(0 <= place <= 100 for one in places.values() for place in one.values())

    figures = invented()
    figures["metrics"][ABSTENTION]["direction"] = "lower"
    turned = _places(next(row for row in screen(figures).rows if row.name == "abstention").picture)
    assert turned["margin"] > turned["zero"]


def _places(picture: Any) -> dict[str, float]:
    names = ("dot", "low", "high", "raw", "margin", "zero")
    return {name: float(at.rstrip("%")) for name in names if (at := getattr(picture, name)) is not None}


def test_what_it_would_take_is_said_and_how_many_labels_are_missing() -> None:
    figures = verdicts("cannot_tell", "not_worse", "not_worse")
    figures["metrics"][FAITHFULNESS]["differences"][0]["needed"] = {"labels": 160, "questions": None}
    found = screen(figures)
    assert found.to_draw == 40
    assert found.rows[0].needed == "about 160 labelled questions in all"
    figures["metrics"][FAITHFULNESS]["differences"][0]["needed"] = {"labels": 1600, "questions": 9600}
    assert screen(figures).to_draw == found.questions - found.drawn
    figures = invented()
    exploratory = next(one for one in figures["metrics"] if one["role"] == "exploratory")
    exploratory["differences"][0]["needed"] = {"labels": 400, "questions": None}
    assert screen(figures).to_draw is None
    assert screen().to_draw is None
    assert screen().rows[2].needed == "about 1,500 questions in all"


def test_bands_are_of_the_interval() -> None:
    figures = invented()
    levels = figures["metrics"][FAITHFULNESS]["levels"]
    levels[0]["band"], levels[1]["band"] = ["good", "excellent"], ["excellent", "excellent"]
    assert [one.band for one in screen(figures).rows[0].levels] == ["good to excellent", "excellent"]


def test_a_heading_names_the_parts_that_differ() -> None:
    figures = invented()
    faithfulness = figures["metrics"][FAITHFULNESS]
    for number in range(5):
        low, value, high = (-0.3, -0.2, -0.1) if number == 4 else (0.1, 0.2, 0.3)
        one = {
            "metric": "faithfulness",
            "unit": "share",
            "direction": "higher",
            "levels": faithfulness["levels"],
            "differences": [difference("v2", judged(low, value, high, 0.2), "better")],
        }
        others = [{**metric, "metric": metric["metric"]} for metric in figures["metrics"] if metric is not faithfulness]
        part = {"by": "category", "part": f"part {number}", "questions": 144, "few": False}
        figures["parts"].append({**part, "metrics": [one, *others]})
    found = screen(figures)
    assert found.parts_say == (
        "Exploratory. Faithfulness: better in part 0, part 1, part 2 and 1 more; worse in part 4"
    )
    (table,) = found.parts
    cells = table.rows[4].cells
    assert (cells[0].difference.text, cells[0].before, cells[0].after) == ("−0.20", "0.72", "0.84")
    # Of relevancy nothing is labelled.
    assert [cell.is_known for cell in cells] == [True, True, True, False]


def test_each_candidate_has_its_own_screen() -> None:
    figures = invented()
    for metric in figures["metrics"]:
        metric["levels"].append(level("v3", judged(0.8, 0.85, 0.9, 0.8)))
        metric["differences"].append(difference("v3", judged(0.01, 0.02, 0.03, 0.02), "better"))
    figures["verdicts"].append({"b": "v3", "verdict": "better"})
    assert [first_screen(figures, name).chip for name in ("v2", "v3")] == ["Do not ship yet", "Ready to ship"]
    with pytest.raises(LookupError):
        first_screen(figures, "v1")
    text = experiment_markdown(figures, "https://t.example.org/e/")
    assert text.count("| Faithfulness | Primary metric |") == 2


def test_markdown_for_a_pull_request() -> None:
    text = experiment_markdown(invented(), "https://t.example.org/e/")
    assert "**Do not ship yet:** v2 is better on Faithfulness, but worse on Right abstention." in text
    levels = "| 0.90 (0.85 to 0.95) | 0.81 (0.74 to 0.88) |"
    assert f"| Right abstention | Guard {levels} −0.09 | −0.15 to −0.03 | 0.05 | Worse |" in text
    assert "[Experiment smaller-chunks](https://t.example.org/e/)" in text
    # The judge's own difference has no place in it.
    assert "+0.06" not in text
    assert "0.94" not in text


def test_in_chinese() -> None:
    with override("zh-hans"):
        found = screen()
        assert (found.chip, found.rows[0].role) == ("暂不发布", "主要指标")
