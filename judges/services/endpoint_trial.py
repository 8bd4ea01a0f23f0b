"""Trying an endpoint: one tiny request, and what became of it in kind words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from judges.endpoints.calls import Answered, CallFailed, ChatRequest, StopRun
from judges.models import Endpoint

# A page waits for it.
LONGEST_TRY = 20
MOST_MODELS = 50
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"enum": ["yes", "no"]}},
    "required": ["answer"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Trial:
    """works: whether judges could ask there. message: what happened. status: of a score when it failed, a code of
    StopRun when no request will get through, else "ok". seconds, tokens and cost: of the reply. models: the names that
    the endpoint gives for its models, when it was asked for them."""

    works: bool
    status: str
    message: str
    seconds: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    models: tuple[str, ...] = ()


def try_endpoint(*, endpoint: Endpoint, model: str | None = None) -> Trial:
    """Asks the model for one word, in the form in which judges ask; without a model, asks which models there are."""
    # Here, not above: the library takes a second to load, which every start of a web process would pay.
    from judges.endpoints.client import open_client
    from judges.endpoints.door import Door

    try:
        with open_client(endpoint, door=Door(1), at_most=LONGEST_TRY) as client:
            if not model:
                return _of_models(client.models())
            return _of_answer(client.chat(_question(model)))
    except StopRun as stop:
        return Trial(works=False, status=stop.code, message=stop.message)
    except CallFailed as failure:
        return Trial(works=False, status=failure.status, message=failure.detail)


def _question(model: str) -> ChatRequest:
    words = 'Is water wet? Reply with a JSON object: {"answer": "yes"} or {"answer": "no"}.'
    return ChatRequest(model=model, messages=[{"role": "user", "content": words}], max_tokens=50, schema=_SCHEMA)


def _of_answer(reply: Answered) -> Trial:
    if reply.raw is not None:
        status, message = "parse_error", _("Something answers there, but it doesn’t speak the OpenAI protocol.")
    elif reply.refusal:
        status, message = "refused", _("The model answers, and refuses a harmless question.")
    elif reply.finish_reason == "length":
        status, message = "truncated", _("The model answers, but it was cut off after 50 tokens.")
    elif not _keeps_to_schema(reply.text or ""):
        status = "parse_error"
        message = _("The model answers, but not in the form that was asked for: judges might not understand it.")
    else:
        status, message = "ok", _("The model answers, in the form that was asked for.")
    return Trial(
        works=status == "ok",
        status=status,
        message=message,
        seconds=reply.latency,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost=reply.cost,
    )


def _keeps_to_schema(text: str) -> bool:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(found, dict) and set(found) == {"answer"} and found["answer"] in ("yes", "no")


def _of_models(names: tuple[str, ...] | None) -> Trial:
    if names is None:
        message = _("Something answers there, but it doesn’t list models as the OpenAI protocol does.")
        return Trial(works=False, status="parse_error", message=message)
    shown = tuple(name for name in names[:MOST_MODELS] if re.fullmatch(r"[\w.:/@+-]{1,100}", name))
    message = ngettext(
        "The endpoint answers. It has %(n)d model.", "The endpoint answers. It has %(n)d models.", len(names)
    )
    return Trial(works=True, status="ok", message=message % {"n": len(names)}, models=shown)
