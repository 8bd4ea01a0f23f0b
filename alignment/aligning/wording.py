"""What texts have in common, in their own words: groups of texts that share words, each named by those that set it
apart."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import svds
from scipy.stats import hypergeom

from alignment.base.arrays import Bools, Floats, Ints, cluster_rows, same_length
from alignment.base.significance import holm

#: Texts that a pattern has at least, and different clusters that they come from: near copies are no pattern.
FEWEST, FEWEST_CLUSTERS = 5, 3
#: Others that there are at least.
FEWEST_OTHERS = 20
#: Patterns of one call.
MOST = 12
#: Terms that name a pattern.
TERMS = 3
#: Words of a text that count, and characters that a word has at most: what is longer is none.
MOST_WORDS, LONGEST = 400, 40
# Texts that are grouped; all others come to the group that they are most like.
_GROUPED = 1_500
_DIMENSIONS = 50
# Of the texts of a pattern this share has each of its terms, at least twice as large a share as elsewhere.
_SHARE, _TIMES = 0.3, 2.0
# How like its group a text is at least, as a cosine; from which silhouette on there is more than one group.
_LIKE, _APART = 0.3, 0.2
_PHRASE = 4


@dataclass(frozen=True, eq=False, slots=True)
class Pattern:
    """``rows``: places of the texts, the most typical first. ``terms``: the words that set them apart, the most
    telling first; neighbours are joined."""

    rows: Ints
    terms: tuple[str, ...]


def patterns(
    texts: Iterable[Sequence[str]],
    cluster: Sequence[object],
    others: Iterable[Sequence[str]],
    other_cluster: Sequence[object],
    rng: np.random.Generator,
) -> list[Pattern]:
    """Groups of texts, given as their words in order, by words that are more often in them than in ``others``; the
    largest first.

    A word is telling when more of the texts' clusters have it than of the others' (Fisher's exact test, one-sided, Holm
    over all words tested, 5 %), at least twice as large a share: what is common in the others too, function words of
    any language among it, groups nothing. TF-IDF vectors of telling words, reduced to 50 dimensions (latent semantic
    analysis), are joined by Ward's method; the number of groups, up to ``MOST``, is that of the greatest mean
    silhouette. Of more than 1,500 texts that many are drawn by ``rng`` and grouped, and the rest go with the group that
    they are most like. ``cluster``, ``other_cluster``: of each text what it varies together with.

    A text without a telling word, or not like its group, is in none, and neither are texts of a group that is too small
    (``FEWEST``, ``FEWEST_CLUSTERS``). Nothing where there are fewer than ``FEWEST_OTHERS`` others: without something to
    compare with, any words that texts share would name a group.

    Source: Deerwester et al. (1990); Ward (1963); Rousseeuw (1987), Silhouettes; Holm (1979).
    """
    words: dict[str, int] = {}
    documents = _coded(texts, words)
    count = len(documents)
    documents += _coded(others, words)
    if count < FEWEST or len(documents) - count < FEWEST_OTHERS:
        return []
    row, _ = cluster_rows(np.array([*map(repr, cluster), *map(repr, other_cluster)]))
    same_length(texts=np.arange(len(documents)), cluster=row)
    names = list(words)
    present = _presence(documents, len(names))
    telling = _telling(present, count, row)
    vectors = _vectors(present, count, telling)
    worded = np.flatnonzero(np.square(vectors).sum(axis=1) > 0)
    if worded.size < FEWEST:
        return []
    of_worded, centres = _grouped(vectors[worded], rng)
    group = np.full(count, -1)
    group[worded] = of_worded
    found = []
    for one in range(len(centres)):
        rows = np.flatnonzero(group == one)
        rows = rows[np.argsort(-(vectors[rows] @ centres[one]).round(9), kind="stable")]
        if rows.size < FEWEST or np.unique(row[rows]).size < FEWEST_CLUSTERS:
            continue
        terms = _terms(present, rows, telling, names, documents)
        if terms:
            found.append(Pattern(rows, terms))
    return sorted(found, key=lambda pattern: (-pattern.rows.size, int(pattern.rows[0])))


def _coded(texts: Iterable[Sequence[str]], numbers: dict[str, int]) -> list[Ints]:
    """Of each text its words as numbers; new ones are added."""
    documents = []
    for text in texts:
        kept = (word for word in text[:MOST_WORDS] if len(word) <= LONGEST)
        documents.append(np.array([numbers.setdefault(word, len(numbers)) for word in kept], dtype=np.int64))
    return documents


def _telling(present: Any, count: int, row: Ints) -> Bools:
    """Of each word whether it sets the first ``count`` texts apart from the others, by clusters that have it."""

    def having(texts: slice) -> tuple[Ints, int]:
        some = present[texts].tocoo()
        pairs = np.unique(row[texts][some.coords[0]] * present.shape[1] + some.coords[1])
        return np.bincount(pairs % present.shape[1], minlength=present.shape[1]), np.unique(row[texts]).size

    (here, n), (there, m) = having(slice(0, count)), having(slice(count, None))
    tested = np.flatnonzero((here >= FEWEST_CLUSTERS) & (here / n >= _TIMES * there / m))
    p = hypergeom.sf(here[tested] - 1, n + m, (here + there)[tested], n)
    found = np.zeros(here.size, dtype=np.bool_)
    found[tested[holm(np.asarray(p)) <= 0.05]] = True
    return found


def _presence(documents: Sequence[Ints], size: int) -> Any:
    """How often each text has each word: a sparse array, (texts, words)."""
    lengths = [document.size for document in documents]
    column = np.concatenate([*documents, np.zeros(0, dtype=np.int64)])
    row = np.repeat(np.arange(len(documents)), lengths)
    found = csr_array((np.ones(column.size), (row, column)), shape=(len(documents), max(size, 1)))
    found.sum_duplicates()
    return found


def _vectors(present: Any, count: int, telling: Bools) -> Floats:
    """Of the first ``count`` texts, (texts, dimensions), of length 1, or 0 without a telling word."""
    every = present.shape[0]
    frequency = np.bincount(present.indices, minlength=present.shape[1])
    weight = np.where(telling, np.log((1 + every) / (1 + frequency)), 0.0)
    weighted = present[:count].copy()
    weighted.data = 1 + np.log(weighted.data)
    weighted = (weighted @ diags_array(weight))[:, np.flatnonzero(telling)]
    if not telling.any():
        return np.zeros((count, 1))
    lengths = np.sqrt(weighted.multiply(weighted).sum(axis=1))
    weighted = (diags_array(np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)) @ weighted).tocsr()
    smaller = min(weighted.shape)
    if smaller <= 2 * _DIMENSIONS:
        # As dense as it is small: of one side at most a hundred.
        gram = (weighted @ weighted.T if smaller == weighted.shape[0] else weighted.T @ weighted).toarray()
        values, sides = np.linalg.eigh(gram)
        kept = np.argsort(-values)[:_DIMENSIONS]
        kept = kept[values[kept] > 1e-9]
        reduced = sides[:, kept] * np.sqrt(values[kept]) if smaller == weighted.shape[0] else weighted @ sides[:, kept]
    else:
        start = np.ones(smaller) / np.sqrt(smaller)
        left, values, _ = svds(weighted, k=_DIMENSIONS, v0=start)
        reduced = left * values
    size = np.sqrt(np.square(reduced).sum(axis=1, keepdims=True))
    return np.divide(reduced, size, out=np.zeros_like(reduced), where=size > 1e-6)


def _grouped(vectors: Floats, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Of each text its group, -1 where it is like none; and the groups' centres."""
    drawn = np.arange(len(vectors))
    if drawn.size > _GROUPED:
        drawn = np.sort(rng.choice(drawn, _GROUPED, replace=False))
    some = vectors[drawn]
    alike = some @ some.T
    best, group = _APART, np.zeros(drawn.size, dtype=np.int64)
    tree = linkage(some, "ward")
    for size in range(2, min(MOST, drawn.size // FEWEST) + 1):
        one = fcluster(tree, size, "maxclust") - 1
        width = _silhouette(alike, one)
        if width > best + 1e-9:
            best, group = width, one
    centres = _centres(some, group)
    said = vectors @ centres.T
    nearest = said.argmax(axis=1)
    nearest[said.max(axis=1) < _LIKE] = -1
    return nearest, centres


def _centres(vectors: Floats, group: Ints) -> Floats:
    found = np.array([vectors[group == one].mean(axis=0) for one in range(int(group.max()) + 1)])
    size = np.sqrt(np.square(found).sum(axis=1, keepdims=True))
    return np.divide(found, size, out=np.zeros_like(found), where=size > 0)


def _silhouette(alike: Floats, group: Ints) -> float:
    """The mean over all texts, by cosine distance; 0 of a text that is alone."""
    size = np.bincount(group)
    if size.size < 2:
        return 0.0
    sums = (1 - alike) @ np.eye(size.size)[group]
    own = size[group]
    inside = sums[np.arange(group.size), group] / np.maximum(own - 1, 1)
    means = sums / size
    means[np.arange(group.size), group] = np.inf
    outside = means.min(axis=1)
    larger = np.maximum(inside, outside)
    width = np.divide(outside - inside, larger, out=np.zeros_like(larger), where=larger > 1e-9)
    return float(np.where(own > 1, width, 0.0).mean())


def _terms(
    present: Any, rows: Ints, telling: Bools, names: Sequence[str], documents: Sequence[Ints]
) -> tuple[str, ...]:
    """Telling words that set these texts apart from all that there are."""
    inside = np.bincount(present[rows].indices, minlength=len(names))
    outside = np.bincount(present.indices, minlength=len(names)) - inside
    n, m = rows.size, present.shape[0] - rows.size
    here, there = inside / n, outside / max(m, 1)
    telling = telling & (here >= _SHARE) & (here >= _TIMES * there)
    # The log odds ratio in standard errors, with a half added to each count (Haldane and Anscombe).
    a, b, c, d = inside + 0.5, n - inside + 0.5, outside + 0.5, m - outside + 0.5
    odds = np.log(a * d / (b * c)) / np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    order = sorted(np.flatnonzero(telling).tolist(), key=lambda at: (-round(float(odds[at]), 9), names[at]))
    found: list[str] = []
    used: set[int] = set()
    for code in order:
        if code in used:
            continue
        phrase = _phrase(code, telling, [documents[at] for at in rows[:200].tolist()])
        used |= set(phrase)
        found.append(_joined([str(names[one]) for one in phrase]))
        if len(found) == TERMS:
            break
    return tuple(found)


def _phrase(code: int, telling: Bools, documents: Sequence[Ints]) -> list[int]:
    """The word with those beside it, as far as these are telling and stand there in most of the texts that have it."""
    phrase = [code]
    for step in (1, -1):
        while len(phrase) < _PHRASE:
            end = phrase[-1] if step == 1 else phrase[0]
            beside: dict[int, int] = {}
            having = 0
            for document in documents:
                places = np.flatnonzero(document == end)
                having += bool(places.size)
                near = places + step
                for one in set(document[near[(near >= 0) & (near < document.size)]].tolist()):
                    beside[one] = beside.get(one, 0) + 1
            most = max(beside, key=lambda one: (beside[one], -one), default=None)
            if most is None or most in phrase or not telling[most] or beside[most] <= 0.6 * having:
                break
            phrase = [*phrase, most] if step == 1 else [most, *phrase]
    return phrase


def _joined(words: Sequence[str]) -> str:
    """With blanks, but for pairs of characters of a script without blanks, which overlap."""
    text = words[0]
    for word in words[1:]:
        overlaps = len(word) == 2 and word[0] == text[-1] and word[0] >= "\u0e00"
        text += word[1:] if overlaps else f" {word}"
    return text
