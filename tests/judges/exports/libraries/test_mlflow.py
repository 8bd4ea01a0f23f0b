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
def test_the_scorer_gives_the_same_values(
    config: dict[str, Any], openai_server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    openai_server.answers(answer)
    with told_of(openai_server.url):
        judge = executed(as_python(version_of(config), "mlflow"))["judge"]
        asked = {"question": "When?", "contexts": CONTEXTS}
        found = [judge.run(inputs={**asked, "claim": claim}, outputs=claim) for claim in CLAIMS]
    assert [one.value for one in found] == our_values(config, openai_server)
    assert (found[2].error.error_code, found[2].error.error_message) == ("refused", "The model refused.")
    assert found[3].error.error_code == "parse_error"
