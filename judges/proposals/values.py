"""What annotators may verify of what judges said: the source that annotate.batches.proposing asks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotate.batches.proposing import Proposals
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Invalid
from annotate.core.scales import Value, normalise
from annotate.models import Criterion, Project
from annotate.samples.read import groups_of, samples_named
from judges.core.locked_read import locked_keys
from judges.core.scores_read import current_version, load_scores
from judges.models import Judge, JudgeVersion, Score, ScoreStatus

# Scores by which a judge is told to answer with options, or with numbers.
FIRST = 1000


def proposers(criterion: Criterion) -> list[str]:
    if criterion.is_text or criterion.is_multi or not criterion.options:
        return []
    judges = Judge.objects.filter(project=criterion.project_id).order_by("name")
    return [judge.name for judge in judges if _version(criterion, judge) is not None]


def proposals(criterion: Criterion, judge: str, samples: Collection[str]) -> Proposals:
    found = Judge.objects.filter(project=criterion.project_id, name=judge).first()
    version = None if found is None else _version(criterion, found)
    if version is None:
        said = _("“%(judge)s” has no scores that are options of “%(key)s”.")
        raise Invalid("no_proposer", said % {"judge": judge[:80], "key": criterion.key})
    may_know = set(samples) - _closed(criterion, samples)
    keys = samples_named(criterion.project, may_know).values_list("pk", flat=True)
    scores = load_scores(criterion, version, criterion.key, list(keys), reader=SYSTEM)
    said_of: dict[str, dict[str, Value]] = defaultdict(dict)
    for (sample, unit), label in scores.labels.items():
        said_of[sample][unit] = label
    for (sample, unit), number in scores.numbers.items():
        said_of[sample][unit] = normalise(criterion, number)
    return Proposals(version.label, said_of)


def _version(criterion: Criterion, judge: Judge) -> JudgeVersion | None:
    """The active one, if it answers with the criterion's options. A number needs a threshold to become an option, which
    is no annotator's to verify; but a judge of a scale of numbers answers with these."""
    version = current_version(judge)
    if version is None:
        return None
    given = list(_first_scores(version, criterion.key))
    numbers = [number for number in given if number is not None]
    if not numbers:
        return version if given else None
    levels = {level for level in criterion.levels if isinstance(level, int | float) and not isinstance(level, bool)}
    if not levels.issuperset(numbers):
        return None
    # Metrics lie between 0 and 1, where an option may lie too.
    return version if max(levels) <= 1 or max(numbers) > 1 else None


def _first_scores(version: JudgeVersion, dimension: str) -> QuerySet[Score, float | None]:
    """As many as tell how it answers, with their numbers: a judge answers all alike, and may have scored a million
    units. In the order of an index, where a range is asked for: of one value PostgreSQL takes the order for given, and
    may look for them among all scores."""
    scores = Score.objects.filter(version=version, dimension__gte=dimension, dimension__lte=dimension)
    first = scores.filter(status=ScoreStatus.OK, repeat=0).order_by("dimension")[:FIRST]
    return first.values_list("number", flat=True)


def _closed(criterion: Criterion, samples: Collection[str]) -> set[str]:
    """Those of which a sample of the same group is locked for the criterion: a group is on one side."""
    project: Project = criterion.project
    groups = groups_of(project)
    wanted = {groups.get(name, name) for name in samples}
    members = {name for name, group in groups.items() if group in wanted} | wanted | set(samples)
    names = dict(samples_named(project, members).values_list("pk", "external_id"))
    keys = locked_keys(project, names)
    locked = {groups.get(names[pk], names[pk]) for pk, found in keys.items() if criterion.key in found}
    return {name for name in samples if groups.get(name, name) in locked}
