"""How the labelled samples of a criterion came: which were drawn, with what chance, and by whose word; and which were
chosen, so that they stand for no other sample (decisions 4 and 29)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from sys import intern

from django.db.models import Exists, F, Func, JSONField, Min, OuterRef, Q, QuerySet, Value

import alignment
from annotate.batches.who_labelled_read import Labelled, Settling
from annotate.core.rows import fetch_all
from annotate.labels.anchored_read import Arm, arms
from annotate.labels.read import counting_labels
from annotate.models import Batch, BatchSample, Criterion, DeclaredDraw, Sample, Task, User
from annotate.models.batch import (
    OPEN_TASK_STATUSES,
    RUNNING_BATCH_STATUSES,
    BatchStatus,
    Came,
    HowDeclared,
    Purpose,
    TaskStatus,
)
from annotate.samples.read import asked_by

WAITING = (BatchStatus.DRAFT, *RUNNING_BATCH_STATUSES)
# How a planned draw is stored: its samples are labelled in random order.
_PLANNED = "list"


def unlabelled_samples(criterion: Criterion) -> QuerySet[Sample]:
    """Samples that have something to label by the criterion, no label that counts, and no place in a batch that is
    still to be labelled; none of them composed."""
    samples = asked_by(Sample.objects.filter(project_id=criterion.project_id, composed=False), criterion)
    labels = counting_labels().filter(criterion=criterion, sample=OuterRef("pk"))
    waiting = BatchSample.objects.filter(sample=OuterRef("pk"), batch__status__in=WAITING, batch__criteria=criterion.pk)
    return samples.filter(~Exists(labels), ~Exists(waiting))


def draws_of(criterion: Criterion) -> QuerySet[Batch]:
    """Batches with known chances that asked the criterion in this version or an earlier one, the latest first; without
    those of experiments, whose chances are among their own questions."""
    with_chances = BatchSample.objects.filter(batch=OuterRef("pk"), probability__isnull=False)
    asked = Criterion.objects.filter(
        project=criterion.project_id, key=criterion.key, version__lte=criterion.version, batches=OuterRef("pk")
    )
    draws = Batch.objects.filter(Exists(with_chances), Exists(asked), project=criterion.project_id)
    return draws.exclude(selection__came=Came.EXPERIMENT).order_by("-number")


def _finished(draws: QuerySet[Batch]) -> QuerySet[Batch]:
    """Those of which nothing is left to label. One that ended early is finished if it was labelled in random order:
    what was labelled is a random part of it. One in the order of import is, once each of its samples has a label; not
    if a person left whose samples no other could take."""
    tasks = Task.objects.filter(batch=OuterRef("pk"))
    left = tasks.filter(status__in=OPEN_TASK_STATUSES)
    same = Task.objects.filter(batch=OuterRef("batch"), sample=OuterRef("sample"), purpose=Purpose.LABEL)
    waiting = left.filter(~Exists(same.filter(status=TaskStatus.SUBMITTED)), purpose=Purpose.LABEL)
    given_up = tasks.filter(
        ~Exists(same.exclude(status=TaskStatus.RELEASED)), purpose=Purpose.LABEL, status=TaskStatus.RELEASED
    )
    # Not where each expertise has people of its own: some are quicker than others.
    at_random = Q(selection__method=_PLANNED, tag_key="")
    in_full = Q(status__in=RUNNING_BATCH_STATUSES) & ~Q(Exists(left))
    ended = Q(status__in=[BatchStatus.ADJUDICATING, BatchStatus.CLOSED]) & (at_random | ~Q(Exists(waiting)))
    return draws.filter(in_full | ended).filter(at_random | ~Q(Exists(given_up)))


def finished_draw(criterion: Criterion) -> Batch | None:
    """The latest one of which nothing is left to label: what figures for all samples rest on."""
    return _finished(draws_of(criterion)).first()


@dataclass(frozen=True, slots=True)
class DrawProgress:
    """How far a planned draw has come."""

    batch: Batch
    samples: int
    labelled: int
    is_finished: bool


def draw_progress(criterion: Criterion) -> DrawProgress | None:
    """Of the latest batch that the planner drew, finished or not; None when there is none."""
    planned = draws_of(criterion).filter(selection__method=_PLANNED)
    batch = planned.first()
    if batch is None:
        return None
    labels = counting_labels().filter(criterion=criterion, sample=OuterRef("sample"), task__batch=batch)
    return DrawProgress(
        batch=batch,
        samples=batch.batch_samples.count(),
        labelled=batch.batch_samples.filter(Exists(labels)).count(),
        is_finished=_finished(planned).filter(pk=batch.pk).exists(),
    )


@dataclass(frozen=True, slots=True)
class Drawn:
    """chances: by the sample's own id its probability and stratum: of all samples of the latest finished draw, labelled
    or skipped, but for those labelled only otherwise; 1, in stratum 0, of those labelled before it was made; and what
    was declared of labels made elsewhere. by: where they are from, of the labelled ones."""

    chances: Mapping[str, tuple[float, int]]
    by: list[alignment.report.DrawnBy]


def drawn_samples(criterion: Criterion, *, settled_only: bool = True) -> Drawn:
    """What stands here is all that a guarantee may rest on. settled_only: of figures in which a single label settles
    nothing, and a second one that was chosen does (`Settling`)."""
    drawn = _drawn(Labelled(criterion), settled_only=settled_only)
    names = _names(drawn.chances.keys())
    return Drawn({names[sample]: drawn.chances[sample] for sample in sorted(names, key=names.__getitem__)}, drawn.by)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The same by the sample's primary key, in no order."""

    chances: Mapping[int, tuple[float, int]]
    by: list[alignment.report.DrawnBy]


def _drawn(labelled: Labelled, *, settled_only: bool) -> _Drawn:
    criterion = labelled.criterion
    draw, declared = finished_draw(criterion), declared_draw(criterion)
    settling = Settling(labelled)
    came_so: set[int] = set()
    known: dict[int, tuple[float, int]] = {}
    sources: list[tuple[alignment.report.DrawnBy, Collection[int]]] = []

    def add(said: alignment.report.DrawnBy, chances: Mapping[int, tuple[float, int]], own: Sequence[Q]) -> None:
        known.update(chances)
        raters = labelled.own_raters(own)
        picked = settling.picked(raters, chances) if settled_only else set()
        came_so.update((raters.keys() & chances.keys()) - picked)
        sources.append((said, chances))

    if draw is not None:
        asking = asked_by(Sample.objects.filter(project_id=criterion.project_id), criterion)
        rows = BatchSample.objects.filter(batch=draw, probability__isnull=False, sample__in=asking)
        before, in_draw = _before(draw), Q(task__batch=draw)
        earlier = set(labelled.raters(before, draw.criteria.get(key=criterion.key)))
        if settled_only:
            earlier -= settling.one_by_one(labelled.own_raters(before), earlier)
        drawn = {
            sample: (probability, stratum)
            for sample, probability, stratum in rows.values_list("sample", "probability", "stratum")
            if sample not in earlier and probability is not None and stratum is not None
        }
        how = "planned" if draw.selection["method"] == _PLANNED else draw.selection["method"]
        add(_said(how, draw.created_by, draw.created_at, draw.number), drawn, [in_draw])
        said = _said("before", draw.created_by, draw.created_at, draw.number)
        add(said, dict.fromkeys(earlier, (1.0, 0)), [*before, in_draw])
    if declared is not None:
        covered = _declared_by_sample(declared, elsewhere(criterion, declared.declared_at), since=draw)
        new = {sample: probability for sample, probability in covered.items() if sample not in known}
        said = _said(f"declared_{declared.how}", declared.declared_by, declared.declared_at, None)
        strata = _in_strata(new, after=max((stratum for _, stratum in known.values()), default=0))
        add(said, strata, [Q(task__isnull=True, updated_at__lte=declared.declared_at)])
    known = _where_withheld(known, arms(criterion))
    chances = {sample: chance for sample, chance in known.items() if sample in came_so or sample not in labelled.people}
    counted = [(said, len(came_so & chances.keys() & set(samples))) for said, samples in sources]
    return _Drawn(chances, [said._replace(samples=samples) for said, samples in counted if samples])


def _names(samples: Collection[int]) -> dict[int, str]:
    """The samples' own ids."""
    rows = fetch_all("SELECT id, external_id FROM annotate_sample WHERE id = ANY(%s)", [list(samples)])
    return {sample: intern(name) for sample, name in rows}


def _before(draw: Batch) -> list[Q]:
    """Of labels: imported before the draw was made, or of a sample that lay in a batch before. Which samples these are
    doesn't depend on the draw, so the rest of what it drew is a random part of the rest of all."""
    first = draw.batch_samples.aggregate(first=Min("pk"))["first"]
    there = BatchSample.objects.filter(batch=OuterRef("task__batch"), sample=OuterRef("sample"), pk__lt=first)
    return [Q(task__isnull=True, updated_at__lt=draw.created_at), Q(Exists(there))]


def _said(how: str, by: User | None, at: datetime, batch: int | None) -> alignment.report.DrawnBy:
    return alignment.report.DrawnBy(how, 0, "" if by is None else by.name, at.astimezone(UTC).date().isoformat(), batch)


def _where_withheld(known: Mapping[int, tuple[float, int]], arms: Mapping[int, Arm]) -> dict[int, tuple[float, int]]:
    """Without samples that were labelled with a judge's proposals: those from which these were withheld stand for them
    too."""
    found: dict[int, tuple[float, int]] = {}
    strata: dict[tuple[int, float], int] = {}
    last = max((stratum for _, stratum in known.values()), default=0)
    for sample, (probability, stratum) in known.items():
        arm = arms.get(sample)
        if arm is None:
            found[sample] = probability, stratum
        elif not arm.shown:
            own = strata.setdefault((stratum, arm.withheld_chance), last + len(strata) + 1)
            found[sample] = probability * arm.withheld_chance, own
    return found


def _in_strata(chances: Mapping[int, float], *, after: int) -> dict[int, tuple[float, int]]:
    """A stratum has one chance."""
    numbers = dict(zip(sorted(set(chances.values())), count(after + 1), strict=False))
    return {sample: (probability, numbers[probability]) for sample, probability in chances.items()}


def declared_draw(criterion: Criterion) -> DeclaredDraw | None:
    return DeclaredDraw.objects.filter(project=criterion.project_id, key=criterion.key).first()


def elsewhere(criterion: Criterion, until: datetime | None = None) -> QuerySet[Sample]:
    """Samples with a label on the criterion, in this version or an earlier one, that was made elsewhere and came in up
    to then; of all that came in where `until` is None."""
    labels = counting_labels().filter(
        sample=OuterRef("pk"),
        task__isnull=True,
        criterion__key=criterion.key,
        criterion__version__lte=criterion.version,
    )
    if until is not None:
        labels = labels.filter(updated_at__lte=until)
    return Sample.objects.filter(Exists(labels), project=criterion.project_id)


def chances_declared(declared: DeclaredDraw, samples: QuerySet[Sample]) -> dict[str, float]:
    """By the sample's own id its chance, in order; a sample without one in its column is left out."""
    chances = _declared_by_sample(declared, samples)
    names = _names(chances.keys())
    return {names[sample]: chances[sample] for sample in sorted(names, key=names.__getitem__)}


def _declared_by_sample(
    declared: DeclaredDraw, samples: QuerySet[Sample], *, since: Batch | None = None
) -> dict[int, float]:
    """The same by its primary key. since: only of samples that came after this batch was drawn, which stands for those
    that were there."""
    if since is not None:
        samples = samples.filter(created_at__gt=since.created_at)
    if declared.how == HowDeclared.COLUMN:
        read = ((sample, chance_in(value)) for sample, _name, value in in_column(samples, declared.column))
        return {sample: chance for sample, chance in read if chance is not None}
    one = 1.0 if declared.population is None else declared.labelled / declared.population
    return dict.fromkeys(samples.values_list("pk", flat=True), one)


def in_column(samples: QuerySet[Sample], column: str) -> Iterator[tuple[int, str, object]]:
    """Each sample's primary key and own id, with what its metadata say under this key. By hand: Django would take a key
    such as "7" for a place in a list."""
    said = Func(F("metadata"), Value(column), function="jsonb_extract_path", output_field=JSONField())
    return samples.annotate(said=said).values_list("pk", "external_id", "said").iterator()


def chance_in(value: object) -> float | None:
    """A number above 0, up to 1, also as a text, which is what files of texts have; None: it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        chance = float(value)
    except ValueError:
        return None
    return chance if 0 < chance <= 1 else None


@dataclass(frozen=True, slots=True)
class HowLabelled:
    """Of how many labelled samples the chance is known, by what (`Drawn.by`), and how many count in no guarantee, as
    they were chosen or nothing is known of them: `undeclared` of these were labelled elsewhere, and nothing was
    declared since. unfinished: the number of a later draw that is still being labelled."""

    known: int
    chosen: int
    by: list[alignment.report.DrawnBy]
    undeclared: int
    unfinished: int | None


def how_labelled(criterion: Criterion) -> HowLabelled:
    people = Labelled(criterion)
    drawn, declared = _drawn(people, settled_only=True), declared_draw(criterion)
    proposed = {sample for sample, arm in arms(criterion).items() if arm.shown}
    labelled = people.people.keys() - proposed
    chosen = labelled - drawn.chances.keys()
    made = set(elsewhere(criterion).values_list("pk", flat=True))
    if declared is not None:
        made -= set(elsewhere(criterion, declared.declared_at).values_list("pk", flat=True))
    latest, finished = draws_of(criterion).exclude(status=BatchStatus.DRAFT).first(), finished_draw(criterion)
    is_unfinished = latest is not None and (finished is None or latest.number > finished.number)
    return HowLabelled(
        known=len(labelled) - len(chosen),
        chosen=len(chosen),
        by=drawn.by,
        undeclared=len(made & chosen),
        unfinished=latest.number if latest is not None and is_unfinished else None,
    )
