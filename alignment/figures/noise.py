"""What a judge's figures might be against the truth, since the people it is held against err too."""

from typing import Any

from alignment.estimate import Estimate
from alignment.figures.beside import JUDGE, refusal, with_judge
from alignment.figures.comparison import Comparison
from alignment.figures.people import ALONE, NO_LABELS
from alignment.figures.reference import NO_PASSES, Reference
from alignment.figures.seeds import generator
from alignment.human_rates import Model
from alignment.noise import JudgeUnderNoise, judge_under_noise

MODELS: tuple[Model, ...] = ("one rate", "two rates")


def judge_behind_noise(reference: Reference, one: Comparison) -> dict[str, Any]:
    """The judge against people's majority as it is, and one line for each model of people's errors, as plain JSON.

    The judge with its decisions on dev; people's errors from all their labels. Verdicts play no part.
    """
    reason = _refusal(reference, one)
    if reason is not None:
        return {"reason": reason, "observed": Estimate.undefined(reason).as_dict(), "lines": []}
    ratings = with_judge(reference, one)
    name = (reference.evidence.criterion.key, *one.said.name)
    found = [
        judge_under_noise(ratings, JUDGE, [True], model, rng=generator(reference.evidence.seed, "noise", model, *name))
        for model in MODELS
    ]
    observed = found[0].observed
    accuracy = (
        Estimate.undefined("the labels of these units are all split in half") if observed is None else observed.accuracy
    )
    return {"reason": None, "observed": accuracy.as_dict(), "lines": [_line(line) for line in found]}


def _refusal(reference: Reference, one: Comparison) -> str | None:
    if reference.passing is None:
        return NO_PASSES
    ratings = reference.passing
    if not len(ratings):
        return NO_LABELS
    return ALONE if ratings.n_units == len(ratings) else refusal(reference, one)


def _line(line: JudgeUnderNoise) -> dict[str, Any]:
    shown = ("human_tpr", "human_tnr", "tpr", "tnr", "accuracy")
    return {
        "model": line.model,
        "assumption": line.assumption,
        **{name: getattr(line, name).as_dict() for name in shown},
    }
