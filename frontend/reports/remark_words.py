"""The words for every code that alignment writes about a figure. The one home of these sentences.

A test compares codes and parameters with what writes them. The words of plots are in in_words.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from annotate.core.text_tables import figure


def with_sign(value: float) -> str:
    """A difference to two digits, with its sign."""
    text = figure(value, 2)
    return f"+{text}" if round(value, 2) > 0 else text


def _size(value: float) -> str:
    """A difference without its sign, where words say which way it goes."""
    return figure(abs(value), 2)


def _one_of(words: Mapping[str, str]) -> Callable[[str], str]:
    return lambda name: _(words[name])


def _more_samples(n: int) -> str:
    return ngettext("needs about %(n)s more drawn sample", "needs about %(n)s more drawn samples", n) % {"n": f"{n:,}"}


def hours_in_words(hours: float) -> str:
    if hours < 1:
        return _("less than an hour")
    n = round(hours)
    return ngettext("about %(n)s hour", "about %(n)s hours", n) % {"n": f"{n:,}"}


_COUNT, _SHARE, _FIGURE = "{:,}".format, "{:.1%}".format, partial(figure, digits=2)
_PARTS = {"dev": gettext_noop("dev"), "test": gettext_noop("test")}
# By the decision (alignment.judging.decision).
_MAY = {
    "alone_in_region": gettext_noop("may decide alone in its certified score range"),
    "with_a_person": gettext_noop("may decide together with a person"),
    "not_for_use": gettext_noop("not for use"),
    "cannot_tell": gettext_noop("cannot tell yet"),
}


# A sentence, or a part of one, with a place for each parameter.
WORDS = {
    # Why a figure is undefined, or has no interval.
    "no_levels": gettext_noop("the scale has no levels"),
    "no_order": gettext_noop("the levels have no order"),
    "not_numbers": gettext_noop("the levels are not numbers"),
    "negative_values": gettext_noop("some values are negative: they have no ratio"),
    "too_many_values": gettext_noop("more than %(n)s different values: too many to take every two"),
    "one_category": gettext_noop("only one category was used"),
    "one_category_in_every_pair": gettext_noop("only one category was used in every pair"),
    "one_category_at_every_threshold": gettext_noop("only one category was used at every threshold"),
    "one_category_by_either": gettext_noop("annotators or the judge used only one category"),
    "one_value": gettext_noop("only one value was used"),
    "equal_units": gettext_noop("the units do not vary"),
    "equal_scores": gettext_noop("all scores are equal"),
    "equal_human_values": gettext_noop("all human values are equal"),
    "columns_do_not_vary": gettext_noop("the columns do not vary"),
    "no_units": gettext_noop("no units"),
    "no_samples": gettext_noop("no samples"),
    "few_units": gettext_noop("fewer than 2 units"),
    "few_common_units": gettext_noop("fewer than 2 common units"),
    "few_paired_units": gettext_noop("fewer than 2 units have two ratings"),
    "no_pairs": gettext_noop("no unit has two ratings"),
    "no_triples": gettext_noop("no unit has three ratings"),
    "no_complete_table": gettext_noop("no two raters have 2 units in common: no complete table"),
    "no_pair_with_common_units": gettext_noop("no pair of raters has %(n)s common units"),
    "nothing_rated_twice": gettext_noop("no unit was rated twice by the same rater"),
    "rater_rated_nothing_twice": gettext_noop("this rater rated no unit twice"),
    "no_others": gettext_noop("no other annotator labelled these units"),
    "no_majority": gettext_noop("the others never had a majority"),
    "no_positive": gettext_noop("annotators pass no unit"),
    "no_negative": gettext_noop("annotators fail no unit"),
    "no_positive_by_judge": gettext_noop("no unit is positive by the judge"),
    "no_positive_by_either": gettext_noop("neither annotators nor the judge pass a unit"),
    "no_interval_asked": gettext_noop("no interval was asked for"),
    "few_clusters": gettext_noop("fewer than 2 clusters: no interval"),
    "many_clusters": gettext_noop("more than %(n)s clusters: use influence functions"),
    "no_variation": gettext_noop("nothing varies between clusters: no interval"),
    "mostly_undefined": gettext_noop("undefined in most bootstrap resamples: no interval"),
    "beyond_resamples": gettext_noop("an interval this sure takes more than 2,000 resamples: none"),
    "few_hold_the_rarer": gettext_noop("fewer than %(n)s samples hold anything but the most common value: no interval"),
    # Of metrics of one sample.
    "no_claims": gettext_noop("no claims"),
    "abstained": gettext_noop("the answer abstains"),
    "few_scored_samples": gettext_noop("scores of fewer than %(n)s samples"),
    "several_versions": gettext_noop("these are %(n)s versions of the pipeline, each with a share of its own"),
    "few_labelled_samples": gettext_noop("labels of fewer than %(n)s samples"),
    "no_contexts": gettext_noop("no contexts"),
    "nothing_relevant": gettext_noop("nothing is known to be relevant"),
    "no_key_facts": gettext_noop("no key facts"),
    "no_entities": gettext_noop("no entities"),
    "no_wrong_claim": gettext_noop("no claim is wrong"),
    "no_relevant_context": gettext_noop("no relevant context was there"),
    "one_sample": gettext_noop("one sample: no interval"),
    "undefined_in_every_sample": gettext_noop("undefined in every sample"),
    # Of people.
    "no_labels": gettext_noop("no unit has labels yet"),
    "no_unit_labelled_twice": gettext_noop("no unit has labels of two annotators yet"),
    "all_split_in_half": gettext_noop("the labels of all these units are tied"),
    "no_days": gettext_noop("no label has a day: labels made elsewhere bring none"),
    "no_dates": gettext_noop("these labels have no date, as they were imported"),
    "not_timed": gettext_noop("no choice was timed"),
    "no_known_answers": gettext_noop("no known answers"),
    "no_answers": gettext_noop("no answer to a unit with a known one"),
    "no_gold": gettext_noop("no unit has a gold label and another one"),
    "reference_passes_none": gettext_noop("the reference passes no unit"),
    "reference_fails_none": gettext_noop("the reference fails no unit"),
    "few_people": gettext_noop("%(n)s annotators share units with others; at least %(needed)s are needed"),
    "few_people_labelled": gettext_noop(
        "%(n)s annotators labelled %(units)s units or more; at least %(needed)s are needed to generalise to other "
        "annotators"
    ),
    "few_shared_units": gettext_noop("%(n)s units have two labels or more; it takes %(needed)s"),
    "little_overlap": gettext_noop(
        "the model has %(unknown)s unknowns, but annotators share so few units that their labels fix only %(fixed)s"
    ),
    "too_many_labels_for_model": gettext_noop("%(n)s labels are too many to fit the model while a report is made"),
    "model_not_settled": gettext_noop("the model did not converge in %(rounds)s rounds"),
    "no_interval_of_model": gettext_noop("the model gives no interval"),
    "no_such_unit_by_model": gettext_noop("no such unit of theirs, by the model"),
    "few_units_show_errors": gettext_noop("fewer than %(n)s units show how often annotators err"),
    "people_near_chance": gettext_noop("annotators agree too little to tell their errors from guessing"),
    "errors_explain_passes": gettext_noop("annotators’ errors alone explain every pass"),
    "errors_explain_fails": gettext_noop("annotators’ errors alone explain every fail"),
    "errors_not_independent": gettext_noop(
        "errors are not independent: if they were, the figure would lie beyond 0 to 1"
    ),
    # Of a judge beside people.
    "verdict_else_majority": gettext_noop("verdict where there is one, else the majority of the labels; ties left out"),
    "no_passes": gettext_noop("the criterion says nowhere which values pass"),
    "no_numbers": gettext_noop("the criterion’s values are no numbers, and none of them counts as pass"),
    "only_numbers": gettext_noop("the criterion says nowhere which values pass, and the judge answers with numbers"),
    "no_reference": gettext_noop("no unit has a human reference yet"),
    "no_scores": gettext_noop("the judge scored none of the units that have a human reference"),
    "nothing_scored": gettext_noop("the judge scored no unit that annotators gave a value"),
    "nothing_decided": gettext_noop("the judge decided no unit that annotators labelled"),
    "no_score_in_part": gettext_noop("no unit of the %(part)s part has a score"),
    "all_positive_in_part": gettext_noop("all %(n)s scored units of the %(part)s set pass"),
    "all_negative_in_part": gettext_noop("all %(n)s scored units of the %(part)s set fail"),
    "few_to_choose_threshold": gettext_noop(
        "the dev part has too few units that pass, or that fail, to choose a threshold on four fifths of it"
    ),
    "no_threshold_on_dev": gettext_noop("there is no threshold on dev to read its numbers by"),
    "few_units_with_majority": gettext_noop(
        "fewer than %(n)s units in common with the judge and a majority of the others"
    ),
    "no_annotator_with_majority": gettext_noop(
        "no annotator has %(n)s units in common with the judge and a majority of the others, with two categories in use"
    ),
    "no_shared_item": gettext_noop("no unit that the judge and another rater rated"),
    "few_items": gettext_noop("fewer than %(n)s items"),
    "fewer_units_than": gettext_noop("fewer than %(n)s units"),
    "no_annotator_with_items": gettext_noop("no annotator has %(n)s items"),
    "no_interval_of_tests": gettext_noop("a share of tests passed carries no interval"),
    "no_numeric_scale": gettext_noop("annotators’ values are not numbers, so there is no distance to them"),
    "only_pass_or_fail": gettext_noop("annotators only pass or fail, so there is no distance to them"),
    "scores_beyond_scale": gettext_noop("the judge’s scores exceed the criterion’s scale, so their scale is unknown"),
    "scores_not_turned": gettext_noop(
        "lower is better for this judge, and the criterion’s scale has no ends to reverse its scores by"
    ),
    "asked_once": gettext_noop("this judge was asked only once about each unit"),
    # Of two judges, and of parts of the data.
    "no_unit_decided_by_both": gettext_noop("no resolved unit was decided by both"),
    "not_compared": gettext_noop("%(judge)s: %(why)s"),
    "no_metadata": gettext_noop("the samples carry no metadata, so there are no parts to tell apart"),
    "no_metadata_key": gettext_noop(
        "no metadata key has %(few)s to %(many)s values of which one has %(n)s decided samples and leaves as many"
    ),
    "same_value_everywhere": gettext_noop("all samples that have it have the same value"),
    "many_values": gettext_noop("more than %(n)s values"),
    "no_large_value": gettext_noop("no value has %(n)s samples and leaves as many"),
    "enough_others": gettext_noop("there are enough others"),
    "few_samples_in_slice": gettext_noop("fewer than %(n)s samples in the slice"),
    "few_samples_outside_slice": gettext_noop("fewer than %(n)s samples outside the slice"),
    "few_passed_in_slice": gettext_noop("fewer than %(n)s samples with units that annotators pass in the slice"),
    "few_passed_outside_slice": gettext_noop(
        "fewer than %(n)s samples with units that annotators pass outside the slice"
    ),
    "few_failed_in_slice": gettext_noop("fewer than %(n)s samples with units that annotators fail in the slice"),
    "few_failed_outside_slice": gettext_noop(
        "fewer than %(n)s samples with units that annotators fail outside the slice"
    ),
    # Of a version that an alignment made.
    "learned_from_labels": gettext_noop(
        "This version was made from human labels of the dev set (rules: %(rules)s, examples: %(examples)s, samples: "
        "%(samples)s), so it can look better there than it is."
    ),
    # Of a judge's proposals.
    "few_groups_probed": gettext_noop("fewer than %(n)s groups of samples were compared"),
    "few_groups_of_an_arm": gettext_noop("fewer than %(n)s questions were labelled with proposals, or without"),
    "own_tasks_left": gettext_noop("you still have tasks in this batch"),
    # Of samples as wholes.
    "no_whole_sample": gettext_noop("no sample has a reference for each of these units yet"),
    "no_grades": gettext_noop("annotators’ values are not grades (numbers from 0)"),
    "negative_scores": gettext_noop("some of the judge’s scores are negative, and so no grades"),
    "no_sample_decided": gettext_noop("the judge decided every unit of none of these samples"),
    "no_sample_scored": gettext_noop("the judge scored none of these samples"),
    "scores_no_shares": gettext_noop(
        "the judge’s scores are not between 0 and 1, so there is no difference to a share"
    ),
    "lower_is_better": gettext_noop("lower is better for this judge, so there is no difference to a share"),
    # Of calibration, and of what a judge may decide alone.
    "answers_labels": gettext_noop("the judge answers with labels: there is no score to calibrate"),
    "not_graded": gettext_noop("the criterion has no ordered levels beyond pass and fail"),
    "nothing_to_calibrate": gettext_noop("better scores do not go with better labels: there is nothing to calibrate"),
    "no_confidence_on_dev": gettext_noop("none of the judge’s %(n)s decisions on the dev set has a confidence"),
    "always_agrees": gettext_noop("the judge always agrees with annotators"),
    "never_agrees": gettext_noop("the judge never agrees with annotators"),
    "equal_confidence": gettext_noop("the judge is equally confident each time"),
    "confidence_tells_nothing": gettext_noop("more confident decisions do not agree with annotators more often"),
    "fewer_clusters_than_folds": gettext_noop("%(n)s clusters are fewer than %(folds)s folds"),
    "without_fold": gettext_noop("without fold %(fold)s of %(folds)s: %(why)s"),
    "no_method": gettext_noop("platt: %(platt)s; isotonic: %(isotonic)s"),
    "no_log_loss": gettext_noop("log loss %(why)s"),
    "infinite_log_loss": gettext_noop("infinite: %(wrong)s of %(n)s units were given 0 or 1 and turned out otherwise"),
    "no_probabilities": gettext_noop("the method gives no probabilities"),
    "above_0_by_luck": gettext_noop("it is above 0 by luck alone: no interval"),
    # Only reports of before decision 30 have this.
    "yardstick_without_interval": gettext_noop("a yardstick has no interval"),
    "no_distance": gettext_noop(
        "a judge that answers with labels gives no score whose distance from a threshold says how sure it is"
    ),
    "no_region": gettext_noop("no region: %(why)s"),
    "few_failed_groups": gettext_noop(
        "%(n)s groups with something that annotators fail are in the first step; %(needed)s without an error are needed"
    ),
    "few_passed_groups": gettext_noop(
        "%(n)s groups with something that annotators pass are in the first step; %(needed)s without an error are needed"
    ),
    "false_passes_above_risk": gettext_noop(
        "of what annotators fail in the first step (%(n)s groups) the judge passes %(found)s; up to %(high)s may "
        "be, more "
        "than %(risk)s"
    ),
    "false_fails_above_risk": gettext_noop(
        "of what annotators pass in the first step (%(n)s groups) the judge fails %(found)s; up to %(high)s may be, "
        "more "
        "than %(risk)s"
    ),
    "cascade_unscored": gettext_noop(
        "“%(judge)s” was run on %(n)s of the %(of)s units of the test set; run it on the rest"
    ),
    "no_cascade": gettext_noop("no cascade: %(why)s"),
    "no_cascade_decides": gettext_noop("the judges decide nothing in the first step"),
    "few_decided_groups": gettext_noop(
        "the judges decide something in %(n)s groups in the first step; %(needed)s without a disagreement are needed"
    ),
    "disagreement_above": gettext_noop(
        "annotators disagree with %(found)s of what the judges decide in the first step (%(n)s groups); up to %(high)s "
        "may be, more than %(most)s"
    ),
    # Only looks of before decision 31 have these two.
    "errors_above_risk": gettext_noop(
        "of the %(n)s surest decisions on test %(found)s are wrong, up to %(high)s may be, more than %(risk)s; "
        "even without an error %(needed)s independent decisions are needed"
    ),
    "no_decision_so_far": gettext_noop("no decision lies this far from the threshold"),
    # Of what people would pass.
    "no_labelled": gettext_noop("no labelled units"),
    "no_unlabelled": gettext_noop("no unlabelled units"),
    "all_labelled": gettext_noop("every scored unit has a label: nothing to carry over"),
    "no_signal": gettext_noop("the interval of TPR + TNR - 1 contains 0: the judge carries no signal"),
    "no_better_than_chance": gettext_noop("TPR + TNR is not above 1: the judge does no better than chance"),
    # Only looks of before decision 30 have this.
    "no_errors_seen": gettext_noop(
        "nothing varies among the labelled units: how often the judge errs is not known, so no interval"
    ),
    "rate_out_of_reach": gettext_noop(
        "the judge passes more or less than its error rates allow: the labelled units are not like the others"
    ),
    # Of versions that are compared.
    "too_many_unresolved": gettext_noop(
        "%(share)s of the drawn responses are unresolved; nothing is concluded above %(most)s"
    ),
    "nothing_settled": gettext_noop("no label of what was drawn is settled yet"),
    "nothing_measured": gettext_noop("nothing was measured for this version"),
    "measured_without_judge": gettext_noop("measured, not decided by annotators"),
    "abstains_wrongly_more_often": gettext_noop(
        "it may abstain more often (%(difference)s) from questions that can be answered"
    ),
    "answers_less_often": gettext_noop(
        "it may answer less often (%(difference)s): what it answers well says nothing of what it leaves out"
    ),
    "no_completed_prefix": gettext_noop("the first question in the random order has no final labels yet"),
    # Plans. Only reports of before decision 30 have the first.
    "plan_of_undefined": gettext_noop("the statistic is undefined on the present samples: nothing to plan from"),
    "plan_of_few_samples": gettext_noop("fewer than 2 samples: nothing to plan from"),
    "plan_of_no_variation": gettext_noop("nothing varies between the present samples: nothing to plan from"),
    "more_samples_for": gettext_noop("about %(n)s more samples for %(width)s"),
    "width_reached": gettext_noop("%(width)s is reached"),
    # Beside figures.
    "few_samples": gettext_noop(
        "Fewer than %(n)s samples: intervals like this one held the true value in as few as %(held)s%% of "
        "simulated cases, not 95%%."
    ),
    "few_of_the_rarer": gettext_noop(
        "Fewer than %(n)s samples hold anything but the most common value: intervals like this one held the "
        "true value in as few as %(held)s%% of simulated cases, not 95%%."
    ),
    "kappa_paradox": gettext_noop(
        "Kappa is low (%(kappa)s) although raters agree in %(percent)s of cases (AC1 %(ac1)s): nearly all "
        "ratings fall into one category, so agreement by chance is high and kappa has little room above it. "
        "Read it beside the category shares."
    ),
    # Figures in remarks.
    "figure": gettext_noop("%(value)s (%(low)s to %(high)s)"),
    "figure_at_level": gettext_noop("%(value)s (%(low)s to %(high)s, %(level)s sure)"),
    "figure_without_interval": gettext_noop("%(value)s (%(why)s)"),
    "unknown": gettext_noop("unknown (%(why)s)"),
    "auc_weak": gettext_noop("ROC AUC is %(auc)s: below %(bar)s even at the high end."),
    "auc_turned": gettext_noop(
        "ROC AUC is %(auc)s: below %(bar)s. If lower scores are better, change the judge’s direction."
    ),
    "few_overlapping_groups": gettext_noop("fewer than %(n)s groups of samples have labels of several annotators"),
    # What a judge may do, and what speaks for it and against it.
    "endpoint_kappa_unknown": gettext_noop("Its kappa with annotators is not known: %(why)s."),
    "endpoint_less_people_unknown": gettext_noop("Its kappa compared with a person’s is not known: %(why)s."),
    "endpoint_of_few": gettext_noop("Only %(n)s groups of samples have drawn labels; at least %(fewest)s are needed."),
    "endpoint_of_few_alike": gettext_noop(
        "The drawn labels of %(groups)s groups of samples are worth those of %(n)s, since a few groups stand for most "
        "samples: at least %(fewest)s are needed."
    ),
    "endpoint_kappa_open": gettext_noop(
        "Kappa is %(kappa)s, too uncertain to say whether it is %(bar)s or more; %(more)s."
    ),
    "endpoint_less_people_open": gettext_noop(
        "Judge − person: %(less)s in kappa, too uncertain to say whether it is %(bar)s or more; %(more)s."
    ),
    "no_known_chance": gettext_noop(
        "how the samples of this set came to be labelled is not known; an admin can declare it, or draw a batch"
    ),
    "none_drawn_on_test": gettext_noop(
        "how the samples of the %(n)s scored units on test came to be labelled is not known; an admin can declare it, "
        "or draw a batch"
    ),
    "region_after_endpoint": gettext_noop("a score range is tried only when the declared minimum is reached"),
    "labels_settle": gettext_noop("more drawn labels decide it with a chance of %(chance)s"),
    "labels_alone_hardly": gettext_noop(
        "even with %(times)s times as many labels it would probably stay open (chance of a decision: below %(chance)s)"
    ),
    "labels_unplanned": gettext_noop("how many more labels are needed is not known"),
    "kappa_reached": gettext_noop("Kappa is %(kappa)s: at least %(bar)s even at the low end."),
    "kappa_below": gettext_noop("Kappa is %(kappa)s: below %(bar)s even at the high end."),
    "less_people_reached": gettext_noop("Judge − person: %(less)s in kappa, at least %(bar)s even at the low end."),
    "less_people_below": gettext_noop("Judge − person: %(less)s in kappa, below %(bar)s even at the high end."),
    "calibrated_reached": gettext_noop("Calibrated kappa is %(kappa)s: at least %(bar)s even at the low end."),
    "auc_tells": gettext_noop("ROC AUC is %(auc)s: better than chance (0.5)."),
    "coverage_reached": gettext_noop(
        "%(share)s of the drawn, resolved units are scored; at least %(least)s are required."
    ),
    "coverage_low": gettext_noop(
        "Only %(share)s of the drawn, resolved units are scored; at least %(least)s are required. Score the rest, or "
        "see why it fails there."
    ),
    "region_certified": gettext_noop(
        "In its certified score range, with %(share)s of the units, it passes at most %(risk)s of what annotators "
        "fail, and fails at most %(risk)s of what they pass."
    ),
    "region_missing": gettext_noop("It may decide nothing alone: %(why)s."),
    "units_open": gettext_noop(
        "%(n)s labelled units are unresolved. Such units are often hard, so the figures may be too good."
    ),
    "may_do": "%(verdict)s",
    "labels_missing": "%(n)s",
    "labels_missing_in": gettext_noop("%(n)s, %(hours)s"),
    "little_scored": gettext_noop(
        "only %(share)s of these units were scored, and %(least)s are asked for: what was left out may be what is hard"
    ),
    # Of a report from before there were codes: a sentence that none of them stands for, in English.
    "written": "%(text)s",
    # Which of two judges, or versions of one, agrees more with people.
    "cannot_be_compared": gettext_noop("They can’t be compared – %(why)s."),
    "all_decided_alike": gettext_noop("%(first)s and %(second)s decide all %(units)s units alike."),
    "difference_unknown": gettext_noop("Whether one agrees more with annotators isn’t known: %(why)s."),
    "difference_without_interval": gettext_noop(
        "%(second)s differs from %(first)s by %(kappa)s in kappa, without an interval: %(why)s."
    ),
    "second_agrees_more": gettext_noop(
        "%(second)s agrees with annotators clearly better than %(first)s: its kappa is %(kappa)s higher (%(low)s to "
        "%(high)s)."
    ),
    "second_agrees_less": gettext_noop(
        "%(first)s agrees with annotators clearly better than %(second)s: its kappa is %(kappa)s higher (%(high)s to "
        "%(low)s)."
    ),
    "no_difference_shown": gettext_noop(
        "No difference is shown between %(first)s and %(second)s: kappa %(kappa)s; anything from %(low)s to "
        "%(high)s fits these labels."
    ),
}

# Code -> parameter -> how it is spelt, where that is not `str`.
SPELLINGS: dict[str, dict[str, Callable[[Any], str]]] = {
    "too_many_values": {"n": _COUNT},
    "too_many_labels_for_model": {"n": _COUNT},
    "no_score_in_part": {"part": _one_of(_PARTS)},
    "all_positive_in_part": {"part": _one_of(_PARTS)},
    "all_negative_in_part": {"part": _one_of(_PARTS)},
    "errors_above_risk": {"found": _SHARE, "high": _SHARE, "risk": _SHARE},
    "false_passes_above_risk": {"found": _SHARE, "high": _SHARE, "risk": _SHARE},
    "false_fails_above_risk": {"found": _SHARE, "high": _SHARE, "risk": _SHARE},
    "disagreement_above": {"found": _SHARE, "high": _SHARE, "most": _SHARE},
    "too_many_unresolved": {"share": _SHARE, "most": "{:.0%}".format},
    "abstains_wrongly_more_often": {"difference": _SHARE},
    "answers_less_often": {"difference": _SHARE},
    "more_samples_for": {"n": _COUNT, "width": "±{:.2f}".format},
    "width_reached": {"width": "±{:.2f}".format},
    "kappa_paradox": {"kappa": _FIGURE, "percent": "{:.0%}".format, "ac1": _FIGURE},
    "figure": {"value": _FIGURE, "low": _FIGURE, "high": _FIGURE},
    "figure_at_level": {"value": _FIGURE, "low": _FIGURE, "high": _FIGURE, "level": _SHARE},
    "figure_without_interval": {"value": _FIGURE},
    "auc_weak": {"bar": _FIGURE},
    "auc_turned": {"bar": _FIGURE},
    "endpoint_kappa_open": {"bar": _FIGURE},
    "endpoint_less_people_open": {"bar": _FIGURE},
    "labels_settle": {"chance": "{:.0%}".format},
    "labels_alone_hardly": {"chance": "{:.0%}".format},
    "kappa_reached": {"bar": _FIGURE},
    "kappa_below": {"bar": _FIGURE},
    "less_people_reached": {"bar": _FIGURE},
    "less_people_below": {"bar": _FIGURE},
    "calibrated_reached": {"bar": _FIGURE},
    "coverage_reached": {"share": _SHARE, "least": _SHARE},
    "coverage_low": {"share": _SHARE, "least": _SHARE},
    # As it was declared, without digits that nobody wrote.
    "region_certified": {"share": _SHARE, "risk": lambda risk: f"{100 * risk:g}%"},
    "none_drawn_on_test": {"n": _COUNT},
    "units_open": {"n": _COUNT},
    "may_do": {"verdict": _one_of(_MAY)},
    "labels_missing": {"n": _more_samples},
    "labels_missing_in": {"n": _more_samples, "hours": hours_in_words},
    "little_scored": {"share": _SHARE, "least": _SHARE},
    "difference_without_interval": {"kappa": with_sign},
    "second_agrees_more": {"kappa": _size, "low": _size, "high": _size},
    "second_agrees_less": {"kappa": _size, "low": _size, "high": _size},
    "no_difference_shown": {"kappa": with_sign, "low": with_sign, "high": with_sign},
}
