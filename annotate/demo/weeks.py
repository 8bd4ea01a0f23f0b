"""Twelve weeks of the demo: a first batch in week 1, the baseline in weeks 2 to 6, then a batch of each week's answers.

What is done here has the times at which it would have been done, so that figures by time show the weeks. Only the trail
keeps the time at which the demo was loaded.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from annotate.batches.steps import close_batch
from annotate.core.rows import execute
from annotate.demo import DEMO_FOLDER
from annotate.demo.batches import Done, open_for_annotators, settle_disputes, submit, tasks_of
from annotate.models import Batch, Project, User

LAST = 12
BASELINE = range(2, 7)
#: Each of these weeks has a batch of its own answers.
AUDITS = range(7, LAST + 1)
_ASKED = ("support", "relevancy")
_ANNOTATORS_EACH = 2


class Weeks:
    """The weeks before this one, with what people say in them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
        self._first = today - timedelta(days=today.weekday(), weeks=LAST)
        self._said = _rows_by_sample("weeks_labels.jsonl")
        self._decided = _rows_by_sample("weeks_decisions.jsonl")

    def end_of(self, week: int) -> datetime:
        """Its Friday, when all is labelled and decided."""
        return self._first + timedelta(weeks=week - 1, days=4, hours=17)

    def date_samples(self) -> None:
        """Each sample came when its week began; those without a week in week 1, but for what no batch has."""
        execute(_DATE_SAMPLES, {"project": self.project.pk, "first": self._first})

    def draw(self, name: str, weeks: Iterable[int]) -> Batch:
        """A draw of all answers of these weeks, which are all that came since."""
        names = [name for week in weeks for name in self._names(week)]
        chosen = {"method": "list", "samples": names}
        return self._labelled(name, selection=chosen, chances=dict.fromkeys(names, (1.0, 1)))

    def audit(self, week: int) -> Batch:
        """What the assistant answered in this week."""
        return self._labelled(f"Week {week}", selection={"method": "filter", "filter": {"week": week}})

    def adjudicate(self, batch: Batch) -> None:
        """The reviewer decides what the labels of the batch don't."""
        settle_disputes(
            batch,
            {
                (row["sample_id"], row["criterion"], row["unit"]): (row["value"], row["reason"])
                for rows in self._decided.values()
                for row in rows
            },
        )
        execute(_DATE_DECISIONS, [batch.pk])

    def close(self, batch: Batch) -> None:
        """On the evening of the day of its last label."""
        alma = User.objects.get(username="alma")
        close_batch(batch=batch, actor=alma)
        execute(_DATE_END, [batch.pk])

    def _names(self, week: int) -> list[str]:
        found = self.project.samples.filter(metadata__week=week).order_by("id")
        return list(found.values_list("external_id", flat=True))

    def _labelled(self, name: str, **chosen: Any) -> Batch:
        batch = open_for_annotators(self.project, name, overlap=_ANNOTATORS_EACH, criteria=_ASKED, **chosen)
        done = {}
        for task in tasks_of(batch):
            for row in self._said[task.sample.external_id]:
                if task.annotator and row["rater"] == task.annotator.username:
                    until = self._first + timedelta(seconds=row["after"])
                    done[task] = Done(list(_labels(row)), until - timedelta(seconds=row["seconds"]), until)
        submit(batch, done)
        return batch


def _labels(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    said = row.get("comments", {})
    for at, value in enumerate(row["support"]):
        unit = f"claim:{at}"
        yield {"unit": unit, "criterion": "support", "value": value, "comment": said.get(unit, "")}
    yield {"unit": "answer", "criterion": "relevancy", "value": row["relevancy"]}


def _rows_by_sample(name: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with (DEMO_FOLDER / name).open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            found[row["sample_id"]].append(row)
    return found


_DATE_SAMPLES = """
    UPDATE annotate_sample s
       SET created_at = least(now(), %(first)s + interval '6 hours'
                                     + (coalesce((metadata ->> 'week')::int, 1) - 1) * interval '7 days')
     WHERE s.project_id = %(project)s
       AND (metadata ? 'week' OR EXISTS (SELECT FROM annotate_batchsample b WHERE b.sample_id = s.id))
"""
# Two hours after the last label of the sample.
_DATE_DECISIONS = """
    UPDATE annotate_verdict v SET decided_at = t.last + interval '2 hours', updated_at = t.last + interval '2 hours'
      FROM (SELECT batch_id, sample_id, max(submitted_at) AS last FROM annotate_task GROUP BY batch_id, sample_id) AS t
     WHERE v.batch_id = %s AND v.method = 'adjudicated' AND t.batch_id = v.batch_id AND t.sample_id = v.sample_id
"""
_DATE_END = """
    UPDATE annotate_batch b SET closed_at = (
        SELECT date_trunc('day', max(submitted_at)) + interval '18 hours' FROM annotate_task t WHERE t.batch_id = b.id)
     WHERE b.id = %s
"""
