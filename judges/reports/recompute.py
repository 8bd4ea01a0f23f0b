"""Works every figure of this report out again: python recompute.py

Needs Python 3.11 with numpy and scipy (the versions stand in report.json under "parameters") and the folder
`alignment` of Touchstone beside this file or on PYTHONPATH. Reads report.json and evidence.json in its own folder.
"""

import json
import sys
from pathlib import Path

from alignment.report import differences, evidence_from_dict, report_figures

HERE = Path(__file__).resolve().parent


def main() -> None:
    report = json.loads((HERE / "report.json").read_text(encoding="utf-8"))
    evidence = evidence_from_dict(json.loads((HERE / "evidence.json").read_text(encoding="utf-8")))
    found = list(differences(report["figures"], report_figures(evidence)))
    if found:
        sys.exit("\n".join([f"The report comes out differently in {len(found)} places (stored, and now):", *found]))
    print(f"Report {report['number']} on “{report['criterion']}”: every figure is the same.")


if __name__ == "__main__":
    main()
