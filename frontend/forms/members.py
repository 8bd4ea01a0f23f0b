from __future__ import annotations

import secrets
from typing import Any

from django import forms
from django.contrib.auth.forms import UsernameField
from django.utils.translation import gettext_lazy as _

from annotate.models import User
from annotate.models.people import Role

ROLE_HELP = _(
    "Annotators label their own tasks. Reviewers also read samples and reports and settle disagreements. "
    "Admins run the project."
)


class MemberForm(forms.Form):
    """Somebody who has an account already."""

    username = forms.CharField(label=_("User name"), max_length=150)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.ANNOTATOR, help_text=ROLE_HELP)

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise forms.ValidationError(_("There is no active account “%(name)s”.") % {"name": name})
        self.user = user
        return name


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


class AccountForm(forms.ModelForm):
    """A new account with an initial password of our making, which is shown once."""

    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.ANNOTATOR, help_text=ROLE_HELP)

    class Meta:
        model = User
        fields = ("username", "display_name")
        field_classes = {"username": UsernameField}
        labels = {"username": _("User name"), "display_name": _("Full name")}
        help_texts = {"username": _("Letters, digits and @ . + - _ only."), "display_name": ""}

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
