"""What a lexical judge can measure. Every number is from 0 to 1, and depends on the sample alone.

The corpus of BM25 and TF-IDF is the sample's own contexts. Libraries for them build an index of the corpus first, which
for four passages takes far longer than the sums below; the tests compare those with two libraries.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log, sqrt
from typing import Any

from annotate.core.spans import citations_in, malformed_citations_in
from annotate.core.units import parse_unit
from annotate.models import Sample
from annotate.samples.claim_splitting import split_into_claims
from judges.kinds.base import Measured, NoScore
from judges.kinds.fields import SOURCES, Fields, against_field, has_source
from judges.kinds.lexical.texts import Reading
from judges.models import Finding

Words = Sequence[str]


def bm25(query: Words, contexts: Sequence[Words], *, k1: float, b: float) -> list[float]:
    """Σ idf·tf / (tf + k1·(1 − b + b·length / mean length)) over the query's distinct words, divided by Σ idf: the
    share of the limit for a context that repeats every word of the query endlessly. From 0 to 1.

    idf = ln(1 + (N − df + ½) / (df + ½)), which is never negative.

    Source: Robertson & Zaragoza (2009), The Probabilistic Relevance Framework; idf as in Lucene.

    >>> bm25(["a", "b"], [["a", "x"], ["y", "z"]], k1=1.2, b=0.75)[1]
    0.0
    """
    counts = [Counter(context) for context in contexts]
    mean = sum(map(len, contexts)) / len(contexts)
    idf = {}
    for word in dict.fromkeys(query):
        df = sum(word in count for count in counts)
        idf[word] = log(1 + (len(contexts) - df + 0.5) / (df + 0.5))
    most = sum(idf.values())
    scores = []
    for context, count in zip(contexts, counts, strict=True):
        damping = k1 * (1 - b + b * len(context) / mean)
        reached = sum(idf[word] * count[word] / (count[word] + damping) for word in idf if word in count)
        scores.append(reached / most)
    return scores


def tf_idf(query: Words, contexts: Sequence[Words]) -> list[float]:
    """The cosine between query and context, each a vector of tf·idf with idf = ln((1 + N) / (1 + df)) + 1. From 0 to 1;
    words of the query that no context has count in its length.

    Source: Salton & Buckley (1988); idf smoothed as in scikit-learn.
    """
    counts = [Counter(context) for context in contexts]
    df: Counter[str] = Counter()
    for count in counts:
        df.update(count.keys())
    # By df: there are few different ones.
    idf = [log((1 + len(contexts)) / (1 + each)) + 1 for each in range(len(contexts) + 1)]
    asked = {word: tf * idf[df[word]] for word, tf in Counter(query).items()}
    length = sqrt(sum(weight * weight for weight in asked.values()))
    scores = []
    for count in counts:
        own = sqrt(sum((tf * idf[df[word]]) ** 2 for word, tf in count.items()))
        together = sum(weight * count[word] * idf[df[word]] for word, weight in asked.items() if word in count)
        scores.append(min(together / (own * length), 1.0) if own else 0.0)
    return scores


Options = Mapping[str, Any]
SHARES = ("precision", "recall", "f1")
# At most this many of the missing words are named.
_NAMED = 8
# A longer text is no key fact, and comparing each of its words with each of a long context takes minutes.
LONGEST_FACT = 400
# Words that may be spelt a little differently: not numbers, and none so short that another word is one letter away.
_SHORTEST_FUZZY = 4


class Measure(ABC):
    """kinds: of units that it scores. pairs: how it splits scripts without blanks by default (lexical.texts)."""

    kinds: Collection[str] = ("claim", "context", "fact", "entity", "answer")
    pairs = True

    @abstractmethod
    def options(self, fields: Fields, unit: str) -> dict[str, Any]:
        """Its own fields, complete. unit: the kind that is scored."""
        ...

    def asks(self, options: Options, sample: Sample, unit: str) -> bool:
        """Whether the sample has what the measure needs for the unit."""
        return has_source(sample, options["against"])

    @abstractmethod
    def score(self, options: Options, reading: Reading, unit: str) -> Measured:
        """The number, and what it rests on in words. Raises NoScore."""
        ...


def _share(found: float, of_unit: int, of_source: int, share: str) -> float:
    if share == "f1":
        return 2 * found / (of_unit + of_source)
    return found / (of_unit if share == "precision" else of_source)


def _missing(wanted: Iterable[str], there: Collection[str]) -> str:
    names = [word for word in wanted if word not in there]
    more = "…" if len(names) > _NAMED else ""
    return f" Not there: {', '.join(names[:_NAMED])}{more}" if names else ""


class TokenOverlap(Measure):
    """Which share of the distinct words of one text the other one has."""

    def options(self, fields: Fields, unit: str) -> dict[str, Any]:
        return {
            "against": against_field(fields, unit, "question" if unit == "context" else "contexts"),
            "share": fields.choice("share", SHARES, default="recall" if unit == "context" else "precision"),
            "contexts": fields.choice("contexts", ("all", "best"), default="all"),
        }

    def score(self, options: Options, reading: Reading, unit: str) -> tuple[float, str]:
        against = options["against"]
        own = dict.fromkeys(reading.unit(unit))
        sources = [reading.pooled(against)] if options["contexts"] == "all" else reading.distinct(against)
        scored = [
            (_share(shared, len(own), len(source), options["share"]), shared, source)
            for source in sources
            if source
            for shared in (len(own.keys() & source),)
        ]
        number, shared, source = max(scored, key=lambda one: one[0])
        if options["share"] == "recall":
            return number, f"{shared} of {len(source)} words of {SOURCES[against]}."
        return number, f"{shared} of {len(own)} words are in {SOURCES[against]}.{_missing(own, source)}"


class RougeL(Measure):
    """The longest common subsequence of words; of several contexts the one that gives most."""

    # Of characters, as usual.
    pairs = False

    def options(self, fields: Fields, unit: str) -> dict[str, Any]:
        against = against_field(fields, unit, "question" if unit == "context" else "contexts")
        return {
            "against": against,
            "share": fields.choice("share", SHARES, default="f1" if against == "reference" else "precision"),
        }

    def score(self, options: Options, reading: Reading, unit: str) -> tuple[float, str]:
        own = reading.unit(unit)
        best = max(
            (
                (_share(common, len(own), len(source), options["share"]), common)
                for source in reading.source(options["against"])
                if source
                for common in (_rapidfuzz().distance.LCSseq.similarity(own, source),)
            ),
        )
        return best[0], f"{best[1]} of {len(own)} words stand in this order in {SOURCES[options['against']]}."


class _Ranked(Measure):
    """Measures that rank a sample's contexts."""

    kinds = ("context",)

    def score(self, options: Options, reading: Reading, unit: str) -> tuple[float, str]:
        reading.unit(unit)
        against = options["against"]
        # All contexts of a sample are ranked at once.
        ranked = reading.kept(self, lambda: self.rank(options, reading.source(against)[0], reading.source("contexts")))
        index = parse_unit(unit)[1]
        assert index is not None
        own = set(reading.unit(unit))
        wanted = dict.fromkeys(reading.source(against)[0])
        shared = sum(word in own for word in wanted)
        return ranked[index], f"{shared} of {len(wanted)} words of {SOURCES[against]}.{_missing(wanted, own)}"

    @abstractmethod
    def rank(self, options: Options, query: Words, contexts: Sequence[Words]) -> list[float]: ...


class Bm25(_Ranked):
    def options(self, fields: Fields, unit: str) -> dict[str, Any]:
        return {
            "against": against_field(fields, unit, "question"),
            "k1": fields.number("k1", default=1.2, low=0, high=10),
            "b": fields.number("b", default=0.75, low=0, high=1),
        }

    def rank(self, options: Options, query: Words, contexts: Sequence[Words]) -> list[float]:
        return bm25(query, contexts, k1=options["k1"], b=options["b"])


class TfIdf(_Ranked):
    def options(self, fields: Fields, unit: str) -> dict[str, Any]:
        return {"against": against_field(fields, unit, "question")}

    def rank(self, options: Options, query: Words, contexts: Sequence[Words]) -> list[float]:
        return tf_idf(query, contexts)


class Citation(Measure):
    """Whether the sentence of a claim cites contexts that exist and contain the claim's words."""

    kinds = ("claim",)

    def options(self, fields: Fields, unit: str) -> dict[str, Any]:
        return {}

    def asks(self, options: Options, sample: Sample, unit: str) -> bool:
        index = parse_unit(unit)[1]
        assert index is not None
        return sample.claims[index].get("start") is not None

    def score(self, options: Options, reading: Reading, unit: str) -> Measured:
        own = dict.fromkeys(reading.unit(unit))
        cited, malformed = _cited(reading, unit)
        if malformed:
            return 0.0, f"“{malformed[0]}” names no context.", Finding.INVALID_CITATION
        if not cited:
            return 0.0, "The sentence cites nothing.", Finding.NO_CITATION
        shown = ", ".join(f"[{rank}]" for rank in cited)
        contexts = len(reading.sample.contexts)
        strangers = [rank for rank in cited if not 1 <= rank <= contexts]
        if strangers:
            return 0.0, f"There is no context [{strangers[0]}]; there are {contexts}.", Finding.INVALID_CITATION
        source = frozenset().union(*(reading.distinct("contexts")[rank - 1] for rank in cited))
        if not source:
            raise NoScore(f"There is no word in {shown}.")
        shared = len(own.keys() & source)
        return shared / len(own), f"{shared} of {len(own)} words are in {shown}.{_missing(own, source)}"


@dataclass(slots=True)
class _Sentence:
    start: int
    end: int
    ranks: list[int] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)


def _cited(reading: Reading, unit: str) -> tuple[list[int], list[str]]:
    """The ranks that the claim's sentence cites, each once, and what in it is written like a citation and is none."""
    index = parse_unit(unit)[1]
    assert index is not None
    claim = reading.sample.claims[index]
    placed = reading.kept("cited", lambda: _cited_by_sentence(reading.sample.answer or ""))
    own = [sentence for sentence in placed if sentence.start < claim["end"] and claim["start"] < sentence.end]
    ranks = dict.fromkeys(rank for sentence in own for rank in sentence.ranks)
    return list(ranks), [text for sentence in own for text in sentence.malformed]


_OPENING, _CLOSING = frozenset("[［【(（"), frozenset("]］】)）")


def _first_words(answer: str, start: int, stop: int) -> int:
    """From where on there are words before a place in the sentence; `stop` when there are none. Those in a bracket
    count when it is closed: in "(Sources 1, 3)" a citation begins at its number."""
    is_open = has_words = False
    for place in range(start, stop):
        sign = answer[place]
        is_open = sign in _OPENING or (is_open and sign not in _CLOSING)
        has_words = has_words or sign.isalpha()
        if has_words and not is_open:
            return place + 1
    return stop


def _cited_by_sentence(answer: str) -> list[_Sentence]:
    """What each sentence cites. A citation between two sentences, or at the very beginning of one, belongs to the
    previous one: "… online. [1] Next"."""
    sentences = [_Sentence(one["start"], one["end"]) for one in split_into_claims(answer)]
    starts = [sentence.start for sentence in sentences]
    words_from = [_first_words(answer, *ends) for ends in pairwise([*starts, len(answer)])]

    def sentence_at(place: int) -> _Sentence | None:
        at = bisect_right(starts, place) - 1
        if at < 0:
            return None
        return sentences[at if at == 0 or words_from[at] <= place else at - 1]

    for citation in citations_in(answer):
        if (sentence := sentence_at(citation.start)) is not None:
            sentence.ranks.extend(range(citation.first, citation.last + 1))
    for start, end in malformed_citations_in(answer):
        if (sentence := sentence_at(start)) is not None:
            sentence.malformed.append(answer[start:end])
    return sentences


class KeyFact(Measure):
    """Which share of a key fact's distinct words the other text has, small differences in spelling allowed."""

    kinds = ("fact", "entity", "claim")

    def options(self, fields: Fields, unit: str) -> dict[str, Any]:
        return {
            "against": against_field(fields, unit, "answer" if unit == "fact" else "contexts"),
            "similar": fields.number("similar", default=0.8, low=0.5, high=1),
        }

    def score(self, options: Options, reading: Reading, unit: str) -> tuple[float, str]:
        own = dict.fromkeys(reading.unit(unit))
        if len(own) > LONGEST_FACT:
            raise NoScore(f"It has more than {LONGEST_FACT} words.")
        source = reading.pooled(options["against"])
        there = {word for word in own if word in source}
        rest = [word for word in own if word not in there and _may_differ(word)]
        if rest and options["similar"] < 1:
            others = reading.kept("fuzzy", lambda: [word for word in sorted(source) if _may_differ(word)])
            there.update(word for word in rest if _is_near(word, others, options["similar"]))
        missing = _missing(own, there)
        return len(there) / len(own), f"{len(there)} of {len(own)} words are in {SOURCES[options['against']]}.{missing}"


def _may_differ(word: str) -> bool:
    return len(word) >= _SHORTEST_FUZZY and word.isalpha()


def _is_near(word: str, others: list[str], similar: float) -> bool:
    library = _rapidfuzz()
    return library.process.extractOne(word, others, scorer=library.fuzz.ratio, score_cutoff=100 * similar) is not None


def _rapidfuzz() -> Any:
    """Loaded when words are compared, and not for every page with a list of the measures."""
    import rapidfuzz

    return rapidfuzz


MEASURES: dict[str, Measure] = {
    "token_overlap": TokenOverlap(),
    "rouge_l": RougeL(),
    "bm25": Bm25(),
    "tf_idf": TfIdf(),
    "citation": Citation(),
    "key_fact": KeyFact(),
}
