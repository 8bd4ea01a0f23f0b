"""The server on loopback answers every built-in prompt by itself: the demo needs no model."""

from __future__ import annotations

from typing import Any

import pytest

from judges.endpoints.client import open_client
from judges.kinds.llm import builtin_templates
from judges.kinds.llm.judging import extract_claims
from tests.judges.endpoints.building import endpoint_at
from tests.judges.kinds.llm.making import complete, said, told
from tests.openai_server import OpenAIServer

SAMPLE = told("It opens at nine.", "Bears like honey.", question="When does it open?", reference="It opens at nine.")
SAMPLE.contexts = [{"id": None, "text": "Daily it opens at nine sharp.", "score": None}]


@pytest.mark.parametrize("template", builtin_templates(), ids=lambda template: template.key)
def test_it_scores_by_every_template(template: Any, openai_server: OpenAIServer) -> None:
    given: dict[str, Any] = {"dimension": "mine", "unit": template.units[0], "model": "m", "template": template.key}
    if template.needs_requirements:
        given["requirements"] = [{"text": "It says when it opens."}, {"text": "It is polite."}]
    with open_client(endpoint_at(openai_server)) as model:
        scores = said(complete(given), model, SAMPLE)
    assert scores
    assert {score.status for score in scores} == {"ok"}
    assert all(score.rationale for score in scores)
    if template.key == "claim_support":
        # And what the context has gets the better score.
        assert [score.number for score in scores] == [1.0, 0.0]


def test_it_finds_a_claim(openai_server: OpenAIServer) -> None:
    with open_client(endpoint_at(openai_server)) as model:
        claims = extract_claims(SAMPLE, {"model": "m"}, model)
    assert len(claims) == 1
