"""The columns of a scores file."""

from __future__ import annotations

from annotate.files.fields import IGNORE, SAMPLE_FIELDS, Fields

SCORE_FIELDS = Fields(
    spellings={
        "sample_id": ("sample_id", "sample", "id", "external_id"),
        "unit": ("unit",),
        "criterion": ("criterion", "dimension"),
        "judge": ("judge", "metric", "evaluator", "scorer"),
        "score": ("score", "value"),
        "rationale": ("rationale", "reason", "explanation"),
        "status": ("status",),
        "version": ("version", "judge_version"),
        "repeat": ("repeat",),
        "higher_is_better": ("higher_is_better",),
        "question": SAMPLE_FIELDS.spellings["question"],
        "answer": SAMPLE_FIELDS.spellings["answer"],
    },
    required=(),
    rest=IGNORE,
    # In a wide table every metric is a column of scores.
    repeatable=frozenset({"score"}),
)
