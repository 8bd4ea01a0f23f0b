"""Examples for a prompt: people's verdicts on some units of dev, drawn once and frozen."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from operator import itemgetter
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.scales import normalise
from annotate.core.units import has_unit, parse_unit, without_abstentions
from annotate.labels.anchored_read import without_anchored
from annotate.labels.settled_read import HOLDING, STANDING
from annotate.models import Criterion, Sample, Verdict
from annotate.models.sample import UNIT_PATTERN
from annotate.samples.read import samples_named
from judges.core.split import sides_of
from judges.kinds.base import Config
from judges.kinds.fields import Fields
from judges.kinds.llm.prompt import example_name, texts_in, value_of

# Shown with one unit, and drawn where each unit is shown only the nearest of them.
MOST, MOST_DRAWN = 20, 200
# Characters of all texts of one example: examples are paid for with every request. And of people's reason for it.
LONGEST, LONGEST_REASON = 6000, 1000

Example = dict[str, Any]


def example_samples(config: Config) -> frozenset[str]:
    """The samples, by their own ids, whose verdicts a judge knows: it is neither asked about them nor measured on
    them."""
    return frozenset(example["sample"] for example in config["examples"]["drawn"])


def read_examples(fields: Fields, criterion: Criterion | None, shown: Sequence[str]) -> dict[str, Any]:
    """{"count", "seed", "drawn", "drawn_with"} of the field `examples`; and "nearest" where of those drawn only so many
    are shown with each unit, the ones most like it.

    What was drawn with the same count and seed stays, however many verdicts were added since; only its texts are read
    again. shown: the variables that the prompt shows. Raises Refused when there are too few verdicts on dev, and for a
    sample that isn't on dev.
    """
    given = fields.raw("examples")
    inner = Fields({} if given is None else given, fields.place("examples"))
    nearest = inner.whole("nearest", default=0, high=MOST)
    count = inner.whole("count", default=0, high=MOST_DRAWN if nearest else MOST)
    seed = inner.whole("seed", default=1, high=2**31)
    drawn, drawn_with = inner.raw("drawn"), inner.raw("drawn_with")
    inner.finish()
    if nearest > count:
        raise inner.refuse("nearest", _("Must be at most the number of examples."))
    wanted = {"count": count, "seed": seed}
    found = _found(inner, criterion, shown, wanted, drawn if drawn_with == wanted else None)
    # Left out where all are shown, so that versions of before have the hash that they had.
    return {**wanted, "drawn": found, "drawn_with": wanted, **({"nearest": nearest} if nearest else {})}


def _found(
    inner: Fields, criterion: Criterion | None, shown: Sequence[str], wanted: Mapping[str, int], drawn: Any
) -> list[Example]:
    count, seed = wanted["count"], wanted["seed"]
    if not count:
        return []
    if criterion is None:
        raise inner.refuse("count", _("Examples come from human verdicts on a criterion. Specify the criterion."))
    return _frozen(inner, drawn, criterion, shown) if drawn else _draw(inner, criterion, count, seed, shown)


def _draw(fields: Fields, criterion: Criterion, count: int, seed: int, shown: Sequence[str]) -> list[Example]:
    """One unit per sample, and each of the values that people gave equally often, as far as there are enough."""
    chosen: list[Example] = []
    for pk, unit, value in _in_turn(criterion, seed):
        sample = Sample.objects.get(pk=pk)
        if any(example["sample"] == sample.external_id for example in chosen):
            continue
        example = example_of(sample, unit, value, shown)
        if example is not None:
            chosen.append(example)
        if len(chosen) == count:
            return chosen
    raise fields.refuse(
        "count",
        _("Only %(there)d resolved samples in the dev set have everything that the prompt uses.")
        % {"there": len(chosen)},
    )


def _in_turn(criterion: Criterion, seed: int) -> Iterator[tuple[int, str, Any]]:
    """(sample, unit, value) of the settled units on dev, the values in turn; those of each value in an order drawn by
    the seed, which is the same in every installation."""
    verdicts = without_anchored(without_abstentions(Verdict.objects.filter(criterion=criterion)), criterion)
    settled = verdicts.alias(standing=STANDING).filter(standing__in=HOLDING).order_by()
    rows = list(settled.values_list("sample", "sample__external_id", "unit", "value"))
    # What is on test, or on no side yet and may get onto test, is never shown.
    is_dev = sides_of(criterion, {name for _pk, name, _unit, _value in rows})
    by_value: dict[str, list[tuple[bytes, tuple[int, str, Any]]]] = {}
    for pk, name, unit, value in rows:
        if not is_dev.get(name, False):
            continue
        place = hashlib.blake2b(f"{seed}\x1f{name}\x1f{unit}".encode(), digest_size=8).digest()
        by_value.setdefault(repr(value), []).append((place, (pk, unit, value)))
    for turn in zip_longest(*(sorted(rows, key=itemgetter(0)) for _value, rows in sorted(by_value.items()))):
        yield from (row[1] for row in turn if row is not None)


def _frozen(fields: Fields, drawn: Any, criterion: Criterion, shown: Sequence[str]) -> list[Example]:
    if not isinstance(drawn, list) or len(drawn) > MOST_DRAWN:
        raise fields.refuse("drawn", _("Must be a list of at most %(most)d objects.") % {"most": MOST_DRAWN})
    found = []
    for place, given in enumerate(drawn):
        one = Fields(given, fields.place(f"drawn.{place}"))
        name, unit, value = one.text("sample", longest=500), one.text("unit", longest=20), one.raw("value")
        reason = one.text("reason", longest=LONGEST_REASON) if one.raw("reason") else ""
        one.raw("shows")
        one.finish()
        is_dev = sides_of(criterion, [name]).get(name, False)
        sample = samples_named(criterion.project, [name]).first() if is_dev else None
        example = None if sample is None else example_of(sample, unit, value, shown)
        if example is None or not _is_value(criterion, value):
            raise one.refuse("sample", _("No longer available as an example. Leave out “drawn” to draw new ones."))
        found.append({**example, **({"reason": reason} if reason else {})})
    return found


def _is_value(criterion: Criterion, value: Any) -> bool:
    try:
        return value is not None and normalise(criterion, value) == value
    except Invalid:
        return False


def example_of(sample: Sample, unit: str, value: Any, shown: Sequence[str]) -> Example | None:
    """None when the unit is gone, the sample has nothing for one of the variables, or it is too long."""
    if not re.fullmatch(UNIT_PATTERN, unit) or not has_unit(sample, unit):
        return None
    kind, _index = parse_unit(unit)
    names = [example_name(name, kind) for name in shown]
    shows = {name: value_of(name, sample, unit) for name in names}
    if any(text is None for text in shows.values()) or sum(map(len, texts_in(shows.values()))) > LONGEST:
        return None
    return {"sample": sample.external_id, "unit": unit, "value": value, "shows": shows}
