"""The tree by judges' word: whose it is and what they may do, without figures, and without what may not be known."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.core.blindness import SYSTEM
from annotate.models import Sample
from systems.diagnosis.figures_read import figures_of
from systems.diagnosis.judged_read import diagnosed_by_judges
from systems.diagnosis.read import DiagnosedResponses
from systems.diagnosis.tree import Stage
from tests.annotate.factories import World, make_batch
from tests.clients import as_user, client_of
from tests.judges.building import add_judge
from tests.judges.certificates.decided import decided
from tests.systems.building import command
from tests.systems.diagnosis.building import GOOD, Desk, question, response

API = "/api/projects/rag/diagnosis/"
PAGE = "/p/rag/systems/diagnosis/?by=judges"


@pytest.fixture
def judged(desk: Desk) -> Desk:
    """Of q1 the judges say that its second claim has no support, of q2 nothing but that its contexts are needed. Nobody
    labelled either."""
    desk.ask(question("q1", key_facts=[]), question("q2", key_facts=[]))
    desk.answer(response("q1"), response("q2"))
    samples = by_name(desk)
    contexts = [(name, f"context:{place}", grade) for name in samples for place, grade in enumerate((0.0, 3.0))]
    add_judge(desk.project, "grader", samples, contexts, dimension="relevance", label="g1")
    claims: list[tuple[str, str, Any]] = [("q1@v7", "claim:0", "supported"), ("q1@v7", "claim:1", "contradicted")]
    add_judge(desk.project, "checker", samples, claims, label="c1")
    return desk


def by_name(desk: Desk) -> dict[str, Sample]:
    return {one.external_id: one for one in desk.project.samples.all()}


def stages(found: DiagnosedResponses) -> dict[str, Stage | None]:
    return {row.asking.question: row.diagnosis.stage for row in found.rows}


def test_judges_answer_what_their_criteria_ask(judged: Desk) -> None:
    found = diagnosed_by_judges(judged.project, reader=SYSTEM)
    assert stages(found) == {"q1": Stage.HALLUCINATION, "q2": None}
    assert [(one.question, one.judge, one.version, one.ruling) for one in found.judges] == [
        ("context_needed", "grader", "g1", None),
        ("claim_supported", "checker", "c1", None),
    ]


def test_what_a_judge_may_do_is_told_and_who_may_decide_speaks(judged: Desk) -> None:
    samples = by_name(judged)
    sure = add_judge(judged.project, "sure", samples, [("q1@v7", "claim:0", "supported")], label="s1")
    decided(sure, "with_a_person", key="support")
    found = diagnosed_by_judges(judged.project, reader=SYSTEM)
    (support,) = [one for one in found.judges if one.question == "claim_supported"]
    assert support.ruling is not None
    assert (support.judge, support.ruling["verdict"]) == ("sure", "with_a_person")
    assert stages(found) == {"q1": None, "q2": None}


def test_scores_that_need_a_threshold_say_nothing(desk: Desk) -> None:
    desk.ask(question("q1", key_facts=[]))
    desk.answer(response("q1"))
    scores = [("q1@v7", "context:0", 0.7), ("q1@v7", "context:1", 0.9)]
    add_judge(desk.project, "cosine", by_name(desk), scores, dimension="relevance")
    found = diagnosed_by_judges(desk.project, reader=SYSTEM)
    assert (stages(found), found.judges) == ({"q1": None}, [])


def test_peoples_labels_are_no_part_of_it(judged: Desk) -> None:
    judged.label("q2@v7", {address: value for address, value in GOOD.items() if not address.startswith("fact")})
    found = diagnosed_by_judges(judged.project, reader=SYSTEM)
    # What people labelled may come on a test half: no one is told what judges say of it.
    assert (stages(found), found.held_back) == ({"q1": Stage.HALLUCINATION}, 1)


def test_there_are_counts_and_no_figures(judged: Desk, world: World) -> None:
    figures = figures_of(diagnosed_by_judges(judged.project, reader=SYSTEM))
    assert {one.share for one in figures.whole.stages} == {None}
    assert (figures.abstention, figures.triad, figures.noise, figures.agreement) == (None, None, None, None)
    shown = client_of(world.alice).get(API, {"by": "judges"}).json()
    assert (shown["by"], shown["triad"], shown["whole"]["stages"][0]["share"]) == ("judges", None, None)
    assert shown["judges"][1] == {
        "question": "claim_supported",
        "criterion": "support",
        "judge": "checker",
        "version": "c1",
        "decision": None,
        "ended": None,
    }
    printed = command("diagnose", "rag", "--version", "v7", "--by", "judges")
    assert "not corrected" in printed
    assert "checker" in printed


def test_the_page_names_the_judges(judged: Desk, world: World) -> None:
    page = as_user(world.alice).get(PAGE).content.decode()
    for shown in ("The claim is supported: <strong><bdi>checker</bdi></strong>", "never evaluated on the test set"):
        assert shown in page, shown
    assert "Share (95% interval)" not in page
    listed = as_user(world.alice).get(f"{PAGE}&stage=hallucination").content.decode()
    assert "Claim 2: not supported" in listed


def test_who_has_to_decide_or_label_first_is_told_nothing(judged: Desk, world: World) -> None:
    # A reviewer decides about units: nothing that judges say before they are settled.
    assert client_of(world.rita).get(API, {"by": "judges"}).json()["held_back"] == 2
    asked = [judged.project.criteria.get(key="support")]
    make_batch(judged.project, [world.alice], samples=["q1@v7"], criteria=asked)
    shown = client_of(world.alice).get(API, {"by": "judges"}).json()
    assert (shown["held_back"], shown["whole"]["responses"]) == (1, 1)
