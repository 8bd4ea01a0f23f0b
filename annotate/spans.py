"""Evidence spans: offsets in Unicode code points, kept with their quote. Mirrored by frontend/static/js/spans.js."""

from __future__ import annotations

from typing import Any

from annotate.errors import Invalid

MAX_SPANS = 100
_FIELDS = {"context", "start", "end", "quote"}


def check_evidence(evidence: Any, contexts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The spans, each checked against the text of its context. Raises Invalid `bad_evidence`."""
    if not isinstance(evidence, list) or len(evidence) > MAX_SPANS:
        raise Invalid("bad_evidence", f"evidence: write a list of at most {MAX_SPANS} spans.")
    for index, span in enumerate(evidence):
        where = f"evidence[{index}]"
        if not isinstance(span, dict) or set(span) != _FIELDS:
            raise Invalid("bad_evidence", f"{where}: write context, start, end and quote.")
        context, start, end = span["context"], span["start"], span["end"]
        if any(isinstance(n, bool) or not isinstance(n, int) for n in (context, start, end)):
            raise Invalid("bad_evidence", f"{where}: context, start and end are whole numbers.")
        if not 0 <= context < len(contexts):
            raise Invalid("bad_evidence", f"{where}: the sample has no context {context}.")
        if not 0 <= start < end <= len(contexts[context]["text"]):
            raise Invalid("bad_evidence", f"{where}: {start}–{end} lies outside context {context}.")
        if contexts[context]["text"][start:end] != span["quote"]:
            raise Invalid("bad_evidence", f"{where}: the quote is not what stands at {start}–{end} of the context.")
    return evidence
