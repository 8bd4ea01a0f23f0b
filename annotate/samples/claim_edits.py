"""The changes of a sample's claims, as functions of the claims before. The answer never changes.

A claim is {"text", "start", "end"}: its place in the answer in code points, whose words are then exactly its text, or
None for one that says it in other words. An index keeps its meaning (docs/decisions/0001): what is made of claims comes
at the end and names them in "from"; they stay where they are, marked as dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.spans import relocate
from annotate.core.texts import is_storable
from annotate.core.units import MAX_UNITS, is_dropped, reading_order
from annotate.samples.claim_splitting import Claim, named_claims, split_into_claims

Change = Mapping[str, Any]

MAX_TEXT = 10_000
# Dropped claims are kept; without a limit a script could make a row grow endlessly.
MAX_EVER = 10 * MAX_UNITS
_WORD = re.compile(r"\w")
# Written without blanks between sentences.
_UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]$")


def apply_change(change: Change, claims: Sequence[Claim], answer: str) -> list[Claim]:
    """The claims afterwards; those given are not touched. Raises Invalid for what can't be done."""
    name = change.get("op")
    if not isinstance(name, str) or name not in _OPERATIONS:
        raise Invalid("unknown_change", _("op: must be one of %(known)s.") % {"known": ", ".join(_OPERATIONS)})
    act, known, required = _OPERATIONS[name]
    unknown = sorted(set(change) - known - {"op"})
    if unknown or not required <= set(change):
        raise Invalid("bad_change", _("“%(op)s” needs %(fields)s.") % {"op": name, "fields": ", ".join(sorted(known))})
    after = act([dict(claim) for claim in claims], change, answer)
    if sum(not is_dropped(claim) for claim in after) > MAX_UNITS or len(after) > MAX_EVER:
        raise Invalid("too_many_claims", _("A sample can have up to %(most)d claims.") % {"most": MAX_UNITS})
    return after


def go_back(claims: Sequence[Claim], then: Sequence[Claim]) -> list[Claim]:
    """The claims as they were at an earlier revision; later ones stay, dropped, since an index is never given up."""
    return [*(dict(claim) for claim in then), *({**claim, "dropped": True} for claim in claims[len(then) :])]


def _split(claims: list[Claim], change: Change, answer: str) -> list[Claim]:
    index = _live(claims, change["claim"])
    claim, at = claims[index], _number(change["at"], "at")
    parts = [
        _part(claim, begin, end)
        for begin, end in ((0, at), (at, len(claim["text"])))
        if begin <= end <= len(claim["text"])
    ]
    if len(parts) < 2 or not all(_WORD.search(part["text"]) for part in parts):
        raise Invalid("nothing_to_split", _("Split the claim between two words."))
    return _replaced(claims, [index], parts)


def _part(claim: Claim, begin: int, end: int) -> Claim:
    """These characters of a claim, without the blanks around them."""
    words = claim["text"][begin:end]
    blanks = len(words) - len(words.lstrip())
    return _claim(words.strip(), None if claim["start"] is None else claim["start"] + begin + blanks)


def _merge(claims: list[Claim], change: Change, answer: str) -> list[Claim]:
    given = change["claims"]
    if not isinstance(given, list) or len(given) != 2 or given[0] == given[1]:
        raise Invalid("bad_change", _("claims: must be the indices of two claims."))
    indices = [_live(claims, index) for index in given]
    one, two = (claims[index] for index in reading_order(claims) if index in indices)
    return _replaced(claims, sorted(indices), [_united(one, two, answer)])


def _united(one: Claim, two: Claim, answer: str) -> Claim:
    """One claim of two. It has a place when nothing is said between theirs; else its words are both texts."""
    if one["start"] is not None and two["start"] is not None:
        start, end = one["start"], max(one["end"], two["end"])
        if not _WORD.search(answer[one["end"] : two["start"]]):
            return _claim(answer[start:end], start)
    between = "" if _UNSPACED.search(one["text"]) else " "
    return _claim(one["text"] + between + two["text"], None)


def _edit(claims: list[Claim], change: Change, answer: str) -> list[Claim]:
    index = _live(claims, change["claim"])
    text = _text(change["text"])
    claims[index] = {**claims[index], **_placed(text, answer, near=claims[index]["start"])}
    return claims


def _move(claims: list[Claim], change: Change, answer: str) -> list[Claim]:
    index = _live(claims, change["claim"])
    claims[index] = {**claims[index], **_passage(change, answer)}
    return claims


def _add(claims: list[Claim], change: Change, answer: str) -> list[Claim]:
    if "text" in change:
        if "start" in change or "end" in change:
            raise Invalid("bad_change", _("Give either a text or a passage from start to end, not both."))
        return [*claims, _placed(_text(change["text"]), answer, near=None)]
    if not {"start", "end"} <= set(change):
        raise Invalid("bad_change", _("Give either a text or a passage from start to end, not both."))
    return [*claims, _passage(change, answer)]


def _drop(claims: list[Claim], change: Change, answer: str) -> list[Claim]:
    index = _live(claims, change["claim"])
    claims[index]["dropped"] = True
    return claims


def _restore(claims: list[Claim], change: Change, answer: str) -> list[Claim]:
    index = _known(claims, change["claim"])
    if not is_dropped(claims[index]):
        raise Invalid("not_dropped", _("This claim was not removed."))
    del claims[index]["dropped"]
    return claims


def _split_again(claims: list[Claim], change: Change, answer: str) -> list[Claim]:
    """One claim per sentence."""
    return _all_anew(claims, split_into_claims(answer))


def _replace(claims: list[Claim], change: Change, answer: str) -> list[Claim]:
    """These texts, each with its place in the answer if it stands there."""
    texts = change["claims"]
    if not isinstance(texts, list) or not texts:
        raise Invalid("bad_change", _("claims: must be a list of claim texts, at least one."))
    return _all_anew(claims, named_claims([_text(text) for text in texts], answer))


def _all_anew(claims: list[Claim], wanted: Sequence[Claim]) -> list[Claim]:
    """The wanted claims and no others. One that is there already keeps its index, or comes back."""
    known = {(claim["text"], claim["start"]): index for index, claim in reversed(list(enumerate(claims)))}
    kept: set[int] = set()
    new = []
    for claim in wanted:
        index = known.get((claim["text"], claim["start"]))
        if index is None:
            new.append(claim)
        else:
            kept.add(index)
    for index, claim in enumerate(claims):
        if index in kept:
            claim.pop("dropped", None)
        elif not is_dropped(claim):
            claim["dropped"] = True
            for one in new:
                if _overlap(claim, one):
                    one.setdefault("from", []).append(index)
    return [*claims, *new]


def _overlap(one: Claim, two: Claim) -> bool:
    if one["start"] is None or two["start"] is None:
        return False
    return one["start"] < two["end"] and two["start"] < one["end"]


_Operation = Callable[[list[Claim], Change, str], list[Claim]]
# Name -> what does it, its fields, and those that it can't do without.
_OPERATIONS: dict[str, tuple[_Operation, set[str], set[str]]] = {
    "split": (_split, {"claim", "at"}, {"claim", "at"}),
    "merge": (_merge, {"claims"}, {"claims"}),
    "edit": (_edit, {"claim", "text"}, {"claim", "text"}),
    "move": (_move, {"claim", "start", "end"}, {"claim", "start", "end"}),
    "add": (_add, {"text", "start", "end"}, set()),
    "drop": (_drop, {"claim"}, {"claim"}),
    "restore": (_restore, {"claim"}, {"claim"}),
    "split_again": (_split_again, set(), set()),
    "replace": (_replace, {"claims"}, {"claims"}),
}
FIELDS = {"op"}.union(*(known for _act, known, _required in _OPERATIONS.values()))


def _replaced(claims: list[Claim], indices: Sequence[int], made: Iterable[Claim]) -> list[Claim]:
    for index in indices:
        claims[index]["dropped"] = True
    return [*claims, *({**claim, "from": list(indices)} for claim in made)]


def _claim(text: str, start: int | None) -> Claim:
    return {"text": text, "start": start, "end": None if start is None else start + len(text)}


def _placed(text: str, answer: str, *, near: int | None) -> Claim:
    """The text with its place in the answer, of several the nearest; a paraphrase has none."""
    found = relocate(answer, {"quote": text, "start": near or 0, "end": 0})
    return _claim(text, found["start"] if found else None)


def _passage(change: Change, answer: str) -> Claim:
    """What stands in the answer from start to end, without the blanks around it."""
    start, end = _number(change["start"], "start"), _number(change["end"], "end")
    words = answer[start:end] if end <= len(answer) else ""
    if not _WORD.search(words):
        raise Invalid("empty_passage", _("Select at least one word of the answer."))
    return _claim(words.strip(), start + len(words) - len(words.lstrip()))


def _text(value: Any) -> str:
    if not is_storable(value) or not _WORD.search(value):
        raise Invalid("empty_claim", _("A claim needs at least one word."))
    text: str = value.strip()
    if len(text) > MAX_TEXT:
        raise Invalid("claim_too_long", _("A claim can have up to %(most)d characters.") % {"most": MAX_TEXT})
    return text


def _live(claims: Sequence[Claim], value: Any) -> int:
    index = _known(claims, value)
    if is_dropped(claims[index]):
        raise Invalid("dropped_claim", _("claim:%(index)d was removed. Restore it first.") % {"index": index})
    return index


def _known(claims: Sequence[Claim], value: Any) -> int:
    index = _number(value, "claim")
    if index >= len(claims):
        raise Invalid("unknown_claim", _("claim:%(index)d not found in this sample.") % {"index": index})
    return index


def _number(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Invalid("bad_change", _("%(name)s: must be a whole number, at least 0.") % {"name": name})
    return value
