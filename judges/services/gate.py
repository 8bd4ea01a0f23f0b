"""The gate: may this judge still be relied on? For pipelines, which want yes or no and one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotate.errors import Invalid
from annotate.models import Criterion, Project
from annotate.selectors.lookup import criterion_named
from annotate.text_tables import UNDEFINED, figure, markdown_table
from judges.models import Certificate, Judge, JudgeVersion

# Below, an interval is itself too uncertain to hold a bar against.
MIN_TEST_SAMPLES = 20


@dataclass(frozen=True, slots=True)
class Gate:
    """`code`: "passed", or why not in a word. `sentence` says it to people."""

    criterion: str
    judge: str
    min_kappa: float
    code: str
    sentence: str
    certificate: Certificate | None

    @property
    def passed(self) -> bool:
        return self.code == "passed"


def gate(*, project: Project, criterion_key: str, judge_name: str, min_kappa: float) -> Gate:
    """Holds the lower bound of the certified kappa on test against the bar.

    Fails as well when there is no certificate, when judge or criterion are no longer what was certified, and when the
    certificate rests on too few samples. Raises Invalid for an unknown criterion or judge, and a bar outside -1..1.
    """
    if not -1 <= min_kappa <= 1:
        raise Invalid("bad_min_kappa", "min_kappa: a number from -1 to 1.")
    criterion = criterion_named(project, criterion_key)
    judge = Judge.objects.filter(project=project, name=judge_name).first()
    if judge is None:
        raise Invalid("unknown_judge", f"“{project.slug}” has no judge “{judge_name}”.")
    certificate = _latest(criterion, judge)
    code, sentence = _decision(criterion, judge, certificate, min_kappa)
    return Gate(criterion.key, judge.name, min_kappa, code, sentence, certificate)


def gate_as_dict(found: Gate) -> dict[str, Any]:
    certificate = found.certificate
    return {
        "passed": found.passed,
        "code": found.code,
        "reason": found.sentence,
        "criterion": found.criterion,
        "judge": found.judge,
        "min_kappa": found.min_kappa,
        "certificate": None if certificate is None else certificate_as_dict(certificate),
    }


def certificate_as_dict(certificate: Certificate) -> dict[str, Any]:
    look = certificate.look
    return {
        "number": certificate.number,
        "criterion": look.criterion.key,
        "criterion_version": look.criterion.version,
        "judge": look.judge.name,
        "judge_version": look.version.label,
        "judge_hash": certificate.judge_hash,
        "dimension": look.dimension,
        "label_fingerprint": look.fingerprint,
        "look": look.number,
        "level": look.level,
        "threshold": look.result["threshold"],
        "higher_is_better": look.judge.higher_is_better,
        **{name: look.result[name] for name in ("kappa", "tpr", "tnr", "confusion")},
        "created_at": certificate.created_at.isoformat(),
        "created_by": certificate.created_by.username if certificate.created_by else None,
    }


def gate_markdown(found: Gate) -> str:
    """For a comment on a pull request."""
    head = f"**{'Passed' if found.passed else 'Failed'}:** {found.sentence}"
    if found.certificate is None:
        return head
    look = found.certificate.look
    kappa = look.result["kappa"]
    bounds = UNDEFINED if kappa["low"] is None else f"{figure(kappa['low'])} to {figure(kappa['high'])}"
    row = [
        look.judge.name,
        look.version.label,
        f"{look.criterion.key} v{look.criterion.version}",
        figure(kappa["value"]),
        bounds,
        f"{look.level:.2%}",
        kappa["n"],
        kappa["clusters"],
        f"{found.min_kappa:g}",
    ]
    names = ["judge", "version", "criterion", "kappa on test", "interval", "level", "units", "samples", "bar"]
    return f"{head}\n\n{markdown_table(names, [row])}"


def _latest(criterion: Criterion, judge: Judge) -> Certificate | None:
    """Of any version of the criterion, so that a changed criterion is told from one that was never certified."""
    return (
        Certificate.objects.filter(
            look__criterion__project_id=criterion.project_id, look__criterion__key=criterion.key, look__judge=judge
        )
        .select_related("look__criterion", "look__judge", "look__version", "created_by")
        .first()
    )


def _decision(criterion: Criterion, judge: Judge, certificate: Certificate | None, min_kappa: float) -> tuple[str, str]:
    if certificate is None:
        return "no_certificate", f"“{judge.name}” has no certificate for “{criterion.key}”."
    look, named = certificate.look, f"Certificate {certificate.number}"
    if look.criterion_id != criterion.pk:
        certified = f"{named} is for version {look.criterion.version} of “{criterion.key}”"
        return "criterion_changed", f"{certified}, which is now at version {criterion.version}."
    current = JudgeVersion.objects.filter(judge=judge).order_by("-number").first()
    if current is None or current.content_hash != certificate.judge_hash:
        now = "without a version" if current is None else f"“{current.label}”"
        certified = f"{named} is for version “{look.version.label}” of “{judge.name}”"
        return "judge_changed", f"{certified}, which is now {now}."
    kappa = look.result["kappa"]
    if kappa["low"] is None or kappa["clusters"] < MIN_TEST_SAMPLES:
        needed = f"at least {MIN_TEST_SAMPLES}, with some variety, are needed"
        return "too_few_labels", f"{named} rests on {kappa['clusters']} labelled test samples; {needed}."
    low = figure(kappa["low"])
    if kappa["low"] < min_kappa:
        return "below_bar", f"The lower bound of kappa on test is {low}, under the bar of {min_kappa:g} ({named})."
    return "passed", f"The lower bound of kappa on test is {low}, not under the bar of {min_kappa:g} ({named})."
