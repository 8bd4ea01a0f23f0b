"""Judges: the list, one of them with its versions, and what changed between two of these."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from annotate.core.blindness import why_held_back
from annotate.core.errors import Conflict
from frontend.base.pages import ProjectPage, project_view
from frontend.judges.aligning import can_be_aligned
from frontend.judges.canaries import check_row
from frontend.judges.run_start import can_be_run
from frontend.judges.run_words import TONES
from frontend.judges.runs import run_row
from frontend.judges.table import JudgeRow, agreement_in_reports, coverage_of, judge_rows
from frontend.judges.words import config_facts, difference_rows
from frontend.reports.in_words import decision_in_words
from frontend.reports.parts import judge_url, mistakes_url
from judges.canaries.read import checks_of
from judges.canaries.write import BIAS, INJECTION, SORTS, can_be_checked
from judges.certificates.cascades_read import cascade_standing
from judges.certificates.decision_read import Standing, standings_of
from judges.core.scores_read import current_version
from judges.exports.files import JSON, TARGETS, exported
from judges.exports.python import LIBRARIES
from judges.kinds.llm.prompt import PER_UNIT
from judges.models import Judge, JudgeKind, JudgeVersion, RunState, VersionState
from judges.runs.read import runs_of
from judges.versions.read import one_judge, version_diff, withheld
from judges.versions.write import drop_version, keep_version, set_direction

DECISION_TONES = {"alone_in_region": "ok", "with_a_person": "info", "not_for_use": "error", "cannot_tell": ""}
RUNS_SHOWN = 10
# What each came to is reckoned anew.
CHECKS_SHOWN = 5


@project_view("judges", get="judges.read")
def judges(page: ProjectPage) -> HttpResponse:
    rows = [_list_row(page, row) for row in judge_rows(page.project)]
    context = {
        "rows": rows,
        "may_change": page.may("judges.change"),
        "may_run": page.may("judges.run"),
        "may_import": page.may("import.run"),
        "sees_endpoints": page.may("endpoints.read"),
    }
    return page.render("judges/judges.html", context)


def _list_row(page: ProjectPage, row: JudgeRow) -> dict[str, Any]:
    return {
        "judge": row.judge,
        "row": row,
        "tone": TONES[RunState(row.last_run.state)] if row.last_run else "",
        "can_run": row.can_run and row.version is not None,
        "agreement": [
            (criterion, kappa, judge_url(page, criterion.key, row.judge.name, dimension))
            for criterion, dimension, kappa in row.agreement
        ],
    }


@project_view("judges", get="judges.read")
def judge(page: ProjectPage, judge_id: int) -> HttpResponse:
    """As it is now, or as the version that the address names (`?version=2`) has it."""
    found = one_judge(page.project, judge_id)
    current = current_version(found)
    versions = list(found.versions.select_related("created_by", "endpoint", "based_on").order_by("-number"))
    asked = page.request.GET.get("version")
    latest = next((one for one in versions if one == current), versions[0] if versions else None)
    shown = latest if asked is None else _numbered(versions, asked)
    measures, coverage = coverage_of([shown])[shown.pk] if shown else ([], None)
    runs = runs_of(page.project).filter(version__judge=found)
    hidden = _withheld(page, shown) if shown else frozenset[str]()
    context = {
        "judge": found,
        "current": current,
        "shown": shown,
        "facts": config_facts(shown, hidden=hidden) if shown else [],
        "measures": measures,
        "coverage": coverage,
        "decisions": [_decision_row(page, found, one) for one in standings_of(found)],
        "agreement": _agreement(page, found),
        "versions": [_version_row(version, current) for version in versions],
        "runs": [run_row(run) for run in runs[:RUNS_SHOWN]],
        "run_count": runs.count(),
        "can_be_checked": can_be_checked(shown),
        **(_checks(page, found) if can_be_checked(shown) else {}),
        "may_edit": page.may("judges.change") and found.kind not in (JudgeKind.IMPORTED, JudgeKind.CASCADE),
        "cascade": _cascade(page, shown),
        "can_be_aligned": can_be_aligned(found, current) and page.may("judges.run"),
        "may_run": page.may("judges.run"),
        "is_imported": found.kind == JudgeKind.IMPORTED,
        "can_run": can_be_run(found, current) and page.may("judges.run"),
        "may_change": page.may("judges.change"),
        "exports": [] if shown is None or hidden else _exports(shown),
    }
    return page.render("judges/judge.html", context)


def _agreement(page: ProjectPage, found: Judge) -> list[dict[str, Any]]:
    """On each criterion that has a report with the judge."""
    return [
        {
            "criterion": criterion,
            "kappa": kappa,
            "url": judge_url(page, criterion.key, found.name, dimension),
            "mistakes_url": mistakes_url(page, criterion.key, found.pk, dimension),
        }
        for criterion, dimension, kappa in agreement_in_reports(page.project).get(found.name, ())
    ]


def _cascade(page: ProjectPage, shown: JudgeVersion | None) -> dict[str, str] | None:
    """Where a cascade was certified, and what it leaves to people; None of any other judge."""
    if shown is None or shown.judge.kind != JudgeKind.CASCADE:
        return None
    where = (shown.config["criterion"], shown.config["look"])
    standing = cascade_standing(shown)
    return {
        "url": page.url("report-cascade", *where),
        "left_url": page.url("report-cascade-left", *where, shown.judge_id),
        "ended": "" if standing.ended is None else standing.ended[1],
    }


def _checks(page: ProjectPage, found: Judge) -> dict[str, Any]:
    """The latest with canaries, and the latest with bias probes."""
    rows = {
        test: [check_row(run, reader=page.user) for run in checks_of(found).filter(purpose=sort.purpose)[:CHECKS_SHOWN]]
        for test, sort in SORTS.items()
    }
    return {"checks": rows[INJECTION], "bias_checks": rows[BIAS]}


def _exports(shown: JudgeVersion) -> list[tuple[str, str]]:
    """(target, its name) of what there is of the version to take along."""
    if shown.judge.kind == JudgeKind.IMPORTED:
        return []
    as_code = shown.judge.kind == JudgeKind.LLM and shown.config["per"] == PER_UNIT
    return [(JSON, "JSON"), *((key, title) for key, (title, _package) in LIBRARIES.items() if as_code)]


def _decision_row(page: ProjectPage, found: Judge, held: Standing) -> dict[str, Any]:
    """What the judge may do on one criterion, or why its certificate there has ended."""
    assert held.certificate is not None
    certificate, decision = held.certificate, held.decision
    return {
        "criterion": held.criterion,
        "number": certificate.number,
        "url": judge_url(page, held.criterion.key, found.name, certificate.look.dimension),
        "decision": None if decision is None else decision_in_words(decision),
        "tone": "" if decision is None else DECISION_TONES[decision["verdict"]],
        "ended": None if held.ended is None else held.ended[1],
    }


def _numbered(versions: list[JudgeVersion], number: str | int | None) -> JudgeVersion:
    for version in versions:
        if str(version.number) == str(number):
            return version
    raise Http404(_("Version not found for this judge."))


def _version_row(version: JudgeVersion, current: JudgeVersion | None) -> dict[str, Any]:
    is_imported = version.judge.kind == JudgeKind.IMPORTED
    return {
        "version": version,
        "is_current": version == current,
        "tone": {VersionState.KEPT: "ok", VersionState.TRIAL: "info"}.get(VersionState(version.state), ""),
        "can_keep": not is_imported and version.state != VersionState.KEPT,
        "can_drop": not is_imported and version.state != VersionState.DROPPED,
        "compare_with": current.number if current is not None and current != version else None,
        "hash": version.content_hash[:8],
    }


@project_view("judges", get="judges.read")
def diff(page: ProjectPage, judge_id: int) -> HttpResponse:
    """What changed from one version (`?from=`) to another (`?to=`); without them, to the latest from the one before."""
    found = one_judge(page.project, judge_id)
    versions = list(found.versions.select_related("endpoint").order_by("-number"))
    if len(versions) < 2:
        raise Http404(_("This judge has only one version."))
    asked = page.request.GET
    newer = _numbered(versions, asked.get("to", versions[0].number))
    before = [one for one in versions if one.number < newer.number] or [one for one in versions if one != newer]
    older = _numbered(versions, asked.get("from", before[0].number))
    differences = version_diff(older, newer, reader=page.user, role=page.role)
    context = {
        "judge": found,
        "versions": versions,
        "older": older,
        "newer": newer,
        "rows": difference_rows(older, newer, differences.rows),
        "hidden": differences.held_back,
    }
    return page.render("judges/judge_diff.html", context)


@project_view("judges", post="judges.change")
def version_step(page: ProjectPage, judge_id: int, number: int, step: str) -> HttpResponse:
    """Takes a version into use, or out of it."""
    found = one_judge(page.project, judge_id)
    version = _numbered(list(found.versions.select_related("judge__project")), number)
    if step == "keep":
        said = _("Version %(label)s is active. Its scores count from now on.")
        page.attempt(lambda: keep_version(version=version, actor=page.user), said % {"label": version.label})
    elif step == "drop":
        said = _("Version %(label)s discarded. Its scores are kept but no longer counted.")
        page.attempt(lambda: drop_version(version=version, actor=page.user), said % {"label": version.label})
    else:
        raise Http404
    return page.redirect("judge", judge_id)


@project_view("judges", post="judges.change")
def direction(page: ProjectPage, judge_id: int) -> HttpResponse:
    found = one_judge(page.project, judge_id)
    higher = page.request.POST.get("higher_is_better") == "true"
    page.attempt(
        lambda: set_direction(judge=found, higher_is_better=higher, actor=page.user),
        _("Direction changed: higher is better.") if higher else _("Direction changed: lower is better."),
    )
    return page.redirect("judge", judge_id)


@project_view("judges", get="judges.read")
def export(page: ProjectPage, judge_id: int, number: int) -> HttpResponse:
    """A version to take along: as the file that makes the same judge elsewhere, or as code (`?to=ragas`)."""
    target = page.request.GET.get("to", JSON)
    found = one_judge(page.project, judge_id)
    version = _numbered(list(found.versions.select_related("judge__project", "endpoint")), number)
    if target not in TARGETS:
        raise Http404
    if _withheld(page, version):
        raise PermissionDenied(why_held_back())
    try:
        return exported(version, target)
    except Conflict as refusal:
        messages.error(page.request, refusal.message)
        return HttpResponseRedirect(f"{page.url('judge', judge_id)}?version={number}")


def _withheld(page: ProjectPage, version: JudgeVersion) -> frozenset[str]:
    return withheld(version, reader=page.user, role=page.role)
