"""How well raters, people and judges alike, agree: ratings in, estimates out.

Pure functions on arrays (numpy, scipy); no Django, no pandas. Every statistic returns an ``Estimate``. Definitions and
sources stand in the functions; randomness arrives as ``rng``.
"""

from alignment.alpha import krippendorff_alpha
from alignment.auc import roc_auc
from alignment.bland_altman import BlandAltman, bland_altman, on_scale
from alignment.bootstrap import RESAMPLES
from alignment.cohen import cohen_kappa
from alignment.consistency import Consistency, SelfConsistency, self_consistency
from alignment.correlation import pearson, spearman
from alignment.estimate import Estimate
from alignment.interval import CLUSTERS_FOR_INFLUENCE
from alignment.labels import LabelResult, judge_label_kappa
from alignment.mean_kappa import mean_pairwise_kappa
from alignment.multirater import brennan_prediger, fleiss_kappa, gwet_ac1, gwet_ac2, percent_agreement
from alignment.pairs import Pair, pairwise
from alignment.precision_recall import pr_auc
from alignment.ratings import Ratings, Scale
from alignment.reference import BinaryReference, MeanReference, mean_value, reference_majority
from alignment.scott import mean_pairwise_pi, scott_pi
from alignment.split import dev_test_split
from alignment.summary import AgreementSummary, Prevalence, agreement_summary, paradox_note, prevalence
from alignment.tau import kendall
from alignment.threshold import Sweep, ThresholdResult, at_threshold, sweep

__all__ = [
    "CLUSTERS_FOR_INFLUENCE",
    "RESAMPLES",
    "AgreementSummary",
    "BinaryReference",
    "BlandAltman",
    "Consistency",
    "Estimate",
    "LabelResult",
    "MeanReference",
    "Pair",
    "Prevalence",
    "Ratings",
    "Scale",
    "SelfConsistency",
    "Sweep",
    "ThresholdResult",
    "agreement_summary",
    "at_threshold",
    "bland_altman",
    "brennan_prediger",
    "cohen_kappa",
    "dev_test_split",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "judge_label_kappa",
    "kendall",
    "krippendorff_alpha",
    "mean_pairwise_kappa",
    "mean_pairwise_pi",
    "mean_value",
    "on_scale",
    "pairwise",
    "paradox_note",
    "pearson",
    "percent_agreement",
    "pr_auc",
    "prevalence",
    "reference_majority",
    "roc_auc",
    "scott_pi",
    "self_consistency",
    "spearman",
    "sweep",
]
