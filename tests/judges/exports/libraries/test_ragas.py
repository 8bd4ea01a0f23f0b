from __future__ import annotations

from typing import Any

import pytest

from judges.exports.python import as_python
from tests.judges.exports.libraries.asked import CLAIMS, CONTEXTS, LABELS, NUMBERS, answer, our_values
from tests.judges.exports.made import executed, told_of, version_of
from tests.openai_server import OpenAIServer


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("config", [LABELS, NUMBERS], ids=["labels", "numbers"])
def test_the_metric_gives_the_same_values(config: dict[str, Any], openai_server: OpenAIServer) -> None:
    openai_server.answers(answer)
    with told_of(openai_server.url):
        metric = executed(as_python(version_of(config), "ragas"))["metric"]
        asked: dict[str, Any] = {"user_input": "When?", "retrieved_contexts": CONTEXTS}
        found = [metric.score(**asked, claim=claim) for claim in CLAIMS]
    assert [one.value for one in found] == our_values(config, openai_server)
    assert "refused: The model refused." in found[2].reason
    assert "parse_error" in found[3].reason
