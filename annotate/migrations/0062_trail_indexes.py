"""The indexes that the trail is read by, made while everybody goes on labelling: the log of labels is the largest table.

It may be run again, also over one that made these indexes while nobody could write.
"""

from django.db import migrations, models

from annotate.migration_steps import index_made

_INDEXES = {
    "labelevent": models.Index(fields=["-created_at", "-id"], name="label_event_by_time"),
    "verdictevent": models.Index(fields=["-created_at", "-id"], name="verdict_event_by_time"),
    "auditentry": models.Index(fields=["project", "-created_at", "-id"], name="audit_by_project_and_time"),
}


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("annotate", "0061_events_of_old_verdicts")]

    operations = [
        *[step for model, index in _INDEXES.items() for step in index_made(model, index)],
        # What it was read by before; of a database that went through an earlier form of 0060 it is gone already.
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveIndex("auditentry", "audit_by_project")],
            database_operations=[
                migrations.RunSQL(
                    "DROP INDEX CONCURRENTLY IF EXISTS audit_by_project",
                    "CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_by_project"
                    " ON annotate_auditentry (project_id, id DESC)",
                )
            ],
        ),
    ]
