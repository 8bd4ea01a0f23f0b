import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# As in 0060; whoever approved what a rule settled is the actor of that event.
_LOG = """
CREATE OR REPLACE FUNCTION annotate_log_verdicts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    logged constant text := '
        INSERT INTO annotate_verdictevent
               (verdict_id, revision, state, value, method, votes, confidence, reason, actor_id, created_at)
        SELECT n.id, n.revision, n.state, n.value, n.method, n.votes, n.confidence, n.reason,
               -- A decision that was reopened is the rule''s doing, not that of the reviewer who made it.
               CASE WHEN n.state = ''settled'' AND n.method IN (''adjudicated'', ''accepted'', ''dawid_skene'')
                    THEN n.decided_by_id {approver} END,
               statement_timestamp()
          FROM now_there n ';
BEGIN
    IF NOT EXISTS (SELECT FROM now_there) THEN
        RETURN NULL;
    ELSIF TG_OP = 'INSERT' THEN
        EXECUTE logged;
    ELSE
        EXECUTE logged || '
          JOIN before b USING (id)
         WHERE (n.revision, n.state, n.value, n.method, n.votes, n.confidence, n.reason, n.decided_by_id{new})
               IS DISTINCT FROM
               (b.revision, b.state, b.value, b.method, b.votes, b.confidence, b.reason, b.decided_by_id{old})';
    END IF;
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("annotate", "0063_database_defaults")]

    operations = [
        migrations.AddField("verdict", "approved_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField(
            "verdict",
            "approved_by",
            models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            "verdict",
            models.CheckConstraint(
                condition=models.Q(approved_by__isnull=True, approved_at__isnull=True)
                | models.Q(
                    approved_by__isnull=False,
                    approved_at__isnull=False,
                    state="settled",
                    method__in=["unanimous", "majority"],
                ),
                name="verdict_approved_as_ruled",
            ),
        ),
        migrations.RunSQL(
            _LOG.format(approver="ELSE n.approved_by_id", new=", n.approved_by_id", old=", b.approved_by_id"),
            _LOG.format(approver="", new="", old=""),
        ),
    ]
