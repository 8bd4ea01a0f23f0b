"""What the API takes and replies about samples: their texts, claims and flags, and the pipelines that made them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from annotate import models
from annotate.api.serializers import (
    Choice,
    FreeObject,
    Keyed,
    Moment,
    Of,
    Page,
    Shape,
    Stored,
    Text,
    Truth,
    Value,
    Whole,
)
from annotate.core.units import live_claims
from annotate.models.label import VerdictMethod
from annotate.models.view import ViewOf
from annotate.samples.claims_read import IMPORTED, ClaimsState
from annotate.verdicts.samples_read import SORTS, Agreement, Status
from annotate.verdicts.wanted_units_read import SORTS as UNIT_SORTS
from annotate.verdicts.wanted_units_read import ListedUnit, UnitStatus

_SOURCES = "file, split, labels or edited"


class Context(Stored):
    id = s.CharField(allow_null=True)
    text = s.CharField()


class ScoredContext(Context):
    score = s.FloatField(allow_null=True)


class Claim(Shape):
    index = s.IntegerField(help_text="Its unit is claim:INDEX. Indices of dropped claims are left out.")
    text = s.CharField()
    start = s.IntegerField(allow_null=True, help_text="In Unicode code points of the answer.")
    end = s.IntegerField(allow_null=True)


class Sample(
    Shape,
    of=models.Sample,
    shows="pk id question answer answer_b reference contexts claims claims_source claims_revision abstained "
    "abstained_source key_facts entities retrieved_doc_ids relevant_doc_ids pipeline_version group_key metadata",
):
    pk = s.IntegerField()
    id = s.CharField(source="external_id", help_text="The id of the file it came from.")
    contexts = ScoredContext(many=True)
    claims = Claim(many=True)
    claims_source = Of(_SOURCES)
    abstained = Of("Whether the answer only says that it has none; it then has no claims. Null without an answer.")
    abstained_source = Of("Who says so: rule, file, labels or person; empty without an answer.")
    key_facts = s.ListField(child=s.CharField())
    entities = s.ListField(child=s.CharField())
    retrieved_doc_ids = s.ListField(child=s.CharField())
    relevant_doc_ids = s.ListField(child=s.CharField())
    group_key = Of("Samples of one group vary together, such as the answers to one question; empty: it stands alone.")
    metadata = FreeObject()

    def get_claims(self, sample: models.Sample) -> list[dict[str, Any]]:
        return live_claims(sample)


class SamplePage(Page):
    results = Sample(many=True)


class KeyAndValue(Text):
    code = "bad_metadata"
    says = "%(field)s: write key=value."

    def accepts(self, value: Any) -> bool:
        return super().accepts(value) and (value == "" or (value.partition("=")[0] != "" and "=" in value))


class SamplesAsked(Shape, required=""):
    search = Text(help_text="Words in id, question or answer.")
    pipeline = Text(help_text="Only those of this version of the pipeline.")
    status = Choice(Status.values, empty=True, help_text="How far they are with labels and verdicts.")
    criterion = Text(help_text="Key of a criterion: those of which it asks something.")
    agreement = Choice(Agreement.values, empty=True, help_text="Of units with at least two labels.")
    metadata = KeyAndValue(help_text="`key=value`, as in the samples' metadata.")
    sort = Choice([f"{turn}{name}" for name in SORTS for turn in ("", "-")], empty=True, help_text="`-`: descending.")


class VoteCount(Shape):
    value = Value()
    n = s.IntegerField()


class UnitListed(
    Shape,
    of=ListedUnit,
    shows="sample sample_id unit text criterion version status value method agreement "
    "votes verdict revision changed_at held_back",
):
    sample = s.IntegerField(source="sample.pk")
    sample_id = s.CharField(source="sample.external_id")
    text = s.CharField(source="words")
    criterion = s.CharField(source="criterion.key")
    version = s.IntegerField(source="criterion.version", help_text="Of the criterion: the one that the verdict is on.")
    status = s.CharField(help_text=", ".join(UnitStatus.values))
    value = Value(source="verdict.value", allow_null=True, help_text="Of a reopened unit the one that stood before.")
    method = s.CharField(source="verdict.method", allow_null=True, help_text="How it was resolved; empty: it is not.")
    agreement = s.FloatField(source="verdict.agreement", allow_null=True)
    votes = VoteCount(many=True, help_text="Each value with how many gave it; not by whom.")
    verdict = s.IntegerField(source="verdict.pk", allow_null=True, help_text="Its id among `disputes/`.")
    revision = s.IntegerField(source="verdict.revision", allow_null=True)
    changed_at = s.DateTimeField(source="verdict.updated_at", allow_null=True)
    held_back = Of("You still have the sample to label: what others said of it is not told.")

    def get_votes(self, unit: ListedUnit) -> list[dict[str, Any]]:
        return [{"value": value, "n": n} for value, n in unit.votes]


class UnitPage(Page):
    results = UnitListed(many=True)


class UnitsAsked(Shape, required=""):
    search = Text(help_text="Words in the unit, or in the id of its sample.")
    criterion = Text(help_text="Key of a criterion.")
    status = Choice(UnitStatus.values, empty=True)
    value = Text(help_text="Of its verdict, as text; of a multi-select criterion an option that it has.")
    method = Choice(VerdictMethod.values, empty=True, help_text="How it was resolved.")
    agreement = Choice(Agreement.values, empty=True, help_text="Of units with at least two labels.")
    guidelines = Choice(("older",), empty=True, help_text="With a label under an older version than the newest.")
    batch = Whole(help_text="Number of a batch: what it asks of its samples.")
    metadata = KeyAndValue(help_text="`key=value`, as in the samples' metadata.")
    sort = Choice(
        [f"{turn}{name}" for name in UNIT_SORTS for turn in ("", "-")], empty=True, help_text="`-`: descending."
    )


class SavedView(Shape, of=models.SavedView, shows="id of name conditions is_shared owner is_own created_at"):
    of = Of("samples or units: which list")
    conditions = FreeObject(help_text="By name as the address of the list has them.")
    owner = s.CharField(source="owner.username")
    is_own = s.BooleanField()


class ViewsAsked(Shape, required=""):
    of = Choice(ViewOf.values, empty=True, help_text="Only views of this list.")


class ViewSaving(Shape, required="of name conditions"):
    of = Choice(ViewOf.values)
    name = s.CharField()
    conditions = Keyed(of=str, help_text='Filters and order, such as {"status": "disputed", "sort": "-changed"}.')
    is_shared = Truth(help_text="With the project’s admins and reviewers; false when left out.")


class ViewChange(Shape, required=""):
    name = s.CharField()
    conditions = Keyed(of=str)
    is_shared = Truth()


class EditedClaim(
    Claim, shows="index text start end dropped from carries", named={"from": s.ListField(child=s.IntegerField())}
):
    dropped = s.BooleanField()
    carries = s.CharField(help_text="What keeps it as it is, in words; empty: nothing.")


class ClaimEdit(Shape, of=models.ClaimEdit, shows="revision change who when"):
    change = FreeObject()
    who = s.CharField(allow_null=True, help_text="null: as they were imported.")
    when = Moment(source="created_at")

    def get_who(self, edit: models.ClaimEdit) -> str | None:
        return None if edit.change["op"] == IMPORTED else edit.actor.name


class EditedClaims(Shape, of=ClaimsState, shows="revision source checked fixed claims history"):
    source = Of(_SOURCES)  # type: ignore[assignment]
    checked = Of("Somebody has read them as they are now and found them good.")
    fixed = Of("Why none of them can be changed now; empty: they can.")
    claims = EditedClaim(many=True)
    history = ClaimEdit(many=True, help_text="The latest first.")


class ClaimChange(Shape, required="op"):
    op = s.CharField(
        help_text="split, merge, edit, move, add, drop, restore, split_again, replace, restore_revision or checked"
    )
    claim = s.IntegerField()
    claims = s.ListField(child=Value(), help_text="The two to merge; or the texts that are to be all claims (replace).")
    at = s.IntegerField(help_text="Where to split, in code points of the claim.")
    text = s.CharField()
    start = s.IntegerField(help_text="In code points of the answer.")
    end = s.IntegerField()
    revision = s.IntegerField()


class Abstention(Shape, required="abstained"):
    abstained = Truth(code="bad_abstained")


class PipelineVersion(Shape):
    version = s.CharField()
    samples = s.IntegerField()
    first_at = s.DateTimeField(help_text="When the first of them came.")
    last_at = s.DateTimeField(help_text="And the last.")


class PipelineVersions(Shape):
    results = PipelineVersion(many=True)


class Flagging(Shape):
    reason = s.CharField()


class FlagRaised(Shape, of=models.Flag, shows="id reason created_at"):
    pass


class Flag(
    Shape,
    of=models.Flag,
    shows="id sample sample_id reason raised_by created_at resolution resolved_by resolved_at",
):
    sample = s.IntegerField(source="sample_id")
    sample_id = s.CharField(source="sample.external_id")
    raised_by = s.CharField(source="raised_by.username")
    resolved_by = s.CharField(source="resolved_by.username", allow_null=True)


class FlagListed(Shape):
    id = s.IntegerField(source="flag.id")
    sample = s.IntegerField(source="flag.sample_id")
    sample_id = s.CharField(source="flag.sample.external_id")
    reason = s.CharField()
    raised_by = s.CharField(source="by.username", allow_null=True, help_text="null where names are hidden from you.")
    created_at = s.DateTimeField(source="flag.created_at")
    resolution = s.CharField()
    resolved_by = s.CharField(source="flag.resolved_by.username", allow_null=True)
    resolved_at = s.DateTimeField(source="flag.resolved_at", allow_null=True)
    held_back = s.BooleanField(help_text="You still have the sample to label, so reason and resolution are empty.")


class FlagPage(Page):
    results = FlagListed(many=True)


class FlagsAsked(Shape, required=""):
    state = s.CharField(help_text="waiting (as is usual) or resolved.")


class FlagResolving(Shape):
    resolution = s.CharField(help_text="What was done about it.")
