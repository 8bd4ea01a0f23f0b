"""Ensembles: other judges' scores, stacked into one calibrated probability that people would pass the unit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext as _

import alignment
from annotate.core.blindness import SYSTEM
from annotate.core.units import KIND_ORDER, units_of
from annotate.models import Criterion, Project, Sample
from annotate.samples.read import groups_of, samples_named
from annotate.verdicts.evidence_read import reference_evidence
from judges.core.split import divide, sides_of
from judges.kinds.base import Config, Item, Kind, Outcome, score_each
from judges.kinds.fields import Fields, target
from judges.kinds.members import MOST_MEMBERS, Member, Values, member_fields, member_values, members_in, value_of
from judges.kinds.stacking import FOLDS, Curve, NotStacked, fit_stack, fold_of
from judges.models import JudgeKind, JudgeVersion


class EnsembleKind(Kind):
    """Its configuration: {"criterion", "members": [{"judge", "version", "dimension", "passes"}], "fit"}.

    fit: made when the configuration is completed without one, on people's current verdicts of the dev half, and never
    again: {"criterion_version", "seed", "members", "whole", "folds", "units", "samples", "passing",
    "left_out", "brier", "brier_of_share"}, and "by_group": true where folds are of groups of samples. A sample that is
    dev is scored by the curve that was fitted without its fold, every other one by the whole.
    """

    key = JudgeKind.ENSEMBLE.value
    code_version = 1

    def complete(self, config: Any, project: Project) -> dict[str, Any]:
        fields = Fields(config)
        if fields.raw("criterion") is None:
            raise fields.refuse(
                "criterion", _("An ensemble learns from human labels on a criterion. Specify the criterion.")
            )
        of = target(fields, project, KIND_ORDER)
        criterion = project.criteria.get(key=of["criterion"], is_current=True)
        if not criterion.passes:
            raise fields.refuse("criterion", _("This criterion defines no passing values."))
        members = []
        for each in fields.objects("members", fewest=2, most=MOST_MEMBERS):
            member, _version = member_fields(each, project, of["unit"], of["dimension"])
            each.finish()
            members.append(member)
        if len({(one["judge"], one["dimension"]) for one in members}) < len(members):
            raise fields.refuse("members", _("Each judge can be used only once."))
        complete = {**of, "members": members}
        given = fields.raw("fit")
        fields.finish()
        fitted = members_in(complete)
        fit = _fit(fields, criterion, fitted) if given is None else _given_fit(Fields(given, "fit"), fitted)
        return {**complete, "fit": fit}

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        return units_of(sample, config["unit"])

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[EnsembleScorer]:
        yield EnsembleScorer(version)


def _named(members: Sequence[Member]) -> list[list[str]]:
    return [[member.judge, member.version, member.dimension] for member in members]


def _fit(fields: Fields, criterion: Criterion, members: Sequence[Member]) -> dict[str, Any]:
    # Samples get a side here as they do at a report; nothing of the test half is used.
    reference = alignment.report.reference_of(reference_evidence(criterion, reader=SYSTEM))
    sides = divide(criterion, reference.strata())
    verdicts = {unit: passes for unit, passes in reference.positive.items() if sides.get(unit[0], False)}
    keys = dict(samples_named(criterion.project, {name for name, _unit in verdicts}).values_list("external_id", "pk"))
    said = member_values(criterion.project, members, list(keys.values()))
    group_of = groups_of(criterion.project, keys.keys())
    rows, passes, samples = [], [], []
    left_out = dict.fromkeys((member.title for member in members), 0)
    for (name, unit), verdict in verdicts.items():
        values = [its.get((keys[name], unit)) for its in said]
        known = [value for value in values if isinstance(value, float)]
        if len(known) == len(members):
            rows.append(known)
            passes.append(verdict)
            samples.append(group_of.get(name, name))
        else:
            for member, value in zip(members, values, strict=True):
                left_out[member.title] += not isinstance(value, float)
    for title, many in left_out.items():
        if verdicts and many == len(verdicts):
            raise fields.refuse(
                "members", _("%(member)s has no scores in the dev set. Run it first.") % {"member": title}
            )
    seed = abs(criterion.project.seed)
    try:
        stack = fit_stack(rows, passes, samples, [member.title for member in members], seed)
    except NotStacked as error:
        raise fields.refuse("members", str(error)) from error
    return {
        "criterion_version": criterion.version,
        "seed": seed,
        "members": _named(members),
        "left_out": left_out,
        **({"by_group": True} if group_of else {}),
        **asdict(stack),
    }


def _given_fit(fields: Fields, members: Sequence[Member]) -> dict[str, Any]:
    """A fit that was made before, unchanged, as long as it is one for these members."""
    if fields.raw("members") != _named(members):
        raise fields.refuse("members", _("This fit belongs to other members. Leave out “fit” to refit the ensemble."))
    curves = [Fields(fields.raw("whole"), fields.place("whole")), *fields.objects("folds", fewest=FOLDS, most=FOLDS)]
    whole, *folds = [_given_curve(curve, len(members)) for curve in curves]
    left_out = fields.raw("left_out")
    if not isinstance(left_out, dict) or not all(isinstance(many, int) for many in left_out.values()):
        raise fields.refuse("left_out", _("Must be an object: {…}."))
    found = {
        "criterion_version": fields.whole("criterion_version", low=1),
        "seed": fields.whole("seed", high=2**63),
        "members": _named(members),
        "whole": whole,
        "folds": folds,
        "left_out": left_out,
        **{name: fields.whole(name, high=10**9) for name in ("units", "samples", "passing")},
        **{name: fields.number(name, low=0, high=1) for name in ("brier", "brier_of_share")},
    }
    if fields.raw("by_group") is True:
        found["by_group"] = True
    fields.finish()
    return found


def _given_curve(fields: Fields, members: int) -> dict[str, Any]:
    found: dict[str, Any] = {"intercept": fields.number("intercept")}
    for name in ("weights", "centres", "spreads"):
        values = fields.raw(name)
        if not isinstance(values, list) or len(values) != members:
            raise fields.refuse(name, _("Must be a number for each member."))
        each = Fields({str(at): value for at, value in enumerate(values)}, fields.place(name))
        low = math.ulp(0.0) if name == "spreads" else -1e100
        found[name] = [each.number(str(at), low=low, high=1e100) for at in range(members)]
    fields.finish()
    return found


class EnsembleScorer:
    def __init__(self, version: JudgeVersion) -> None:
        config = version.config
        self._config = config
        self._project = version.judge.project
        self._members = members_in(config)
        self._whole = Curve(**config["fit"]["whole"])
        self._folds = [Curve(**curve) for curve in config["fit"]["folds"]]

    def score(self, items: Sequence[Item]) -> Sequence[Outcome]:
        names = {item.sample.pk: item.sample.external_id for item in items}
        said = member_values(self._project, self._members, names.keys())
        criterion = self._project.criteria.get(key=self._config["criterion"], is_current=True)
        is_dev = sides_of(criterion, set(names.values()))
        group_of = groups_of(self._project, set(names.values())) if self._config["fit"].get("by_group") else {}

        def curve(name: str) -> Curve:
            if not is_dev.get(name, False):
                return self._whole
            return self._folds[fold_of(self._config["fit"]["seed"], group_of.get(name, name))]

        return score_each(
            items,
            self._config["dimension"],
            lambda item: self._probability(item, said, curve(item.sample.external_id)),
        )

    def _probability(self, item: Item, said: Sequence[Values], curve: Curve) -> tuple[float, str]:
        scores = [
            value_of(member, its, item.sample.pk, item.unit) for member, its in zip(self._members, said, strict=True)
        ]
        terms = ", ".join(
            f"{member.judge} {score:.3g} ({term:+.2f})"
            for member, score, term in zip(self._members, scores, curve.terms(scores), strict=True)
        )
        return curve.probability(scores), f"Log-odds: {terms}."


KIND = EnsembleKind()
