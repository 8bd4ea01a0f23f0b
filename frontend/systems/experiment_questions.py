"""The questions of an experiment whose answers changed: both answers side by side, and what was retrieved for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from frontend.base.pages import ProjectPage, project_view
from frontend.batches.chosen_samples import OPENING, SAMPLE
from frontend.systems.metric_names import metric_title
from systems.experiments.changes import Change, changes_of
from systems.experiments.read import ExperimentState, one_experiment
from systems.models import Question, Response
from systems.responses.read import answers_compared


@dataclass(frozen=True, slots=True)
class Context:
    """rank: from 1. other_rank: where the other version has the same one, None where it does not."""

    rank: int
    text: str
    name: str
    other_rank: int | None


@dataclass(frozen=True, slots=True)
class Side:
    """response: the first repeat's; None where there is none that the reader may see."""

    version: str
    response: Response | None
    contexts: Sequence[Context]

    @property
    def answer(self) -> str:
        return "" if self.response is None or self.response.sample is None else self.response.sample.answer or ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with what both versions said to it. permalink: of this question alone. to_batch: the address of a new
    batch with both answers, "" where there are none."""

    change: Change
    text: str
    sides: Sequence[Side]
    permalink: str
    to_batch: str

    @property
    def texts(self) -> list[str]:
        return [side.answer for side in self.sides]

    @property
    def contexts(self) -> int:
        return sum(len(side.contexts) for side in self.sides)

    @property
    def contexts_apart(self) -> int:
        """How many only one of them has."""
        return sum(one.other_rank is None for side in self.sides for one in side.contexts)


@project_view("systems", get="systems.read")
def questions(page: ProjectPage, experiment_name: str) -> HttpResponse:
    """By how they changed, the greatest losses first; `?question=` only that one."""
    found = one_experiment(page.project, experiment_name)
    state = ExperimentState(found)
    metric = page.request.GET.get("metric") or state.rule.primary
    candidates = [one.version.name for one in state.versions if not one.is_baseline]
    version = page.request.GET.get("version") or candidates[0]
    if version not in candidates:
        raise Http404(_("System version not found."))
    try:
        changes = changes_of(found, state.rule, metric=metric, version=version, reader=page.user)
    except LookupError as error:
        raise Http404(_("Metric not found.")) from error
    except Conflict as refusal:
        return page.render("systems/experiment_questions.html", {"experiment": found, "held_back": refusal.message})
    said = next(one for one in state.rule.metrics if one["name"] == metric)
    alone = page.request.GET.get("question", "")
    shown = [one for one in changes if str(one.question) == alone] if alone else changes
    if alone and not shown:
        raise Http404(_("Question not found."))
    query = urlencode({"metric": metric, "version": version})
    rows = page.rows(shown, per_page=20)
    context = {
        "experiment": found,
        "baseline": state.baseline,
        "version": version,
        "metric": metric,
        "title": metric_title(said),
        "measured": "field" in said,
        "metrics": [(one["name"], metric_title(one)) for one in state.rule.metrics],
        "candidates": candidates,
        "rows": rows,
        "pairs": _pairs(page, state, list(rows), version, query),
        "all": f"?{query}" if alone else "",
        "better": sum(one.gain is not None and one.gain > 0 for one in changes),
        "worse": sum(one.gain is not None and one.gain < 0 for one in changes),
        "may_draw": page.may("batches.change"),
        "query": f"{query}&",
    }
    return page.render("systems/experiment_questions.html", context)


def _pairs(
    page: ProjectPage, state: ExperimentState, changes: Sequence[Change], version: str, query: str
) -> list[Pair]:
    keys = [one.question for one in changes]
    first: dict[tuple[int, str], Response] = {}
    for response in answers_compared(state.experiment, keys, reader=page.user):
        first.setdefault((response.question_id, response.version.name), response)
    questions = {one.pk: one for one in Question.objects.filter(pk__in=keys).prefetch_related("revisions")}
    pairs = []
    for change in changes:
        responses = [first.get((change.question, one)) for one in (state.baseline, version)]
        revision = next((one.revision for one in responses if one is not None), None)
        # Its answers may all be held back from the reader.
        asked = revision or max(questions[change.question].revisions.all(), key=lambda one: one.number)
        contexts = [_contexts(one) for one in responses]
        samples = [str(one.sample_id) for one in responses if one is not None and one.sample_id is not None]
        batch: dict[str, Any] = {OPENING: "on", SAMPLE: " ".join(samples)}
        pairs.append(
            Pair(
                change=change,
                text=asked.text,
                sides=[
                    Side(name, response, _ranked(own, other))
                    for name, response, own, other in zip(
                        (state.baseline, version), responses, contexts, reversed(contexts), strict=True
                    )
                ],
                permalink=f"?{query}&{urlencode({'question': change.question})}",
                to_batch=f"{page.url('batch-new')}?{urlencode(batch)}" if samples else "",
            )
        )
    return pairs


def _contexts(response: Response | None) -> list[dict[str, Any]]:
    return [] if response is None or response.sample is None else list(response.sample.contexts)


def _ranked(own: Sequence[dict[str, Any]], other: Sequence[dict[str, Any]]) -> list[Context]:
    """The same where their texts are: an ID may have another text in another version."""
    there: dict[str, int] = {}
    for rank, one in enumerate(other, start=1):
        there.setdefault(one["text"], rank)
    return [
        Context(rank, one["text"], one.get("id") or "", there.get(one["text"])) for rank, one in enumerate(own, start=1)
    ]
