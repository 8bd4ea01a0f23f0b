"""Places in texts, in Unicode code points: spans of evidence in a context, and citations in an answer.

A span is kept with its quote, by which it is found again when the text around it has changed; mirrored by
frontend/base/static/base/spans.js on tests/fixtures/spans.json. A citation, `[1]`, `[2, 3]`, `[1-3]`, `[^1]`, `[doc1]`,
`【3†source】` or `(Source 2)`, also in full-width brackets, names contexts by rank, from 1; mirrored by
frontend/label/static/label/citations.js on tests/fixtures/citations.json.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid

MAX_SPANS = 100
_FIELDS = {"context", "start", "end", "quote"}


def relocate(text: str, span: dict[str, Any]) -> dict[str, Any] | None:
    """The span where its quote stands in the text now: at its place, else at the occurrence that begins nearest to the
    old start (of two as near the earlier one). None when the quote isn't in the text any more."""
    quote, start = span["quote"], span["start"]
    if not quote:
        return None
    if text.startswith(quote, start):
        found = start
    else:
        before = text.rfind(quote, 0, start + len(quote) - 1)
        after = text.find(quote, start)
        if before < 0 and after < 0:
            return None
        behind_is_nearer = after >= 0 and (before < 0 or after - start < start - before)
        found = after if behind_is_nearer else before
    return {**span, "start": found, "end": found + len(quote)}


def check_evidence(evidence: Any, contexts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The spans as they stand in their contexts: one whose offsets have shifted is found again by its quote.

    Raises Invalid `bad_evidence` for what is no span, and for a quote that its context doesn't have.
    """
    if not isinstance(evidence, list) or len(evidence) > MAX_SPANS:
        raise Invalid("bad_evidence", _("evidence: must be a list of at most %(most)d spans.") % {"most": MAX_SPANS})
    return [_check_span(span, f"evidence[{index}]", contexts) for index, span in enumerate(evidence)]


def _check_span(span: Any, where: str, contexts: list[dict[str, Any]]) -> dict[str, Any]:
    named = {"where": where}
    if not isinstance(span, dict) or set(span) != _FIELDS:
        raise Invalid("bad_evidence", _("%(where)s: must have context, start, end and quote.") % named)
    context, start, end, quote = span["context"], span["start"], span["end"], span["quote"]
    if any(isinstance(n, bool) or not isinstance(n, int) for n in (context, start, end)):
        raise Invalid("bad_evidence", _("%(where)s: context, start and end must be whole numbers.") % named)
    if not isinstance(quote, str):
        raise Invalid("bad_evidence", _("%(where)s: quote must be text.") % named)
    if not 0 <= context < len(contexts):
        raise Invalid(
            "bad_evidence",
            _("%(where)s: context %(context)d not found in this sample.") % {**named, "context": context},
        )
    if not 0 <= start < end:
        raise Invalid("bad_evidence", _("%(where)s: start must be at least 0, and end greater than start.") % named)
    found = relocate(contexts[context]["text"], span)
    if found is None:
        raise Invalid(
            "bad_evidence",
            _("%(where)s: quote not found in context %(context)d.") % {**named, "context": context},
        )
    return found


# Years and other long numbers in brackets cite nothing here. Written out, because \d and \s differ between languages.
_NUMBER = "[0-9０-９]{1,3}"
_SPACE = "[ \u00a0\u3000]{0,2}"
_PART = f"{_NUMBER}(?:{_SPACE}[-\u2010-\u2014－~～]{_SPACE}{_NUMBER})?"
# Only with one of these names is a number in round brackets a citation; documents have numbers of their own there.
_SOURCE = "(?:[Ss]ources?|[Cc]ontexts?|[Pp]assages?|来源|上下文|段落)"
_NAMED = f"(?:\\^|(?:{_SOURCE}|[Dd]oc(?:ument)?s?|文档){_SPACE}(?:[:：]{_SPACE})?)?{_PART}"
_AND = f"{_SPACE}(?:[,;，；、&]|and|和){_SPACE}"
_BRACKETS = {"[": "]", "［": "］", "【": "】", "(": ")", "（": "）"}
_CITATION = re.compile(
    f"([\\[［【(（]){_SPACE}({_NAMED}(?:{_AND}{_NAMED})*)(?:†[^\\]］】\\n]{{0,80}})?{_SPACE}([\\]］】)）])"
)
_BRACKET = re.compile("[\\[［【(（]")
_STARTS_WITH_SOURCE = re.compile(_SOURCE)
_EACH_PART = re.compile(_PART)
_EACH_NUMBER = re.compile(_NUMBER)
# Written like a citation in square brackets, and names no context: `[3-1]`, `[1, ]`, `[1］`, `【4:0†source】`.
_BETWEEN = "[-\u2010-\u2014^,;，；、 ]"
_MALFORMED = re.compile(
    f"[\\[［【]{_BETWEEN}{{0,3}}{_NUMBER}(?:{_BETWEEN}{{1,3}}{_NUMBER}){{0,20}}{_BETWEEN}{{0,3}}[\\]］】]"
    f"|【{_NUMBER}:{_NUMBER}†[^】\\n]{{0,80}}】"
)


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


def malformed_citations_in(text: str) -> list[tuple[int, int]]:
    """The places of what is written like a citation and is none, in order."""
    return [found.span() for found in _MALFORMED.finditer(text) if not citations_in(found[0])]


def without_citations(text: str) -> str:
    """The text with a blank in place of each citation, and of each malformed one."""
    if not _BRACKET.search(text):
        return text
    return _MALFORMED.sub(" ", _CITATION.sub(lambda found: " " if _of_bracket(found) else found[0], text))


def _of_bracket(found: re.Match[str]) -> list[Citation]:
    if _BRACKETS[found[1]] != found[3] or (found[1] in "(（" and not _STARTS_WITH_SOURCE.match(found[2])):
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
