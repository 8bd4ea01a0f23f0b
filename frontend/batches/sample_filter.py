"""Which samples a list shows, as its address says it: the form above the list of samples, and what a new batch is made
of when all that match were selected there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.blindness import Reader
from annotate.core.texts import is_storable
from annotate.models import Project
from annotate.projects.read import rated_criteria, voted_criteria
from annotate.samples.read import KnownKey, known_metadata
from annotate.verdicts.samples_read import SORTS, Agreement, Samples, Status, Wanted
from frontend.base.forms import SampleSearch
from frontend.base.spelling import metadata_key
from judges.reports.read import report_state
from judges.versions.read import judges_of

# Before a metadata key in the address.
META = "m."
# What an address may hold; longer values are no use as a filter.
LONGEST, MOST_META = 200, 10
_ANY = ("", gettext_lazy("any"))


class SampleFilter(SampleSearch):
    """Bound to what the address asks; each condition must hold."""

    status = forms.ChoiceField(label=gettext_lazy("Status"), required=False, choices=[_ANY, *Status.choices])
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
        label=gettext_lazy("Annotator agreement"), required=False, choices=[_ANY, *Agreement.choices]
    )
    judge = forms.ChoiceField(
        label=gettext_lazy("Disagrees with judge"),
        required=False,
        help_text=gettext_lazy(
            "“Disagrees with judge” finds the disagreements listed in the current reports. The test set is excluded."
        ),
        error_messages={"invalid_choice": gettext_lazy("The judge “%(value)s” no longer exists in this project.")},
    )
    abstained = forms.ChoiceField(
        label=gettext_lazy("Answer"),
        required=False,
        choices=[_ANY, ("yes", gettext_lazy("abstains")), ("no", gettext_lazy("doesn’t abstain"))],
    )

    guidelines = forms.ChoiceField(
        label=gettext_lazy("Guidelines"),
        required=False,
        choices=[_ANY, ("older", gettext_lazy("labelled under an older version"))],
    )

    def __init__(self, project: Project, asked: QueryDict, *, reader: Reader) -> None:
        super().__init__(asked)
        self.project, self.reader = project, reader
        self.fields["criterion"].choices = [_ANY, *((one.key, one.name) for one in voted_criteria(project))]  # type: ignore[attr-defined]
        self.fields["judge"].choices = [_ANY, *((one.name, one.name) for one in judges_of(project))]  # type: ignore[attr-defined]
        known = {one.key: one for one in known_metadata(project)}
        given = [name.removeprefix(META) for name in asked if name.startswith(META) and asked[name]]
        for key in [*known, *(key for key in given[:MOST_META] if key not in known)]:
            self.fields[META + key] = _MetadataField(key, known.get(key), asked.get(META + key, ""))
        sort = asked.get("sort", "")
        self.sort = sort if sort.removeprefix("-") in SORTS else ""

    def main_fields(self) -> list[forms.BoundField]:
        """Beside the words."""
        return [self[name] for name in ("status", "criterion", "agreement")]

    def more_fields(self) -> list[forms.BoundField]:
        meta = [name for name in self.fields if name.startswith(META)]
        return [self[name] for name in ("judge", "guidelines", "abstained", *meta)]

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
            is_choice = isinstance(field, forms.ChoiceField) and not isinstance(field, _MetadataField)
            shown = dict(field.choices).get(value, value) if is_choice else value  # type: ignore[attr-defined]
            yield _("%(what)s: %(value)s") % {"what": field.label, "value": shown}

    def wanted(self) -> Wanted:
        """Of a valid form."""
        given = self.given()
        return Wanted(
            words=given.get("q", ""),
            status=given.get("status", ""),
            criterion=given.get("criterion", ""),
            agreement=given.get("agreement", ""),
            outdated="guidelines" in given,
            abstained={"yes": True, "no": False}.get(given.get("abstained", "")),
            metadata={name.removeprefix(META): given[name] for name in given if name.startswith(META)},
            among=self._disagreeing(given["judge"], given.get("criterion", "")) if "judge" in given else None,
            sort=self.sort,
        )

    def samples(self) -> Samples:
        return Samples(self.project, self.wanted(), reader=self.reader)

    def is_about_doubt(self) -> bool:
        """Whether the samples are chosen since people, or people and a judge, disagree about them."""
        given = self.given()
        return (
            "judge" in given or given.get("status") == Status.DISPUTED or given.get("agreement") == Agreement.DISAGREE
        )

    def _disagreeing(self, judge: str, key: str) -> set[int]:
        """As reports tell this reader: nothing of the test half, or of what they still have to label or decide."""
        criteria = [one for one in rated_criteria(self.project) if key in ("", one.key)]
        reports = [report_state(one, reader=self.reader).report for one in criteria]
        return {
            row["sample"]
            for report in reports
            if report is not None
            for one in report.result.get("judges", ())
            if one["judge"] == judge
            for row in one["disagreements"]
        }


class _MetadataField(forms.ChoiceField):
    """The frequent values of a key, and the one that the address asks for."""

    def __init__(self, key: str, known: KnownKey | None, asked: str) -> None:
        found = known.values if known else []
        counted = {_text(one.value): f"{one.shown} ({one.samples})" for one in found}
        choices = {value: shown for value, shown in counted.items() if len(value) <= LONGEST}
        if asked and len(asked) <= LONGEST and is_storable(asked) and is_storable(key):
            choices.setdefault(asked, asked)
        super().__init__(label=metadata_key(key), required=False, choices=[_ANY, *choices.items()])


def _text(value: Any) -> str:
    """As PostgreSQL writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
