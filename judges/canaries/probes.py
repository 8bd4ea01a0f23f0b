"""The set of bias probes: changes of a sample after which a judge should say the same.

A test names the version of the set that it was made with; a set that was used never changes. A sample is changed in
memory only. Where a change could matter, the probe isn't asked: contexts are not put in another order under an answer
that cites them by number, and a text that has headings or citations gets no others.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotate.core.scales import Value
from annotate.core.spans import citations_in
from annotate.models import Sample
from annotate.samples.claim_splitting import claims_in, language_of
from judges.canaries.variants import judged_units, with_judged
from judges.kinds.base import Config
from judges.kinds.llm.prompt import names_between

SET_VERSION = 1
PREFERENCE, FIRST, SECOND = "preference", "A", "B"

_ENGLISH, _CHINESE = "en", "zh"
_FILLERS = {
    _ENGLISH: (
        "This is worth keeping in mind.",
        "It is a question that comes up from time to time.",
        "There is, of course, always more that could be said.",
        "The above is put down here so that it can be read.",
        "One may want to read it a second time.",
        "As with many things, it helps to take a moment.",
        "It should be noted that this is a remark.",
        "With that, the matter has been addressed.",
    ),
    _CHINESE: (
        "这一点值得留意。",
        "这是一个时常会被提起的问题。",
        "当然，可以说的话总是还有很多。",
        "以上内容写在这里，以便阅读。",
        "如有需要，不妨再读一遍。",
        "和许多事情一样，花点时间看看总是好的。",
        "需要说明的是，这只是一句说明。",
        "至此，这个问题已经谈过了。",
    ),
}
_HEADINGS = {_ENGLISH: "## Answer", _CHINESE: "## 回答"}
_NAMES = {
    _ENGLISH: ("(Smith, 2019)", "(Johnson et al., 2021)", "(Lee & Park, 2018)"),
    _CHINESE: ("（王伟，2019）", "（李娜等，2021）", "（张敏、刘洋，2018）"),
}
_MARKDOWN = re.compile(r"^\s*(?:[-*+>#|]|\d{1,3}[.)]\s)|\*\*|__|`", re.MULTILINE)
_AUTHOR_AND_YEAR = re.compile(r"[(（][^()（）\n]{1,60}[,，]\s?\d{4}[a-z]?[)）]")
# At least so many sentences are added.
_FEWEST_FILLERS = 2


@dataclass(frozen=True, slots=True)
class Probe:
    """number: of its asks, from 1; 0 is the text as it is. about: what it probes. change: the sample
    with it, None where that isn't possible or would matter."""

    number: int
    key: str
    title: str | Promise
    about: str | Promise
    change: Callable[[Asked], Sample | None]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about: a sample, and the unit of it."""

    sample: Sample
    config: Config
    unit: str

    @property
    def kind(self) -> str:
        kind: str = self.config["unit"]
        return kind

    def shows(self, name: str) -> bool:
        return name in names_between(self.config["prompt"])

    @property
    def language(self) -> str:
        return language_of(" ".join((self.sample.question, self.sample.answer or "")))

    def with_text(self, change: Callable[[str], str | None]) -> Sample | None:
        """With the text changed that a system wrote: what is judged, or of key facts and entities the answer in which
        they are looked for. None where one of the texts can't be."""
        if self.kind in ("fact", "entity"):
            if not self.shows("answer") or not self.sample.answer:
                return None
            new = change(self.sample.answer)
            found = copy.copy(self.sample)
            found.answer = new
            return None if new is None else found
        units = judged_units(self.config, self.sample, self.unit)
        is_possible = True

        def changed(before: str) -> str:
            nonlocal is_possible
            new = change(before) if before.strip() else None
            is_possible = is_possible and new is not None
            return new or before

        made = with_judged(self.sample, units, changed) if units else None
        return made if is_possible else None


def _again(asked: Asked) -> Sample | None:
    return asked.sample


def _reversed(asked: Asked) -> Sample | None:
    sample = asked.sample
    texts = [sample.answer or "", *(claim["text"] for claim in sample.claims)]
    if asked.kind == "context" or not asked.shows("contexts") or len(sample.contexts) < 2:
        return None
    if any(map(citations_in, texts)):
        return None
    found = copy.copy(sample)
    found.contexts = sample.contexts[::-1]
    return found


def _swapped(asked: Asked) -> Sample | None:
    """Only where it is known which option stands for which answer."""
    is_pair = asked.config.get("criterion") == PREFERENCE and asked.shows("answer") and asked.shows("answer_b")
    options = [option["value"] for option in asked.config["options"] or ()]
    if not is_pair or FIRST not in options or SECOND not in options or asked.sample.answer_b is None:
        return None
    found = copy.copy(asked.sample)
    found.answer, found.answer_b = found.answer_b, found.answer
    return found


def _filled(asked: Asked) -> Sample | None:
    """About as long again, by sentences that say nothing."""
    fillers = _FILLERS.get(asked.language)
    if fillers is None:
        return None
    blank = " " if asked.language == _ENGLISH else ""

    def change(before: str) -> str | None:
        added: list[str] = []
        while len(added) < len(fillers) and (len(added) < _FEWEST_FILLERS or len("".join(added)) < len(before)):
            added.append(fillers[len(added)])
        return f"{before}{blank}{blank.join(added)}"

    return asked.with_text(change)


def _repeated(asked: Asked) -> Sample | None:
    return asked.with_text(lambda before: f"{before}\n{before}")


def _formatted(asked: Asked) -> Sample | None:
    """A heading, and each sentence a bullet, the first one bold."""
    heading = _HEADINGS.get(asked.language)

    def change(before: str) -> str | None:
        sentences = [claim["text"] for claim in claims_in(before)]
        if not sentences or _MARKDOWN.search(before):
            return None
        bullets = [f"- **{sentences[0]}**", *(f"- {sentence}" for sentence in sentences[1:])]
        return "\n".join([*([heading, ""] if heading else []), *bullets])

    return asked.with_text(change)


def _numbered(asked: Asked) -> Sample | None:
    """Beyond all contexts that there are."""
    count = len(asked.sample.contexts)
    return asked.with_text(lambda before: _citing(before, lambda place: f"[{count + 1 + place}]"))


def _named(asked: Asked) -> Sample | None:
    names = _NAMES.get(asked.language, _NAMES[_ENGLISH])
    return asked.with_text(lambda before: _citing(before, lambda place: names[place % len(names)]))


def _citing(before: str, reference: Callable[[int], str]) -> str | None:
    """With a reference at the end of each sentence, before its stop."""
    claims = claims_in(before)
    ends = [claim["end"] for claim in claims]
    if not ends or citations_in(before) or _AUTHOR_AND_YEAR.search(before):
        return None
    found = before
    for place, end in reversed(list(enumerate(ends))):
        at = end - 1 if found[end - 1] in ".!?。！？" else end
        blank = " " if found[:at].isascii() else ""
        found = f"{found[:at]}{blank}{reference(place)}{found[at:]}"
    return found


_POSITION, _LENGTH, _FORMATTING, _CITATIONS = _("position"), _("length"), _("formatting"), _("citations")
PROBES = (
    Probe(1, "again", _("Unchanged repeat"), "", _again),
    Probe(2, "contexts_reversed", _("Contexts in reverse order"), _POSITION, _reversed),
    Probe(3, "answers_swapped", _("Answers in reverse order"), _POSITION, _swapped),
    Probe(4, "filler", _("Empty sentences added"), _LENGTH, _filled),
    Probe(5, "repetition", _("Text repeated"), _LENGTH, _repeated),
    Probe(6, "markdown", _("Heading, bullets and bold"), _FORMATTING, _formatted),
    Probe(7, "numbers", _("Made-up citation numbers"), _CITATIONS, _numbered),
    Probe(8, "names", _("Made-up authors and years"), _CITATIONS, _named),
)
NUMBERED: Mapping[int, Probe] = {probe.number: probe for probe in PROBES}
AGAIN, SWAPPED = 1, 3


def probes_for(config: Config, sample: Sample, unit: str) -> list[Probe]:
    """Those that can be asked about the unit."""
    asked = Asked(sample, config, unit)
    return [probe for probe in PROBES if probe.change(asked) is not None]


def probed(sample: Sample, config: Config, unit: str, probe: Probe) -> Sample:
    found = probe.change(Asked(sample, config, unit))
    # It was asked about: a sample that was edited since may have come to lack what is changed.
    return sample if found is None else found


def mirrored(value: Value) -> Value:
    """What a judge would say of two answers that have changed places, if their order didn't matter to it."""
    return {FIRST: SECOND, SECOND: FIRST}.get(str(value), value)


def preference(value: Value) -> float:
    """For the answer that stands first."""
    return {FIRST: 1.0, SECOND: 0.0}.get(str(value), 0.5)
