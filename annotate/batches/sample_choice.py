"""Which samples a batch is made of: all, those whose metadata match, a random draw, or a list; how many people label
each, and which expertise each needs; and with what chance each was chosen, or why (decision 29)."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.rows import next_position
from annotate.core.texts import check_json, is_storable
from annotate.models import Batch, BatchSample, Project, Qualification
from annotate.models.batch import CHOSEN_BY_PEOPLE, Came
from annotate.samples.read import asked_keys, groups_of, matching_samples, sample_tags, samples_keyed, samples_named

SELECTION_METHODS = ("all", "filter", "random", "list")
_SELECTION_FIELDS = {"method", "filter", "n", "seed", "came"}
_LIST_FIELDS = {"method", "samples", "note", "came"}
MAX_SEED = 2**31 - 1
MAX_NOTE = 500


@dataclass(frozen=True, slots=True)
class Choice:
    """keys: primary keys of the chosen samples, in import order. stored: what the batch keeps of the selection, with
    its seed and how its samples came. chance: with which probability each of the project's samples is among them; None:
    chosen, so that they stand for no other sample. Samples of one group are drawn together, so that of n asked for
    there may be some more or fewer."""

    keys: list[int]
    stored: dict[str, Any]
    chance: float | None

    def chances(self) -> dict[int, tuple[float, int]]:
        """Of each sample: its chance and its stratum."""
        return {} if self.chance is None else dict.fromkeys(self.keys, (self.chance, 1))


def choose_samples(*, project: Project, selection: Mapping[str, Any], among: Set[int] | None = None) -> Choice:
    """among: the primary keys of the samples that an audit draws from (annotate.batches.audits_make): those that are
    drawn stand for no others of the project."""
    method = selection.get("method", "all")
    if method not in SELECTION_METHODS:
        said = _("selection: method “%(method)s” must be one of %(known)s.")
        known = ", ".join(SELECTION_METHODS)
        raise Invalid("bad_selection", said % {"method": str(method)[:80], "known": known})
    unknown = sorted(set(selection) - (_LIST_FIELDS if method == "list" else _SELECTION_FIELDS))
    if unknown:
        raise Invalid("bad_selection", _("selection: unknown field “%(name)s”.") % {"name": str(unknown[0])[:80]})
    if method == "list":
        return _listed(project, selection)
    conditions = selection.get("filter") or {}
    if not isinstance(conditions, Mapping):
        raise Invalid("bad_filter", _("filter: must be an object of metadata keys and values."))
    if method == "filter" and not conditions:
        raise Invalid("bad_filter", _("Select at least one metadata value to filter by."))
    samples = matching_samples(project, conditions)
    keys = [key for key in samples.order_by("id").values_list("id", flat=True) if among is None or key in among]
    came = Came.AUDIT if among is not None else Came.FILTER if conditions else Came.DRAWN
    stored: dict[str, Any] = {"method": method, "came": came}
    if selection.get("came", stored["came"]) != stored["came"]:
        raise Invalid("bad_came", _("came: allowed only if the samples are given as a list."))
    if conditions:
        stored["filter"] = dict(conditions)
    if method != "random":
        return Choice(keys, stored, 1.0 if came == Came.DRAWN else None)
    n = selection.get("n")
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise Invalid("bad_n", _("Number of samples to draw: must be a whole number, at least 1."))
    if n > len(keys):
        said = _("Can’t draw %(wanted)d samples: only %(matching)d match.")
        raise Invalid("bad_n", said % {"matching": len(keys), "wanted": n})
    seed = selection.get("seed")
    if seed is None:
        seed = new_seed()
    check_seed(seed)
    groups = _in_groups(project, keys)
    drawn = random.Random(seed).sample(groups, max(1, round(n * len(groups) / len(keys))))
    chance = len(drawn) / len(groups) if came == Came.DRAWN else None
    return Choice(sorted(key for group in drawn for key in group), {**stored, "n": n, "seed": seed}, chance)


def _in_groups(project: Project, keys: Sequence[int]) -> list[list[int]]:
    """Samples that vary together, such as the answers to one question, are drawn together: of half a group the chance
    would be known, but not how the rest of it varies."""
    named = groups_of(project)
    if not named:
        return [[key] for key in keys]
    found: dict[str, list[int]] = defaultdict(list)
    for key, name in samples_keyed(keys).order_by("id").values_list("id", "external_id"):
        found[named.get(name, name)].append(key)
    return list(found.values())


def _listed(project: Project, selection: Mapping[str, Any]) -> Choice:
    """Samples named one by one. The batch keeps them; its selection keeps how many they were, and why these."""
    names, note = selection.get("samples"), selection.get("note", "")
    came = selection.get("came", Came.BY_HAND)
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise Invalid("bad_samples", _("samples: must be a list of sample IDs."))
    if not isinstance(note, str) or len(note) > MAX_NOTE or not is_storable(note):
        raise Invalid("bad_note", _("note: must be text of up to %(most)d characters.") % {"most": MAX_NOTE})
    if came not in CHOSEN_BY_PEOPLE:
        said = _("came: must be one of %(known)s.")
        raise Invalid("bad_came", said % {"known": ", ".join(CHOSEN_BY_PEOPLE)})
    check_json(list(names))
    wanted = set(names)
    found = dict(samples_named(project, wanted).order_by("id").values_list("external_id", "id"))
    unknown = sorted(wanted - found.keys())
    if unknown:
        said = _("Sample “%(name)s” not found in this project.")
        if len(unknown) > 1:
            said = _("Sample “%(name)s” and %(more)d more not found in this project.")
        raise Invalid("unknown_sample", said % {"name": unknown[0][:80], "more": len(unknown) - 1})
    stored = {"method": "list", "n": len(found), "came": came} | ({"note": note} if note else {})
    return Choice(list(found.values()), stored, None)


def new_seed() -> int:
    return random.SystemRandom().randint(0, MAX_SEED)


def check_seed(seed: Any) -> None:
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= MAX_SEED:
        raise Invalid("bad_seed", _("seed: must be a whole number from 0 to %(most)d.") % {"most": MAX_SEED})


def add_samples(
    batch: Batch, chosen: Sequence[int], *, chances: Mapping[int, tuple[float, int]] | None = None
) -> list[BatchSample]:
    """Appends them, in this order, without those of the qualification that the batch requires: who has it met them.
    Inside the caller's transaction."""
    chosen = without_rounds(batch.requires, chosen)
    if not chosen:
        raise Invalid("no_samples", _("No samples match this selection."))
    first = next_position(batch.batch_samples.all())
    tags = sample_tags(batch.tag_key, chosen)
    if batch.tag_key and first == 0 and not tags:
        said = _("None of these samples has “%(key)s” in its metadata.")
        raise Invalid("no_tagged_sample", said % {"key": batch.tag_key})
    asked = asked_keys(chosen, batch.criteria.all())
    several = _drawn_for_overlap(batch, [pk for pk in chosen if pk in asked], first)
    chances = chances or {}
    return BatchSample.objects.bulk_create(
        (
            BatchSample(
                batch=batch,
                sample_id=pk,
                position=first + index,
                overlap=batch.overlap if pk in several else 1,
                tag=tags.get(pk, ""),
                probability=probability,
                stratum=stratum,
            )
            for index, pk in enumerate(chosen)
            for probability, stratum in [chances.get(pk, (None, None))]
        ),
        batch_size=5000,
    )


def without_rounds(requires: Qualification | None, chosen: Sequence[int]) -> list[int]:
    """Those of the samples that are neither in the training nor in the test of the qualification."""
    if requires is None:
        return list(chosen)
    rounds = set(BatchSample.objects.filter(batch__qualification=requires).values_list("sample_id", flat=True))
    return [pk for pk in chosen if pk not in rounds]


def _drawn_for_overlap(batch: Batch, asked: Sequence[int], first: int) -> set[int]:
    """Which of the samples that are asked something several people label: the batch's share of them, the same for the
    same seed."""
    if batch.overlap_share >= 1:
        return set(asked)
    return set(random.Random(f"overlap {batch.seed} {first}").sample(asked, round(len(asked) * batch.overlap_share)))
