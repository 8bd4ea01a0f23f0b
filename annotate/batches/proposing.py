"""What a judge proposes in a batch, for annotators to verify ([decision 46](../../docs/decisions/0046-proposals.md)).

The values are copied when tasks are made, and stay as they are. A draw decides for each group of samples whether
annotators see them: what they say where they don't is what counts, and shows how far proposals pull them elsewhere.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import ceil
from typing import Any, Protocol, cast

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.scales import Value
from annotate.labels.anchored_read import Arm
from annotate.models import Batch, BatchSample, Criterion, Label, ProposedValues, Verdict
from annotate.models.batch import RUNNING_BATCH_STATUSES
from annotate.projects.read import asked_in
from annotate.samples.read import asked_by, groups_of, samples_keyed

LEAST_WITHHELD, MOST_WITHHELD = 0.05, 0.95


@dataclass(frozen=True, slots=True)
class Proposals:
    """values: by the sample's own id, of its units. version: of the judge, by name."""

    version: str
    values: Mapping[str, Mapping[str, Value]]


class Source(Protocol):
    """A module that knows what judges say."""

    def proposers(self, criterion: Criterion) -> list[str]:
        """The judges whose active version answers with the criterion's options, by name."""

    def proposals(self, criterion: Criterion, judge: str, samples: Collection[str]) -> Proposals:
        """Of those of the samples, by their own ids, of which annotators may know it. Raises Invalid for a judge that
        is none of the proposers."""


_source = ""


def register_source(dotted_name: str) -> None:
    """For the app that builds on this one and has judges: a module like `Source`."""
    global _source  # noqa: PLW0603
    _source = dotted_name


def source() -> Source:
    return cast("Source", import_module(_source))


def check_proposals(criteria: Sequence[Criterion], proposals: Any) -> dict[str, str]:
    """{criterion key: judge}: of some of the criteria that are asked."""
    asked = {criterion.key: criterion for criterion in criteria}
    if not isinstance(proposals, Mapping) or not all(isinstance(judge, str) for judge in proposals.values()):
        raise Invalid("bad_proposals", _("proposals: must be an object of criterion keys and judge names."))
    for key, judge in proposals.items():
        if key not in asked:
            said = _("“%(key)s” is not asked in this batch, so nothing can be proposed for it.")
            raise Invalid("bad_proposals", said % {"key": str(key)[:80]})
        if judge not in source().proposers(asked[key]):
            said = _("“%(judge)s” has no scores that are options of “%(key)s”.")
            raise Invalid("no_proposer", said % {"judge": judge[:80], "key": key})
    return dict(proposals)


def check_withheld(share: Any) -> float:
    is_number = isinstance(share, int | float) and not isinstance(share, bool)
    if not is_number or not LEAST_WITHHELD <= share <= MOST_WITHHELD:
        said = _("withheld_share: must be a share from %(least)s to %(most)s.")
        raise Invalid("bad_share", said % {"least": LEAST_WITHHELD, "most": MOST_WITHHELD})
    return float(share)


@dataclass(frozen=True, slots=True)
class _Said:
    """What is proposed on a criterion; fresh: the samples that could have it, by their own ids."""

    criterion: Criterion
    fresh: Collection[str]
    proposals: Proposals


def lay_proposals(batch: Batch, rows: Sequence[BatchSample]) -> dict[str, str]:
    """Copies what is proposed for these samples, and draws which groups see it; groups that were drawn before stay as
    they are. Returns by criterion key which judge's version it is. Inside the transaction that makes their tasks.

    Raises Conflict when a judge has nothing to propose in the whole batch.
    """
    if not batch.proposals:
        return {}
    keys = dict(samples_keyed([row.sample_id for row in rows]).values_list("external_id", "pk"))
    asked = [criterion for criterion in asked_in(batch) if criterion.key in batch.proposals]
    said = [_said(batch, criterion, keys.values()) for criterion in asked]
    before = {row.sample.external_id: Arm(row.shown, row.withheld_chance) for row in _laid(batch)}
    group_of = groups_of(batch.project, {*keys, *before})
    arms = {group_of.get(name, name): arm for name, arm in before.items()}
    arms |= _drawn(batch, {group_of.get(name, name) for one in said for name in one.proposals.values}, arms)
    ProposedValues.objects.bulk_create(
        (
            ProposedValues(
                batch=batch,
                sample_id=keys[name],
                criterion=one.criterion,
                judge=batch.proposals[one.criterion.key],
                version=one.proposals.version,
                proposed=dict(one.proposals.values.get(name, {})),
                shown=arms[group].shown,
                withheld_chance=arms[group].withheld_chance,
            )
            for one in said
            for name in one.fresh
            if (group := group_of.get(name, name)) in arms
        ),
        batch_size=5000,
    )
    return {one.criterion.key: f"{batch.proposals[one.criterion.key]} {one.proposals.version}" for one in said}


def _said(batch: Batch, criterion: Criterion, samples: Collection[int]) -> _Said:
    judge = batch.proposals[criterion.key]
    fresh = _fresh(batch, criterion, samples)
    found = source().proposals(criterion, judge, fresh)
    if not found.values and not batch.proposed.filter(criterion=criterion).exists():
        said = _(
            "%(judge)s has nothing to propose for “%(key)s” here: no sample of this batch has its scores, no labels, "
            "and no place in the test set."
        )
        raise Conflict("nothing_proposed", said % {"judge": judge, "key": criterion.key})
    return _Said(criterion, fresh, found)


def _fresh(batch: Batch, criterion: Criterion, samples: Collection[int]) -> list[str]:
    """Those of the samples, by their own ids, about which no person has said anything by the criterion, and no other
    batch asks it now: what people say without a proposal stays evidence."""
    said = {"criterion__key": criterion.key, "sample": OuterRef("pk")}
    elsewhere = BatchSample.objects.filter(
        sample=OuterRef("pk"), batch__status__in=RUNNING_BATCH_STATUSES, batch__criteria__key=criterion.key
    )
    fresh = asked_by(samples_keyed(samples), criterion).filter(
        ~Exists(Label.objects.filter(**said)),
        ~Exists(Verdict.objects.filter(**said)),
        ~Exists(elsewhere.exclude(batch=batch)),
    )
    return sorted(fresh.values_list("external_id", flat=True))


def _laid(batch: Batch) -> QuerySet[ProposedValues]:
    rows = batch.proposed.select_related("sample")
    return rows.only("shown", "withheld_chance", "sample__external_id")


def _drawn(batch: Batch, groups: Collection[str], before: Mapping[str, Arm]) -> dict[str, Arm]:
    """The arm of each group that has none yet; at least one of them is withheld."""
    new = sorted(set(groups) - before.keys())
    withheld = ceil(round(len(new) * batch.withheld_share, 6))
    chosen = set(random.Random(f"proposals {batch.seed} {len(before)}").sample(new, withheld))
    return {group: Arm(group not in chosen, withheld / len(new)) for group in new}
