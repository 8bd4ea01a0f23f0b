"""Samples and versions for the tests of kinds, made without a database."""

from collections.abc import Sequence
from typing import Any

from annotate.models import Project, Sample
from judges.kinds.base import Config, Item, Kind, Scored, Together
from judges.models import JudgeVersion


def sample(number: int = 1, *, contexts: Sequence[str] = (), claims: Sequence[Any] = (), **fields: Any) -> Sample:
    """claims: texts, each placed where it stands in the answer, if it does."""
    answer = fields.pop("answer", " ".join(claims))
    placed = []
    for text in claims:
        start = answer.find(text)
        place = {"start": start, "end": start + len(text)} if start >= 0 else {"start": None, "end": None}
        placed.append({"text": text, **place})
    texts = [{"id": None, "text": text, "score": None} for text in contexts]
    values = {"question": "question", "key_facts": [], "entities": [], **fields}
    return Sample(pk=number, external_id=f"s-{number}", answer=answer, contexts=texts, claims=placed, **values)


def scored(kind: Kind, config: Config, *samples: Sample) -> dict[str, Scored]:
    """What the kind says of every unit that it asks about; "2 claim:0" for samples after the first."""
    items = [Item(one, unit) for one in samples for unit in kind.units(config, one)]
    with kind.open(JudgeVersion(config=dict(config))) as scorer:
        outcomes = together(scorer).score(items)
    assert len(outcomes) == len(items)
    names = [item.unit if item.sample is samples[0] else f"{item.sample.pk} {item.unit}" for item in items]
    return dict(zip(names, (outcome.scores[0] for outcome in outcomes), strict=True))


def scored_in(project: Project, kind: Kind, version: JudgeVersion, *names: str) -> dict[tuple[str, str], Scored]:
    """What the kind says of every unit of the project's samples, or of those named, by sample and unit."""
    samples = project.samples.filter(external_id__in=names) if names else project.samples.all()
    items = [Item(one, unit) for one in samples for unit in kind.units(version.config, one)]
    with kind.open(version) as scorer:
        outcomes = together(scorer).score(items)
    return {
        (item.sample.external_id, item.unit): outcome.scores[0] for item, outcome in zip(items, outcomes, strict=True)
    }


def together(scorer: Any) -> Together:
    assert hasattr(scorer, "score")
    return scorer  # type: ignore[no-any-return]
