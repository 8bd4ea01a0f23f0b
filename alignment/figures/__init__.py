"""Everything a report says about one criterion, worked out from plain columns: no database, no files.

``Evidence`` holds what goes in; ``report_figures`` gives what comes out, as plain JSON. The same evidence and the same
versions of the libraries give the same figures, digit for digit, wherever they are worked out.
"""

from alignment.figures.agreement import agreement_figures
from alignment.figures.applied import Applied, applied
from alignment.figures.audited import Audit, audited
from alignment.figures.compared import two_versions
from alignment.figures.comparison import Comparison, compare, reference_figures
from alignment.figures.decisions import on_dev, on_test
from alignment.figures.difference import differences
from alignment.figures.disagreements import Distant, furthest
from alignment.figures.evidence import Before, Chance, Criterion, Evidence, JudgeScores, Option, UnitKey, Value
from alignment.figures.files import evidence_as_dict, evidence_from_dict
from alignment.figures.judged import Judged
from alignment.figures.looked import Looked, looked
from alignment.figures.next_samples import Proposal, Stratum, propose
from alignment.figures.outcomes import OUTCOMES, OutcomeDraw, draw_by_outcome, outcomes_of
from alignment.figures.reference import Reference, reference_of
from alignment.figures.report import report_figures
from alignment.figures.seeds import generator
from alignment.figures.triaged import region_on_test

__all__ = [
    "OUTCOMES",
    "Applied",
    "Audit",
    "Before",
    "Chance",
    "Comparison",
    "Criterion",
    "Distant",
    "Evidence",
    "JudgeScores",
    "Judged",
    "Looked",
    "Option",
    "OutcomeDraw",
    "Proposal",
    "Reference",
    "Stratum",
    "UnitKey",
    "Value",
    "agreement_figures",
    "applied",
    "audited",
    "compare",
    "differences",
    "draw_by_outcome",
    "evidence_as_dict",
    "evidence_from_dict",
    "furthest",
    "generator",
    "looked",
    "on_dev",
    "on_test",
    "outcomes_of",
    "propose",
    "reference_figures",
    "reference_of",
    "region_on_test",
    "report_figures",
    "two_versions",
]
