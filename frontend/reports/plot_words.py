"""The words of plots: on axes, in legends, beside marks, and in the descriptions for those who can't see them.

What else stands in a plot is a name or a figure.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from frontend.reports.words import Words

#: Stands before and after a remark in a plot, as JSON. It is invisible, and has no width where plots are laid out.
MARK = "\u2063"

PLOT_WORDS: dict[str, Words] = {
    "undefined": Words(gettext_noop("undefined")),
    "people_with_each_other": Words(gettext_noop("people with each other")),
    "kappa_with_interval": Words(gettext_noop("Cohen’s kappa, with 95 % interval")),
    "kappa_difference_with_interval": Words(
        gettext_noop("kappa of the second less kappa of the first, with 95 % interval")
    ),
    "threshold": Words(gettext_noop("threshold")),
    "kappa": Words(gettext_noop("kappa")),
    "chosen_on_dev": Words(gettext_noop("chosen on dev: %(threshold)s")),
    "score": Words(gettext_noop("score")),
    "units": Words(gettext_noop("units")),
    "people": Words(gettext_noop("people")),
    "pass": Words(gettext_noop("pass")),
    "fail": Words(gettext_noop("fail")),
    "probability_given": Words(gettext_noop("probability given")),
    "share_that_people_pass": Words(gettext_noop("share that people pass")),
    "share_of_decisions": Words(gettext_noop("share of decisions kept, the surest first")),
    "of_them_wrong": Words(gettext_noop("of them wrong")),
    "all_weeks": Words(gettext_noop("all weeks")),
    "each_week": Words(gettext_noop("each week")),
    "percent_wrong": Words(gettext_noop("% wrong")),
    "worse_than_rest": Words(gettext_noop("worse than the rest")),
    "kappa_less_rest": Words(gettext_noop("kappa less that of the rest")),
    "labelled_samples": Words(gettext_noop("labelled samples, dev and test together; the dot is now")),
    "half_width_of_kappa": Words(gettext_noop("half-width of kappa (±)")),
    # Titles.
    "forest_of_judges": Words(gettext_noop("Kappa of each judge")),
    "forest_of_differences": Words(gettext_noop("Differences in kappa")),
    "sweep_of": Words(gettext_noop("Threshold sweep of %(judge)s")),
    "scores_of": Words(gettext_noop("Scores of %(judge)s")),
    "reliability_of": Words(gettext_noop("Reliability of %(judge)s")),
    "risk_of": Words(gettext_noop("Risk against coverage of %(judge)s")),
    "parts_of": Words(gettext_noop("Kappa of %(judge)s on parts of the data, less that on the rest")),
    "weeks_of": Words(gettext_noop("Share of wrong decisions of %(judge)s, week by week")),
    "widths": Words(gettext_noop("Width of kappa's interval against labelled samples")),
    # Descriptions. Figures come as they are written.
    "more_judges": Words(gettext_noop("%(n)s more judges are in the table only.")),
    "more_pairs": Words(gettext_noop("%(n)s more pairs are in the table only.")),
    "more_parts": Words(gettext_noop("%(n)s more parts are in the table only.")),
    "width_of_people": Words(
        gettext_noop("People with each other: ±%(now)s now, ±%(then)s with %(more)s more samples.")
    ),
    "width_of_judge": Words(gettext_noop("%(judge)s: ±%(now)s now, ±%(then)s with %(more)s more samples.")),
    "kappa_of_people": Words(gettext_noop("People with each other: %(kappa)s.")),
    "part_worse": Words(gettext_noop("%(part)s, worse than the rest.")),
    "sweep_undefined": Words(gettext_noop("Kappa is undefined at every threshold of the dev part.")),
    "sweep_best": Words(gettext_noop("On the dev part kappa is highest, %(kappa)s, at threshold %(threshold)s.")),
    "scores_spread": Words(
        gettext_noop(
            "Scores from %(low)s to %(high)s of %(passes)s units that people pass, most often %(where)s, and of "
            "%(fails)s that they fail, most often %(there)s."
        )
    ),
    "between": Words(gettext_noop("between %(low)s and %(high)s")),
    "nowhere": Words(gettext_noop("nowhere")),
    "reliability_groups": Words(
        gettext_noop(
            "%(n)s groups of units by the probability that was given to them. In %(held)s of the %(drawn)s with an "
            "interval, the interval of the share that people pass holds that probability."
        )
    ),
    "surest_wrong": Words(gettext_noop("Of the surest %(share)s of decisions %(wrong)s are wrong.")),
    "week_wrong": Words(gettext_noop("%(week)s: %(share)s wrong of %(n)s units.")),
    "weeks_wrong": Words(gettext_noop("All weeks: %(share)s.")),
}
