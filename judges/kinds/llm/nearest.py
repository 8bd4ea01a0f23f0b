"""How alike texts are, by the pieces of words that they share, whatever their language."""

from __future__ import annotations

from collections.abc import Sequence
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

    def to(self, text: str) -> list[int]:
        """Places of the texts."""
        near = (self._vectors @ self._vectorizer.transform([text]).T).toarray().ravel().round(9)
        order = sorted(range(near.size), key=lambda place: (-near[place], place))
        return order[: self._count][::-1]
