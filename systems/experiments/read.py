"""Experiments and their frozen figures, and whether something has changed since these were made.

Who still has an answer of an experiment to label is told no figures of it; nor is who decides about units, while
figures are of few answers (annotate.core.blindness).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.blindness import FEWEST_SAMPLES, Reader, only_held_back, require_figures_of_many
from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import fetch_one, first_or_raise
from annotate.models import Project
from systems.core.answer_criteria import PREFERENCE
from systems.experiments.responses_read import compared_versions, draws_of, is_drawn
from systems.models import (
    ComposedSample,
    Experiment,
    ExperimentDraw,
    ExperimentFigures,
    ExperimentRule,
    ExperimentVersion,
    PairDraw,
    Response,
)

# Raised when the same data would give other figures, so that figures are made anew.
FIGURES_VERSION = 4


def experiments_of(project: Project) -> QuerySet[Experiment]:
    """The latest first."""
    experiments = Experiment.objects.filter(project=project).select_related("frozen_set__question_set", "created_by")
    return experiments.prefetch_related("compared__version", "rules__set_by").order_by("-id")


def one_experiment(project: Project, name: str) -> Experiment:
    refusal = Http404(_("Experiment “%(name)s” not found in this project.") % {"name": name[:80]})
    return first_or_raise(experiments_of(project).filter(name=name), refusal)


def experiment_named(project: Project, name: str) -> Experiment:
    """For command lines. Raises Invalid with a sentence that names what there is."""
    found = experiments_of(project).filter(name=name).first()
    if found is None:
        names = list(experiments_of(project).values_list("name", flat=True)[:20])
        said = _("Experiment “%(name)s” not found in “%(project)s”. Experiments: %(known)s.")
        given = {"name": name[:80], "project": project.slug, "known": ", ".join(names) or _("none yet")}
        raise Invalid("unknown_experiment", said % given)
    return found


@dataclass(frozen=True)
class ExperimentState:
    """An experiment with its rule in force, and its latest figures by that rule, of this or another version of its
    data."""

    experiment: Experiment

    @cached_property
    def versions(self) -> list[ExperimentVersion]:
        return compared_versions(self.experiment)

    @property
    def baseline(self) -> str:
        return next(one.version.name for one in self.versions if one.is_baseline)

    @property
    def candidates(self) -> list[str]:
        """What is compared with the baseline."""
        return [one.version.name for one in self.versions if not one.is_baseline]

    @property
    def compared(self) -> dict[str, Any]:
        """What stays, whatever the rule is, as experiment.json has it (docs/formats.md)."""
        frozen = self.experiment.frozen_set
        said: dict[str, Any] = {"versions": [one.version.name for one in self.versions], "baseline": self.baseline}
        return said if frozen is None else said | {"set": frozen.manifest["set"]}

    @property
    def has_figures(self) -> bool:
        """By any of its rules."""
        return ExperimentFigures.objects.filter(rule__experiment=self.experiment).exists()

    @cached_property
    def rules(self) -> list[ExperimentRule]:
        """The one in force first."""
        return list(self.experiment.rules.select_related("set_by"))

    @property
    def rule(self) -> ExperimentRule:
        return self.rules[0]

    @cached_property
    def draws(self) -> list[ExperimentDraw | PairDraw]:
        """In the order in which they were made."""
        pairs = self.experiment.pair_draws.select_related("batch", "version")
        return sorted([*draws_of(self.experiment), *pairs], key=lambda draw: draw.batch.number)

    @property
    def counting_draws(self) -> list[ExperimentDraw | PairDraw]:
        """But for those from which samples were taken by hand."""
        return [draw for draw in self.draws if is_drawn(draw.batch)]

    @cached_property
    def data_version(self) -> str:
        return data_version(self.experiment, self.rule)

    @cached_property
    def figures(self) -> ExperimentFigures | None:
        made = ExperimentFigures.objects.filter(rule=self.rule, figures=FIGURES_VERSION)
        return made.filter(data_version=self.data_version).first() or made.first()

    @property
    def is_out_of_date(self) -> bool:
        """Whether there are figures, and something that they may rest on has changed."""
        found = self.figures
        return found is not None and found.data_version != self.data_version


def shown_figures(experiment: Experiment, *, reader: Reader) -> ExperimentFigures:
    """The latest by the rule in force. Raises Http404 before there are any, and as `require_shown`."""
    require_shown(experiment, reader=reader)
    found = ExperimentState(experiment).figures
    if found is None:
        raise Http404(_("This experiment has no figures yet."))
    return found


def require_shown(experiment: Experiment, *, reader: Reader) -> None:
    """Raises Conflict where the reader must not know figures of the experiment yet."""
    responses = Response.objects.filter(version__experiments=experiment, sample__isnull=False)
    composed = ComposedSample.objects.filter(question__in=responses.values("question"))
    if any(only_held_back(rows, reader=reader).exists() for rows in (responses, composed)):
        raise Conflict(
            "still_to_label",
            _(
                "You still have answers of this experiment, or passages of its questions, to label. Its figures are "
                "shown once you submit them."
            ),
        )
    # Of more samples it is never refused, and to ask about all of them takes long.
    samples = list(responses.values_list("sample_id", flat=True)[:FEWEST_SAMPLES])
    if len(samples) < FEWEST_SAMPLES:
        require_figures_of_many(reader, samples, samples)


def hidden_experiments(project: Project, *, reader: Reader) -> set[int]:
    """Those of which `require_shown` refuses the figures, by primary key."""
    answers = Response.objects.filter(question__project=project, sample__isnull=False)
    composed = ComposedSample.objects.filter(question__project=project)
    to_label = Q(versions__responses__in=only_held_back(answers, reader=reader)) | Q(
        versions__responses__in=answers.filter(question__in=only_held_back(composed, reader=reader).values("question"))
    )
    experiments = Experiment.objects.filter(project=project)
    hidden = set(experiments.filter(to_label).values_list("pk", flat=True))
    sizes = experiments.exclude(pk__in=hidden).annotate(answers=Count("versions__responses__sample"))
    return hidden | {one.pk for one in sizes.filter(answers__lt=FEWEST_SAMPLES) if _refuses(one, reader)}


def _refuses(experiment: Experiment, reader: Reader) -> bool:
    try:
        require_shown(experiment, reader=reader)
    except Conflict:
        return True
    return False


# Every part is one row; a page asks on every view.
_COUNTS = """
    SELECT * FROM
        (SELECT count(*), max(r.id), count(r.sample_id), count(r.latency_ms), count(r.first_token_ms),
                count(r.input_tokens), count(r.output_tokens), count(r.cost) FROM systems_response r
           JOIN systems_experimentversion c ON c.version_id = r.version_id
          WHERE c.experiment_id = %(experiment)s) responses,
        (SELECT count(*), sum(l.revision), max(l.updated_at) FROM annotate_label l
           JOIN annotate_criterion c ON c.id = l.criterion_id
          WHERE c.project_id = %(project)s AND c.key = ANY(%(criteria)s)) labels,
        (SELECT count(*), max(t.submitted_at) FROM annotate_task t JOIN annotate_batch b ON b.id = t.batch_id
          WHERE b.project_id = %(project)s AND t.status = 'submitted') tasks,
        (SELECT count(*), sum(v.revision), max(v.updated_at) FROM annotate_verdict v
           JOIN annotate_criterion c ON c.id = v.criterion_id
          WHERE c.project_id = %(project)s AND c.key = ANY(%(criteria)s)) verdicts,
        (SELECT count(single_labels_at), max(single_labels_at) FROM annotate_batch
          WHERE project_id = %(project)s) singles,
        (SELECT string_agg(id::text, ',' ORDER BY id) FROM annotate_criterion
          WHERE project_id = %(project)s AND is_current AND key = ANY(%(criteria)s)) criteria,
        (SELECT string_agg(v.id || v.state || j.higher_is_better, ',' ORDER BY v.id) FROM judges_judgeversion v
           JOIN judges_judge j ON j.id = v.judge_id
          WHERE j.project_id = %(project)s AND j.name = ANY(%(judges)s)) versions,
        (SELECT count(*), max(s.id), count(*) FILTER (WHERE s.status = 'ok') FROM judges_score s
          WHERE s.version_id IN (SELECT v.id FROM judges_judgeversion v JOIN judges_judge j ON j.id = v.judge_id
                                  WHERE j.project_id = %(project)s AND j.name = ANY(%(judges)s))) scores,
        (SELECT count(*) FROM judges_groupside WHERE project_id = %(project)s) sides,
        (SELECT string_agg(b.id || b.status || coalesce(b.selection ->> 'came', ''), ',' ORDER BY b.id)
           FROM (SELECT batch_id FROM systems_experimentdraw WHERE experiment_id = %(experiment)s
                  UNION ALL SELECT batch_id FROM systems_pairdraw WHERE experiment_id = %(experiment)s) d
           JOIN annotate_batch b ON b.id = d.batch_id) draws,
        (SELECT count(*), sum(id) FROM annotate_sample WHERE project_id = %(project)s AND abstained) abstaining,
        (SELECT max(updated_at) FROM systems_metricbands WHERE project_id = %(project)s) bands,
        (SELECT max(e.id) FROM annotate_claimedit e JOIN annotate_sample s ON s.id = e.sample_id
          WHERE s.project_id = %(project)s) edits
"""


def data_version(experiment: Experiment, rule: ExperimentRule) -> str:
    """Changes whenever something changes that figures by the rule may rest on; it may also change without that."""
    found = fetch_one(
        _COUNTS,
        {
            "experiment": experiment.pk,
            "project": experiment.project_id,
            "criteria": sorted({PREFERENCE, *(one["criterion"] for one in rule.metrics if "criterion" in one)}),
            "judges": sorted({metric["judge"] for metric in rule.metrics if "judge" in metric}),
        },
    )
    return "/".join(map(str, [FIGURES_VERSION, *found]))
