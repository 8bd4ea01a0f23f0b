"""How well raters, people and judges alike, agree: ratings in, estimates out.

Pure functions on arrays (numpy, scipy); no Django, no pandas. Every statistic returns an ``Estimate``. Definitions and
sources stand in the functions; randomness arrives as ``rng``.
"""

from alignment.alpha import krippendorff_alpha
from alignment.altannotator import AlternativeAnnotatorTest, AnnotatorTest, alternative_annotator_test
from alignment.auc import roc_auc
from alignment.bland_altman import BlandAltman, bland_altman, on_scale
from alignment.bootstrap import RESAMPLES
from alignment.calibration import CrossFit, NotFitted, cross_fit, cross_fit_on, fit_calibrator
from alignment.calibrators import (
    Calibrator,
    CutpointCalibrator,
    IsotonicCalibrator,
    PlattCalibrator,
    ThresholdCalibrator,
)
from alignment.caveats import interval_caveat, rarer_samples
from alignment.ceiling import AnnotatorCeiling, CeilingVerdict, HumanCeiling, ceiling_verdict, human_ceiling
from alignment.cohen import cohen_kappa
from alignment.consensus import Consensus, consensus_labels, rest_label
from alignment.consistency import Consistency, SelfConsistency, self_consistency
from alignment.corrected_rate import CorrectedRate, corrected_rate, rogan_gladen
from alignment.correlation import pearson, spearman
from alignment.dawid_skene import DawidSkene, fit_dawid_skene
from alignment.design import Design
from alignment.drift import DriftWatch, watch_drift
from alignment.errors import AnnotatorErrors, HumanErrors, annotator_errors
from alignment.estimate import Estimate
from alignment.icc import intraclass_correlation
from alignment.interval import CLUSTERS_FOR_INFLUENCE
from alignment.labels import LabelResult, judge_label_kappa
from alignment.looks import kappa_at_look, level_of_look, widening
from alignment.mean_kappa import mean_pairwise_kappa
from alignment.multirater import brennan_prediger, fleiss_kappa, gwet_ac1, gwet_ac2, percent_agreement
from alignment.noise import JudgeUnderNoise, judge_under_noise
from alignment.paired import Flips, PairedLabels, PairedThresholds, paired_at_thresholds, paired_labels
from alignment.pairs import Pair, pairwise
from alignment.planning import (
    Plannable,
    kappa_influence,
    plannable,
    plannable_from_estimate,
    plannable_from_influence,
)
from alignment.ppi import PpiMean, ppi_mean
from alignment.precision_recall import pr_auc
from alignment.ratings import Ratings, Scale
from alignment.reference import BinaryReference, MeanReference, mean_value, reference_majority
from alignment.region import CertifiedRegion, certified_region, decisions_needed, distance_steps, share_inside
from alignment.reliability import CalibrationFigures, ReliabilityPoint, calibration_figures, evaluate_calibrator
from alignment.rest import RestAgreement, WithTheRest, agreement_with_rest
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
from alignment.scott import mean_pairwise_pi, scott_pi
from alignment.selection import Draw, allocate, draw, expected_spread, guessed_spread, judge_views, strata, worth
from alignment.significance import benjamini_yekutieli, holm
from alignment.slices import Slice, slices_at_threshold
from alignment.split import dev_test_split
from alignment.summary import AgreementSummary, Prevalence, agreement_summary, paradox_note, prevalence
from alignment.tau import kendall
from alignment.threshold import Sweep, ThresholdResult, at_threshold, sweep
from alignment.triage import RiskCoverage, risk_coverage
from alignment.trust import Trust, trust_verdict
from alignment.weighted import WeightedResult, weighted_at_threshold, weighted_mean

__all__ = [
    "CLUSTERS_FOR_INFLUENCE",
    "RESAMPLES",
    "AgreementSummary",
    "AlternativeAnnotatorTest",
    "AnnotatorCeiling",
    "AnnotatorErrors",
    "AnnotatorTest",
    "BinaryReference",
    "BlandAltman",
    "CalibrationFigures",
    "Calibrator",
    "CeilingVerdict",
    "CertifiedRegion",
    "Consensus",
    "Consistency",
    "CorrectedRate",
    "CrossFit",
    "CutpointCalibrator",
    "DawidSkene",
    "Design",
    "Draw",
    "DriftWatch",
    "Estimate",
    "Flips",
    "HumanCeiling",
    "HumanErrors",
    "IsotonicCalibrator",
    "JudgeUnderNoise",
    "LabelResult",
    "MeanReference",
    "NotFitted",
    "Pair",
    "PairedLabels",
    "PairedThresholds",
    "Plannable",
    "PlattCalibrator",
    "PpiMean",
    "Prevalence",
    "Ratings",
    "ReliabilityPoint",
    "RestAgreement",
    "RiskCoverage",
    "Scale",
    "SelfConsistency",
    "Slice",
    "Sweep",
    "ThresholdCalibrator",
    "ThresholdResult",
    "Trust",
    "WeightedResult",
    "WithTheRest",
    "agreement_summary",
    "agreement_with_rest",
    "allocate",
    "alternative_annotator_test",
    "annotator_errors",
    "at_threshold",
    "benjamini_yekutieli",
    "bland_altman",
    "brennan_prediger",
    "calibration_figures",
    "ceiling_verdict",
    "certified_region",
    "cohen_kappa",
    "consensus_labels",
    "context_entity_recall",
    "context_precision",
    "context_recall",
    "corrected_rate",
    "cross_fit",
    "cross_fit_on",
    "decisions_needed",
    "dev_test_split",
    "distance_steps",
    "draw",
    "evaluate_calibrator",
    "expected_spread",
    "faithfulness",
    "fit_calibrator",
    "fit_dawid_skene",
    "fleiss_kappa",
    "guessed_spread",
    "gwet_ac1",
    "gwet_ac2",
    "holm",
    "human_ceiling",
    "interval_caveat",
    "intraclass_correlation",
    "judge_label_kappa",
    "judge_under_noise",
    "judge_views",
    "kappa_at_look",
    "kappa_influence",
    "kendall",
    "krippendorff_alpha",
    "level_of_look",
    "mean_over_samples",
    "mean_pairwise_kappa",
    "mean_pairwise_pi",
    "mean_value",
    "ndcg_at_k",
    "noise_sensitivity",
    "on_scale",
    "paired_at_thresholds",
    "paired_labels",
    "pairwise",
    "paradox_note",
    "pearson",
    "percent_agreement",
    "plannable",
    "plannable_from_estimate",
    "plannable_from_influence",
    "ppi_mean",
    "pr_auc",
    "precision_at_k",
    "prevalence",
    "rarer_samples",
    "recall_at_k",
    "reciprocal_rank",
    "reference_majority",
    "rest_label",
    "risk_coverage",
    "roc_auc",
    "rogan_gladen",
    "scott_pi",
    "self_consistency",
    "share_inside",
    "slices_at_threshold",
    "spearman",
    "strata",
    "sweep",
    "trust_verdict",
    "watch_drift",
    "weighted_at_threshold",
    "weighted_mean",
    "widening",
    "worth",
]
