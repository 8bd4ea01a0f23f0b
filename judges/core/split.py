"""Dev, test and systems: each group of samples is put on a side once per criterion key, and stays there.

A side holds for every version of the criterion and for every judge. A group is a sample's `group_key`, else its own id.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

import alignment
from annotate.core.errors import Conflict
from annotate.core.rows import execute
from annotate.labels.read import counting_labels
from annotate.models import Criterion
from annotate.projects.read import rated_criteria
from annotate.samples.read import groups_of, samples_named
from judges.models import GroupSide, Score, Side

DEV_SHARE = 0.5
# Where samples of several sides come to one group: what was seen once can't be locked again.
_STRONGEST = (Side.DEV, Side.SYSTEMS, Side.TEST)
# By how they are stored: to ask the enumeration of each of a million takes seconds.
_SIDES = {side.value: side for side in Side}

_KEEP = """
    INSERT INTO judges_groupside (project_id, criterion_key, "group", side)
    SELECT %(project)s, %(key)s, one.name, one.side
      FROM unnest(%(groups)s::text[], %(sides)s::text[]) WITH ORDINALITY AS one (name, side, n) ORDER BY one.n
        ON CONFLICT DO NOTHING
"""


def divide(criterion: Criterion, strata: Mapping[str, bool]) -> dict[str, bool]:
    """Whether each sample is dev, by its own id, without those that are kept for systems. Groups that have no side yet
    get one now, and keep it: a threshold must never be measured on the samples that it was chosen on, whatever is
    labelled later, in whichever version of the criterion.

    The first division is stratified. Later groups are taken in an order drawn by the project's seed, and each gets the
    side that has too few of its stratum; where neither has, a draw decides. So the division stays stratified even when
    the first report was opened with a single label.

    strata: the sample's own id -> whether most of its units pass. By that id the same data are divided the same way in
    every installation.
    """
    found = _sides(criterion)
    group_of = groups_of(criterion.project, strata.keys())
    new = _new_sides(criterion, found, strata, group_of)
    if new:
        _keep(criterion, new)
        # Read again: where two processes did this at once, the first one's side counts.
        found = _sides(criterion)
    return _of_samples(strata, group_of, found)


def keep_for_systems(criterion: Criterion, names: Collection[str]) -> None:
    """Puts the groups of these samples on the side of systems, for good. Raises Conflict when one is dev or test: what
    is labelled there tunes or measures judges."""
    group_of = groups_of(criterion.project, names)
    groups = {group_of.get(name, name) for name in names}
    _keep(criterion, dict.fromkeys(groups - _sides(criterion).keys(), Side.SYSTEMS))
    found = _sides(criterion)
    if any(found[group] != Side.SYSTEMS for group in groups):
        said = _("Some of these samples came to the dev or the test set of “%(criterion)s” meanwhile. Try again.")
        raise Conflict("came_to_a_side", said % {"criterion": criterion.key})


def _keep(criterion: Criterion, sides: Mapping[str, Side]) -> None:
    # In one order, so that two that do this at once can't wait for each other.
    groups = sorted(sides)
    given = {"project": criterion.project_id, "key": criterion.key, "groups": groups}
    execute(_KEEP, {**given, "sides": [sides[group].value for group in groups]})


def as_divided(criterion: Criterion, strata: Mapping[str, bool]) -> dict[str, bool]:
    """What `divide` returned when it was asked last, where nothing is stored. Samples that have no side yet may come to
    test, and so are no dev."""
    found, group_of = _sides(criterion), groups_of(criterion.project, strata.keys())
    open_groups = _of_groups(strata, group_of).keys() - found.keys()
    return _of_samples(strata, group_of, {**found, **dict.fromkeys(open_groups, Side.TEST)})


def sides_of(criterion: Criterion, names: Collection[str]) -> dict[str, bool]:
    """Whether each of these samples that is dev or test is dev; nothing is drawn."""
    return _of_samples(names, groups_of(criterion.project, names), _sides(criterion))


def on_test(criterion: Criterion, names: Collection[str]) -> set[str]:
    """Those of these samples that are on test, also where the criterion now says nowhere what passes."""
    return {name for name, is_dev in sides_of(criterion, names).items() if not is_dev}


def on_test_elsewhere(criterion: Criterion, names: Collection[str]) -> set[str]:
    """Those that are on test for another criterion."""
    others = rated_criteria(criterion.project).exclude(pk=criterion.pk)
    return set[str]().union(*(on_test(other, names) for other in others))


def _sides(criterion: Criterion) -> dict[str, Side]:
    """The side of every group. A group that others came to later has the strongest of all."""
    stored = GroupSide.objects.filter(project=criterion.project_id, criterion_key=criterion.key)
    rows = list(stored.values_list("group", "side"))
    since = groups_of(criterion.project, [group for group, _side in rows])
    found: dict[str, Side] = {}
    for name, side in rows:
        group = since.get(name, name)
        before = found.get(group)
        found[group] = _SIDES[side] if before is None else min(before, _SIDES[side], key=_STRONGEST.index)
    return found


def _of_groups(strata: Mapping[str, bool], group_of: Mapping[str, str]) -> dict[str, bool]:
    """Of each group whether at least half of its samples are of those that pass."""
    votes: dict[str, list[bool]] = {}
    for name, passes in strata.items():
        votes.setdefault(group_of.get(name, name), []).append(passes)
    return {group: 2 * sum(said) >= len(said) for group, said in votes.items()}


def _of_samples(names: Iterable[str], group_of: Mapping[str, str], found: Mapping[str, Side]) -> dict[str, bool]:
    sides = ((name, found.get(group_of.get(name, name))) for name in names)
    return {name: side == Side.DEV for name, side in sides if side in (Side.DEV, Side.TEST)}


def _new_sides(
    criterion: Criterion, sides: Mapping[str, Side], strata_of_samples: Mapping[str, bool], group_of: Mapping[str, str]
) -> dict[str, Side]:
    """Of the groups that have none."""
    strata = _of_groups(strata_of_samples, group_of)
    new = strata.keys() - sides.keys()
    if not new:
        return {}
    names = [name for name in strata_of_samples if group_of.get(name, name) in new]
    seen = {group_of.get(name, name): Side.DEV for name in _shown_whole(criterion, names)}
    seen = {name: side for name, side in _for_others(criterion).items() if name in new} | seen
    left, sides = sorted(new - seen.keys()), {**sides, **seen}
    seed = abs(criterion.project.seed)
    if sides:
        chosen = _balanced(seed, left, sides, strata)
    else:
        chosen = alignment.dev_test_split(
            left, [strata[name] for name in left], seed=seed, dev_share=DEV_SHARE
        ).tolist()
    return seen | {name: Side.DEV if is_dev else Side.TEST for name, is_dev in zip(left, chosen, strict=True)}


def _for_others(criterion: Criterion) -> dict[str, Side]:
    """The sides of groups for the other criteria, where scores under a name of their own are compared with several:
    what is dev for one of them must not be test for another."""
    others = Criterion.objects.filter(project=criterion.project_id).exclude(key=criterion.key).order_by()
    keys = {criterion.key, *others.values_list("key", flat=True)}
    if not Score.objects.filter(version__judge__project=criterion.project_id).exclude(dimension__in=keys).exists():
        return {}
    found: dict[str, Side] = {}
    for other in others.filter(is_current=True):
        for group, side in _sides(other).items():
            if side != Side.SYSTEMS:
                found[group] = min(found.get(group, side), side, key=_STRONGEST.index)
    return found


def _shown_whole(criterion: Criterion, names: Collection[str]) -> Collection[str]:
    """Those of which all could see what people and judges say: on an earlier version of the criterion that says nowhere
    what passes there are no halves."""
    earlier = Criterion.objects.filter(
        project=criterion.project_id, key=criterion.key, version__lt=criterion.version, passes=[]
    )
    if not earlier.exists():
        return ()
    labelled = counting_labels().filter(sample=OuterRef("pk"), criterion__in=earlier)
    scored = Score.objects.filter(sample=OuterRef("pk"), run__created_at__lt=criterion.created_at)
    shown = samples_named(criterion.project, names).filter(Exists(labelled), Exists(scored))
    return set(shown.values_list("external_id", flat=True))


def _balanced(seed: int, new: Sequence[str], sides: Mapping[str, Side], strata: Mapping[str, bool]) -> list[bool]:
    """Whether each of the new groups is dev, in their order."""
    count = Counter((strata[name], side) for name, side in sides.items() if name in strata)
    chosen = {}
    for name in sorted(new, key=lambda name: drawn(seed, name)):
        dev, test = count[strata[name], Side.DEV], count[strata[name], Side.TEST]
        due = DEV_SHARE * (dev + test + 1)
        # The number due lies between two whole numbers, and the draw picks one of them in proportion.
        is_dev = dev + drawn(seed, name, "side") < due
        chosen[name] = is_dev
        count[strata[name], Side.DEV if is_dev else Side.TEST] += 1
    return [chosen[name] for name in new]


def drawn(seed: int, name: str, what: str = "order") -> float:
    """Between 0 and 1, the same in every installation."""
    digest = hashlib.blake2b(f"{seed}\x1f{what}\x1f{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64
