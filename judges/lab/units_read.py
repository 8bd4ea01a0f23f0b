"""The units that two versions answer differently: what each person said of them and why, and both versions' reasons;
and a trial as the API gives it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext_noop

from annotate.core.blindness import Reader
from annotate.core.scales import Value
from annotate.core.units import unit_number, unit_title
from annotate.models import Label
from annotate.verdicts.disputes_read import People, people_of_samples
from annotate.verdicts.ratings_read import UnitKey
from judges.lab.read import Found, is_under_way, title_of, trial_figures
from judges.models import Score, Trial
from judges.reports.read import outcome, said_by_judge, words_of

# Of the units on which the versions differ: what a page can be narrowed to, and what it is then called.
GROUPS = {
    "mended": gettext_noop("Fixed: only the new version is correct"),
    "broken": gettext_noop("Regression: only the old version is correct"),
    "both_wrong": gettext_noop("Different, both wrong"),
    "changed": gettext_noop("Different answer, same outcome"),
}
_GAINS = {1: "mended", -1: "broken", 0: "both_wrong", None: "changed"}
_RATIONALE = 2_000


@dataclass(frozen=True, slots=True)
class Vote:
    """What one person said about a unit. value: in the words of its option; None: could not tell, and said why.
    evidence: places in contexts, with their words."""

    who: str
    value: str | None
    cant_tell: str
    comment: str
    evidence: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit on which the versions differ. sample: its key here; group: of GROUPS; people: pass or fail by them, or
    their label; reason: of their verdict, when a person gave one; first, second: what the versions said."""

    sample: int
    external_id: str
    unit: str
    title: str
    text: str
    group: str
    people: str
    reason: str
    votes: list[Vote]
    first: str
    first_rationale: str
    second: str
    second_rationale: str


@dataclass(frozen=True, slots=True)
class Differing:
    """rows: of each unit what the figures say of it, by group. counts: by group, all there are. held_back: how many
    rows are left out since the reader still has their samples to label."""

    rows: list[dict[str, Any]]
    counts: dict[str, int]
    held_back: int


def differing(found: Found) -> Differing:
    """Mended first, then newly wrong, then the rest."""
    figures = found.figures
    flips = figures["flips"]
    counts = {
        "mended": flips["only_second_right"],
        "broken": flips["only_first_right"],
        "both_wrong": flips["both_wrong"],
        "changed": figures["changed_in_all"],
    }
    rows = [{**row, "group": _GAINS[row["gain"]]} for row in (*figures["flipped"], *figures["changed"])]
    order = list(GROUPS)
    return Differing(sorted(rows, key=lambda row: order.index(row["group"])), counts, found.held_back)


def with_words(trial: Trial, found: Found, rows: Sequence[Mapping[str, Any]], *, named: bool) -> list[Unit]:
    """The rows with the unit's text, what each person said and why, and both versions' reasons. named: by their names,
    where the reader may see them."""
    dev, basis = found.on_dev, found.figures["basis"]
    options = {option["value"]: str(option.get("label") or option["value"]) for option in trial.criterion.options}
    votes = _votes(found, {(row["sample"], row["unit"]) for row in rows}, options, named)
    reasons = _reasons(trial, {dev.samples[row["sample"]].pk for row in rows})
    units = []
    for row in rows:
        key = row["sample"], row["unit"]
        sample, verdict = dev.samples[row["sample"]], dev.verdicts.get(key)
        human = row["human"]
        units.append(
            Unit(
                sample=sample.pk,
                external_id=sample.external_id,
                unit=row["unit"],
                title=unit_title(row["unit"], unit_number(sample, row["unit"])),
                text=words_of(sample, row["unit"]),
                group=row["group"],
                people=options.get(human, str(human)) if basis == "labels" else said_by_judge(human, None, basis),
                reason="" if verdict is None else verdict.reason,
                votes=votes.get(key, []),
                first=_answer(row, "first", basis, options),
                first_rationale=reasons.get((trial.base_id, sample.pk, row["unit"]), ""),
                second=_answer(row, "second", basis, options),
                second_rationale=reasons.get((trial.version_id, sample.pk, row["unit"]), ""),
            )
        )
    return units


def _reasons(trial: Trial, samples: Collection[int]) -> dict[tuple[int, int, str], str]:
    """Both versions' own words, by version, sample and unit."""
    scores = Score.objects.filter(version__in=(trial.base_id, trial.version_id), sample__in=samples, repeat=0)
    rows = scores.filter(dimension=trial.dimension).values_list("version", "sample", "unit", "rationale")
    return {
        (version, sample, unit): text if len(text) <= _RATIONALE else text[: _RATIONALE - 1] + "…"
        for version, sample, unit, text in rows
    }


def _answer(row: Mapping[str, Any], side: str, basis: str, options: Mapping[Value, str]) -> str:
    label = row[f"{side}_label"]
    if basis == "labels":
        return options.get(row[side], str(row[side]))
    said = said_by_judge(row[side], row[f"{side}_score"], basis)
    return said if label is None else f"{said} ({options.get(label, str(label))})"


def _votes(found: Found, units: set[UnitKey], options: Mapping[Value, str], named: bool) -> dict[UnitKey, list[Vote]]:
    keys = {found.on_dev.samples[sample].pk for sample, _unit in units}
    people = people_of_samples(keys, named=named)
    votes: dict[UnitKey, list[Vote]] = {}
    for label in (*found.on_dev.labels, *found.on_dev.undecided):
        key = label.sample.external_id, label.unit
        if key in units:
            votes.setdefault(key, []).append(_vote(label, people[label.sample_id], options))
    return {key: sorted(said_of, key=lambda vote: vote.who) for key, said_of in votes.items()}


def _vote(label: Label, people: People, options: Mapping[Value, str]) -> Vote:
    value = None if label.value is None else options.get(label.value, str(label.value))
    evidence = [{"context": span["context"] + 1, "quote": span["quote"]} for span in label.evidence]
    return Vote(people.who(label.rater.name), value, label.cant_tell, label.comment, evidence)


# Of the units that differ.
MOST_BY_API = 100


def trial_result(trial: Trial, *, reader: Reader, named: bool) -> dict[str, Any] | None:
    """What the API says a trial shows; None while it is under way."""
    if is_under_way(trial):
        return None
    found = trial_figures(trial, reader=reader)
    figures, titles = found.figures, (title_of(trial.base), title_of(trial.version))
    rows = differing(found)
    units = with_words(trial, found, rows.rows[:MOST_BY_API], named=named)
    return {
        "outcome": outcome(*titles, figures),
        **{name: figures[name] for name in ("basis", "units", "samples", "reason", "own", "difference")},
        "caveat": found.caveat,
        "learned": found.learned,
        "versions": [
            {
                "title": title,
                "coverage": figures["coverage"][at],
                "failed": dict(found.failed[at]),
                "threshold": figures["thresholds"][at],
                **asdict(found.spent[at]),
            }
            for at, title in enumerate(titles)
        ],
        "counts": rows.counts,
        "held_back": rows.held_back,
        "flipped": units,
    }
