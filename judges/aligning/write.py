"""Aligning a judge: started, led from step to step, and its rules taken up by people."""

from __future__ import annotations

from dataclasses import astuple
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.batches.sample_choice import check_seed, new_seed
from annotate.core.errors import Conflict, Invalid
from annotate.core.texts import words_or_raise
from annotate.core.trail import note
from annotate.core.units import unit_text
from annotate.models import Criterion, User
from judges.aligning.asking import (
    MOST_CORRECTIONS,
    RULE_TOKENS,
    config_of,
    corrections,
    parts_of,
    searches_of,
    size_of_search,
    united_rules,
    usable_rules,
    wrong_units,
)
from judges.aligning.candidates import FIXED, WHOLE, Parts, candidates_for
from judges.aligning.distil import LONGEST_RULE
from judges.aligning.outcome import outcome_of
from judges.aligning.people import Unit, kept_units, units_on_dev
from judges.aligning.read import spent
from judges.aligning.search import FEWEST_ASKS, GROWTH_TOKENS, MOST_ASKS
from judges.kinds.base import Size
from judges.kinds.llm.config import criterion_text
from judges.kinds.llm.examples import example_samples
from judges.kinds.llm.judging import tokens_of
from judges.kinds.registry import kind_named
from judges.lab.read import dimension_of
from judges.lab.write import start_trial
from judges.models import (
    Alignment,
    AlignmentStep,
    JudgeKind,
    JudgeVersion,
    Rule,
    RuleState,
    Run,
    RunPurpose,
    RunState,
    Trial,
)
from judges.reports.evidence import settled_on_dev
from judges.runs.laying import draw_samples
from judges.runs.write import (
    RequestKey,
    RunEstimate,
    cancel_run,
    pause_run,
    priced,
    resume_run,
    run_started_by,
    start_run,
)

FOLDS = 4
MOST_SAMPLES = 2_000
# Below it the figures of an alignment say nothing, and its rules come from hardly anybody.
FEWEST_GROUPS = 10


def start_alignment(
    *,
    version: JudgeVersion,
    criterion: Criterion,
    samples: int = MOST_SAMPLES,
    seed: int | None = None,
    search: int = 0,
    budget: Decimal | None = None,
    actor: User | None = None,
    key: RequestKey | None = None,
) -> Alignment:
    """Begins with asking the version about the units of dev that people settled. Nothing that comes of it changes a
    judge. search: how many requests the search for another prompt may make, of each fold and of all; 0: there is none.
    budget: of all its steps together.

    Raises Invalid for a judge that is not asked in options by a prompt, and for a criterion that it does not answer;
    Conflict when dev has too little.
    """
    seed = new_seed() if seed is None else seed
    check_seed(seed)
    _check_search(search)
    with transaction.atomic():
        if key is not None and (run := run_started_by(key, actor)) is not None:
            return run.alignments.get()
        units = _units(version, criterion, samples, seed)
        dimension = dimension_of(criterion, version)
        assert dimension is not None
        of = Alignment.objects.create(
            base=version,
            criterion=criterion,
            dimension=dimension,
            seed=seed,
            search=search,
            units=[[*unit.key, unit.group, unit.fold, unit.value, unit.level] for unit in units],
            budget=budget,
            created_by=actor,
        )
        judge = version.judge
        note(
            actor=actor, action="alignment.started", subject=judge.name, project=judge.project,
            version=version.label, criterion=criterion.key, units=len(units), seed=seed, search=search,
        )  # fmt: skip
        _begin(of, AlignmentStep.START, actor, key)
    return of


def estimate_alignment(
    *, version: JudgeVersion, criterion: Criterion, samples: int = MOST_SAMPLES, seed: int = 0, search: int = 0
) -> RunEstimate:
    """At most what it takes, with every step: the judge wrong in as many units as a model is asked about, each
    candidate asked with what was made without the unit's fold, and with what was made of all, each search at its end.
    Nothing is stored. Refused as `start_alignment`."""
    check_seed(seed)
    _check_search(search)
    with transaction.atomic():
        units = _units(version, criterion, samples, seed)
        transaction.set_rollback(True)
    kind = kind_named(version.judge.kind)
    sizes = [kind.size(version.config, unit.sample) for unit in units]
    each_in, each_out = (sum(getattr(size, name) for size in sizes) for name in ("tokens_in", "tokens_out"))
    text = criterion_text(criterion)
    candidates = candidates_for(version.config, text, has_rules=True, has_instruction=bool(search))[1:]
    corrections, parts = min(MOST_CORRECTIONS, len(units)), len({unit.fold for unit in units}) + 1
    texts = sum(tokens_of(unit_text(unit.sample, unit.unit)) for unit in units) // len(units)
    # Beside the unit itself: rules, a longer prompt, and examples of about the unit's length.
    more = len(units) * sum(
        RULE_TOKENS * one.rules + GROWTH_TOKENS * one.instruction + FIXED * texts * bool(one.examples)
        for one in candidates
    )
    asks = len(units) + corrections + parts + 2 * len(candidates) * len(units)
    each = Size(tokens_in=-(-each_in // len(units)), tokens_out=-(-each_out // len(units)))
    searches = size_of_search(search, each)
    size = Size(
        requests=asks + parts * searches.requests,
        tokens_in=each_in * (1 + 2 * len(candidates))
        + 2 * more
        + (corrections + parts * corrections) * RULE_TOKENS
        + parts * searches.tokens_in,
        tokens_out=each_out * (1 + 2 * len(candidates))
        + (corrections + parts) * RULE_TOKENS
        + parts * searches.tokens_out,
    )
    asks = round(size.requests)
    return priced(version, asks, size, samples=len({unit.sample.pk for unit in units}), is_estimated=True)


def _check_search(search: int) -> None:
    if search and not FEWEST_ASKS <= search <= MOST_ASKS:
        said = _("search: must be 0, or a whole number from %(least)d to %(most)d.")
        raise Invalid("bad_search", said % {"least": FEWEST_ASKS, "most": MOST_ASKS}, field="search")


def _units(version: JudgeVersion, criterion: Criterion, samples: int, seed: int) -> list[Unit]:
    config, judge = version.config, version.judge
    if judge.kind != JudgeKind.LLM or config["answer_with"] != "options":
        raise Invalid("not_aligned", _("Only LLM judges that answer with a criterion’s options can be aligned."))
    if criterion.project_id != judge.project_id or config["criterion"] != criterion.key:
        raise Invalid("other_question", _("This judge doesn’t answer “%(name)s”.") % {"name": criterion.name})
    settled = settled_on_dev(criterion)
    names = draw_samples(criterion.project, settled, samples, seed=seed, purpose="align", versions=[version])
    units = units_on_dev(criterion, sorted(set(names) - example_samples(config)), FOLDS, seed)
    groups = len({unit.group for unit in units})
    if groups < FEWEST_GROUPS:
        said = _("Resolved dev samples from %(n)d groups; aligning needs %(fewest)d.")
        raise Conflict("few_groups", said % {"n": groups, "fewest": FEWEST_GROUPS})
    return units


def _begin(of: Alignment, step: AlignmentStep, actor: User | None, key: RequestKey | None = None, **terms: Any) -> None:
    """Starts the run of a step; its budget is what the steps before left over. terms: what it has beside."""
    left = None if of.budget is None else of.budget - spent(of)
    if left is not None and left <= 0:
        # The run stops at its first request, and goes on when it is given more.
        left = Decimal("0.000001")
    of.step = step
    of.save(update_fields=["step", "candidates"])
    of.run = start_run(
        version=of.base,
        scope={"samples": sorted({name for name, *_rest in of.units})},
        purpose=RunPurpose.ALIGN,
        terms={"alignment": of.pk, "step": str(step), **terms},
        budget=left,
        actor=actor,
        key=key,
    )
    of.save(update_fields=["run"])


def advance_all() -> None:
    """Leads on every alignment whose step is done. Sent by every worker each few seconds; whatever of it happens twice
    happens once."""
    waiting = Alignment.objects.exclude(step=AlignmentStep.DONE).filter(run__state=RunState.DONE)
    for pk in list(waiting.values_list("pk", flat=True)):
        advance(pk)


def advance(pk: int) -> None:
    with transaction.atomic():
        of = (
            Alignment.objects.select_for_update(of=("self",))
            .select_related("base__judge__project", "base__endpoint", "criterion__project", "run", "created_by")
            .get(pk=pk)
        )
        if of.step == AlignmentStep.DONE or of.run is None or of.run.state != RunState.DONE:
            return
        if of.step == AlignmentStep.START and corrections(of):
            _begin(of, AlignmentStep.RULES, of.created_by)
        elif of.step == AlignmentStep.RULES and (rules := usable_rules(of)):
            _begin(of, AlignmentStep.UNITE, of.created_by, rules=[astuple(one) for one in rules])
        elif of.search and of.step not in (AlignmentStep.SEARCH, AlignmentStep.CANDIDATES) and wrong_units(of):
            _begin(of, AlignmentStep.SEARCH, of.created_by)
        elif of.step != AlignmentStep.CANDIDATES:
            _fix_candidates(of)
            _begin(of, AlignmentStep.CANDIDATES, of.created_by)
        else:
            of.result = outcome_of(of)
            of.step = AlignmentStep.DONE
            of.save(update_fields=["step", "result"])


def _fix_candidates(of: Alignment) -> None:
    """From what came of the steps before; rules are proposed to people now."""
    united = united_rules(of)
    rules = {part: [one["text"] for one in found] for part, found in united.items()}
    instructions = {part: found["prompt"] for part, found in searches_of(of).items()}
    text = criterion_text(of.criterion)
    parts = Parts(of.base.config, text, kept_units(of), wrong_units(of).keys(), rules, instructions)
    candidates = candidates_for(
        of.base.config, text, has_rules=bool(rules.get(WHOLE)), has_instruction=bool(instructions.get(WHOLE))
    )
    of.candidates = [
        {
            "name": candidate.name,
            "parts": {str(part): parts.fixed(candidate, part) for part in parts_of(of)} if place else {},
        }
        for place, candidate in enumerate(candidates)
    ]
    group_of = {(name, unit): group for name, unit, group, *_rest in of.units}
    Rule.objects.bulk_create(
        Rule(
            alignment=of,
            proposed=one["text"],
            text=one["text"],
            sources=one["sources"],
            groups=len({group_of[name, unit] for name, unit in one["sources"]}),
        )
        for one in united.get(WHOLE, ())
    )


def pause_alignment(*, of: Alignment, actor: User | None = None) -> Alignment:
    """Nothing new goes out; what is under way still comes in."""
    pause_run(run=_run_of(of), actor=actor)
    return of


def resume_alignment(*, of: Alignment, budget: Decimal | None = None, actor: User | None = None) -> Alignment:
    """One that was paused, or stopped by itself, goes on. budget: of all its steps together, in place of the one that
    it had; None leaves it as it is."""
    with transaction.atomic():
        run = _run_of(of)
        left = None
        if budget is not None:
            of.budget = budget
            of.save(update_fields=["budget"])
            left = budget - (spent(of) - run.cost - run.at_most)
            if left <= 0:
                raise Conflict("budget", _("The budget of this alignment is spent. Increase it to resume."))
        resume_run(run=run, budget=left, actor=actor)
    return of


def cancel_alignment(*, of: Alignment, actor: User | None = None) -> Alignment:
    """What waits is never asked, and no further step begins; what came stays."""
    cancel_run(run=_run_of(of), actor=actor)
    return of


def _run_of(of: Alignment) -> Run:
    if of.run is None or of.step == AlignmentStep.DONE:
        raise Conflict("alignment_done", _("This alignment is done."))
    return of.run


def try_candidate(
    *,
    of: Alignment,
    name: str = "",
    samples: int,
    budget: Decimal | None = None,
    actor: User | None = None,
    key: RequestKey | None = None,
) -> Trial:
    """Makes a version on trial of a candidate, as it was made from all labels, with the rules as people left them.

    name: of the candidate; "": the one that was chosen. samples, budget, key: of the trial (judges.lab).

    Raises Conflict before it is done, and where the judge as it is was chosen; Invalid for another name.
    """
    if of.result is None:
        raise Conflict("alignment_open", _("This alignment is not done yet."))
    names = [one["name"] for one in of.candidates]
    if name and name not in names:
        raise Invalid("unknown_candidate", _("Candidates: %(names)s.") % {"names": ", ".join(names)}, field="candidate")
    place = names.index(name) if name else of.result["chosen"]
    if not place:
        raise Conflict("nothing_changed", _("The current judge was chosen: there is nothing to try."))
    rules = rules_tried(of, place)
    config = config_of(of, place, WHOLE, rules=None if rules is None else [rule.text for rule in rules])
    return start_trial(
        judge=of.base.judge,
        config=config,
        criterion=of.criterion,
        endpoint=None if of.base.endpoint is None else of.base.endpoint.name,
        alignment=of,
        candidate=names[place],
        samples=samples,
        budget=budget,
        actor=actor,
        key=key,
    )


def rules_tried(of: Alignment, candidate: int) -> list[Rule] | None:
    """Those that a trial of the candidate, by its place, has: all that nobody dropped. None where it has no rules."""
    if not candidate or not of.candidates[candidate]["parts"][str(WHOLE)]["rules"]:
        return None
    return list(of.rules.exclude(state=RuleState.DROPPED))


def decide_rule(*, rule: Rule, state: str, text: str | None = None, actor: User) -> Rule:
    """Accepts or drops a proposed rule, in the model's words or in others. Raises Invalid."""
    if state not in RuleState.values:
        raise Invalid("bad_state", _("state: must be one of %(states)s.") % {"states": ", ".join(RuleState.values)})
    if text is not None:
        said = _("A rule must be text of 1 to %(longest)d characters.") % {"longest": LONGEST_RULE}
        text = words_or_raise(text, Invalid("bad_rule", said, field="text"))
        if len(text) > LONGEST_RULE:
            raise Invalid("bad_rule", said, field="text")
    with transaction.atomic():
        rule = (
            Rule.objects.select_for_update(of=("self",))
            .select_related("alignment__base__judge__project")
            .get(pk=rule.pk)
        )
        rule.state = state
        rule.text = rule.text if text is None else " ".join(text.split())
        rule.decided_by, rule.decided_at = actor, timezone.now()
        rule.save()
        judge = rule.alignment.base.judge
        note(
            actor=actor, action="alignment.rule_decided", subject=judge.name, project=judge.project,
            rule=rule.pk, state=state, edited=rule.text != rule.proposed,
        )  # fmt: skip
    return rule
