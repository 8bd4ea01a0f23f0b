"""What the address of a list asks for: the form above the list of samples or of units, and what a new batch is made of
when all that match were selected there. What each list is chosen by stands in `sample_filter` and `unit_filter`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core import walking
from annotate.core.blindness import Reader
from annotate.core.texts import is_storable
from annotate.models import Project
from annotate.projects.read import voted_criteria
from annotate.samples.read import KnownKey, known_metadata
from annotate.verdicts.samples_read import Agreement
from annotate.verdicts.saved_views import META
from annotate.verdicts.wanted_units_read import Chosen
from frontend.base.spelling import metadata_key

# What an address may hold; longer values are no use as a filter.
LONGEST, MOST_META = 200, 10
ANY = ("", gettext_lazy("any"))


def search_field(placeholder: Any) -> forms.CharField:
    """Also refuses what PostgreSQL can't look for (NUL)."""
    widget = forms.TextInput({"type": "search", "placeholder": placeholder})
    return forms.CharField(label=gettext_lazy("Search"), required=False, max_length=200, widget=widget)


class ListFilter(forms.Form):
    """Bound to what the address asks; each condition must hold. Each list adds `q`, `status` and what else it knows.

    sorts: orders; walked: those that an index has, beside which a large project has no others. main, more: names of
    fields, those shown at once and those folded away, which are followed by the metadata.
    """

    sorts: ClassVar[Sequence[str]]
    walked: ClassVar[Sequence[str]]
    main: ClassVar[Sequence[str]]
    more: ClassVar[Sequence[str]]

    criterion = forms.ChoiceField(
        label=gettext_lazy("Criterion"),
        required=False,
        error_messages={
            "invalid_choice": gettext_lazy(
                "The criterion “%(value)s” no longer exists in this project, or has no verdicts."
            )
        },
    )
    agreement = forms.ChoiceField(
        label=gettext_lazy("Annotator agreement"), required=False, choices=[ANY, *Agreement.choices]
    )
    guidelines = forms.ChoiceField(
        label=gettext_lazy("Guidelines"),
        required=False,
        choices=[ANY, ("older", gettext_lazy("labelled under an older version"))],
    )

    def __init__(self, project: Project, asked: QueryDict, *, reader: Reader) -> None:
        super().__init__(asked, field_order=["q", *self.main, *self.more])
        self.project, self.reader = project, reader
        self.criteria = list(voted_criteria(project))
        self.fields["criterion"].choices = [ANY, *((one.key, one.name) for one in self.criteria)]  # type: ignore[attr-defined]
        known = {one.key: one for one in known_metadata(project)}
        given = [name.removeprefix(META) for name in asked if name.startswith(META) and asked[name]]
        for key in [*known, *(key for key in given[:MOST_META] if key not in known)]:
            self.fields[META + key] = MetadataField(key, known.get(key), asked.get(META + key, ""))
        self.most_sorted = walking.MOST_SORTED
        self.is_large = project.samples.order_by("pk")[: self.most_sorted + 1].count() > self.most_sorted
        sort = asked.get("sort", "")
        self.sort = sort if self.sorts_by(sort) else ""

    def sorts_by(self, sort: str) -> bool:
        return sort in self.walked if self.is_large else sort.removeprefix("-") in self.sorts

    def main_fields(self) -> list[forms.BoundField]:
        """Beside the words."""
        return [self[name] for name in self.main]

    def more_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name in self.more or name.startswith(META)]

    def opens_more(self) -> bool:
        asked = {*self.errors, *(self.given() if self.is_valid() else ())}
        return any(name in self.more or name.startswith(META) for name in asked)

    def given(self) -> dict[str, str]:
        """By name what is asked for, and nothing else; without the order."""
        return {name: value for name in self.fields if (value := self.cleaned_data.get(name, ""))}

    def conditions(self) -> dict[str, str]:
        """With the order: what a saved view keeps (annotate.verdicts.saved_views)."""
        return {**self.given(), **({"sort": self.sort} if self.sort else {})}

    def query(self, **changed: str) -> str:
        """The same as an address has it. changed: instead of what it says of these names, or beside it."""
        asked = {**self.conditions(), **changed}
        return urlencode({name: value for name, value in asked.items() if value})

    def words(self) -> Iterator[str]:
        """Each condition in words."""
        for name, value in self.given().items():
            field = self.fields[name]
            is_choice = isinstance(field, forms.ChoiceField) and not isinstance(field, MetadataField)
            shown = _choices(field).get(value, value) if is_choice else value  # type: ignore[arg-type]
            yield _("%(what)s: %(value)s") % {"what": field.label, "value": shown}

    def metadata(self) -> dict[str, str]:
        given = self.given()
        return {name.removeprefix(META): given[name] for name in given if name.startswith(META)}

    def found(self) -> Any:
        """Those that a valid form asks for: they are counted, and a slice of them is a list."""
        raise NotImplementedError

    def chosen(self) -> Chosen:
        """All of them, for a batch."""
        raise NotImplementedError

    def is_about_doubt(self) -> bool:
        """Whether the samples are chosen since people, or people and a judge, disagree about them."""
        raise NotImplementedError


def _choices(field: forms.ChoiceField) -> dict[Any, Any]:
    """By value; those of a group stand in a list, and are named with it."""
    found: dict[Any, Any] = {}
    for value, shown in list(field.choices):  # type: ignore[arg-type]
        if isinstance(shown, list | tuple):
            found |= {one: f"{value} · {words}" for one, words in shown}
        else:
            found[value] = shown
    return found


class MetadataField(forms.ChoiceField):
    """The frequent values of a key, and the one that the address asks for."""

    def __init__(self, key: str, known: KnownKey | None, asked: str) -> None:
        found = known.values if known else []
        counted = {text_of(one.value): f"{one.shown} ({one.samples})" for one in found}
        choices = {value: shown for value, shown in counted.items() if len(value) <= LONGEST}
        if asked and len(asked) <= LONGEST and is_storable(asked) and is_storable(key):
            choices.setdefault(asked, asked)
        super().__init__(label=metadata_key(key), required=False, choices=[ANY, *choices.items()])


def text_of(value: Any) -> str:
    """As PostgreSQL writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
