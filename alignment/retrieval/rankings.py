"""How well a retriever finds what is relevant, over all documents that are known to be: the measures of trec_eval.

Unlike ``sample_metrics``, which knows of a sample only what was retrieved.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np

from alignment.base.estimate import NO_UNITS, Estimate
from alignment.base.interval import Plan, share_of_trials

#: In the order in which they are shown.
MEASURES = ("P", "R", "Success", "RR", "AP", "nDCG", "Rprec", "Judged")
_WITHOUT_CUT = frozenset({"RR", "AP", "Rprec"})


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """Means over questions, by the names of ``MEASURES``, and what they are means of.

    ``per_question``: {id: {measure: value}}; None where it is undefined. ``undefined``: ids of questions of which no
    document is known to be relevant; ``unanswered``: the others' keys in ``rankings`` for which no ranking came back.
    """

    k: int
    metrics: Mapping[str, Estimate]
    per_question: Mapping[str, Mapping[str, float | None]]
    undefined: Sequence[str]
    unanswered: Sequence[str]


def retrieval_figures(
    grades: Mapping[str, Mapping[str, int]],
    rankings: Mapping[str, Sequence[str]],
    *,
    k: int,
    relevant_from: int = 1,
    relevant: Mapping[str, Collection[str]] | None = None,
    question_of: Mapping[str, str] | None = None,
    group: Mapping[str, Hashable] | None = None,
    level: float = 0.95,
) -> RetrievalFigures:
    """Of each question in ``rankings`` (what was retrieved, the best first; nothing where no answer came) against
    ``grades`` ({question: {document: grade}}, all documents that were judged).

    P, R, Success and nDCG are of the first ``k``; RR, AP and Rprec of all that was retrieved. A document is relevant
    from the grade ``relevant_from`` on, or, where ``relevant`` is given, if it has it for the question; the gain of
    nDCG is the grade, and its ideal is over all known documents. Judged is the share of the first k that were judged:
    what was not counts as irrelevant, so a low one makes the others too low.

    ``question_of``: the question of each key in ``rankings``, where questions were asked repeatedly; their figures are
    means over what came back each time.

    A question of which no document is relevant is undefined, and in no mean; one that got no answer scores 0, and has
    no Judged. Means are over questions, and intervals by ``group`` (by default each question is its own), as those of
    shares are. n counts questions. Undefined: no questions. ValueError: k < 1; a document twice in a ranking; a grade
    below 0.

    Source: trec_eval, by ir-measures and pytrec-eval; ranks stand for scores, so that no tie is broken by a name.

    >>> found = retrieval_figures({"q": {"15": 1, "42": 1, "103": 1}}, {"q": ["42", "15", "88", "103", "12"]}, k=5)
    >>> [found.metrics[name].value for name in ("P", "R", "RR")]
    [0.6, 1.0, 1.0]
    """
    question_of = question_of or {question: question for question in rankings}
    passing = _passing(grades, relevant_from) if relevant is None else relevant
    if k < 1:
        raise ValueError(f"k is 1 or more, not {k}")
    for question, judged in grades.items():
        if any(grade < 0 for grade in judged.values()):
            raise ValueError(f"question {question} has a grade below 0")
    for question, ranking in rankings.items():
        if len(set(ranking)) < len(ranking):
            twice = next(document for at, document in enumerate(ranking) if document in ranking[:at])
            raise ValueError(f"question {question} has document {twice} twice in its ranking")
    if relevant is not None:
        for question, documents in relevant.items():
            if not set(documents) <= grades.get(question, {}).keys():
                raise ValueError(f"question {question} has a relevant document without a grade")
    answered = {key: ranking for key, ranking in rankings.items() if ranking and passing.get(question_of[key])}
    measured = (
        [({**_of_relevant(k, relevant_from), **_of_grades(k)}, grades)]
        if relevant is None
        else [(_of_relevant(k, 1), _as_grades(grades, relevant)), (_of_grades(k), grades)]
    )
    found = _measured(measured, answered, question_of)
    asked: dict[str, list[dict[str, float | None]]] = {}
    unanswered = []
    for key in rankings:
        question = question_of[key]
        if not passing.get(question):
            row: dict[str, float | None] = dict.fromkeys(MEASURES)
        elif key in answered:
            row = {name: found[key].get(name) for name in MEASURES}
        else:
            row = {**dict.fromkeys(MEASURES, 0.0), "Judged": None}
            unanswered.append(key)
        asked.setdefault(question, []).append(row)
    per_question = {question: {name: _mean_of(rows, name) for name in MEASURES} for question, rows in asked.items()}
    return RetrievalFigures(
        k=k,
        metrics={
            name: _mean(name if name in _WITHOUT_CUT else f"{name}@{k}", name, per_question, group, level)
            for name in MEASURES
        },
        per_question=per_question,
        undefined=[question for question in per_question if not passing.get(question)],
        unanswered=unanswered,
    )


def _passing(grades: Mapping[str, Mapping[str, int]], relevant_from: int) -> dict[str, set[str]]:
    return {
        question: {document for document, grade in judged.items() if grade >= relevant_from}
        for question, judged in grades.items()
    }


def _as_grades(
    grades: Mapping[str, Mapping[str, int]], relevant: Mapping[str, Collection[str]]
) -> dict[str, dict[str, int]]:
    return {
        question: {document: int(document in relevant.get(question, ())) for document in judged}
        for question, judged in grades.items()
    }


def _measured(
    measured: Sequence[tuple[Mapping[str, Any], Mapping[str, Mapping[str, int]]]],
    rankings: Mapping[str, Sequence[str]],
    question_of: Mapping[str, str],
) -> dict[str, dict[str, float]]:
    """Measures, each with the grades that it is taken on, of rankings that are not empty, to questions with relevant
    documents."""
    found: dict[str, dict[str, float]] = {key: {} for key in rankings}
    if not rankings:
        return found
    run = {key: {document: -float(rank) for rank, document in enumerate(ranking)} for key, ranking in rankings.items()}
    for named, grades in measured:
        judged: Any = {key: dict(grades[question_of[key]]) for key in run}
        name_of = {measure: name for name, measure in named.items()}
        for metric in ir_measures.iter_calc(list(named.values()), judged, run):
            found[metric.query_id][name_of[metric.measure]] = float(metric.value)
    return found


def _of_relevant(k: int, relevant_from: int) -> dict[str, Any]:
    return {
        "P": ir_measures.P(rel=relevant_from) @ k,
        "R": ir_measures.R(rel=relevant_from) @ k,
        "Success": ir_measures.Success(rel=relevant_from) @ k,
        "RR": ir_measures.RR(rel=relevant_from),
        "AP": ir_measures.AP(rel=relevant_from),
        "Rprec": ir_measures.Rprec(rel=relevant_from),
    }


def _of_grades(k: int) -> dict[str, Any]:
    return {"nDCG": ir_measures.nDCG @ k, "Judged": ir_measures.Judged @ k}


def _mean_of(rows: Sequence[Mapping[str, float | None]], name: str) -> float | None:
    values = [value for row in rows if (value := row[name]) is not None]
    return sum(values) / len(values) if values else None


def _mean(
    title: str,
    name: str,
    per_question: Mapping[str, Mapping[str, float | None]],
    group: Mapping[str, Hashable] | None,
    level: float,
) -> Estimate:
    values = {question: row[name] for question, row in per_question.items() if row[name] is not None}
    of = [question if group is None else group[question] for question in values]
    _, cluster = np.unique(np.array([str(each) for each in of]), return_inverse=True) if of else ((), np.empty(0, int))
    hits = np.array(list(values.values()), dtype=np.float64)
    return share_of_trials(hits, cluster, Plan("jackknife", None, level), name=f"mean {title}", undefined=NO_UNITS)
