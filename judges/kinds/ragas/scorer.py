"""Asking: one item, one metric of the library, and its number or why there is none."""

from __future__ import annotations

import math
from collections.abc import Coroutine, Sequence
from typing import Any

from judges.endpoints.calls import Answered, Model
from judges.kinds.base import Config, Item, NoScore, Outcome, Scored
from judges.kinds.ragas.adapters import Asking, AskingModel, Embedding, metric_for
from judges.kinds.ragas.metrics import dimension_of, has_all, texts_of
from judges.kinds.ragas.rules import in_words

# The library adds up to 1e-8 to what it divides by, so that the same share of more things is a little larger: digits
# after this many mean nothing.
_DIGITS = 7


class RagasScorer:
    """Asks a model (judges.kinds.base.OneByOne). Nothing is shared between items, so that threads are of no concern."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._dimension = dimension_of(config)

    def ask(self, item: Item, model: Model) -> Outcome:
        if not has_all(self._config, item.sample):
            return self._failed(NoScore("What the metric needs of the sample is no longer there."))
        asking = Asking(self._config, model, repeat=item.repeat, contexts=len(texts_of(item.sample)))
        trouble: Exception | None = None
        try:
            number = self._number(item, asking)
        except Exception as error:  # noqa: BLE001 - told apart below
            trouble = error
        # What our model or we raised comes first, whatever the library made of it.
        trouble = asking.raised or trouble
        if trouble is None:
            scored = Scored("answer", self._dimension, number=number, rationale=in_words(asking.read))
            return Outcome([scored], asking.replies)
        if isinstance(trouble, NoScore):
            return self._failed(trouble, asking.replies)
        if trouble is asking.raised:
            raise trouble
        return self._failed(NoScore(f"The RAGAS library failed ({type(trouble).__name__})."), asking.replies)

    def _number(self, item: Item, asking: Asking) -> float:
        sample = item.sample
        metric, needs = metric_for(self._config, AskingModel(asking), Embedding(asking))
        fields = {
            "user_input": sample.question,
            "response": sample.answer,
            "reference": sample.reference,
            "retrieved_contexts": texts_of(sample),
        }
        result = _at_once(metric.ascore(**{name: fields[name] for name in needs}))
        number = result.value
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise NoScore("The RAGAS library gave no number.")
        return round(float(number), _DIGITS)

    def _failed(self, failure: NoScore, replies: Sequence[Answered] = ()) -> Outcome:
        return Outcome([failure.scored("answer", self._dimension)], replies)


def _at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """What the coroutine returns. It never has to wait, since our adapters answer before they return: so no event loop
    is needed, in which Django would refuse to query the database for kept replies."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    work.close()
    raise RuntimeError("a metric waited for something that is not ours")
