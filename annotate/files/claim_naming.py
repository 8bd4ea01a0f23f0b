"""Label rows that bring the words of the claims they are about (`unit_text`).

The claims of such a sample were cut by us, so the file knows better; unless a reviewer has edited them, or something
rests on them already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from django.utils.module_loading import import_string

from annotate.files.import_engine import claim_users
from annotate.files.lookup import KnownSample, no_such_unit
from annotate.files.problems import RowError
from annotate.models import Label, Sample, Task
from annotate.models.sample import AbstainedSource, ClaimsSource
from annotate.samples.claim_splitting import named_claims
from annotate.samples.claims_read import claims_at_work
from annotate.samples.read import of_samples, samples_keyed

Refuse = Callable[[RowError, int | None, int | None], None]
_BATCH = 500
_OURS = (ClaimsSource.SPLIT, ClaimsSource.LABELS)


def with_labels_or_tasks(sample_ids: set[int]) -> set[int]:
    labelled = of_samples(Label.objects.filter(unit__startswith="claim:"), sample_ids)
    sent_out = of_samples(Task.objects.all(), sample_ids)
    return {*labelled.values_list("sample_id", flat=True), *sent_out.values_list("sample_id", flat=True)}


@dataclass
class _Named:
    """A sample whose claims the file may name. rows: row -> line and the claim that it is about, to be
    checked when all are named."""

    first_row: int
    first_line: int | None
    external_id: str
    count: int
    texts: dict[int, str] = field(default_factory=dict)
    rows: dict[int, tuple[int | None, int]] = field(default_factory=dict)


class ClaimNaming:
    def __init__(self) -> None:
        self._open: dict[int, _Named] = {}
        self._fixed: set[int] = set()

    def prepare(self, samples: Iterable[tuple[str, KnownSample, int, int | None]]) -> None:
        """Decides for (external id, sample, row, line) with rows about claims whether the file may name them.

        Has to be asked before the first of these rows is written.
        """
        new = {
            sample.pk: (external_id, sample, row, line)
            for external_id, sample, row, line in samples
            if sample.pk not in self._open and sample.pk not in self._fixed
        }
        candidates = {pk for pk, (_, sample, _, _) in new.items() if sample.answers and sample.claims_source in _OURS}
        in_use = set().union(*(import_string(path)(candidates) for path in claim_users)) if candidates else set()
        for pk, (external_id, sample, row, line) in new.items():
            if pk in candidates and pk not in in_use:
                self._open[pk] = _Named(row, line, external_id, sample.counts["claim"])
            else:
                self._fixed.add(pk)

    def may_name(self, sample: KnownSample) -> bool:
        return sample.pk in self._open

    def note(self, sample: KnownSample, index: int, text: str | None, row: int, line: int | None) -> None:
        """A row about a claim of a sample whose claims may be named. Raises RowError if rows name it differently."""
        named = self._open[sample.pk]
        if text is not None and named.texts.setdefault(index, text) != text:
            raise RowError(
                "unit_text",
                f"Another row calls claim:{index} of this sample differently.",
                field="unit_text",
                excerpt=text,
            )
        named.rows[row] = line, index

    def finish(self, refuse: Refuse) -> dict[int, list[str]]:
        """Sample -> its claims as named. Refuses rows about claims that there turn out not to be."""
        found: dict[int, list[str]] = {}
        for pk, named in self._open.items():
            if named.texts and len(named.texts) != max(named.texts) + 1:
                gap = next(index for index in range(len(named.texts)) if index not in named.texts)
                message = (
                    f"The rows name claim:{max(named.texts)} of sample “{named.external_id[:80]}” but not claim:{gap}. "
                    "Name every claim up to the last, or give the claims in the samples file."
                )
                refuse(RowError("claim_gap", message, field="unit_text"), named.first_row, named.first_line)
                continue
            count = len(named.texts) or named.count
            for row, (line, index) in named.rows.items():
                if index >= count:
                    refuse(no_such_unit(f"claim:{index}", "claim", count, "unit"), row, line)
            if named.texts:
                found[pk] = [named.texts[index] for index in range(len(named.texts))]
        return found


def replace_claims(named: dict[int, list[str]]) -> None:
    """Stores the claims of each sample as the file names them, with their spans."""
    pks = list(named)
    for begin in range(0, len(pks), _BATCH):
        samples = list(Sample.objects.filter(pk__in=pks[begin : begin + _BATCH]).only("answer", "claims_revision"))
        for sample in samples:
            sample.claims = named_claims(named[sample.pk], sample.answer or "")
            sample.claims_source = ClaimsSource.LABELS
            sample.claims_revision += 1
        Sample.objects.bulk_update(samples, ["claims", "claims_source", "claims_revision"])


def take_as_answers(samples: Collection[int]) -> tuple[int, int]:
    """Of those with labels of their claims in a file, the ones that only our rule took for abstentions: who labelled
    their claims took them for answers. Returns how many that are, and how many are left as they are, since a batch asks
    people about claims, and they are without any there."""
    proposed = samples_keyed(samples).filter(abstained=True, abstained_source=AbstainedSource.RULE)
    locked = set(proposed.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    left = claims_at_work(locked)
    taken = samples_keyed(locked - left).update(abstained=False, abstained_source=AbstainedSource.LABELS)
    return taken, len(left)
