"""Diagnosis: how many responses failed at which stage, which ones and why, and which criteria say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.rows import first_or_raise
from annotate.projects.read import rated_criteria
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.reports.in_words import decision_in_words
from frontend.reports.shown import Shown, shown, shown_share
from frontend.systems.diagnosis_words import (
    QUESTIONS,
    STAGES,
    UNDECIDED,
    StageWords,
    deciding,
    path_in_words,
    stage_name,
)
from frontend.systems.triad import triad_of
from systems.diagnosis import mapping_read as mapping
from systems.diagnosis.cases import Diagnosed
from systems.diagnosis.figures_read import Figures, Part, StageCount, figures_of, triad_of_response
from systems.diagnosis.judged_read import diagnosed_by_judges
from systems.diagnosis.mapping_read import FAILURE, Asked, Mapped, can_answer, mapping_of, stages_proposed, texts_of
from systems.diagnosis.read import DiagnosedResponses, Judged, diagnosed, one_diagnosed
from systems.diagnosis.tree import Stage
from systems.diagnosis.write import change_mapping
from systems.models import QuestionKind, QuestionRevision, Response, SystemVersion
from systems.questions.read import sets_of


@dataclass(frozen=True)
class StageRow:
    """code: as the address names it. share: None where judges said it."""

    code: str
    words: StageWords
    count: int
    share: Shown | None
    url: str


@dataclass(frozen=True)
class StageCells:
    """cells: of each part how many responses are of the stage, and which share."""

    stage: str
    cells: list[tuple[int, Shown | None]]


@dataclass(frozen=True)
class Parts:
    """head: of each part its name and how many responses it has. rows: of the stages that any part has."""

    title: str
    head: list[tuple[str, int]]
    rows: list[StageCells]


@dataclass(frozen=True)
class ResponseRow:
    """text: of the question as it was asked. facts: what was said, or is missing, and of which units. href: empty where
    there is nothing to open."""

    row: Diagnosed
    text: str
    href: str
    facts: dict[str, list[str]]


@dataclass(frozen=True)
class JudgeRow:
    judge: Judged
    question: str
    may: str


@project_view("systems", get="systems.read")
def diagnosis(page: ProjectPage) -> HttpResponse:
    """The stages with their counts, or with ?stage= the responses of one."""
    asked = {name: page.request.GET.get(name, "") for name in ("version", "set", "by", "stage")}
    by_judges, stage = asked["by"] == "judges", asked["stage"]
    if stage and stage not in STAGES:
        raise Http404(_("No such stage."))
    read = diagnosed_by_judges if by_judges else diagnosed
    found = read(page.project, version=asked["version"], in_set=asked["set"], reader=page.user)
    shared = {
        "asked": asked,
        "by_judges": by_judges,
        "found": found,
        "versions": SystemVersion.objects.filter(project=page.project).order_by("-pk"),
        "sets": _sets(page),
        "judges": list(map(_judge, found.judges)),
        "unasked": _unasked(found),
        "may_change": page.may("systems.change"),
        "query": _query(asked),
    }
    if stage:
        rows = [row for row in found.rows if (row.diagnosis.stage or UNDECIDED) == stage]
        shown_rows = page.rows(rows)
        context = {
            "words": STAGES[stage],
            "rows": shown_rows,
            "responses": _responses(page, list(shown_rows), found),
            "whole_query": _query({**asked, "stage": ""}),
        }
        return page.render("systems/diagnosis_stage.html", {**shared, **context})
    figures = figures_of(found)
    return page.render("systems/diagnosis.html", {**shared, **_figures(figures, asked)})


def _sets(page: ProjectPage) -> list[str]:
    """Of each its frozen numbers, the latest first, and its draft."""
    found = []
    for one in sets_of(page.project).prefetch_related("frozen"):
        found += [frozen.manifest["set"] for frozen in one.frozen.all()] + [one.name]
    return found


def _query(asked: Mapping[str, str]) -> str:
    given = {name: value for name, value in asked.items() if value}
    return f"{urlencode(given)}&" if given else ""


def _unasked(found: DiagnosedResponses) -> list[str]:
    """Stages that no criterion asks about."""
    asks = {
        Stage.CONTRADICTORY_SOURCES: ("contradiction",),
        Stage.CONTEXT_OVERLOAD: ("fact_in_contexts", "fact_in_answer"),
        Stage.HALLUCINATION: ("claim_supported",),
        Stage.POOR_DOCUMENT: ("answer_correct",),
        Stage.OFF_TOPIC: ("on_topic",),
    }
    return [stage_name(stage) for stage, names in asks.items() if not all(name in found.mapped.asked for name in names)]


def _judge(judge: Judged) -> JudgeRow:
    may = _("never evaluated on the test set")
    if judge.ruling is not None:
        may = judge.ended or decision_in_words(judge.ruling)["verdict"]
    return JudgeRow(judge, str(QUESTIONS[judge.question].name), may)


def _responses(page: ProjectPage, rows: Sequence[Diagnosed], found: DiagnosedResponses) -> list[ResponseRow]:
    """By judges' word there is no way through the tree to open, but the sample."""
    texts = dict(
        QuestionRevision.objects.filter(pk__in={row.asking.revision_id for row in rows}).values_list("pk", "text")
    )

    def href(row: Diagnosed) -> str:
        if not found.by_judges:
            return page.url("diagnosed-response", row.asking.response)
        return page.url("sample", row.asking.sample) if row.asking.sample else ""

    return [
        ResponseRow(row, texts[row.asking.revision_id], href(row), deciding(row.diagnosis, found.mapped))
        for row in rows
    ]


def _figures(figures: Figures, asked: Mapping[str, str]) -> dict[str, Any]:
    whole = figures.whole
    context: dict[str, Any] = {
        "responses": whole.responses,
        "undecided": sum(one.count for one in whole.stages if one.stage is None),
        "stages": [_stage(one, asked) for one in whole.stages],
        "parts": [
            _parts(title, parts, kind=title is _KINDS)
            for title, parts in (
                (gettext_lazy("By version"), figures.versions),
                (_KINDS, figures.kinds),
                (gettext_lazy("By category of question"), figures.categories),
            )
            if parts
        ],
    }
    if figures.abstention is None or figures.triad is None or figures.noise is None or figures.agreement is None:
        return context
    return context | {
        "triad": triad_of(figures.triad),
        "abstention": {name: shown_share(one) for name, one in figures.abstention.items()},
        "noise": {name: shown_share(one) for name, one in figures.noise.items()},
        "agreement": figures.agreement,
        "kappa": shown(figures.agreement.kappa),
    }


_KINDS = gettext_lazy("By type of question")


def _stage(one: StageCount, asked: Mapping[str, str]) -> StageRow:
    code = one.stage.value if one.stage else UNDECIDED
    count, share = _cell(one)
    return StageRow(code, STAGES[code], count, share, f"?{_query({**asked, 'stage': code})[:-1]}")


def _parts(title: Any, parts: Sequence[Part], *, kind: bool) -> Parts:
    names = [str(QuestionKind(part.name).label) if kind and part.name else part.name for part in parts]
    unknown = str(QuestionKind.UNKNOWN.label)
    by_stage = zip(*(part.stages for part in parts), strict=True)
    return Parts(
        str(title),
        [(name or unknown, part.responses) for name, part in zip(names, parts, strict=True)],
        [
            StageCells(stage_name(counts[0].stage), list(map(_cell, counts)))
            for counts in by_stage
            if any(one.count for one in counts)
        ],
    )


def _cell(one: StageCount) -> tuple[int, Shown | None]:
    return one.count, None if one.share is None else shown_share(one.share)


@project_view("systems", get="systems.read")
def diagnosed_response(page: ProjectPage, response_id: int) -> HttpResponse:
    """The way through the tree of one response, by what people said."""
    responses = Response.objects.filter(question__project=page.project, pk=response_id)
    response = first_or_raise(
        responses.select_related("version__project", "question", "sample"), Http404(_("Response not found."))
    )
    row, mapped = one_diagnosed(response, reader=page.user)
    context: dict[str, Any] = {"response": None if row is None else response}
    if row is not None:
        context |= {
            "row": row,
            "words": STAGES[row.diagnosis.stage or UNDECIDED],
            "steps": path_in_words(row.diagnosis, mapped),
            "triad": triad_of(triad_of_response(row)),
            "failure": "" if row.failure is None else stage_name(row.failure),
            "sample_url": page.url("sample", response.sample_id) if response.sample_id else "",
        }
    return page.render("systems/diagnosed.html", context)


# The criterion of a question and which of its values answer yes, as a choice: `support`, `support:fails`.
_FAILS = ":fails"


class MappingForm(forms.Form):
    """A choice for each question. Of what annotators say went wrong each value has its stage, of the criterion that
    stands; of another one they are proposed by the words of its options."""

    def __init__(self, standing: Mapped, data: Any = None) -> None:
        super().__init__(data)
        self.standing = standing
        self.criteria = {criterion.key: criterion for criterion in rated_criteria(standing.project)}
        for name, question in mapping.QUESTIONS.items():
            asked = standing.asked.get(name)
            words = QUESTIONS[name]
            self.fields[name] = forms.ChoiceField(
                label=str(words.name),
                help_text=str(words.help),
                required=False,
                choices=[("", _("No criterion")), *self._choices(question)],
                initial="" if asked is None else _as_choice(asked),
            )
        failure = standing.asked.get(FAILURE)
        self.values: dict[str, str] = {}
        if failure is not None:
            for at, (value, option) in enumerate(
                zip(texts_of(failure.criterion), failure.criterion.options, strict=True)
            ):
                field = f"stage_{at}"
                self.values[field] = value
                self.fields[field] = forms.ChoiceField(
                    label=_("“%(option)s” means") % {"option": option.get("label") or value},
                    required=False,
                    choices=[("", _("None of the stages")), *((stage.value, stage_name(stage)) for stage in Stage)],
                    initial=failure.stages.get(value, ""),
                )

    def _choices(self, question: mapping.Question) -> list[tuple[str, str]]:
        found = []
        for criterion in self.criteria.values():
            if can_answer(question, criterion):
                found.append((criterion.key, criterion.name))
                if question.name not in mapping.BY_VALUE:
                    found.append((criterion.key + _FAILS, _("%(name)s: does not pass") % {"name": criterion.name}))
        return found

    def questions(self) -> dict[str, Any]:
        """As systems.diagnosis.write takes it."""
        given = self.cleaned_data
        found: dict[str, Any] = {}
        for name in mapping.QUESTIONS:
            key = given[name].removesuffix(_FAILS)
            if not key:
                continue
            if name == FAILURE:
                found[name] = {"criterion": key, "stages": self._stages(key)}
            else:
                found[name] = {"criterion": key, "yes": "fails" if given[name].endswith(_FAILS) else "passes"}
        return found

    def _stages(self, key: str) -> dict[str, str]:
        standing = self.standing.asked.get(FAILURE)
        if standing is None or standing.criterion.key != key:
            return {value: stage.value for value, stage in stages_proposed(self.criteria[key]).items()}
        given = self.cleaned_data
        return {value: given[field] for field, value in self.values.items() if given[field]}


def _as_choice(asked: Asked) -> str:
    return asked.criterion.key + (_FAILS if asked.yes == "fails" else "")


@project_view("systems", get="systems.change", post="systems.change")
def diagnosis_mapping(page: ProjectPage) -> HttpResponse:
    standing = mapping_of(page.project)
    form = MappingForm(standing, page.data)
    if form.is_valid():
        with RefusalsShown(form, FAILURE):
            change_mapping(actor=page.user, project=page.project, questions=form.questions())
            return page.redirect("diagnosis")
    context = {"form": form, "standing": standing}
    return page.render("systems/diagnosis_mapping.html", context, status=status_of(form))
