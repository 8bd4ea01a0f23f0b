"""Every benchmark, one after the other, each in a process of its own: they must not share caches, nor the processor."""

import subprocess
import sys

from bench.stage import ROOT

BENCHMARKS = (
    "aligning_speed",
    "experiment_speed",
    "files_speed",
    "import_speed",
    "judges",
    "label_loop",
    "mistakes",
    "queue",
    "report_speed",
    "retrieval_speed",
    "starting",
    "statistics_speed",
    "target",
    "workspace",
)


def main() -> None:
    failed = []
    for name in BENCHMARKS:
        print(f"\n== {name} ==", flush=True)
        if subprocess.run([sys.executable, "-m", f"bench.{name}"], cwd=ROOT).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
