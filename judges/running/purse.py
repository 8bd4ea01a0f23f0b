"""A run's money: nothing goes out that it may not pay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from threading import Condition

from django.utils.translation import gettext as _

from judges.endpoints.calls import Answered, ChatRequest, EmbedRequest, StopRun
from judges.models import Endpoint

# Of English about four characters are a token, of Chinese one or two: a reservation is rather too large.
_CHARACTERS_PER_TOKEN = 2
# When a request doesn't bound its reply.
_USUAL_REPLY = 4_096
_MILLION = Decimal(1_000_000)


class NotNow(Exception):
    """The run has been paused or stopped meanwhile: nothing of it goes out."""


class Purse:
    """Of one run in one process; all threads share it. Without a budget everything may go out.

    Each call is reserved at what it may cost at most before it is made. When there is no room beside those under way,
    it waits for what they really cost; when nothing is under way and there is some money left, one call may go out.
    Calls that are dearer than their requests said can overshoot the budget, by what is under way at the most.
    """

    def __init__(self, budget: Decimal | None, spent: Decimal, endpoint: Endpoint | None) -> None:
        self.budget = budget
        self._spent = spent
        self._reserved: dict[int, Decimal] = {}
        self._changed = Condition()
        self._is_open = True
        self._number = 0
        self._price_in = (endpoint and endpoint.price_in) or Decimal(0)
        self._price_out = (endpoint and endpoint.price_out) or Decimal(0)

    @contextmanager
    def reserved(self, request: ChatRequest | EmbedRequest) -> Iterator[list[Answered]]:
        """Around a call; what it brought is put into the list. Raises StopRun when there is no money for it,
        NotNow when the run was stopped while it waited."""
        if self.budget is None:
            yield []
            return
        number = self._reserve(self.most(request))
        came: list[Answered] = []
        try:
            yield came
        finally:
            self._settle(number, came)
        if any(answered.cost is None for answered in came):
            raise StopRun(
                "unpriced", _("The endpoint doesn't say how many tokens its replies took; a budget can't be kept.")
            )

    def close(self) -> None:
        """Nobody waits any more: the run is not to go on."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()

    def most(self, request: ChatRequest | EmbedRequest) -> Decimal:
        """What it may cost at most."""
        if isinstance(request, ChatRequest):
            characters = sum(len(message["content"]) for message in request.messages)
            out = request.max_tokens or _USUAL_REPLY
        else:
            characters, out = sum(len(text) for text in request.texts), 0
        tokens = characters // _CHARACTERS_PER_TOKEN + 1
        return (self._price_in * tokens + self._price_out * out) / _MILLION

    def _reserve(self, cost: Decimal) -> int:
        assert self.budget is not None
        with self._changed:
            while self._is_open and self._reserved and self._spent + self._under_way() + cost > self.budget:
                self._changed.wait()
            if not self._is_open:
                raise NotNow
            if self._spent >= self.budget:
                raise StopRun("budget", _("The budget of this run is spent."))
            self._number += 1
            self._reserved[self._number] = cost
            return self._number

    def _settle(self, number: int, came: list[Answered]) -> None:
        with self._changed:
            reserved = self._reserved.pop(number)
            for answered in came:
                self._spent += reserved if answered.cost is None else answered.cost
            self._changed.notify_all()

    def _under_way(self) -> Decimal:
        return sum(self._reserved.values(), Decimal(0))
