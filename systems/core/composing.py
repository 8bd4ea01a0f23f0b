"""Samples that are put together from several versions: what is in them says nothing of where it is from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.files.import_samples import SampleBuilder
from annotate.models import Project, Sample
from annotate.models.sample import AbstainedSource, ClaimsSource
from annotate.samples.read import samples_named
from systems.models import ComposedSample, QuestionRevision

_BATCH = 1000


@dataclass(frozen=True)
class Composition:
    """content: what the sample has beside its question, by names of fields of files. stands_for: what `ComposedSample`
    keeps of it."""

    revision: QuestionRevision
    content: Mapping[str, Any]
    stands_for: Mapping[str, Any] = field(default_factory=dict)


def compose(project: Project, compositions: Sequence[Composition], kind: str) -> list[str]:
    """Makes a sample of each. Returns their own ids, which end with the kind and a number."""
    builder = SampleBuilder(project.pk, {}, typed=True)
    samples, composed = [], []
    for name, one in zip(_names(project, compositions, kind), compositions, strict=True):
        question = one.revision.question
        row = {"id": name, "question": one.revision.text, "group_key": question.group_key, **one.content}
        has_answer = "answer" in row
        sample = Sample(
            project=project,
            external_id=name,
            question=one.revision.text,
            **one.content,
            claims_source=ClaimsSource.SPLIT,
            abstained=False if has_answer else None,
            abstained_source=AbstainedSource.RULE if has_answer else "",
            group_key=question.group_key,
            composed=True,
            content_hash=builder.build(row).content_hash,
        )
        samples.append(sample)
        composed.append(ComposedSample(sample=sample, question=question, **one.stands_for))
    Sample.objects.bulk_create(samples, batch_size=_BATCH)
    ComposedSample.objects.bulk_create(composed, batch_size=_BATCH)
    return [sample.external_id for sample in samples]


def _names(project: Project, compositions: Sequence[Composition], kind: str) -> list[str]:
    """That no other sample of the project has."""
    asked = [one.revision.question.external_id for one in compositions]
    number = 1
    while True:
        names = [f"{question}#{kind}{number}" for question in asked]
        if not samples_named(project, names).exists():
            return names
        number += 1
