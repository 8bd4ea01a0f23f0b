"""The shapes of proposed claims, for the OpenAPI schema only (see annotate.api.schema)."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.serializers import FreeObject
from judges.api.run_shapes import Money


class ProposalPlan(s.Serializer):
    version = s.IntegerField(required=False, allow_null=True, help_text="Its number; else the latest in use.")
    scope = FreeObject(help_text="Which samples, as for a run.")


class ProposalStart(ProposalPlan):
    budget = Money(required=False, help_text="At which the run stops by itself; none when left out.")


class ProposedClaim(s.Serializer):
    text = s.CharField()
    start = s.IntegerField(allow_null=True, help_text="Of the words that it was found in.")
    end = s.IntegerField(allow_null=True)


class ClaimNow(ProposedClaim):
    index = s.IntegerField()


class Proposal(s.Serializer):
    sample = s.CharField(help_text="Its own id.")
    sample_id = s.IntegerField()
    state = s.CharField(
        help_text="untouched, edited (by people), changed (since), fixed (something rests on the claims), same, failed"
    )
    detail = s.CharField(help_text="Of one that failed: why.")
    revision = s.IntegerField(help_text="Of the sample's claims when the model was asked.")
    claims = ProposedClaim(many=True)
    now = ClaimNow(many=True)


class ProposalPage(s.Serializer):
    count = s.IntegerField()
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)
    results = Proposal(many=True)


class Taking(s.Serializer):
    sample = s.CharField(required=False, help_text="Its own id; without it, all that nobody has touched, up to 200.")


class Taken(s.Serializer):
    count = s.IntegerField()
    left = s.IntegerField(help_text="How many more could be taken over: ask again.")
    refused = s.ListField(child=s.CharField(), help_text="Samples whose claims could not be changed.")
