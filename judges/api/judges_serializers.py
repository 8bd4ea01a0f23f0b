"""What the API takes and replies about judges, their versions, and the endpoints that they ask."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.serializers import Choice, FreeObject, Moment, Of, Price, Shape, Whole
from annotate.core.line_diff import Line
from judges import models
from judges.endpoints import write
from judges.exports.files import TARGETS
from judges.models import VersionState
from judges.versions.read import Difference as Differs

_CONFIG = "Everything that decides what it says; its fields are those of the judge's kind (docs/judges.md)."


class Judge(Shape, of=models.Judge, shows="id name kind description higher_is_better versions current"):
    kind = Of("imported, llm, ragas, lexical, embedding, nli, ensemble, composite or cascade")
    versions = s.ListField(child=s.CharField(), help_text="Their names, in the order in which they came.")
    current = s.IntegerField(allow_null=True, help_text="The number of the latest version in use.")

    def get_versions(self, judge: models.Judge) -> list[str]:
        return [version.label for version in judge.versions.all()]

    def get_current(self, judge: models.Judge) -> int | None:
        in_use = (version.number for version in judge.versions.all() if version.state == VersionState.KEPT)
        return max(in_use, default=None)


class JudgeCreation(Shape, required="name kind config"):
    name = s.CharField(help_text="1 to 200 characters, once in the project.")
    kind = s.CharField(help_text="One of the judge-kinds.")
    config = FreeObject(help_text=_CONFIG)
    endpoint = s.CharField(allow_null=True, help_text="The name of one of the project's endpoints, if it asks a model.")
    description = s.CharField()
    higher_is_better = s.BooleanField()


class JudgeChange(Shape):
    higher_is_better = s.BooleanField()


class Version(
    Shape,
    of=models.JudgeVersion,
    shows="number label state hash endpoint based_on created_by created_at config",
):
    label = Of("The name that a scores file gave it, else its number.")  # type: ignore[assignment]
    state = Of("trial, kept (in use) or dropped")
    hash = Of("Of all that decides what it says: the same hash, the same judge.", source="content_hash")
    endpoint = s.CharField(source="endpoint.name", allow_null=True)
    based_on = s.IntegerField(
        source="based_on.number", allow_null=True, help_text="The number of the version that it was made from."
    )
    created_by = s.CharField(source="created_by.username", allow_null=True)
    created_at = Moment()
    config = FreeObject(help_text=f"{_CONFIG} `examples.drawn` and `rules` are null for those who may not know them.")


class ExportAsked(Shape, required="to"):
    to = Choice(TARGETS, help_text="json, ragas, deepeval or mlflow")


class VersionCreation(Shape, required="config"):
    config = FreeObject(help_text=_CONFIG)
    endpoint = s.CharField(allow_null=True, help_text="If it asks a model.")
    state = s.CharField(help_text="kept (in use at once), as when left out, or trial")
    based_on = Whole(allow_null=True, help_text="The number of another of its versions.")


class DiffAsked(Shape):
    older = Whole(help_text="The number of a version.")
    newer = Whole(help_text="The number of another one.")


class DiffLine(Shape, of=Line, shows="sign text"):
    sign = Of("“+” new, “-” gone, a blank: in both.")


class Difference(Shape, of=Differs, shows="field older newer lines"):
    field = Of("As a path: config.prompt")
    older = s.JSONField(allow_null=True)
    newer = s.JSONField(allow_null=True)
    lines = DiffLine(many=True, help_text="Of two texts, line by line; else empty.")


class Diff(Shape):
    older = s.IntegerField()
    newer = s.IntegerField()
    differences = Difference(many=True)


class JudgeKind(Shape):
    key = s.CharField()
    title = s.CharField()


class Template(Shape):
    key = s.CharField(help_text="The `template` of a configuration.")
    title = s.CharField()
    about = s.CharField()
    units = s.ListField(child=s.CharField(), help_text="The kinds of unit that it can be about.")
    per = s.CharField(help_text="unit: one request for each; sample: one for all units of a sample.")
    needs_requirements = s.BooleanField(help_text="The configuration has to bring `requirements`.")
    variables = s.ListField(child=s.CharField())
    prompt = s.CharField()


class JudgeKinds(Shape):
    kinds = JudgeKind(many=True)
    templates = Template(many=True, help_text="Of the kind llm.")


class EndpointShared(
    Shape,
    of=models.Endpoint,
    shows="base_url key_source key_variable concurrency requests_per_minute timeout_seconds price_in price_out "
    "currency",
):
    base_url = Of("With the version in its path: https://api.openai.com/v1.")
    key_source = Of("none, environment or stored")
    key_variable = Of("environment: the name of the variable; it begins with JUDGE_KEY_.")
    concurrency = Of("So many requests at once, 1 to 128.")
    requests_per_minute = Of("null: as many as there are.")
    timeout_seconds = Of("Of a whole request, 1 to 120.")
    price_in = Price(allow_null=True, help_text="Per million tokens; null: not known, which is not free.")
    price_out = Price(allow_null=True)
    currency = Of("Three letters.")


class Endpoint(
    EndpointShared,
    of=models.Endpoint,
    shows="name base_url key_source key_variable key_last4 concurrency requests_per_minute timeout_seconds price_in "
    "price_out currency revision created_at",
):
    key_last4 = Of("stored: its last four characters; empty for a short key.")
    created_at = Moment()


class EndpointChange(EndpointShared, required=""):
    key = s.CharField(help_text="The key itself. It is encrypted, and never told again.")


class NewEndpoint(EndpointChange, required="name base_url"):
    name = s.CharField(help_text="Small letters, digits, “-” and “_”. Can’t be changed later.")


class TrialRequest(Shape, required=""):
    model = s.CharField(allow_null=True, help_text="Asks this model for one word; empty: asks which models there are.")


class EndpointTrial(Shape, of=write.Trial, shows="works status message seconds tokens_in tokens_out cost models"):
    status = Of("ok, or why not: a score's status, or what would stop a run.")
    cost = Price(allow_null=True)
