"""Which part of the reviewer's queue an address names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.utils.http import urlencode
from django.utils.translation import gettext as _

from annotate.verdicts.read import AGREED, ORDERS, STATES, Queue
from frontend.views.base import ProjectPage, sees_names


@dataclass(frozen=True)
class Narrowing:
    """What the address says, as far as it makes sense here: the rest is ignored, so that old links go on working."""

    criterion: str = ""
    batch: int | None = None
    state: str = ""
    order: str = ORDERS[0]
    annotator: str = ""
    # Of the agreed ones: so many percent, drawn with the seed.
    share: int = 100
    seed: int = 0

    @property
    def query(self) -> str:
        given = {
            "criterion": self.criterion,
            "batch": self.batch or "",
            "state": self.state,
            "order": "" if self.order == ORDERS[0] else self.order,
            "annotator": self.annotator,
            "share": self.share if self.draws else "",
            "seed": self.seed if self.draws else "",
        }
        kept = {name: value for name, value in given.items() if value}
        return "?" + urlencode(kept) if kept else ""

    @property
    def draws(self) -> bool:
        return self.state == AGREED and self.share < 100

    def but(self, **change: Any) -> str:
        """The address of the same part but for this."""
        return replace(self, **change).query or "?"

    def queue(self, page: ProjectPage) -> Queue:
        return Queue(
            page.project,
            page.user,
            criterion=self.criterion,
            batch=self.batch,
            state=self.state,
            order=self.order,
            annotator=self.annotator,
            share=self.share / 100,
            seed=self.seed,
        )


def narrowing(page: ProjectPage) -> Narrowing:
    asked = page.request.GET
    key, number = asked.get("criterion", "").replace("\x00", ""), asked.get("batch", "")
    batch = _whole(number)
    rater = asked.get("annotator", "").replace("\x00", "") if sees_names(page) else ""
    share = _whole(asked.get("share", ""))
    return Narrowing(
        criterion=key if key and page.project.criteria.filter(key=key).exists() else "",
        batch=batch if batch is not None and page.project.batches.filter(number=batch).exists() else None,
        state=asked.get("state", "") if asked.get("state") in STATES else "",
        order=asked.get("order", "") if asked.get("order") in ORDERS else ORDERS[0],
        annotator=rater if rater and page.project.raters.filter(name=rater).exists() else "",
        share=share if share is not None and 1 <= share <= 100 else 100,
        seed=_whole(asked.get("seed", "")) or 0,
    )


def _whole(number: str) -> int | None:
    return int(number) if number.isascii() and number.isdecimal() and len(number) <= 9 else None


def state_names() -> dict[str, str]:
    return {
        "": _("All that wait"),
        "disputed": _("Disputed"),
        "short": _("Too few labels"),
        "reopened": _("Reopened"),
        "returned": _("Sent back"),
        AGREED: _("Agreed, to check"),
    }


def order_names() -> dict[str, str]:
    return {"matters": _("What matters most"), "sample": _("By sample")}
