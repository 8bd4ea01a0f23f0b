from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.batches.checks import earliest_due_date
from annotate.models import Batch, Project, User
from annotate.models.batch import TaskStatus
from annotate.tasks.read import people_of
from annotate.tasks.write import MAX_AT_ONCE
from frontend.forms.people import offer_members

# Of the choice of people: those whom nobody has taken yet.
IN_QUEUE = "-"


class TaskFilter(forms.Form):
    person = forms.ChoiceField(label=_("Person"), required=False)
    status = forms.ChoiceField(
        label=_("State"), required=False, choices=[("", _("all")), *TaskStatus.choices], initial=""
    )

    def __init__(self, batch: Batch, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = [(user.username, user.name) for user in people_of(batch)]
        self.fields["person"].choices = [("", _("everybody")), *people, (IN_QUEUE, _("nobody yet"))]  # type: ignore[attr-defined]

    def chosen(self) -> dict[str, Any]:
        """As selectors.batch_tasks takes it; what can't be understood is no filter."""
        self.is_valid()
        person = self.cleaned_data.get("person", "")
        return {
            "username": None if not person else "" if person == IN_QUEUE else person,
            "status": self.cleaned_data.get("status", ""),
        }


class MoveForm(forms.Form):
    """Ticked tasks go to one person."""

    task = forms.TypedMultipleChoiceField(coerce=int, error_messages={"required": _("Tick the tasks to hand on.")})
    to = forms.ModelChoiceField(
        label=_("Hand the ticked tasks on to"),
        queryset=User.objects.none(),
        empty_label=_("choose a person"),
        error_messages={"required": _("Choose who gets them.")},
    )

    def __init__(self, project: Project, sent: Any = None) -> None:
        super().__init__(sent)
        offer_members(self.fields["to"], project)
        # The service knows which tasks there are.
        ticked = [value for value in (sent.getlist("task") if sent else []) if value.isdecimal() and len(value) < 19]
        self.fields["task"].choices = [(value, value) for value in ticked[:MAX_AT_ONCE]]  # type: ignore[attr-defined]


class ReturnForm(forms.Form):
    message = forms.CharField(
        label=_("What should they do?"),
        max_length=10_000,
        widget=forms.Textarea({"rows": 4}),
        help_text=_("They read it beside the task. Its labels don’t count until it is submitted again."),
    )


class ExtendForm(forms.Form):
    """Each part is optional."""

    due_date = forms.DateField(
        label=_("Due date"), required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    )
    annotators = forms.ModelMultipleChoiceField(
        label=_("More people"),
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "In a balanced batch they take over tasks that nobody has begun, so that everybody has about as many left."
        ),
    )
    samples = forms.ChoiceField(
        label=_("More samples"),
        widget=forms.RadioSelect,
        initial="none",
        choices=(
            ("none", _("None")),
            ("all", _("All samples of the project that are not in this batch yet")),
            ("random", _("A random draw")),
        ),
    )
    n = forms.IntegerField(label=_("How many to draw"), min_value=1, required=False)

    def __init__(self, batch: Batch, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        first = max(filter(None, (batch.due_date, earliest_due_date())))
        self.fields["due_date"].widget.attrs["min"] = first.isoformat()
        field = self.fields["annotators"]
        offer_members(field, batch.project)
        field.queryset = field.queryset.exclude(pk__in=batch.annotators.all())  # type: ignore[attr-defined]

    def selection(self) -> dict[str, Any] | None:
        given = self.cleaned_data
        if given["samples"] == "none":
            return None
        return {"method": "all"} if given["samples"] == "all" else {"method": "random", "n": given["n"]}
