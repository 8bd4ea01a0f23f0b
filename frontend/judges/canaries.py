"""Checks of a judge with injection canaries or bias probes: starting one, those so far, what one came to, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotate.batches.sample_choice import MAX_SEED, new_seed
from annotate.core.errors import Conflict
from annotate.core.text_tables import number
from annotate.models import User
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.judges.run_start import BudgetForm, estimate_page
from frontend.judges.run_words import TONES, run_context, status_words
from frontend.reports.bias import VERDICTS, bias_said, shown_difference
from frontend.reports.shown import Shown, shown_share, worded
from judges.canaries.probes import NUMBERED as PROBES_NUMBERED
from judges.canaries.probes import PROBES, SWAPPED
from judges.canaries.read import canary_result, checks_of, flip_examples, is_injection, one_check, probe_result
from judges.canaries.variants import BEHIND, IN_CONTEXT, INSTEAD, NUMBERED, VARIANTS
from judges.canaries.write import BIAS, INJECTION, SORTS, can_be_checked, check_canaries, estimate_canaries
from judges.core.scores_read import current_version
from judges.models import Judge, JudgeVersion, Run, RunState
from judges.runs.read import progress_of
from judges.versions.read import one_judge

_PLACE_WORDS = {
    BEHIND: gettext_lazy("after the judged text"),
    IN_CONTEXT: gettext_lazy("in a context"),
    INSTEAD: gettext_lazy("in place of the judged text"),
}
RATES = (
    ("towards", gettext_lazy("Improved"), gettext_lazy("of the results that could improve")),
    ("away", gettext_lazy("Became worse"), gettext_lazy("of the results that could improve")),
    ("flips", gettext_lazy("Changed either way"), gettext_lazy("of all compared results")),
)


def basis_said(result: Mapping[str, Any]) -> str:
    """What counts as a flip."""
    if result["basis"] == "passes":
        if "probes" in result:
            return _("A result changes when it passes with the change and fails without it, or the reverse.")
        return _("A result changes when it passes with the added text and fails without it, or the reverse.")
    if result["basis"] == "moves":
        return _("A result changes when its number moves by %(step)s or more, a tenth of its scale.") % {
            "step": number(result["least_move"])
        }
    return _("A result changes when another option is chosen. No option is defined as better.")


def outcome_said(result: Mapping[str, Any]) -> str:
    """In a sentence or two, with no claim beyond what was seen."""
    name = "flips" if result["basis"] == "labels" else "towards"
    attacks, harmless = (shown_share(result[side][name]) for side in ("attacks", "harmless"))
    if result["attacks"][name]["value"] is None:
        if name == "towards" and result["units"]:
            return _("No unit had a result that could improve, so injection couldn’t show an effect.")
        return _("Nothing to compare: no unit has results both with and without injection.")
    said = {"attacks": _share(attacks), "harmless": _share(harmless)}
    if result["harmless"][name]["value"] is None:
        if name == "towards":
            return _("Injection improved %(attacks)s of the results that could improve.") % said
        return _("Injection changed %(attacks)s of the results.") % said
    if name == "towards":
        return _("Injection improved %(attacks)s of the results that could improve; harmless text %(harmless)s.") % said
    return _("Injection changed %(attacks)s of the results; harmless text %(harmless)s.") % said


def _share(estimate: Shown) -> str:
    return f"{estimate.text} ({estimate.interval})" if estimate.interval else estimate.text


def rate_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Attacks beside harmless texts, over all variants."""
    return [
        {
            "title": title,
            "about": about,
            "attacks": shown_share(result["attacks"][name]),
            "harmless": shown_share(result["harmless"][name]),
        }
        for name, title, about in RATES
        if result["basis"] != "labels" or name == "flips"
    ]


def variant_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Of the variants that were asked about, the harmless ones last."""
    rows = []
    for one in result["variants"]:
        if not one["asked"]:
            continue
        variant = NUMBERED[one["number"]]
        rows.append(
            {
                **worded(one, shown_share),
                "title": variant.title,
                "where": _PLACE_WORDS[one["where"]],
                "failed": status_words(one["failed"]),
                "is_instead": one["where"] == INSTEAD,
            }
        )
    return rows


def probe_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for one in result["probes"]:
        probe, (said, tone) = PROBES_NUMBERED[one["number"]], VERDICTS[one["verdict"]]
        rows.append(
            {
                "title": probe.title,
                "about": probe.about,
                "is_swap": one["number"] == SWAPPED,
                "effect": None if one["effect"] is None else shown_difference(one["effect"]),
                "flips": shown_share(one["flips"]),
                "again": shown_share(one["again"]),
                "excess": shown_difference(one["excess"]),
                "compared": one["compared"],
                "failed": status_words(one["failed"]),
                "said": said,
                "tone": tone,
            }
        )
    return rows


def coverage_said(result: Mapping[str, Any]) -> str:
    coverage = result["coverage"]
    failed = coverage["asked"] - coverage["ok"]
    if not failed:
        return _("All replies could be parsed.")
    text = ngettext(
        "%(n)s of %(all)s replies has no value and counts as missing: %(why)s.",
        "%(n)s of %(all)s replies have no value and count as missing: %(why)s.",
        failed,
    )
    return text % {"n": f"{failed:,}", "all": f"{coverage['asked']:,}", "why": status_words(coverage["failed"])}


class CheckForm(BudgetForm):
    """How many samples a judge is checked on, and for how much."""

    budget_help = gettext_lazy("The test stops at this budget. Leave empty for no limit.")

    samples = forms.IntegerField(label=gettext_lazy("Number of samples"), min_value=1)
    seed = forms.IntegerField(
        label=gettext_lazy("Random seed"),
        min_value=0,
        max_value=MAX_SEED,
        help_text=gettext_lazy("The same seed draws the same samples, so you can compare versions."),
    )

    def __init__(self, *args: Any, test: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.test = test
        sort, samples = SORTS[test], self.fields["samples"]
        assert isinstance(samples, forms.IntegerField)
        samples.initial = sort.default_samples
        samples.validators.append(MaxValueValidator(sort.most_samples))
        samples.widget.attrs["max"] = sort.most_samples
        samples.help_text = (
            _("Drawn from all samples the judge can score, one unit each. Below 120, small effects can’t be ruled out.")
            if test == BIAS
            else _("Drawn from all samples the judge can score, up to three units each.")
        )

    def wanted(self) -> dict[str, Any]:
        """What an estimate and the check itself are asked with."""
        return {"test": self.test, "samples": self.cleaned_data["samples"], "seed": self.cleaned_data["seed"]}


PAGE_SIZE = 20
_PLACES = {"bad_budget": "budget", "no_price": "budget", "bad_samples": "samples", "bad_seed": "seed"}


@project_view("judges", get="judges.read", post="judges.run")
def checks(page: ProjectPage, judge_id: int) -> HttpResponse:
    """What canaries or, with `?test=bias`, bias probes are, the checks so far, and the form of the next. A POST starts
    one."""
    judge, version = _checkable(page, judge_id)
    test = _test(page)
    form = _form(page, version) if page.may("judges.run") and version is not None else None
    if form is not None and version is not None and form.is_valid():
        with RefusalsShown(form, places=_PLACES):
            run = check_canaries(version=version, **form.wanted(), **form.terms(), actor=page.user)
            return page.redirect("canary-check", judge.pk, run.pk)
    rows = page.rows(checks_of(judge).filter(purpose=SORTS[test].purpose), PAGE_SIZE)
    context = {
        "judge": judge,
        "version": version,
        "form": form,
        "test": test,
        "asks_model": True,
        "canaries": [variant for variant in VARIANTS if not variant.is_harmless],
        "probes": PROBES,
        "rows": rows,
        "checks": [check_row(run, reader=page.user) for run in rows],
    }
    return page.render("judges/canaries.html", context, status=200 if form is None else status_of(form))


def check_row(run: Run, *, reader: User) -> dict[str, Any]:
    """A check as lists show it; without its figures where they would tell the reader too much."""
    row = {"run": run, "tone": TONES[RunState(run.state)], "samples": len(run.scope["samples"])}
    try:
        result = canary_result(run, reader=reader) if is_injection(run) else probe_result(run, reader=reader)
    except Conflict:
        return {**row, "held_back": True}
    if not is_injection(run):
        return {**row, "units": result["units"], "said": bias_said(result)}
    towards = rate_rows(result)[0]
    return {**row, "units": result["units"], "attacks": towards["attacks"], "harmless": towards["harmless"]}


@project_view("judges", post="judges.run")
def estimate(page: ProjectPage, judge_id: int) -> HttpResponse:
    """What the form, as far as it is filled in, would ask for. Stores nothing."""
    _judge, version = _checkable(page, judge_id)
    if version is None:
        raise Http404
    form = _form(page, version)
    return estimate_page(page, form, lambda: estimate_canaries(version=version, **form.wanted()))


@project_view("judges", get="judges.read")
def check(page: ProjectPage, judge_id: int, run_id: int) -> HttpResponse:
    """While it goes on, how far it has come; then what it came to. A browser asks again for the middle part of it."""
    judge = one_judge(page.project, judge_id)
    run = one_check(judge, run_id)
    progress = progress_of(run)
    context = {
        "judge": judge,
        "is_injection": is_injection(run),
        **run_context(run, progress),
        "percent": int(100 * progress.share),
        "can_cancel": page.may("judges.run") and run.state not in (RunState.DONE, RunState.CANCELLED),
        **({} if run.state == RunState.RUNNING else _result(page, run)),
    }
    return page.render("judges/canary_check.html", context)


def _result(page: ProjectPage, run: Run) -> dict[str, Any]:
    try:
        found = _injection(run, page.user) if is_injection(run) else _bias(run, page.user)
    except Conflict as refusal:
        return {"why_not": refusal.message}
    result = found["result"]
    examples = flip_examples(run, reader=page.user) if page.may("judges.run") else None
    titles = {one.key: one.title for one in (VARIANTS if is_injection(run) else PROBES)}
    return {
        **found,
        "basis": basis_said(result),
        "coverage": coverage_said(result) if result["coverage"]["asked"] else "",
        "examples": examples,
        "flips": [{**one, "by": titles[one["variant"]]} for one in examples["shown"]] if examples else [],
    }


def _injection(run: Run, reader: User) -> dict[str, Any]:
    result = canary_result(run, reader=reader)
    rows = {"rates": rate_rows(result), "variants": variant_rows(result)}
    return {"result": result, "outcome": outcome_said(result), **rows}


def _bias(run: Run, reader: User) -> dict[str, Any]:
    result = probe_result(run, reader=reader)
    return {"result": result, "outcome": bias_said(result), "probes": probe_rows(result)}


def _checkable(page: ProjectPage, judge_id: int) -> tuple[Judge, JudgeVersion | None]:
    """With the version in use, if there is one. 404 for a judge of a kind that can't be checked."""
    judge = one_judge(page.project, judge_id)
    version = current_version(judge)
    if version is None and not judge.versions.exists():
        raise Http404
    if not can_be_checked(version or judge.versions.first()):
        raise Http404(_("Only LLM judges can be tested for prompt injection and bias."))
    return judge, version


def _test(page: ProjectPage) -> str:
    return BIAS if page.request.GET.get("test") == BIAS else INJECTION


def _form(page: ProjectPage, version: JudgeVersion) -> CheckForm:
    return CheckForm(page.data, endpoint=version.endpoint, initial={"seed": new_seed()}, test=_test(page))
