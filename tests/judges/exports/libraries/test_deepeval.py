from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judges.exports.python import as_python
from tests.judges.exports.libraries.asked import CLAIMS, CONTEXTS, LABELS, NUMBERS, answer, our_values
from tests.judges.exports.made import executed, told_of, version_of
from tests.openai_server import OpenAIServer


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("config", [LABELS, NUMBERS], ids=["labels", "numbers"])
def test_an_evaluation_gives_the_same_values(
    config: dict[str, Any], openai_server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # it writes a folder of its own
    openai_server.answers(answer)
    with told_of(openai_server.url):
        made = executed(as_python(version_of(config), "deepeval"))
        from deepeval import evaluate
        from deepeval.test_case import LLMTestCase

        cases = [
            LLMTestCase(input="When?", actual_output=claim, retrieval_context=CONTEXTS, metadata={"claim": claim})
            for claim in CLAIMS
        ]
        if config is LABELS:
            result = evaluate(test_cases=cases, classifiers=[made["JudgeClassifier"]()])
        else:
            result = evaluate(test_cases=cases, metrics=[made["JudgeMetric"](threshold=2)])
    by_claim = {one.actual_output: one for one in result.test_results}
    rows = [by_claim[claim] for claim in CLAIMS]
    found = [one.classifications[0] if config is LABELS else one.metrics_data[0] for one in rows]
    values = [one.label if config is LABELS else one.score for one in found]
    assert values == our_values(config, openai_server)
    assert found[2].error == "refused: The model refused."
    assert found[3].error.startswith("parse_error: ")
