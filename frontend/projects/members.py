"""Who takes part, and as what; and the page of an invitation: what it is to, and how to join."""

from __future__ import annotations

import secrets
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.forms import UsernameField
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotate.batches.read import open_work
from annotate.core.attempts import count_wrong_secret
from annotate.core.errors import Refusal
from annotate.core.permissions import may, resettable, role_of
from annotate.core.rows import first_or_raise
from annotate.members.write import (
    DEFAULT_DAYS,
    MAX_DAYS,
    MAX_USES,
    accept_invite,
    change_tags,
    create_invite,
    deactivate_member,
    find_invite,
    reactivate_member,
    revoke_invite,
)
from annotate.models import Invite, Membership, Project, User
from annotate.models.project import Role
from annotate.projects.read import members_of, no_member, open_invites
from annotate.projects.write import remove_member, set_member
from annotate.tasks.mail import send_invitation
from frontend.account.second_factor import after_password
from frontend.account.sessions import ways_in
from frontend.account.views import SignUpForm
from frontend.base.forms import offer_members
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of

ROLE = forms.ChoiceField(
    label=gettext_lazy("Role"),
    choices=Role.choices,
    initial=Role.ANNOTATOR,
    help_text=gettext_lazy(
        "Annotators label. Reviewers also adjudicate and see samples and reports. Admins manage the project."
    ),
)


class MemberForm(forms.Form):
    """A new member who has an account already."""

    username = forms.CharField(label=gettext_lazy("User name"), max_length=150)
    role = ROLE

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise forms.ValidationError(gettext_lazy("No active account “%(name)s” found.") % {"name": name})
        self.user = user
        return name


class TagsField(forms.CharField):
    """Texts separated by commas, as a list."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "max_length": 2000, **kwargs})

    def clean(self, value: Any) -> list[str]:
        return [tag.strip() for tag in super().clean(value).split(",") if tag.strip()]

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value


class ChangeForm(forms.Form):
    """A row of the list."""

    role = forms.ChoiceField(choices=Role.choices)
    tags = TagsField()


class InviteForm(forms.Form):
    role = ROLE
    email = forms.EmailField(
        label=gettext_lazy("Email address"),
        required=False,
        help_text=gettext_lazy("Where to send the link. You can also share it yourself."),
    )
    max_uses = forms.IntegerField(
        label=gettext_lazy("Number of uses"), min_value=1, max_value=MAX_USES, initial=1, widget=forms.NumberInput
    )
    days = forms.IntegerField(
        label=gettext_lazy("Valid for (days)"), min_value=1, max_value=MAX_DAYS, initial=DEFAULT_DAYS
    )
    tags = TagsField(
        label=gettext_lazy("Expertise"),
        help_text=gettext_lazy("Separate with commas. A batch can send samples only to members who have it."),
    )


class HandOnForm(forms.Form):
    """Who gets the open tasks of a member who leaves."""

    to = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Reassign open tasks to"),
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("If none are selected, each batch’s other annotators share them evenly."),
    )

    def __init__(self, project: Project, leaving: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_members(self.fields["to"], project, without=leaving)


class AccountForm(forms.ModelForm):
    """A new account with an initial password of our making, which is shown once."""

    role = ROLE

    class Meta:
        model = User
        fields = ("username", "display_name")
        field_classes = {"username": UsernameField}
        labels = {"username": gettext_lazy("User name"), "display_name": gettext_lazy("Full name")}
        help_texts = {"username": gettext_lazy("Letters, digits and @ . + - _ only."), "display_name": ""}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The browser should not fill in the admin's own name, nor jump here.
        self.fields["username"].widget.attrs.update({"autocomplete": "off"})
        self.fields["username"].widget.attrs.pop("autofocus", None)

    def create(self) -> tuple[User, str]:
        """The saved account and its password. The caller adds the member in the same transaction."""
        user, password = self.save(commit=False), secrets.token_urlsafe(12)
        user.set_password(password)
        user.save()
        return user, password


@project_view("members", get="members.read", post="members.change")
def members(page: ProjectPage) -> HttpResponse:
    """The list; a POST adds a member who has an account."""
    form = MemberForm(page.data)
    if form.is_valid():
        with RefusalsShown(form):
            member = set_member(project=page.project, user=form.user, role=form.cleaned_data["role"], actor=page.user)
            role = member.get_role_display().lower()
            messages.success(page.request, _("%(name)s is now %(role)s.") % {"name": member.user.name, "role": role})
            return page.redirect("members")
    return show_members(page, {"form": form}, status_of(form))


@never_cache
@project_view("members", post="members.change")
def new_account(page: ProjectPage) -> HttpResponse:
    """Makes an account and shows its password. No redirect: the password is kept nowhere, so only this page has it."""
    if not settings.PASSWORD_LOGIN:
        raise Http404
    form = AccountForm(page.request.POST, prefix="account")
    if form.is_valid():
        with RefusalsShown(form):
            with transaction.atomic():
                user, password = form.create()
                set_member(project=page.project, user=user, role=form.cleaned_data["role"], actor=page.user)
            return show_members(page, {"made": {"user": user, "password": password}}, 201)
    return show_members(page, {"account_form": form}, status_of(form))


@project_view("members", post="members.change")
def change(page: ProjectPage, username: str) -> HttpResponse:
    """Role and expertise, as they stand in the row."""
    user, form = one_member(page, username).user, ChangeForm(page.request.POST)
    if not form.is_valid():
        why = next(iter(form.errors.values()))[0]
        messages.error(page.request, _("No changes were made: %(why)s") % {"why": why})
        return page.redirect("members")

    def act() -> None:
        with transaction.atomic():
            set_member(project=page.project, user=user, role=form.cleaned_data["role"], actor=page.user)
            change_tags(actor=page.user, project=page.project, user=user, tags=form.cleaned_data["tags"])

    page.attempt(act, _("Saved: %(name)s.") % {"name": user.name})
    return _back(page, user)


@project_view("members", get="members.change", post="members.change")
def deactivate(page: ProjectPage, username: str) -> HttpResponse:
    """GET shows what is left to do and asks who gets it; POST ends the membership and hands it on."""
    user = one_member(page, username).user
    form = HandOnForm(page.project, user, page.data)
    if form.is_valid():
        to = list(form.cleaned_data["to"]) or None
        with RefusalsShown(form):
            moved = deactivate_member(actor=page.user, project=page.project, user=user, hand_on_to=to)
            said = ngettext(
                "%(name)s deactivated; %(n)d open task reassigned. Their labels are kept.",
                "%(name)s deactivated; %(n)d open tasks reassigned. Their labels are kept.",
                moved,
            )
            messages.success(page.request, said % {"name": user.name, "n": moved})
            return _back(page, user)
    context = {"person": user, "form": form, "rows": open_work(page.project, user)}
    return page.render("projects/member_deactivate.html", context, status=status_of(form))


@project_view("members", post="members.change")
def reactivate(page: ProjectPage, username: str) -> HttpResponse:
    user = one_member(page, username).user
    done = _("%(name)s reactivated.") % {"name": user.name}
    page.attempt(lambda: reactivate_member(actor=page.user, project=page.project, user=user), done)
    return page.redirect("members")


@project_view("members", post="members.change")
def remove(page: ProjectPage, username: str) -> HttpResponse:
    user = one_member(page, username).user
    done = _("%s is no longer a member. Their labels are kept.") % user.name
    page.attempt(lambda: remove_member(project=page.project, user=user, actor=page.user), done)
    return _back(page, user)


@never_cache
@project_view("members", post="members.change")
def invite(page: ProjectPage) -> HttpResponse:
    """Makes an invitation and shows its link. No redirect: the link is kept nowhere, so only this page has it."""
    form = InviteForm(page.request.POST, prefix="invite")
    if form.is_valid():
        with RefusalsShown(form):
            made, token = create_invite(actor=page.user, project=page.project, **form.cleaned_data)
            mailed = bool(made.email) and send_invitation(invite=made, token=token)
            link = page.request.build_absolute_uri(reverse("invite", args=[token]))
            return show_members(page, {"invited": {"invite": made, "link": link, "mailed": mailed}}, 201)
    return show_members(page, {"invite_form": form}, status_of(form))


@project_view("members", post="members.change")
def revoke(page: ProjectPage, invite_id: int) -> HttpResponse:
    done = _("Invitation revoked. Its link no longer works.")
    page.attempt(lambda: revoke_invite(actor=page.user, project=page.project, invite_id=invite_id), done)
    return page.redirect("members")


def show_members(page: ProjectPage, forms: dict[str, Any], status: int) -> HttpResponse:
    listed = list(members_of(page.project))
    may_reset = resettable(page.user, [member.user for member in listed if member.is_active])
    rows = [
        {
            "member": member,
            "form": ChangeForm(initial={"role": member.role, "tags": member.tags}),
            "may_reset": member.user_id in may_reset,
        }
        for member in listed
    ]
    blank = {
        "form": MemberForm(),
        "account_form": AccountForm(prefix="account"),
        "invite_form": InviteForm(prefix="invite"),
    }
    context = {"ways": ways_in(), "rows": rows, "invites": list(open_invites(page.project)), **blank, **forms}
    return page.render("projects/members.html", context, status=status)


def _back(page: ProjectPage, changed: User) -> HttpResponse:
    """To the list; people who gave up their own role may not be allowed to see it any more."""
    role = role_of(page.user, page.project) if changed == page.user else page.role
    return page.redirect("members") if role is not None and may(role, "members.read") else redirect("home")


def one_member(page: ProjectPage, username: str) -> Membership:
    members = members_of(page.project).filter(user__username=username)
    return first_or_raise(members, no_member(username))


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def open_invite(request: HttpRequest, token: str) -> HttpResponse:
    """One page for every link that can't be used, whatever the reason."""
    try:
        found = find_invite(token)
        if request.user.is_authenticated:
            return _join(request, found, token)
        return _sign_up(request, found, token)
    except Http404:
        count_wrong_secret(request)
        return render(request, "projects/invite_gone.html", status=404)


def _join(request: HttpRequest, found: Invite, token: str) -> HttpResponse:
    user = cast("User", request.user)
    if role_of(user, found.project) is not None:
        messages.info(request, _("You’re already a member of “%(project)s”.") % {"project": found.project.name})
        return redirect("project", slug=found.project.slug)
    refused = ""
    if request.method == "POST":
        try:
            return _welcome(request, accept_invite(user=user, token=token))
        except Refusal as refusal:
            refused = refusal.message
    context = {"invite": found, "refused": refused}
    return render(request, "projects/invite.html", context, status=409 if refused else 200)


def _sign_up(request: HttpRequest, found: Invite, token: str) -> HttpResponse:
    """An account is made together with its membership, or not at all."""
    ways = ways_in()
    sent = request.POST if request.method == "POST" and ways["by_password"] else None
    form = SignUpForm(sent, initial={"email": found.email})
    if form.is_valid():
        try:
            with transaction.atomic():
                user = form.save()
                member = accept_invite(user=user, token=token)
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        except IntegrityError:
            # The name was taken since it was checked.
            form.add_error("username", ValidationError(_("A user with that username already exists."), code="unique"))
        else:
            return after_password(request, user, _welcome(request, member).url)
    if form.is_bound:
        # Who tries name after name learns which accounts there are; past the limit no refusal says why.
        is_taken = form.has_error("username", "unique")
        count_wrong_secret(request, is_wrong=is_taken)
    context = {"invite": found, "form": form, "path": request.path, "ways": ways}
    return render(request, "projects/invite.html", context, status=422 if form.is_bound else 200)


def _welcome(request: HttpRequest, member: Membership) -> HttpResponseRedirect:
    said = _("Welcome to “%(project)s”. Your role: %(role)s.")
    messages.success(request, said % {"project": member.project.name, "role": member.get_role_display().lower()})
    return redirect("project", slug=member.project.slug)
