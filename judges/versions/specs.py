"""A judge from its description: the file of `create_judge`, or any other object with all of its fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.texts import check_json
from annotate.models import Project, User
from judges.models import Judge, JudgeVersion
from judges.versions.write import add_version, create_judge

NEEDED = ("name", "kind", "config")
FIELDS = ("name", "kind", "description", "higher_is_better", "endpoint", "config")
# A version that was exported says these as well. Nothing of them is taken over: an identity is worked out anew, and a
# certificate holds where its look was.
FORMAT, FORMAT_VERSION = "touchstone-judge", 1
_OF_EXPORTS = ("format", "format_version", "identity", "certificates")


@dataclass(frozen=True, slots=True)
class Made:
    """is_new_judge, is_new_version: what the description added; neither when everything was there already."""

    version: JudgeVersion
    is_new_judge: bool
    is_new_version: bool


def judge_from_spec(*, project: Project, spec: Any, actor: User | None = None) -> Made:
    """Creates the judge, or the next version of the judge with this name, in use. All or nothing.

    spec: {"name", "kind", "description"?, "higher_is_better"?, "endpoint"?, "config"}, as
    `judges.versions.write.judge_spec` makes it, or as an exported version has it.

    Raises Invalid, with the field in its details, and Conflict where a judge of this name is of another kind or has the
    other direction.
    """
    check_json(spec)
    _check_fields(spec)
    spec = {name: value for name, value in spec.items() if name in FIELDS}
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        name = spec["name"].strip() if isinstance(spec["name"], str) else ""
        judge = Judge.objects.filter(project=project, name=name).first()
        if judge is None:
            judge = create_judge(project=project, actor=actor, **spec)
            return Made(judge.versions.get(), is_new_judge=True, is_new_version=True)
        _refuse_other(judge, spec)
        last = judge.versions.order_by("number").last()
        version = add_version(
            judge=judge, config=spec["config"], endpoint=spec.get("endpoint"), based_on=last, actor=actor
        )
    is_new = last is None or version.number > last.number
    return Made(version, is_new_judge=False, is_new_version=is_new)


def _check_fields(spec: Any) -> None:
    if not isinstance(spec, dict):
        raise Invalid("bad_judge", _("Must be an object: {…}."), field="")
    if (spec.get("format", FORMAT), spec.get("format_version", FORMAT_VERSION)) != (FORMAT, FORMAT_VERSION):
        raise Invalid(
            "bad_judge",
            _("format: must be %(format)s, version %(n)d.") % {"format": FORMAT, "n": FORMAT_VERSION},
            field="format",
        )
    for name in spec:
        if name not in (*FIELDS, *_OF_EXPORTS):
            raise Invalid(
                "bad_judge",
                _("%(field)s: unknown field. Must be one of: %(known)s.")
                % {"field": name[:80], "known": ", ".join(FIELDS)},
                field=name[:80],
            )
    for name in NEEDED:
        if name not in spec:
            raise Invalid("bad_judge", _("%(field)s: required.") % {"field": name}, field=name)


def _refuse_other(judge: Judge, spec: dict[str, Any]) -> None:
    if spec["kind"] != judge.kind:
        raise Conflict(
            "other_kind",
            _("kind: “%(name)s” already exists with the kind %(kind)s. Choose another name.")
            % {"name": judge.name, "kind": judge.kind},
            field="kind",
        )
    if spec.get("higher_is_better", judge.higher_is_better) is not judge.higher_is_better:
        raise Conflict(
            "other_direction",
            _(
                "higher_is_better: “%(name)s” already exists with the other direction. An admin can change that on "
                "its page."
            )
            % {"name": judge.name},
            field="higher_is_better",
        )
