"""The lab: a changed judge is run on a few samples of the dev half and held against the version in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.batches.sample_choice import check_seed, new_seed
from annotate.core.errors import Conflict, Invalid
from annotate.core.trail import note
from annotate.models import Criterion, Project, Sample, User
from annotate.samples.read import samples_named
from judges.core.scores_read import current_version
from judges.core.split import drawn
from judges.kinds.registry import kind_named
from judges.lab.read import dimension_of, is_under_way
from judges.models import Judge, JudgeVersion, Run, RunPurpose, RunState, Trial, VersionState
from judges.reports.evidence import settled_on_dev
from judges.runs.write import RunEstimate, cancel_run, estimate_run, start_run
from judges.versions.write import add_version, drop_version, keep_version

DEFAULT_SAMPLES = 40
# Of one trial: what is read and reckoned when its page is opened.
MOST_SAMPLES = 2_000
# Read to see whether there is something to ask about them.
_AT_ONCE = 500


def start_trial(
    *,
    judge: Judge,
    config: Any,
    criterion: Criterion,
    endpoint: str | None = None,
    samples: int = DEFAULT_SAMPLES,
    seed: int | None = None,
    budget: Decimal | None = None,
    actor: User | None = None,
) -> Trial:
    """Makes the version of this configuration, on trial, and runs it on `samples` samples of the dev half of which
    people settled something on the criterion, drawn by the seed; the version in use too, where it lacks scores there.

    Both get the same samples; none that either has among its examples. Fewer than asked for, when dev has no more.
    budget: of each of the two runs.

    Raises Invalid for a configuration that can't be taken and for one that answers another question than the version in
    use, and Conflict when nothing is changed, when no version is in use, and when dev has no such sample.
    """
    seed = new_seed() if seed is None else seed
    with transaction.atomic():
        prepared = _prepare(judge, config, endpoint, criterion, samples, seed, actor)
        version, base, names = prepared.version, prepared.base, prepared.samples
        scope = {"samples": names}
        run = start_run(version=version, scope=scope, budget=budget, purpose=RunPurpose.TRIAL, actor=actor)
        trial = Trial.objects.create(
            version=version,
            base=base,
            criterion=criterion,
            dimension=prepared.dimension,
            seed=seed,
            wanted=samples,
            samples=names,
            run=run,
            base_run=_run_where_it_lacks(base, scope, budget, actor),
            created_by=actor,
        )
        note(
            actor=actor,
            action="trial.started",
            subject=judge.name,
            project=judge.project,
            version=version.label,
            base=base.label,
            criterion=criterion.key,
            samples=len(names),
            seed=seed,
        )
    return trial


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Two versions that answer the same question under the same name, and the samples that both get."""

    version: JudgeVersion
    base: JudgeVersion
    dimension: str
    samples: list[str]


def _prepare(
    judge: Judge,
    config: Any,
    endpoint: str | None,
    criterion: Criterion,
    samples: int,
    seed: int,
    actor: User | None,
) -> _Prepared:
    """In a transaction: makes the version."""
    _check_count(samples)
    check_seed(seed)
    if criterion.project_id != judge.project_id:
        raise Invalid("unknown_criterion", _("The criterion is of another project."))
    # As looks and imports do.
    Project.objects.select_for_update(no_key=True).get(pk=judge.project_id)
    base = current_version(judge)
    if base is None:
        raise Conflict("no_version", _("No version of “%(name)s” is in use.") % {"name": judge.name})
    version = add_version(
        judge=judge, config=config, endpoint=endpoint, state=VersionState.TRIAL, based_on=base, actor=actor
    )
    if version == base:
        raise Conflict("nothing_changed", _("Nothing is changed: this is the version in use."))
    dimension = same_question(criterion, version, base)
    return _Prepared(version, base, dimension, draw_samples(criterion, samples, seed, (version, base)))


@dataclass(frozen=True, slots=True)
class TrialEstimate:
    """What a trial would ask for. samples: how many it would have; new, base: of each version; base None when the
    version in use has scored all of them."""

    samples: int
    new: RunEstimate
    base: RunEstimate | None


def estimate_trial(
    *,
    judge: Judge,
    config: Any,
    criterion: Criterion,
    endpoint: str | None = None,
    samples: int = DEFAULT_SAMPLES,
    seed: int = 0,
) -> TrialEstimate:
    """Nothing is stored. Refused as `start_trial`."""
    with transaction.atomic():
        prepared = _prepare(judge, config, endpoint, criterion, samples, seed, None)
        scope = {"samples": prepared.samples}
        base = estimate_run(version=prepared.base, scope=scope)
        found = TrialEstimate(
            samples=len(prepared.samples),
            new=estimate_run(version=prepared.version, scope=scope),
            base=base if base.asks else None,
        )
        # The version was made to be asked how much it would take.
        transaction.set_rollback(True)
    return found


def keep_trial(*, trial: Trial, actor: User | None = None) -> JudgeVersion:
    """Takes the version that was tried into use. Raises Conflict while it is being run, and as `keep_version`."""
    if is_under_way(trial):
        raise Conflict("trial_under_way", _("The trial is still under way: wait for what it shows, or drop it."))
    return keep_version(version=trial.version, actor=actor)


def drop_trial(*, trial: Trial, actor: User | None = None) -> JudgeVersion:
    """Puts the version that was tried away; what is still being run of it is cancelled."""
    with transaction.atomic():
        for run in trial.version.runs.filter(state=RunState.RUNNING, purpose=RunPurpose.TRIAL):
            cancel_run(run=run, actor=actor)
        return drop_version(version=trial.version, actor=actor)


def same_question(criterion: Criterion, version: JudgeVersion, other: JudgeVersion) -> str:
    """What both versions call what the criterion asks. Raises Invalid when one of them doesn't answer it, and when they
    call it by two names."""
    names = []
    for one in (version, other):
        name = dimension_of(criterion, one)
        if name is None:
            raise Invalid(
                "other_question",
                _("Version %(label)s doesn’t answer “%(criterion)s”, so it can’t be tried on it.")
                % {"label": one.label, "criterion": criterion.name},
            )
        names.append(name)
    if names[0] != names[1]:
        raise Invalid(
            "other_question",
            _("The versions answer different questions (%(one)s, %(other)s), so they can’t be compared.")
            % {"one": names[0], "other": names[1]},
        )
    return names[0]


def draw_samples(criterion: Criterion, count: int, seed: int, versions: Sequence[JudgeVersion]) -> list[str]:
    """At most `count` samples of dev, by their own ids, in order, about which each of the versions has something to
    ask; none about those that it is shown as examples, with people's answers."""
    # By a number of each sample's own: more samples with the same seed are the earlier ones and others.
    order = sorted(settled_on_dev(criterion), key=lambda name: (drawn(seed, name, "trial"), name))
    chosen: list[str] = []
    for start in range(0, len(order), _AT_ONCE):
        names = order[start : start + _AT_ONCE]
        samples = {sample.external_id: sample for sample in samples_named(criterion.project, names)}
        chosen += [name for name in names if all(_asks_about(version, samples[name]) for version in versions)]
        if len(chosen) >= count:
            break
    if not chosen:
        raise Conflict(
            "no_samples",
            _("No sample of the dev half that the judge can be asked about has an answer by people on “%(name)s” yet.")
            % {"name": criterion.name},
        )
    return sorted(chosen[:count])


def _asks_about(version: JudgeVersion, sample: Sample) -> bool:
    return bool(kind_named(version.judge.kind).units(version.config, sample))


def _run_where_it_lacks(
    base: JudgeVersion, scope: dict[str, Any], budget: Decimal | None, actor: User | None
) -> Run | None:
    if not estimate_run(version=base, scope=scope).asks:
        return None
    return start_run(version=base, scope=scope, budget=budget, purpose=RunPurpose.TRIAL, actor=actor)


def _check_count(count: Any) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_SAMPLES:
        raise Invalid(
            "bad_samples", _("samples: a whole number from 1 to %(most)d.") % {"most": MOST_SAMPLES}, field="samples"
        )
