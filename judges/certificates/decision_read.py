"""What a judge may do on a criterion: the decision in its latest certificate there, with its conditions, for as long as
they hold. Gate, `apply`, triage, pages and API ask this and nothing else; and how looks are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Max, QuerySet
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from alignment.base.estimate import Remark, remark
from annotate.batches.draws_read import chances_declared, declared_draw, elsewhere
from annotate.core.blindness import Reader, annotator_numbers, may_know_names
from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import first_or_raise
from annotate.core.text_tables import in_words
from annotate.models import Criterion, DeclaredDraw, Project, Rater
from annotate.models.batch import HowDeclared
from annotate.projects.read import criterion_named
from judges.certificates.drift_read import Drift, drift_of, drift_sentence
from judges.core.scores_read import current_version
from judges.models import PROMISE, CascadeLook, Certificate, Judge, Look

# As alignment.judging.decision, which takes a second to load. A test holds them against each other.
FEWEST_GROUPS = 30
PERMITTING = ("alone_in_region", "with_a_person")
_DECLARED = {f"declared_{how}" for how in HowDeclared.values}


@dataclass(frozen=True, slots=True)
class Standing:
    """A judge's latest certificate for a criterion, and why it has ended (a code and a sentence); None while all that
    its decision hangs on is as it was. drift: it is watched as long as judge, criterion and labels are the certified
    ones."""

    criterion: Criterion
    judge: Judge
    certificate: Certificate | None
    drift: Drift | None
    ended: tuple[str, str] | None

    @property
    def decision(self) -> dict[str, Any] | None:
        """That of the certificate; None where none holds."""
        return None if self.certificate is None or self.ended is not None else self.certificate.look.decision

    @property
    def refusal(self) -> tuple[str, str] | None:
        """Why the judge's verdicts may not be used (a code and a sentence); None where they may."""
        if self.decision is None or self.decision["verdict"] in PERMITTING:
            return self.ended
        return self.decision["verdict"], decision_sentence(self.decision)

    @property
    def alone_in(self) -> Look | None:
        """The look in whose region the judge may decide alone; None where it may decide nothing alone."""
        if self.certificate is None or self.ended is not None or not has_region(self.certificate.look):
            return None
        return self.certificate.look


def standing_of(*, project: Project, criterion_key: str, judge_name: str, dimension: str | None = None) -> Standing:
    """By the judge's latest certificate for the criterion, of any version of both, so that what changed is told from
    what was never certified.

    Raises Invalid for an unknown criterion or judge, and for a judge that was certified for several things of which
    none is named.
    """
    criterion = criterion_named(project, criterion_key)
    named = {"project": project.slug, "judge": judge_name}
    unknown = Invalid("unknown_judge", _("Judge “%(judge)s” not found in “%(project)s”.") % named)
    judge = first_or_raise(Judge.objects.filter(project=project, name=judge_name), unknown)
    certificate = _latest(criterion, judge, dimension)
    if certificate is None:
        return Standing(criterion, judge, None, None, ("no_certificate", _never_certified(criterion, judge, dimension)))
    ended = (
        _changed(criterion, judge, certificate)
        or _out_of_date(certificate)
        or _looked_since(certificate)
        or _taken_back(criterion, certificate)
    )
    drift = drift_of(certificate) if ended is None else None
    return Standing(criterion, judge, certificate, drift, ended or _drifted(certificate, drift))


def permitting_certificate(
    *, project: Project, criterion_key: str, judge_name: str, dimension: str | None = None
) -> Certificate:
    """The certificate by which the judge's verdicts may be used. Raises Conflict, in the gate's words, where they may
    not be, and Invalid as `standing_of`."""
    found = standing_of(project=project, criterion_key=criterion_key, judge_name=judge_name, dimension=dimension)
    if found.refusal is not None:
        raise Conflict(*found.refusal)
    assert found.certificate is not None
    return found.certificate


def standings_of(judge: Judge) -> list[Standing]:
    """One for each thing that the judge was certified for, on criteria of today."""
    certified = Certificate.objects.filter(look__judge=judge, look__criterion__project=judge.project_id).order_by()
    named = certified.values_list("look__criterion__key", "look__dimension").distinct()
    current = set(Criterion.objects.filter(project=judge.project_id, is_current=True).values_list("key", flat=True))
    return [
        standing_of(project=judge.project, criterion_key=key, judge_name=judge.name, dimension=dimension)
        for key, dimension in sorted(named)
        if key in current
    ]


def ended_of(certificate: Certificate) -> tuple[str, str] | None:
    """Why the certificate has ended, as `Standing` has it, also where a later one took its place."""
    look = certificate.look
    found = standing_of(
        project=look.criterion.project,
        criterion_key=look.criterion.key,
        judge_name=look.judge.name,
        dimension=look.dimension,
    )
    assert found.certificate is not None
    if found.certificate == certificate:
        return found.ended
    said = _("Certificate %(later)s took the place of certificate %(n)s.")
    return "replaced", said % {"later": found.certificate.number, "n": certificate.number}


@dataclass(frozen=True, slots=True)
class Ruling:
    """What rules a judge version once it was looked at: the decision of its latest look, with what the look keeps of
    it. certificate: that of the look, None where it has none; ended: why it has ended, None while it holds, with its
    code and what the watch for drift showed."""

    decision: dict[str, Any]
    look: int
    created_at: datetime
    level: float
    endpoint: dict[str, Any]
    figure: dict[str, Any]
    region: dict[str, Any]
    kappa: dict[str, Any]
    tpr: dict[str, Any]
    tnr: dict[str, Any]
    certificate: int | None
    ended: str | None = None
    ended_code: str | None = None
    drift: Drift | None = None


# By criterion's primary key, judge, version and dimension.
Looked = dict[tuple[int, str, str, str], Ruling]
_KEPT = ("decision", "endpoint", "figure", "region", "kappa", "tpr", "tnr")


def looked_decisions(project: Project) -> Looked:
    """Of each judge version the latest look at each criterion of today; none that is out of date."""
    named = ("criterion", "judge__name", "version__label", "dimension")
    kept = (f"result__{name}" for name in _KEPT)
    looks = Look.objects.filter(project=project, criterion__is_current=True, promise=PROMISE).order_by("number")
    found: Looked = {}
    keys: dict[int, str] = {}
    for row in looks.values_list(
        *named, "criterion__key", "number", "created_at", "level", "certificate__number", *kept
    ):
        criterion, judge, version, dimension, key, number, at, level, certificate, *parts = row
        given = dict(zip(_KEPT, parts, strict=True))
        found[criterion, judge, version, dimension] = Ruling(
            look=number, created_at=at, level=level, certificate=certificate, **given
        )
        keys[criterion] = key
    return {at: one if one.certificate is None else _held(project, keys[at[0]], at, one) for at, one in found.items()}


def rulings_on(criterion: Criterion) -> list[dict[str, Any]]:
    """What rules each judge version on the criterion that was looked at, as plain JSON."""
    return [
        {
            "judge": judge,
            "version": version,
            "dimension": dimension,
            "look": one.look,
            "decision": one.decision,
            "certificate": one.certificate,
            "ended": one.ended,
        }
        for (key, judge, version, dimension), one in looked_decisions(criterion.project).items()
        if key == criterion.pk
    ]


def _held(project: Project, criterion: str, key: tuple[int, str, str, str], ruling: Ruling) -> Ruling:
    """With why the certificate of its look has ended, unless a later one took its place."""
    held = standing_of(project=project, criterion_key=criterion, judge_name=key[1], dimension=key[3])
    if held.certificate is None or held.certificate.look.number != ruling.look or held.ended is None:
        return ruling
    code, sentence = held.ended
    return replace(ruling, ended=sentence, ended_code=code, drift=held.drift)


def has_region(look: Look) -> bool:
    """Whether by the look's decision the judge decides alone somewhere."""
    return look.decision is not None and look.decision["verdict"] == "alone_in_region"


def verdict_named(decision: Mapping[str, Any]) -> Remark:
    """What the judge may do, in a word."""
    return remark("may_do", verdict=decision["verdict"])


def labels_missing(decision: Mapping[str, Any]) -> Remark | None:
    """How many labels settle it, and in which time; None where none do, or that is not known."""
    more, hours = decision["more"], decision["hours"]
    if more is None:
        return None
    return remark("labels_missing", n=more) if hours is None else remark("labels_missing_in", n=more, hours=hours)


def decision_sentence(decision: Mapping[str, Any]) -> str:
    """What the judge may do, why, and what is missing, for people."""
    verdict, missing = (in_words(one) for one in (verdict_named(decision), labels_missing(decision)))
    sentences = [_("%(why)s.") % {"why": capfirst(one)} for one in (verdict, missing) if one]
    return " ".join([sentences[0], in_words(decision["reason"]), *sentences[1:]])


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the things that a decision rests on, as it was when it was made: whether it is enough; None where nothing
    is asked of it."""

    name: str
    holds: bool | None


def conditions_of(look: Look) -> list[Condition]:
    """Of the look's decision; none where the look is out of date. Their figures stand in its result."""
    if look.is_out_of_date:
        return []
    endpoint, figure, coverage, drawn = (look.result[name] for name in ("endpoint", "figure", "coverage", "drawn"))
    is_of_few = look.result["decision"]["reason"]["code"] == "endpoint_of_few_alike"
    low, scored = figure["low"], coverage["value"]
    return [
        Condition("endpoint", low is not None and low >= endpoint["bar"]),
        Condition("groups", figure["clusters"] >= FEWEST_GROUPS and not is_of_few),
        Condition("coverage", scored is not None and scored >= endpoint["coverage"]),
        Condition("drawn", drawn["units"] > 0),
        Condition("chosen", None),
        Condition("people", None),
    ]


def people_behind(look: Look, *, reader: Reader) -> list[str]:
    """Whose labels the look rests on: by name, or by number for readers who may not know names. None are known where
    the look is out of date."""
    if look.is_out_of_date:
        return []
    raters = Rater.objects.filter(project=look.project_id, pk__in=look.result["people"]).order_by("pk")
    names = list(raters.values_list("name", flat=True))
    if may_know_names(reader, look.project):
        return sorted(names)
    called = annotator_numbers(look.project)
    return [called[name] for name in names]


def looks_at(criterion: Criterion) -> QuerySet[Look]:
    """Every look at the criterion, of any version and with any judge, the latest first."""
    return Look.objects.filter(project=criterion.project_id, criterion_key=criterion.key)


def cascade_looks_at(criterion: Criterion) -> QuerySet[CascadeLook]:
    """Every look at the criterion with two judges, of any version, the latest first."""
    return CascadeLook.objects.filter(project=criterion.project_id, criterion_key=criterion.key)


def next_look(criterion: Criterion) -> int:
    """The number that the next look at the criterion would have, with whichever judge or two judges."""
    of_each = (looks_at(criterion), cascade_looks_at(criterion))
    return max(looks.aggregate(last=Max("number"))["last"] or 0 for looks in of_each) + 1


def later_look(look: Look) -> Look | None:
    """The latest look with the same judge at the same thing, where it came after this one."""
    looks = looks_at(look.criterion).filter(judge=look.judge, dimension=look.dimension)
    return looks.filter(number__gt=look.number).defer("samples").first()


def _latest(criterion: Criterion, judge: Judge, dimension: str | None) -> Certificate | None:
    found = Certificate.objects.filter(
        look__criterion__project_id=criterion.project_id, look__criterion__key=criterion.key, look__judge=judge
    )
    if dimension is not None:
        found = found.filter(look__dimension=dimension)
    names = sorted(found.order_by().values_list("look__dimension", flat=True).distinct())
    if len(names) > 1:
        said = _("“%(judge)s” is certified for %(names)s. Specify which one.")
        raise Invalid("unclear_dimension", said % {"judge": judge.name, "names": ", ".join(names)})
    parts = ("look__criterion__project", "look__judge", "look__version", "created_by")
    # Which samples a look rests on is long, and seldom asked for.
    return found.select_related(*parts).defer("look__samples").first()


def _never_certified(criterion: Criterion, judge: Judge, dimension: str | None) -> str:
    given = {"judge": judge.name, "criterion": criterion.key, "dimension": dimension}
    if dimension in (None, criterion.key):
        return _("“%(judge)s” has no certificate for “%(criterion)s”.") % given
    return _("“%(judge)s” has no certificate for “%(criterion)s” by its score “%(dimension)s”.") % given


def _changed(criterion: Criterion, judge: Judge, certificate: Certificate) -> tuple[str, str] | None:
    look, given = certificate.look, {"n": certificate.number, "judge": judge.name, "criterion": criterion.key}
    if look.criterion_id != criterion.pk:
        given |= {"certified": look.criterion.version, "now": criterion.version}
        said = _("Certificate %(n)s is for version %(certified)s of “%(criterion)s”, which is now at version %(now)s.")
        return "criterion_changed", said % given
    current = current_version(judge)
    if current is not None and current.content_hash == certificate.judge_hash:
        return None
    given |= {"certified": look.version.label, "now": "" if current is None else current.label}
    if current is None:
        said = _("Certificate %(n)s is for version “%(certified)s” of “%(judge)s”, which has no active version now.")
    elif current.label == look.version.label:
        said = _(
            "Certificate %(n)s is for version “%(certified)s” of “%(judge)s”, which is now “%(now)s”, with another "
            "configuration."
        )
    else:
        said = _("Certificate %(n)s is for version “%(certified)s” of “%(judge)s”, which is now “%(now)s”.")
    return "judge_changed", said % given


def _out_of_date(certificate: Certificate) -> tuple[str, str] | None:
    look = certificate.look
    if not look.is_out_of_date:
        return None
    said = _(
        "Certificate %(n)s rests on test evaluation %(look)s, which was made before the promise of test evaluations "
        "changed. Evaluate again and certify that."
    )
    return "out_of_date", said % {"n": certificate.number, "look": look.number}


def _looked_since(certificate: Certificate) -> tuple[str, str] | None:
    """The judge's latest look at the same thing has shown more than the one that was certified."""
    later = later_look(certificate.look)
    if later is None:
        return None
    said = _("Test evaluation %(look)s came after certificate %(n)s. Certify that one.")
    return "looked_since", said % {"look": later.number, "n": certificate.number}


def _taken_back(criterion: Criterion, certificate: Certificate) -> tuple[str, str] | None:
    """An admin's word on how labels came (decision 29) that no longer stands as it was given."""
    if not is_taken_back(criterion, certificate.look):
        return None
    said = _(
        "Certificate %(n)s rests on what was declared of labels made elsewhere, which has been withdrawn. Evaluate "
        "again and certify that."
    )
    return "labels_undeclared", said % {"n": certificate.number}


def is_taken_back(criterion: Criterion, look: Look | CascadeLook) -> bool:
    """Whether an admin's word on how the labels came that the look rests on no longer stands as it was given."""
    given = {row["how"] for row in look.result["drawn_by"]} & _DECLARED
    now = declared_draw(criterion)
    stands = now is not None and given == {f"declared_{now.how}"} and _as_given(now, criterion, look)
    return bool(given) and not stands


def _as_given(now: DeclaredDraw, criterion: Criterion, look: Look | CascadeLook) -> bool:
    """Whether a word that was given again names the chances that the look was taken with."""
    if now.how != HowDeclared.COLUMN or now.declared_at <= look.created_at:
        return True
    said = chances_declared(now, elsewhere(criterion, now.declared_at))
    # Stratum 0: labelled before a draw.
    were = {name: chance for name, (chance, stratum) in look.samples["chances"].items() if stratum}
    return all(said.get(name, chance) == chance for name, chance in were.items())


def _drifted(certificate: Certificate, drift: Drift | None) -> tuple[str, str] | None:
    given = {"n": certificate.number}
    if drift is not None and drift.alarm is not None:
        return "drift", f"{_('Certificate %(n)s no longer holds.') % given} {drift_sentence(drift)}"
    if drift is not None and drift.streaks:
        unclear = _("It can’t be determined whether certificate %(n)s is still valid.") % given
        return "drift_or_streak", f"{unclear} {drift_sentence(drift)}"
    return None if drift is None else _unscored(certificate, drift)


def _unscored(certificate: Certificate, drift: Drift) -> tuple[str, str] | None:
    """Coverage holds at work, too: of too many audits the certified version said nothing."""
    least = certificate.look.result["endpoint"]["coverage"]
    if drift.groups < FEWEST_GROUPS or drift.scored >= least * drift.audits:
        return None
    said = _(
        "It can’t be determined whether certificate %(n)s is still valid. The judge scored %(scored)s of %(audits)s "
        "units audited since; at least %(least)s is needed. Run it on the rest."
    )
    given = {"n": certificate.number, "scored": drift.scored, "audits": drift.audits}
    return "audits_unscored", said % {**given, "least": f"{100 * least:g}%"}
