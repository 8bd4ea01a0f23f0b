"""Citations in an answer: `[1]`, `[2, 3]`, `[1-3]`, also in full-width brackets, name contexts by rank, from 1.
The one definition; mirrored by frontend/static/js/citations.js on tests/fixtures/citations.json."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Years and other long numbers in brackets cite nothing here. Written out, because \d and \s differ between languages.
_NUMBER = "[0-9０-９]{1,3}"
_SPACE = "[ \u00a0\u3000]{0,2}"
_PART = f"{_NUMBER}(?:{_SPACE}[-\u2010-\u2014－~～]{_SPACE}{_NUMBER})?"
_BRACKETS = {"[": "]", "［": "］", "【": "】"}
_CITATION = re.compile(f"([\\[［【]){_SPACE}({_PART}(?:{_SPACE}[,;，；、]{_SPACE}{_PART})*){_SPACE}([\\]］】])")
_EACH_PART = re.compile(_PART)
_EACH_NUMBER = re.compile(_NUMBER)


@dataclass(frozen=True)
class Citation:
    """A stretch of the answer (code points) that cites the contexts of ranks `first` to `last`."""

    start: int
    end: int
    first: int
    last: int

    def exists(self, contexts: int) -> bool:
        """Whether there are contexts of these ranks among so many."""
        return self.first >= 1 and self.last <= contexts


def citations_in(text: str) -> list[Citation]:
    """All citations, in order. A bracket with one of them belongs to it; in `[2, 3]` each number stands for itself."""
    return [citation for found in _CITATION.finditer(text) for citation in _of_bracket(found)]


def _of_bracket(found: re.Match[str]) -> list[Citation]:
    if _BRACKETS[found[1]] != found[3]:
        return []
    cited = []
    for part in _EACH_PART.finditer(found[2]):
        numbers = [int(number) for number in _EACH_NUMBER.findall(part[0])]
        cited.append(Citation(found.start(2) + part.start(), found.start(2) + part.end(), numbers[0], numbers[-1]))
    if any(citation.first > citation.last for citation in cited):
        return []
    if len(cited) == 1:
        return [Citation(found.start(), found.end(), cited[0].first, cited[0].last)]
    return cited
