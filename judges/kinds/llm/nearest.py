"""Which of some texts are most like another one: by their shared pieces, whatever the language."""

from __future__ import annotations

from collections.abc import Sequence


class Nearest:
    """The `count` of these texts that are nearest to another, the nearest last, beside what it is an example for.

    By the cosine of TF-IDF vectors of pieces of two to four characters within words; weights are those of the texts. Of
    texts that are equally near the earlier one counts as nearer, so that the same text has the same neighbours.
    """

    def __init__(self, texts: Sequence[str], count: int) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._count = count
        self._vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
        self._vectors = self._vectorizer.fit_transform(texts)

    def to(self, text: str) -> list[int]:
        """Places of the texts."""
        near = (self._vectors @ self._vectorizer.transform([text]).T).toarray().ravel()
        # Rounded, so that a last digit on another machine changes no prompt.
        order = sorted(range(near.size), key=lambda place: (-round(float(near[place]), 9), place))
        return order[: self._count][::-1]
