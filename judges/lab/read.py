"""What a trial shows: the version that was tried beside the one in use, on the trial's samples of the dev half.

`on_dev` is the one door through which the lab sees what people said: of samples of the dev half, and of no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, cast

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

import alignment
from annotate.core.blindness import SYSTEM, Reader, require_figures_of_many, samples_still_to_label
from annotate.core.rows import fetch_one, first_or_raise
from annotate.core.scales import Value
from annotate.core.units import without_abstentions
from annotate.labels.anchored_read import anchored_samples
from annotate.labels.read import counting_labels, latest_per_rater, undecided_labels
from annotate.labels.settled_read import HOLDING, STANDING, unsettled_units, waiting_labels
from annotate.models import Criterion, Label, Sample, Verdict
from annotate.projects.read import rated_criteria
from annotate.samples.read import groups_of, samples_named
from annotate.verdicts.evidence_read import asked
from annotate.verdicts.ratings_read import UnitKey
from judges.core.scores_read import load_scores
from judges.core.split import on_test, on_test_elsewhere, sides_of
from judges.kinds.registry import kind_named
from judges.models import Judge, JudgeVersion, RunState, Trial
from judges.versions.learned_read import learned_if_aligned


@dataclass(frozen=True, slots=True)
class OnDev:
    """Of samples of the dev half: samples by their own id; the labels that count, in the order of unit and rater; who
    could not tell; the verdicts that settle their unit; what those of all units rest on."""

    criterion: Criterion
    samples: dict[str, Sample]
    labels: list[Label]
    undecided: list[Label]
    verdicts: dict[UnitKey, Verdict]
    standings: dict[UnitKey, str]

    def evidence(self) -> alignment.report.Evidence:
        """For the figures that compare judges on them; every sample is dev."""
        units = [(label.sample.external_id, label.unit) for label in self.labels]
        here = [label.task_id is not None for label in self.labels]
        return alignment.report.Evidence(
            criterion=asked(self.criterion),
            seed=self.criterion.project.seed,
            units=units,
            raters=[label.rater.name for label in self.labels],
            values=[cast("Value", label.value) for label in self.labels],
            verdicts={unit: cast("Value", verdict.value) for unit, verdict in self.verdicts.items()},
            unsettled=unsettled_units(units, here, self.standings),
            waiting=waiting_labels(units, here, self.standings),
            is_dev=dict.fromkeys(self.samples, True),
            groups=groups_of(self.criterion.project, self.samples.keys()),
        )

    def without(self, names: Collection[str]) -> OnDev:
        return replace(
            self,
            samples={name: sample for name, sample in self.samples.items() if name not in names},
            labels=[label for label in self.labels if label.sample.external_id not in names],
            undecided=[label for label in self.undecided if label.sample.external_id not in names],
            verdicts={unit: verdict for unit, verdict in self.verdicts.items() if unit[0] not in names},
            standings={unit: standing for unit, standing in self.standings.items() if unit[0] not in names},
        )


def on_dev(criterion: Criterion, names: Collection[str], *, reader: Reader) -> OnDev:
    """What people said, on the criterion, of those of the samples that are dev. Nothing is read of any other that
    is named: a sample of the test half, one that has no side yet, or one that was labelled with proposals."""
    named = samples_named(criterion.project, dev_names(criterion, names))
    dev = {sample.external_id: sample for sample in named.exclude(pk__in=anchored_samples(criterion))}
    keys = [sample.pk for sample in dev.values()]
    here = {"criterion": criterion, "sample__in": keys}
    labels = counting_labels().filter(**here).select_related("rater", "sample")
    undecided = undecided_labels().filter(**here).select_related("rater", "sample")
    verdicts = {
        (one.sample.external_id, one.unit): one
        for one in without_abstentions(Verdict.objects.filter(**here))
        .annotate(standing=STANDING)
        .select_related("sample", "decided_by")
    }
    found = OnDev(
        criterion=criterion,
        samples=dev,
        labels=sorted(latest_per_rater(labels), key=_by_unit),
        undecided=sorted(latest_per_rater(undecided), key=_by_unit),
        verdicts={unit: verdict for unit, verdict in verdicts.items() if verdict.standing in HOLDING},
        standings={unit: verdict.standing for unit, verdict in verdicts.items()},
    )
    still = samples_still_to_label(reader, keys)
    return found.without({name for name, sample in dev.items() if sample.pk in still}) if still else found


def dev_names(criterion: Criterion, names: Collection[str]) -> list[str]:
    """Those of the samples that are dev, by their own ids, in order. On a criterion that says nowhere what passes there
    are no halves: then all of them are, but for what an earlier version put on test."""
    if not criterion.passes:
        return sorted(set(names) - on_test(criterion, names))
    return sorted(name for name, is_dev in sides_of(criterion, names).items() if is_dev)


def _by_unit(label: Label) -> tuple[str, str, str]:
    """As annotate.verdicts.rating_codes_read orders them: figures that hang on the order are the same."""
    return label.sample.external_id, label.unit, label.rater.name


# Of the units that flipped, and of those whose answer changed without it: how many are read out.
MOST_UNITS = 300


def trials_of(judge: Judge) -> QuerySet[Trial]:
    """Newest first."""
    return Trial.objects.filter(version__judge=judge).select_related(
        "version__judge", "base", "criterion", "run", "base_run", "created_by"
    )


def one_trial(judge: Judge, trial_id: int) -> Trial:
    trials = trials_of(judge).select_related(
        "version__endpoint", "version__judge__project", "base__judge", "base__endpoint"
    )
    return first_or_raise(trials.filter(pk=trial_id), Http404(_("Trial not found for this judge.")))


def questions_of(version: JudgeVersion) -> list[Criterion]:
    """The current criteria that the version answers, on which a version can be tried."""
    criteria = rated_criteria(version.judge.project)
    return [criterion for criterion in criteria if dimension_of(criterion, version) is not None]


def dimension_of(criterion: Criterion, version: JudgeVersion) -> str | None:
    """What the version calls what the criterion asks, as judges.core.scores_read holds scores against it: its key, else
    the one name of the judge's own on the same kind of unit. None: it doesn't answer it."""
    named = kind_named(version.judge.kind).dimensions(version.config)
    on_it = [name for unit, name in named if unit == criterion.unit]
    if criterion.key in on_it:
        return criterion.key
    others = set(Criterion.objects.filter(project_id=criterion.project_id).values_list("key", flat=True))
    own = [name for name in on_it if name not in others]
    return own[0] if len(own) == 1 else None


def tried_on(trial: Trial) -> int:
    """How many versions of the judge have been tried on the dev half of the criterion, this one and later ones too:
    the best of many is also the luckiest."""
    same = Trial.objects.filter(version__judge=trial.version.judge_id, criterion=trial.criterion_id)
    return same.order_by().values("version").distinct().count()


def is_under_way(trial: Trial) -> bool:
    return any(run is not None and run.state == RunState.RUNNING for run in (trial.run, trial.base_run))


@dataclass(frozen=True, slots=True)
class Spent:
    """What a version's replies about the trial's samples took, whichever run paid for them.

    replies: how many. latency: the median, in seconds. cost: of those of known price, in `currency`; None when none is
    known; unpriced: how many have none. All but the first None without replies.
    """

    replies: int
    latency: float | None
    cost: Decimal | None
    unpriced: int
    tokens_in: int | None
    tokens_out: int | None
    currency: str | None


@dataclass(frozen=True, slots=True)
class Found:
    """figures: as alignment.report.two_versions, `first` the base and `second` the version that was tried; spent,
    failed (how often, by status, among the units that people settled): of both, in that order. caveat: what to know
    about intervals from so few samples; learned: that the version that was tried was made from labels of dev. Of single
    units, those of samples that the reader still has to label, or to decide about, are left out of figures and on_dev;
    held_back: how many rows of figures."""

    figures: dict[str, Any]
    spent: tuple[Spent, Spent]
    failed: tuple[Counter[str], Counter[str]]
    caveat: Mapping[str, Any] | None
    learned: Mapping[str, Any] | None
    on_dev: OnDev
    held_back: int


def trial_figures(trial: Trial, *, reader: Reader) -> Found:
    """As far as both have been run. Of the trial's samples those that are dev, and nothing of any other: a report's
    figures at this choice of samples, so their basis is said there (docs/statistics.md).

    Raises Conflict when the figures would tell the reader what was said of a sample that they must not know about yet.
    """
    dev = on_dev(trial.criterion, trial.samples, reader=SYSTEM)
    keys = [sample.pk for sample in dev.samples.values()]
    reference = alignment.report.reference_of(dev.evidence())
    sides = (trial.base, trial.version)
    # Both versions belong to one judge, so the way its scores go is the same.
    said = [
        replace(load_scores(trial.criterion, version, trial.dimension, keys, reader=SYSTEM), again={})
        for version in sides
    ]
    if trial.dimension != trial.criterion.key:
        # What is dev here may be test for another criterion that they are compared with.
        closed = on_test_elsewhere(trial.criterion, dev.samples.keys())
        said = [replace(one.without(closed), closed=sorted(closed)) for one in said]
    answers = [value for one in said for values in (one.numbers, one.labels) for value in values.values()]
    held_back = require_figures_of_many(reader, keys, answers)
    figures = alignment.report.two_versions(
        reference, said[0], said[1], (title_of(sides[0]), title_of(sides[1])), MOST_UNITS
    )
    people = reference.labels() if reference.passing is None else reference.positive
    caveat = alignment.interval_caveat(clusters=len(set(reference.clusters(people))))
    blind = {name for name, sample in dev.samples.items() if sample.pk in held_back}
    rows = {name: [row for row in figures[name] if row["sample"] not in blind] for name in ("flipped", "changed")}
    return Found(
        figures={**figures, **rows},
        spent=(_spent(sides[0], keys), _spent(sides[1], keys)),
        failed=(_failed(said[0], people), _failed(said[1], people)),
        caveat=caveat if people else None,
        learned=alignment.report.learned_remark(learned_if_aligned(trial.version)),
        on_dev=dev.without(blind),
        held_back=sum(len(figures[name]) - len(rows[name]) for name in rows),
    )


def title_of(version: JudgeVersion) -> str:
    return _("Version %(label)s") % {"label": version.label}


def _failed(said: alignment.report.JudgeScores, people: Mapping[UnitKey, Any]) -> Counter[str]:
    return Counter(status for unit, status in said.failed.items() if unit in people)


_SPENT = """
    SELECT count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY r.latency), sum(r.cost),
           count(*) FILTER (WHERE r.cost IS NULL), sum(r.tokens_in), sum(r.tokens_out)
      FROM judges_reply r
     WHERE r.id IN (SELECT unnest(a.replies) FROM judges_ask a JOIN judges_run n ON n.id = a.run_id
                     WHERE n.version_id = %s AND n.purpose IN ('scores', 'trial')
                       AND a.repeat = 0 AND a.sample_id = ANY(%s))
"""


def _spent(version: JudgeVersion, keys: Sequence[int]) -> Spent:
    row = fetch_one(_SPENT, [version.pk, list(keys)])
    currency = None if version.endpoint is None else version.endpoint.currency
    return Spent(row[0], row[1], row[2], row[3], row[4], row[5], currency)
