"""Two judges and then people: which pairs would decide how much on dev, a look at test with one pair, a judge made of
what it certified, and what that leaves to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.api.serializers import whole_number
from annotate.batches.write import create_batch
from annotate.core.errors import Refusal
from annotate.core.rows import first_or_raise
from annotate.core.scales import as_number
from annotate.core.texts import is_storable
from annotate.models import Criterion
from annotate.models.batch import Came
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.batches.forms import WhoLabelsForm
from frontend.reports.asked import asked_criterion
from frontend.reports.cascade_shares import Prices, Shares, agrees, plot_of
from frontend.reports.in_words import in_words
from frontend.reports.looks import cost_of as cost_of_look
from frontend.reports.looks import percent_of
from frontend.reports.page import frame_context
from frontend.reports.parts import report_part
from frontend.reports.shown import percent, shown
from judges.certificates.cascades import look_at_cascade, use_cascade
from judges.certificates.cascades_read import cascade_standing, judges_of, left_by_cascade
from judges.certificates.decision_read import cascade_looks_at, next_look
from judges.certificates.drift_read import drift_sentence
from judges.core.scores_read import current_version
from judges.models import AlignmentReport, CascadeLook, Judge, JudgeKind, JudgeVersion

# Of a judge's kappa below the best one's that makes no difference.
NOT_WORSE_BY = 0.05
_DEFAULT = 0.9
# A judge that decides less is no part of a pair.
_LEAST = 0.01


@project_view("reports", get="reports.read")
def cascades(page: ProjectPage, key: str) -> HttpResponse:
    """Of the latest report every pair of judges, at the share of agreement that the address names (`?agreement=.9`)."""

    def context(report: AlignmentReport) -> dict[str, Any]:
        found = report.result["cascades"]
        agreements = found["agreements"]
        asked = as_number(page.request.GET.get("agreement", ""))
        agreement = next((one for one in agreements if one == asked), _DEFAULT)
        versions = _versions(report)
        prices = Prices(versions)
        rows = [
            _pair(page, key, pair, agreement, prices, versions)
            for pair in found["pairs"]
            if pair["cheap"] in versions and pair["dear"] in versions and _is_in_order(pair, prices)
        ]
        rows.sort(key=lambda row: row["machines"], reverse=True)
        reached = [row for row in rows if row["holds"]]
        return {
            **frame_context(report),
            "agreement": f"{agreement:.0%}",
            "agreements": [
                {"text": f"{one:.0%}", "url": f"?{urlencode({'agreement': one})}", "current": one == agreement}
                for one in agreements
            ],
            "has_pairs": bool(rows),
            "best": _cheapest(reached),
            "tables": [(reached, False), ([row for row in rows if not row["holds"]], True)],
            "plot": plot_of([(row["cheap"], row["dear"], row["shares"], row["price"]) for row in reached]),
            "looks": [_in_short(page, look) for look in _looks(report.criterion)],
            "singles": _singles(report, prices, versions),
            "may_look": page.may("test.look"),
        }

    return report_part(page, key, "report-cascades", "reports/report_cascades.html", context)


def _versions(report: AlignmentReport) -> dict[str, JudgeVersion]:
    """By title, of the judges of the report whose current version is the one that it is about."""
    rows = {row["title"]: (row["judge"], row["version"]) for row in report.result["judges"]}
    named = JudgeVersion.objects.filter(
        judge__project=report.project_id, judge__name__in={judge for judge, _version in rows.values()}
    ).select_related("judge", "endpoint")
    of = {(version.judge.name, version.label): version for version in named}
    return {title: of[name] for title, name in rows.items() if name in of}


def _is_in_order(pair: Mapping[str, Any], prices: Prices) -> bool:
    """Whether the judge that decides first is not known to cost more."""
    first, second = prices.of(pair["cheap"]).amount, prices.of(pair["dear"]).amount
    return first is None or second is None or first <= second


def _pair(
    page: ProjectPage,
    key: str,
    pair: Mapping[str, Any],
    agreement: float,
    prices: Prices,
    versions: Mapping[str, JudgeVersion],
) -> dict[str, Any]:
    level = next(one for one in pair["levels"] if one["agreement"] == agreement)
    shares = Shares(level["cheap"], level["dear"], level["people"])
    found = level["disagreement"]
    asked = {"cheap": versions[pair["cheap"]].judge.name, "dear": versions[pair["dear"]].judge.name}
    return {
        "cheap": pair["cheap"],
        "dear": pair["dear"],
        "shares": shares,
        "machines": shares.cheap + shares.dear,
        # Found where it was not fitted; and by two judges, since either alone needs no second.
        "holds": found["value"] is not None
        and 1 - found["value"] >= agreement
        and min(shares.cheap, shares.dear) >= _LEAST,
        "agrees": percent(None if found["value"] is None else 1 - found["value"]),
        "at_least": percent(None if found["high"] is None else 1 - found["high"]),
        "groups": found["clusters"],
        "why": in_words(found["reason"]),
        "price": prices.of_cascade(pair["cheap"], pair["dear"], shares),
        "url": f"{page.url('report-cascade-look', key)}?{urlencode(asked)}",
    }


def _cheapest(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Of the pairs of known cost that decide most, within a twentieth of all units, the one that costs least."""
    known = [row for row in rows if row["price"].amount is not None and row["machines"] > 0]
    most = max((row["machines"] for row in known), default=0.0)
    near = [row for row in known if row["machines"] >= most - 0.05]
    return min(near, key=lambda row: row["price"].amount, default=None)


def _singles(report: AlignmentReport, prices: Prices, versions: Mapping[str, JudgeVersion]) -> list[dict[str, Any]]:
    """Each judge alone: kappa, cost, and whether it is not worse than the best; the cheapest such one is named."""
    compared = report.result["compared"]
    sides = compared["sides"]
    not_worse = {sides[compared["best"]]["title"]} if compared["best"] is not None else set()
    for pair in compared["pairs"]:
        low = pair["difference"]["kappa"]["low"] if pair["family"] == "judges" else None
        if low is not None and low >= -NOT_WORSE_BY:
            not_worse.add(sides[pair["second"]]["title"])
    rows = [
        {
            "title": row["title"],
            "kappa": shown(row["kappa"]),
            "value": row["kappa"]["value"],
            "price": prices.of(row["title"]),
            "not_worse": row["title"] in not_worse,
        }
        for row in report.result["judges"]
        if row["title"] in versions
    ]
    known = [row for row in rows if row["not_worse"] and row["price"].amount is not None]
    for row in rows:
        row["cheapest"] = bool(known) and row is min(known, key=lambda one: one["price"].amount)
    return sorted(rows, key=lambda row: -1.0 if row["value"] is None else row["value"], reverse=True)


def _looks(criterion: Criterion) -> list[CascadeLook]:
    found = cascade_looks_at(criterion).select_related("cheap__judge", "dear__judge", "created_by", "criterion")
    return list(found.defer("samples"))


def _in_short(page: ProjectPage, look: CascadeLook) -> dict[str, Any]:
    held = [one for one in look.result["certified"] if one["step"] is not None]
    return {
        "look": look,
        "url": page.url("report-cascade", look.criterion_key, look.number),
        "highest": f"{max(one['agreement'] for one in held):.0%}" if held else "",
    }


@project_view("reports", get="test.look", post="test.look")
def look(page: ProjectPage, key: str) -> HttpResponse:
    """What the look would cost, before it is taken; a POST takes it."""
    criterion = asked_criterion(page.project, key)
    given = page.request.POST if page.request.method == "POST" else page.request.GET
    cheap, dear = (_named(page, given, name) for name in ("cheap", "dear"))
    back = page.url("report-cascades", key)
    if page.request.method != "POST":
        context = {
            "criterion": criterion,
            "cheap": cheap,
            "dear": dear,
            "cost": cost_of_look(next_look(criterion)),
            "back": back,
        }
        return page.render("reports/report_cascade_look.html", context)
    try:
        expected = whole_number(given.get("number"), "number", low=1)
        taken = look_at_cascade(criterion=criterion, cheap=cheap, dear=dear, user=page.user, expected=expected)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return HttpResponseRedirect(back)
    if taken.number < expected:
        said = _("Nothing has changed since test evaluation %(n)d: it is shown again, and nothing was spent.")
        messages.success(page.request, said % {"n": taken.number})
    return page.redirect("report-cascade", key, taken.number)


def _named(page: ProjectPage, given: QueryDict, name: str) -> str:
    judge = given.get(name)
    if not judge or not is_storable(judge) or not Judge.objects.filter(project=page.project, name=judge).exists():
        raise Http404(_("This project has no such judge."))
    return judge


class UseForm(forms.Form):
    agreement = forms.ChoiceField(label=gettext_lazy("Agreement with annotators"))
    name = forms.CharField(
        label=gettext_lazy("Name of the judge"),
        max_length=200,
        help_text=gettext_lazy("Name in reports and commands. Can’t be changed later."),
    )

    def __init__(self, data: QueryDict | None, look: CascadeLook) -> None:
        self.held = [one["agreement"] for one in look.result["certified"] if one["step"] is not None]
        name = f"{look.cheap.judge.name}-{look.dear.judge.name}"[:200]
        super().__init__(data, initial={"name": name, "agreement": f"{self.held[-1]:g}" if self.held else None})
        field = self.fields["agreement"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(f"{one:g}", f"{one:.0%}") for one in self.held]


@project_view("reports", get="reports.read", post="judges.change")
def cascade(page: ProjectPage, key: str, number: int) -> HttpResponse:
    """What a look at two judges certified; a POST makes a judge of it."""
    found = _one(page, key, number)
    form = UseForm(page.data, found)
    if form.is_valid():
        with RefusalsShown(form):
            given = form.cleaned_data
            made = use_cascade(look=found, agreement=float(given["agreement"]), name=given["name"], actor=page.user)
            messages.success(page.request, _("Judge created. Run it on the samples that it is to decide."))
            return page.redirect("judge", made.pk)
    titles = {"cheap": _title(found.cheap), "dear": _title(found.dear)}
    prices = Prices({titles["cheap"]: found.cheap, titles["dear"]: found.dear})
    rows = [_certified(one, titles, prices) for one in found.result["certified"]]
    context = {
        "criterion": asked_criterion(page.project, key),
        "look": found,
        **titles,
        "level": percent_of(found.level),
        "rows": rows,
        "held": [row for row in rows if row["shares"] is not None],
        "alone": {"price": prices.of(titles["dear"]), "title": titles["dear"]},
        "plot": plot_of(
            [(row["agreement"], "", row["shares"], row["price"]) for row in rows if row["shares"] is not None]
        ),
        "result": found.result,
        "used": [_used(page, key, version) for version in judges_of(found)],
        "form": form if page.may("judges.change") and form.held else None,
    }
    return page.render("reports/report_cascade.html", context, status=status_of(form))


def _one(page: ProjectPage, key: str, number: int) -> CascadeLook:
    looks = CascadeLook.objects.filter(project=page.project, criterion_key=key, number=number)
    parts = ("cheap__judge__project", "dear__judge__project", "cheap__endpoint", "dear__endpoint", "criterion__project")
    return first_or_raise(looks.select_related("project", *parts), Http404(_("Test evaluation not found.")))


def _title(version: JudgeVersion) -> str:
    return version.judge.name if version.label == "1" else f"{version.judge.name} {version.label}"


def _certified(one: Mapping[str, Any], titles: Mapping[str, str], prices: Prices) -> dict[str, Any]:
    step, agreement = one["step"], f"{one['agreement']:.0%}"
    if step is None:
        return {"agreement": agreement, "shares": None, "why": in_words(one["reason"])}
    shares = Shares(step["shares"]["cheap"], step["shares"]["dear"], step["shares"]["people"])
    return {
        "agreement": agreement,
        "shares": shares,
        "agrees": agrees(step["disagreement"]),
        "of_settled": agrees(step["of_settled"]),
        "price": prices.of_cascade(titles["cheap"], titles["dear"], shares),
    }


def _used(page: ProjectPage, key: str, version: JudgeVersion) -> dict[str, Any]:
    standing = cascade_standing(version)
    return {
        "name": version.judge.name,
        "agreement": f"{version.config['agreement']:.0%}",
        "url": page.url("judge", version.judge_id),
        "left_url": page.url("report-cascade-left", key, version.config["look"], version.judge_id),
        "ended": "" if standing.ended is None else standing.ended[1],
        "drift": "" if standing.drift is None or standing.ended else drift_sentence(standing.drift),
    }


@project_view("reports", get="reports.read", post="batches.change")
def left(page: ProjectPage, key: str, number: int, judge_id: int) -> HttpResponse:
    """What a judge made of a cascade leaves to people; a POST makes a draft batch of it."""
    look = _one(page, key, number)
    judges = Judge.objects.filter(project=page.project, kind=JudgeKind.CASCADE, pk=judge_id)
    judge = first_or_raise(judges, Http404(_("This project has no such judge.")))
    version = current_version(judge)
    if version is None or (version.config["criterion"], version.config["look"]) != (key, number):
        raise Http404(_("This project has no such judge."))
    found = left_by_cascade(version, reader=page.user)
    # Annotators read the name: it must not say what a judge said.
    form = WhoLabelsForm(page.project, page.data, initial={"name": _("Samples for human review")})
    if form.is_valid():
        with RefusalsShown(form):
            names = found.unlabelled if page.request.POST.get("which") == "unlabelled" else found.rest
            note = _("For human review: left to people by %(judge)s, certified by test evaluation %(look)d.")
            given = {name: form.cleaned_data[name] for name in ("name", "annotators", "overlap", "due_date")}
            batch = create_batch(
                project=page.project,
                criteria=[look.criterion],
                selection={
                    "method": "list",
                    "samples": names,
                    "note": note % {"judge": judge.name, "look": number},
                    "came": Came.TRIAGE,
                },
                created_by=page.user,
                **given,
            )
            messages.success(
                page.request, _("Batch %(n)d is a draft. Open it to make the tasks.") % {"n": batch.number}
            )
            return page.redirect("batch", batch.number)
    standing = cascade_standing(version)
    context = {
        "criterion": look.criterion,
        "look": look,
        "judge": judge,
        "left": found,
        "ended": "" if standing.ended is None else standing.ended[1],
        "run_url": reverse("judge-run", args=[page.project.slug, judge.pk]) if page.may("judges.run") else "",
        "form": form if page.may("batches.change") and found.rest else None,
    }
    return page.render("reports/report_cascade_left.html", context, status=status_of(form))
