"""Indexes of foreign keys that another index begins with, or that nobody reads by: the labelling loop wrote each of them
at every choice, and a task's twice."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from annotate.migration_steps import index_of_key_gone

_KEEP = django.db.models.deletion.PROTECT


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ("annotate", "0080_verdict_events_planned_once"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        index_of_key_gone(
            "annotate_label",
            "task",
            "annotate_label_task_id_09cb8f55",
            models.ForeignKey(
                "annotate.task", on_delete=_KEEP, related_name="labels", null=True, blank=True, db_index=False
            ),
        ),
        index_of_key_gone(
            "annotate_label",
            "criterion",
            "annotate_label_criterion_id_d6dbaed9",
            models.ForeignKey("annotate.criterion", on_delete=_KEEP, related_name="labels", db_index=False),
        ),
        index_of_key_gone(
            "annotate_labelevent",
            "label",
            "annotate_labelevent_label_id_b081deed",
            models.ForeignKey("annotate.label", on_delete=_KEEP, related_name="events", db_index=False),
        ),
        index_of_key_gone(
            "annotate_verdict",
            "sample",
            "annotate_verdict_sample_id_2619c184",
            models.ForeignKey("annotate.sample", on_delete=_KEEP, related_name="verdicts", db_index=False),
        ),
        index_of_key_gone(
            "annotate_verdictevent",
            "verdict",
            "annotate_verdictevent_verdict_id_ffc32e12",
            models.ForeignKey("annotate.verdict", on_delete=_KEEP, related_name="events", db_index=False),
        ),
        index_of_key_gone(
            "annotate_task",
            "returned_by",
            "annotate_task_returned_by_id_5787224b",
            models.ForeignKey(
                settings.AUTH_USER_MODEL, on_delete=_KEEP, related_name="+", null=True, blank=True, db_index=False
            ),
        ),
    ]
