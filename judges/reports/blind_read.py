"""A frozen report as one reader may see it: figures as they are, without the units that blindness holds back from them
(annotate.core.blindness), and with annotators called by a number where the reader may not know names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.blindness import (
    GeneralReader,
    Reader,
    annotator_numbers,
    may_know_names,
    samples_without_judges,
)
from annotate.core.errors import Conflict
from annotate.samples.read import samples_named
from judges.models import AlignmentReport

# The first version of figures (judges.reports.read.FIGURES_VERSION) that tells nothing of the test half.
LOCKED_SINCE = 10
# The parts of earlier reports that rest on what people said, and on nothing that judges did.
_OF_PEOPLE = {"project", "criterion", "agreement", "agreement_caveat", "agreement_note", "prevalence", "people"}


def as_read_by(report: AlignmentReport, *, reader: Reader) -> AlignmentReport:
    """The report, of which nothing must be saved any more. Of one that was reckoned in a way that told something of the
    test half only people's part is left."""
    if report.parameters["figures"] < LOCKED_SINCE:
        return _of_people(report, reader)
    result = report.result
    if isinstance(reader, GeneralReader):
        return report
    blind = _blind(report, reader)
    judges = [{**judge, **_without(judge, "disagreements", blind)} for judge in result["judges"]]
    pairs = [{**pair, **_without(pair, "flipped", blind)} for pair in result["compared"]["pairs"]]
    report.result = {**result, "judges": judges, "compared": {**result["compared"], "pairs": pairs}}
    if not may_know_names(reader, report.project):
        report.result = _numbered(report.result, annotator_numbers(report.project))
    return report


def _of_people(report: AlignmentReport, reader: Reader) -> AlignmentReport:
    report.result = {name: part for name, part in report.result.items() if name in _OF_PEOPLE}
    report.plots = {}
    if "agreement" in report.result and not may_know_names(reader, report.project):
        report.result["agreement"] = {**report.result["agreement"], "raters": []}
    return report


def require_whole(report: AlignmentReport, samples: Sequence[str], *, reader: Reader) -> None:
    """For what can't leave anything out. samples: those that it rests on. Raises Conflict."""
    if not may_know_names(reader, report.project):
        raise Conflict(
            "names_hidden",
            _("This file shows annotators’ names, which this project hides from you. Ask an admin for it."),
        )
    keys = samples_named(report.project, samples).values_list("pk", flat=True)
    held_back = len(samples_without_judges(reader, set(keys)))
    if held_back:
        said = ngettext(
            "This file has labels and judge results for %(n)d sample that you still have to label or decide.",
            "This file has labels and judge results for %(n)d samples that you still have to label or decide.",
            held_back,
        )
        raise Conflict("held_back", said % {"n": held_back})


def _blind(report: AlignmentReport, reader: Reader) -> set[str]:
    """The own ids of the samples of single units that the report names and the reader must not know about yet."""
    result = report.result
    rows = [row for judge in result["judges"] for row in judge["disagreements"]]
    names = {row.get("external_id", row["sample"]) for row in rows}
    names |= {row["sample"] for pair in result["compared"]["pairs"] for row in pair["flipped"]}
    keys = dict(samples_named(report.project, names).values_list("external_id", "pk"))
    held_back = samples_without_judges(reader, keys.values())
    return {name for name, key in keys.items() if key in held_back}


def _without(of: Mapping[str, Any], rows: str, blind: set[str]) -> dict[str, Any]:
    left = [row for row in of[rows] if row.get("external_id", row["sample"]) not in blind]
    held_back = len(of[rows]) - len(left)
    return {rows: left, **({"held_back": held_back} if held_back else {})}


def _numbered(result: dict[str, Any], called: Mapping[str, str]) -> dict[str, Any]:
    def renamed(people: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{**one, "name": called.get(one["name"], _("An annotator"))} for one in people]

    agreement, matrix, annotators = result["agreement"], result["matrix"], result["annotators"]
    hurried = result.get("too_fast")
    raters = sorted(called.get(name, _("An annotator")) for name in agreement["raters"])
    return {
        **result,
        "agreement": {**agreement, "raters": raters},
        "matrix": {
            **matrix,
            "raters": [renamed([one])[0] if one["kind"] == "person" else one for one in matrix["raters"]],
        },
        "annotators": {**annotators, "people": renamed(annotators["people"])},
        **({"too_fast": {**hurried, "people": renamed(hurried["people"])}} if hurried else {}),
        "judges": [
            {**judge, "people": {**judge["people"], "annotators": renamed(judge["people"]["annotators"])}}
            for judge in result["judges"]
        ],
    }
