"""What experiments compare without people: measures of each response."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """sql: its value, of the response `r`, its sample `s` and what was asked `v`; NULL where it is not known.
    direction: which way is better; None: the experiment has to say it."""

    sql: str
    unit: str
    direction: str | None


FIELDS = {
    "latency_ms": Field("r.latency_ms", "ms", "lower"),
    "first_token_ms": Field("r.first_token_ms", "ms", "lower"),
    "input_tokens": Field("r.input_tokens", "tokens", "lower"),
    "output_tokens": Field("r.output_tokens", "tokens", "lower"),
    "cost": Field("r.cost", "cost", "lower"),
    "answered": Field("(r.status = 'ok')::int", "share", "higher"),
    # Whether an answer only says that it has none, which is right where the question has none.
    "wrong_abstention": Field("CASE WHEN v.kind <> 'unanswerable' THEN s.abstained::int END", "share", "lower"),
    "right_abstention": Field("CASE WHEN v.kind = 'unanswerable' THEN s.abstained::int END", "share", "higher"),
    "abstained": Field("s.abstained::int", "share", None),
    "contexts": Field("jsonb_array_length(s.contexts)", "contexts", None),
}
