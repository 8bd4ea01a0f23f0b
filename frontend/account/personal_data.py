"""What is held about a person, as a file; and the end of an account, which superusers decide."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotate.core.errors import Refusal
from annotate.core.rows import first_or_raise
from annotate.members.account_deletion import consequences, delete_account, require_deletable
from annotate.members.personal_data import written
from annotate.models import User
from frontend.base.pages import RefusalsShown, status_of

_CHUNK_BYTES = 2**16


@never_cache
@require_safe
@login_required
def download(request: HttpRequest) -> StreamingHttpResponse:
    """The person's own."""
    user = cast("User", request.user)
    name = content_disposition_header(as_attachment=True, filename=f"touchstone-{user.username}.json")
    return StreamingHttpResponse(
        _read(user), content_type="application/json", headers={"Content-Disposition": name or ""}
    )


def _read(user: User) -> Iterator[bytes]:
    """Through the disk: the database is done with before somebody with a slow line begins to read."""
    with TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        for piece in written(user, reader=user):
            file.write(piece.encode())
        file.seek(0)
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk


class DeleteForm(forms.Form):
    confirm = forms.CharField(
        label=gettext_lazy("User name"),
        max_length=150,
        help_text=gettext_lazy("Type the user name of this account to confirm."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete(request: HttpRequest, username: str) -> HttpResponse:
    """Says what goes and what stays; a POST deletes. For superusers: an account belongs to no project."""
    actor = cast("User", request.user)
    missing = Http404(_("Account not found."))
    if not actor.is_superuser:
        raise missing
    person = first_or_raise(User.objects.filter(username=username), missing)
    form = DeleteForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with RefusalsShown(form, "confirm"):
            pseudonym = delete_account(actor=actor, user=person, confirm=form.cleaned_data["confirm"])
            if person == actor:
                logout(request)  # its session is gone
            messages.success(request, _("Account deleted. Its labels are now by “%(name)s”.") % {"name": pseudonym})
            return redirect("home")
    try:
        require_deletable(person)
        refused = ""
    except Refusal as refusal:
        refused = refusal.message
    context = {"person": person, "form": form, "left": consequences(person), "refused": refused}
    return render(request, "account/delete.html", context, status=status_of(form))
