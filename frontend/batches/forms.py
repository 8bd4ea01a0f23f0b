from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.batches.checks import MAX_LEASE_MINUTES, MAX_SETTLE_VOTES, earliest_due_date
from annotate.batches.proposing import LEAST_WITHHELD, MOST_WITHHELD
from annotate.batches.sample_choice import MAX_SEED
from annotate.models import Batch, Criterion, Project, Qualification, User
from annotate.models.batch import WITHHELD, ConsensusRule, Strategy, TaskStatus
from annotate.projects.read import current_criteria
from annotate.qualification.read import qualifications_of
from annotate.samples.read import KnownKey, known_metadata
from annotate.tasks.read import people_of
from annotate.tasks.write import MAX_AT_ONCE
from frontend.base.forms import offer_members
from frontend.base.spelling import metadata_key
from frontend.batches.chosen_samples import ChosenSamples
from frontend.batches.proposals import ProposalFields

CHOSEN = "chosen"
METHODS = (
    ("all", _("All samples")),
    ("filter", _("Samples whose metadata match the selection below")),
    ("random", _("Random draw (from matching samples, if you select metadata below)")),
)


def _percent(label: Any, initial: int, help_text: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=0, max_value=100, initial=initial, help_text=help_text)


class IdsField(forms.CharField):
    """Samples' own ids, one per line, as a list."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea({"rows": 3, "spellcheck": "false"}), **kwargs)

    def clean(self, value: Any) -> list[str]:
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]


def requires_field() -> forms.ModelChoiceField:
    return forms.ModelChoiceField(
        label=_("Required qualification"),
        queryset=Qualification.objects.none(),
        required=False,
        empty_label=_("none required"),
        help_text=_("Only qualified annotators get tasks."),
    )


def offer_qualifications(field: forms.Field, project: Project) -> None:
    field.queryset = qualifications_of(project)  # type: ignore[attr-defined]
    field.label_from_instance = lambda one: one.name  # type: ignore[attr-defined]


class WhoLabelsForm(forms.Form):
    """A batch of samples that are known already: its name, who labels it, and until when."""

    name = forms.CharField(label=_("Name"), max_length=200)
    due_date = forms.DateField(
        label=_("Due date"), required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    )
    annotators = forms.ModelMultipleChoiceField(
        label=_("Annotators"),
        queryset=User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Select at least one annotator.")},
    )
    overlap = forms.IntegerField(
        label=_("Annotators per sample"),
        min_value=1,
        max_value=100,
        initial=2,
        help_text=_("How many annotators label each sample. Measuring agreement needs at least 2."),
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "due_date" in self.fields:
            # For the browser's calendar; the service decides.
            self.fields["due_date"].widget.attrs["min"] = earliest_due_date().isoformat()
        offer_members(self.fields["annotators"], project)


class DrawnBatchForm(WhoLabelsForm):
    """Who labels a draw that was seen; it goes along, as it came out."""

    seed = forms.IntegerField(min_value=0, max_value=MAX_SEED, widget=forms.HiddenInput)
    plan = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        # The page has the draw's own form as well.
        super().__init__(project, *args, auto_id="id_batch_%s", **kwargs)

    def given(self) -> dict[str, Any]:
        """Of a valid form: what a batch of the draw is made with."""
        return {name: self.cleaned_data[name] for name in (*WhoLabelsForm.base_fields, "seed", "plan")}

    def follow(self, seed: int, plan: str) -> None:
        """What is confirmed next is the draw that is shown now, with the rest as it was typed."""
        typed = cast("QueryDict", self.data).copy()
        typed["seed"], typed["plan"] = str(seed), plan
        self.data = typed


class QuestionsForm(WhoLabelsForm):
    """What is asked as well, and metadata that samples must have.

    conditions: such metadata as they were chosen before, which are offered also where few samples have them now.
    """

    criteria = forms.ModelMultipleChoiceField(
        label=_("Criteria"),
        queryset=Criterion.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Select at least one criterion.")},
    )

    def __init__(
        self, project: Project, *args: Any, conditions: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(project, *args, **kwargs)
        before = dict(conditions or {})
        self.known = known_metadata(project)
        self.known += [KnownKey(key) for key in before if key not in {known.key for known in self.known}]
        for index, known in enumerate(self.known):
            self.fields[f"meta_{index}"] = _metadata_field(known, before)
        criteria = self.fields["criteria"]
        criteria.queryset = current_criteria(project)  # type: ignore[attr-defined]
        criteria.label_from_instance = _with_unit  # type: ignore[attr-defined]
        criteria.initial = [criterion.pk for criterion in criteria.queryset]  # type: ignore[attr-defined]

    def metadata_fields(self) -> list[forms.BoundField]:
        return [self[f"meta_{index}"] for index in range(len(self.known))]

    def conditions(self) -> dict[str, Any]:
        """Of a valid form."""
        given = self.cleaned_data
        return {
            known.key: json.loads(given[f"meta_{index}"])
            for index, known in enumerate(self.known)
            if given[f"meta_{index}"]
        }

    def differs(self, *names: str) -> bool:
        """Whether a part of the page with these fields has something to be seen."""
        return self.is_bound and any(name in self.errors or name in self.changed_data for name in names)


class BatchForm(QuestionsForm):
    """Name, people and overlap are all that has to be given; the rest has the values that suit most batches.

    chosen: the samples that were selected in a list, which are the batch's unless another method is taken. Where their
    units were selected, only what these are on is asked unless more is ticked.
    """

    method = forms.ChoiceField(label=_("Samples"), choices=METHODS, initial="all", widget=forms.RadioSelect)
    n = forms.IntegerField(label=_("Number to draw"), min_value=1, required=False)
    seed = forms.IntegerField(
        label=_("Random seed"),
        min_value=0,
        max_value=MAX_SEED,
        required=False,
        help_text=_("The same seed draws the same samples. Leave empty to generate one."),
    )
    overlap_percent = _percent(
        _("Samples with that many annotators (%)"),
        100,
        _("Chosen at random; the others get one annotator. Typically 20% when labels are costly."),
    )
    strategy = forms.ChoiceField(
        label=_("Assignment"),
        initial=Strategy.BALANCED,
        widget=forms.RadioSelect,
        choices=(
            (Strategy.BALANCED, _("Balanced: tasks are split evenly up front")),
            (Strategy.PULL, _("Queue: annotators take the next sample when ready")),
        ),
    )
    lease_minutes = forms.IntegerField(
        label=_("Return to queue after (minutes)"),
        min_value=1,
        max_value=MAX_LEASE_MINUTES,
        initial=30,
        help_text=_("Queue only. Untouched samples then go to another annotator."),
    )
    tag_key = forms.ChoiceField(
        label=_("Expertise"),
        required=False,
        help_text=_("Metadata key for required expertise. Samples go only to members who have it (see Members)."),
    )
    requires = requires_field()
    gold_percent = _percent(
        _("Samples with known answers (%)"),
        0,
        _("Hidden quality checks, as a share of each annotator’s samples. Typically 5%."),
    )
    gold_feedback = forms.BooleanField(
        label=_("Show the known answer after submission"),
        required=False,
        help_text=_("Annotators learn from it, so later checks measure what they learned."),
    )
    repeat_percent = _percent(
        _("Repeated samples (%)"),
        0,
        _("Shown again later to the same annotator, to measure self-agreement."),
    )
    consensus = forms.ChoiceField(
        label=_("Consensus rule"),
        initial=ConsensusRule.MAJORITY,
        widget=forms.RadioSelect,
        choices=(
            (ConsensusRule.MAJORITY, _("Majority vote")),
            (ConsensusRule.UNANIMOUS, _("Unanimous; otherwise a reviewer decides")),
            (ConsensusRule.THRESHOLD, _("Minimum agreement, set below; otherwise a reviewer decides")),
        ),
    )
    settle_percent = forms.IntegerField(
        label=_("Minimum agreement (%)"),
        min_value=51,
        max_value=100,
        initial=80,
        help_text=_("Last rule only. More than 50, so that only one option can reach it."),
    )
    settle_votes = forms.IntegerField(
        label=_("Minimum number of labels"),
        min_value=1,
        max_value=MAX_SETTLE_VOTES,
        initial=2,
        help_text=_("Last rule only. “Can’t tell” doesn’t count. With fewer labels, a reviewer decides."),
    )

    withheld_percent = forms.IntegerField(
        label=_("Questions without proposals (%)"),
        min_value=round(100 * LEAST_WITHHELD),
        max_value=round(100 * MOST_WITHHELD),
        initial=round(100 * WITHHELD),
        required=False,
        help_text=_(
            "Drawn at random. They show how far proposals pull annotators, and only their labels count in reports on "
            "judges and agreement."
        ),
    )

    single_labels = forms.BooleanField(
        label=_("A single label resolves a unit"),
        required=False,
        help_text=_(
            "For batches with one expert. Otherwise reports exclude units with one label until a reviewer "
            "approves them. Reports name you as deciding this."
        ),
    )

    def __init__(self, project: Project, *args: Any, chosen: ChosenSamples | None = None, **kwargs: Any) -> None:
        super().__init__(project, *args, **kwargs)
        self.chosen = chosen
        if chosen is not None:
            method = self.fields["method"]
            method.choices, method.initial = [(CHOSEN, chosen.label()), *METHODS], CHOSEN  # type: ignore[attr-defined]
            if of_units := chosen.chosen.criteria:
                criteria = self.fields["criteria"]
                criteria.initial = [one.pk for one in criteria.queryset if one.key in of_units]  # type: ignore[attr-defined]
        self.proposals = ProposalFields(project, self.fields, self.initial.get("proposals", {}))
        self.fields["withheld_percent"].required = bool(self.proposals.names)
        offer_qualifications(self.fields["requires"], project)
        keys = [known.key for known in self.known]
        self.fields["tag_key"].choices = [("", _("none required")), *((key, metadata_key(key)) for key in keys)]  # type: ignore[attr-defined]

    # Parts of the page that are folded away are open when there is something to see in them.

    def opens_samples(self) -> bool:
        return self.chosen is not None or self.differs(
            "method", "n", "seed", *(f"meta_{index}" for index in range(len(self.known)))
        )

    def opens_criteria(self) -> bool:
        return bool(self.chosen and self.chosen.chosen.criteria) or self.differs("criteria")

    def proposal_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.proposals.names.values()]

    def opens_proposals(self) -> bool:
        return bool(self.initial.get("proposals")) or self.differs("withheld_percent", *self.proposals.names.values())

    def opens_options(self) -> bool:
        return self.differs(
            "due_date", "strategy", "lease_minutes", "overlap_percent", "consensus", "settle_percent", "settle_votes",
            "single_labels", "tag_key", "requires", "gold_percent", "gold_feedback", "repeat_percent",
        )  # fmt: skip

    def options(self) -> dict[str, Any]:
        """What annotate.batches.write.create_batch takes beside the samples."""
        given = self.cleaned_data
        plain = ("name", "criteria", "annotators", "overlap", "due_date")
        chosen = ("strategy", "lease_minutes", "tag_key", "gold_feedback", "consensus", "single_labels", "requires")
        shares = {name: given[f"{name}_percent"] / 100 for name in ("overlap", "gold", "repeat")}
        withheld = given["withheld_percent"]
        if withheld is not None:
            shares["withheld"] = withheld / 100
        options = {name: given[name] for name in (*plain, *chosen)} | {
            f"{name}_share": share for name, share in shares.items()
        }
        options["proposals"] = self.proposals.chosen(given)
        if given["consensus"] == ConsensusRule.THRESHOLD:
            options |= {"settle_share": given["settle_percent"] / 100, "settle_votes": given["settle_votes"]}
        return options

    def planned(self) -> dict[str, Any]:
        """Those of them that annotate.batches.write.plan_batch takes."""
        taken = ("criteria", "annotators", "overlap", "overlap_share", "strategy", "tag_key", "requires")
        return {name: value for name, value in self.options().items() if name in (*taken, "gold_share", "repeat_share")}

    def selection(self) -> dict[str, Any]:
        """The choice of samples as create_batch takes it, which checks it too."""
        given = self.cleaned_data
        if given["method"] == CHOSEN and self.chosen is not None:
            return self.chosen.selection()
        if given["method"] == "all":
            return {"method": "all"}
        selection: dict[str, Any] = {"method": given["method"], "filter": self.conditions()}
        if given["method"] == "random":
            selection |= {"n": given["n"], "seed": given["seed"]}
        return selection


def _with_unit(criterion: Criterion) -> str:
    return gettext("%(name)s (%(what)s)") % {"name": criterion.name, "what": criterion.get_unit_display().lower()}


def _metadata_field(known: KnownKey, before: Mapping[str, Any]) -> forms.ChoiceField:
    offered = {json.dumps(value.value): f"{value.shown} ({value.samples})" for value in known.values}
    initial = ""
    if known.key in before:
        initial = json.dumps(before[known.key])
        offered.setdefault(initial, str(before[known.key]))
    choices: list[tuple[str, Any]] = [("", _("any")), *offered.items()]
    return forms.ChoiceField(label=metadata_key(known.key), choices=choices, required=False, initial=initial)


# Of the choice of people: the tasks that no annotator has yet.
IN_QUEUE = "-"


class TaskFilter(forms.Form):
    person = forms.ChoiceField(label=_("Annotator"), required=False)
    status = forms.ChoiceField(
        label=_("State"), required=False, choices=[("", _("all")), *TaskStatus.choices], initial=""
    )

    def __init__(self, batch: Batch, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = [(user.username, user.name) for user in people_of(batch)]
        self.fields["person"].choices = [("", _("Everyone")), *people, (IN_QUEUE, _("Unassigned"))]  # type: ignore[attr-defined]

    def chosen(self) -> dict[str, Any]:
        """As annotate.tasks.read.task_rows takes it; what can't be understood is no filter."""
        self.is_valid()
        person = self.cleaned_data.get("person", "")
        return {
            "username": None if not person else "" if person == IN_QUEUE else person,
            "status": self.cleaned_data.get("status", ""),
        }


class MoveForm(forms.Form):
    """Ticked tasks go to one person."""

    task = forms.TypedMultipleChoiceField(coerce=int, error_messages={"required": _("Select tasks to reassign.")})
    to = forms.ModelChoiceField(
        label=_("Reassign selected tasks to"),
        queryset=User.objects.none(),
        empty_label=_("Select an annotator"),
        error_messages={"required": _("Select an annotator.")},
    )

    def __init__(self, project: Project, sent: Any = None) -> None:
        super().__init__(sent)
        offer_members(self.fields["to"], project)
        # The service knows which tasks there are.
        ticked = [value for value in (sent.getlist("task") if sent else []) if value.isdecimal() and len(value) < 19]
        self.fields["task"].choices = [(value, value) for value in ticked[:MAX_AT_ONCE]]  # type: ignore[attr-defined]


class ReturnForm(forms.Form):
    message = forms.CharField(
        label=_("Message to the annotator"),
        max_length=10_000,
        widget=forms.Textarea({"rows": 4}),
        help_text=_("Shown beside the task. Its labels don’t count until it is resubmitted."),
    )


class ExtendForm(forms.Form):
    """Each part is optional."""

    due_date = forms.DateField(
        label=_("Due date"), required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    )
    annotators = forms.ModelMultipleChoiceField(
        label=_("Add annotators"),
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("In a balanced batch, they take over unstarted tasks until all have about the same number left."),
    )
    samples = forms.ChoiceField(
        label=_("Add samples"),
        widget=forms.RadioSelect,
        initial="none",
        choices=(
            ("none", _("None")),
            ("all", _("All project samples not in this batch")),
            ("random", _("Random draw")),
        ),
    )
    n = forms.IntegerField(label=_("Number to draw"), min_value=1, required=False)

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
