"""Known answers, which gold tasks measure annotators by."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Func, IntegerField, OuterRef, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.batches.sample_choice import check_seed, new_seed
from annotate.core.errors import Invalid
from annotate.core.rows import first_or_raise
from annotate.core.scales import normalise, require_rated
from annotate.core.texts import is_storable
from annotate.core.trail import note
from annotate.core.units import answers_asked, answers_of, has_unit, parse_unit, without_abstentions
from annotate.labels.anchored_read import is_anchored
from annotate.models import Criterion, GoldAnswer, Project, Sample, User, Verdict
from annotate.models.label import VerdictMethod, VerdictState
from annotate.projects.read import current_criteria
from annotate.samples.read import samples_named

MAX_REASON = 10_000
MAX_ROWS = 5000
PROBLEMS_SHOWN = 100
_FIELDS = {"sample_id", "unit", "criterion", "value", "reason"}


def import_gold(*, actor: User, project: Project, rows: Any) -> int:
    """Sets answers from rows {sample_id, unit, criterion, value, reason?}, all or none. Returns how many changed.

    Raises Invalid with `problems`: what is wrong with which row, the first hundred.
    """
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_ROWS:
        raise Invalid("bad_gold", _("Send a list of 1 to %(most)d answers.") % {"most": MAX_ROWS})
    with transaction.atomic():
        checked = _read_all(project, rows)
        changed = sum(_store(actor, answer)[1] for answer in checked)
        if changed:
            note(
                actor=actor, action="gold.imported", subject=project.name, project=project, rows=len(rows),
                changed=changed,
            )  # fmt: skip
    return changed


def _read_all(project: Project, rows: list[Any]) -> list[GoldAnswer]:
    """The answers in one order, so that two imports of the same rows can't wait for each other."""
    names = {row["sample_id"] for row in rows if isinstance(row, Mapping) and is_storable(row.get("sample_id"))}
    # No claim can be dropped meanwhile (annotate.samples.claims_write).
    locked = samples_named(project, names).order_by("pk").select_for_update(of=("self",), no_key=True)
    samples = {sample.external_id: sample for sample in locked}
    criteria = {criterion.key: criterion for criterion in current_criteria(project)}
    checked, problems = [], []
    seen: dict[tuple[str, str, str], int] = {}
    for number, row in enumerate(rows, start=1):
        try:
            answer = _read(project, row, samples, criteria)
            where = (row["sample_id"], answer.unit, answer.criterion.key)
            if where in seen:
                said = _("Row %(row)d already has the answer for this unit.")
                raise Invalid("twice", said % {"row": seen[where]})
            seen[where] = number
            checked.append(answer)
        except Invalid as refusal:
            problems.append({"row": number, "code": refusal.code, "message": refusal.message})
    if problems:
        said = _("%(count)d of %(rows)d answers are invalid. Nothing was saved.")
        given = {"count": len(problems), "rows": len(rows)}
        raise Invalid("bad_gold", said % given, problems=problems[:PROBLEMS_SHOWN])
    return sorted(checked, key=lambda answer: (answer.sample_id, answer.unit, answer.criterion_id))


def gold_from_verdicts(
    *, actor: User, project: Project, criterion: Criterion, n: int, seed: int | None = None
) -> list[GoldAnswer]:
    """Draws n units whose verdict is adjudicated, or unanimous among several, and takes it as the known answer.

    Units that have one already are not drawn, nor those that were labelled with a judge's proposals. Raises Invalid
    when there are fewer.
    """
    if criterion.project_id != project.pk:
        raise Invalid("foreign_criterion", _("This criterion belongs to another project."))
    require_rated(criterion)
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise Invalid("bad_n", _("Number of answers to draw: must be a whole number, at least 1."))
    seed = new_seed() if seed is None else seed
    check_seed(seed)
    verdicts = sure_verdicts([criterion])
    found = list(verdicts.values_list("pk", flat=True))
    if n > len(found):
        said = _("Only %(found)d units have an adjudicated or unanimous verdict and no known answer yet.")
        raise Invalid("bad_n", said % {"found": len(found)})
    drawn = sorted(random.Random(seed).sample(found, n))
    with transaction.atomic():
        answers = know_verdicts(actor=actor, project=project, verdicts=verdicts.filter(pk__in=drawn))
        note(actor=actor, action="gold.drawn", subject=criterion.key, project=project, answers=n, seed=seed)
    return answers


def sure_verdicts(criteria: Sequence[Criterion]) -> QuerySet[Verdict]:
    """Those that may become known answers, of units that have none yet: adjudicated, or unanimous among several."""
    known = GoldAnswer.objects.filter(sample=OuterRef("sample"), unit=OuterRef("unit"), criterion=OuterRef("criterion"))
    return (
        without_abstentions(Verdict.objects.all())
        .annotate(n=Func(F("votes"), function="jsonb_array_length", output_field=IntegerField()))
        # One label alone agrees with itself.
        .filter(Q(method=VerdictMethod.ADJUDICATED) | Q(method=VerdictMethod.UNANIMOUS, n__gte=2))
        .filter(~Exists(known), ~is_anchored(), criterion__in=criteria, state=VerdictState.SETTLED)
        .select_related("sample", "criterion")
        .order_by("sample_id", "unit", "criterion_id")
    )


def know_verdicts(*, actor: User, project: Project, verdicts: Iterable[Verdict]) -> list[GoldAnswer]:
    """Takes them as known answers. Inside the caller's transaction."""
    return [
        _store(actor, _checked(project, one.sample, one.unit, one.criterion, one.value, one.reason))[0]
        for one in verdicts
    ]


def remove_gold(*, actor: User, project: Project, gold_id: int) -> None:
    """Takes a known answer back, to earlier versions of its criterion as well. Tasks that were given because of it
    stay; no annotator is measured by it any more."""
    with transaction.atomic():
        answers = GoldAnswer.objects.select_for_update(of=("self",)).select_related("sample", "criterion")
        answer = first_or_raise(
            answers.filter(pk=gold_id, sample__project=project), Http404(_("Known answer not found."))
        )
        note(
            actor=actor, action="gold.removed", subject=f"{answer.sample.external_id}: {answer.unit}", project=project,
            criterion=answer.criterion.key, value=answer.value,
        )  # fmt: skip
        GoldAnswer.objects.filter(
            sample=answer.sample, unit=answer.unit, criterion__key=answer.criterion.key,
            criterion__version__lte=answer.criterion.version,
        ).delete()  # fmt: skip


def _read(project: Project, row: Any, samples: Mapping[str, Sample], criteria: Mapping[str, Criterion]) -> GoldAnswer:
    if not isinstance(row, Mapping) or not {"sample_id", "unit", "criterion", "value"} <= set(row) <= _FIELDS:
        known = "sample_id, unit, criterion, value, reason"
        raise Invalid("bad_row", _("Must be an object with %(known)s. Only the reason is optional.") % {"known": known})
    sample, criterion = row["sample_id"], row["criterion"]
    if not isinstance(sample, str) or sample not in samples:
        raise Invalid("unknown_sample", _("Sample “%(name)s” not found in this project.") % {"name": str(sample)[:80]})
    if not isinstance(criterion, str) or criterion not in criteria:
        said = _("Criterion “%(key)s” not found in this project.")
        raise Invalid("unknown_criterion", said % {"key": str(criterion)[:80]})
    return _checked(project, samples[sample], row["unit"], criteria[criterion], row["value"], row.get("reason") or "")


def _checked(project: Project, sample: Sample, unit: Any, criterion: Criterion, value: Any, reason: Any) -> GoldAnswer:
    """The answer, not stored yet."""
    if sample.project_id != project.pk or criterion.project_id != project.pk:
        raise Invalid("foreign", _("The sample and the criterion must belong to this project."))
    require_rated(criterion)
    try:
        kind, _index = parse_unit(unit)
    except ValueError as error:
        raise Invalid("bad_unit", str(error)) from error
    if kind != criterion.unit:
        said = _("“%(key)s” applies to each %(kind)s, not to %(unit)s.")
        raise Invalid("wrong_unit", said % {"key": criterion.key, "kind": criterion.unit, "unit": unit})
    if answers_of(sample) < (asked := answers_asked(criterion.key, criterion.unit)):
        said = _("“%(key)s” applies to the answer, but this sample has none.")
        if asked > 1:
            said = _("“%(key)s” compares two answers, but this sample doesn’t have two.")
        raise Invalid("no_answer", said % {"key": criterion.key})
    if not has_unit(sample, unit):
        raise Invalid("unknown_unit", _("%(unit)s not found in this sample.") % {"unit": unit})
    if not is_storable(reason) or len(reason) > MAX_REASON:
        raise Invalid("bad_reason", _("reason: must be text of up to %(most)d characters.") % {"most": MAX_REASON})
    return GoldAnswer(
        sample=sample, unit=unit, criterion=criterion, value=normalise(criterion, value), reason=reason.strip()
    )


def _store(actor: User, answer: GoldAnswer) -> tuple[GoldAnswer, bool]:
    """The stored answer, and whether that changed anything."""
    said = {"value": answer.value, "reason": answer.reason}
    where = {"sample": answer.sample, "unit": answer.unit, "criterion": answer.criterion}
    stored, created = GoldAnswer.objects.select_for_update().get_or_create(
        **where, defaults={**said, "created_by": actor}
    )
    if created or (stored.value, stored.reason) == (answer.value, answer.reason):
        return stored, created
    stored.value, stored.reason, stored.created_by = answer.value, answer.reason, actor
    stored.save(update_fields=["value", "reason", "created_by"])
    return stored, True
