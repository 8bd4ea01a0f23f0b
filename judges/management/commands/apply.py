"""manage.py apply SLUG --criterion KEY --judge NAME --file scores.csv | --pipeline v7"""

from __future__ import annotations

import csv
import json
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.core.blindness import SYSTEM
from annotate.core.scales import as_number, is_missing
from annotate.core.text_tables import in_words, interval
from annotate.files.cells import guard
from annotate.files.problems import FileError, Limits, Problems
from annotate.files.sources import open_source
from annotate.management.base import OneLineCommand
from annotate.projects.read import project_named
from judges.api.certificates_serializers import Applied, of_stored
from judges.certificates.apply import (
    AppliedBatch,
    StoredBatch,
    applied_rows,
    apply_certificate,
    apply_to_pipeline,
)

FORMATS = (".jsonl", ".csv")
# As score files for an import name it, too.
_SPELLINGS = {"sample_id": "sample"}


class Command(OneLineCommand):
    help = "Apply a judge's certificate to new scores: verdicts, probabilities and a corrected pass rate."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("--criterion", required=True, metavar="KEY")
        parser.add_argument("--judge", required=True, metavar="NAME")
        parser.add_argument("--dimension", metavar="NAME", help="which measure, if the judge is certified for several")
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument(
            "--file",
            type=Path,
            metavar="FILE",
            help="JSONL, JSON, CSV or Parquet with the columns sample (its own id, if there is one) and score",
        )
        which.add_argument(
            "--pipeline", metavar="VERSION", help="the stored scores of samples from this pipeline version"
        )
        parser.add_argument("--pooled", action="store_true", help="pool several pipeline versions")
        parser.add_argument("--output", type=Path, metavar="FILE", help="write each score's verdict to .jsonl or .csv")
        parser.add_argument("--format", choices=["text", "json"], default="text", help="output format")

    def handle(self, *args: Any, **options: Any) -> None:
        output: Path | None = options["output"]
        if output is not None and output.suffix.lower() not in FORMATS:
            raise CommandError(f"{output}: must end with {' or '.join(FORMATS)}.")
        asked: dict[str, Any] = {
            "project": project_named(options["slug"]),
            "criterion_key": options["criterion"],
            "judge_name": options["judge"],
            "dimension": options["dimension"],
        }
        if options["pipeline"] is None:
            batch = apply_certificate(**asked, rows=_rows(options["file"]), pooled=options["pooled"])
            found, covered = Applied.show(batch), ""
        else:
            stored = apply_to_pipeline(**asked, pipeline=options["pipeline"], reader=SYSTEM)
            batch, found, covered = stored.batch, Applied.show(of_stored(stored, with_rows=True)), _covered(stored)
        if options["format"] == "json":
            self.stdout.write(json.dumps(found, ensure_ascii=False, allow_nan=False))
        else:
            self.stdout.write(_said(found) + covered)
        if output is not None:
            _write(output, batch)
            self.stderr.write(f"Wrote {output}.")


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise CommandError(f"File {path} not found.")
    problems = Problems()
    try:
        with open_source(path, path.name, problems, Limits.from_settings()) as source:
            typed = source.reader.typed
            rows = [_row(row, typed) for _, _, row in source.reader.rows()]
    except FileError as error:
        raise CommandError(f"{path}: {error.message}") from error
    if problems:
        first = problems.first[0]
        raise CommandError(f"{path}: row {first['row']}: {first['message']} ({problems.total} errors)")
    return rows


def _row(row: Mapping[str, Any], typed: bool) -> dict[str, Any]:
    named = {_SPELLINGS.get(name, name): value for name, value in row.items()}
    if is_missing(named.get("sample")):
        named.pop("sample", None)
    if not typed and isinstance(named.get("score"), str):
        number = as_number(named["score"].strip())
        named["score"] = named["score"] if number is None else number
    return named


def _covered(stored: StoredBatch) -> str:
    coverage = stored.coverage
    failed = sum(coverage.failed.values())
    missing = coverage.units - coverage.scored - failed
    said = f"Scored are {coverage.scored:,} of {coverage.units:,} units in {coverage.samples_scored:,} of "
    return (
        f"\n{said}{coverage.samples:,} samples of “{stored.pipeline}”; {failed:,} failed, {missing:,} not asked about."
    )


def _said(found: Mapping[str, Any]) -> str:
    region = found["region"]
    intervals = f"intervals at {found['level']:.2%}"
    lines = [
        f"Certificate {found['certificate']} of “{found['judge']}” for “{found['criterion']}”; {intervals}.",
    ]
    for one in found["versions"]:
        lines.append(f"Version “{one['version']}”:" if one["version"] else "Without a version:")
        lines += [f"  {line}" for line in _shares(one)]
    if found["versions"] and not found["pooled"]:
        lines.append("These are several versions of the pipeline; --pooled says the shares of all of them together.")
    else:
        lines += [f"All {len(found['versions'])} versions pooled:"] if found["pooled"] else []
        lines += _shares(found)
    if region["inside"] is None:
        lines.append("It may decide none alone: each goes to a person too.")
    else:
        most = f"{region['risk']:.0%}"
        alone = f"It may decide {region['inside']:,} of them alone: of what people fail there it passes at most"
        lines.append(f"{alone} {most}, and of what they pass it fails at most {most}.")
    if found["probability"]["reason"] is not None:
        lines.append(f"No probabilities: {in_words(found['probability']['reason'])}.")
    return "\n".join(lines)


def _shares(found: Mapping[str, Any]) -> list[str]:
    passed, corrected = found["pass_rate"], found["corrected_pass_rate"]
    of = f"{found['scores']:,} scores, {found['samples']:,} samples"
    if passed["value"] is None:
        return [f"Nothing is said of its {of}: {in_words(passed['reason'])}."]
    lines = [f"The judge passes {interval(passed)} of {of}."]
    if corrected["value"] is None:
        return [*lines, f"What share people would pass can't be said: {in_words(corrected['reason'])}."]
    why = f" ({in_words(corrected['reason'])})" if corrected["low"] is None else ""
    lines.append(f"Corrected for its errors, the certificate’s people would pass {interval(corrected)}{why}.")
    return lines if found["caveat"] is None else [*lines, in_words(found["caveat"])]


def _write(path: Path, batch: AppliedBatch) -> None:
    rows = applied_rows(batch)
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            if path.suffix.lower() == ".csv":
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
            else:
                file.writelines(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.") from error


def _cell(value: Any) -> Any:
    """A sample's id must not run as a formula in a spreadsheet; numbers don't."""
    if isinstance(value, bool):
        return str(value).lower()
    return guard(value) if isinstance(value, str) else value
