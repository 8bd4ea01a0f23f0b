"""What one may start a judge from: for each kind that runs here some templates, in the order in which they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.models import Project
from annotate.projects.read import current_criteria
from judges.kinds import local_models
from judges.kinds.lexical.measures import MEASURES
from judges.kinds.llm import builtin_templates
from judges.kinds.ragas import installed
from judges.kinds.registry import runnable_kinds
from judges.models import Endpoint, JudgeKind


@dataclass(frozen=True, slots=True)
class Start:
    """One template. config: what its form shows first, as far as it is known. name: of the judge, to be changed."""

    key: str
    kind: str
    title: str
    text: str
    name: str
    config: Mapping[str, Any] = field(default_factory=dict)
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """The templates of one kind. needs: in a few words. missing: why it can't run yet; "" when it can."""

    kind: str
    title: str
    text: str
    needs: str
    starts: Sequence[Start]
    missing: str = ""

    @property
    def is_ready(self) -> bool:
        return not self.missing


LEXICAL = {
    "token_overlap": (
        gettext_lazy("Token overlap"),
        gettext_lazy("Which share of the words of a claim or an answer the contexts have."),
    ),
    "rouge_l": (
        gettext_lazy("ROUGE-L"),
        gettext_lazy("The longest run of words in the same order, such as against a reference answer."),
    ),
    "bm25": (gettext_lazy("BM25"), gettext_lazy("How well each context fits the question, rare words counting more.")),
    "tf_idf": (gettext_lazy("TF-IDF"), gettext_lazy("How like each context is to the question by its rare words.")),
    "citation": (
        gettext_lazy("Citation check"),
        gettext_lazy("Whether the [n] behind a claim exists, and whether that context has the claim’s words."),
    ),
    "key_fact": (
        gettext_lazy("Key facts"),
        gettext_lazy("Which share of a key fact the answer says, small differences in spelling allowed."),
    ),
}


RAGAS = {
    "faithfulness": (
        gettext_lazy("Faithfulness"),
        gettext_lazy("Which share of the answer’s statements the contexts bear out."),
    ),
    "answer_relevancy": (
        gettext_lazy("Answer relevancy"),
        gettext_lazy("How like the questions that the answer would fit are to the one that was asked."),
    ),
    "context_precision": (
        gettext_lazy("Context precision"),
        gettext_lazy("Whether the contexts that help stand before those that don’t."),
    ),
    "context_recall": (
        gettext_lazy("Context recall"),
        gettext_lazy("Which share of the reference answer the contexts bear out."),
    ),
    "answer_correctness": (
        gettext_lazy("Answer correctness"),
        gettext_lazy("Whether the answer says what the reference answer says, and nothing else."),
    ),
    "context_entity_recall": (
        gettext_lazy("Context entity recall"),
        gettext_lazy("Which share of the reference answer’s entities the contexts name."),
    ),
    "noise_sensitivity": (
        gettext_lazy("Noise sensitivity"),
        gettext_lazy("Which share of the answer is wrong and comes from the contexts; lower is better."),
    ),
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


def groups(project: Project) -> list[Group]:
    """Those of the kinds that run here."""
    made = {
        JudgeKind.LEXICAL: _lexical,
        JudgeKind.LLM: _llm,
        JudgeKind.RAGAS: _ragas,
        JudgeKind.EMBEDDING: _embedding,
        JudgeKind.NLI: _nli,
        JudgeKind.ENSEMBLE: _ensemble,
        JudgeKind.COMPOSITE: _composite,
    }
    return [make(project) for kind, make in made.items() if kind in runnable_kinds()]


def start_named(project: Project, key: str) -> Start | None:
    return next((start for group in groups(project) for start in group.starts if start.key == key), None)


def _lexical(project: Project) -> Group:
    starts = [
        Start(
            key=f"lexical-{name.replace('_', '-')}",
            kind=JudgeKind.LEXICAL,
            title=str(title),
            text=str(text),
            name=name.replace("_", "-"),
            config={"measure": name, "criterion": first_criterion(project, MEASURES[name].kinds)},
        )
        for name, (title, text) in LEXICAL.items()
    ]
    return Group(
        kind=JudgeKind.LEXICAL,
        title=_("Words"),
        text=_("Compares texts by their words: thousands of units a second, the same score each time."),
        needs=_("needs nothing"),
        starts=starts,
    )


def _llm(project: Project) -> Group:
    starts = []
    for template in builtin_templates():
        criterion = _criterion_for(project, template.key, template.units)
        target = {"criterion": criterion} if criterion else {"dimension": template.key, "unit": template.units[0]}
        own = {} if criterion else template.scale
        starts.append(
            Start(
                key=f"llm-{template.key.replace('_', '-')}",
                kind=JudgeKind.LLM,
                title=template.name,
                text=template.description,
                name=template.key.replace("_", "-"),
                config={"prompt": template.prompt, "per": template.per, **own, **target},
            )
        )
    return Group(
        kind=JudgeKind.LLM,
        title=_("A model with a prompt"),
        text=_("Asks a language model about each unit, in your words, and takes only replies that keep to the form."),
        needs=_("needs an endpoint"),
        starts=starts,
        missing=_no_endpoint(project),
    )


def _no_endpoint(project: Project) -> str:
    return "" if Endpoint.objects.filter(project=project).exists() else _("This project has no endpoint yet.")


def _ragas(project: Project) -> Group:
    return Group(
        kind=JudgeKind.RAGAS,
        title="RAGAS",
        text=_("The metrics of the RAGAS library, one score for each answer, asked through your endpoint."),
        needs=_("needs an endpoint and the library"),
        starts=[
            Start(
                key=f"ragas-{metric.replace('_', '-')}",
                kind=JudgeKind.RAGAS,
                title=str(title),
                text=str(text),
                name=f"ragas-{metric.replace('_', '-')}",
                config={"metric": metric},
                higher_is_better=metric != "noise_sensitivity",
            )
            for metric, (title, text) in RAGAS.items()
        ],
        missing=_no_endpoint(project) if installed.installed_version() else installed.how_to_install(),
    )


def _embedding(project: Project) -> Group:
    kinds = ("claim", "context", "answer")
    target = {"criterion": first_criterion(project, kinds)}
    return Group(
        kind=JudgeKind.EMBEDDING,
        title=_("Likeness of meaning"),
        text=_("How near two texts are as vectors, however they are worded."),
        needs=_("needs an endpoint or a local model"),
        starts=[
            Start(
                key="embedding-endpoint",
                kind=JudgeKind.EMBEDDING,
                title=_("Embeddings of an endpoint"),
                text=_("Vectors from a model at an endpoint."),
                name="embedding",
                config=target,
            ),
            Start(
                key="embedding-folder",
                kind=JudgeKind.EMBEDDING,
                title=_("Embeddings of a local model"),
                text=_("Vectors from a model on this machine; nothing leaves it."),
                name="embedding-local",
                config={**target, "folder": ""},
            ),
        ],
        missing="" if _has_local_model() else _no_endpoint(project),
    )


def _nli(project: Project) -> Group:
    no_model = "" if _has_local_model() else _("The operator of this installation has put no model there yet.")
    return Group(
        kind=JudgeKind.NLI,
        title=_("Entailment"),
        text=_("How probable it is that a context entails a claim, by a model on this machine."),
        needs=_("needs a local model"),
        starts=[
            Start(
                key="nli",
                kind=JudgeKind.NLI,
                title=_("Entailment of claims"),
                text=_("Of several contexts the one that bears a claim out best counts."),
                name="entailment",
                config={"criterion": first_criterion(project, ("claim", "fact", "answer"))},
            )
        ],
        missing=no_model if local_models.is_installed() else local_models.needs_models(),
    )


def _has_local_model() -> bool:
    return local_models.is_installed() and bool(local_models.model_names())


def _ensemble(project: Project) -> Group:
    return Group(
        kind=JudgeKind.ENSEMBLE,
        title=_("Several judges, learned"),
        text=_(
            "Learns on the dev half how much each of several judges is worth, and gives one calibrated probability."
        ),
        needs=_("needs judges with scores"),
        starts=[
            Start(
                key="ensemble",
                kind=JudgeKind.ENSEMBLE,
                title=_("Ensemble"),
                text=_("The probability that people would pass the unit."),
                name="ensemble",
                config={"unit": "answer"},
            )
        ],
    )


def _composite(project: Project) -> Group:
    return Group(
        kind=JudgeKind.COMPOSITE,
        title=_("Several judges, weighted"),
        text=_("Adds the scores of other judges with the weights that you give."),
        needs=_("needs judges with scores"),
        starts=[
            Start(
                key="composite",
                kind=JudgeKind.COMPOSITE,
                title=_("Weighted sum"),
                text=_("Of one unit’s scores, or of the means over an answer’s parts."),
                name="composite",
                config={"dimension": "overall", "unit": "answer"},
            )
        ],
    )


def _criterion_for(project: Project, template: str, kinds: Sequence[str]) -> str | None:
    """The criterion that asks for what the template does. Parts are asked about in the criterion's own options, so for
    them any criterion will do."""
    criteria = [one for one in current_criteria(project) if one.unit in kinds]
    for criterion in criteria:
        if criterion.key == _ASKED_BY.get(template):
            return criterion.key
    return first_criterion(project, kinds) if "answer" not in kinds else None


def first_criterion(project: Project, kinds: Iterable[str]) -> str | None:
    """The project's first criterion on one of these kinds of unit, by the order of the kinds."""
    criteria = list(current_criteria(project))
    for kind in kinds:
        for criterion in criteria:
            if criterion.unit == kind:
                return criterion.key
    return None
