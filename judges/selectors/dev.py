"""What people said of samples of the dev half, and of no others: the one door through which the lab sees it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from annotate.core.scales import Value
from annotate.labels.counting import counting_labels, latest_per_rater, undecided_labels
from annotate.models import Criterion, Label, Sample, Verdict
from annotate.models.verdict import VerdictState
from annotate.samples.read import samples_named
from annotate.verdicts.ratings_read import UnitKey
from judges.models import SplitMember

if TYPE_CHECKING:
    from alignment.report import Evidence


@dataclass(frozen=True, slots=True)
class OnDev:
    """Of samples of the dev half: samples by their own id; the labels that count, in the order of unit and rater; who
    could not tell; the verdicts that hold."""

    criterion: Criterion
    samples: dict[str, Sample]
    labels: list[Label]
    undecided: list[Label]
    verdicts: dict[UnitKey, Verdict]

    def evidence(self) -> Evidence:
        """For the figures that compare judges on them; every sample is dev."""
        # Here, not above: the statistics take a second to load, and most processes never count anything.
        from alignment.report import Evidence
        from annotate.verdicts.evidence_read import asked

        return Evidence(
            criterion=asked(self.criterion),
            seed=self.criterion.project.seed,
            units=[(label.sample.external_id, label.unit) for label in self.labels],
            raters=[label.rater.name for label in self.labels],
            values=[cast("Value", label.value) for label in self.labels],
            verdicts={unit: cast("Value", verdict.value) for unit, verdict in self.verdicts.items()},
            is_dev=dict.fromkeys(self.samples, True),
        )


def on_dev(criterion: Criterion, names: Collection[str]) -> OnDev:
    """What people said, on the criterion, of those of the samples that are dev. Nothing is read of any other, whoever
    names it: a sample of the test half, or one that has no side yet."""
    dev = {sample.external_id: sample for sample in samples_named(criterion.project, dev_names(criterion, names))}
    keys = [sample.pk for sample in dev.values()]
    here = {"criterion": criterion, "sample__in": keys}
    labels = counting_labels().filter(**here).select_related("rater", "sample")
    undecided = undecided_labels().filter(**here).select_related("rater", "sample")
    verdicts = Verdict.objects.filter(**here).exclude(state=VerdictState.DISPUTED)
    return OnDev(
        criterion=criterion,
        samples=dev,
        labels=sorted(latest_per_rater(labels), key=_by_unit),
        undecided=sorted(latest_per_rater(undecided), key=_by_unit),
        verdicts={(one.sample.external_id, one.unit): one for one in verdicts.select_related("sample", "decided_by")},
    )


def dev_names(criterion: Criterion, names: Collection[str]) -> list[str]:
    """Those of the samples that are dev, by their own ids, in order. On a criterion that says nowhere what passes there
    are no halves, and nothing that could be looked at later: then all of them are."""
    if not criterion.passes:
        return sorted(names)
    keys = samples_named(criterion.project, names).values("pk")
    members = SplitMember.objects.filter(criterion=criterion, is_dev=True, sample__in=keys)
    return sorted(members.values_list("sample__external_id", flat=True))


def _by_unit(label: Label) -> tuple[str, str, str]:
    """As annotate.verdicts.ratings_read orders them: figures that hang on the order are the same."""
    return label.sample.external_id, label.unit, label.rater.name
