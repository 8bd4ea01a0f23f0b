from __future__ import annotations

import secrets
from typing import Any

from django import forms
from django.contrib.auth.forms import UsernameField
from django.utils.translation import gettext_lazy as _

from annotate.members.invites import DEFAULT_DAYS, MAX_DAYS, MAX_USES
from annotate.models import Project, User
from annotate.models.project import Role
from frontend.base.forms import offer_members

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
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.ANNOTATOR, help_text=ROLE_HELP)
    email = forms.EmailField(
        label=_("E-mail address"),
        required=False,
        help_text=_("Where to send the link. You can also hand it over yourself."),
    )
    max_uses = forms.IntegerField(
        label=_("For how many people"), min_value=1, max_value=MAX_USES, initial=1, widget=forms.NumberInput
    )
    days = forms.IntegerField(
        label=_("How many days the link works"), min_value=1, max_value=MAX_DAYS, initial=DEFAULT_DAYS
    )
    tags = TagsField(
        label=_("Expertise"),
        help_text=_(
            "What they know about, separated by commas. A batch can send each sample to people who know about it."
        ),
    )


class HandOnForm(forms.Form):
    """Who gets the open tasks of somebody who leaves."""

    to = forms.ModelMultipleChoiceField(
        label=_("Who gets the open tasks"),
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("If you tick nobody, they are shared evenly among the other annotators of each batch."),
    )

    def __init__(self, project: Project, leaving: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_members(self.fields["to"], project, without=leaving)


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
