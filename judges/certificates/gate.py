"""The gate: is the judge's certificate still valid, and its kappa high enough? For pipelines, which want yes or no and
one sentence."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.core.errors import Invalid
from annotate.core.text_tables import UNDEFINED, figure, markdown_table
from annotate.models import Project
from judges.certificates.drift_read import Drift, drift_sentence
from judges.certificates.validity import Validity, certificate_validity
from judges.models import Certificate

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
    drift: Drift | None

    @property
    def passed(self) -> bool:
        return self.code == "passed"


def gate(
    *, project: Project, criterion_key: str, judge_name: str, min_kappa: float, dimension: str | None = None
) -> Gate:
    """Holds the lower bound of the certified kappa on test against the bar.

    Fails as well when there is no certificate, when judge or criterion are no longer what was certified, when its look
    is out of date, when the judge is shown to err more often than certified, or may, and when the certificate rests on
    too few samples. Raises Invalid as `certificate_validity`, and for a bar outside -1..1.
    """
    found = certificate_validity(
        project=project, criterion_key=criterion_key, judge_name=judge_name, dimension=dimension
    )
    return held_to(found, min_kappa)


def held_to(found: Validity, min_kappa: float) -> Gate:
    """The gate, for what is known of the judge already."""
    if not -1 <= min_kappa <= 1:
        raise Invalid("bad_min_kappa", "min_kappa: a number from -1 to 1.")
    why = found.why or _against(found.valid, min_kappa)
    return Gate(found.criterion.key, found.judge.name, min_kappa, *why, found.certificate, found.drift)


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
    if found.drift is not None and found.code not in ("drift", "drift_or_streak"):
        parts.append(drift_sentence(found.drift))
    return "\n\n".join(parts)


def _against(certificate: Certificate, min_kappa: float) -> tuple[str, str]:
    named, kappa = f"Certificate {certificate.number}", certificate.look.result["kappa"]
    if kappa["clusters"] < MIN_TEST_SAMPLES:
        needed = f"at least {MIN_TEST_SAMPLES} are needed"
        return "too_few_labels", f"{named} rests on {kappa['clusters']} labelled test samples; {needed}."
    if kappa["low"] is None:
        return "too_few_labels", f"{named} has no interval of kappa: too few test samples hold the rarer verdict."
    low = figure(kappa["low"])
    if kappa["low"] < min_kappa:
        return "below_bar", f"The lower bound of kappa on test is {low}, under the bar of {min_kappa:g} ({named})."
    return "passed", f"The lower bound of kappa on test is {low}, not under the bar of {min_kappa:g} ({named})."
