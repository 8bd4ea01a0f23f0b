"""RAG metrics of one sample, from its labels: what people's labels say a metric should have been.

Each takes the labels of one sample and gives an Estimate without interval; ``mean_over_samples`` has one. Labels that
are missing are left out by the caller. A metric with nothing to count, such as faithfulness without claims, is
undefined. But a ranking in which nothing is relevant scores 0, as is usual for these metrics: leaving such samples out
would reward a retriever that finds nothing.
"""

from collections.abc import Collection, Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from alignment.base.arrays import Array, Bools, Floats, finite, same_length, verdicts
from alignment.base.estimate import Estimate, Remark, remark
from alignment.base.interval import Kind, Plan, share_of_trials

NO_CLAIMS = remark("no_claims")
ABSTAINED = remark("abstained")
NO_CONTEXTS = remark("no_contexts")
NO_RELEVANT = remark("nothing_relevant")
NO_FACTS = remark("no_key_facts")
NO_ENTITIES = remark("no_entities")
NO_WRONG = remark("no_wrong_claim")
NO_RELEVANT_CONTEXT = remark("no_relevant_context")
ONE_SAMPLE = remark("one_sample")


def faithfulness(supported: ArrayLike, *, abstained: bool = False) -> Estimate:
    """Supported claims/all claims; ``supported`` has shape (claims,). Undefined: no claims; the answer ``abstained``,
    saying only that it has none, whatever claims were made of it.

    >>> faithfulness([True, True, False]).value == 2 / 3, faithfulness([]).reason
    (True, {'code': 'no_claims'})
    >>> faithfulness([False], abstained=True).reason
    {'code': 'abstained'}
    """
    if abstained:
        return Estimate.undefined(ABSTAINED, n=0, clusters=1, method="faithfulness")
    return _share(verdicts(supported, "supported"), "faithfulness", NO_CLAIMS)


def context_recall(found: ArrayLike) -> Estimate:
    """Key facts found in the contexts/all key facts; ``found`` has shape (facts,). Undefined: no key facts."""
    return _share(verdicts(found, "found"), "context recall", NO_FACTS)


def context_entity_recall(found: ArrayLike) -> Estimate:
    """Entities found in the contexts/all entities; ``found`` has shape (entities,). Undefined: no entities."""
    return _share(verdicts(found, "found"), "context entity recall", NO_ENTITIES)


def noise_sensitivity(wrong: ArrayLike, by_irrelevant: ArrayLike, relevant_context: bool) -> Estimate:
    """Wrong claims supported by an irrelevant context/wrong claims, where a relevant context was there.

    ``wrong`` and ``by_irrelevant`` (whether an irrelevant context supports the claim) have shape (claims,);
    ``relevant_context`` says whether one of the sample's contexts is relevant. 0 is best. Undefined: no relevant
    context was there; no claim is wrong.

    >>> noise_sensitivity([True, True, False], [True, False, True], relevant_context=True).value
    0.5
    """
    bad, misled = verdicts(wrong, "wrong"), verdicts(by_irrelevant, "by_irrelevant")
    same_length(wrong=bad, by_irrelevant=misled)
    if not relevant_context:
        return Estimate.undefined(NO_RELEVANT_CONTEXT, n=0, clusters=1, method="noise sensitivity")
    return _share(misled[bad], "noise sensitivity", NO_WRONG)


def context_precision(relevant: ArrayLike) -> Estimate:
    """Average precision over the ranked contexts: the mean of precision@rank over the ranks that are relevant.

    ``relevant`` has shape (contexts,), best rank first. 0 when none is relevant. Undefined: no contexts.

    >>> context_precision([True, False, True]).value == (1 / 1 + 2 / 3) / 2
    True
    """
    hit = verdicts(relevant, "relevant")
    return _metric(float(context_precisions(hit[None])[0]), hit.size, "context precision", NO_CONTEXTS)


def precision_at_k(relevant: ArrayLike, k: int) -> Estimate:
    """Relevant ones among the first k contexts/k; the denominator stays k when there are fewer contexts.

    ``relevant`` has shape (contexts,), best rank first. Undefined: no contexts. ValueError: k < 1.

    >>> precision_at_k([True, True, False], 5).value
    0.4
    """
    hit = verdicts(relevant, "relevant")
    return _metric(float(precisions_at_k(hit[None], k)[0]), hit.size, f"precision@{k}", NO_CONTEXTS)


def retrieved_precision(relevant: ArrayLike) -> Estimate:
    """Relevant contexts/all contexts, whatever their order: precision@k with as many as there are for k.

    ``relevant`` has shape (contexts,). Undefined: no contexts.

    >>> retrieved_precision([True, False, True, False]).value
    0.5
    """
    return _share(verdicts(relevant, "relevant"), "precision of what was retrieved", NO_CONTEXTS)


def recall_at_k(ranked: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> Estimate:
    """Relevant ids among the first k of ``ranked``/relevant ids. n counts the relevant ids, each once.

    Undefined: no ids are known to be relevant. Without contexts it is 0. ValueError: k < 1.

    >>> recall_at_k(["d1", "d2", "d3"], ["d3", "d9"], 3).value
    0.5
    """
    known = set(relevant)
    found = known & set(ranked[: _rank(k)])
    return _metric(len(found) / max(len(known), 1), len(known), f"recall@{k}", NO_RELEVANT)


def reciprocal_rank(relevant: ArrayLike) -> Estimate:
    """1/rank of the first relevant context; 0 when none is. ``relevant`` as above. Undefined: no contexts.

    >>> reciprocal_rank([False, False, True]).value == 1 / 3
    True
    """
    hit = verdicts(relevant, "relevant")
    return _metric(float(reciprocal_ranks(hit[None])[0]), hit.size, "reciprocal rank", NO_CONTEXTS)


def ndcg_at_k(grades: ArrayLike, k: int) -> Estimate:
    """DCG of the first k contexts/DCG of the best order of all of them; DCG = Σ grade/log₂(rank + 1).

    ``grades`` (0 to 3, or any that are not negative) have shape (contexts,), best rank first. 0 when all grades are 0.
    Undefined: no contexts. ValueError: k < 1, negative grades.

    Source: Järvelin & Kekäläinen (2002), ACM Trans. Inf. Syst. 20, with the grade itself as gain.

    >>> round(ndcg_at_k([3, 0, 2], 3).value, 4)
    0.9386
    """
    gain = finite(grades, "grade")
    if (gain < 0).any():
        raise ValueError(f"grades are not negative, but one is {gain.min()}")
    return _metric(float(ndcgs_at_k(gain[None], k)[0]), gain.size, f"nDCG@{k}", NO_CONTEXTS)


def context_precisions(relevant: Bools) -> Floats:
    """``context_precision`` of many samples at once, shape (samples, ranks); ranks that a sample lacks are False."""
    at_rank = relevant.cumsum(axis=1) / np.arange(1, relevant.shape[1] + 1)
    return (at_rank * relevant).sum(axis=1) / np.maximum(relevant.sum(axis=1), 1)


def precisions_at_k(relevant: Bools, k: int) -> Floats:
    """``precision_at_k`` of many samples at once, shape (samples, ranks); ranks that a sample lacks are False."""
    return relevant[:, : _rank(k)].sum(axis=1) / k


def reciprocal_ranks(relevant: Bools) -> Floats:
    """``reciprocal_rank`` of many samples at once, shape (samples, ranks); ranks that a sample lacks are False."""
    if not relevant.shape[1]:
        return np.zeros(relevant.shape[0])
    return relevant.any(axis=1) / (relevant.argmax(axis=1) + 1)


def ndcgs_at_k(grades: Floats, k: int) -> Floats:
    """``ndcg_at_k`` of many samples at once, shape (samples, ranks); ranks that a sample lacks are 0.

    Grades are not negative.
    """
    best = _dcgs(-np.sort(-grades, axis=1), _rank(k))
    return _dcgs(grades, k) / np.where(best > 0, best, 1.0)


def mean_over_samples(
    metrics: Sequence[Estimate],
    cluster: ArrayLike,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean of one metric over the samples where it is defined, with its interval; n counts these samples.

    ``cluster`` has shape (samples,): what was drawn independently, the question if several samples answer the same
    one. Every metric here lies between 0 and 1. Undefined: the metric is undefined in every sample. ValueError:
    unequal lengths, several metrics mixed.

    >>> found = [faithfulness(claims) for claims in ([True, False], [True], [])]
    >>> mean = mean_over_samples(found, [1, 2, 3], interval="none")
    >>> mean.value, mean.n, mean.method
    (0.75, 2, 'mean faithfulness, undefined in 1')
    """
    plan = Plan(interval, rng, level)
    at: Array = np.asarray(cluster)
    same_length(metrics=metrics, cluster=at)
    names = sorted({metric.method for metric in metrics})
    if len(names) > 1:
        raise ValueError(f"a mean is of one metric, not of {', '.join(names)}")
    defined = np.array([metric.value is not None for metric in metrics], dtype=np.bool_)
    values = np.array([metric.value for metric in metrics if metric.value is not None], dtype=np.float64)
    name = f"mean {names[0] if names else 'metric'}, undefined in {int((~defined).sum())}"
    undefined = remark("undefined_in_every_sample") if metrics else remark("no_samples")
    return share_of_trials(values, at[defined], plan, name=name, undefined=undefined)


def _metric(value: float, n: int, name: str, undefined: Remark) -> Estimate:
    if n == 0:
        return Estimate.undefined(undefined, n=0, clusters=1, method=name)
    return Estimate(value, None, None, n=n, clusters=1, method=name, reason=ONE_SAMPLE)


def _share(counted: Bools, name: str, undefined: Remark) -> Estimate:
    return _metric(float(counted.mean()) if counted.size else 0.0, counted.size, name, undefined)


def _dcgs(gain: Floats, k: int) -> Floats:
    first = gain[:, :k]
    return (first / np.log2(np.arange(2, first.shape[1] + 2))).sum(axis=1)


def _rank(k: int) -> int:
    if k < 1:
        raise ValueError(f"k is at least 1, not {k}")
    return k
