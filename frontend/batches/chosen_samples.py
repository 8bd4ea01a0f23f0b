"""Samples that were selected in the list of samples, on their way into a new batch: the ticked ones by their keys, or
all that match by what they match, so that 10,000 travel as one does."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.batches.sample_choice import MAX_NOTE
from annotate.core.blindness import Reader
from annotate.core.errors import Conflict, Invalid
from annotate.models import Project, Sample
from annotate.models.batch import Came
from annotate.samples.read import samples_keyed
from frontend.batches.sample_filter import SampleFilter

# Names in the address and in the form: a ticked sample; whether all that match are meant, what they match, which they
# were.
TICKED, ALL, MATCHING, SEEN = "sample", "every", "matching", "seen"
MOST_TICKED = 1000


@dataclass(frozen=True)
class ChosenSamples:
    """form: what they match, of all that match; None: of ticked ones. seen: which they were when the page was shown."""

    project: Project
    ticked: tuple[int, ...]
    form: SampleFilter | None
    seen: str = ""

    @cached_property
    def names(self) -> list[str]:
        """Their own ids."""
        samples = samples_keyed(self.form.samples().keys() if self.form else self.ticked).filter(project=self.project)
        return list(samples.order_by("id").values_list("external_id", flat=True))

    @property
    def fields(self) -> list[tuple[str, str]]:
        """What the form sends along."""
        if self.form is None:
            return [(TICKED, str(key)) for key in self.ticked]
        return [(ALL, "on"), (MATCHING, self.form.query(sort="")), (SEEN, self.digest)]

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256("\0".join(self.names).encode()).hexdigest()[:16]

    def label(self) -> str:
        count = len(self.names)
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
    if sent.get(ALL):
        form = SampleFilter(project, QueryDict(sent.get(MATCHING, "")), reader=reader)
        if not form.is_valid():
            raise Invalid("bad_filter", _("The filter of the selected samples is not valid. Select them again."))
        return ChosenSamples(project, (), form, sent.get(SEEN, "")) if form.given() else None
    if TICKED not in sent and MATCHING not in sent:
        return None
    keys = [value for value in sent.getlist(TICKED) if value.isdecimal() and len(value) < 19]
    ticked = Sample.objects.filter(project=project, pk__in=keys[:MOST_TICKED]).order_by("id")
    found = tuple(ticked.values_list("pk", flat=True))
    if not found:
        raise Invalid("nothing_selected", _("Select samples first."))
    return ChosenSamples(project, found, None)
