"""Samples out and in again: whether a byte differs.

    python -m bench.round_trip [--rows 100000]

A file of samples, in which every text ends with what a format may trip over, is imported; then, for JSONL, CSV and
Parquet each, released, imported into another project and released from there. The two releases have to be the same.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.import_speed import samples
from bench.stage import figure, heading, import_rows, own_services

FORMATS = ("jsonl", "csv", "parquet")
DIFFICULT = (
    "=1+1", "'=1", "''-", "\t-1", "@x", '"', '""', ",;", "\r\n", "\r", "a\nb", "\u2028\u2029\x85", "\\N", "\\.", "a\\",
    "[1]", "{}", "null", "1e400", "007", "é e\u0301", "😀字", "\u202eabc", "x\u200by", "</script>",
    "\x01\x1f\x7f", "\\u0000",
)  # fmt: skip


def difficult_samples(count: int) -> Iterator[dict[str, Any]]:
    for row, words in zip(samples(count), cycle(DIFFICULT), strict=False):
        contexts = [{**context, "text": context["text"] + words} for context in row["contexts"]]
        texts = {name: row[name] + words for name in ("question", "answer", "reference")}
        yield {**row, **texts, "contexts": contexts, "metadata": {**row["metadata"], "words": words}}


def measure(folder: Path, count: int) -> bool:
    from annotate.files.import_jobs import import_file
    from annotate.models import Project
    from annotate.models.transfer import ImportStatus

    heading(f"{count:,} samples")
    first = Project.objects.create(slug="first", name="First")
    import_rows(first, "samples", difficult_samples(count), folder)
    same = []
    for file_format in FORMATS:
        began = time.perf_counter()
        path, before = _release(first, file_format, folder)
        second = Project.objects.create(slug=file_format, name=file_format)
        job = import_file(project=second, user=None, kind="samples", path=path, mapping={})
        assert job.status == ImportStatus.DONE, job.errors[:3]
        path.unlink()
        _again, after = _release(second, file_format, folder)
        same.append(before == after and job.result["created"] == count)
        mib = before["bytes"] / 2**20
        found = "the same bytes" if same[-1] else f"differ: {before} {after}"
        figure(file_format, f"{found}; {mib:,.0f} MiB, {time.perf_counter() - began:.0f} s", "the same bytes")
    return all(same)


def _release(project: Any, file_format: str, folder: Path) -> tuple[Path, dict[str, Any]]:
    """A copy of its file, and its size and hash."""
    from annotate.files.releases import make_release, open_release

    release = make_release(project=project, user=None, file_format=file_format, filters={"rows": "samples"})
    path = folder / f"{project.slug}.{file_format}"
    with open_release(release) as source, path.open("wb") as copy:
        while block := source.read(1 << 20):
            copy.write(block)
    return path, {name: release.manifest[name] for name in ("bytes", "sha256")}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    with own_services() as folder:
        sys.exit(0 if measure(folder, options.rows) else 1)


if __name__ == "__main__":
    main()
