"""The shapes of judges and their versions, for the OpenAPI schema only (see annotate.api.schema)."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.serializers import FreeObject

_CONFIG = "Everything that decides what it says; its fields are those of the judge's kind (docs/judges.md)."


class Judge(s.Serializer):
    id = s.IntegerField()
    name = s.CharField()
    kind = s.CharField(help_text="imported, llm, ragas, lexical, embedding, nli, ensemble or composite")
    description = s.CharField()
    higher_is_better = s.BooleanField()
    versions = s.ListField(child=s.CharField(), help_text="Their names, in the order in which they came.")
    current = s.IntegerField(allow_null=True, help_text="The number of the latest version in use.")


class JudgeCreation(s.Serializer):
    name = s.CharField(help_text="1 to 200 characters, once in the project.")
    kind = s.CharField(help_text="One of the judge-kinds.")
    config = FreeObject(help_text=_CONFIG)
    endpoint = s.CharField(
        required=False, allow_null=True, help_text="The name of one of the project's endpoints, if it asks a model."
    )
    description = s.CharField(required=False)
    higher_is_better = s.BooleanField(required=False)


class JudgeChange(s.Serializer):
    higher_is_better = s.BooleanField()


class Version(s.Serializer):
    number = s.IntegerField()
    label = s.CharField(help_text="The name that a scores file gave it, else its number.")  # type: ignore[assignment]
    state = s.CharField(help_text="trial, kept (in use) or dropped")
    hash = s.CharField(help_text="Of all that decides what it says: the same hash, the same judge.")
    endpoint = s.CharField(allow_null=True)
    based_on = s.IntegerField(allow_null=True, help_text="The number of the version that it was made from.")
    created_by = s.CharField(allow_null=True)
    created_at = s.DateTimeField()
    config = FreeObject(help_text=f"{_CONFIG} `examples.drawn` is null for those who may not know these verdicts.")


class VersionCreation(s.Serializer):
    config = FreeObject(help_text=_CONFIG)
    endpoint = s.CharField(required=False, allow_null=True, help_text="If it asks a model.")
    state = s.CharField(required=False, help_text="kept (in use at once), as when left out, or trial")
    based_on = s.IntegerField(required=False, allow_null=True, help_text="The number of another of its versions.")


class DiffLine(s.Serializer):
    sign = s.CharField(help_text="“+” new, “-” gone, a blank: in both.")
    text = s.CharField()


class Difference(s.Serializer):
    field = s.CharField(help_text="As a path: config.prompt")
    older = s.JSONField(allow_null=True)
    newer = s.JSONField(allow_null=True)
    lines = DiffLine(many=True, help_text="Of two texts, line by line; else empty.")


class Diff(s.Serializer):
    older = s.IntegerField()
    newer = s.IntegerField()
    differences = Difference(many=True)


class JudgeKind(s.Serializer):
    key = s.CharField()
    title = s.CharField()


class Template(s.Serializer):
    key = s.CharField(help_text="The `template` of a configuration.")
    title = s.CharField()
    about = s.CharField()
    units = s.ListField(child=s.CharField(), help_text="The kinds of unit that it can be about.")
    per = s.CharField(help_text="unit: one request for each; sample: one for all units of a sample.")
    needs_requirements = s.BooleanField(help_text="The configuration has to bring `requirements`.")
    variables = s.ListField(child=s.CharField())
    prompt = s.CharField()


class JudgeKinds(s.Serializer):
    kinds = JudgeKind(many=True)
    templates = Template(many=True, help_text="Of the kind llm.")
