"""Whose numbers have to lie on a criterion's scale."""

from __future__ import annotations

import pytest

from judges.kinds.base import Scored
from judges.models import ScoreStatus
from judges.runs.outcomes import Gate
from tests.judges.building import make_project
from tests.judges.kinds.making import sample


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("is_on_scale", "number", "status"),
    [
        (True, 1, ScoreStatus.OK),
        (True, 0.25, ScoreStatus.ERROR),
        (False, 0.25, ScoreStatus.OK),
        (False, float("inf"), ScoreStatus.ERROR),
    ],
)
def test_a_share_may_be_said_of_a_criterion_from_one_to_five(
    is_on_scale: bool, number: float, status: ScoreStatus
) -> None:
    gate = Gate(make_project(criteria=["relevancy"]), is_on_scale=is_on_scale)
    (checked,) = gate.checked([Scored("answer", "relevancy", number=number)], [("relevancy", "answer")], sample())
    assert checked.status == status
