"""What an experiment says first: may this version be shipped, and why not. From its figures alone
(`manage.py experiment --format json`), so that the page, the file and Markdown say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from frontend.reports.in_words import in_words
from frontend.systems.metric_names import metric_help, metric_title
from frontend.systems.parts import PartTable, part_tables, parts_in_words
from frontend.systems.pictures import Picture, Scale
from frontend.systems.preference import Preferred, preferred_in
from frontend.systems.spelt import Spelt, band_in_words, in_unit
from systems.experiments.spelling import SHARE, Estimate, decisive, is_measured

Metric = Mapping[str, Any]

_RATES = ("answering", "wrong_abstention", "right_abstention")
# Of a metric, and of the whole.
CHIPS = {
    "better": gettext_noop("Better"),
    "not_worse": gettext_noop("Not worse"),
    "worse": gettext_noop("Worse"),
    "cannot_tell": gettext_noop("Cannot tell yet"),
}
WHOLE = {
    "better": gettext_noop("Ready to ship"),
    "not_worse": gettext_noop("Not worse, no gain shown"),
    "worse": gettext_noop("Do not ship yet"),
    "cannot_tell": gettext_noop("Cannot tell yet"),
}
_ROLES = {
    "primary": gettext_noop("Primary metric"),
    "guard": gettext_noop("Guard"),
    "exploratory": gettext_noop("Exploratory"),
}
# By the verdict on the primary metric, then by what is wrong with guards.
_SENTENCES = {
    ("better", ""): gettext_noop("%(version)s is better on %(primary)s, and worse on no guard."),
    ("better", "worse"): gettext_noop("%(version)s is better on %(primary)s, but worse on %(guards)s."),
    ("better", "cannot_tell"): gettext_noop(
        "%(version)s is better on %(primary)s. Whether it is worse on %(guards)s cannot be told yet."
    ),
    ("not_worse", ""): gettext_noop("%(version)s is not worse on %(primary)s; no gain is shown."),
    ("not_worse", "worse"): gettext_noop("%(version)s is worse on %(guards)s, and no gain is shown on %(primary)s."),
    ("not_worse", "cannot_tell"): gettext_noop(
        "%(version)s is not worse on %(primary)s. Whether it is worse on %(guards)s cannot be told yet."
    ),
    ("worse", ""): gettext_noop("%(version)s is worse on %(primary)s."),
    ("worse", "worse"): gettext_noop("%(version)s is worse on %(primary)s, and on %(guards)s."),
    ("worse", "cannot_tell"): gettext_noop("%(version)s is worse on %(primary)s."),
    ("cannot_tell", ""): gettext_noop("Whether %(version)s is better on %(primary)s cannot be told yet."),
    ("cannot_tell", "worse"): gettext_noop(
        "%(version)s is worse on %(guards)s. Whether it is better on %(primary)s cannot be told yet."
    ),
    ("cannot_tell", "cannot_tell"): gettext_noop(
        "Whether %(version)s is better on %(primary)s, or worse on %(guards)s, cannot be told yet."
    ),
}
_ALONE = gettext_noop("%(version)s is better on %(primary)s.")


@dataclass(frozen=True, slots=True)
class Level:
    """Of one version. raw: None where nothing was judged. rates: of answering and of wrong and right abstention, where
    some answers have no value of the metric."""

    version: str
    found: Mapping[str, Any]
    figure: Spelt
    people: Spelt | None
    raw: Spelt | None
    rates: Sequence[Spelt]
    band: str
    target: str


@dataclass(frozen=True, slots=True)
class Row:
    """A metric: the candidate less the baseline. change: from which level to which, "" where one is unknown. raw: what
    the judge alone would say, None of what needs none. margin: by how much less good it may be, "" where nothing was
    declared. labelled, drawn: how many of the candidate's questions, "" of what needs no labels."""

    name: str
    title: str
    help: str
    change: str
    role: str
    role_code: str
    verdict: str
    chip: str
    difference: Spelt
    raw: str | None
    sign_turns: bool
    why: str
    margin: str
    labelled: str
    drawn: str
    band: str
    needed: str
    picture: Picture | None
    sequential: Spelt | None
    complete_cases: Spelt | None
    levels: Sequence[Level]

    @property
    def is_measured(self) -> bool:
        """Whether it needs no labels."""
        return not self.drawn


@dataclass(frozen=True, slots=True)
class FirstScreen:
    """candidates: every version but the baseline, this one among them. drawn: how many of the questions; labelled: of
    how many of these people have said something. to_draw: how many more it would take, of those that there are."""

    candidate: str
    baseline: str
    candidates: Sequence[str]
    verdict: str
    chip: str
    sentence: str
    figures: Sequence[Row]
    drawn: int
    labelled: int
    questions: int
    rows: Sequence[Row]
    parts: Sequence[PartTable]
    parts_say: str
    preferred: Preferred | None
    to_draw: int | None

    @property
    def place(self) -> int:
        """Of the candidate among all, from 1."""
        return self.candidates.index(self.candidate) + 1

    @property
    def decides(self) -> Sequence[Row]:
        return [row for row in self.rows if row.role_code != "exploratory"]

    @property
    def explores(self) -> Sequence[Row]:
        return [row for row in self.rows if row.role_code == "exploratory"]

    @property
    def misleading(self) -> Row | None:
        """Where a judge alone would have said the opposite."""
        return next((row for row in self.rows if row.sign_turns), None)


def candidates_of(figures: Mapping[str, Any]) -> list[str]:
    return [one["b"] for one in figures["verdicts"]]


def first_screen(figures: Mapping[str, Any], candidate: str) -> FirstScreen:
    """figures: of the experiment. LookupError: none of its candidates."""
    metrics = sorted(figures["metrics"], key=lambda metric: list(_ROLES).index(metric["role"]))
    verdict = next((one["verdict"] for one in figures["verdicts"] if one["b"] == candidate), None)
    if verdict is None:
        raise LookupError(candidate)
    differences = [_difference(metric, candidate) for metric in metrics]
    shares = [(metric, found) for metric, found in zip(metrics, differences, strict=True) if metric["unit"] == SHARE]
    scale = Scale.of(
        [decisive(found) for _metric, found in shares] + [found["raw"] for _metric, found in shares],
        [margin for metric, _found in shares if (margin := _worse_by(metric)) is not None],
    )
    rows = [_row(metric, found, scale) for metric, found in zip(metrics, differences, strict=True)]
    asked = [_level(metric, candidate) for metric in metrics]
    drawn = max((one["drawn"] for one in asked), default=0)
    questions = max((one["questions"] for one in asked), default=0)
    # What decides nothing is no reason to label, and more than there is can't be labelled.
    deciding = [found for metric, found in zip(metrics, differences, strict=True) if metric["role"] != "exploratory"]
    wanted = max((found["needed"]["labels"] or 0 for found in deciding), default=0)
    return FirstScreen(
        candidate=candidate,
        baseline=figures["baseline"],
        candidates=candidates_of(figures),
        verdict=verdict,
        chip=_(WHOLE[verdict]),
        sentence=_sentence(rows, candidate),
        figures=_most_telling(rows),
        drawn=drawn,
        labelled=max((one["labelled"] for one in asked), default=0),
        questions=questions,
        rows=rows,
        parts=part_tables(figures, [row.name for row in rows], candidate),
        parts_say=parts_in_words(figures, rows[0].name, rows[0].title, candidate),
        preferred=preferred_in(figures, candidate),
        to_draw=max(0, min(wanted, questions) - drawn) or None,
    )


def _difference(metric: Metric, candidate: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(one for one in metric["differences"] if one["b"] == candidate)
    return found


def _level(metric: Metric, version: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(one for one in metric["levels"] if one["version"] == version)
    return found


def _worse_by(metric: Metric) -> float | None:
    """The margin with the sign of what is worse."""
    margin: float | None = metric["margin"]
    return margin if margin is None or metric["direction"] == "lower" else -margin


def _row(metric: Metric, found: Mapping[str, Any], scale: Scale) -> Row:
    unit, role, verdict = metric["unit"], metric["role"], found["verdict"]
    decides = decisive(found)
    level = _level(metric, found["b"])
    judged = not is_measured(level) and found["raw"]["value"] is not None
    raw = found["raw"]["value"] if judged else None
    return Row(
        name=metric["metric"],
        title=metric_title(metric),
        help=metric_help(metric),
        change=_change(metric, found),
        role=_(_ROLES[role]),
        role_code=role,
        verdict=verdict,
        chip=_(CHIPS[verdict]),
        difference=Spelt.of(decides, unit, signed=True),
        raw=None if raw is None else in_unit(raw, unit, signed=True),
        sign_turns=raw is not None and decides["value"] is not None and raw * decides["value"] < 0,
        # Said once: beside the figure that has no interval.
        why="" if found["reason"] == decides["reason"] else in_words(found["reason"]),
        margin="" if metric["margin"] is None else in_unit(metric["margin"], unit),
        labelled="" if is_measured(level) else f"{level['labelled']:,}",
        drawn="" if is_measured(level) else f"{level['drawn']:,}",
        band=band_in_words(level["band"]),
        needed=_needed(found["needed"]),
        picture=scale.picture(decides, raw, _worse_by(metric)) if unit == SHARE else None,
        sequential=None if "sequential" not in found else Spelt.of(found["sequential"], unit, signed=True),
        complete_cases=_complete(found, unit),
        levels=[_shown_level(metric, one) for one in metric["levels"]],
    )


def _change(metric: Metric, found: Mapping[str, Any]) -> str:
    before, after = (decisive(_level(metric, found[place]))["value"] for place in ("a", "b"))
    return "" if None in (before, after) else f"{in_unit(before, metric['unit'])} → {in_unit(after, metric['unit'])}"


def _complete(found: Mapping[str, Any], unit: str) -> Spelt | None:
    complete = found.get("complete_cases")
    return None if complete is None else Spelt.of(complete, unit, signed=True)


def _shown_level(metric: Metric, found: Mapping[str, Any]) -> Level:
    alone, unit = is_measured(found), metric["unit"]
    return Level(
        version=found["version"],
        found=found,
        figure=Spelt.of(decisive(found), unit),
        people=None if alone else Spelt.of(found["people"], unit),
        raw=None if alone or found["raw"]["value"] is None else Spelt.of(found["raw"], unit),
        rates=[] if found["rates"] is None else [Spelt.of(found["rates"][name], SHARE) for name in _RATES],
        band=band_in_words(found["band"]),
        target=_target(metric, decisive(found)),
    )


def _target(metric: Metric, found: Estimate) -> str:
    """What the interval says of what the project aims at."""
    target = metric["bands"] and metric["bands"]["target"]
    if target is None or found["low"] is None:
        return ""
    ends = [found["low"], found["high"]] if metric["direction"] == "higher" else [-found["high"], -found["low"]]
    aim = target if metric["direction"] == "higher" else -target
    said = _("target %(n)s reached") if ends[0] >= aim else _("target %(n)s missed")
    if ends[0] < aim <= ends[1]:
        said = _("target %(n)s not shown yet")
    return said % {"n": in_unit(target, metric["unit"])}


def _needed(needed: Mapping[str, int | None]) -> str:
    """In all, those that are there already among them."""
    labels, questions = (None if n is None else f"{n:,}" for n in (needed["labels"], needed["questions"]))
    if questions is None:
        return "" if labels is None else _("about %(n)s labelled questions in all") % {"n": labels}
    if labels is None:
        return _("about %(n)s questions in all") % {"n": questions}
    return _("about %(total)s questions, %(n)s of them labelled") % {"n": labels, "total": questions}


def _sentence(rows: Sequence[Row], candidate: str) -> str:
    primary = next(row for row in rows if row.role_code == "primary")
    guards = [row for row in rows if row.role_code == "guard"]
    wrong = next((code for code in ("worse", "cannot_tell") if any(row.verdict == code for row in guards)), "")
    sentence = _ALONE if (primary.verdict, wrong) == ("better", "") and not guards else None
    named = pgettext("between names of a list", ", ").join(row.title for row in guards if row.verdict == wrong)
    given = {"version": candidate, "primary": primary.title, "guards": named}
    return _(sentence or _SENTENCES[primary.verdict, wrong]) % given


def _most_telling(rows: Sequence[Row]) -> list[Row]:
    """The primary metric, and the guard that decides: one that is worse, else one that cannot be told."""
    primary = [row for row in rows if row.role_code == "primary"]
    guards = [row for row in rows if row.role_code == "guard"]
    order = ["worse", "cannot_tell", "not_worse", "better"]
    return primary + sorted(guards, key=lambda row: order.index(row.verdict))[:1]
