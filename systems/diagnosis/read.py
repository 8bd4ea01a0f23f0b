"""Responses with what the tree says of each, from verdicts that hold; the statements are as many for ten thousand
responses as for ten.

Left out is what the reader still has to label: a diagnosis tells what others said, and which version gave the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from annotate.core.blindness import SYSTEM, Reader, without_held_back
from annotate.core.rows import fetch_all
from annotate.core.scales import Value
from annotate.core.units import indices_sql, without_abstentions
from annotate.labels.anchored_read import is_anchored
from annotate.labels.settled_read import HOLDING, STANDING
from annotate.models import Criterion, Project, Verdict
from annotate.samples.read import of_samples
from systems.diagnosis.cases import Asking, Diagnosed, SaidOfSample, diagnosed_rows
from systems.diagnosis.mapping_read import FAILURE, Mapped, mapping_of
from systems.models import Response, ResponseStatus
from systems.responses.read import responses_of, shown_responses, version_named


@dataclass(frozen=True)
class Judged:
    """A judge whose values were taken for the answers to a question. ruling: what it may do, as its latest test
    evaluation decided (judges.certificates.decision_read); None where it was never evaluated. ended: why its
    certificate has ended."""

    question: str
    criterion: Criterion
    judge: str
    version: str
    ruling: Mapping[str, Any] | None
    ended: str | None


@dataclass(frozen=True)
class DiagnosedResponses:
    """by_judges: it is their word and not people's; judges: who they are. held_back: how many responses are not among
    them, as the reader still has something of their question to label, or as no one may know what judges say of
    them."""

    mapped: Mapped
    rows: Sequence[Diagnosed]
    held_back: int
    by_judges: bool = False
    judges: Sequence[Judged] = ()


_ROWS = f"""
    SELECT r.id, v.name, q.external_id, q.id, n.id, q.group_key, n.kind, n.category, r.repeat,
           r.status = %(failed)s, s.id, s.external_id, s.answer IS NOT NULL, coalesce(s.abstained, false),
           ARRAY(SELECT c.e ->> 'id' FROM jsonb_array_elements(s.contexts) WITH ORDINALITY AS c (e, n) ORDER BY c.n),
           CASE WHEN r.ranking IS NULL THEN coalesce(s.retrieved_doc_ids, '{{}}') ELSE
               ARRAY(SELECT d.e ->> 'id' FROM jsonb_array_elements(r.ranking) WITH ORDINALITY AS d (e, n) ORDER BY d.n)
           END,
           coalesce(s.relevant_doc_ids, '{{}}'), {indices_sql("claim")}, coalesce(jsonb_array_length(s.key_facts), 0)
      FROM systems_response r
      JOIN systems_systemversion v ON v.id = r.version_id
      JOIN systems_question q ON q.id = r.question_id
      JOIN systems_questionrevision n ON n.id = r.revision_id
      LEFT JOIN annotate_sample s ON s.id = r.sample_id
     WHERE r.id = ANY(%(responses)s) ORDER BY v.id, q.id, r.repeat
"""


def diagnosed(project: Project, *, version: str = "", in_set: str = "", reader: Reader) -> DiagnosedResponses:
    """By what people said. version, in_set: as `responses_of`."""
    mapped = mapping_of(project)
    asking, held_back = asked_responses(project, version=version, in_set=in_set, reader=reader)
    return DiagnosedResponses(mapped, _by_people(mapped, asking, reader=reader), held_back)


def one_diagnosed(response: Response, *, reader: Reader) -> tuple[Diagnosed | None, Mapped]:
    """None where the reader still has its sample to label."""
    mapped = mapping_of(response.version.project)
    shown = shown_responses(Response.objects.filter(pk=response.pk), reader=reader)
    rows = _by_people(mapped, _read(list(shown.values_list("pk", flat=True))), reader=reader)
    return next(iter(rows), None), mapped


def _by_people(mapped: Mapped, asking: list[Asking], *, reader: Reader) -> list[Diagnosed]:
    said = _people_said(mapped, [one.sample for one in asking if one.sample is not None], reader=reader)
    return diagnosed_rows(mapped, asking, said, reader=reader)


def asked_responses(project: Project, *, version: str, in_set: str, reader: Reader) -> tuple[list[Asking], int]:
    """And how many are left out for this reader."""
    if version:
        version_named(project, version)
    every = responses_of(project, version=version, in_set=in_set, reader=SYSTEM).count()
    shown = responses_of(project, version=version, in_set=in_set, reader=reader)
    asking = _read(list(shown.order_by().values_list("pk", flat=True)))
    return asking, every - len(asking)


def _read(responses: list[int]) -> list[Asking]:
    given = {"responses": responses, "failed": ResponseStatus.FAILED.value}
    return [Asking(*row) for row in fetch_all(_ROWS, given)]


def _people_said(mapped: Mapped, samples: list[int], *, reader: Reader) -> dict[int, SaidOfSample]:
    """By verdicts that hold, on the criteria of today: what a change of theirs touches has to be decided anew. What was
    decided about a failure under a judge's proposal is left out, as the tree is compared with people's own word."""
    names = names_by_key(mapped)
    criteria = {one.criterion.pk for one in mapped.asked.values()}
    verdicts = Verdict.objects.filter(criterion__in=criteria).alias(standing=STANDING)
    holding = without_abstentions(verdicts.filter(standing__in=HOLDING))
    rows = without_held_back(of_samples(holding, samples), reader=reader).annotate(anchored=is_anchored())
    found: dict[int, dict[str, dict[str, Value]]] = defaultdict(lambda: defaultdict(dict))
    for sample, unit, key, value, anchored in rows.values_list("sample", "unit", "criterion__key", "value", "anchored"):
        for name in names[key]:
            if name != FAILURE or not anchored:
                found[sample][name][unit] = cast("Value", value)
    return dict(found)


def names_by_key(mapped: Mapped) -> dict[str, list[str]]:
    """The questions that each criterion answers."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, one in mapped.asked.items():
        found[one.criterion.key].append(name)
    return dict(found)
