"""What the loopback server says to the library's prompts, and by which rule, so that every score can be foretold.

A statement is a sentence. It holds where it stands word by word. A context is useful when it holds any sentence of what
it is held against.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.openai_server import Request

_INPUT = re.compile(r"Now perform the same with the following input\ninput: (.*)\nOutput: \Z", re.DOTALL)


def sentences(text: str) -> list[str]:
    return [one.strip() + "." for one in text.split(".") if one.strip()]


def answer(request: Request) -> Any:
    found = _INPUT.search(request.prompt)
    assert found, request.prompt
    given = json.loads(found[1])
    if "statements" in given:
        judged = [
            {"statement": one, "reason": "looked it up", "verdict": int(one in given["context"])}
            for one in given["statements"]
        ]
        return {"statements": judged}
    if "context" in given:
        held = any(one in given["context"] for one in sentences(given["answer"]))
        return {"reason": "looked it up", "verdict": int(held)}
    return {"statements": sentences(given["answer"])}
