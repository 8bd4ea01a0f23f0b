"""An annotator's qualification: train, take the test, work; and the result in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.errors import Refusal
from annotate.core.units import unit_text, unit_title
from annotate.labels.gold_read import feedback_after
from annotate.models import Criterion, Qualification, Try
from annotate.models.batch import BatchStatus, TaskStatus
from annotate.qualification.read import Standing, one_qualification, own_standing
from annotate.qualification.tries import start_test
from frontend.base.pages import ProjectPage, project_view, word


@dataclass(frozen=True)
class Result:
    """A criterion's result in a test. figure: "0.71 (0.52 to 0.85)"; "" when kappa is undefined."""

    name: str
    figure: str
    units: str
    unanswered: str
    reached: bool


def results_of(test: Try, qualification: Qualification) -> list[Result]:
    names = {criterion.key: criterion.name for criterion in qualification.asked_criteria()}
    return [_result(one, names, qualification.kappa) for one in test.results]


def _result(result: dict[str, Any], names: dict[str, str], needed: float) -> Result:
    kappa, unanswered = result["kappa"], result["unanswered"]
    figure = "" if kappa["value"] is None else f"{kappa['value']:.2f}"
    if figure and kappa["low"] is not None and kappa["high"] is not None:
        given = {"value": figure, "low": f"{kappa['low']:.2f}", "high": f"{kappa['high']:.2f}"}
        figure = _("%(value)s (%(low)s to %(high)s)") % given
    left = ngettext("%(n)d unit without an answer", "%(n)d units without an answer", unanswered)
    return Result(
        name=names.get(result["criterion"], result["criterion"]),
        figure=figure.replace("-", "−"),
        units=ngettext("%(n)d unit", "%(n)d units", kappa["n"]) % {"n": kappa["n"]},
        unanswered=left % {"n": unanswered} if unanswered else "",
        reached=kappa["value"] is not None and kappa["value"] >= needed,
    )


@project_view("label", get="work.label", post="work.label")
def own(page: ProjectPage, qualification_id: int) -> HttpResponse:
    """How far the person is; a POST starts their next test and opens it."""
    qualification = one_qualification(page.project, qualification_id)
    standing = own_standing(qualification, page.user)
    if page.data is not None:
        try:
            start_test(actor=page.user, qualification=qualification)
        except Refusal as refusal:
            messages.error(page.request, refusal.message)
            return page.redirect("own-qualification", qualification_id)
        query = urlencode({"batch": qualification.test.number})
        return HttpResponseRedirect(f"{page.url('label')}?{query}")
    last = standing.last
    context = {
        "standing": standing,
        "qualification": qualification,
        "criteria": qualification.asked_criteria(),
        "last": last,
        "results": results_of(last, qualification) if last else [],
        "training_number": qualification.training.number,
        "test_number": qualification.test.number,
        "is_running": qualification.test.status == BatchStatus.OPEN,
        "answers": _training_answers(page, qualification, standing),
    }
    return page.render("label/qualification.html", context)


def _training_answers(page: ProjectPage, qualification: Qualification, standing: Standing) -> list[dict[str, Any]]:
    """What they answered in training beside the known answers, to look at again before a test."""
    if standing.state not in ("ready", "failed"):
        return []
    criteria = {criterion.key: criterion for criterion in qualification.asked_criteria()}
    done = qualification.training.tasks.filter(annotator=page.user, status=TaskStatus.SUBMITTED)
    return [
        {
            "question": task.sample.question,
            "title": unit_title(answer["unit"]),
            "text": unit_text(task.sample, answer["unit"]),
            "criterion": criteria[answer["criterion"]].name,
            "yours": _word(criteria[answer["criterion"]], answer["yours"]),
            "known": _word(criteria[answer["criterion"]], answer["answer"]),
            "same": answer["yours"] == answer["answer"],
            "reason": answer["reason"],
        }
        for task in done.select_related("sample").order_by("position")
        for answer in feedback_after(reader=page.user, task_id=task.pk)
    ]


def _word(criterion: Criterion, value: Any) -> str:
    return _("Can’t tell") if value is None else word(criterion.options, value)
