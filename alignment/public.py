"""The names that ``alignment`` offers, from the rooms they live in."""

from alignment.agreement.alpha import krippendorff_alpha
from alignment.agreement.anchoring import Anchoring, anchoring
from alignment.agreement.cohen import cohen_kappa
from alignment.agreement.icc import intraclass_correlation
from alignment.agreement.mean_kappa import mean_pairwise_kappa, mean_pairwise_pi, scott_pi
from alignment.agreement.multirater import brennan_prediger, fleiss_kappa, gwet_ac1, gwet_ac2, percent_agreement
from alignment.agreement.pairs import Pair, pairwise
from alignment.agreement.self_consistency import Consistency, SelfConsistency, self_consistency
from alignment.agreement.summary import AgreementSummary, Prevalence, agreement_summary, paradox_note, prevalence
from alignment.agreement.with_others import RestAgreement, WithTheRest, agreement_with_rest
from alignment.aligning.cascades import (
    AGREEMENTS,
    Cascade,
    CascadeStep,
    CertifiedCascade,
    TwoJudges,
    cascade_family,
    certified_cascades,
)
from alignment.aligning.selection import NO_ANSWER, Choice, Selection, choose, select
from alignment.base.bootstrap import RESAMPLES, seeded
from alignment.base.caveats import interval_caveat, rarer_samples
from alignment.base.estimate import Estimate
from alignment.base.interval import CLUSTERS_FOR_INFLUENCE, clustered_share
from alignment.base.ratings import Ratings, Scale
from alignment.base.significance import benjamini_yekutieli, holm
from alignment.calibration.calibrators import (
    Calibrator,
    CutpointCalibrator,
    IsotonicCalibrator,
    PlattCalibrator,
    ThresholdCalibrator,
)
from alignment.calibration.fit import CrossFit, NotFitted, cross_fit, cross_fit_on, fit_calibrator
from alignment.calibration.reliability import (
    CalibrationFigures,
    ReliabilityPoint,
    calibration_figures,
)
from alignment.calibration.split import dev_test_split, folds
from alignment.comparing.asked import Asked, comparison_level
from alignment.comparing.bands import band_of
from alignment.comparing.conclusions import (
    MOST_UNRESOLVED,
    ComparisonVerdict,
    Conclusion,
    Needed,
    conclude,
    labels_needed,
    overall_verdict,
)
from alignment.comparing.experiments import Measured, Quality, Rule, experiment_figures
from alignment.comparing.levels import (
    Variance,
    VersionComparison,
    VersionDifference,
    VersionFigure,
    VersionLevel,
    compare_versions,
)
from alignment.comparing.measured import MeasuredComparison, MeasuredDifference, compare_measured
from alignment.comparing.preference import SideBySide, preference_figures
from alignment.comparing.probes import ProbeEffect, ProbeVerdict, probe_effect
from alignment.comparing.responses import Responses
from alignment.comparing.sequence import DifferenceSequence, difference_sequence
from alignment.comparing.slices import sliced_figures
from alignment.consensus.dawid_skene import DawidSkene, fit_dawid_skene, why_unidentified
from alignment.consensus.majority import TIE, Consensus, consensus_labels, rest_label
from alignment.judging.alternative_annotator import AlternativeAnnotatorTest, AnnotatorTest, alternative_annotator_test
from alignment.judging.annotator_errors import AnnotatorErrors, HumanErrors, annotator_errors
from alignment.judging.auc import pr_auc, roc_auc
from alignment.judging.bland_altman import BlandAltman, bland_altman, on_scale
from alignment.judging.ceiling import AnnotatorCeiling, HumanCeiling, human_ceiling
from alignment.judging.correlation import kendall, pearson, spearman
from alignment.judging.decision import Beside, Decision, Endpoint, decision_on, more_groups
from alignment.judging.drift import DriftWatch, watch_drift
from alignment.judging.label_judge import LabelResult, judge_label_kappa
from alignment.judging.looks import level_of_look, widening
from alignment.judging.noise import JudgeUnderNoise, judge_under_noise
from alignment.judging.paired import Flips, PairedLabels, PairedThresholds, paired_at_thresholds, paired_labels
from alignment.judging.prevalence import CorrectedRate, PpiMean, corrected_rate, ppi_mean, rogan_gladen
from alignment.judging.reference import BinaryReference, MeanReference, mean_value, reference_majority
from alignment.judging.share_bound import clusters_needed
from alignment.judging.slices import Slice, slices_at_threshold
from alignment.judging.threshold import Sweep, ThresholdResult, at_threshold, sweep
from alignment.judging.triage import CertifiedRegion, RiskCoverage, certified_region, distance_steps, risk_coverage
from alignment.judging.weighted import (
    Design,
    WeightedResult,
    weighted_at_threshold,
    weighted_grades,
    weighted_mean,
    weighted_roc_auc,
)
from alignment.planning.sample_size import (
    Plannable,
    kappa_influence,
    plannable_from_estimate,
    two_digits,
)
from alignment.planning.selection import (
    Draw,
    allocate,
    draw,
    expected_spread,
    guessed_spread,
    judge_views,
    strata,
    worth,
)
from alignment.retrieval.rankings import RetrievalFigures, retrieval_figures
from alignment.retrieval.sample_metrics import (
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
    retrieved_precision,
)
