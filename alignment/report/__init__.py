"""Everything a report says about one criterion, worked out from plain columns: no database, no files.

``Evidence`` holds what goes in; ``report_figures`` gives what comes out, as plain JSON. The same evidence and the same
versions of the libraries give the same figures, digit for digit, wherever they are worked out.
"""

from alignment.base.coded import Coded
from alignment.report.agreement import agreement_figures
from alignment.report.annotators import clearly_below
from alignment.report.applied import Applied, Audit, applied, audited
from alignment.report.cascades import CascadesLooked, cascades_looked
from alignment.report.caveats import learned_remark
from alignment.report.compared import two_versions
from alignment.report.comparison import Comparison, Distant, compare, furthest, reference_figures
from alignment.report.decisions import on_dev, on_test
from alignment.report.endpoint import seconds_of_sample
from alignment.report.evidence import (
    Before,
    Chance,
    Criterion,
    Declared,
    DrawnBy,
    Evidence,
    JudgeScores,
    Option,
    Unsettled,
    Value,
)
from alignment.report.evidence_json import evidence_as_dict, evidence_from_dict, evidence_in_columns
from alignment.report.judged import Judged, judge_titles
from alignment.report.looked import Looked, looked
from alignment.report.mistakes import Compared, Voices, compared_units
from alignment.report.next_samples import (
    OUTCOMES,
    OutcomeDraw,
    Proposal,
    Stratum,
    draw_by_outcome,
    outcomes_of,
    propose,
)
from alignment.report.of_responses import derived_metrics, response_bounds, response_values
from alignment.report.planned import FEWEST_OF_VERSION, Growth
from alignment.report.reference import Reference, reference_of
from alignment.report.report_figures import differences, report_figures
from alignment.report.triaged import region_on_test
from alignment.report.units import ByUnit, UnitKey, Units
