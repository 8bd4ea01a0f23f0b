"""Frozen reports and looks held English sentences; now they hold codes with parameters, and plots marks for words.

What the sentences were at that time stands here. One that is none of them is kept as it was written (code "written").
"""

import json
import re
from html import escape, unescape

from django.db import migrations

_SENTENCES = {
    "no_levels": "the scale has no levels",
    "no_order": "the levels have no order",
    "not_numbers": "the levels are not numbers",
    "negative_values": "some values are negative: they have no ratio",
    "too_many_values": "more than {n:count} different values: too many to take every two",
    "one_category": "only one category was used",
    "one_category_in_every_pair": "only one category was used in every pair",
    "one_category_at_every_threshold": "only one category was used at every threshold",
    "one_category_by_either": "people or the judge used only one category",
    "one_value": "only one value was used",
    "equal_units": "the units do not vary",
    "equal_scores": "all scores are equal",
    "equal_human_values": "all human values are equal",
    "columns_do_not_vary": "the columns do not vary",
    "no_units": "no units",
    "no_samples": "no samples",
    "few_units": "fewer than 2 units",
    "few_common_units": "fewer than 2 common units",
    "few_paired_units": "fewer than 2 units have two ratings",
    "no_pairs": "no unit has two ratings",
    "no_triples": "no unit has three ratings",
    "no_complete_table": "no two raters have 2 units in common: no complete table",
    "no_pair_with_common_units": "no pair of raters has {n:int} common units",
    "nothing_rated_twice": "no unit was rated twice by the same rater",
    "rater_rated_nothing_twice": "this rater rated no unit twice",
    "no_others": "nobody else labelled these units",
    "no_majority": "the others never had a majority",
    "no_positive": "no unit is positive by people",
    "no_negative": "no unit is negative by people",
    "no_positive_by_judge": "no unit is positive by the judge",
    "no_positive_by_either": "no unit is positive by people or by the judge",
    "no_interval_asked": "no interval was asked for",
    "few_clusters": "fewer than 2 clusters: no interval",
    "many_clusters": "more than {n:int} clusters: use influence functions",
    "no_variation": "nothing varies between clusters: no interval",
    "mostly_undefined": "undefined in most bootstrap resamples: no interval",
    "no_claims": "no claims",
    "no_contexts": "no contexts",
    "nothing_relevant": "nothing is known to be relevant",
    "no_key_facts": "no key facts",
    "no_entities": "no entities",
    "no_wrong_claim": "no claim is wrong",
    "no_relevant_context": "no relevant context was there",
    "one_sample": "one sample: no interval",
    "undefined_in_every_sample": "undefined in every sample",
    "no_labels": "nobody has labelled a unit yet",
    "no_unit_labelled_twice": "nobody has labelled a unit that somebody else labelled as well",
    "all_split_in_half": "the labels of these units are all split in half",
    "no_days": "no label has a day: labels made elsewhere bring none",
    "no_dates": "nobody knows when these labels were made: labels that came from a file carry no date",
    "not_timed": "no choice was timed",
    "no_gold": "no unit has a gold label and another one",
    "reference_passes_none": "the reference passes no unit",
    "reference_fails_none": "the reference fails no unit",
    "few_people": "{n:int} people labelled units that others labelled too; it takes {needed:int}",
    "few_shared_units": "{n:int} units have two labels or more; it takes {needed:int}",
    "little_overlap": (
        "the model has {unknown:int} unknowns, and people overlap so little that their labels fix only {fixed:int}"
    ),
    "too_many_labels_for_model": "{n:count} labels are too many to fit the model while a report is made",
    "model_not_settled": "the model had not settled after {rounds:int} rounds",
    "no_interval_of_model": "the model gives no interval",
    "no_such_unit_by_model": "no such unit of theirs, by the model",
    "few_units_show_errors": "fewer than {n:int} units show how often people err",
    "people_near_chance": "people agree too little to tell their errors from guessing",
    "errors_explain_passes": "people's errors alone explain every pass",
    "errors_explain_fails": "people's errors alone explain every fail",
    "errors_not_independent": "errors are not independent: if they were, the figure would lie beyond 0 to 1",
    "verdict_else_majority": "verdict where there is one, else the majority of the labels; ties left out",
    "no_passes": "the criterion says nowhere which values pass",
    "no_numbers": "the criterion's values are no numbers, and none of them counts as pass",
    "only_numbers": "the criterion says nowhere which values pass, and the judge answers with numbers",
    "no_reference": "no unit has a human reference yet",
    "no_scores": "the judge scored none of the units that have a human reference",
    "nothing_scored": "the judge scored no unit that people gave a value",
    "nothing_decided": "the judge decided no unit that people labelled",
    "no_score_in_part": "no unit of the {part:part} part has a score",
    "all_positive_in_part": "all {n:int} scored units of the {part:part} part are positive by people",
    "all_negative_in_part": "all {n:int} scored units of the {part:part} part are negative by people",
    "few_to_choose_threshold": (
        "the dev part has too few units that pass, or that fail, to choose a threshold on four fifths of it"
    ),
    "no_threshold_on_dev": "there is no threshold on dev to read its numbers by",
    "few_units_with_majority": "fewer than {n:int} units in common with the judge and a majority of the others",
    "no_annotator_with_majority": (
        "no annotator has {n:int} units in common with the judge and a majority of the others, with two categories "
        "in use"
    ),
    "no_shared_item": "no item that the judge and another person rated",
    "few_items": "fewer than {n:int} items",
    "fewer_units_than": "fewer than {n:int} units",
    "no_annotator_with_items": "no annotator has {n:int} items",
    "no_interval_of_tests": "a share of tests passed carries no interval",
    "no_numeric_scale": "people's values are no numbers on a scale, so there is no distance to them",
    "only_pass_or_fail": "people say pass or fail only, so there is no distance to them",
    "scores_beyond_scale": "the judge's scores go beyond people's scale, and nobody knows which scale they are on",
    "scores_not_turned": (
        "lower is better for this judge, and people's scale has no ends by which to turn its scores round"
    ),
    "asked_once": "this judge was asked only once about each unit",
    "no_unit_decided_by_both": "no unit that people settled was decided by both",
    "no_metadata": "the samples carry no metadata, so there are no parts to tell apart",
    "no_metadata_key": (
        "no metadata key has {few:int} to {many:int} values of which one has {n:int} decided samples and leaves as many"
    ),
    "same_value_everywhere": "all samples that have it have the same value",
    "many_values": "more than {n:int} values",
    "no_large_value": "no value has {n:int} samples and leaves as many",
    "enough_others": "there are enough others",
    "few_samples_in_slice": "fewer than {n:int} samples in the slice",
    "few_samples_outside_slice": "fewer than {n:int} samples outside the slice",
    "few_passed_in_slice": "fewer than {n:int} samples with units that people pass in the slice",
    "few_passed_outside_slice": "fewer than {n:int} samples with units that people pass outside the slice",
    "few_failed_in_slice": "fewer than {n:int} samples with units that people fail in the slice",
    "few_failed_outside_slice": "fewer than {n:int} samples with units that people fail outside the slice",
    "no_whole_sample": "no sample has a reference for each of these units yet",
    "no_grades": "people's values are no grades: numbers that are not negative",
    "negative_scores": "some of the judge's scores are negative, and so no grades",
    "no_sample_decided": "the judge decided every unit of none of these samples",
    "no_sample_scored": "the judge scored none of these samples",
    "scores_no_shares": "the judge's scores are not between 0 and 1, so there is no difference to a share",
    "lower_is_better": "lower is better for this judge, so there is no difference to a share",
    "answers_labels": "the judge answers with labels: there is no score to calibrate",
    "not_graded": "the criterion has no ordered levels beyond pass and fail",
    "nothing_to_calibrate": "better scores do not go with better labels: there is nothing to calibrate",
    "fewer_clusters_than_folds": "{n:int} clusters are fewer than {folds:int} folds",
    "without_fold": "without fold {fold:int} of {folds:int}: {why:remark}",
    "no_method": "platt: {platt:remark}; isotonic: {isotonic:remark}",
    "no_log_loss": "log loss {why:remark}",
    "infinite_log_loss": "infinite: {wrong:int} of {n:int} units were given 0 or 1 and turned out otherwise",
    "no_probabilities": "the method gives no probabilities",
    "yardstick_without_interval": "a yardstick has no interval",
    "no_distance": (
        "a judge that answers with labels gives no score whose distance from a threshold says how sure it is"
    ),
    "no_region": "no region: {why:remark}",
    "errors_above_risk": (
        "of the {n:int} surest decisions on test {found:share} are wrong, up to {high:share} may be, more than "
        "{risk:share}; even without an error {needed:int} independent decisions are needed"
    ),
    "no_decision_so_far": "no decision lies this far from the threshold",
    "no_labelled": "no labelled units",
    "no_unlabelled": "no unlabelled units",
    "all_labelled": "every scored unit has a label: nothing to carry over",
    "no_signal": "the interval of TPR + TNR - 1 contains 0: the judge carries no signal",
    "no_better_than_chance": "TPR + TNR is not above 1: the judge does no better than chance",
    "no_errors_seen": "nothing varies among the labelled units: how often the judge errs is not known, so no interval",
    "rate_out_of_reach": (
        "the judge passes more or less than its error rates allow: the labelled units are not like the others"
    ),
    "plan_of_undefined": "the statistic is undefined on the present samples: nothing to plan from",
    "plan_of_few_samples": "fewer than 2 samples: nothing to plan from",
    "plan_of_no_variation": "nothing varies between the present samples: nothing to plan from",
    "more_samples_for": "about {n:count} more samples for {width:width}",
    "width_reached": "{width:width} is reached",
    "few_samples": (
        "Fewer than {n:int} samples: intervals like this one held the true value in as few as {held:int} % of "
        "simulated cases, not 95 %."
    ),
    "few_of_the_rarer": (
        "Fewer than {n:int} samples hold anything but the most common value: intervals like this one held the true "
        "value in as few as {held:int} % of simulated cases, not 95 %."
    ),
    "kappa_paradox": (
        "Kappa is low ({kappa:float}) although raters agree in {percent:share} of cases (AC1 {ac1:float}): nearly "
        "all ratings fall into one category, so agreement by chance is high and kappa has little room above it. Read "
        "it beside the category shares."
    ),
    "few_labels_on_dev": (
        "{n:int} samples with {labels:int} labels on dev are few: intervals want {fewest:int} samples."
    ),
    "few_labels_on_test": (
        "{n:int} samples with {labels:int} labels on test are few: intervals want {fewest:int} samples."
    ),
    "few_labels_in_all": (
        "{n:int} samples with {labels:int} labels in all are few: intervals want {fewest:int} samples."
    ),
    "ceiling_reached": (
        "Less a person's, the judge's kappa is {less:figure}: surely above {margin:float}; its own is {kappa:figure}."
    ),
    "ceiling_missed": "Less a person's, the judge's kappa is {less:figure}: surely below 0.",
    "ceiling_open": "Less a person's, the judge's kappa is {less:figure}: neither surely below 0 nor above -0.05.",
    "ceiling_by_chance": "The judge does as well as people, but its kappa, {kappa:figure}, is not surely above 0.",
    "kappa_useful": "Its kappa is {kappa:figure}: surely {bar:float} or more.",
    "calibrated_useful": "Kappa once calibrated is {kappa:figure}: surely {bar:float} or more.",
    "kappa_low": (
        "Its kappa is {kappa:figure}: surely below {bar:float}; and {why:remark}: labels by more people on the same "
        "samples are missing."
    ),
    "calibrated_low": (
        "Kappa once calibrated is {kappa:figure}: surely below {bar:float}; and {why:remark}: labels by more people "
        "on the same samples are missing."
    ),
    "kappa_open": "Its kappa is {kappa:figure}: not surely {bar:float} or more; and {why:remark}.",
    "calibrated_open": "Kappa once calibrated is {kappa:figure}: not surely {bar:float} or more; and {why:remark}.",
    "no_single_people": "it was not held against single people",
    "no_kappa_of_people": "people's own kappa: {why:remark}",
    "auc_weak": "ROC AUC is {auc:figure}: surely below {bar:float}.",
    "auc_turned": "ROC AUC is {auc:figure}: surely below {bar:float}; if lower scores are better, say so.",
    "auc_open": "ROC AUC is {auc:figure}: not surely above 0.5.",
    "not_compared": "{judge:text}: {why:remark}",
}
# Words of a plot, each in an element of its own.
_WORDS = {
    "undefined": "undefined",
    "people_with_each_other": "people with each other",
    "kappa_with_interval": "Cohen’s kappa, with 95 % interval",
    "kappa_difference_with_interval": "kappa of the second less kappa of the first, with 95 % interval",
    "threshold": "threshold",
    "kappa": "kappa",
    "chosen_on_dev": "chosen on dev: {threshold:text}",
    "score": "score",
    "units": "units",
    "people": "people",
    "pass": "pass",
    "fail": "fail",
    "probability_given": "probability given",
    "share_that_people_pass": "share that people pass",
    "share_of_decisions": "share of decisions kept, the surest first",
    "of_them_wrong": "of them wrong",
    "all_weeks": "all weeks",
    "each_week": "each week",
    "percent_wrong": "% wrong",
    "worse_than_rest": "worse than the rest",
    "kappa_less_rest": "kappa less that of the rest",
    "labelled_samples": "labelled samples, dev and test together; the dot is now",
    "half_width_of_kappa": "half-width of kappa (±)",
}
# Its title, and the sentences of its description.
_DESCRIBED = {
    "forest_of_judges": "Kappa of each judge",
    "forest_of_differences": "Differences in kappa",
    "sweep_of": "Threshold sweep of {judge:text}",
    "scores_of": "Scores of {judge:text}",
    "reliability_of": "Reliability of {judge:text}",
    "risk_of": "Risk against coverage of {judge:text}",
    "parts_of": "Kappa of {judge:text} on parts of the data, less that on the rest",
    "weeks_of": "Share of wrong decisions of {judge:text}, week by week",
    "widths": "Width of kappa's interval against labelled samples",
    "more_judges": "{n:int} more judges are in the table only.",
    "more_pairs": "{n:int} more pairs are in the table only.",
    "more_parts": "{n:int} more parts are in the table only.",
    "width_of_people": "People with each other: ±{now:text} now, ±{then:text} with {more:text} more samples.",
    "width_of_judge": "{judge:text}: ±{now:text} now, ±{then:text} with {more:text} more samples.",
    "kappa_of_people": "People with each other: {kappa:text}.",
    "part_worse": "{part:text}, worse than the rest.",
    "sweep_undefined": "Kappa is undefined at every threshold of the dev part.",
    "sweep_best": "On the dev part kappa is highest, {kappa:text}, at threshold {threshold:text}.",
    "scores_spread": (
        "Scores from {low:text} to {high:text} of {passes:int} units that people pass, most often {where:place}, and "
        "of {fails:int} that they fail, most often {there:place}."
    ),
    "reliability_groups": (
        "{n:int} groups of units by the probability that was given to them. In {held:int} of the {drawn:int} with an "
        "interval, the interval of the share that people pass holds that probability."
    ),
    "surest_wrong": "Of the surest {share:text} of decisions {wrong:text} are wrong.",
    "week_wrong": "{week:text}: {share:text} wrong of {n:int} units.",
    "weeks_wrong": "All weeks: {share:text}.",
}
_NUMBER = r"(-?\d+\.\d\d)"
_FIGURES = (
    ("figure", rf"{_NUMBER} \({_NUMBER} to {_NUMBER}\)", ("value", "low", "high")),
    ("figure_at_level", rf"{_NUMBER} \({_NUMBER} to {_NUMBER}, (\d+\.\d)% sure\)", ("value", "low", "high", "level")),
    ("figure_without_interval", rf"{_NUMBER} \((.+)\)", ("value", "why")),
    ("unknown", r"unknown \((.+)\)", ("why",)),
)
_VERDICTS = {
    "at the human ceiling": "at_ceiling",
    "useful once calibrated": "useful_once_calibrated",
    "below the ceiling": "below_ceiling",
    "not enough labels": "not_enough_labels",
    "no signal": "no_signal",
    "at or above the ceiling": "at_or_above_ceiling",
}
_SAID = {"reason", "caveat", "note", "why_none", "agreement_caveat", "agreement_note"}
# What follows from a verdict, or from a model of people's errors.
_GONE = {"headline", "allows", "forbids", "assumption"}
_PLACE = re.compile(r"\{(\w+):(\w+)\}")
_MARK = "\u2063"
_DRAWN = re.compile(r"(<text\b[^>]*>)([^<]+)(?=</text>)")
_TITLED = re.compile(r"(<(?:title|desc)\b[^>]*>)([^<]+)(?=</(?:title|desc)>)")
# Where a description's next sentence begins: neither within a number nor after an abbreviation, which it has none of.
_SENTENCE_END = re.compile(r"(?<=\.) (?=\S)")


def _patterns(sentences):
    """Of each code what its sentence looks like, and the kind of each of its parameters."""
    found = []
    for code, text in sentences.items():
        parts = _PLACE.split(text)
        looks = "".join(
            re.escape(words) + (f"(?P<{name}>.+?)" if name else "")
            for words, name in zip(parts[::3], [*parts[1::3], ""], strict=True)
        )
        found.append((code, re.compile(looks, re.DOTALL), dict(zip(parts[1::3], parts[2::3], strict=True))))
    return found


_OF_SENTENCES, _OF_WORDS, _OF_DESCRIPTIONS = map(_patterns, (_SENTENCES, _WORDS, _DESCRIBED))


def _read(text, patterns):
    """The remark that was written so; None where none was."""
    for code, pattern, kinds in patterns:
        found = pattern.fullmatch(text)
        if found:
            given = {name: _parameter(found[name], kind) for name, kind in kinds.items()}
            if None not in given.values():
                return {"code": code, **given}
    return None


def _parameter(text, kind):
    """None where it is none of this kind."""
    if kind == "remark":
        return _read(text, _OF_SENTENCES)
    if kind == "figure":
        return _figure(text)
    if kind == "place":
        return _where(text)
    if kind == "part":
        return text if text in ("dev", "test") else None
    if kind == "text":
        return text
    try:
        if kind in ("int", "count"):
            return int(text.replace(",", ""))
        return float(text.removesuffix("%")) / 100 if kind == "share" else float(text.removeprefix("±"))
    except ValueError:
        return None


def _figure(text):
    for code, pattern, names in _FIGURES:
        found = re.fullmatch(pattern, text)
        if found:
            kinds = {"why": "remark", "level": "share"}
            given = {
                name: _parameter(part, kinds.get(name, "float"))
                for name, part in zip(names, found.groups(), strict=True)
            }
            if None not in given.values():
                return {"code": code, **given}
    return None


def _where(text):
    if text == "nowhere":
        return {"code": "nowhere"}
    found = re.fullmatch(r"between (\S+) and (\S+)", text)
    return found and {"code": "between", "low": found[1], "high": found[2]}


def sentence_as_remark(text):
    return _read(text, _OF_SENTENCES) or {"code": "written", "text": text}


def with_codes(value):
    """A result as it is written now."""
    if isinstance(value, list):
        return [with_codes(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, one in value.items():
        if name in _GONE:
            continue
        if name in _SAID and isinstance(one, str):
            found[name] = sentence_as_remark(one)
        elif name == "verdict" and one in _VERDICTS:
            found[name] = _VERDICTS[one]
        elif name == "reference" and isinstance(one, dict) and isinstance(one.get("method"), str):
            found[name] = with_codes({**one, "method": sentence_as_remark(one["method"])})
        elif name == "sentence":
            # How many samples a goal of the planner takes.
            found["goal"] = one if one is None else sentence_as_remark(one)
        else:
            found[name] = with_codes(one)
    return found


def with_marks(svg):
    """A plot whose words are marked remarks; names and figures stay."""
    svg = _DRAWN.sub(lambda found: found[1] + _marked(found[2], _OF_WORDS), svg)
    return _TITLED.sub(
        lambda found: found[1] + " ".join(_marked(one, _OF_DESCRIPTIONS) for one in _SENTENCE_END.split(found[2])), svg
    )


def _marked(text, patterns):
    remark = _read(unescape(text), patterns)
    if remark is None:
        return text
    return _MARK + escape(json.dumps(remark, ensure_ascii=False, separators=(",", ":")), quote=False) + _MARK


def _rewrite(apps, schema_editor):
    report = apps.get_model("judges", "AlignmentReport").objects
    for pk, result, plots in report.order_by("pk").values_list("pk", "result", "plots").iterator(chunk_size=1):
        marked = {name: with_marks(svg) for name, svg in plots.items()}
        report.filter(pk=pk).update(result=with_codes(result), plots=marked)
    look = apps.get_model("judges", "Look").objects
    for pk, result in look.order_by("pk").values_list("pk", "result").iterator(chunk_size=20):
        look.filter(pk=pk).update(result=with_codes(result))


class Migration(migrations.Migration):
    dependencies = [("judges", "0001_tables")]

    operations = [migrations.RunPython(_rewrite)]
