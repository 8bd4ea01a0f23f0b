"""More of a batch that is under way: a later date, more people, more samples."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _

from annotate.batches.steps import extend_batch
from annotate.core.errors import Refusal
from annotate.projects.read import one_batch
from frontend.forms.batch_tasks import ExtendForm
from frontend.views.base import ProjectPage, project_view, refuse, status_of


@project_view("batches", get="batches.change", post="batches.change")
def extend(page: ProjectPage, number: int) -> HttpResponse:
    batch = one_batch(page.project, number)
    form = ExtendForm(batch, page.data, initial={"due_date": batch.due_date})
    status = status_of(form)
    if form.is_valid():
        given = form.cleaned_data
        try:
            extend_batch(
                actor=page.user,
                batch=batch,
                due_date=given["due_date"],
                annotators=list(given["annotators"]),
                selection=form.selection(),
            )
        except Refusal as refusal:
            status = refuse(form, refusal)
        else:
            messages.success(page.request, _("Batch %(n)d is extended.") % {"n": number})
            return page.redirect("batch", number)
    outside = page.project.samples.count() - batch.batch_samples.count()
    return page.render("frontend/batch_extend.html", {"form": form, "batch": batch, "outside": outside}, status=status)
