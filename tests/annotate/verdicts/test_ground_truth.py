"""How many verdicts there are, and by what, is counted in indexes."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Batch, Verdict
from annotate.verdicts.ground_truth_read import ground_truth
from tests.annotate.factories import make_world, many_verdicts
from tests.plans import nodes, plan_of


@pytest.mark.django_db(transaction=True)
def test_no_verdict_is_read_to_count_it() -> None:
    world = make_world()
    (grade,) = world.criteria("grade")
    many_verdicts(grade, "answer", 4_000)
    batch = Batch.objects.create(project=world.project, number=1, name="A", overlap=1, seed=1, status="closed")
    # Of one vote; some a reviewer approved, or decided.
    settled = list(Verdict.objects.filter(state="settled").order_by("pk").values_list("pk", flat=True))
    Verdict.objects.update(batch=batch)
    Verdict.objects.filter(pk__in=settled[90:120]).update(approved_by=world.rita, approved_at="2026-01-01T00:00Z")
    Verdict.objects.filter(pk__in=settled[120:125]).update(method="adjudicated", decided_by=world.rita)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE annotate_verdict")
    with CaptureQueriesContext(connection) as asked:
        truth = next(row for row in ground_truth(world.project) if row["key"] == "grade")
    told = {"settled": 2000, "waiting": 2000, "majority": 1995, "adjudicated": 5, "unanimous": 0, "approved": 30}
    assert {**truth, **told, "single": 1965} == truth
    counting = [query["sql"] for query in asked if "COUNT(" in query["sql"]]
    ran = [node for sql in counting for node in nodes(plan_of(sql)) if node["Actual Loops"]]
    read = [node["Node Type"] for node in ran if node.get("Relation Name") == "annotate_verdict"]
    assert read == ["Index Only Scan"] * 3
