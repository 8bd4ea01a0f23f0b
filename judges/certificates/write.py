"""Looking at the test half, which is logged, counted and paid for; and certificates, each of one such look."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

import alignment
from annotate.core.advisory import no_import_writes
from annotate.core.errors import Conflict, Invalid
from annotate.core.text_tables import in_words
from annotate.core.trail import note
from annotate.models import Criterion, Project, Rater, User
from judges.certificates.decision_read import later_look, looks_at, next_look
from judges.models import PROMISE, Certificate, JudgeVersion, Look
from judges.reports.evidence import evidence_of_look, fingerprint_of, of_a_look


def look_at_test(
    *,
    criterion: Criterion,
    judge_name: str,
    dimension: str | None = None,
    user: User | None = None,
    expected: int | None = None,
) -> Look:
    """What the judge is worth on the samples that nothing was chosen on; its latest look there when nothing changed
    since, unless that is out of date.

    Raises Invalid for a judge that the project doesn't have or that measures several things of which none is named, and
    Conflict, spending nothing, when there is nothing to see, or when another look would have this number than the one
    `expected`: there was a look in between, and it would cost more than was said.
    """
    with transaction.atomic():
        no_import_writes(criterion.project_id)
        Project.objects.select_for_update(no_key=True).get(pk=criterion.project_id)
        # One label that settles nothing is in no figure of a look, and so must not make another one either.
        evidence = evidence_of_look(criterion, judge_name).without_single()
        offered = [one for one in evidence.judges if dimension in (None, one.dimension)]
        if len(offered) != 1:
            names = ", ".join(one.dimension for one in evidence.judges) or "nothing on this kind of unit"
            raise Invalid(
                "unclear_dimension",
                _("“%(judge)s” measures %(names)s. Specify which one.") % {"judge": judge_name, "names": names},
            )
        said = offered[0]
        rests_on = of_a_look(evidence, [said])
        fingerprint = fingerprint_of(rests_on, {"what": "look"})
        # Only the latest: what was changed and changed back since is another look, and an earlier one ends nothing.
        latest = looks_at(criterion).filter(judge__name=judge_name, dimension=said.dimension).first()
        if latest is not None and not latest.is_out_of_date and latest.fingerprint == fingerprint:
            return latest
        number = next_look(criterion)
        if expected not in (None, number):
            raise Conflict(
                "looked_meanwhile",
                _("Another test evaluation was run in the meantime. Yours would now be number %(number)s.")
                % {"number": number},
            )
        reference = alignment.report.reference_of(replace(rests_on, drawn_by=evidence.drawn_by))
        found = alignment.report.looked(
            alignment.report.Judged(reference, said),
            number,
            seconds=alignment.report.seconds_of_sample(evidence),
        )
        reason = found.row["reason"]
        if reason is None and not found.row["drawn"]["units"]:
            # Without a drawn label nothing is decided, so a look would be spent for nothing.
            reason = found.row["figure"]["reason"]
        if reason is not None:
            raise Conflict("nothing_to_see", _("Test evaluation not run: %(reason)s.") % {"reason": in_words(reason)})
        version = JudgeVersion.objects.get(
            judge__project_id=criterion.project_id, judge__name=judge_name, label=said.version
        )
        look = Look.objects.create(
            project_id=criterion.project_id,
            criterion_key=criterion.key,
            criterion=criterion,
            judge_id=version.judge_id,
            version=version,
            dimension=said.dimension,
            number=number,
            level=alignment.level_of_look(number),
            promise=PROMISE,
            fingerprint=fingerprint,
            result={**found.row, "people": _people(rests_on, criterion.project)},
            samples={"dev": found.dev, "test": found.test, "chances": found.chances},
            created_by=user,
        )
        note(
            actor=user,
            action="test.looked",
            subject=criterion.key,
            project=criterion.project,
            version=criterion.version,
            judge=judge_name,
            number=number,
        )
    return look


def _people(evidence: alignment.report.Evidence, project: Project) -> list[int]:
    """Whose labels are of samples with a known chance."""
    names = {
        name
        for (sample, _unit), name in zip(evidence.units, evidence.raters, strict=True)
        if sample in evidence.chances
    }
    return list(Rater.objects.filter(project=project, name__in=names).order_by("pk").values_list("pk", flat=True))


def issue_certificate(*, look: Look, user: User | None = None) -> Certificate:
    """The certificate of a look; the one there is when it was issued before.

    Raises Conflict for a look that is out of date, and for one that is not the judge's latest: a later one has shown
    more, and cost more.
    """
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=look.criterion.project_id)
        issued = Certificate.objects.filter(look=look).first()
        if issued is not None:
            return issued
        if look.is_out_of_date:
            raise Conflict(
                "out_of_date",
                _("Test evaluation %(number)s is outdated: its guarantees have changed since. Run a new one.")
                % {"number": look.number},
            )
        later = later_look(look)
        if later is not None:
            raise Conflict(
                "not_the_latest",
                _("Test evaluation %(number)s is not this judge’s latest. Use test evaluation %(last)s.")
                % {"number": look.number, "last": later.number},
            )
        number = (Certificate.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0) + 1
        certificate = Certificate.objects.create(
            project=project, number=number, look=look, judge_hash=look.version.content_hash, created_by=user
        )
        note(
            actor=user,
            action="certificate.issued",
            subject=str(number),
            project=project,
            judge=look.judge.name,
            criterion=look.criterion.key,
            version=look.criterion.version,
        )
    return certificate
