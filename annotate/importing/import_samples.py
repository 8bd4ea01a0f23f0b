"""Writes samples. New ones are copied in, the same again is left alone, another content under a known id is refused."""

from __future__ import annotations

import unicodedata
from typing import Any

from annotate.importing.copying import CopyInto
from annotate.importing.engine import Importer, Importing
from annotate.importing.mapping import SAMPLE_FIELDS
from annotate.importing.problems import Attempts, RowError
from annotate.importing.samples import COLUMNS, BuiltSample, SampleBuilder
from annotate.importing.streams import NumberedRow
from annotate.models import Sample


class SampleImporter(Importer):
    fields = SAMPLE_FIELDS
    fills = (Sample,)

    def __init__(self, importing: Importing) -> None:
        self._importing = importing
        self._project = importing.project
        self._builder = SampleBuilder(
            importing.project.pk, importing.mapping, typed=importing.typed, pipeline=importing.pipeline
        )
        self._copy = CopyInto(Sample, COLUMNS)
        # The first import has nothing to compare with, so its COPY stays open from the first row to the last.
        self._compare = Sample.objects.filter(project=importing.project).exists()
        self._row_of: dict[str, int] = {}
        self._row_of_normal_form: dict[str, int] = {}
        self._created = self._unchanged = 0

    def take(self, rows: list[NumberedRow]) -> None:
        built: list[tuple[int, int | None, BuiltSample]] = []
        build, keep_id = self._builder.build, self._keep_id
        for number, line, row in rows:
            try:
                sample = build(row)
                keep_id(sample.external_id, number)
            except RowError as error:
                self._importing.refuse_all(self._problems(row, number) or [error], number, line)
            else:
                built.append((number, line, sample))
        self._write(self._new(built) if self._compare else [sample for _, _, sample in built])

    def finish(self) -> dict[str, Any]:
        self._copy.pause()
        return {"created": self._created, "unchanged": self._unchanged}

    def close(self) -> None:
        self._copy.abandon()

    def _write(self, samples: list[BuiltSample]) -> None:
        if self._importing.writing:
            self._copy.write([sample.line for sample in samples])
            self._created += len(samples)

    def _new(self, built: list[tuple[int, int | None, BuiltSample]]) -> list[BuiltSample]:
        """Those that the project has not yet. Another content under the same id is an error."""
        self._copy.pause()
        known = dict(
            Sample.objects.filter(
                project=self._project, external_id__in=[sample.external_id for _, _, sample in built]
            ).values_list("external_id", "content_hash")
        )
        new = []
        for number, line, sample in built:
            present = known.get(sample.external_id)
            if present is None:
                new.append(sample)
            elif bytes(present) == sample.content_hash:
                self._unchanged += 1
            else:
                conflict = RowError(
                    "conflict",
                    f"The project has a sample “{sample.external_id[:80]}” with other content. Samples never change, "
                    "as labels rest on them: give this one another id, or take it out of the file.",
                    field="id",
                    excerpt=sample.external_id,
                )
                self._importing.refuse(conflict, number, line)
        return new

    def _problems(self, row: dict[str, Any], number: int) -> list[RowError]:
        attempt = Attempts()
        external_id = self._builder.look_through(row, attempt)
        if external_id is not None:
            attempt(self._keep_id, external_id, number)
        return attempt.errors

    def _keep_id(self, external_id: str, number: int) -> None:
        """Notes whose id it is. Ids that look the same and differ only in how accents are encoded (NFC and NFD) would
        be mixed up, so they are refused as well."""
        first = self._row_of.setdefault(external_id, number)
        if first != number:
            raise RowError(
                "duplicate_id",
                f"The id “{external_id[:80]}” was given to row {first} already.",
                field="id",
                excerpt=external_id,
            )
        if external_id.isascii():
            return
        form = unicodedata.normalize("NFC", external_id)
        first = self._row_of_normal_form.setdefault(form, number)
        if first != number:
            raise RowError(
                "id_twin",
                f"The id “{external_id[:80]}” looks the same as that of row {first}, but is encoded in "
                "another way (Unicode NFC and NFD).",
                field="id",
                excerpt=external_id,
            )
