"""The claims of a sample, edited before people label them, and those of a batch, one sample after the other."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie

from annotate.api.samples_serializers import EditedClaims
from annotate.core.units import unit_count
from annotate.models import Batch
from annotate.models.batch import BatchStatus
from annotate.projects.read import one_batch, one_sample
from annotate.samples.claims_read import Walk, batch_claims, claims_state, walk_through
from frontend.base.hotkeys import keys_context
from frontend.base.pages import ProjectPage, project_view
from judges.proposals.read import proposers


@never_cache
@ensure_csrf_cookie
@project_view("samples", get="claims.change")
def claims(page: ProjectPage, sample_id: int) -> HttpResponse:
    """One page, then JSON. `?batch=3`: on the way through the samples of a batch."""
    sample = one_sample(page.project, sample_id)
    if sample.answer is None:
        raise Http404(_("This sample has no answer, so it has no claims."))
    number = _number(page.request.GET.get("batch"))
    batch = one_batch(page.project, number) if number is not None else None
    walk = walk_through(batch, sample.pk) if batch else None
    shortcuts = keys_context(page.user, "claims")
    data = {
        "keys": shortcuts["keys"],
        "user_id": page.user.pk,
        "csrf_cookie": settings.CSRF_COOKIE_NAME,
        "api": f"/api/projects/{page.project.slug}/samples/{sample.pk}/claims/",
        "answer": sample.answer,
        "state": EditedClaims.show(claims_state(sample, user=page.user)),
        "next_url": f"{page.url('batch-claims', batch.number)}?after={sample.pk}" if batch and walk else None,
    }
    context = {
        "sample": sample,
        "batch": batch,
        "data": data,
        "login_url": reverse("login"),
        **_around(page, batch, walk),
        **shortcuts,
    }
    return page.render("data/claims.html", context)


def _around(page: ProjectPage, batch: Batch | None, walk: Walk | None) -> dict[str, Any]:
    if batch is None or walk is None:
        return {"walk": None}

    def link(sample_id: int | None) -> str:
        return f"{page.url('claims', sample_id)}?batch={batch.number}" if sample_id is not None else ""

    return {"walk": walk, "previous": link(walk.previous), "following": link(walk.following)}


@project_view("batches", get="claims.change")
def of_batch(page: ProjectPage, number: int) -> HttpResponse:
    """The batch's samples and whose claims were checked. `?after=7`: on to the next one that was not."""
    batch = one_batch(page.project, number)
    after = _number(page.request.GET.get("after"))
    walk = walk_through(batch, after)
    if walk is None:
        raise Http404(_("Sample not found in this batch."))
    if after is not None:
        if walk.next is not None:
            return HttpResponseRedirect(f"{page.url('claims', walk.next)}?batch={batch.number}")
        messages.success(page.request, _("All claims of this batch are checked."))
        return page.redirect("batch-claims", batch.number)
    rows = page.rows(batch_claims(batch))
    listed = [
        {"sample": row.sample, "claims": unit_count(row.sample, "claim"), "is_checked": row.is_checked} for row in rows
    ]
    may_propose = page.may("judges.run") and batch.status == BatchStatus.DRAFT
    context = {
        "batch": batch,
        "walk": walk,
        "rows": rows,
        "listed": listed,
        "proposers": proposers(page.project) if may_propose else [],
    }
    return page.render("data/batch_claims.html", context)


def _number(text: str | None) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise Http404(_("Not found."))
    return int(text)
