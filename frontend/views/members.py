"""Who takes part, and as what."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from annotate.errors import Refusal
from annotate.models import Membership, User
from annotate.selectors.projects import members_of
from annotate.services.projects import remove_member, set_member
from frontend.forms.members import AccountForm, MemberForm, RoleForm
from frontend.views.base import ProjectPage, project_view, refuse, status_of


@project_view("members", get="members.read", post="members.change")
def members(page: ProjectPage) -> HttpResponse:
    """The list; a POST adds somebody who has an account."""
    form = MemberForm(page.data)
    status = status_of(form)
    if form.is_valid():
        try:
            member = set_member(project=page.project, user=form.user, role=form.cleaned_data["role"], actor=page.user)
        except Refusal as refusal:
            status = refuse(form, refusal)
        else:
            messages.success(page.request, _is_now(member))
            return page.redirect("members")
    return _list(page, {"form": form}, status)


@never_cache
@project_view("members", post="members.change")
def new_account(page: ProjectPage) -> HttpResponse:
    """Makes an account and shows its password. No redirect: the password is kept nowhere, so only this page has it."""
    form = AccountForm(page.request.POST, prefix="account")
    if not form.is_valid():
        return _list(page, {"account_form": form}, 422)
    try:
        with transaction.atomic():
            user, password = form.create()
            set_member(project=page.project, user=user, role=form.cleaned_data["role"], actor=page.user)
    except Refusal as refusal:
        return _list(page, {"account_form": form}, refuse(form, refusal))
    return _list(page, {"made": {"user": user, "password": password}}, 201)


@project_view("members", post="members.change")
def change_role(page: ProjectPage, username: str) -> HttpResponse:
    user, form = _member(page, username).user, RoleForm(page.request.POST)
    role = form.cleaned_data["role"] if form.is_valid() else ""
    done = _("The role of %s is changed.") % user.name
    page.attempt(lambda: set_member(project=page.project, user=user, role=role, actor=page.user), done)
    return _back(page, user)


@project_view("members", post="members.change")
def remove(page: ProjectPage, username: str) -> HttpResponse:
    user = _member(page, username).user
    done = _("%s is no longer a member. Their labels stay.") % user.name
    page.attempt(lambda: remove_member(project=page.project, user=user, actor=page.user), done)
    return _back(page, user)


def _list(page: ProjectPage, forms: dict[str, Any], status: int) -> HttpResponse:
    rows = [{"member": member, "form": RoleForm({"role": member.role})} for member in members_of(page.project)]
    blank = {"form": MemberForm(), "account_form": AccountForm(prefix="account")}
    return page.render("frontend/members.html", {"rows": rows, **blank, **forms}, status=status)


def _back(page: ProjectPage, changed: User) -> HttpResponse:
    """To the list; people who changed their own role may not be allowed to see it any more."""
    return redirect("home") if changed == page.user else page.redirect("members")


def _member(page: ProjectPage, username: str) -> Membership:
    member = members_of(page.project).filter(user__username=username).first()
    if member is None:
        raise Http404(_("This project has no member of that name."))
    return member


def _is_now(member: Membership) -> str:
    return _("%(name)s is now %(role)s.") % {"name": member.user.name, "role": member.get_role_display().lower()}
