"""Indexes of asks and scores that another index begins with, or that nobody reads by: each is written with every score.

An ask that somebody has in hand is looked for by its run, and of those that are done only the failed ones are listed.
"""

import django.db.models.deletion
from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import Q

from annotate.migration_steps import index_made, index_of_key_gone

_KEEP = django.db.models.deletion.PROTECT
_IN_HAND = models.Index(fields=["run"], condition=Q(state="leased"), name="ask_in_hand")
_FAILED = models.Index(fields=["run", "id"], condition=Q(state="done") & ~Q(status="ok"), name="ask_failed")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ("annotate", "0081_no_index_twice"),
        ("judges", "0008_asks_written_once"),
    ]

    operations = [
        *index_made("ask", _IN_HAND),
        *index_made("ask", _FAILED),
        RemoveIndexConcurrently("ask", "ask_leased"),
        RemoveIndexConcurrently("ask", "ask_of_run"),
        index_of_key_gone(
            "judges_ask",
            "run",
            "judges_ask_run_id_ce8b0f0a",
            models.ForeignKey("judges.run", on_delete=_KEEP, related_name="asks", db_index=False),
        ),
        index_of_key_gone(
            "judges_ask",
            "sample",
            "judges_ask_sample_id_177122c6",
            models.ForeignKey("annotate.sample", on_delete=_KEEP, related_name="+", db_index=False),
        ),
        index_of_key_gone(
            "judges_score",
            "version",
            "judges_score_version_id_6575ac2d",
            models.ForeignKey("judges.judgeversion", on_delete=_KEEP, related_name="scores", db_index=False),
        ),
    ]
