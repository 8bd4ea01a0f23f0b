"""Cascades: a cheap judge decides where it is sure, a dear one where it is, and the rest is left to people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, cast

from django.utils.translation import gettext as _

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Invalid
from annotate.core.scales import normalise
from annotate.core.units import LISTED_KINDS, units_of, whole_unit
from annotate.models import Criterion, Project, Sample
from judges.core.scores_read import load_scores, version_named
from judges.endpoints.calls import Answered, Model, StopRun
from judges.kinds.base import Config, Item, Kind, OneByOne, Outcome, Scored, Size, Together
from judges.kinds.fields import Fields
from judges.kinds.registry import kind_named, runnable_kinds
from judges.models import CascadeLook, Confidence, Endpoint, JudgeKind, JudgeVersion, ScoreStatus

# As alignment.judging.triage.ROUNDING, which takes a second to load. A test holds the two against each other.
ROUNDING = 1e-9
# How a member's answers come: it is asked at the cascade's own endpoint, it works here, or what is stored of it counts.
ASKED, HERE, STORED = "asked", "here", "stored"


class CascadeKind(Kind):
    """Its configuration: {"criterion", "dimension", "unit", "look", "agreement", "per", "dear_share", "members"}. A
    member, the cheap judge first: {"judge", "version", "dimension", "threshold", "by_confidence", "higher_is_better",
    "sure", "comes"}.

    Only `criterion`, `look` and `agreement` are given: all else is what that look at the test part certified for that
    share of agreement. threshold: None for a judge that answers with options. sure: from how far from its threshold on
    it decides, or, by_confidence, from which confidence on; None where it decides nothing. comes: `asked`, `here` or
    `stored`; dear_share: of the units of test, those on which the dear judge was needed. per: "sample" where a member
    is asked about all units of a sample at once.
    """

    key = JudgeKind.CASCADE.value
    code_version = 1

    def complete(self, config: Any, project: Project) -> dict[str, Any]:
        fields = Fields(config)
        key, number = fields.text("criterion"), fields.whole("look", low=1)
        agreement = fields.number("agreement", low=0, high=1)
        look = CascadeLook.objects.filter(project=project, criterion_key=key, number=number).first()
        if look is None:
            raise fields.refuse("look", _("No test evaluation of two judges has this number."))
        found = next((one for one in look.result["certified"] if one["agreement"] == agreement), None)
        if found is None or found["step"] is None:
            raise fields.refuse("agreement", _("This test evaluation certified nothing for this agreement."))
        complete = {
            "criterion": key,
            "dimension": key,
            "unit": look.criterion.unit,
            "look": number,
            "agreement": agreement,
            **_members(look, found["step"]),
        }
        for name, value in complete.items():
            if fields.raw(name) not in (None, value):
                raise fields.refuse(name, _("Already set by the test evaluation."))
        fields.finish()
        return complete

    def asks_model(self, config: Config) -> bool:
        return any(member["comes"] == ASKED for member in config["members"])

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        units = units_of(sample, config["unit"])
        return [whole_unit(sample)] if units and config["per"] == "sample" else units

    def size(self, config: Config, sample: Sample) -> Size:
        """The cheap judge on every unit, the dear one on the share on which it was needed on test."""
        sizes = []
        for member, share in zip(config["members"], (1.0, config["dear_share"]), strict=True):
            version = version_named(sample.project, member["judge"], member["version"])
            if member["comes"] == ASKED and version is not None:
                size = kind_named(version.judge.kind).size(version.config, sample)
                sizes.append((size, share))
        return Size(
            *(
                sum(getattr(size, name) * share for size, share in sizes)
                for name in ("requests", "tokens_in", "tokens_out")
            )
        )

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[Together | OneByOne]:
        look = CascadeLook.objects.select_related("criterion").get(
            project_id=version.judge.project_id,
            criterion_key=version.config["criterion"],
            number=version.config["look"],
        )
        with ExitStack() as stack:
            members = [_opened(version, member, look.criterion, stack) for member in version.config["members"]]
            is_asked = self.asks_model(version.config)
            yield (AskedCascade if is_asked else LocalCascade)(version.config, *members)


def endpoint_of(look: CascadeLook) -> Endpoint | None:
    """Where a cascade that the look certified asks; None where it asks no model."""
    asked = [one for one, comes in zip((look.dear, look.cheap), _comes(look)[::-1], strict=True) if comes == ASKED]
    return asked[0].endpoint if asked else None


def _comes(look: CascadeLook) -> tuple[str, str]:
    """How the answers of the two come."""
    versions, runnable = (look.cheap, look.dear), set(runnable_kinds())
    asking = [one.judge.kind in runnable and kind_named(one.judge.kind).asks_model(one.config) for one in versions]
    # Of two endpoints one can be asked: the dear judge's, since the cheap one's answers cost little beforehand.
    endpoint = look.dear.endpoint_id if asking[1] else look.cheap.endpoint_id

    def comes(one: JudgeVersion, asks: bool) -> str:
        if not asks:
            return HERE if one.judge.kind in runnable else STORED
        # How often it says the same again is known after it was asked several times.
        is_asked = one.endpoint_id == endpoint and one.config.get("confidence") != Confidence.REPEATS
        return ASKED if is_asked else STORED

    return comes(look.cheap, asking[0]), comes(look.dear, asking[1])


def _members(look: CascadeLook, step: Mapping[str, Any]) -> dict[str, Any]:
    """What the look says of the two, and how their answers come."""
    members, per = [], "unit"
    for place, (name, comes) in enumerate(zip(("cheap", "dear"), _comes(look), strict=True)):
        one: JudgeVersion = getattr(look, name)
        if comes == ASKED and one.config.get("per") == "sample" and look.criterion.unit in LISTED_KINDS:
            per = "sample"
        members.append(
            {
                "judge": one.judge.name,
                "version": one.label,
                "dimension": getattr(look, f"{name}_dimension"),
                "threshold": look.result["judges"][place]["threshold"],
                "by_confidence": look.result["judges"][place]["by_confidence"],
                "higher_is_better": one.judge.higher_is_better,
                "sure": step[name],
                "comes": comes,
            }
        )
    return {"per": per, "dear_share": 1 - step["shares"]["cheap"], "members": members}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a member says of a unit: pass or fail, and whether it is sure enough to decide; or why it says nothing."""

    passes: bool = False
    decides: bool = False
    text: str = ""
    failed: Scored | None = None


@dataclass(frozen=True, eq=False)
class _Member:
    """One of the two judges, ready to answer."""

    part: Mapping[str, Any]
    version: JudgeVersion
    criterion: Criterion
    scorer: Together | OneByOne | None
    # A scorer that works here works for one at a time.
    lock: Lock

    @property
    def title(self) -> str:
        return f"“{self.part['judge']}” ({self.part['version']})"

    def answers(
        self, wanted: Mapping[Sample, Sequence[str]], model: Model | None
    ) -> tuple[dict[tuple[int, str], Answer], list[Answered]]:
        """Of these units of each sample, and the replies that it is based on."""
        if self.part["sure"] is None:
            return {}, []
        replies: list[Answered] = []
        if self.scorer is None:
            said = self._stored(wanted)
        else:
            items = [item for sample, units in wanted.items() for item in self._items(sample, units)]
            if model is not None and self.part["comes"] == ASKED:
                outcomes: Sequence[Outcome] = [cast("OneByOne", self.scorer).ask(item, model) for item in items]
            else:
                with self.lock:
                    outcomes = cast("Together", self.scorer).score(items) if items else []
            replies = [reply for outcome in outcomes for reply in outcome.replies]
            said = {
                (item.sample.pk, one.unit): one
                for item, outcome in zip(items, outcomes, strict=True)
                for one in outcome.scores
                if one.dimension == self.part["dimension"]
            }
        return {at: self._read(one) for at, one in said.items()}, replies

    def _items(self, sample: Sample, units: Sequence[str]) -> list[Item]:
        own = kind_named(self.version.judge.kind).units(self.version.config, sample)
        return [Item(sample, unit) for unit in own if unit in units or unit == whole_unit(sample)]

    def _stored(self, wanted: Mapping[Sample, Sequence[str]]) -> dict[tuple[int, str], Scored]:
        dimension, keys = self.part["dimension"], {sample.external_id: sample.pk for sample in wanted}
        said = load_scores(self.criterion, self.version, dimension, keys.values(), reader=SYSTEM)
        found = {
            **{at: Scored(at[1], dimension, ScoreStatus.ERROR, detail=why) for at, why in said.failed.items()},
            **{at: Scored(at[1], dimension, number=number) for at, number in said.numbers.items()},
            **{
                at: Scored(at[1], dimension, label=label, confidence=said.confidence.get(at))
                for at, label in said.labels.items()
            },
        }
        # Of samples too many to be named these are all.
        return {(keys[name], unit): one for (name, unit), one in found.items() if name in keys}

    def _is_sure(self, said: Scored) -> bool:
        """Of a label; where its confidence counts, and is not known, it decides nothing."""
        if not self.part["by_confidence"]:
            return True
        return said.confidence is not None and said.confidence >= self.part["sure"] * (1 - ROUNDING)

    def _read(self, said: Scored) -> Answer:
        threshold, sure = self.part["threshold"], self.part["sure"]
        if said.status != ScoreStatus.OK:
            return Answer(failed=said)
        if threshold is None:
            try:
                passes = said.label is not None and normalise(self.criterion, said.label) in self.criterion.passes
            except Invalid:
                passes = None
            if said.label is None or passes is None:
                return Answer(failed=Scored(said.unit, said.dimension, ScoreStatus.ERROR, detail="It is no option."))
            return Answer(passes, decides=self._is_sure(said), text=f"{self.title}: {said.label}")
        if said.number is None:
            return Answer(failed=Scored(said.unit, said.dimension, ScoreStatus.ERROR, detail="It is no number."))
        passes = said.number >= threshold if self.part["higher_is_better"] else said.number <= threshold
        away = abs(said.number - threshold)
        text = f"{self.title}: {said.number:g}, {away:.3g} from {threshold:g}"
        return Answer(passes, decides=away >= sure * (1 - ROUNDING), text=text)


def _opened(version: JudgeVersion, part: Mapping[str, Any], criterion: Criterion, stack: ExitStack) -> _Member:
    """Raises StopRun for a member that is not what was certified."""
    found = version_named(version.judge.project, part["judge"], part["version"])
    if found is None:
        raise StopRun("no_member", _("“%(judge)s” has no such version any more.") % {"judge": part["judge"]})
    if part["comes"] == STORED:
        return _Member(part, found, criterion, None, Lock())
    kind = kind_named(found.judge.kind)
    if kind.code_version != found.code_version:
        said = _("Version %(n)s of “%(name)s” was created with an older release that scores differently.")
        raise StopRun("other_code", said % {"n": found.label, "name": found.judge.name})
    if part["comes"] == ASKED and found.endpoint_id != version.endpoint_id:
        said = _("“%(judge)s” was certified at another endpoint.")
        raise StopRun("other_endpoint", said % {"judge": part["judge"]})
    return _Member(part, found, criterion, stack.enter_context(kind.open(found)), Lock())


class _Cascade:
    def __init__(self, config: Config, cheap: _Member, dear: _Member) -> None:
        self._config = config
        self._cheap, self._dear = cheap, dear

    def _outcomes(self, items: Sequence[Item], model: Model | None) -> list[Outcome]:
        wanted = self._together(items)
        first, replies = self._cheap.answers(wanted, model)
        rest = {
            sample: left
            for sample, units in wanted.items()
            if (left := [unit for unit in units if self._is_left(first.get((sample.pk, unit)))])
        }
        second, more = self._dear.answers(rest, model) if rest else ({}, [])
        replies += more
        return [
            Outcome(
                [
                    self._scored(unit, first.get((item.sample.pk, unit)), second.get((item.sample.pk, unit)))
                    for unit in self._units(item)
                ],
                replies if model is not None else (),
            )
            for item in items
        ]

    def _is_left(self, cheap: Answer | None) -> bool:
        """Whether the dear judge is needed. Not where the cheap one has no answer: with one it may be sure, and of what
        the dear judge says of such units nothing was certified."""
        if cheap is None or cheap.failed is not None:
            return self._cheap.part["sure"] is None
        return not cheap.decides

    def _together(self, items: Sequence[Item]) -> dict[Sample, list[str]]:
        wanted: dict[Sample, list[str]] = {}
        for item in items:
            wanted.setdefault(item.sample, []).extend(self._units(item))
        return wanted

    def _units(self, item: Item) -> list[str]:
        """The units that an item is about."""
        if self._config["per"] == "sample":
            return list(units_of(item.sample, self._config["unit"]))
        return [item.unit]

    def _scored(self, unit: str, first: Answer | None, second: Answer | None) -> Scored:
        dimension = self._config["dimension"]
        for answer in (first, second):
            if answer is not None and answer.decides:
                return Scored(unit, dimension, number=float(answer.passes), rationale=answer.text)
        for member, answer in ((self._cheap, first), (self._dear, second)):
            if member.part["sure"] is None:
                continue
            if answer is None:
                detail = f"{member.title} has no score of {unit}. Run it, or import its scores, first."
                return Scored(unit, dimension, ScoreStatus.ERROR, detail=detail)
            # One that failed may be sure when it is asked again.
            if answer.failed is not None:
                detail = f"{member.title} has none either. {answer.failed.detail}".strip()
                return Scored(unit, dimension, answer.failed.status, detail=detail)
        texts = [answer.text for answer in (first, second) if answer is not None]
        return Scored(unit, dimension, ScoreStatus.LEFT, rationale="; ".join(texts))


class AskedCascade(_Cascade):
    """Asks at least one of the two (judges.kinds.base.OneByOne)."""

    def ask(self, item: Item, model: Model) -> Outcome:
        (outcome,) = self._outcomes([item], model)
        return outcome


class LocalCascade(_Cascade):
    """Of two judges that need no model (judges.kinds.base.Together)."""

    def score(self, items: Sequence[Item]) -> Sequence[Outcome]:
        return self._outcomes(items, None)


KIND = CascadeKind()
