"""What the sample pages show: sizes, and everything said about one sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotate.core.units import KIND_ORDER, UnitCount, reading_order, unit_anchor, unit_sort_key, units_of
from annotate.labels.counting import counting_labels
from annotate.models import Criterion, Project, Sample, Verdict
from annotate.projects.read import samples_matching
from judges.models import Score
from judges.selectors.kept_versions import OF_KEPT


def rows(project: Project, words: str) -> QuerySet[Sample]:
    """Samples for the list: without their long texts, with the number of their claims and contexts."""
    return (
        samples_matching(project, words)
        .annotate(claim_count=UnitCount("claim"), context_count=UnitCount("context"))
        .only("id", "external_id", "question", "pipeline_version")
    )


@dataclass
class Said:
    """What people and judges said about one unit on one criterion."""

    criterion: str
    labels: list[dict[str, Any]] = field(default_factory=list)
    verdict: Verdict | None = None
    scores: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class UnitView:
    """One unit with its text and everything said about it."""

    unit: str
    kind: str
    text: str
    note: str = ""
    said: list[Said] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        return unit_anchor(self.unit)


def units(sample: Sample, *, with_said: bool) -> dict[str, list[UnitView]]:
    """The sample's units by kind, in the order in which a person goes through them."""
    views: dict[str, list[UnitView]] = {kind: _unit_views(sample, kind) for kind in KIND_ORDER}
    if with_said:
        by_unit = {view.unit: view for listed in views.values() for view in listed}
        for said, unit in _said(sample):
            if unit in by_unit:
                by_unit[unit].said.append(said)
    return views


def _unit_views(sample: Sample, kind: str) -> list[UnitView]:
    texts: Iterable[tuple[str, str]]
    if kind == "context":
        texts = [(context["text"], context.get("id") or "") for context in sample.contexts]
    elif kind == "claim":
        # In the order of the answer, so that they are numbered as everywhere.
        return [UnitView(f"claim:{at}", kind, sample.claims[at]["text"]) for at in reading_order(sample.claims)]
    elif kind in ("fact", "entity"):
        texts = [(text, "") for text in (sample.key_facts if kind == "fact" else sample.entities)]
    else:
        texts = [("", "")]
    return [UnitView(unit, kind, text, note) for unit, (text, note) in zip(units_of(sample, kind), texts, strict=True)]


def _said(sample: Sample) -> list[tuple[Said, str]]:
    """Everything said about the sample, one entry per unit and criterion (or per measure of a judge)."""
    entries: dict[tuple[str, str], Said] = {}
    names: dict[str, str] = dict(
        Criterion.objects.filter(project=sample.project_id, is_current=True).values_list("key", "name")
    )

    def entry(unit: str, key: str) -> Said:
        return entries.setdefault((unit, key), Said(names.get(key, key)))

    for label in counting_labels().filter(sample=sample).select_related("rater", "criterion").order_by("rater__name"):
        shown = {
            "who": label.rater.name,
            "value": label.value,
            "comment": label.comment,
            "evidence": label.evidence,
            "old": not label.criterion.is_current,
            "version": label.criterion.version,
        }
        entry(label.unit, label.criterion.key).labels.append(shown)
    verdicts = Verdict.objects.filter(sample=sample).select_related("criterion", "decided_by")
    for verdict in verdicts.order_by("criterion__version"):
        entry(verdict.unit, verdict.criterion.key).verdict = verdict
    scores = (
        Score.objects.filter(OF_KEPT, sample=sample)
        .select_related("version__judge")
        .order_by("version__judge__name", "id")
    )
    for score in scores:
        shown = {
            "judge": score.version.judge.name,
            "version": score.version.label,
            "value": score.number if score.label is None else score.label,
            "failed": "" if score.status == "ok" else score.get_status_display(),
            "rationale": score.rationale,
        }
        entry(score.unit, score.dimension).scores.append(shown)
    order = sorted(entries, key=lambda key: (unit_sort_key(key[0]), key[1]))
    return [(entries[key], key[0]) for key in order]


def kind_titles() -> dict[str, str]:
    return {
        "claim": _("Claims"),
        "context": _("Contexts"),
        "fact": _("Key facts"),
        "entity": _("Entities"),
        "answer": _("Answer"),
        "sample": _("Sample"),
    }
