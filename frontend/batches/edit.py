"""A draft as it is edited: the form of a new batch, filled in, with its samples kept unless others are chosen."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.batches.edit import edit_batch, require_draft, samples_after, settings_of
from annotate.batches.write import plan_batch
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Refusal
from annotate.labels.gold_read import known_answers
from annotate.models import Batch
from annotate.models.batch import ConsensusRule
from annotate.projects.read import current_criteria, one_batch
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.batches.forms import METHODS, BatchForm, IdsField

KEEP = "keep"
# Settings that the form has in percent.
_PERCENTS = {f"{name}_percent": f"{name}_share" for name in ("overlap", "gold", "repeat", "settle", "withheld")}


class EditForm(BatchForm):
    add = IdsField(label=gettext_lazy("Samples to add"), help_text=gettext_lazy("Sample IDs, one per line."))
    remove = IdsField(label=gettext_lazy("Samples to remove"), help_text=gettext_lazy("Sample IDs, one per line."))

    def __init__(self, batch: Batch, *args: Any, **kwargs: Any) -> None:
        stored = settings_of(batch)
        shares = {percent: stored[share] for percent, share in _PERCENTS.items()}
        asked = {criterion.key for criterion in stored["criteria"]}
        initial = {
            **{name: value for name, value in stored.items() if value is not None},
            **{percent: round(100 * share) for percent, share in shares.items() if share is not None},
            "annotators": [user.pk for user in stored["annotators"]],
            "criteria": [one.pk for one in current_criteria(batch.project) if one.key in asked],
            "method": KEEP,
        }
        super().__init__(batch.project, *args, initial=initial, **kwargs)
        keep = (KEEP, gettext_lazy("Keep the current samples"))
        self.fields["method"].choices = [keep, *METHODS]  # type: ignore[attr-defined]

    def changes(self) -> dict[str, Any]:
        """Of a valid form: the settings that were changed. The others stay as the API may have set them: 66.6 %."""
        options = self.options()
        changed = {_PERCENTS.get(name, name) for name in self.changed_data}
        if "consensus" in changed and options["consensus"] == ConsensusRule.THRESHOLD:
            changed |= {"settle_share", "settle_votes"}
        if changed & {"criteria", *self.proposals.names.values()}:
            changed.add("proposals")
        return {name: value for name, value in options.items() if name in changed}

    def samples(self) -> dict[str, Any]:
        """As annotate.batches.edit takes them."""
        given = self.cleaned_data
        selection = None if given["method"] == KEEP else self.selection()
        return {"selection": selection, "add": given["add"], "remove": given["remove"]}


@project_view("batches", get="batches.change", post="batches.change")
def edit(page: ProjectPage, number: int) -> HttpResponse:
    batch = one_batch(page.project, number)
    try:
        require_draft(batch)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("batch", number)
    form = EditForm(batch, page.data)
    if form.is_valid():
        with RefusalsShown(form, places={"not_in_batch": "remove"}):
            edit_batch(actor=page.user, batch=batch, **form.samples(), **form.changes())
            messages.success(page.request, _("Saved."))
            return page.redirect("batch", number)
    context = {
        "form": form,
        "batch": batch,
        "samples": batch.batch_samples.count(),
        "gold": known_answers(page.project, reader=SYSTEM).count(),
    }
    return page.render("batches/batch_new.html", context, status=status_of(form))


@project_view("batches", post="batches.change")
def preview(page: ProjectPage, number: int) -> HttpResponse:
    """What the draft would be, as far as the form is filled in. Stores nothing."""
    batch = one_batch(page.project, number)
    sent = page.request.POST.copy()
    sent["name"] = sent.get("name") or "…"
    form = EditForm(batch, sent)
    plan, problem = None, ""
    if form.is_valid():
        try:
            edited = samples_after(batch, **form.samples())
            plan = plan_batch(project=page.project, selection={}, edited=edited.keys, **form.planned())
        except Refusal as refusal:
            problem = refusal.message
    return page.render("batches/partials/batch_plan.html", {"plan": plan, "problem": problem})
