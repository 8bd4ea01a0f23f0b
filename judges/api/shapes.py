"""The shapes of requests and replies, for the OpenAPI schema only (see annotate.api.schema)."""

from __future__ import annotations

from rest_framework import serializers as s


class Judge(s.Serializer):
    id = s.IntegerField()
    name = s.CharField()
    kind = s.CharField(help_text="imported, llm, ragas, lexical, embedding or ensemble")
    description = s.CharField()
    higher_is_better = s.BooleanField()
    versions = s.ListField(child=s.CharField(), help_text="Their names, in the order in which they came.")


class JudgeChange(s.Serializer):
    higher_is_better = s.BooleanField()


class ReportRequest(s.Serializer):
    criterion = s.CharField(help_text="Its key.")
