"""Working a report out again from what it rests on, here or anywhere else."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

import alignment
from annotate.core.blindness import Reader
from judges.models import AlignmentReport
from judges.reports.blind_read import require_whole
from judges.reports.evidence import spelled_rows
from judges.reports.read import require_shown

_SCRIPT = Path(__file__).with_name("recompute.py")
_FEW = 100
# Words and keys of this installation, which are no figures.
_WORDS = frozenset({"external_id", "text", "rationale", "unit_number"})


def pack(evidence: alignment.report.Evidence) -> bytes:
    # Without a time stamp: the same evidence, the same bytes. The highest level takes four times as long for 1 %.
    packed = zlib.compressobj(level=6, wbits=zlib.MAX_WBITS + 16)
    spelled = _spelled(alignment.report.evidence_in_columns(evidence))
    return b"".join([*map(packed.compress, spelled), packed.flush()])


def _spelled(value: Any) -> Iterator[bytes]:
    """As JSON; coded columns a part at a time. What holds columns has few members."""
    if isinstance(value, alignment.report.Coded):
        yield from spelled_rows(value)
    elif isinstance(value, dict) and 0 < len(value) <= _FEW:
        for place, (name, part) in enumerate(value.items()):
            yield (b"," if place else b"{") + orjson.dumps(name) + b":"
            yield from _spelled(part)
        yield b"}"
    elif isinstance(value, list) and 0 < len(value) <= _FEW:
        for place, part in enumerate(value):
            yield b"," if place else b"["
            yield from _spelled(part)
        yield b"]"
    else:
        yield orjson.dumps(value)


def reproduce(report: AlignmentReport) -> list[str]:
    """What comes out differently when the report's evidence is worked out with the program as it is now."""
    # The evidence first: one that can't be read says so, whatever is left of the report (judges.reports.blind_read).
    evidence = _unpacked(report)
    figures = alignment.report.report_figures(evidence)
    return list(alignment.report.differences(figures_only(report.result), figures))


def figures_only(result: dict[str, Any]) -> dict[str, Any]:
    """A report's result as the alignment module gives it."""
    judges = [
        {
            **judge,
            "disagreements": [_plain(row) for row in judge["disagreements"]],
            # Reports of before decision 35 have a verdict of the ceiling's own here; no figure is another.
            "people": {name: value for name, value in judge["people"].items() if name != "verdict"},
        }
        for judge in result["judges"]
    ]
    return {**{name: value for name, value in result.items() if name != "project"}, "judges": judges}


def bundle(report: AlignmentReport, shown: Mapping[str, Any], *, reader: Reader) -> bytes:
    """A ZIP with the report, its evidence, the ratings as a table, and the script that works every figure out again.
    shown: the report as the API shows it.

    Raises Conflict when the reader may not know all of it: without a part of it the figures would be others."""
    evidence = _unpacked(report)
    require_whole(report, evidence.samples(), reader=reader)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (
            ("report.json", _json({**shown, "figures": figures_only(report.result)})),
            ("evidence.json", gzip.decompress(report.evidence)),
            ("ratings.csv", _ratings(evidence)),
            ("recompute.py", _SCRIPT.read_bytes()),
        ):
            archive.writestr(zipfile.ZipInfo(name, report.created_at.timetuple()[:6]), content)
    return file.getvalue()


def _unpacked(report: AlignmentReport) -> alignment.report.Evidence:
    require_shown(report)
    return alignment.report.evidence_from_dict(orjson.loads(gzip.decompress(report.evidence)))


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {**{name: value for name, value in row.items() if name not in _WORDS}, "sample": row["external_id"]}


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False).encode()


def _ratings(evidence: alignment.report.Evidence) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["sample_id", "unit", "rater", "value"])
    writer.writerows(
        (sample, unit, rater, json.dumps(value, ensure_ascii=False))
        for (sample, unit), rater, value in zip(evidence.units, evidence.raters, evidence.values, strict=True)
    )
    return text.getvalue().encode()
