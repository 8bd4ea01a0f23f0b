"""Sentences of frozen reports and plots that have figures or names in them, as patterns of what was written.

A test looks for each one's words in the modules that write them.
"""

from __future__ import annotations

import re
from functools import cache

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

# Beside figures, or in their place.
SENTENCES = (
    gettext_noop("more than %(n)s different values: too many to take every two"),
    gettext_noop("all scores are equal"),
    gettext_noop("all human values are equal"),
    gettext_noop("fewer than 2 units"),
    gettext_noop("fewer than 2 clusters: no interval"),
    gettext_noop("undefined in most bootstrap resamples: no interval"),
    gettext_noop("only one value was used"),
    gettext_noop("better scores do not go with better labels: there is nothing to calibrate"),
    gettext_noop("%(n)s clusters are fewer than %(folds)s folds"),
    gettext_noop("infinite: %(wrong)s of %(n)s units were given 0 or 1 and turned out otherwise"),
    gettext_noop("the interval of TPR + TNR - 1 contains 0: the judge carries no signal"),
    gettext_noop("TPR + TNR is not above 1: the judge does no better than chance"),
    gettext_noop(
        "the judge passes more or less than its error rates allow: the labelled units are not like the others"
    ),
    gettext_noop("the dev part has too few units that pass, or that fail, to choose a threshold on four fifths of it"),
    gettext_noop("nobody has labelled a unit yet"),
    gettext_noop("nobody has labelled a unit that somebody else labelled as well"),
    gettext_noop("fewer than %(n)s units"),
    gettext_noop("fewer than %(n)s items"),
    gettext_noop("fewer than %(n)s units show how often people err"),
    gettext_noop("fewer than %(n)s units in common with the judge and a majority of the others"),
    gettext_noop("no unit has three ratings"),
    gettext_noop("no unit was rated twice by the same rater"),
    gettext_noop("this rater rated no unit twice"),
    gettext_noop("no value has %(n)s samples and leaves as many"),
    gettext_noop("the samples carry no metadata, so there are no parts to tell apart"),
    gettext_noop(
        "no metadata key has %(few)s to %(many)s values of which one has %(n)s decided samples and leaves as many"
    ),
    gettext_noop("this judge was asked only once about each unit"),
    gettext_noop("there is no threshold on dev to read its numbers by"),
    gettext_noop("people's values are no numbers on a scale, so there is no distance to them"),
    gettext_noop("people's values are no grades: numbers that are not negative"),
    gettext_noop("the judge's scores go beyond people's scale, and nobody knows which scale they are on"),
    gettext_noop("lower is better for this judge, and people's scale has no ends by which to turn its scores round"),
    gettext_noop("nobody knows when these labels were made: labels that came from a file carry no date"),
    gettext_noop("no label has a day: labels made elsewhere bring none"),
    gettext_noop("no choice was timed"),
    gettext_noop("no unit that people settled was decided by both"),
    gettext_noop("no unit has a human reference yet"),
    gettext_noop("the judge scored none of the units that have a human reference"),
    gettext_noop("no sample has a reference for each of these units yet"),
    gettext_noop("the criterion says nowhere which values pass"),
    gettext_noop("the criterion's values are no numbers, and none of them counts as pass"),
    gettext_noop("a judge that answers with labels gives no score whose distance from a threshold says how sure it is"),
    gettext_noop("every scored unit has a label: nothing to carry over"),
    gettext_noop("the certified error rate has no upper bound below 1"),
    gettext_noop(
        "no region: of the %(n)s surest decisions on test %(found)s are wrong, up to %(high)s may be, more than "
        "%(risk)s; even without an error %(needed)s independent decisions are needed"
    ),
    gettext_noop(
        "of the %(n)s surest decisions on test %(found)s are wrong, up to %(high)s may be, more than %(risk)s; even "
        "without an error %(needed)s independent decisions are needed"
    ),
    gettext_noop("about %(n)s more samples for %(width)s"),
    gettext_noop("%(width)s is reached"),
    gettext_noop("as sure as a plan can say"),
    gettext_noop(
        "Fewer than %(n)s samples: intervals like this one held the true value in as few as %(held)s %% of simulated "
        "cases, not 95 %%."
    ),
    gettext_noop(
        "Fewer than %(n)s samples hold anything but the most common value: intervals like this one held the true value "
        "in as few as %(held)s %% of simulated cases, not 95 %%."
    ),
    gettext_noop("%(n)s samples with %(labels)s labels on dev are few: intervals want %(fewest)s samples."),
    gettext_noop("%(n)s samples with %(labels)s labels on test are few: intervals want %(fewest)s samples."),
    gettext_noop("Its kappa is %(kappa)s: surely %(bar)s or more."),
    gettext_noop("Kappa once calibrated is %(kappa)s: surely %(bar)s or more."),
    gettext_noop("Less a person's, the judge's kappa is %(less)s: surely above %(margin)s; its own is %(kappa)s."),
    gettext_noop("Less a person's, the judge's kappa is %(less)s: surely below 0."),
    gettext_noop("Less a person's, the judge's kappa is %(less)s: neither surely below 0 nor above -0.05."),
    gettext_noop("ROC AUC is %(auc)s: surely below %(bar)s."),
    gettext_noop("ROC AUC is %(auc)s: surely below %(bar)s; if lower scores are better, say so."),
    gettext_noop("ROC AUC is %(auc)s: not surely above 0.5."),
    gettext_noop("The judge does as well as people, but its kappa, %(kappa)s, is not surely above 0."),
)
# Words in a drawing: on axes, in legends, beside marks. What else stands there is a name or a figure.
WORDS = (
    gettext_noop("undefined"),
    gettext_noop("people with each other"),
    gettext_noop("Cohen’s kappa, with 95 % interval"),
    gettext_noop("kappa of the second less kappa of the first, with 95 % interval"),
    gettext_noop("threshold"),
    gettext_noop("kappa"),
    gettext_noop("chosen on dev: %(threshold)s"),
    gettext_noop("score"),
    gettext_noop("units"),
    gettext_noop("people"),
    gettext_noop("pass"),
    gettext_noop("fail"),
    gettext_noop("probability given"),
    gettext_noop("share that people pass"),
    gettext_noop("share of decisions kept, the surest first"),
    gettext_noop("of them wrong"),
    gettext_noop("all weeks"),
    gettext_noop("each week"),
    gettext_noop("% wrong"),
    gettext_noop("worse than the rest"),
    gettext_noop("kappa less that of the rest"),
    gettext_noop("labelled samples, dev and test together; the dot is now"),
    gettext_noop("half-width of kappa (±)"),
)
# Its name, and what it shows in sentences, for those who can't see it.
DESCRIPTIONS = (
    gettext_noop("Kappa of each judge"),
    gettext_noop("Differences in kappa"),
    gettext_noop("Threshold sweep of %(judge)s"),
    gettext_noop("Scores of %(judge)s"),
    gettext_noop("Reliability of %(judge)s"),
    gettext_noop("Risk against coverage of %(judge)s"),
    gettext_noop("Kappa of %(judge)s on parts of the data, less that on the rest"),
    gettext_noop("Share of wrong decisions of %(judge)s, week by week"),
    gettext_noop("Width of kappa's interval against labelled samples"),
    gettext_noop("%(n)s more judges are in the table only."),
    gettext_noop("%(n)s more pairs are in the table only."),
    gettext_noop("%(n)s more parts are in the table only."),
    gettext_noop("People with each other: ±%(now)s now, ±%(then)s with %(more)s more samples."),
    gettext_noop("%(judge)s: ±%(now)s now, ±%(then)s with %(more)s more samples."),
    gettext_noop("People with each other: %(kappa)s."),
    gettext_noop("%(part)s, worse than the rest."),
    gettext_noop("Kappa is undefined at every threshold of the dev part."),
    gettext_noop("On the dev part kappa is highest, %(kappa)s, at threshold %(threshold)s."),
    gettext_noop(
        "Scores from %(low)s to %(high)s of %(passes)s units that people pass, most often %(where)s, and of %(fails)s "
        "that they fail, most often %(there)s."
    ),
    gettext_noop(
        "%(n)s groups of units by the probability that was given to them. In %(held)s of the %(drawn)s with an "
        "interval, the interval of the share that people pass holds that probability."
    ),
    gettext_noop("Of the surest %(share)s of decisions %(wrong)s are wrong."),
    gettext_noop("%(week)s: %(share)s wrong of %(n)s units."),
    gettext_noop("All weeks: %(share)s."),
)

_PLACE = re.compile(r"%\((\w+)\)s")
_DRAWN_WORDS = re.compile(r"(<text\b[^>]*>)([^<]+)(?=</text>)")
_DESCRIBED = re.compile(r"(<(?:title|desc)\b[^>]*>)([^<]+)(?=</(?:title|desc)>)")
# Where a description's next sentence begins: neither within a number nor after an abbreviation, which it has none of.
_SENTENCE_END = re.compile(r"(?<=\.) (?=\S)")


def in_words_of(text: str, sentences: tuple[str, ...]) -> str:
    """The text in the reader's language if it is one of these sentences, else as it is."""
    for sentence, pattern in _patterns(sentences):
        found = pattern.fullmatch(text)
        if found:
            given = found.groupdict()
            # A sentence without places has no doubled percent signs either.
            return _(sentence) % given if given else _(sentence)
    return text


def plot_in_words_of_reader(svg: str) -> str:
    """A frozen plot with its words in the reader's language. Names and figures stay; so does a name that is one of our
    words, but that is said in the reader's language too."""
    svg = _DRAWN_WORDS.sub(lambda found: found[1] + in_words_of(found[2], WORDS), svg)
    return _DESCRIBED.sub(lambda found: found[1] + _described(found[2]), svg)


def _described(text: str) -> str:
    return " ".join(in_words_of(sentence, DESCRIPTIONS) for sentence in _SENTENCE_END.split(text))


@cache
def _patterns(sentences: tuple[str, ...]) -> list[tuple[str, re.Pattern[str]]]:
    """Each with what it looks like: anything may stand in its places."""
    found = []
    for sentence in sentences:
        parts = _PLACE.split(sentence)
        has_places = len(parts) > 1
        words = [re.escape(part.replace("%%", "%") if has_places else part) for part in parts[::2]]
        places = [f"(?P<{name}>.+?)" for name in parts[1::2]]
        looks = "".join(word + place for word, place in zip(words, [*places, ""], strict=True))
        found.append((sentence, re.compile(looks, re.DOTALL)))
    return found
