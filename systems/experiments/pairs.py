"""Two answers side by side: which of a version's and the baseline's people prefer, without knowing which is whose.

Who still has one of these samples to label sees no response to its question, as with pooled passages.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from typing import Any

from django.db import transaction
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotate.batches.steps import open_batch
from annotate.core.errors import Conflict, Invalid
from annotate.core.trail import note
from annotate.models import Criterion, Project, User
from judges.core.split import keep_for_systems
from systems.core.answer_criteria import PREFERENCE
from systems.core.composing import Composition, compose
from systems.experiments.draw import (
    Drawing,
    batch_of,
    criteria_of,
    draw_labels,
    lock,
    on_a_side,
    order_of,
    people_for,
    take,
)
from systems.experiments.pairs_read import Pair, pairs_of, preference_criterion
from systems.experiments.responses_read import Compared, compared_responses, compared_versions
from systems.models import Experiment, PairDraw, Response, SystemVersion


def draw_batch(*, beside: str = "", both_orders: bool = False, **asked: Any) -> Drawing:
    """`draw_pairs` where a version is named whose answers stand beside the baseline's, else `draw_labels`."""
    if beside:
        return draw_pairs(beside=beside, both_orders=both_orders, **asked)
    if both_orders:
        raise Invalid(
            "bad_both_orders", _("Only pairs of answers can be shown in both orders: name a version (beside).")
        )
    return draw_labels(**asked)


def draw_pairs(
    *,
    actor: User | None,
    experiment: Experiment,
    beside: str,
    questions: int,
    seed: int,
    both_orders: bool = False,
    annotators: Sequence[User] | None = None,
    overlap: int | None = None,
    single_labels: bool = False,
    opens: bool = True,
) -> Drawing:
    """The answers of the version `beside` next to the baseline's, to the next so many questions of the experiment's
    order: each pair in one sample, either version first equally often. Where one failed, or both say the same, nobody
    is asked. Of repeats the first is compared.

    both_orders: each pair a second time, with the answers exchanged. Everything else as `draw_labels`.

    Raises Invalid and Conflict.
    """
    project, people = experiment.project, people_for(experiment, questions, seed, annotators)
    criterion = _criterion(project)
    with transaction.atomic():
        lock(experiment, seed)
        version = _version(experiment, beside)
        pairs = pairs_of(experiment, version)
        found = compared_responses(experiment)
        _begin_order(experiment, found, seed)
        sided = on_a_side(experiment, found, [criterion])
        order = set(experiment.order)
        groups = {pair.question: pair.group for pair in pairs if pair.group in order}
        there = set(groups.values())
        eligible = [group for group in experiment.order if group in there]
        before = {group for draw in experiment.pair_draws.filter(version=version) for group in draw.groups}
        free = [group for group in eligible if group not in before and group not in sided]
        drawn = take(free, groups, questions, sided=bool(sided))
        chosen = [pair for pair in pairs if pair.group in set(drawn)]
        samples = _compose(project, chosen, drawn, _standing_first(seed, version, drawn), both_orders)
        keep_for_systems(criterion, samples)
        asked = sum(group in set(drawn) for group in groups.values())
        batch = batch_of(
            samples,
            chance=len(there & before.union(drawn)) / len(eligible),
            project=project,
            name=_("Pairs of answers to %(n)d drawn questions") % {"n": asked},
            criteria=[criterion],
            annotators=people,
            overlap=overlap,
            single_labels=single_labels,
            seed=seed,
            created_by=actor,
        )
        PairDraw.objects.create(experiment=experiment, version=version, batch=batch, groups=drawn)
        note(
            actor=actor, action="experiment.pairs_drawn", subject=experiment.name, project=project, batch=batch.number,
            version=version.name, questions=asked, samples=len(samples), seed=seed, both_orders=both_orders,
        )  # fmt: skip
        if opens:
            batch = open_batch(batch=batch, actor=actor)
    return Drawing(batch, asked, len(samples), len(groups))


def _criterion(project: Project) -> Criterion:
    found = preference_criterion(project)
    if found is None:
        raise Conflict(
            "no_preference",
            _("This project has no criterion “%(key)s” on samples with the options A and B. Add it first.")
            % {"key": PREFERENCE},
        )
    return found


def _version(experiment: Experiment, name: str) -> SystemVersion:
    names = {one.version.name: one.version for one in compared_versions(experiment) if not one.is_baseline}
    if name not in names:
        said = _("beside: “%(name)s” is none of the versions that are compared with the baseline: %(known)s.")
        raise Invalid("bad_version", said % {"name": name[:80], "known": ", ".join(names)})
    return names[name]


def _begin_order(experiment: Experiment, found: Compared, seed: int) -> None:
    """The order that draws of labels follow as well; so it leaves out what these could not draw."""
    sided = on_a_side(experiment, found, criteria_of(experiment))
    experiment.order = order_of(experiment, found, sided, seed)
    experiment.seed = seed
    experiment.save(update_fields=["seed", "order"])


def _standing_first(seed: int, version: SystemVersion, drawn: Sequence[str]) -> random.Random:
    """Which answer stands first: by the seed and the installation's secret, as who labels may know the seed; and for
    each version anew, so that the baseline's answer to a question does not stand in the same place in all its pairs."""
    return random.Random(salted_hmac(__name__, f"{seed} {version.name} {drawn[0]}").digest())


def _compose(
    project: Project, pairs: Collection[Pair], drawn: Sequence[str], rng: random.Random, both_orders: bool
) -> list[str]:
    """Samples of the pairs that people have to be asked about, in the order in which their groups were drawn."""
    place = {group: at for at, group in enumerate(drawn)}
    asked = sorted((pair for pair in pairs if pair.given is None), key=lambda pair: (place[pair.group], pair.question))
    if not asked:
        raise Conflict(
            "nothing_to_ask", _("Of these questions nobody has to be asked: answers are the same, or one failed.")
        )
    # Of an odd number either may have the one more.
    extra = rng.randrange(2)
    b_first = [at % 2 == extra for at in range(len(asked))]
    rng.shuffle(b_first)
    keys = {key for pair in asked for key in (pair.a, pair.b)}
    responses = Response.objects.select_related("sample", "revision__question").in_bulk(keys)

    def compositions(exchanged: bool) -> list[Composition]:
        return [
            _composition(responses[pair.a], responses[pair.b], first ^ exchanged)
            for pair, first in zip(asked, b_first, strict=True)
        ]

    samples = compose(project, compositions(exchanged=False), "pair")
    return samples + (compose(project, compositions(exchanged=True), "pair") if both_orders else [])


def _composition(a: Response, b: Response, b_first: bool) -> Composition:
    first, second = (b, a) if b_first else (a, b)
    answers = {name: one.sample and one.sample.answer for name, one in (("answer", first), ("answer_b", second))}
    # The question as the baseline was asked it, whichever stands first.
    reference = {} if a.revision.reference is None else {"reference": a.revision.reference}
    return Composition(a.revision, {**answers, **reference}, {"first": first, "second": second})
