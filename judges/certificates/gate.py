"""The gate: may the judge's verdicts be used? For pipelines, which want yes or no and one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.text_tables import figure, interval, markdown_table
from annotate.models import Project
from judges.certificates.decision_read import Standing, decision_sentence, standing_of
from judges.certificates.drift_read import Drift, drift_sentence
from judges.models import Certificate, Measure


@dataclass(frozen=True, slots=True)
class Gate:
    """`code`: "passed", or why not in a word. `sentence` says it to people. min_kappa: None without a bar of its own.
    decision: the certificate's; None where none holds."""

    criterion: str
    judge: str
    min_kappa: float | None
    code: str
    sentence: str
    certificate: Certificate | None
    decision: dict[str, Any] | None
    drift: Drift | None

    @property
    def passed(self) -> bool:
        return self.code == "passed"


def gate(
    *,
    project: Project,
    criterion_key: str,
    judge_name: str,
    min_kappa: float | None = None,
    dimension: str | None = None,
) -> Gate:
    """By the decision in the judge's latest certificate for the criterion, as long as it holds.

    min_kappa: a bar above the declared one, for the lower bound of kappa on test. Raises Invalid as `standing_of`, for
    a bar outside -1..1, and for one where something else than kappa was declared.
    """
    found = standing_of(project=project, criterion_key=criterion_key, judge_name=judge_name, dimension=dimension)
    return held_to(found, min_kappa)


def held_to(found: Standing, min_kappa: float | None) -> Gate:
    """The gate, for what is known of the judge already."""
    if min_kappa is not None and not -1 <= min_kappa <= 1:
        raise Invalid("bad_min_kappa", _("min_kappa: must be a number from -1 to 1."))
    if min_kappa is not None and found.decision is not None:
        _require_kappa(found)
    code, sentence = found.refusal or _passed(found, min_kappa)
    names = found.criterion.key, found.judge.name
    return Gate(*names, min_kappa, code, sentence, found.certificate, found.decision, found.drift)


def gate_markdown(found: Gate) -> str:
    """For a comment on a pull request."""
    head = f"**{'Passed' if found.passed else 'Failed'}:** {found.sentence}"
    if found.certificate is None or found.decision is None:
        return head
    look = found.certificate.look
    endpoint, estimate = look.result["endpoint"], look.result["figure"]
    row = [
        look.judge.name,
        look.version.label,
        f"{look.criterion.key} v{look.criterion.version}",
        interval(estimate),
        f"{look.level:.2%}",
        estimate["n"],
        estimate["clusters"],
        f"{_bar(endpoint, found.min_kappa):g}",
    ]
    measure = f"{Measure(endpoint['name']).label} on test"
    names = ["judge", "version", "criterion", measure, "level", "units", "groups", "bar"]
    parts = [head, markdown_table(names, [row])]
    if found.drift is not None:
        parts.append(drift_sentence(found.drift))
    return "\n\n".join(parts)


def _bar(endpoint: dict[str, Any], min_kappa: float | None) -> float:
    declared: float = endpoint["bar"]
    return declared if min_kappa is None else max(declared, min_kappa)


def _require_kappa(found: Standing) -> None:
    assert found.certificate is not None
    endpoint = found.certificate.look.result["endpoint"]
    if endpoint["name"] != Measure.KAPPA:
        said = _(
            "min_kappa: of “%(criterion)s” a difference in kappa (judge − person) of at least %(bar)s was declared, "
            "and certificate %(n)s is held to it. Leave min_kappa out."
        )
        given = {"criterion": found.criterion.key, "bar": f"{endpoint['bar']:g}", "n": found.certificate.number}
        raise Invalid("bad_min_kappa", said % given)


def _passed(found: Standing, min_kappa: float | None) -> tuple[str, str]:
    """Of a judge whose verdicts may be used by what was declared."""
    assert found.certificate is not None
    assert found.decision is not None
    low = found.certificate.look.result["figure"]["low"]
    given = {"n": found.certificate.number}
    if min_kappa is not None and low < min_kappa:
        said = _("The lower bound of kappa on test is %(low)s, under the bar of %(bar)s (certificate %(n)s).")
        return "below_bar", said % {**given, "low": figure(low), "bar": f"{min_kappa:g}"}
    return "passed", decision_sentence(found.decision) + " " + _("(Certificate %(n)s.)") % given
