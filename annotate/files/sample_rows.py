"""A sample as it was imported, as a row of a file: in our own spelling, and in those of evaluation libraries. Imported
again, each of them is the same sample (annotate.files.import_samples)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from annotate.models import AuditEntry, Batch, Project, Sample
from annotate.models.sample import AbstainedSource, ClaimsSource
from annotate.samples.read import context_ids

Row = dict[str, Any]
_CHUNK = 500


def samples_of(project: Project, batch: int | None) -> Iterator[Sample]:
    """All samples of the project, or those of the batch of this number, in the order of their import."""
    samples = Sample.objects.filter(project=project)
    if batch is not None:
        samples = samples.filter(batches=Batch.objects.get(project=project, number=batch))
    return samples.order_by("pk").iterator(chunk_size=_CHUNK)


def imported_claims(sample: Sample) -> list[Any] | None:
    """Those that the file gave; None when it gave none, and we split the answer. Not as people edited them since: with
    other claims it would be another sample."""
    claims, source = sample.claims, sample.claims_source
    if source == ClaimsSource.EDITED:
        first = sample.claim_edits.order_by("revision").first()
        assert first is not None
        claims, source = first.claims, first.change["source"]
    return claims if source == ClaimsSource.FILE else None


def imported_abstained(sample: Sample) -> bool | None:
    """Whether the file said that the answer abstains; None when it said nothing of it. Not what people said since."""
    if sample.abstained_source == AbstainedSource.PERSON:
        trail = AuditEntry.objects.filter(
            project=sample.project_id,
            subject=sample.external_id,
            action__in=("sample.abstained", "sample.answered"),
            details__before_source=AbstainedSource.FILE,
        )
        first = trail.order_by("pk").first()
        return None if first is None else first.details["before"]
    return sample.abstained if sample.abstained_source == AbstainedSource.FILE else None


def own_row(sample: Sample) -> Row:
    return {
        "id": sample.external_id,
        "question": sample.question,
        "answer": sample.answer,
        "answer_b": sample.answer_b,
        "reference": sample.reference,
        "contexts": sample.contexts,
        "claims": imported_claims(sample),
        "abstained": imported_abstained(sample),
        "key_facts": sample.key_facts,
        "entities": sample.entities,
        "retrieved_doc_ids": sample.retrieved_doc_ids,
        "relevant_doc_ids": sample.relevant_doc_ids,
        "pipeline_version": sample.pipeline_version or None,
        "group_key": sample.group_key or None,
        "metadata": sample.metadata,
    }


_RAGAS = {
    "id": "sample_id",
    "question": "user_input",
    "answer": "response",
    "contexts": "retrieved_contexts",
    "retrieved_doc_ids": "retrieved_context_ids",
    "relevant_doc_ids": "reference_context_ids",
}
_DEEPEVAL = {
    "question": "input",
    "answer": "actual_output",
    "reference": "expected_output",
    "contexts": "retrieval_context",
}


def ragas_row(sample: Sample) -> Row:
    return _spelled(sample, _RAGAS, retrieved_doc_ids=context_ids(sample))


def deepeval_row(sample: Sample) -> Row:
    return _spelled(sample, _DEEPEVAL)


def _spelled(sample: Sample, names: Mapping[str, str], **instead: Any) -> Row:
    """As evaluation libraries have it: under their names, and contexts as texts alone."""
    row = {**own_row(sample), "contexts": [context["text"] for context in sample.contexts], **instead}
    return {names.get(name, name): value for name, value in row.items()}


SPELLINGS: tuple[Callable[[Sample], Row], ...] = (own_row, ragas_row, deepeval_row)
