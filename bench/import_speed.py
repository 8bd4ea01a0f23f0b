"""How fast samples come in, and how much memory that takes.

    python bench/import_speed.py [--rows 100000] [--format jsonl|json|csv|parquet]

Makes a file of samples of about 3 KB with 5 contexts and 4 claims each, imports it into an empty project in a process
of its own, and imports it again (nothing changes). For comparison, in the same run: PostgreSQL's COPY of the same bytes
into a table with one text column, which is what the database alone can do.

Uses a database of its own in a temporary folder unless DATA_DIR or DATABASE_URL is set.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
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


def start_django() -> object:
    """Returns this process's claim on the embedded services, which holds as long as it is referred to."""
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from config import embedded

    services = embedded.ensure_services()
    import django

    django.setup()
    return services


def import_once(path: Path, slug: str) -> None:
    """Runs in a process of its own, and prints what it took as JSON."""
    services = start_django()
    from django.db import connection

    from annotate.models import Project
    from annotate.models.transfer import ImportStatus
    from annotate.services.imports import import_file

    project = Project.objects.get(slug=slug)
    before = peak_mib()
    backend = connection.connection.info.backend_pid
    database_before, python_before = cpu_seconds(backend), time.process_time()
    began = time.perf_counter()
    job = import_file(project=project, user=None, kind="samples", path=path, mapping={})
    seconds = time.perf_counter() - began
    assert job.status == ImportStatus.DONE, job.errors[:3]
    cpu = {"python_cpu": time.process_time() - python_before, "database_cpu": cpu_seconds(backend) - database_before}
    print(json.dumps({**job.result, **cpu, "seconds": seconds, "peak_mib": peak_mib(), "before_mib": before}))
    del services


def cpu_seconds(pid: int) -> float:
    """Processor time of another process so far; 0 when the database runs elsewhere."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--format", choices=["jsonl", "json", "csv", "parquet"], default="jsonl")
    parser.add_argument("--import-once", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.import_once:
        import_once(Path(options.import_once[0]), options.import_once[1])
        return
    with tempfile.TemporaryDirectory(prefix="ts-") as folder:
        if "DATABASE_URL" not in os.environ:
            os.environ.setdefault("DATA_DIR", folder)
        measure(Path(folder), options.rows, options.format)


def measure(folder: Path, count: int, file_format: str) -> None:
    path = folder / f"samples.{file_format}"
    write_file(path, file_format, count)
    services = start_django()
    from django.core.management import call_command

    from annotate.models import Project

    call_command("migrate", verbosity=0)
    slug = f"bench-{time.time_ns()}"
    Project.objects.create(slug=slug, name=slug)
    mib = path.stat().st_size / BLOCK
    print(
        f"{count:,} samples, {file_format}, {mib:,.0f} MiB ({mib * 1024 / count:.1f} KiB each), {os.cpu_count()} cores"
    )
    for name in ("first import", "again, unchanged"):
        command = [sys.executable, __file__, "--import-once", str(path), slug]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        seconds = found["seconds"]
        print(
            f"{name:18} {seconds:6.2f} s  {count / seconds:8,.0f} rows/s  {mib / seconds:6.1f} MiB/s  "
            f"peak memory {found['peak_mib']:.0f} MiB ({found['before_mib']:.0f} before)"
        )
        # On a machine that others use, the wall clock says little; processor time still does.
        print(
            f"{'':18} processor: Python {found['python_cpu']:.1f} s, PostgreSQL {found['database_cpu']:.1f} s; with a "
            f"core each at most {count / max(found['python_cpu'], found['database_cpu']):,.0f} rows/s"
        )
        if name == "first import":
            first = seconds
    if file_format != "parquet":
        raw = raw_copy(path)
        print(f"{'raw COPY':18} {raw:6.2f} s  {count / raw:8,.0f} rows/s  {mib / raw:6.1f} MiB/s")
        print(f"the import takes {first / raw:.2f} times as long as COPY alone")
    del services


if __name__ == "__main__":
    main()
