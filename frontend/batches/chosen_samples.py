"""Samples that were selected in the list of samples, or whose units were in the list of units, on their way into a new
batch: the ticked ones by their keys, or all that match by what they match, so that 10,000 travel as one does."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.batches.sample_choice import MAX_NOTE
from annotate.core.blindness import Reader
from annotate.core.errors import Conflict, Invalid
from annotate.core.units import has_unit
from annotate.models import Project
from annotate.models.batch import Came
from annotate.models.sample import UNIT_PATTERN
from annotate.models.view import ViewOf
from annotate.projects.read import voted_criteria
from annotate.samples.read import samples_keyed
from annotate.verdicts.wanted_units_read import Chosen, UnitOn
from frontend.batches.list_filter import ListFilter
from frontend.batches.sample_filter import SampleFilter
from frontend.batches.unit_filter import UnitFilter

# Names in the address and in the form: what was ticked; whether all that match are meant, in which list, what they
# match, which they were.
SAMPLE, UNIT, ALL, OF, MATCHING, SEEN = "sample", "unit", "every", "of", "matching", "seen"
# Sent when a list opens the form of a new batch, whose own fields are not there yet.
OPENING = "opening"
MOST_TICKED = 10_000
FORMS: dict[str, Callable[..., ListFilter]] = {ViewOf.SAMPLES: SampleFilter, ViewOf.UNITS: UnitFilter}


def ticked_unit(sample: int, unit: str, key: str) -> str:
    """A unit on a criterion as a form names it."""
    return f"{sample}/{unit}/{key}"


@dataclass(frozen=True)
class ChosenSamples:
    """of: the list. ticked: how the form names what was ticked; form: what they match, of all that match; one of both.
    seen: which they were when the page was shown. chosen: the samples, and how many of their units, on which criteria:
    none of the list of samples."""

    project: Project
    of: ViewOf
    chosen: Chosen
    ticked: tuple[str, ...] = ()
    form: ListFilter | None = None
    seen: str = ""

    @cached_property
    def names(self) -> list[str]:
        """Their own ids."""
        samples = samples_keyed(self.chosen.samples).filter(project=self.project)
        return list(samples.order_by("id").values_list("external_id", flat=True))

    @property
    def fields(self) -> list[tuple[str, str]]:
        """What the form sends along."""
        if self.form is None:
            return [(SAMPLE if self.of == ViewOf.SAMPLES else UNIT, " ".join(self.ticked))]
        return [(ALL, "on"), (OF, self.of), (MATCHING, self.form.query(sort="")), (SEEN, self.digest)]

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256("\0".join(self.names).encode()).hexdigest()[:16]

    def label(self) -> str:
        count = len(self.names)
        if self.of == ViewOf.UNITS:
            samples = ngettext("%(n)d sample", "%(n)d samples", count) % {"n": count}
            units = self.chosen.units
            said = ngettext(
                "The %(n)d unit you selected, in %(samples)s", "The %(n)d units you selected, in %(samples)s", units
            )
            said %= {"n": units, "samples": samples}
        else:
            said = ngettext("The %(n)d sample you selected", "The %(n)d samples you selected", count) % {"n": count}
        return f"{said} ({self.why()})" if self.form else said

    def why(self) -> str:
        return " · ".join(self.form.words()) if self.form else ""

    def selection(self) -> dict[str, Any]:
        """As create_batch takes it. They were chosen, not drawn: their labels stand for no other sample."""
        came = Came.DISPUTED if self.form and self.form.is_about_doubt() else Came.BY_HAND
        note = self.why()
        short = note if len(note) <= MAX_NOTE else note[: MAX_NOTE - 1] + "…"
        return {"method": "list", "samples": self.names, "came": came, **({"note": short} if short else {})}

    def require_seen(self) -> None:
        """Raises Conflict where other samples match by now than were shown."""
        if self.form is not None and self.digest != self.seen:
            count = len(self.names)
            said = ngettext(
                "Other samples match your filter by now: %(n)d. Check the preview, then create the draft again.",
                "Other samples match your filter by now: %(n)d. Check the preview, then create the draft again.",
                count,
            )
            raise Conflict("samples_changed", said % {"n": count})


def chosen_samples(project: Project, sent: QueryDict, *, reader: Reader) -> ChosenSamples | None:
    """None: nothing was selected there, and all samples are meant. Raises Invalid for what can't be understood."""
    of = ViewOf.UNITS if sent.get(OF) == ViewOf.UNITS or UNIT in sent else ViewOf.SAMPLES
    if sent.get(ALL):
        form = FORMS[of](project, QueryDict(sent.get(MATCHING, "")), reader=reader)
        if not form.is_valid():
            raise Invalid("bad_filter", _("The filter of the selected samples is not valid. Select them again."))
        if of == ViewOf.SAMPLES and not form.given():
            return None
        return ChosenSamples(project, of, form.chosen(), form=form, seen=sent.get(SEEN, ""))
    if not {SAMPLE, UNIT, MATCHING} & sent.keys():
        return None
    return _ticked_units(project, sent) if of == ViewOf.UNITS else _ticked_samples(project, sent)


def _ticked_samples(project: Project, sent: QueryDict) -> ChosenSamples:
    keys = [int(value) for value in _ticked(sent, SAMPLE) if _is_key(value)]
    found = samples_keyed(keys).filter(project=project).order_by("id").values_list("pk", flat=True)
    samples = list(found)
    if not samples:
        raise Invalid("nothing_selected", _("Select samples first."))
    return ChosenSamples(project, ViewOf.SAMPLES, Chosen(0, samples, set()), tuple(map(str, samples)))


def _ticked_units(project: Project, sent: QueryDict) -> ChosenSamples:
    kinds = {criterion.key: criterion.unit for criterion in voted_criteria(project)}
    named = dict.fromkeys(one for value in _ticked(sent, UNIT) if (one := _unit_named(value)))
    samples = {
        sample.pk: sample
        for sample in samples_keyed([sample for sample, *_ in named])
        .filter(project=project)
        .only("answer", "abstained", "claims", "contexts", "key_facts", "entities")
    }
    units = [
        (sample, unit, key)
        for sample, unit, key in named
        if sample in samples and kinds.get(key) == unit.partition(":")[0] and has_unit(samples[sample], unit)
    ]
    if not units:
        raise Invalid("nothing_selected", _("Select units first."))
    chosen = Chosen(len(units), sorted({sample for sample, *_ in units}), {key for *_, key in units})
    return ChosenSamples(project, ViewOf.UNITS, chosen, tuple(ticked_unit(*unit) for unit in units))


def _unit_named(value: str) -> UnitOn | None:
    """None for what `ticked_unit` never says."""
    sample, _slash, rest = value.partition("/")
    unit, _slash, key = rest.partition("/")
    if not (_is_key(sample) and re.fullmatch(UNIT_PATTERN, unit)):
        return None
    return int(sample), unit, key


def _ticked(sent: QueryDict, name: str) -> list[str]:
    """Several may stand in one field: a form has at most 1,000. Raises Invalid for too many."""
    found = [one for value in sent.getlist(name) for one in value.split()]
    if len(found) > MOST_TICKED:
        said = _("At most %(most)s can be selected one by one. Filter the list, then select all that match.")
        raise Invalid("too_many_selected", said % {"most": f"{MOST_TICKED:,}"})
    return found


def _is_key(value: str) -> bool:
    return value.isdecimal() and len(value) < 19
