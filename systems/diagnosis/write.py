"""An admin says which criterion answers which question of the tree."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.trail import note
from annotate.models import Criterion, Project, User
from annotate.projects.read import rated_criteria
from systems.diagnosis.mapping_read import (
    BY_VALUE,
    FAILURE,
    QUESTIONS,
    Asked,
    Mapped,
    can_answer,
    mapping_of,
    stages_proposed,
    texts_of,
)
from systems.diagnosis.tree import Stage
from systems.models import DiagnosisMapping


def change_mapping(*, actor: User | None, project: Project, questions: Any) -> Mapped:
    """Stores the whole mapping: what is not in it no criterion answers. Raises Invalid, naming the field."""
    criteria = {criterion.key: criterion for criterion in rated_criteria(project)}
    if not isinstance(questions, dict):
        raise Invalid("bad_mapping", _("questions: must be an object."))
    asked = {name: _asked(name, given, criteria) for name, given in questions.items() if given is not None}
    wanted = {name: one.stored() for name, one in asked.items()}
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        stored = DiagnosisMapping.objects.filter(project=project).first()
        if stored is None or stored.questions != wanted:
            stored = stored or DiagnosisMapping(project=project)
            stored.questions, stored.updated_by = wanted, actor
            stored.save()
            criteria_named = {name: one["criterion"] for name, one in wanted.items()}
            note(
                actor=actor, action="diagnosis.mapped", subject=project.name, project=project, questions=criteria_named
            )
    return mapping_of(project)


def copy_mapping(*, actor: User, project: Project, made: Project) -> None:
    """Into a project that was made with the same criteria; where nothing was stored, nothing is."""
    stored = DiagnosisMapping.objects.filter(project=project).first()
    if stored is not None:
        kept = mapping_of(project).stored()
        change_mapping(actor=actor, project=made, questions=kept)


def _asked(name: str, given: Any, criteria: dict[str, Criterion]) -> Asked:
    question = QUESTIONS.get(name)
    if question is None:
        known = ", ".join(QUESTIONS)
        raise Invalid(
            "bad_mapping", _("“%(name)s” is no question. Known: %(known)s.") % {"name": name[:80], "known": known}
        )
    fields = {"criterion", "stages" if name == FAILURE else "yes"}
    if not isinstance(given, dict) or "criterion" not in given or not given.keys() <= fields:
        raise _bad(name, _("must be an object with %(fields)s, or null.") % {"fields": ", ".join(sorted(fields))})
    key = given["criterion"]
    criterion = criteria.get(key) if isinstance(key, str) else None
    if criterion is None:
        raise _bad(name, _("criterion “%(key)s” not found in this project.") % {"key": str(key)[:80]})
    if not can_answer(question, criterion):
        raise _bad(name, _("criterion “%(key)s” can’t answer this question.") % {"key": key})
    yes = given.get("yes", "passes")
    if yes not in ("passes", "fails") or (name in BY_VALUE and yes != "passes"):
        raise _bad(name, _("yes: must be “passes” or “fails”."))
    return Asked(criterion, yes, _stages(name, given, criterion) if name == FAILURE else {})


def _stages(name: str, given: dict[str, Any], criterion: Criterion) -> dict[str, Stage]:
    stages = given.get("stages")
    if stages is None:
        stages = dict(stages_proposed(criterion))
    texts, known = texts_of(criterion), [stage.value for stage in Stage]
    if not isinstance(stages, dict) or not stages.keys() <= set(texts) or not all(s in known for s in stages.values()):
        said = _("stages: must be an object from its values (%(values)s) to stages (%(stages)s).")
        raise _bad(name, said % {"values": ", ".join(texts), "stages": ", ".join(known)})
    if not stages:
        raise _bad(name, _("stages: name the stage of at least one value."))
    return {value: Stage(stage) for value, stage in stages.items()}


def _bad(name: str, problem: str) -> Invalid:
    return Invalid("bad_mapping", f"{name}: {problem}", field=name, problem=problem)
