"""What all kinds of judges share where they are shown: forms, and the templates that one may start from."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from annotate.models.project import UnitKind
from annotate.projects.read import rated_criteria
from frontend.base.forms import show_field
from judges.kinds import local_models
from judges.models import Endpoint

Words = Mapping[str, str | Promise]

USUAL = ("", _("Default"))
AGAINST = [
    USUAL,
    ("contexts", _("the contexts")),
    ("question", _("the question")),
    ("answer", _("the answer")),
    ("reference", _("the reference answer")),
]


class ConfigForm(forms.Form):
    """A configuration as fields. What it must be is the kind's to say: the form hands on what was typed, and shows at
    its field what the kind refuses."""

    prefix = "config"
    # Fields that a configuration has under the same names.
    same: ClassVar[Sequence[str]] = ()
    # Of configurations -> of this form, where they have other names. The first parts of a path are enough.
    places: ClassVar[Mapping[str, str]] = {}
    # Shown folded away: few need them.
    rare: Collection[str] = ()
    # Shown side by side.
    together: ClassVar[Sequence[Collection[str]]] = ()

    def __init__(
        self,
        project: Project,
        config: Mapping[str, Any],
        data: QueryDict | None = None,
        *,
        endpoint: Endpoint | None = None,
    ) -> None:
        """Filled in from the configuration and its endpoint, unless it was sent."""
        asked = {} if endpoint is None else {"endpoint": endpoint.name}
        super().__init__(data, initial={**self.initial_of(config), **asked})
        self.project = project

    def initial_of(self, config: Mapping[str, Any]) -> dict[str, Any]:
        return given(config, *self.same)

    def config(self) -> dict[str, Any]:
        """What was typed, as the kind takes it. Of a valid form."""
        raise NotImplementedError

    def endpoint(self) -> str | None:
        """The endpoint's name, for kinds that ask a model."""
        return self.cleaned_data.get("endpoint") or None

    def refuse(self, path: str, message: str) -> None:
        """Shows what the service refused at the field that it names: "endpoint", "config.members.0.weight"."""
        parts = path.removeprefix("config.").split(".")
        for end in range(len(parts), 0, -1):
            name = self.places.get(".".join(parts[:end]), parts[0] if end == 1 else "")
            if name in self.fields:
                self.add_error(name, message)
                return
        self.add_error(None, message if path == "config" else f"{path}: {message}")

    def keep_hidden(self, name: str) -> None:
        """Of a field that the reader may not know nothing is shown, and nothing that is sent counts."""
        self.fields[name].disabled, self.initial[name] = True, ""
        self.fields[name].help_text = _(
            "Hidden until you label the samples that they come from. They stay as they are."
        )

    def usual_rows(self) -> list[list[forms.BoundField]]:
        return self._in_rows([field for field in self if field.name not in self.rare])

    def rare_rows(self) -> list[list[forms.BoundField]]:
        return self._in_rows([field for field in self if field.name in self.rare])

    def opens_rare(self) -> bool:
        """Whether there is something to see in what is folded away."""
        return any(
            field.errors or (field.value() or "") != (field.field.initial or "")
            for row in self.rare_rows()
            for field in row
        )

    def _in_rows(self, fields: list[forms.BoundField]) -> list[list[forms.BoundField]]:
        rows: list[list[forms.BoundField]] = []
        for field in fields:
            row = next((names for names in self.together if field.name in names), ())
            if rows and rows[-1][0].name in row:
                rows[-1].append(field)
            else:
                rows.append([field])
        return rows

    @property
    def endpoint_is_asked(self) -> bool:
        return "endpoint" in self.fields

    @property
    def lacks_endpoint(self) -> bool:
        """Whether it asks for an endpoint, and the project has none."""
        return self.endpoint_is_asked and not Endpoint.objects.filter(project=self.project).exists()


# Of judges that ask a model.
MODEL = forms.CharField(label=_("Model"), max_length=200, help_text=_("Name at the endpoint."))
TEMPERATURE = forms.FloatField(
    label=_("Temperature"),
    required=False,
    initial=0,
    widget=forms.NumberInput({"step": "any"}),
    help_text=_("0 is most repeatable. Leave empty to use the server’s default."),
)
SEED = forms.IntegerField(
    label=_("Random seed"),
    required=False,
    min_value=0,
    help_text=_("For servers that support it. Leave empty to send none."),
)
STRUCTURED = forms.BooleanField(
    label=_("Also send the reply format as a JSON schema"),
    required=False,
    initial=True,
    help_text=_("Turn off for servers that refuse such requests."),
)


def endpoint_field(project: Project) -> forms.ChoiceField:
    known = Endpoint.objects.filter(project=project).order_by("name").values_list("name", flat=True)
    names = [(name, name) for name in known]
    return forms.ChoiceField(
        label=_("Endpoint"),
        choices=names if len(names) == 1 else [("", _("Select")), *names],
        initial=names[0][0] if len(names) == 1 else "",
        help_text=_("The server of the model."),
    )


def given(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Those of the values that were filled in: what was left empty is the kind's to complete."""
    return {name: values[name] for name in names if values.get(name) not in (None, "")}


class TargetForm(ConfigForm):
    """A judge whose scores are of one kind of unit: on a criterion, or on something that it names itself."""

    OWN = ""
    together: ClassVar[Sequence[Collection[str]]] = (("dimension", "unit"),)

    criterion = forms.ChoiceField(
        label=_("Criterion"),
        required=False,
        help_text=_("Its scores are compared with human labels on this criterion."),
    )
    dimension = forms.CharField(
        label=_("Name of the measure"),
        required=False,
        max_length=120,
        help_text=_("Only without a criterion. Compared with every criterion on the same kind of unit."),
    )
    unit = forms.ChoiceField(label=_("Applies to"), required=False, help_text=_("Only without a criterion."))

    def __init__(
        self, project: Project, config: Mapping[str, Any], *args: Any, kinds: Collection[str], **kwargs: Any
    ) -> None:
        """kinds: of units that it can score."""
        super().__init__(project, config, *args, **kwargs)
        criteria = [one for one in rated_criteria(project) if one.unit in kinds]
        named = [(one.key, f"{one.name} ({one.get_unit_display()})") for one in criteria]
        self.fields["criterion"].choices = [*named, (self.OWN, _("None (custom measure)"))]  # type: ignore[attr-defined]
        units = [(kind, UnitKind(kind).label) for kind in kinds]
        self.fields["unit"].choices = units  # type: ignore[attr-defined]
        self.fields["unit"].initial = units[0][0]
        if len(units) == 1:
            self.fields["unit"].widget = forms.HiddenInput()
        show_field(self, "dimension", by="criterion", at=[self.OWN], needed=True)
        show_field(self, "unit", by="criterion", at=[self.OWN], needed=True)

    def initial_of(self, config: Mapping[str, Any]) -> dict[str, Any]:
        target = given(config, "criterion") or {"criterion": self.OWN, **given(config, "dimension", "unit")}
        return {**target, **super().initial_of(config)}

    def target(self) -> dict[str, Any]:
        return given(self.cleaned_data, "criterion") or given(self.cleaned_data, "dimension", "unit")


def folder_field() -> forms.ChoiceField:
    return forms.ChoiceField(
        label=_("Model"),
        choices=[(name, name) for name in local_models.model_names()],
        help_text=_("A folder provided by the server administrator. Nothing is downloaded."),
    )


def offered(form: Any, name: str) -> Words:
    """The values of a field's choices, with what they are called."""
    return {value: words for value, words in form.base_fields[name].choices if value}


@dataclass(frozen=True, slots=True)
class Start:
    """One template. config: what its form shows first, as far as it is known. name: of the judge, to be changed."""

    key: str
    title: str
    text: str
    name: str
    config: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """The templates of one kind. needs: in a few words. missing: why it can't run yet; "" when it can."""

    kind: str
    title: str
    text: str
    needs: str
    starts: Sequence[Start]
    missing: str = ""


def no_endpoint(project: Project) -> str:
    return "" if Endpoint.objects.filter(project=project).exists() else gettext("This project has no endpoints yet.")


def has_local_model() -> bool:
    return local_models.is_installed() and bool(local_models.model_names())


def first_criterion(project: Project, kinds: Iterable[str]) -> str | None:
    """The project's first criterion on one of these kinds of unit, by the order of the kinds."""
    criteria = list(rated_criteria(project))
    for kind in kinds:
        for criterion in criteria:
            if criterion.unit == kind:
                return criterion.key
    return None
