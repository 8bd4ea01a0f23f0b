"""What one has labelled: to look for a sample again, and to change one's mind while its batch is open."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from annotate.core.errors import Refusal
from annotate.tasks.read import finished_tasks, is_own_task, may_change
from annotate.tasks.write import reopen_task
from frontend.forms.samples import WorkSearch
from frontend.views.base import ProjectPage, project_view

PAGE_SIZE = 50


@project_view("label", get="work.label")
def done(page: ProjectPage) -> HttpResponse:
    form = WorkSearch(page.request.GET)
    words = form.cleaned_data["q"] if form.is_valid() else ""
    pages = Paginator(finished_tasks(user=page.user, project=page.project, words=words), PAGE_SIZE)
    rows = pages.get_page(page.request.GET.get("page"))
    listed = [{"task": task, "may_change": may_change(task)} for task in rows]
    query = urlencode({"q": words}) + "&" if words else ""
    context = {"form": form, "words": words, "query": query, "rows": rows, "listed": listed}
    return page.render("frontend/own_work.html", context)


@project_view("label", post="work.label")
def change(page: ProjectPage, task_id: int) -> HttpResponse:
    """Takes the task back and opens it."""
    if not is_own_task(page.user, page.project, task_id):
        raise Http404(_("There is no such task for you."))
    try:
        reopen_task(actor=page.user, task_id=task_id)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("label-done")
    return HttpResponseRedirect(f"{page.url('label')}?task={task_id}")
