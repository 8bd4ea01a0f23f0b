"""Looking at the test half with two judges that decide one after the other, and making one judge of them."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction
from django.utils.translation import gettext as _

import alignment
from annotate.core.advisory import no_import_writes
from annotate.core.errors import Conflict, Invalid
from annotate.core.text_tables import in_words
from annotate.core.trail import note
from annotate.models import Criterion, Project, User
from judges.certificates.decision_read import cascade_looks_at, is_taken_back, next_look
from judges.core.split import divide
from judges.kinds.cascade import endpoint_of
from judges.models import PROMISE, CascadeLook, Judge, JudgeKind, JudgeVersion
from judges.reports.evidence import evidence_of_look, fingerprint_of, of_a_look
from judges.versions.write import create_judge


def look_at_cascade(
    *, criterion: Criterion, cheap: str, dear: str, user: User | None = None, expected: int | None = None
) -> CascadeLook:
    """What two judges, by their names, may decide one after the other; the latest look with them when nothing changed
    since. The thresholds and the family of cascades are fixed on dev, and tested on the test half in this one look.

    Raises Invalid for judges that can't be a cascade, and Conflict, spending nothing, when there is nothing to see, or
    when the look would not have the number `expected`.
    """
    if cheap == dear:
        raise Invalid("same_judge", _("A cascade needs two different judges."), field="dear")
    with transaction.atomic():
        no_import_writes(criterion.project_id)
        Project.objects.select_for_update(no_key=True).get(pk=criterion.project_id)
        found = [evidence_of_look(criterion, name).without_single() for name in (cheap, dear)]
        pair = [_series(one, name) for one, name in zip(found, (cheap, dear), strict=True)]
        evidence = _with_even_splits(replace(found[0], groups={**found[0].groups, **found[1].groups}), criterion)
        rests_on = of_a_look(evidence, pair)
        fingerprint = fingerprint_of(rests_on, {"what": "cascade", "cheap": cheap, "dear": dear})
        versions = [
            JudgeVersion.objects.get(judge__project_id=criterion.project_id, judge__name=one.judge, label=one.version)
            for one in pair
        ]
        latest = cascade_looks_at(criterion).filter(cheap=versions[0], dear=versions[1]).first()
        if latest is not None and not latest.is_out_of_date and latest.fingerprint == fingerprint:
            return latest
        number = next_look(criterion)
        if expected not in (None, number):
            raise Conflict(
                "looked_meanwhile",
                _("Another test evaluation was run in the meantime. Yours would now be number %(number)s.")
                % {"number": number},
            )
        level = alignment.level_of_look(number)
        reference = alignment.report.reference_of(replace(rests_on, drawn_by=evidence.drawn_by))
        first, then = (alignment.report.Judged(reference, one) for one in pair)
        looked = alignment.report.cascades_looked(first, then, level)
        if looked.row["reason"] is not None:
            said = _("Test evaluation not run: %(reason)s.") % {"reason": in_words(looked.row["reason"])}
            raise Conflict("nothing_to_see", said)
        look = CascadeLook.objects.create(
            project_id=criterion.project_id,
            criterion_key=criterion.key,
            criterion=criterion,
            cheap=versions[0],
            cheap_dimension=pair[0].dimension,
            dear=versions[1],
            dear_dimension=pair[1].dimension,
            number=number,
            level=level,
            promise=PROMISE,
            fingerprint=fingerprint,
            result=looked.row,
            samples={"dev": looked.dev, "test": looked.test, "chances": looked.chances},
            created_by=user,
        )
        note(
            actor=user, action="test.looked_at_cascade", subject=criterion.key, project=criterion.project,
            version=criterion.version, judge=cheap, then=dear, number=number,
        )  # fmt: skip
    return look


def _with_even_splits(evidence: alignment.report.Evidence, criterion: Criterion) -> alignment.report.Evidence:
    """With a side for samples of which people have only units that they are split on evenly. Judges are compared with
    nothing there, so that they have none; here such a unit counts against whoever decides it."""
    unsettled = {sample for (sample, _unit), why in evidence.unsettled.items() if why == "open"}
    split = (unsettled | {sample for sample, _unit in evidence.units}) - evidence.is_dev.keys()
    sides = divide(criterion, dict.fromkeys(sorted(split), False))
    return replace(evidence, is_dev={**evidence.is_dev, **sides})


def _series(evidence: alignment.report.Evidence, name: str) -> alignment.report.JudgeScores:
    """Under the criterion's own name, or its only one."""
    own = [one for one in evidence.judges if one.dimension == evidence.criterion.key] or evidence.judges
    if len(own) != 1:
        names = ", ".join(one.dimension for one in evidence.judges) or "nothing on this kind of unit"
        said = _("“%(judge)s” measures %(names)s. A cascade needs a judge with one score of this criterion.")
        raise Invalid("unclear_dimension", said % {"judge": name, "names": names})
    return own[0]


def use_cascade(*, look: CascadeLook, agreement: float, name: str, actor: User | None = None) -> Judge:
    """Makes a judge of the cascade that the look certified for this share of agreement. Raises Invalid where it
    certified none, Conflict where the look no longer holds, and as `create_judge`."""
    if look.is_out_of_date or not look.criterion.is_current or is_taken_back(look.criterion, look):
        said = _("Test evaluation %(number)s is outdated. Run a new one.")
        raise Conflict("out_of_date", said % {"number": look.number})
    config = {"criterion": look.criterion_key, "look": look.number, "agreement": agreement}
    endpoint = endpoint_of(look)
    return create_judge(
        project=look.project,
        name=name,
        kind=JudgeKind.CASCADE,
        config=config,
        endpoint=None if endpoint is None else endpoint.name,
        actor=actor,
    )
