"""Alignments as pages and the API show them: how far one has come, what it came to, and the rules that it found."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.blindness import Reader, require_figures_of_many, samples_still_to_label
from annotate.core.rows import first_or_raise
from annotate.samples.read import samples_named
from judges.models import Alignment, Judge, Rule, Run, RunPurpose


def alignments_of(judge: Judge) -> QuerySet[Alignment]:
    """Newest first."""
    return Alignment.objects.filter(base__judge=judge).select_related(
        "base__judge__project", "base__endpoint", "criterion__project", "run__version__endpoint", "created_by"
    )


def one_alignment(judge: Judge, number: int) -> Alignment:
    return first_or_raise(alignments_of(judge).filter(pk=number), Http404(_("Alignment not found for this judge.")))


def one_rule(of: Alignment, number: int) -> Rule:
    return first_or_raise(of.rules.filter(pk=number), Http404(_("Rule not found in this alignment.")))


def runs_of(of: Alignment) -> QuerySet[Run]:
    """One for each step so far."""
    return Run.objects.filter(version=of.base_id, purpose=RunPurpose.ALIGN, terms__alignment=of.pk).order_by("pk")


def spent(of: Alignment) -> Decimal:
    """Of all its steps, in the endpoint's currency, with what may have been paid for requests without a reply."""
    costs = runs_of(of).values_list("cost", "at_most")
    return sum((cost + at_most for cost, at_most in costs), Decimal(0))


def result_for(of: Alignment, *, reader: Reader) -> dict[str, Any] | None:
    """What choosing came to (judges.aligning.outcome); None until it is done. Raises Conflict where its figures would
    tell the reader what was said of a sample that they must not know about yet."""
    if of.result is None:
        return None
    levels = [level for *_rest, level in of.units]
    require_figures_of_many(reader, list(keys_of(of).values()), levels)
    return dict(of.result)


@dataclass(frozen=True, slots=True)
class Rules:
    """held_back: how many are not shown, as they come from samples that the reader still has to label. samples: of
    those that the alignment rests on, by their own ids."""

    shown: list[Rule]
    held_back: int
    samples: dict[str, int]


def rules_for(of: Alignment, *, reader: Reader) -> Rules:
    keys = keys_of(of)
    still = samples_still_to_label(reader, list(keys.values()))
    rules = list(of.rules.select_related("decided_by"))
    shown = [rule for rule in rules if not any(keys.get(name) in still for name, _unit in rule.sources)]
    return Rules(shown, len(rules) - len(shown), keys)


def keys_of(of: Alignment) -> dict[str, int]:
    """Its samples, by their own ids."""
    names = {name for name, *_rest in of.units}
    return dict(samples_named(of.base.judge.project, names).values_list("external_id", "pk"))
