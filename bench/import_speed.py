"""How fast samples come in, and how much memory that takes.

    python -m bench.import_speed [--rows 100000] [--format jsonl|json|csv|parquet]

Makes a file of samples of about 3 KB with 5 contexts and 4 claims each, imports it into an empty project in a process
of its own, and imports it again (nothing changes). For comparison, in the same run: PostgreSQL's COPY of the same bytes
into a table with one text column, which is what the database alone can do.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from bench.stage import ROOT, figure, heading, own_services, processor_seconds, same_services

BLOCK = 1 << 20


def samples(count: int) -> Iterator[dict[str, Any]]:
    rng = random.Random(20260901)
    syllables = [
        "re",
        "tri",
        "ev",
        "al",
        "la",
        "bel",
        "jud",
        "ge",
        "claim",
        "con",
        "text",
        "war",
        "ran",
        "ty",
        "in",
        "voice",
    ]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(5000)]
    # Long runs of words, cut anywhere: drawing each word anew would take longer than the import.
    text = " ".join(rng.choices(words, k=400_000))

    def passage(length: int) -> str:
        start = rng.randrange(len(text) - length)
        return text[start : start + length].strip()

    for number in range(count):
        claims = [f"{passage(90)}." for _ in range(4)]
        yield {
            "id": f"sample-{number}",
            "question": f"{passage(90)}?",
            "answer": " ".join(claims),
            "reference": passage(200),
            "contexts": [
                {"id": f"doc-{number}-{rank}", "text": passage(340), "score": round(rng.random(), 6)}
                for rank in range(5)
            ],
            "claims": claims,
            "metadata": {"model": "m-1", "turn": number % 5},
        }


def write_file(path: Path, file_format: str, count: int) -> None:
    if file_format == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = samples(count)
        first = pa.Table.from_pylist([next(rows)])
        with pq.ParquetWriter(path, first.schema) as writer:
            writer.write_table(first)
            while chunk := [row for row, _ in zip(rows, range(5000), strict=False)]:
                writer.write_table(pa.Table.from_pylist(chunk, schema=first.schema))
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        if file_format == "jsonl":
            file.writelines(json.dumps(row) + "\n" for row in samples(count))
        elif file_format == "json":
            for index, row in enumerate(samples(count)):
                file.write(("[" if index == 0 else ",\n") + json.dumps(row))
            file.write("]")
        else:
            writer = csv.writer(file)
            for index, row in enumerate(samples(count)):
                if index == 0:
                    writer.writerow(row)
                writer.writerow([json.dumps(cell) if isinstance(cell, list | dict) else cell for cell in row.values()])


def import_once(path: Path, slug: str) -> None:
    """Runs in a process of its own, and prints what it took as JSON."""
    from django.db import connection

    from annotate.files.import_jobs import import_file
    from annotate.models import Project
    from annotate.models.transfer import ImportStatus

    project = Project.objects.get(slug=slug)
    before = peak_mib()
    database = psutil.Process(connection.connection.info.backend_pid)
    database_before, python_before = processor_seconds(database), time.process_time()
    began = time.perf_counter()
    job = import_file(project=project, user=None, kind="samples", path=path, mapping={})
    seconds = time.perf_counter() - began
    assert job.status == ImportStatus.DONE, job.errors[:3]
    found = {
        "seconds": seconds,
        "peak_mib": peak_mib(),
        "before_mib": before,
        "python_cpu": time.process_time() - python_before,
        "database_cpu": processor_seconds(database) - database_before,
    }
    print(json.dumps(found))


def peak_mib() -> float:
    """Largest resident memory so far. VmHWM, as ru_maxrss begins with that of the process that started this one."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def raw_copy(path: Path) -> float:
    """Seconds for COPY of the file's bytes, one line per row. Delimiter and quote do not occur in it."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_raw")
        cursor.execute("CREATE TABLE bench_raw (line text)")
        began = time.perf_counter()
        with (
            path.open("rb") as file,
            cursor.copy(r"COPY bench_raw FROM STDIN (FORMAT csv, DELIMITER E'\x02', QUOTE E'\x01')") as copy,
        ):
            while block := file.read(BLOCK):
                copy.write(block)
        seconds = time.perf_counter() - began
        cursor.execute("DROP TABLE bench_raw")
    return seconds


def measure(folder: Path, count: int, file_format: str) -> None:
    from annotate.models import Project

    path = folder / f"samples.{file_format}"
    write_file(path, file_format, count)
    Project.objects.create(slug="bench", name="Bench")
    mib = path.stat().st_size / BLOCK
    heading(f"{count:,} samples, {file_format}, {mib:,.0f} MiB ({mib * 1024 / count:.1f} KiB each)")
    for name in ("first import", "again, unchanged"):
        command = [sys.executable, "-m", "bench.import_speed", "--import-once", str(path), "bench"]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout)
        seconds = found["seconds"]
        speed = f"{count / seconds:,.0f} rows/s, {mib / seconds:.1f} MiB/s, {seconds:.2f} s"
        figure(name, speed, "≥ 10,000 rows/s" if name == "first import" else "")
        figure("  peak memory", f"{found['peak_mib']:.0f} MiB ({found['before_mib']:.0f} before)", "≤ 300 MB")
        # On a machine that others use, the wall clock says little; processor time still does.
        slowest = count / max(found["python_cpu"], found["database_cpu"])
        used = f"Python {found['python_cpu']:.1f} s, PostgreSQL {found['database_cpu']:.1f} s"
        figure("  processor time", f"{used}; with a core each at most {slowest:,.0f} rows/s")
        if name == "first import":
            first = seconds
    if file_format != "parquet":
        raw = raw_copy(path)
        figure("raw COPY", f"{count / raw:,.0f} rows/s, {mib / raw:.1f} MiB/s, {raw:.2f} s")
        figure("import against COPY alone", f"{first / raw:.2f} times as long")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--format", choices=["jsonl", "json", "csv", "parquet"], default="jsonl")
    parser.add_argument("--import-once", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.import_once:
        with same_services():
            import_once(Path(options.import_once[0]), options.import_once[1])
    else:
        with own_services() as folder:
            measure(folder, options.rows, options.format)


if __name__ == "__main__":
    main()
