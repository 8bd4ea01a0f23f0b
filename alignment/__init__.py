"""How well raters, people and judges alike, agree: ratings in, estimates out.

Pure functions on arrays (numpy, scipy); no Django, no pandas. Every statistic returns an ``Estimate``. Definitions and
sources stand in the functions; randomness arrives as ``rng``.
"""

from alignment.alpha import krippendorff_alpha
from alignment.auc import roc_auc
from alignment.cohen import cohen_kappa
from alignment.corrected_rate import CorrectedRate, corrected_rate, rogan_gladen
from alignment.correlation import pearson, spearman
from alignment.design import Design
from alignment.estimate import Estimate
from alignment.interval import CLUSTERS_FOR_INFLUENCE, RESAMPLES
from alignment.labels import LabelResult, judge_label_kappa
from alignment.multirater import fleiss_kappa, gwet_ac1, percent_agreement
from alignment.pairs import Pair, mean_pairwise_kappa, pairwise
from alignment.planning import Plannable, plannable, plannable_from_influence
from alignment.ppi import PpiMean, ppi_mean
from alignment.ratings import Ratings, Scale
from alignment.reference import BinaryReference, MeanReference, mean_value, reference_majority
from alignment.sample_metrics import (
    context_entity_recall,
    context_precision,
    context_recall,
    faithfulness,
    mean_over_samples,
    ndcg_at_k,
    noise_sensitivity,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)
from alignment.selection import Draw, allocate, draw, expected_spread, guessed_spread, judge_views, strata
from alignment.small_sample import coverage_warning
from alignment.split import dev_test_split
from alignment.summary import AgreementSummary, Prevalence, agreement_summary, paradox_note, prevalence
from alignment.tau import kendall
from alignment.threshold import Sweep, ThresholdResult, at_threshold, sweep
from alignment.weighted import WeightedResult, weighted_at_threshold, weighted_mean

__all__ = [
    "CLUSTERS_FOR_INFLUENCE",
    "RESAMPLES",
    "AgreementSummary",
    "BinaryReference",
    "CorrectedRate",
    "Design",
    "Draw",
    "Estimate",
    "LabelResult",
    "MeanReference",
    "Pair",
    "Plannable",
    "PpiMean",
    "Prevalence",
    "Ratings",
    "Scale",
    "Sweep",
    "ThresholdResult",
    "WeightedResult",
    "agreement_summary",
    "allocate",
    "at_threshold",
    "cohen_kappa",
    "context_entity_recall",
    "context_precision",
    "context_recall",
    "corrected_rate",
    "coverage_warning",
    "dev_test_split",
    "draw",
    "expected_spread",
    "faithfulness",
    "fleiss_kappa",
    "guessed_spread",
    "gwet_ac1",
    "judge_label_kappa",
    "judge_views",
    "kendall",
    "krippendorff_alpha",
    "mean_over_samples",
    "mean_pairwise_kappa",
    "mean_value",
    "ndcg_at_k",
    "noise_sensitivity",
    "pairwise",
    "paradox_note",
    "pearson",
    "percent_agreement",
    "plannable",
    "plannable_from_influence",
    "ppi_mean",
    "precision_at_k",
    "prevalence",
    "recall_at_k",
    "reciprocal_rank",
    "reference_majority",
    "roc_auc",
    "rogan_gladen",
    "spearman",
    "strata",
    "sweep",
    "weighted_at_threshold",
    "weighted_mean",
]
