"""Two builds of the demo's assistant, asked the same questions, labelled and compared."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.utils import timezone

from annotate.batches.steps import close_batch
from annotate.demo import DEMO_FOLDER
from annotate.demo.batches import one_after_other, read_lessons, settle_disputes, submit, tasks_of
from annotate.models import Batch, Project, Task, User
from annotate.projects.criteria import add_criteria
from annotate.projects.read import criterion_named
from judges.reports.evidence import full_evidence
from systems.core.answer_criteria import PREFERENCE
from systems.experiments.draw import draw_labels
from systems.experiments.figures import freeze_figures
from systems.experiments.pairs import draw_pairs
from systems.experiments.write import create_experiment
from systems.models import ComposedSample, Experiment, SystemVersion
from systems.questions.write import freeze_set
from systems.retrieval.pool import pool

SET, EXPERIMENT, VERSIONS = "common-questions", "v4-or-v3", ("v3", "v4")
# Asked of the answers of both builds, beside what the demo asks anyway.
CRITERIA = ("fact_in_context", "correctness", "failure", PREFERENCE)
_DRAWN, _PAIRS, _SEED = 80, 40, 7
_REASON = "Checked against the passages and the reference answer."
_UNIT = {"support": "claim:{}", "fact_in_context": "fact:{}", "fact_in_answer": "fact:{}"}


def add_build_criteria(project: Project) -> None:
    add_criteria(project=project, specs=CRITERIA, actor=User.objects.get(username="alma"))


def pool_builds(project: Project) -> None:
    """Of what both builds retrieved for the questions that were imported, what is relevant."""
    alma = User.objects.get(username="alma")
    frozen = freeze_set(actor=alma, project=project, name=SET).frozen
    versions = list(SystemVersion.objects.filter(project=project, name__in=VERSIONS))
    batch = pool(actor=alma, frozen=frozen, versions=versions, seed=_SEED, opens=True).batch
    said = {(row["question_id"], row["document"]): row for row in _rows("builds_grades.jsonl")}
    pooled = ComposedSample.objects.filter(question__project=project).select_related("question", "sample")
    by_sample = {
        one.sample.external_id: [said[one.question.external_id, documents[0]] for documents in one.documents]
        for one in pooled
    }
    _label(batch, lambda task, rater: _grades(by_sample[task.sample.external_id], rater))
    _settle(batch, {sample: _grades(rows, "remy") for sample, rows in by_sample.items()})


def compare_builds(project: Project) -> None:
    """Of the answers that were imported: the rule, then the labels that it rests on."""
    alma = User.objects.get(username="alma")
    spec = json.loads((DEMO_FOLDER / "experiment.json").read_text(encoding="utf-8"))
    experiment = create_experiment(actor=alma, project=project, name=EXPERIMENT, said=spec).experiment
    batch = draw_labels(actor=alma, experiment=experiment, questions=_DRAWN, seed=_SEED).batch
    said = {(row["sample_id"], row["rater"]): list(_units(row)) for row in _rows("builds_labels.jsonl")}
    _label(batch, lambda task, rater: said[task.sample.external_id, rater])
    _settle(batch, {row["sample_id"]: list(_units(row)) for row in _rows("builds_decisions.jsonl")})


def compare_side_by_side(project: Project) -> None:
    """Everyone prefers the answer that they found more correct on its own, and so does the reviewer by all of them."""
    experiment = Experiment.objects.get(project=project, name=EXPERIMENT)
    alma = User.objects.get(username="alma")
    batch = draw_pairs(actor=alma, experiment=experiment, beside=VERSIONS[1], questions=_PAIRS, seed=_SEED).batch
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for row in _rows("builds_labels.jsonl"):
        grades[row["sample_id"]][row["rater"]] = row["correctness"][0]
    composed = ComposedSample.objects.filter(sample__in=batch.samples.all())
    of_pair = composed.values_list("sample__external_id", "first__sample__external_id", "second__sample__external_id")
    both = {pair: (grades[first], grades[second]) for pair, first, second in of_pair}

    def said(task: Task, rater: str) -> list[dict[str, Any]]:
        first, second = both[task.sample.external_id]
        return _preferred(first[rater], second[rater])

    _label(batch, said)
    _settle(batch, {pair: _preferred(*(sum(one.values()) for one in graded)) for pair, graded in both.items()})


def _preferred(first: int, second: int) -> list[dict[str, Any]]:
    value = "A" if first > second else "B" if first < second else "tie"
    return [{"unit": "sample", "criterion": PREFERENCE, "value": value}]


def work_out_figures(project: Project) -> None:
    # Samples are divided first, as the report of the demo will: figures would else be out of date at once.
    full_evidence(criterion_named(project, "support"))
    freeze_figures(
        experiment=Experiment.objects.get(project=project, name=EXPERIMENT), user=User.objects.get(username="alma")
    )


def _label(batch: Batch, said: Callable[[Task, str], Sequence[Mapping[str, Any]]]) -> None:
    tasks = tasks_of(batch)
    of_task = {task: said(task, task.annotator.username) for task in tasks if task.annotator}
    submit(batch, one_after_other(tasks, of_task, timezone.now()))


def _settle(batch: Batch, right: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """The reviewer decides what the labels don't, and the batch is done. right: by sample."""
    settle_disputes(
        batch,
        {
            (sample, unit["criterion"], unit["unit"]): (unit["value"], _REASON)
            for sample, units in right.items()
            for unit in units
        },
    )
    read_lessons(batch)
    close_batch(batch=batch, actor=User.objects.get(username="alma"))


def _grades(rows: Sequence[Mapping[str, Any]], who: str) -> list[dict[str, Any]]:
    return [{"unit": f"context:{at}", "criterion": "relevance", "value": row[who]} for at, row in enumerate(rows)]


def _units(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What a row says, unit by unit."""
    for criterion, values in row.items():
        if criterion not in ("sample_id", "rater"):
            unit = _UNIT.get(criterion, "answer")
            for at, value in enumerate(values):
                yield {"unit": unit.format(at), "criterion": criterion, "value": value}


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with (DEMO_FOLDER / name).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
