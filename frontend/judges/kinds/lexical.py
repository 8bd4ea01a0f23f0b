"""Judges that compare words: one measure with its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from frontend.judges.kinds.base import (
    AGAINST,
    USUAL,
    Group,
    Start,
    TargetForm,
    Words,
    first_criterion,
    given,
    offered,
)
from judges.kinds.lexical import KIND
from judges.kinds.lexical.measures import MEASURES
from judges.models import JudgeKind

MEASURE_WORDS = {
    "token_overlap": (
        _("Token overlap"),
        _("Share of a claim’s or answer’s words found in the contexts."),
    ),
    "rouge_l": (
        _("ROUGE-L"),
        _("Longest sequence of words in the same order, such as in a reference answer."),
    ),
    "bm25": (_("BM25"), _("How well each context matches the question, with more weight on rare words.")),
    "tf_idf": (_("TF-IDF"), _("How similar each context is to the question in rare words.")),
    "citation": (
        _("Citation check"),
        _("Whether the [n] after a claim exists, and whether that context has the claim’s words."),
    ),
    "key_fact": (
        _("Key facts"),
        _("Share of a key fact found in the answer, allowing for spelling differences."),
    ),
}
OPTIONS = ("against", "share", "contexts", "k1", "b", "similar", "unspaced")


class LexicalForm(TargetForm):
    """One measure with its options; what is left empty is as usual for the kind of unit."""

    together: ClassVar = (("dimension", "unit"), ("share", "contexts"), ("k1", "b"))
    rare = ("share", "contexts", "k1", "b", "similar", "unspaced")
    same = OPTIONS

    against = forms.ChoiceField(
        label=_("Compared with"),
        required=False,
        choices=AGAINST,
    )
    share = forms.ChoiceField(
        label=_("Share"),
        required=False,
        choices=[
            USUAL,
            ("precision", _("of the unit’s words, those in the other text")),
            ("recall", _("of the other text’s words, those in the unit")),
            ("f1", _("both together (F1)")),
        ],
    )
    contexts = forms.ChoiceField(
        label=_("Several contexts"),
        required=False,
        choices=[USUAL, ("all", _("all of them together")), ("best", _("the best match"))],
    )
    k1 = forms.FloatField(
        label="k1", required=False, widget=forms.NumberInput({"step": "any"}), help_text=_("Default: 1.2")
    )
    b = forms.FloatField(
        label="b", required=False, widget=forms.NumberInput({"step": "any"}), help_text=_("Default: 0.75")
    )
    similar = forms.FloatField(
        label=_("Minimum word similarity"),
        required=False,
        widget=forms.NumberInput({"step": "any"}),
        help_text=_("From 0.5 to 1 (identical). Default: 0.8"),
    )
    unspaced = forms.ChoiceField(
        label=_("Languages written without spaces, such as Chinese"),
        required=False,
        choices=[
            USUAL,
            ("pairs", pgettext_lazy("of characters", "pairs of characters")),
            ("characters", _("single characters")),
        ],
    )

    def __init__(self, project: Project, config: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        self.measure = config["measure"]
        kinds = list(MEASURES[self.measure].kinds)
        super().__init__(project, config, *args, kinds=kinds, **kwargs)
        # As the measure completes them itself, under a name that is no criterion's.
        known = KIND.complete({"measure": self.measure, "dimension": "\u2014", "unit": kinds[0]}, project)
        for name in OPTIONS:
            if name not in known:
                del self.fields[name]

    def config(self) -> dict[str, Any]:
        return {"measure": self.measure, **self.target(), **given(self.cleaned_data, *OPTIONS)}


CHOICES: Mapping[str, Words] = {
    "measure": {name: title for name, (title, _text) in MEASURE_WORDS.items()},
    **{name: offered(LexicalForm, name) for name in ("against", "share", "contexts", "unspaced")},
}


def group(project: Project) -> Group:
    starts = [
        Start(
            key=f"lexical-{name.replace('_', '-')}",
            title=str(title),
            text=str(text),
            name=name.replace("_", "-"),
            config={"measure": name, "criterion": first_criterion(project, MEASURES[name].kinds)},
        )
        for name, (title, text) in MEASURE_WORDS.items()
    ]
    return Group(
        kind=JudgeKind.LEXICAL,
        title=gettext("Words"),
        text=gettext("Compares texts by their words: thousands of units per second, always the same score."),
        needs=gettext("no requirements"),
        starts=starts,
    )
