"""Experiments by API: made and read, labels drawn, figures frozen and shown."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ProjectAPIView
from annotate.api.bodies import StrictJSON
from annotate.api.schema import answers
from annotate.api.serializers import Nothing, With
from annotate.projects.read import people_of
from systems.api import experiments_serializers as shapes
from systems.experiments.draw import Drawing
from systems.experiments.figures import freeze_figures
from systems.experiments.pairs import draw_batch
from systems.experiments.read import ExperimentState, experiments_of, one_experiment, require_shown, shown_figures
from systems.experiments.trend_read import Trends, trends_of
from systems.experiments.write import create_experiment
from systems.models import Experiment, ExperimentFigures


class ExperimentsView(ProjectAPIView):
    actions = {"GET": "systems.read", "POST": "systems.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.ExperimentPage)
    def get(self, request: Request, slug: str) -> QuerySet[Experiment]:
        """The experiments, the latest first."""
        return experiments_of(self.project)

    @answers(
        shapes.ExperimentMade,
        takes=shapes.ExperimentCreation,
        status=201,
        conflict=True,
        also={200: shapes.ExperimentMade},
    )
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Response:
        """Makes an experiment: versions, metrics, and the rule by which they are compared with a baseline.

        The body is an experiment.json (docs/formats.md) with a `name`. Sent again with other metrics or another rule,
        these are its next rule: 200. Other versions, or another set, are refused (409).
        """
        said = {key: value for key, value in data.items() if key != "name"}
        done = create_experiment(actor=self.user, project=self.project, name=data["name"], said=said)
        made = With(one_experiment(self.project, done.experiment.name), is_new=done.is_new, is_changed=done.is_changed)
        return Response(shapes.ExperimentMade.show(made), status=201 if done.is_new else 200)


class ExperimentView(ProjectAPIView):
    actions = {"GET": "systems.read"}

    @answers(shapes.ExperimentWhole)
    def get(self, request: Request, slug: str, experiment_name: str) -> ExperimentState:
        """An experiment with all its rules, the one in force first, and what was drawn to be labelled."""
        return ExperimentState(one_experiment(self.project, experiment_name))


class ExperimentDrawView(ProjectAPIView):
    actions = {"POST": "batches.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.LabelsDrawn, takes=shapes.LabelsDrawRequest, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, experiment_name: str) -> Drawing:
        """Draws questions at random, and sends the answers of all versions to them to annotators, in one batch.

        The first draw's `seed` gives the order that all later ones follow. Versions are hidden from annotators, and the
        same people label all answers to a question. Refused (409) with another seed, and where nothing is to be asked.

        With `beside`, the answers of that version stand next to the baseline's, and people say which is better.
        """
        named = data.get("annotators")
        return draw_batch(
            actor=self.user,
            experiment=one_experiment(self.project, experiment_name),
            questions=data["questions"],
            seed=data["seed"],
            annotators=None if named is None else people_of(self.project, named),
            overlap=data.get("overlap"),
            single_labels=data.get("single_labels", False),
            opens=data.get("open", True),
            beside=data.get("beside") or "",
            both_orders=data.get("both_orders", False),
        )


class ExperimentFiguresView(ProjectAPIView):
    actions = {"GET": "systems.read", "POST": "systems.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.ExperimentFigures, conflict=True)
    def get(self, request: Request, slug: str, experiment_name: str) -> With:
        """The latest figures by the rule in force, as `manage.py experiment` prints them, and whether they are out of
        date.

        404 before there are any. Refused (409) while you still have answers of the experiment to label, and to who
        decides about units while the figures are of fewer than 20 answers.
        """
        experiment = one_experiment(self.project, experiment_name)
        found = shown_figures(experiment, reader=self.user)
        return With(found, is_out_of_date=ExperimentState(experiment).is_out_of_date)

    @answers(shapes.ExperimentFigures, takes=Nothing, status=201, conflict=True)
    def post(self, request: Request, slug: str, experiment_name: str) -> With:
        """Works out the figures of the data as they are, and freezes them.

        Where nothing has changed since the latest, these stay the latest.
        """
        experiment = one_experiment(self.project, experiment_name)
        require_shown(experiment, reader=self.user)
        found: ExperimentFigures = freeze_figures(experiment=experiment, user=self.user)
        return With(found, is_out_of_date=False)


class TrendView(ProjectAPIView):
    actions = {"GET": "systems.read"}

    @answers(shapes.Trends)
    def get(self, request: Request, slug: str) -> Trends:
        """Every experiment over time: the levels of its versions, metric by metric, and what changed in between.

        By the latest figures of each, by its rule in force; of the latest 24 that have figures. Experiments whose
        figures would be refused to you are left out.
        """
        return trends_of(self.project, reader=self.user)
