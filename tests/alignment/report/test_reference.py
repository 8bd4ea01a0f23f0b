"""What a report says of people's side of its comparisons."""

from dataclasses import replace

from alignment.report import Criterion, Evidence, reference_figures, reference_of
from tests.alignment.report.building import answer


def test_units_on_which_people_differ_are_compared_by_their_mean():
    """Without passes no majority is needed; a single label counts where that is asked for."""
    criterion = Criterion("ok", 1, "OK", "answer", "interval", "OK?", (), ())
    units = [answer(name) for name in ("differ", "differ", "agree", "agree", "alone")]
    raters, values = ["ann", "ben", "ann", "ben", "ann"], [0.2, 0.7, 0.5, 0.5, 0.1]
    settled = Evidence(criterion, 1, units, raters, values, {}, unsettled={answer("alone"): "single"})
    for found, shown in ((settled, (2, 0)), (replace(settled, settled_only=False), (3, 1))):
        reference = reference_of(found)
        figures = reference_figures(reference)
        assert (figures["units"], figures["single_labels"]) == shown
        assert len(reference.mean) == figures["units"]
