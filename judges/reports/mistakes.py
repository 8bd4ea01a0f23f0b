"""What a judge gets wrong on dev, in words: groups of units on which it differs from people, and what to do about each.

Nothing is read of the test half. Of which way the judge errs, units come together by the words of what people wrote
about them; those that fall in no such group, by their own words (alignment.aligning.wording): each time beside units of
the same value by people that the judge gets right, so that a group is named by what the judge misses, and not by what
people always say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from django.utils.translation import gettext as _

import alignment
from annotate.core.blindness import SYSTEM, Reader, samples_without_judges, without_held_back
from annotate.core.errors import Invalid
from annotate.core.scales import Value
from annotate.labels.read import counting_labels, latest_per_rater
from annotate.models import Criterion, Sample, Verdict
from annotate.models.label import DECIDED_METHODS
from annotate.samples.read import samples_named
from annotate.verdicts.ratings_read import UnitKey
from judges.kinds.lexical.texts import words
from judges.reports.evidence import full_evidence
from judges.reports.read import words_of

# Fewer mistakes are a list.
FEWEST = 10
# Units of a group that are named.
LISTED = 200
# Units that the judge gets right, with whose words those of its mistakes are compared, for each value of people.
MOST_OTHERS = 5_000
# A judge of standing, whose word counts against one person's: its kappa with people on dev.
STANDING_KAPPA = 0.6
_AT_ONCE = 200
_LONGEST = 10_000


def mistakes(criterion: Criterion, judge: str, dimension: str | None = None, *, reader: Reader) -> dict[str, Any]:
    """Of the judge's latest version with scores on the criterion, as plain JSON; without samples that the reader still
    has to label or to decide about: none of the figures rests on them.

    {"judge", "version", "dimension", "held_back", "units", "wrong", "kappa", "reason", "directions": [{"people",
    "judge", "wrong", "groups", "rest"}], "slices"}. A group: {"terms", "by" ("reasons" or "texts"), "units",
    "kappa_without", "several", "split", "alone", "advice", "is_known", "listed"}; listed: up to 200 of its units, the
    most typical first; rest: units in no group, as one without terms. reason: why there is no comparison. held_back:
    how many samples are left out. slices: where it is wrong more often than elsewhere. Groups and directions come the
    largest first.

    Raises Invalid for a judge that the project doesn't have, or that has no such scores.
    """
    evidence = full_evidence(criterion)
    said = next((s for s in evidence.judges if s.judge == judge and dimension in (None, s.dimension)), None)
    if said is None:
        raise Invalid("unknown_judge", _("“%(judge)s” has no scores for this criterion.") % {"judge": judge[:80]})
    names = {name for values in (said.numbers, said.labels) for name, _ in values}
    keys = dict(samples_named(criterion.project, names).values_list("external_id", "pk"))
    held_back = samples_without_judges(reader, keys.values())
    if held_back:
        said = said.without({name for name, key in keys.items() if key in held_back})
    head = {
        "judge": said.judge,
        "version": said.version,
        "dimension": said.dimension,
        "held_back": len(held_back),
    }
    reference = alignment.report.reference_of(evidence)
    found = alignment.report.compared_units(reference, said)
    if not isinstance(found, alignment.report.Compared):
        return {**head, "units": 0, "wrong": 0, "kappa": None, "reason": found, "directions": [], "slices": []}
    of_others = [
        one
        for other in evidence.judges
        if other.judge != said.judge
        and isinstance(one := alignment.report.compared_units(reference, other), alignment.report.Compared)
        if (one.kappa().value or 0) >= STANDING_KAPPA
    ]
    return {
        **head,
        "units": len(found.people),
        "wrong": int(found.wrong.sum()),
        "kappa": found.kappa().as_dict(),
        "reason": None,
        "directions": _directions(criterion, evidence, found, of_others),
        "slices": found.worse_slices(),
    }


def _directions(criterion: Criterion, evidence: Any, found: Any, others: Sequence[Any]) -> list[dict[str, Any]]:
    units = list(found.units)
    said_by_others = [dict(zip(one.units, one.judge, strict=True)) for one in others]
    rows = range(len(units))
    people_said = _people(criterion, evidence, [units[row] for row in found.wrong.nonzero()[0].tolist()])
    ways = Counter((people, judge) for people, judge in zip(found.people, found.judge, strict=True) if people != judge)
    shown = []
    for (people, judge), count in sorted(ways.items(), key=lambda way: (-way[1], repr(way[0]))):
        wrong = [row for row in rows if (found.people[row], found.judge[row]) == (people, judge)]
        right = [row for row in rows if found.people[row] == people == found.judge[row]]
        rng = alignment.seeded(evidence.seed)
        if len(right) > MOST_OTHERS:
            right = sorted(rng.choice(right, MOST_OTHERS, replace=False).tolist())
        groups = _groups(criterion, evidence, units, wrong, right, rng) if count >= FEWEST else []
        taken = {row for _, _, members in groups for row in members}
        rest = [row for row in wrong if row not in taken]

        def group(terms: Sequence[str], by: str | None, members: Sequence[int]) -> dict[str, Any]:
            counted = [
                (people_said[units[row]], sum(one.get(units[row]) == judge for one in said_by_others))  # noqa: B023
                for row in members
            ]
            voices = alignment.report.Voices.of(counted, [people] * len(members))  # noqa: B023
            return {
                "terms": list(terms),
                "by": by,
                "units": len(members),
                "kappa_without": found.kappa(members).as_dict() if members else None,
                "several": voices.several,
                "split": voices.split,
                "alone": voices.alone,
                "advice": voices.advice() if members else None,
                "is_known": voices.is_known,
                "listed": [dict(zip(("sample", "unit"), units[row], strict=True)) for row in members[:LISTED]],
            }

        shown.append({
            "people": people,
            "judge": judge,
            "wrong": count,
            "groups": [group(*one) for one in groups],
            "rest": group((), None, rest),
        })  # fmt: skip
    return shown


def _groups(
    criterion: Criterion,
    evidence: Any,
    units: Sequence[UnitKey],
    wrong: Sequence[int],
    right: Sequence[int],
    rng: Any,
) -> list[tuple[tuple[str, ...], str, list[int]]]:
    """Terms, what they are of, and the rows; the largest first."""
    from alignment.aligning.wording import patterns

    found: list[tuple[tuple[str, ...], str, list[int]]] = []
    left = list(wrong)
    for by in ("reasons", "texts"):
        texts = _texts(criterion, [units[row] for row in (*left, *right)], by)
        here, there = ([row for row in some if units[row] in texts] for some in (left, right))
        groups = [[evidence.group_of(units[row][0]) for row in some] for some in (here, there)]
        said = [[texts[units[row]] for row in some] for some in (here, there)]
        these = patterns(said[0], groups[0], said[1], groups[1], rng)
        found += [(one.terms, by, [here[at] for at in one.rows.tolist()]) for one in these]
        taken = {row for _, _, members in found for row in members}
        left = [row for row in left if row not in taken]
    return sorted(found, key=lambda group: (-len(group[2]), group[0]))


def _parts(units: Sequence[UnitKey]) -> Iterator[Sequence[UnitKey]]:
    return (units[start : start + _AT_ONCE] for start in range(0, len(units), _AT_ONCE))


def _texts(criterion: Criterion, units: Sequence[UnitKey], by: str) -> dict[UnitKey, Sequence[str]]:
    """The words of the units that have any; a part of the samples at a time, as these may be large."""
    read = _reasons if by == "reasons" else _own_texts
    found: dict[UnitKey, Sequence[str]] = {}
    shared: dict[str, str] = {}
    for some in _parts(units):
        for unit, text in read(criterion, some):
            # Each word once in memory.
            split = [shared.setdefault(word, word) for word in words(text[:_LONGEST])]
            if split:
                found[unit] = [*found.get(unit, ()), *split]
    return found


def _own_texts(criterion: Criterion, units: Sequence[UnitKey]) -> Iterator[tuple[UnitKey, str]]:
    samples = {one.external_id: one for one in _samples(criterion, units)}
    for name, unit in units:
        if name in samples:
            yield (name, unit), words_of(samples[name], unit)


def _samples(criterion: Criterion, units: Sequence[UnitKey]) -> Iterable[Sample]:
    return samples_named(criterion.project, {name for name, _ in units})


def _reasons(
    criterion: Criterion, units: Sequence[UnitKey], *, reader: Reader = SYSTEM
) -> Iterator[tuple[UnitKey, str]]:
    """Of reviewers and annotators, whatever they said."""
    wanted, of = set(units), {"criterion": criterion, "sample__in": _samples(criterion, units)}
    verdicts = Verdict.objects.filter(**of).exclude(reason="").order_by("pk")
    labels = latest_per_rater(counting_labels().filter(**of))
    for rows, text in ((verdicts, "reason"), (labels, "comment")):
        shown = without_held_back(rows, reader=reader)
        for name, unit, said in shown.values_list("sample__external_id", "unit", text):
            if (name, unit) in wanted and said.strip():
                yield (name, unit), said


def reasons_of(criterion: Criterion, units: Sequence[UnitKey], *, reader: Reader) -> dict[UnitKey, list[str]]:
    """What people wrote about these few units, each text once, reviewers' first."""
    found: dict[UnitKey, list[str]] = {}
    for unit, said in _reasons(criterion, units, reader=reader):
        own = found.setdefault(unit, [])
        if said not in own:
            own.append(said)
    return found


def _people(criterion: Criterion, evidence: Any, units: Sequence[UnitKey]) -> Mapping[UnitKey, list[Value]]:
    """What each person said of the units, as it is compared: annotators, and a reviewer who decided."""
    passes = set(criterion.passes)
    found: dict[UnitKey, list[Value]] = {unit: [] for unit in units}

    def add(unit: UnitKey, value: Value) -> None:
        if unit in found:
            found[unit].append(value in passes if passes else value)

    for unit, value in zip(evidence.units, evidence.values, strict=True):
        add(unit, value)
    for some in _parts(units):
        decided = Verdict.objects.filter(
            criterion=criterion, sample__in=_samples(criterion, some), method__in=DECIDED_METHODS[:1]
        )
        wanted = set(some)
        for name, unit, value in decided.values_list("sample__external_id", "unit", "value"):
            if (name, unit) in wanted:
                add((name, unit), cast("Value", value))
    return found
