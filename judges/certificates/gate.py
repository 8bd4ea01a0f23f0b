"""The gate: may this judge still be relied on? For pipelines, which want yes or no and one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotate.core.errors import Invalid
from annotate.core.text_tables import UNDEFINED, figure, markdown_table
from annotate.models import Criterion, Project
from annotate.projects.lookup import criterion_named
from judges.certificates.drift_read import Drift, drift_as_dict, drift_of, drift_sentence
from judges.certificates.write import certificate_as_dict
from judges.core.versions_read import current_version
from judges.models import Certificate, Judge, Look

# Below, an interval is itself too uncertain to hold a bar against.
MIN_TEST_SAMPLES = 20


@dataclass(frozen=True, slots=True)
class Standing:
    """What a judge was certified for, and whether that still holds: `why` says why it doesn't (a code and a sentence),
    or is None. drift: it is watched as long as judge and criterion are the certified ones."""

    criterion: Criterion
    judge: Judge
    certificate: Certificate | None
    drift: Drift | None
    why: tuple[str, str] | None

    @property
    def holding(self) -> Certificate:
        """The certificate, where nothing speaks against it."""
        assert self.certificate is not None
        return self.certificate


@dataclass(frozen=True, slots=True)
class Gate:
    """`code`: "passed", or why not in a word. `sentence` says it to people."""

    criterion: str
    judge: str
    min_kappa: float
    code: str
    sentence: str
    certificate: Certificate | None
    drift: Drift | None

    @property
    def passed(self) -> bool:
        return self.code == "passed"


def gate(
    *, project: Project, criterion_key: str, judge_name: str, min_kappa: float, dimension: str | None = None
) -> Gate:
    """Holds the lower bound of the certified kappa on test against the bar.

    Fails as well when there is no certificate, when judge or criterion are no longer what was certified, when the judge
    is shown to err more often than certified, and when the certificate rests on too few samples. Raises Invalid as
    `standing`, and for a bar outside -1..1.
    """
    found = standing(project=project, criterion_key=criterion_key, judge_name=judge_name, dimension=dimension)
    return held_to(found, min_kappa)


def held_to(found: Standing, min_kappa: float) -> Gate:
    """The gate, for what is known of the judge already."""
    if not -1 <= min_kappa <= 1:
        raise Invalid("bad_min_kappa", "min_kappa: a number from -1 to 1.")
    why = found.why or _against(found.holding, min_kappa)
    return Gate(found.criterion.key, found.judge.name, min_kappa, *why, found.certificate, found.drift)


def standing(*, project: Project, criterion_key: str, judge_name: str, dimension: str | None = None) -> Standing:
    """The judge's latest certificate for the criterion, of any version of both, so that what changed is told from what
    was never certified.

    Raises Invalid for an unknown criterion or judge, and for a judge that was certified for several things of which
    none is named.
    """
    criterion = criterion_named(project, criterion_key)
    judge = Judge.objects.filter(project=project, name=judge_name).first()
    if judge is None:
        raise Invalid("unknown_judge", f"“{project.slug}” has no judge “{judge_name}”.")
    certificate = _latest(criterion, judge, dimension)
    if certificate is None:
        what = f"“{judge.name}”" if dimension is None else f"“{dimension}” of “{judge.name}”"
        sentence = f"{what} has no certificate for “{criterion.key}”."
        return Standing(criterion, judge, None, None, ("no_certificate", sentence))
    changed = _changed(criterion, judge, certificate)
    if changed is not None:
        return Standing(criterion, judge, certificate, None, changed)
    later = _later_look(certificate)
    if later is not None:
        sentence = f"Look {later.number} at test came after certificate {certificate.number}: certify that one."
        return Standing(criterion, judge, certificate, None, ("looked_since", sentence))
    drift = drift_of(certificate)
    if drift.alarm is None:
        return Standing(criterion, judge, certificate, drift, None)
    sentence = f"Certificate {certificate.number} no longer holds. {drift_sentence(drift)}"
    return Standing(criterion, judge, certificate, drift, ("drift", sentence))


def _later_look(certificate: Certificate) -> Look | None:
    """The judge's latest look at the same thing, if it isn't the one that was certified: it has shown more."""
    look = certificate.look
    looks = Look.objects.filter(criterion=look.criterion, judge=look.judge, dimension=look.dimension)
    return looks.filter(number__gt=look.number).defer("samples").first()


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
        "drift": None if found.drift is None else drift_as_dict(found.drift),
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
    parts = [head, markdown_table(names, [row])]
    if found.drift is not None and found.code != "drift":
        parts.append(drift_sentence(found.drift))
    return "\n\n".join(parts)


def _latest(criterion: Criterion, judge: Judge, dimension: str | None) -> Certificate | None:
    found = Certificate.objects.filter(
        look__criterion__project_id=criterion.project_id, look__criterion__key=criterion.key, look__judge=judge
    )
    if dimension is not None:
        found = found.filter(look__dimension=dimension)
    names = sorted(found.order_by().values_list("look__dimension", flat=True).distinct())
    if len(names) > 1:
        raise Invalid(
            "unclear_dimension", f"“{judge.name}” was certified for {', '.join(names)}: say which one is meant."
        )
    parts = ("look__criterion__project", "look__judge", "look__version", "created_by")
    # Which samples a look rests on is long, and seldom asked for.
    return found.select_related(*parts).defer("look__samples").first()


def _changed(criterion: Criterion, judge: Judge, certificate: Certificate) -> tuple[str, str] | None:
    look, named = certificate.look, f"Certificate {certificate.number}"
    if look.criterion_id != criterion.pk:
        certified = f"{named} is for version {look.criterion.version} of “{criterion.key}”"
        return "criterion_changed", f"{certified}, which is now at version {criterion.version}."
    current = current_version(judge)
    if current is None or current.content_hash != certificate.judge_hash:
        now = "without a version in use" if current is None else f"“{current.label}”"
        if current is not None and current.label == look.version.label:
            now = f"{now}, with another configuration"
        certified = f"{named} is for version “{look.version.label}” of “{judge.name}”"
        return "judge_changed", f"{certified}, which is now {now}."
    return None


def _against(certificate: Certificate, min_kappa: float) -> tuple[str, str]:
    named, kappa = f"Certificate {certificate.number}", certificate.look.result["kappa"]
    if kappa["low"] is None or kappa["clusters"] < MIN_TEST_SAMPLES:
        needed = f"at least {MIN_TEST_SAMPLES}, with some variety, are needed"
        return "too_few_labels", f"{named} rests on {kappa['clusters']} labelled test samples; {needed}."
    low = figure(kappa["low"])
    if kappa["low"] < min_kappa:
        return "below_bar", f"The lower bound of kappa on test is {low}, under the bar of {min_kappa:g} ({named})."
    return "passed", f"The lower bound of kappa on test is {low}, not under the bar of {min_kappa:g} ({named})."
