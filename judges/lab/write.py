"""The lab: a changed judge is run on a few samples of the dev half and compared with the version in use."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.batches.sample_choice import check_seed, new_seed
from annotate.core.errors import Conflict, Invalid
from annotate.core.trail import note
from annotate.models import Criterion, Project, User
from judges.core.scores_read import current_version
from judges.lab.read import dimension_of, is_under_way
from judges.models import Alignment, Judge, JudgeVersion, RunPurpose, RunState, Trial, VersionState
from judges.reports.evidence import settled_on_dev
from judges.runs.laying import check_sample_count, draw_samples
from judges.runs.write import RequestKey, RunEstimate, cancel_run, estimate_run, run_started_by, start_run
from judges.versions.write import add_version, drop_version, keep_version

DEFAULT_SAMPLES = 40
# Of one trial: what is read and reckoned when its page is opened.
MOST_SAMPLES = 2_000


def start_trial(
    *,
    judge: Judge,
    config: Any,
    criterion: Criterion,
    endpoint: str | None = None,
    samples: int = DEFAULT_SAMPLES,
    seed: int | None = None,
    budget: Decimal | None = None,
    alignment: Alignment | None = None,
    candidate: str = "",
    actor: User | None = None,
    key: RequestKey | None = None,
) -> Trial:
    """Makes the version of this configuration, on trial, and runs it on `samples` samples of the dev half of which
    people settled something on the criterion, drawn by the seed; the version in use too, where it lacks scores there.

    Both get the same samples; none that either has among its examples. Fewer than asked for, when dev has no more.
    budget: of each of the two runs. alignment, candidate: where the configuration comes from. key: of a
    request that may come twice; then the trial that it started is returned.

    Raises Invalid for a configuration that can't be taken and for one that answers another question than the version in
    use, and Conflict when nothing is changed, when no version is in use, and when dev has no such sample.
    """
    seed = new_seed() if seed is None else seed
    with transaction.atomic():
        if key is not None and (run := run_started_by(key, actor)) is not None:
            return run.trials.get()
        trial = _planned(judge, config, endpoint, criterion, samples, seed, actor)
        trial.alignment, trial.candidate = alignment, candidate
        given: dict[str, Any] = {
            "scope": {"samples": trial.samples},
            "budget": budget,
            "purpose": RunPurpose.TRIAL,
            "actor": actor,
        }
        trial.run = start_run(version=trial.version, key=key, **given)
        if estimate_run(version=trial.base, scope=given["scope"]).asks:
            trial.base_run = start_run(version=trial.base, **given)
        trial.save(force_insert=True)
        note(
            actor=actor,
            action="trial.started",
            subject=judge.name,
            project=judge.project,
            version=trial.version.label,
            base=trial.base.label,
            criterion=criterion.key,
            samples=len(trial.samples),
            seed=seed,
        )
    return trial


def _planned(
    judge: Judge,
    config: Any,
    endpoint: str | None,
    criterion: Criterion,
    samples: int,
    seed: int,
    actor: User | None,
) -> Trial:
    """The trial as it would be, not stored; its version is, so call it in a transaction."""
    check_sample_count(samples, MOST_SAMPLES)
    check_seed(seed)
    if criterion.project_id != judge.project_id:
        raise Invalid("unknown_criterion", _("This criterion belongs to another project."))
    # As looks and imports do.
    Project.objects.select_for_update(no_key=True).get(pk=judge.project_id)
    base = current_version(judge)
    if base is None:
        raise Conflict("no_version", _("“%(name)s” has no active version.") % {"name": judge.name})
    version = add_version(
        judge=judge, config=config, endpoint=endpoint, state=VersionState.TRIAL, based_on=base, actor=actor
    )
    if version == base:
        raise Conflict("nothing_changed", _("Nothing has changed: this is the active version."))
    dimension = same_question(criterion, version, base)
    settled = settled_on_dev(criterion)
    names = draw_samples(criterion.project, settled, samples, seed=seed, purpose="trial", versions=(version, base))
    if not names:
        raise Conflict(
            "no_samples",
            _("No samples in the dev set that this judge can score have human labels on “%(name)s” yet.")
            % {"name": criterion.name},
        )
    return Trial(
        version=version,
        base=base,
        criterion=criterion,
        dimension=dimension,
        seed=seed,
        wanted=samples,
        samples=names,
        created_by=actor,
    )


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
        trial = _planned(judge, config, endpoint, criterion, samples, seed, None)
        scope = {"samples": trial.samples}
        base = estimate_run(version=trial.base, scope=scope)
        found = TrialEstimate(
            samples=len(trial.samples),
            new=estimate_run(version=trial.version, scope=scope),
            base=base if base.asks else None,
        )
        # The version was made to be asked how much it would take.
        transaction.set_rollback(True)
    return found


def keep_trial(*, trial: Trial, actor: User | None = None) -> JudgeVersion:
    """Takes the version that was tried into use. Raises Conflict while it is being run, and as `keep_version`."""
    if is_under_way(trial):
        raise Conflict("trial_under_way", _("The trial is still running. Wait for its result, or discard it."))
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
