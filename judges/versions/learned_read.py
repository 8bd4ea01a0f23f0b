"""What a version has of people's labels: rules that alignments found in them, and examples.

A rule is known again by its words, in whichever judge of the project. One in other words may be a found one that people
put otherwise, here or in the alignment: it counts as coming from all rules of the judge's alignments that the version
has in no words of theirs, unless the judge had it before it was aligned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from judges.models import Alignment, JudgeVersion, Rule


@dataclass(frozen=True, slots=True)
class Learned:
    """rules: of each that comes from labels, or may, the samples that these are of, by their own ids. examples: how
    many, of the samples `example_samples`."""

    rules: Mapping[str, frozenset[str]]
    examples: int
    example_samples: frozenset[str]

    @property
    def rule_samples(self) -> frozenset[str]:
        return frozenset().union(*self.rules.values())


def learned_by(version: JudgeVersion) -> Learned:
    drawn = (version.config.get("examples") or {}).get("drawn") or []
    return Learned(_rules(version), len(drawn), frozenset(example["sample"] for example in drawn))


def learned_if_aligned(version: JudgeVersion) -> dict[str, int]:
    """For figures on dev of a version that an alignment made: how many rules and examples it has of how many samples'
    labels. Empty for others: examples that were drawn alone are never asked about, so figures don't rest on them."""
    learned = learned_by(version)
    if not learned.rules and not _examples_were_chosen(version):
        return {}
    samples = learned.rule_samples | learned.example_samples
    return {"rules": len(learned.rules), "examples": learned.examples, "samples": len(samples)}


def _examples_were_chosen(version: JudgeVersion) -> bool:
    """Whether they are those of an alignment's candidate."""
    drawn = (version.config.get("examples") or {}).get("drawn")
    if not drawn:
        return False
    units = [[example["sample"], example["unit"]] for example in drawn]
    # Candidates have them in all parts ("parts"): that of all labels, by which versions are made, is "-1".
    made = [{"parts": {"-1": {"examples": units}}}]
    return Alignment.objects.filter(base__judge__project=version.judge.project_id, candidates__contains=made).exists()


def _rules(version: JudgeVersion) -> dict[str, frozenset[str]]:
    texts = version.config.get("rules") or []
    if not texts:
        return {}
    judge = version.judge
    found: dict[str, frozenset[str]] = {}
    others: frozenset[str] = frozenset()
    rows = Rule.objects.filter(alignment__base__judge__project=judge.project_id)
    for text, proposed, sources, of in rows.values_list("text", "proposed", "sources", "alignment__base__judge"):
        samples = frozenset(name for name, _unit in sources)
        for words in {text, proposed}:
            found[words] = found.get(words, frozenset()) | samples
        if of == judge.pk and text not in texts and proposed not in texts:
            others |= samples
    own = _before_aligning(judge.pk) if others else set()
    samples_of = {text: found.get(text, frozenset() if text in own else others) for text in texts}
    return {text: samples for text, samples in samples_of.items() if samples}


def _before_aligning(judge: int) -> set[str]:
    """The rules that the judge had before its first alignment."""
    first = Alignment.objects.filter(base__judge=judge).order_by("pk")[0]
    versions = JudgeVersion.objects.filter(judge=judge, created_at__lt=first.created_at)
    return {text for version in versions for text in version.config.get("rules") or []}
