"""How alike texts are, by the pieces of words that they share, whatever their language."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Any


def vectorizer() -> Any:
    """Of TF-IDF vectors of length one, of pieces of two to four characters within words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)


def likeness(texts: Sequence[str]) -> Any:
    """Cosines of all with all, shape (texts, texts). Rounded, so that a last digit on another machine changes no choice
    that is made by them."""
    vectors = vectorizer().fit_transform(texts)
    return (vectors @ vectors.T).toarray().round(9)


class Nearest:
    """The `count` of these texts that are nearest to another, the nearest last, beside what it is an example for. Of
    texts that are equally near the earlier one counts as nearer, so that the same text has the same neighbours."""

    def __init__(self, texts: Sequence[str], count: int) -> None:
        self._count = count
        self._vectorizer = vectorizer()
        self._vectors = self._vectorizer.fit_transform(texts)
        # Several candidates for a judge ask about the same text, at once.
        self._found = lru_cache(maxsize=256)(self._find)
        self._finding = Lock()

    def to(self, text: str) -> list[int]:
        """Places of the texts."""
        with self._finding:
            return self._found(text)

    def _find(self, text: str) -> list[int]:
        near = (self._vectors @ self._vectorizer.transform([text]).T).toarray().ravel().round(9)
        order = sorted(range(near.size), key=lambda place: (-near[place], place))
        return order[: self._count][::-1]


@lru_cache(maxsize=8)
def nearest_of(texts: tuple[str, ...], count: int) -> Nearest:
    """One for all judges that show examples of the same texts: some megabytes, and some tenths of a second."""
    return Nearest(texts, count)
