"""Judges that ask a language model with a prompt."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.units import KIND_ORDER
from annotate.models import Project
from annotate.projects.read import rated_criteria
from frontend.base.forms import show_field
from frontend.judges.kinds.base import (
    MODEL,
    SEED,
    STRUCTURED,
    TEMPERATURE,
    Group,
    Start,
    TargetForm,
    Words,
    endpoint_field,
    first_criterion,
    given,
    no_endpoint,
    offered,
)
from judges.kinds.llm import builtin_templates
from judges.kinds.llm.prompt import known_names
from judges.models import Confidence, JudgeKind

# What a prompt's variables show, by their names (judges.kinds.llm.prompt).
MEANS = {
    "question": _("the question"),
    "answer": _("the answer"),
    "answer_b": _("the other answer to the same question"),
    "reference": _("the reference answer"),
    "claim": _("the claim that is judged"),
    "claims": _("all claims of the answer, numbered"),
    "context": _("the context that is judged"),
    "contexts": _("all contexts, numbered by rank"),
    "key_fact": _("the key fact that is judged"),
    "key_facts": _("all key facts, numbered"),
    "entity": _("the entity that is judged"),
    "entities": _("all entities, numbered"),
    "options": _("the possible options, with their meaning"),
    "criterion": _("the criterion’s question and help"),
    "rules": _("your rules, numbered"),
    "requirements": _("your requirements, numbered"),
    "examples": _("resolved examples from the dev set"),
}


class LLMForm(TargetForm):
    """A prompt, who is asked, and how the answer has to be."""

    prompt_field = "prompt"
    places: ClassVar[Mapping[str, str]] = {
        "examples": "examples",
        "examples.seed": "examples_seed",
        "examples.drawn": "examples",
        "options": "answer_with",
        "requirements": "requirements",
        "rules": "rules",
        "min": "low",
        "max": "high",
    }
    together: ClassVar = (
        ("dimension", "unit"),
        ("endpoint", "model"),
        ("examples", "examples_seed"),
        ("low", "high", "whole"),
        ("temperature", "max_tokens", "seed"),
    )
    rare: Collection[str] = (
        "low",
        "high",
        "whole",
        "rationale",
        "temperature",
        "max_tokens",
        "seed",
        "structured",
        "confidence",
    )
    field_order = ("criterion", "dimension", "unit", "endpoint", "model", "prompt", "per", "answer_with")

    model = MODEL
    prompt = forms.CharField(
        label=_("Prompt"),
        strip=False,
        max_length=50_000,
        widget=forms.Textarea({"rows": 22, "spellcheck": "false"}),
        help_text=_("Variables in double braces are filled in for each unit. The reply format is added automatically."),
    )
    per = forms.ChoiceField(
        label=_("Units per request"),
        initial="unit",
        widget=forms.RadioSelect,
        choices=(
            ("unit", _("one unit")),
            ("sample", _("all units of a sample: cheaper, and read in context")),
        ),
    )
    answer_with = forms.ChoiceField(
        label=_("Answer format"),
        required=False,
        choices=(
            ("", _("Default: the criterion’s options, if any")),
            ("options", _("one of the options")),
            ("number", _("a number")),
        ),
    )
    requirements = forms.CharField(
        label=_("Requirements"),
        required=False,
        widget=forms.Textarea({"rows": 5}),
        help_text=_("One per line; each is checked separately. A line can begin with a weight: “2: …”."),
    )
    rules = forms.CharField(
        label=_("Rules"),
        required=False,
        widget=forms.Textarea({"rows": 5}),
        help_text=_("One per line: what annotators go by that the criterion leaves open. The prompt shows {{rules}}."),
    )
    examples = forms.IntegerField(
        label=_("Examples"),
        min_value=0,
        initial=0,
        help_text=_("Number of resolved units from the dev set to show. They are never used to measure it."),
    )
    examples_seed = forms.IntegerField(label=_("Random seed of the examples"), min_value=0, required=False)
    low = forms.FloatField(label=_("Lowest number"), required=False, widget=forms.NumberInput({"step": "any"}))
    high = forms.FloatField(label=_("Highest number"), required=False, widget=forms.NumberInput({"step": "any"}))
    whole = forms.TypedChoiceField(
        label=_("Whole numbers only"),
        required=False,
        coerce=lambda text: text == "true",
        empty_value=None,
        choices=(("", _("Default")), ("true", _("yes")), ("false", _("no"))),
    )
    rationale = forms.BooleanField(
        label=_("Ask for a rationale first"),
        required=False,
        initial=True,
        help_text=_("Usually better, but uses more tokens."),
    )
    temperature = TEMPERATURE
    max_tokens = forms.IntegerField(label=_("Maximum output tokens"), min_value=1, initial=1024)
    seed = SEED
    structured = STRUCTURED
    confidence = forms.ChoiceField(
        label=_("Confidence"),
        required=False,
        choices=Confidence.choices,
        help_text=_("How sure the model is of its answer. Repeated answers need a run with 2 or more repeats."),
    )

    def __init__(self, project: Project, config: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(project, config, *args, kinds=KIND_ORDER, **kwargs)
        self.fields["endpoint"] = endpoint_field(project)
        self.order_fields(self.field_order)
        self._before = config
        for name in ("low", "high", "whole"):
            show_field(self, name, by="answer_with", unless=["options"])
        show_field(self, "examples_seed", by="examples", unless=["0"])
        # Only a rubric has requirements, and only an aligned judge has rules.
        unused = [name for name in ("requirements", "rules") if f"{{{{{name}}}}}" not in str(self["prompt"].value())]
        self.rare = (*self.rare, *unused)

    def initial_of(self, config: Mapping[str, Any]) -> dict[str, Any]:
        same = ("model", "prompt", "per", "rationale", "temperature", "max_tokens", "seed", "structured", "confidence")
        renamed = {"min": "low", "max": "high"} | {name: name for name in same}
        examples = config.get("examples") or {}
        return {
            **super().initial_of(config),
            **{renamed[name]: value for name, value in config.items() if name in renamed},
            "answer_with": config.get("answer_with") if config.get("answer_with") != "requirements" else "",
            "requirements": _requirement_lines(config.get("requirements")),
            "rules": "\n".join(config.get("rules", ())),
            "whole": {True: "true", False: "false"}.get(config.get("whole"), ""),  # type: ignore[arg-type]
            "examples": examples.get("count", 0),
            "examples_seed": examples.get("seed"),
        }

    @property
    def variables(self) -> list[dict[str, str]]:
        """What a prompt about such units may use, as the form stands: the text in a prompt, and what it means."""
        criterion = self["criterion"].value()
        unit = self["unit"].value()
        if criterion:
            unit = self.project.criteria.filter(key=criterion).values_list("unit", flat=True).first() or unit
        names = known_names(
            unit or KIND_ORDER[0],
            self["per"].value() or "unit",
            has_criterion=bool(criterion),
            has_requirements=bool(self["requirements"].value()),
            has_rules=bool(self["rules"].value()) or self.fields["rules"].disabled,
        )
        return [{"text": f"{{{{{name}}}}}", "means": str(MEANS[name])} for name in names]

    def clean_requirements(self) -> list[dict[str, Any]] | None:
        lines = [line.strip() for line in self.cleaned_data["requirements"].splitlines()]
        return [_requirement(line) for line in lines if line] or None

    def clean_rules(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["rules"].splitlines() if line.strip()]

    def clean(self) -> dict[str, Any]:
        typed: dict[str, Any] = super().clean() or {}
        if "{{requirements}}" in typed.get("prompt", "") and not typed.get("requirements", True):
            self.add_error("requirements", gettext("The prompt uses requirements. Enter them, one per line."))
        return typed

    def config(self) -> dict[str, Any]:
        typed = self.cleaned_data
        # Browsers send other line ends than were typed.
        prompt = typed["prompt"].replace("\r\n", "\n")
        return {
            **self.target(),
            "model": typed["model"],
            "prompt": prompt,
            "per": typed["per"],
            "requirements": typed["requirements"],
            "rules": self._before["rules"] if self.fields["rules"].disabled else typed["rules"],
            "rationale": typed["rationale"],
            "temperature": typed["temperature"],
            "max_tokens": typed["max_tokens"],
            "structured": typed["structured"],
            "examples": self._examples(),
            **self._answer(),
            **given(typed, "seed", "confidence"),
        }

    def _answer(self) -> dict[str, Any]:
        """How it answers. Options that a configuration brought, and no criterion, stay: a file can write them."""
        typed = self.cleaned_data
        if typed["requirements"]:
            return {}
        found = given(typed, "answer_with")
        found |= {key: typed[name] for key, name in (("min", "low"), ("max", "high")) if typed[name] is not None}
        found |= {"whole": typed["whole"]} if typed["whole"] is not None else {}
        is_own = not typed["criterion"] and self._before.get("options")
        return {**found, "options": self._before["options"]} if is_own and typed["answer_with"] != "number" else found

    def _examples(self) -> dict[str, Any]:
        typed = self.cleaned_data
        wanted = {
            "count": typed["examples"],
            **({} if typed["examples_seed"] is None else {"seed": typed["examples_seed"]}),
        }
        kept = given(self._before.get("examples") or {}, "drawn", "drawn_with", "nearest")
        return {**wanted, **kept}


def _requirement(line: str) -> dict[str, Any]:
    weight, colon, text = line.partition(":")
    try:
        number = float(weight)
    except ValueError:
        return {"text": line}
    if not colon or not text.strip():
        raise forms.ValidationError(gettext("“%(line)s” has a weight but no text.") % {"line": line[:80]})
    return {"text": text.strip(), "weight": number}


def _requirement_lines(requirements: Any) -> str:
    lines = []
    for one in requirements or ():
        weight = one.get("weight", 1)
        lines.append(one["text"] if weight == 1 else f"{weight:g}: {one['text']}")
    return "\n".join(lines)


CHOICES: Mapping[str, Words] = {
    "answer_with": offered(LLMForm, "answer_with"),
    # Shorter than in the form, which gives advice.
    "per": {"unit": _("one unit"), "sample": _("all units of a sample")},
    "confidence": dict(Confidence.choices),
}
# Template of a prompt -> the built-in criterion that asks for the same.
_ASKED_BY = {
    "claim_support": "support",
    "all_claims": "support",
    "context_relevance": "relevance",
    "answer_relevancy": "relevancy",
    "correctness": "correctness",
    "completeness": "completeness",
}


def group(project: Project) -> Group:
    starts = []
    for template in builtin_templates():
        criterion = _criterion_for(project, template.key, template.units)
        target = {"criterion": criterion} if criterion else {"dimension": template.key, "unit": template.units[0]}
        own = {} if criterion else template.scale
        starts.append(
            Start(
                key=f"llm-{template.key.replace('_', '-')}",
                title=template.name,
                text=template.description,
                name=template.key.replace("_", "-"),
                config={"prompt": template.prompt, "per": template.per, **own, **target},
            )
        )
    return Group(
        kind=JudgeKind.LLM,
        title=gettext("Model with a prompt"),
        text=gettext(
            "Scores each unit with a language model and your prompt. Replies in the wrong format are rejected."
        ),
        needs=gettext("needs an endpoint"),
        starts=starts,
        missing=no_endpoint(project),
    )


def _criterion_for(project: Project, template: str, kinds: Sequence[str]) -> str | None:
    """The criterion that asks for what the template does. Parts are asked about in the criterion's own options, so for
    them any criterion will do."""
    criteria = [one for one in rated_criteria(project) if one.unit in kinds]
    for criterion in criteria:
        if criterion.key == _ASKED_BY.get(template):
            return criterion.key
    return first_criterion(project, kinds) if "answer" not in kinds else None
