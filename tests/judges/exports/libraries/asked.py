"""The same questions for each library, with what our judge says of them at the same server."""

from __future__ import annotations

from typing import Any

from judges.endpoints.client import open_client
from tests.judges.building import unsaved_endpoint
from tests.judges.exports.made import without_criterion
from tests.judges.kinds.llm.making import complete, said, told
from tests.openai_server import OpenAIServer, Reply, Request, chat

_PROMPT = "{{rules}}\n{{options}}\n{{question}}\n{{contexts}}\n{{claim}}"
_ASKED = {"criterion": "support", "model": "m", "prompt": _PROMPT, "rules": ["Names have to agree."]}
_SUPPORT = {"key": "support", "unit": "claim", "prompt": "Supported?"}
LABELS = without_criterion(complete(_ASKED, **_SUPPORT, options=[{"value": "yes"}, {"value": "no"}]))
NUMBERS = without_criterion(complete(_ASKED, **_SUPPORT, options=[{"value": 1}, {"value": 2}, {"value": 3}]))

CLAIMS = ("Trains leave at nine.", "The museum opens at nine.", "REFUSE this.", "GARBLE this.", "It costs “5”.")
CONTEXTS = ["Open from nine."]


def answer(request: Request) -> Reply | None:
    """The server's own answer, but to two claims."""
    if "REFUSE" in request.prompt:
        return chat(None, refusal="I can't.")
    return chat('I would say 3 or "yes".') if "GARBLE" in request.prompt else None


def our_values(config: dict[str, Any], server: OpenAIServer) -> list[float | str | None]:
    with open_client(unsaved_endpoint(server)) as client:
        scores = [said(config, client, told(claim, question="When?"))[0] for claim in CLAIMS]
    found = [score.label if score.number is None else score.number for score in scores]
    assert found.count(None) == 2
    return found  # type: ignore[return-value]
