from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm, UsernameField
from django.utils.translation import gettext_lazy as _

from annotate.models import User


class EmailForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ("email",)
        labels = {"email": _("E-mail address")}
        help_texts = {
            "email": _(
                "For mail about your tasks: new ones, returned ones, those due tomorrow. Leave it empty to get none."
            )
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].widget.attrs["autocomplete"] = "email"


class SignUpForm(BaseUserCreationForm):
    """The account of somebody who was invited."""

    class Meta:
        model = User
        fields = ("username", "display_name", "email")
        field_classes = {"username": UsernameField}
        labels = {"username": _("User name"), "display_name": _("Full name"), "email": _("E-mail address")}
        help_texts = {
            "username": _("Letters, digits and @ . + - _ only. You log in with it."),
            "display_name": _("What other people see."),
            "email": _("For mail about your tasks. Leave it empty to get none."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["display_name"].widget.attrs["autocomplete"] = "name"
        self.fields["email"].widget.attrs["autocomplete"] = "email"
        # Opening the page must not jump over what it says.
        self.fields["username"].widget.attrs.pop("autofocus", None)
