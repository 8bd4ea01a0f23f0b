"""Units are addresses within a sample: `answer`, `sample`, `claim:3`, `context:2`, `fact:0`, `entity:1`.

The one home of the rule which units a sample has (docs/decisions/0001-units-are-addresses.md), in Python and, at the
end, in SQL. A claim that was dropped keeps its index and is no unit. A sample without an answer has neither an answer
nor claims, and no criterion that is about the answer asks anything of it (docs/decisions/0025-no-answer.md). An answer
that abstains has no claims, whatever is stored of them, and what was said of them counts in nothing
(docs/decisions/0026-abstentions.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, F, Func, IntegerField, OuterRef, Q, QuerySet
from django.db.models.lookups import GreaterThan
from django.utils.translation import gettext as _

from annotate.core.rows import Row
from annotate.models.sample import UNIT_PATTERN, Sample

if TYPE_CHECKING:
    from annotate.models import Criterion

MAX_UNITS = 1000  # contexts, claims, key facts or entities of one sample
_UNIT = re.compile(UNIT_PATTERN)
_LONGEST = len("context:999999")

# Kind of unit -> the field of Sample that lists its members.
LISTED_KINDS = {"claim": "claims", "context": "contexts", "fact": "key_facts", "entity": "entities"}

# Kinds of units that an answer has, and of built-in criteria on others how many answers they are about all the same.
OF_ANSWER = ("claim", "answer")
_ABOUT_ANSWERS = {"fact_in_answer": 1, "preference": 2}

# The order in which a person goes through a sample.
KIND_ORDER = ("claim", "context", "fact", "entity", "answer", "sample")


def parse_unit(unit: str) -> tuple[str, int | None]:
    """Kind and index of an address; `("answer", None)` for units that a sample has once.

    Raises ValueError with a sentence when it is no address.
    """
    parsed = _parsed(unit) if isinstance(unit, str) and len(unit) <= _LONGEST else None
    if parsed is None:
        raise ValueError(f"{str(unit)[:80]!r} is no unit; write answer, sample, claim:0, context:0, fact:0 or entity:0")
    return parsed


# A judge that works on this machine asks it some ten thousand times a second, of a few dozen addresses.
@lru_cache(maxsize=1024)
def _parsed(unit: str) -> tuple[str, int | None] | None:
    if not _UNIT.fullmatch(unit):
        return None
    kind, _, index = unit.partition(":")
    return kind, int(index) if index else None


def is_dropped(claim: Mapping[str, Any]) -> bool:
    return claim.get("dropped") is True


def reading_order(claims: Sequence[Mapping[str, Any]]) -> list[int]:
    """Indices of the claims that are there, as they stand in the answer; those without a place come last. Mirrored by
    claimOrder of frontend/label/static/label/steps.js."""
    there = [index for index, claim in enumerate(claims) if not is_dropped(claim)]
    return sorted(there, key=lambda index: (claims[index].get("start") is None, claims[index].get("start") or 0, index))


def claims_of(sample: Sample) -> list[dict[str, Any]]:
    """By index, dropped ones too."""
    return [] if sample.abstained else sample.claims


def unit_indices(sample: Sample, kind: str) -> Sequence[int]:
    """Of a kind that samples list."""
    if kind == "claim":
        return [index for index, claim in enumerate(claims_of(sample)) if not is_dropped(claim)]
    return range(len(getattr(sample, LISTED_KINDS[kind])))


def unit_count(sample: Sample, kind: str) -> int:
    """How many units of the kind the sample has."""
    return len(units_of(sample, kind))


def units_of(sample: Sample, kind: str) -> list[str]:
    """Addresses of all units of the kind, by index."""
    if kind in LISTED_KINDS:
        return [f"{kind}:{index}" for index in unit_indices(sample, kind)]
    return [kind] if kind != "answer" or sample.answer is not None else []


def has_unit(sample: Sample, unit: str) -> bool:
    kind, index = parse_unit(unit)
    return unit in units_of(sample, kind) if index is None else index in unit_indices(sample, kind)


def whole_unit(sample: Sample) -> str:
    """The unit that a judge scores when it scores the sample as a whole: its answer, where it has one."""
    return "answer" if sample.answer is not None else "sample"


def answers_of(sample: Sample) -> int:
    """How many answers the sample has: none, one, or a second one to compare with the first."""
    return sum(answer is not None for answer in (sample.answer, sample.answer_b))


def answers_asked(key: str, unit: str) -> int:
    """How many answers a sample needs so that the criterion can be asked of its units, if it has any of the kind."""
    return _ABOUT_ANSWERS.get(key, int(unit in OF_ANSWER))


def live_claims(sample: Sample) -> list[dict[str, Any]]:
    """The claims that are there, each with its index: what a client is sent."""
    return [
        {"index": index, "text": claim["text"], "start": claim.get("start"), "end": claim.get("end")}
        for index, claim in enumerate(claims_of(sample))
        if not is_dropped(claim)
    ]


def unit_text(sample: Sample, unit: str) -> str:
    """The words of the unit: the claim, the context's text, the key fact, the entity, or the answer; of a sample that
    has no answer the question."""
    kind, index = parse_unit(unit)
    if index is None:
        return sample.question if sample.answer is None else sample.answer
    member = getattr(sample, LISTED_KINDS[kind])[index]
    return member["text"] if isinstance(member, dict) else member


def unit_number(sample: Sample, unit: str) -> int:
    """How people count the units of a kind: from one, claims as they stand in the answer."""
    kind, index = parse_unit(unit)
    order = reading_order(claims_of(sample)) if kind == "claim" else []
    return order.index(index) + 1 if index in order else (index or 0) + 1


def unit_title(unit: str, number: int | None = None) -> str:
    """What people call the unit: `Claim 2`. number: its `unit_number`; when it isn't known, it follows from the index,
    which is right for claims that were never edited."""
    kind, index = parse_unit(unit)
    if kind == "answer":
        return _("Answer")
    if kind == "sample":
        return _("Sample")
    titles = {
        "claim": _("Claim %(n)d"),
        "context": _("Context %(n)d"),
        "fact": _("Key fact %(n)d"),
        "entity": _("Entity %(n)d"),
    }
    return titles[kind] % {"n": (index or 0) + 1 if number is None else number}


def unit_anchor(unit: str) -> str:
    """The unit's place on its sample's page, as an id: `claim-3`."""
    return unit.replace(":", "-")


# A release asks it of each verdict.
@lru_cache(maxsize=1024)
def unit_sort_key(unit: str) -> tuple[int, int]:
    """Sorts addresses in the order in which a person goes through them."""
    kind, index = parse_unit(unit)
    return KIND_ORDER.index(kind), index or 0


# Of units that a sample has once, the column without which it doesn't have them.
_COLUMN = {**LISTED_KINDS, "answer": "answer", "sample": "id"}
_THERE = """(SELECT {columns}) AS of (claims, abstained), jsonb_array_elements(of.claims) WITH ORDINALITY AS c (e, n)
    WHERE c.e -> 'dropped' IS DISTINCT FROM 'true' AND of.abstained IS NOT TRUE"""


def _columns(kind: str) -> tuple[str, ...]:
    """Those that say which units of the kind a sample has."""
    return (_COLUMN[kind], *(("abstained",) if kind == "claim" else ()))


def indices_sql(kind: str) -> str:
    """An array of the indices of the units of a kind that samples list, in a query that calls the samples `s`."""
    if kind == "claim":
        return f"ARRAY(SELECT (c.n - 1)::int FROM {_THERE.format(columns=_of_s(kind))} ORDER BY c.n)"
    return f"ARRAY(SELECT generate_series(0, jsonb_array_length({_of_s(kind)}) - 1))"


def count_sql(kind: str, columns: str | None = None) -> str:
    """How many units of a kind there are. columns: as `_columns`; else those of the samples `s`."""
    columns = columns or _of_s(kind)
    if kind == "claim":
        return f"(SELECT count(*)::int FROM {_THERE.format(columns=columns)})"
    return f"jsonb_array_length({columns})" if kind in LISTED_KINDS else f"({columns} IS NOT NULL)::int"


def _of_s(kind: str) -> str:
    return ", ".join(f"s.{name}" for name in _columns(kind))


def units_sql(kind: str) -> str:
    """The units of a kind of the sample `s`, as rows to select from: each with its address, its place among them and
    its words (`unit_text`)."""
    if kind == "claim":
        return """(SELECT 'claim:' || c.n - 1, c.n, c.e ->> 'text'
                     FROM jsonb_array_elements(s.claims) WITH ORDINALITY AS c (e, n)
                    WHERE c.e -> 'dropped' IS DISTINCT FROM 'true' AND s.abstained IS NOT TRUE)"""
    if kind == "context":
        return """(SELECT 'context:' || c.n - 1, c.n, c.e ->> 'text'
                     FROM jsonb_array_elements(s.contexts) WITH ORDINALITY AS c (e, n))"""
    if kind in LISTED_KINDS:
        return f"""(SELECT '{kind}:' || c.n - 1, c.n, c.e
                      FROM jsonb_array_elements_text(s.{LISTED_KINDS[kind]}) WITH ORDINALITY AS c (e, n))"""
    there = "s.answer IS NOT NULL" if kind == "answer" else "true"
    return f"(SELECT '{kind}', 1, coalesce(s.answer, s.question) WHERE {there})"


class UnitCount(Func):
    """The same for the ORM, on rows of samples."""

    output_field = IntegerField()

    def __init__(self, kind: str) -> None:
        super().__init__(*map(F, _columns(kind)), template=count_sql(kind, "%(expressions)s"))


def with_answers(key: str, unit: str) -> Q:
    """Of rows of samples: whether they have as many answers as the criterion asks about."""
    columns = ("answer", "answer_b")[: answers_asked(key, unit)]
    return Q(**{f"{name}__isnull": False for name in columns})


def asks_any(criterion: Criterion) -> Q:
    """Of rows of samples: whether the criterion asks something of them."""
    return Q(GreaterThan(UnitCount(criterion.unit), 0)) & with_answers(criterion.key, criterion.unit)


def asks_sql() -> str:
    """Whether the sample `s` has as many answers as the criterion `c` asks about."""
    of_key = " ".join(f"WHEN c.key = '{key}' THEN {count}" for key, count in _ABOUT_ANSWERS.items())
    kinds = ", ".join(f"'{kind}'" for kind in OF_ANSWER)
    return f"(num_nonnulls(s.answer, s.answer_b) >= CASE {of_key} WHEN c.unit IN ({kinds}) THEN 1 ELSE 0 END)"


def without_abstentions(rows: QuerySet[Row]) -> QuerySet[Row]:
    """Labels, verdicts, known answers or scores, without those of claims of answers that abstain: they may carry some
    of before that was said."""
    abstaining = Sample.objects.filter(pk=OuterRef("sample"), abstained=True)
    return rows.exclude(Q(unit__startswith="claim:") & Exists(abstaining))


def of_abstentions(rows: QuerySet[Row]) -> QuerySet[Row]:
    """Those that `without_abstentions` leaves out."""
    return rows.filter(unit__startswith="claim:", sample__abstained=True)


def no_abstention(row: str) -> str:
    """The same for statements by hand. row: what the statement calls the label, verdict …"""
    return f"""(NOT starts_with({row}.unit, 'claim:')
        OR NOT EXISTS (SELECT FROM annotate_sample o WHERE o.id = {row}.sample_id AND o.abstained))"""
