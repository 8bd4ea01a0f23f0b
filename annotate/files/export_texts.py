"""What people wrote: free text has no verdict, so its labels are the rows, each of a person, streamed in a fixed order.
Imported as labels, the file gives the same words again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from django.db.models import QuerySet

from annotate.core.units import unit_text
from annotate.files.cells import write_table
from annotate.files.export_rows import Annotators, Filters
from annotate.files.export_samples import write_lines
from annotate.labels.read import counting_labels, was_after_answer
from annotate.models import Batch, Label, Project
from annotate.models.project import Scale

Row = dict[str, Any]
_CHUNK = 500


def texts_of(project: Project, filters: Filters) -> QuerySet[Label]:
    """One per person, unit and criterion: that of the latest version, the latest there."""
    labels = counting_labels().filter(sample__project=project, criterion__scale=Scale.TEXT)
    if filters.criteria is not None:
        labels = labels.filter(criterion__key__in=filters.criteria)
    if filters.batch is not None:
        labels = labels.filter(task__batch=Batch.objects.get(project=project, number=filters.batch))
    one = ("sample_id", "unit", "criterion__key", "rater_id")
    return labels.order_by(*one, "-criterion__version", "-updated_at", "-id").distinct(*one)


def text_rows(labels: QuerySet[Label], annotators: Annotators) -> Iterator[Row]:
    """As annotate.files.import_labels reads them; what it doesn't know it leaves out."""
    labels = labels.select_related("sample", "criterion", "rater", "task").annotate(after_answer=was_after_answer())
    for label in labels.iterator(chunk_size=_CHUNK):
        sample = label.sample
        yield {
            "sample_id": sample.external_id,
            "unit": label.unit,
            "unit_text": unit_text(sample, label.unit),
            "criterion": label.criterion.key,
            "criterion_version": label.criterion.version,
            "rater": annotators.name(label.rater.name),
            "value": label.value,
            "comment": label.comment or None,
            "evidence": label.evidence or None,
            "guideline_version": label.guideline_version,
            "after_answer": label.after_answer,
            "revision": label.revision,
            "saved_at": label.updated_at,
            "submitted_at": label.task.submitted_at if label.task else None,
            "pipeline_version": sample.pipeline_version or None,
            "group_key": sample.group_key or None,
        }


def _write_parquet(rows: Iterable[Row], file: IO[bytes]) -> int:
    from annotate.files import export_parquet as parquet

    return parquet.write_texts(rows, file)


TEXT_WRITERS: dict[str, Callable[[Iterable[Row], IO[bytes]], int]] = {
    "jsonl": write_lines,
    "csv": write_table,
    "parquet": _write_parquet,
}
