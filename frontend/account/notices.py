"""Notices: what concerns the person, since they last marked it as read; and how many are new, in every header."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotate.models import User
from annotate.projects.accounts import mark_notices_read
from annotate.projects.notices_read import MOST, Notice, new_notices, notices
from judges.reports.notices_read import judge_notices, new_judge_notices

# Kind -> its sentence, and the page that it leads to.
_WORDS = {
    "answered": gettext_noop("Your question was answered"),
    "asked": gettext_noop("An annotator asked a question"),
    "returned": gettext_noop("A task in “%(name)s” was sent back to you"),
    "given": gettext_noop("New tasks in “%(name)s”"),
    "disputes": gettext_noop("Labelling of “%(name)s” ended: its disagreements need adjudication"),
    "qualified": gettext_noop("You are qualified in “%(name)s”"),
    "not_qualified": gettext_noop("You did not pass the test of “%(name)s”"),
    "imported": gettext_noop("Your import of “%(name)s” is done"),
    "import_failed": gettext_noop("Your import of “%(name)s” failed"),
    "run_done": gettext_noop("Your run of “%(name)s” is done"),
    "run_stopped": gettext_noop("Your run of “%(name)s” stopped"),
    "report_made": gettext_noop("Your report on “%(name)s” is ready"),
    "drifted": gettext_noop("Drift: the certificate of “%(name)s” no longer holds"),
    "certificate_ended": gettext_noop("The certificate of “%(name)s” no longer holds"),
}


def _judge(one: Notice) -> str:
    return f"{reverse('report-judge', args=[one.slug, one.key])}?{urlencode({'judge': one.name})}"


_PAGES: dict[str, Callable[[Notice], str]] = {
    "answered": lambda one: reverse("question", args=[one.slug, one.number]),
    "asked": lambda one: reverse("question", args=[one.slug, one.number]),
    "returned": lambda one: f"{reverse('label', args=[one.slug])}?task={one.number}",
    "given": lambda one: reverse("label", args=[one.slug]),
    "disputes": lambda one: f"{reverse('adjudicate', args=[one.slug])}?batch={one.number}",
    "qualified": lambda one: reverse("own-qualification", args=[one.slug, one.number]),
    "not_qualified": lambda one: reverse("own-qualification", args=[one.slug, one.number]),
    "imported": lambda one: reverse("import", args=[one.slug]),
    "import_failed": lambda one: reverse("import", args=[one.slug]),
    "run_done": lambda one: reverse("run", args=[one.slug, one.number]),
    "run_stopped": lambda one: reverse("run", args=[one.slug, one.number]),
    "report_made": lambda one: reverse("report", args=[one.slug, one.key]),
    "drifted": _judge,
    "certificate_ended": _judge,
}


@dataclass(frozen=True)
class Row:
    notice: Notice
    text: str
    url: str


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest) -> HttpResponse:
    """The list; a POST marks as read what was on it when it was shown."""
    user = cast("User", request.user)
    if request.method == "POST":
        try:
            until = datetime.fromisoformat(request.POST.get("until", ""))
        except ValueError:
            messages.error(request, _("Nothing was marked: the page was incomplete. Reload it."))
            return redirect("notices")
        mark_notices_read(user=user, until=until if until.tzinfo else timezone.make_aware(until))
        messages.success(request, _("Marked as read."))
        return redirect("notices")
    found = sorted([*notices(user), *judge_notices(user)], key=lambda one: one.at, reverse=True)[:MOST]
    rows = [Row(one, _(_WORDS[one.kind]) % {"name": one.name}, _PAGES[one.kind](one)) for one in found]
    new = [row.notice.at for row in rows if row.notice.is_new]
    return render(request, "account/notices.html", {"rows": rows, "until": max(new).isoformat() if new else ""})


def header(request: HttpRequest) -> dict[str, Callable[[], int]]:
    """For every template: how many notices are new, asked for where that is shown."""
    user = getattr(request, "user", None)

    def count() -> int:
        if not isinstance(user, User) and not getattr(user, "is_authenticated", False):
            return 0
        person = cast("User", user)
        return min(new_notices(person) + new_judge_notices(person), MOST)

    return {"new_notices": count}
