"""BM25 and TF-IDF of a sample's contexts for a query.

The corpus is the sample's own contexts, so that a score depends on nothing but the sample. Libraries for this build an
index of the corpus first; for four passages that takes far longer than the sums below, which the tests hold against two
of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log, sqrt

Words = Sequence[str]


def bm25(query: Words, contexts: Sequence[Words], *, k1: float, b: float) -> list[float]:
    """Σ idf·tf / (tf + k1·(1 − b + b·length / mean length)) over the query's distinct words, divided by Σ idf: the part
    that is reached of what a context could reach that repeats every word of the query without end. From 0 to 1.

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
    idf = [log((1 + len(contexts)) / (1 + many)) + 1 for many in range(len(contexts) + 1)]
    asked = {word: many * idf[df[word]] for word, many in Counter(query).items()}
    length = sqrt(sum(weight * weight for weight in asked.values()))
    scores = []
    for count in counts:
        own = sqrt(sum((many * idf[df[word]]) ** 2 for word, many in count.items()))
        together = sum(weight * count[word] * idf[df[word]] for word, weight in asked.items() if word in count)
        scores.append(min(together / (own * length), 1.0) if own else 0.0)
    return scores
