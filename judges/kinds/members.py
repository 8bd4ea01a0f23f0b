"""Versions of judges that another judge is made of, and their scores: for every kind that rests on other judges."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _

from annotate.core.scales import as_number
from annotate.models import Criterion, Project
from annotate.samples.read import of_samples
from judges.core.scores_read import current_version, version_named
from judges.kinds.base import Config, NoScore
from judges.kinds.fields import LONGEST_DIMENSION, Fields
from judges.kinds.registry import kind_named, runnable_kinds
from judges.models import Judge, JudgeVersion, Score, ScoreStatus

MOST_MEMBERS = 20


@dataclass(frozen=True, slots=True)
class Member:
    """A version of a judge, by its label, and the dimension of its scores that is used.

    passes: of a member that answers in words, those that count as 1; every other word counts as 0. None where its words
    are numbers.
    """

    judge: str
    version: str
    dimension: str
    passes: Sequence[str] | None

    @property
    def title(self) -> str:
        return f"“{self.judge}” ({self.version})"


# By a sample's primary key and a unit's address: the value, or a sentence that says why there is none.
Values = Mapping[tuple[int, str], float | str]


def member_fields(fields: Fields, project: Project, unit: str, wanted: str) -> tuple[dict[str, Any], JudgeVersion]:
    """A member as it is stored: {"judge", "version", "dimension", "passes"}; the caller finishes the fields.

    version: a label; the latest in use when it isn't given. unit: the kind of unit that it has to score. wanted: the
    dimension that is taken when it has several and none is named.
    """
    name = fields.text("judge")
    judge = Judge.objects.filter(project=project, name=name).first()
    if judge is None:
        known = Judge.objects.filter(project=project).order_by("name").values_list("name", flat=True)
        raise fields.refuse("judge", _("Must be one of the project’s judges: %(names)s.") % {"names": _listed(known)})
    label = fields.raw("version")
    version = current_version(judge) if label is None else version_named(project, name, str(label))
    if version is None:
        labels = judge.versions.order_by("number").values_list("label", flat=True)
        raise fields.refuse("version", _("Must be a version of the judge: %(labels)s.") % {"labels": _listed(labels)})
    dimension = _dimension(fields, version, unit, wanted)
    criterion = Criterion.objects.filter(project=project, key=dimension, is_current=True).first()
    passes = _passes(criterion)
    given = fields.raw("passes")
    if given is not None:
        if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
            raise fields.refuse("passes", _("Must be a list of texts."))
        passes = given
    return {"judge": judge.name, "version": version.label, "dimension": dimension, "passes": passes}, version


def members_in(config: Config) -> list[Member]:
    return [
        Member(member["judge"], member["version"], member["dimension"], member["passes"])
        for member in config["members"]
    ]


def member_values(project: Project, members: Sequence[Member], samples: Collection[int]) -> list[Values]:
    """Each member's first score (repeat 0) of every unit of the samples that it has scored."""
    found: list[Values] = []
    for member in members:
        version = version_named(project, member.judge, member.version)
        scores = of_samples(Score.objects.filter(version=version, dimension=member.dimension, repeat=0), samples)
        rows = scores.values_list("sample_id", "unit", "status", "number", "label").iterator(chunk_size=20_000)
        found.append(
            {(sample, unit): _value(member, status, number, label) for sample, unit, status, number, label in rows}
        )
    return found


def value_of(member: Member, values: Values, sample: int, unit: str) -> float:
    """The member's value of a unit, from all of its values. Raises NoScore."""
    value = values.get((sample, unit), f"{member.title} has no score of {unit}.")
    if isinstance(value, str):
        raise NoScore(value)
    return value


def _value(member: Member, status: str, number: float | None, label: str | None) -> float | str:
    if status != ScoreStatus.OK:
        return f"{member.title} has none either: {status}."
    if number is not None:
        return number
    assert label is not None
    if member.passes is not None:
        return float(label in member.passes)
    spelt = as_number(label)
    return f"{member.title} answered with a word that is no number." if spelt is None else spelt


def _dimension(fields: Fields, version: JudgeVersion, unit: str, wanted: str) -> str:
    if version.judge.kind in runnable_kinds():
        of_kind = kind_named(version.judge.kind).dimensions(version.config)
        known = sorted({dimension for kind, dimension in of_kind if kind == unit})
    else:
        rows = Score.objects.filter(Q(unit=unit) | Q(unit__startswith=f"{unit}:"), version=version)
        known = sorted(rows.order_by().values_list("dimension", flat=True).distinct())
    if not known:
        raise fields.refuse(
            "judge",
            _("“%(judge)s” doesn’t score units of the kind “%(unit)s”.") % {"judge": version.judge.name, "unit": unit},
        )
    if fields.raw("dimension") is None:
        if len(known) == 1:
            return known[0]
        if wanted in known:
            return wanted
    name = fields.text("dimension", longest=LONGEST_DIMENSION, default="")
    if name not in known:
        raise fields.refuse("dimension", _("Must be one of: %(options)s.") % {"options": _listed(known)})
    return name


def _passes(criterion: Criterion | None) -> list[str] | None:
    """The words that count as 1, as scores spell them; None where the options are numbers, or there are none."""
    if criterion is None or not criterion.options:
        return None
    if all(isinstance(level, int | float) and not isinstance(level, bool) for level in criterion.levels):
        return None
    return [str(value).lower() if isinstance(value, bool) else str(value) for value in criterion.passes]


def _listed(names: Collection[str]) -> str:
    return ", ".join(names) or _("none yet")
