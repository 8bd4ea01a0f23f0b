"""How well raters, people and judges alike, agree: ratings in, estimates out.

Pure functions on arrays (numpy, scipy); no Django, no pandas. Every statistic returns an ``Estimate``. Definitions and
sources stand in the functions; randomness arrives as ``rng``.
"""

from alignment.alpha import krippendorff_alpha
from alignment.auc import roc_auc
from alignment.calibration import CrossFit, NotFitted, cross_fit, fit_calibrator
from alignment.calibrators import (
    Calibrator,
    CutpointCalibrator,
    IsotonicCalibrator,
    PlattCalibrator,
    ThresholdCalibrator,
)
from alignment.cohen import cohen_kappa
from alignment.correlation import pearson, spearman
from alignment.drift import DriftWatch, watch_drift
from alignment.estimate import Estimate
from alignment.interval import CLUSTERS_FOR_INFLUENCE, RESAMPLES
from alignment.labels import LabelResult, judge_label_kappa
from alignment.looks import cost_of_look, kappa_at_look, level_of_look, widening
from alignment.multirater import fleiss_kappa, gwet_ac1, percent_agreement
from alignment.pairs import Pair, mean_pairwise_kappa, pairwise
from alignment.ratings import Ratings, Scale
from alignment.reference import BinaryReference, MeanReference, mean_value, reference_majority
from alignment.region import CertifiedRegion, certified_region, decisions_needed, distance_steps, share_inside
from alignment.reliability import CalibrationFigures, ReliabilityPoint, calibration_figures, evaluate_calibrator
from alignment.split import dev_test_split
from alignment.summary import AgreementSummary, Prevalence, agreement_summary, paradox_note, prevalence
from alignment.tau import kendall
from alignment.threshold import Sweep, ThresholdResult, at_threshold, sweep
from alignment.triage import RiskCoverage, risk_coverage
from alignment.trust import Trust, trust_verdict

__all__ = [
    "CLUSTERS_FOR_INFLUENCE",
    "RESAMPLES",
    "AgreementSummary",
    "BinaryReference",
    "CalibrationFigures",
    "Calibrator",
    "CertifiedRegion",
    "CrossFit",
    "CutpointCalibrator",
    "DriftWatch",
    "Estimate",
    "IsotonicCalibrator",
    "LabelResult",
    "MeanReference",
    "NotFitted",
    "Pair",
    "PlattCalibrator",
    "Prevalence",
    "Ratings",
    "ReliabilityPoint",
    "RiskCoverage",
    "Scale",
    "Sweep",
    "ThresholdCalibrator",
    "ThresholdResult",
    "Trust",
    "agreement_summary",
    "at_threshold",
    "calibration_figures",
    "certified_region",
    "cohen_kappa",
    "cost_of_look",
    "cross_fit",
    "decisions_needed",
    "dev_test_split",
    "distance_steps",
    "evaluate_calibrator",
    "fit_calibrator",
    "fleiss_kappa",
    "gwet_ac1",
    "judge_label_kappa",
    "kappa_at_look",
    "kendall",
    "krippendorff_alpha",
    "level_of_look",
    "mean_pairwise_kappa",
    "mean_value",
    "pairwise",
    "paradox_note",
    "pearson",
    "percent_agreement",
    "prevalence",
    "reference_majority",
    "risk_coverage",
    "roc_auc",
    "share_inside",
    "spearman",
    "sweep",
    "trust_verdict",
    "watch_drift",
    "widening",
]
