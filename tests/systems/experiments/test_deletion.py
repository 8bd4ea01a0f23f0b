"""An experiment goes with its project, and what its rule was can't be rewritten before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotate.models import Project
from annotate.projects.deletion import delete_waiting
from systems.models import Experiment, ExperimentDraw, ExperimentFigures, ExperimentRule
from tests.annotate.factories import World
from tests.systems.experiments.building import create, draw, figures
from tests.systems.experiments.conftest import SPEC

Write = Callable[..., Path]


def test_all_of_it_goes_with_the_project(compared: World, write: Write) -> None:
    create(write, SPEC)
    draw(4)
    figures()
    Project.objects.filter(pk=compared.project.pk).update(deleting_at=timezone.now(), deleting_by=compared.alice)
    assert delete_waiting(compared.project.pk)
    for table in (Experiment, ExperimentRule, ExperimentDraw, ExperimentFigures):
        assert not table.objects.exists()


def test_a_rule_stays_as_it_was(compared: World, write: Write) -> None:
    create(write, SPEC)
    with pytest.raises(IntegrityError, match="stays as it is"), transaction.atomic():
        ExperimentRule.objects.update(margin=1)
    with pytest.raises(IntegrityError, match="stays as it is"), transaction.atomic():
        ExperimentRule.objects.all().delete()
    assert ExperimentRule.objects.get().margin == 0.05
