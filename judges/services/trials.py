"""The lab: a changed judge is run on a few samples of the dev half and held against the version in use."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.errors import Conflict, Invalid
from annotate.models import Criterion, Project, User
from annotate.services.audit import note
from annotate.services.batches import check_seed, new_seed
from judges.kinds.registry import kind_named
from judges.models import Judge, JudgeVersion, Run, RunPurpose, RunState, Trial, VersionState
from judges.selectors.versions import current_version
from judges.services.runs import cancel_run, estimate_run, start_run
from judges.services.versions import add_version, drop_version, keep_version

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
    actor: User | None = None,
) -> Trial:
    """Makes the version of this configuration, on trial, and runs it on `samples` samples of the dev half of which
    people settled something on the criterion, drawn by the seed; the version in use too, where it lacks scores there.

    Both get the same samples; none that either has among its examples. Fewer than asked for, when dev has no more.
    budget: of each of the two runs.

    Raises Invalid for a configuration that can't be taken and for one that answers another question than the version in
    use, and Conflict when nothing is changed, when no version is in use, and when dev has no such sample.
    """
    _check_count(samples)
    seed = new_seed() if seed is None else seed
    check_seed(seed)
    if criterion.project_id != judge.project_id:
        raise Invalid("unknown_criterion", _("The criterion is of another project."))
    with transaction.atomic():
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
        names = draw_samples(criterion, samples, seed, without=(version, base))
        scope = {"samples": names}
        run = start_run(version=version, scope=scope, budget=budget, purpose=RunPurpose.TRIAL, actor=actor)
        trial = Trial.objects.create(
            version=version,
            base=base,
            criterion=criterion,
            dimension=dimension,
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


def keep_trial(*, trial: Trial, actor: User | None = None) -> JudgeVersion:
    """Takes the version that was tried into use. Raises Conflict while it is being run, and as `keep_version`."""
    if any(run.state == RunState.RUNNING for run in runs_of_trial(trial)):
        raise Conflict("trial_under_way", _("The trial is still under way: wait for what it shows, or drop it."))
    return keep_version(version=trial.version, actor=actor)


def drop_trial(*, trial: Trial, actor: User | None = None) -> JudgeVersion:
    """Puts the version that was tried away; what is still being run of it is cancelled."""
    with transaction.atomic():
        for run in trial.version.runs.filter(state=RunState.RUNNING, purpose=RunPurpose.TRIAL):
            cancel_run(run=run, actor=actor)
        return drop_version(version=trial.version, actor=actor)


def runs_of_trial(trial: Trial) -> list[Run]:
    return [trial.run] if trial.base_run is None else [trial.run, trial.base_run]


def same_question(criterion: Criterion, version: JudgeVersion, other: JudgeVersion) -> str:
    """What both versions call what the criterion asks. Raises Invalid when they don't answer it both."""
    found = [_dimension(criterion, one) for one in (version, other)]
    if found[0] != found[1]:
        raise Invalid(
            "other_question",
            _("The versions answer different questions (%(one)s, %(other)s), so they can’t be compared.")
            % {"one": found[0], "other": found[1]},
        )
    return found[0]


def _dimension(criterion: Criterion, version: JudgeVersion) -> str:
    """As judges.selectors.scores holds scores against a criterion: under its key, else under a name of the judge's own
    on the same kind of unit."""
    kind = kind_named(version.judge.kind)
    named = [name for unit, name in kind.dimensions(version.config) if unit == criterion.unit]
    if criterion.key in named:
        return criterion.key
    others = set(Criterion.objects.filter(project_id=criterion.project_id).values_list("key", flat=True))
    own = [name for name in named if name not in others]
    if len(own) == 1:
        return own[0]
    raise Invalid(
        "other_question",
        _("Version %(label)s doesn’t answer “%(criterion)s”, so it can’t be tried on it.")
        % {"label": version.label, "criterion": criterion.name},
    )


def draw_samples(criterion: Criterion, count: int, seed: int, without: Iterable[JudgeVersion]) -> list[str]:
    """At most `count` samples of dev, by their own ids, in order: what a version has seen with its answer is none."""
    # Here, not above: the statistics take a second to load, and most processes never count anything.
    from judges.services.evidence import settled_on_dev
    from judges.services.split import drawn

    shown = {name for version in without for name in examples_of(version)}
    frame = [name for name in settled_on_dev(criterion) if name not in shown]
    if not frame:
        raise Conflict(
            "no_samples",
            _("No sample of the dev half has an answer by people on “%(criterion)s” yet.")
            % {"criterion": criterion.name},
        )
    # By a number of each sample's own: more samples with the same seed are the earlier ones and others.
    return sorted(sorted(frame, key=lambda name: (drawn(seed, name, "trial"), name))[:count])


def examples_of(version: JudgeVersion) -> set[str]:
    """The samples, by their own ids, that the version shows to its model with people's answers."""
    return set()


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
