"""Where the system is asked: a form for it, one question that tries it, and the runs that asked it."""

from __future__ import annotations

from typing import Any

import orjson
from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.errors import Refusal
from annotate.files.problems import RowError
from annotate.files.strict_json import parse_document
from annotate.models import Project
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, refuse, status_of
from frontend.judges.run_words import TONES
from judges.endpoints.read import endpoints_of
from judges.models import RunState
from systems.models import Method, SystemVersion, Target
from systems.responses.read import one_version, versions_of
from systems.targets.read import own_target, runs_of, target_of, versions_with_target
from systems.targets.replies import OF_CONTEXT, OF_REPLY
from systems.targets.write import (
    TargetTrial,
    remove_target,
    set_target,
    try_target,
    unsaved_question,
    unsaved_version,
)

LONGEST_QUESTION = 10_000
_PLAIN: dict[str, Any] = {"spellcheck": "false", "autocomplete": "off"}
# Of a target that nobody has defined yet.
_EXAMPLE = {
    "path": "/ask",
    "body": {"question": "{{question}}"},
    "reply": {"answer": "/answer", "contexts": "/contexts", "context_text": "/text", "context_id": "/id"},
}


class TargetForm(forms.Form):
    """Headers and pointers stand one per line."""

    endpoint = forms.ChoiceField(
        label=gettext_lazy("Endpoint"), help_text=gettext_lazy("It has the address, the key and the limits.")
    )
    method = forms.ChoiceField(label=gettext_lazy("Method"), choices=Method.choices, initial=Method.POST)
    path = forms.CharField(
        label=gettext_lazy("Path"),
        required=False,
        max_length=500,
        widget=forms.TextInput({"placeholder": "/ask", **_PLAIN}),
        help_text=gettext_lazy("Added to the endpoint’s base URL."),
    )
    headers = forms.CharField(
        label=gettext_lazy("Headers"),
        required=False,
        widget=forms.Textarea({"rows": 2, "placeholder": "X-API-Key: {{key}}", **_PLAIN}),
        help_text=gettext_lazy(
            "One per line. The key is sent as Authorization: Bearer, or where a header has {{key}}. Don’t write "
            "secrets here: all admins see them."
        ),
    )
    body = forms.CharField(
        label=gettext_lazy("Body"),
        required=False,
        widget=forms.Textarea({"rows": 8, **_PLAIN}),
        help_text=gettext_lazy(
            "JSON with {{question}}, {{messages}}, {{turns}}, {{question_id}}, {{repeat}}, {{version}} or "
            "{{configuration.key}}. Leave empty for no body."
        ),
    )
    reply = forms.CharField(
        label=gettext_lazy("Reply"),
        widget=forms.Textarea({"rows": 8, **_PLAIN}),
        help_text=gettext_lazy("One JSON pointer per line. Those of a context begin at the context."),
    )

    def __init__(self, project: Project, target: Target | None, data: Any = None) -> None:
        super().__init__(data, initial=_as_typed(target))
        names = endpoints_of(project).values_list("name", flat=True)
        self.fields["endpoint"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]

    def clean_headers(self) -> dict[str, str]:
        return _lines(self.cleaned_data["headers"], ":", "X-API-Key: {{key}}")

    def clean_reply(self) -> dict[str, str]:
        return _lines(self.cleaned_data["reply"], "=", "answer = /answer")

    def clean_body(self) -> Any:
        text = self.cleaned_data["body"]
        if not text.strip():
            return None
        try:
            return parse_document(text.encode(), what="body")
        except RowError as error:
            raise forms.ValidationError(_("Body: %(problem)s") % {"problem": error.message}) from None

    def show(self, refusal: Refusal) -> None:
        field = str(refusal.details.get("field", "")).partition(".")[0]
        refuse(self, refusal, field if field in self.fields else None)


def _lines(text: str, sign: str, example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in filter(str.strip, text.splitlines()):
        name, middle, value = (part.strip() for part in line.partition(sign))
        if not middle or not name or name in found:
            words = _("“%(line)s” must be like %(example)s, each name once.")
            raise forms.ValidationError(words % {"line": line[:80], "example": example})
        found[name] = value
    return found


def _as_typed(target: Target | None) -> dict[str, Any]:
    if target is None:
        said: dict[str, Any] = {"method": Method.POST, "headers": {}, **_EXAMPLE}
    else:
        said = {name: getattr(target, name) for name in ("method", "path", "headers", "body", "reply")}
        said["endpoint"] = target.endpoint.name
    body, reply = said["body"], said["reply"]
    return {
        **said,
        "headers": "\n".join(f"{name}: {value}" for name, value in said["headers"].items()),
        "body": "" if body is None else orjson.dumps(body, option=orjson.OPT_INDENT_2).decode(),
        "reply": "\n".join(f"{name} = {reply[name]}" for name in (*OF_REPLY, *OF_CONTEXT) if name in reply),
    }


class TryForm(forms.Form):
    question = forms.CharField(
        label=gettext_lazy("Question"), max_length=LONGEST_QUESTION, widget=forms.Textarea({"rows": 2})
    )


@project_view("systems", get="endpoints.read", post="endpoints.change")
def target(page: ProjectPage, version_id: int | None = None) -> HttpResponse:
    """version_id: whose own target; without it, that of all versions that have none."""
    version = None if version_id is None else one_version(page.project, version_id)
    stands = _stands(page.project, version)
    form = TargetForm(page.project, stands, page.data)
    if form.is_valid():
        with RefusalsShown(form, show=form.show):
            set_target(actor=page.user, project=page.project, version=version, said=form.cleaned_data)
            messages.success(page.request, _("Saved. Try it with one question next."))
            return _back(page, version)
    return _page(page, version, {"form": form}, status_of(form))


@project_view("systems", post="endpoints.change")
def attempt(page: ProjectPage, version_id: int | None = None) -> HttpResponse:
    """No redirect: what came of it is kept nowhere."""
    version = None if version_id is None else one_version(page.project, version_id)
    stands = _stands(page.project, version)
    if stands is None:
        raise Http404
    form, trial = TryForm(page.data), None
    if form.is_valid():
        asked = version or versions_of(page.project).first() or unsaved_version(page.project)
        trial = try_target(target=stands, version=asked, question=unsaved_question(form.cleaned_data["question"]))
    return _page(page, version, {"try_form": form, "trial": trial and _shown(trial)}, status_of(form))


@project_view("systems", get="endpoints.change", post="endpoints.change")
def remove(page: ProjectPage, version_id: int | None = None) -> HttpResponse:
    version = None if version_id is None else one_version(page.project, version_id)
    if own_target(page.project, version) is None:
        raise Http404
    if page.request.method == "POST":
        remove_target(actor=page.user, project=page.project, version=version)
        messages.success(page.request, _("Target removed."))
        return _back(page, version)
    return page.render("systems/target_remove.html", {"version": version})


def _stands(project: Project, version: SystemVersion | None) -> Target | None:
    return own_target(project, None) if version is None else target_of(version)


def _back(page: ProjectPage, version: SystemVersion | None) -> HttpResponse:
    return page.redirect("target") if version is None else page.redirect("version-target", version.pk)


def _shown(trial: TargetTrial) -> dict[str, Any]:
    said: list[tuple[str, Any]] = []
    if trial.mapped is not None:
        measures = trial.mapped.measures
        said = [(name, float(f"{measures[name]:.6g}")) for name in OF_REPLY if name in measures]
        if trial.mapped.abstained is not None:
            said.append(("abstained", str(trial.mapped.abstained).lower()))
    return {"trial": trial, "mapped": trial.mapped, "measures": said, "raw": trial.shown_raw if trial.raw else ""}


def _page(page: ProjectPage, version: SystemVersion | None, more: dict[str, Any], status: int) -> HttpResponse:
    own, stands = own_target(page.project, version), _stands(page.project, version)
    runs = runs_of(page.project)
    if version is not None:
        runs = runs.filter(version=version)
    rows = page.rows(runs)
    context = {
        "version": version,
        "target": stands,
        "is_own": own is not None,
        "has_endpoints": endpoints_of(page.project).exists(),
        "others": [] if version else versions_with_target(page.project),
        "form": TargetForm(page.project, stands),
        "of_reply": OF_REPLY,
        "of_context": OF_CONTEXT,
        "try_form": TryForm(),
        "rows": rows,
        "runs": [(run, TONES[RunState(run.state)]) for run in rows],
        "may_change": page.may("endpoints.change"),
        "may_ask": page.may("systems.ask"),
        **more,
    }
    return page.render("systems/target.html", context, status=status)
