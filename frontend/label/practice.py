"""A practice sample of our own, for an annotator's first visit, in the language of the page. No label is stored."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from annotate.core.choices import choices
from annotate.projects.builtin_criteria import builtin_in_language

# No task of the database has it.
PRACTICE_ID = -1


def practice() -> dict[str, Any]:
    """`task`: as the workspace gets any other (annotate.tasks.read); `answers`: the known ones, shown at the end."""
    claims = [_("You can borrow a book for four weeks."), _("You can renew a loan as often as you like.")]
    contexts = [
        _("Books are lent for four weeks, films and games for one week. You can borrow up to ten items at a time."),
        _("A loan can be renewed twice, unless another reader has reserved the item. Renew online or at the desk."),
    ]
    reasons = {
        "supported": _("Context 1: books are lent for four weeks."),
        "contradicted": _("Context 2: a loan can be renewed only twice."),
    }
    support = builtin_in_language("support")
    asked = {name: support[name] for name in ("key", "name", "unit", "scale", "prompt", "help")}
    asked["options"] = choices(
        unit=support["unit"], scale=support["scale"], options=support["options"], passes=support["pass"]
    )
    task = {
        "id": PRACTICE_ID,
        "status": "pending",
        "active_seconds": 0,
        "leased": False,
        "return_message": "",
        "returned_by": None,
        "batch": {"number": 0, "name": _("Practice sample"), "due_date": None},
        "sample": {
            "question": _("How long can I borrow a library book, and can I renew the loan?"),
            "answer": "\n".join(claims),
            "answer_b": None,
            "reference": None,
            "abstained": None,
            "contexts": [{"id": None, "text": text} for text in contexts],
            "claims": [_placed(index, claims) for index in range(len(claims))],
            "key_facts": [],
            "entities": [],
        },
        "criteria": [{**asked, "required": True, "cant_tell": True}],
        "labels": [],
    }
    answers = [
        {"unit": f"claim:{index}", "criterion": support["key"], "answer": value, "reason": reason}
        for index, (value, reason) in enumerate(reasons.items())
    ]
    return {"task": task, "answers": answers}


def _placed(index: int, claims: list[str]) -> dict[str, Any]:
    """The claim with its place in the answer, in which each has a line."""
    start = sum(len(claim) + 1 for claim in claims[:index])
    return {"index": index, "text": claims[index], "start": start, "end": start + len(claims[index])}
