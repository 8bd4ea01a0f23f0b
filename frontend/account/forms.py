from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm, UsernameField
from django.utils.translation import gettext_lazy as _

from annotate.core.errors import Refusal
from annotate.core.hotkeys import DEFAULT_HOTKEYS
from annotate.models import User
from annotate.projects.accounts import Preferences, change_preferences
from frontend.base.hotkeys import action_texts, grouped_actions


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


class KeysForm(forms.Form):
    """One field per action; an empty one means its usual keys."""

    single_keys = forms.BooleanField(
        label=_("Single-key shortcuts"),
        required=False,
        help_text=_(
            "Without them, letters and digits do nothing by themselves; Tab, arrows, Space and Enter always work."
        ),
    )
    view = forms.ChoiceField(
        label=_("Questions"), choices=[("one", _("One at a time")), ("all", _("All at once"))], widget=forms.RadioSelect
    )

    def __init__(self, preferences: Preferences, data: Any = None) -> None:
        chosen = {f"key_{action}": key for action, key in preferences.hotkeys.items()}
        super().__init__(data, initial={"single_keys": preferences.single_keys, "view": preferences.view, **chosen})
        texts = action_texts()
        for action, usual in DEFAULT_HOTKEYS.items():
            self.fields[f"key_{action}"] = forms.CharField(
                label=texts[action],
                required=False,
                max_length=1,
                strip=False,
                widget=forms.TextInput(
                    {"data-key": "", "placeholder": " ".join(usual), "autocomplete": "off", "spellcheck": "false"}
                ),
            )

    @property
    def key_groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        return [(name, [self[f"key_{action}"] for action in actions]) for name, actions in grouped_actions().items()]

    def save(self, user: User) -> bool:
        """Whether it was taken; if not, the fields that are in the way say so."""
        given = self.cleaned_data
        hotkeys = {action: given[f"key_{action}"] for action in DEFAULT_HOTKEYS if given[f"key_{action}"]}
        try:
            change_preferences(
                user=user, changes={"hotkeys": hotkeys, "single_keys": given["single_keys"], "view": given["view"]}
            )
        except Refusal as refusal:
            for field in self._in_the_way(refusal, hotkeys):
                self.add_error(field, refusal.message)
            return False
        return True

    def _in_the_way(self, refusal: Refusal, hotkeys: dict[str, str]) -> list[str | None]:
        key = refusal.details.get("key")
        actions = refusal.details.get("actions") or [
            action for action, chosen in hotkeys.items() if chosen.lower() == key
        ]
        mine = [f"key_{action}" for action in actions if action in hotkeys]
        return list(mine) or [None]
