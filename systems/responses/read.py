"""Versions and their responses: lists, and what a version's responses came to in numbers.

Who still has an answer, a pair of answers or passages of a question to label is not told which version they are from:
all responses to the question are left out, as those of the other versions would tell it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.blindness import Reader, only_held_back
from annotate.core.errors import Conflict
from annotate.core.rows import Row, fetch_all, first_or_raise
from annotate.models import Project
from systems.core.set_names import numbered
from systems.models import ComposedSample, Experiment, FrozenSet, Question, Response, ResponseStatus, SystemVersion
from systems.questions.read import one_frozen, one_set


def versions_of(project: Project) -> QuerySet[SystemVersion]:
    """The latest first, each with how many responses it answered and failed."""
    return (
        SystemVersion.objects.filter(project=project)
        .annotate(
            answered=Count("responses", filter=Q(responses__status=ResponseStatus.OK)),
            failed=Count("responses", filter=Q(responses__status=ResponseStatus.FAILED)),
        )
        .select_related("created_by")
        .order_by("-id")
    )


def versions_asked(frozen: FrozenSet) -> QuerySet[SystemVersion]:
    """Those with a response to a question of the set, the baseline first, then the latest."""
    asked = Response.objects.filter(question__in=frozen.questions.values("revision__question"))
    versions = SystemVersion.objects.filter(project=frozen.question_set.project, pk__in=asked.values("version"))
    return versions.order_by("-is_baseline", "-id")


def one_version(project: Project, version_id: int) -> SystemVersion:
    return first_or_raise(versions_of(project).filter(pk=version_id), Http404(_("System version not found.")))


def version_named(project: Project, name: str) -> SystemVersion:
    refusal = Http404(_("Version “%(name)s” not found in this project.") % {"name": name[:80]})
    return first_or_raise(SystemVersion.objects.filter(project=project, name=name), refusal)


def shown_responses(responses: QuerySet[Response], *, reader: Reader) -> QuerySet[Response]:
    """Without those that the reader must not know yet."""
    return without_questions_to_label(responses, "question", reader=reader)


def without_questions_to_label(rows: QuerySet[Row], question: str, *, reader: Reader) -> QuerySet[Row]:
    """Without those about questions of which the reader still has something to label. question: where rows have it."""
    for samples in (Response.objects.all(), ComposedSample.objects.all()):
        rows = rows.exclude(**{f"{question}__in": only_held_back(samples, reader=reader).values("question")})
    return rows


def responses_of(
    project: Project, *, version: str = "", in_set: str = "", status: str = "", question: str = "", reader: Reader
) -> QuerySet[Response]:
    """In the order in which they came; in_set: a test set, or one of its numbers (`support@1`)."""
    found = Response.objects.filter(question__project=project).order_by("id")
    if version:
        found = found.filter(version__name=version)
    if status:
        found = found.filter(status=status)
    if question:
        found = found.filter(question__external_id=question)
    if in_set:
        frozen = numbered(in_set)
        if frozen is None:
            found = found.filter(question__in=one_set(project, in_set).entries.values("question"))
        else:
            asked = one_frozen(project, *frozen).questions.values("revision__question")
            found = found.filter(question__in=asked)
    return shown_responses(found.select_related("version", "question", "revision", "sample"), reader=reader)


def require_labelled(questions: Collection[int], refusal: str, *, reader: Reader) -> None:
    """Raises Conflict, with this sentence, while the reader still has answers to these questions, or passages of them,
    to label."""
    answers = Response.objects.filter(question__in=questions, sample__isnull=False)
    composed = ComposedSample.objects.filter(question__in=questions)
    if any(only_held_back(rows, reader=reader).exists() for rows in (answers, composed)):
        raise Conflict("still_to_label", refusal)


@dataclass(frozen=True)
class Answers:
    """responses: of one question, by version and repeat. held_back: how many are not among them, as the reader still
    has one of them, or what was composed of them, to label."""

    responses: list[Response]
    held_back: int


def answers_to(question: Question, *, reader: Reader) -> Answers:
    found = Response.objects.filter(question=question)
    shown = shown_responses(found.select_related("version", "revision", "sample"), reader=reader)
    responses = list(shown.order_by("version", "repeat"))
    return Answers(responses, found.count() - len(responses))


def answers_compared(experiment: Experiment, questions: Collection[int], *, reader: Reader) -> list[Response]:
    """Of the versions that the experiment compares, to what its test set asks; by question, version and repeat."""
    found = Response.objects.filter(version__experiments=experiment, question__in=questions)
    if experiment.frozen_set is not None:
        found = found.filter(revision__in=experiment.frozen_set.questions.values_list("revision", flat=True))
    shown = shown_responses(found.select_related("version", "revision", "sample"), reader=reader)
    return list(shown.order_by("question", "version", "repeat"))


@dataclass(frozen=True)
class Measured:
    """One measure of a version's responses; known: of how many it is known. All are None where it is of none."""

    name: str
    known: int
    p50: float | None
    p95: float | None
    total: float | None


@dataclass(frozen=True)
class VersionFigures:
    """Counts and measures of all responses, and of how many questions they are."""

    questions: int
    answered: int
    failed: int
    measures: list[Measured]

    @property
    def responses(self) -> int:
        return self.answered + self.failed


_MEASURES = ("latency_ms", "first_token_ms", "input_tokens", "output_tokens", "cost")

_OF_MEASURES = ", ".join(
    f"ARRAY[count({name}), percentile_cont(0.5) WITHIN GROUP (ORDER BY {name}),"
    f" percentile_cont(0.95) WITHIN GROUP (ORDER BY {name}), sum({name})]"
    for name in _MEASURES
)
_FIGURES = f"""
    SELECT v.id, count(DISTINCT question_id), count(*) FILTER (WHERE status = 'ok'),
           count(*) FILTER (WHERE status = 'failed'), {_OF_MEASURES}
      FROM unnest(%(versions)s::bigint[]) AS v (id) LEFT JOIN systems_response ON version_id = v.id
     GROUP BY v.id
"""


def figures_of(version: SystemVersion) -> VersionFigures:
    return figures_of_each([version])[version.pk]


def figures_of_each(versions: Collection[SystemVersion]) -> dict[int, VersionFigures]:
    """By primary key."""
    rows = fetch_all(_FIGURES, {"versions": [version.pk for version in versions]})
    return {
        pk: VersionFigures(
            questions,
            answered,
            failed,
            [
                Measured(name, int(known), p50, p95, total)
                for name, (known, p50, p95, total) in zip(_MEASURES, found, strict=True)
            ],
        )
        for pk, questions, answered, failed, *found in rows
    }
