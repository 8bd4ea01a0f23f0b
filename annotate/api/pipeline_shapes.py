"""The shapes of what a pipeline pushes, for the OpenAPI schema only (see annotate.api.schema)."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.schema import Error
from annotate.api.serializers import FreeObject


class Push(s.Serializer):
    version = s.CharField(help_text="Of the pipeline: 1 to 100 characters, without @.")
    samples = s.ListField(child=FreeObject(), help_text="Rows of a samples file.")


class Pushed(s.Serializer):
    version = s.CharField()
    rows = s.IntegerField()
    created = s.IntegerField()
    unchanged = s.IntegerField(help_text="How many were there already, with the same content.")
    import_id = s.UUIDField(help_text="Under which it is among the imports.")


class PushProblem(s.Serializer):
    row = s.IntegerField(allow_null=True, help_text="From 1, in the order in which they were sent.")
    line = s.IntegerField(allow_null=True, help_text="Of the request's body.")
    field = s.CharField(allow_null=True)
    code = s.CharField()
    message = s.CharField()
    excerpt = s.CharField()


class PushRefused(Error):
    error_count = s.IntegerField(required=False, help_text="With those beyond the first hundred.")

    def get_fields(self) -> dict[str, s.Field]:
        """The importer's error list; a serializer has an attribute of its own with this name."""
        listed = PushProblem(many=True, required=False, help_text="The first hundred, in the order of the rows.")
        return {**super().get_fields(), "errors": listed}


class PipelineVersion(s.Serializer):
    version = s.CharField()
    samples = s.IntegerField()
    first_at = s.DateTimeField(help_text="When the first of them came.")
    last_at = s.DateTimeField(help_text="And the last.")


class PipelineVersions(s.Serializer):
    results = PipelineVersion(many=True)
