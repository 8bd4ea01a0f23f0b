from django.db import migrations, models

# Whatever writes a verdict, a service, a bulk statement or a hand at psql, its states are logged by the database. Once a
# statement, not once a row: settling a million units writes their events in one go.
#
# EXECUTE, so that each statement is planned for the rows that it has: a plan kept from a first, empty one compares every
# row with every other.
_LOG = """
CREATE FUNCTION annotate_log_verdicts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    logged constant text := '
        INSERT INTO annotate_verdictevent
               (verdict_id, revision, state, value, method, votes, confidence, reason, actor_id, created_at)
        SELECT n.id, n.revision, n.state, n.value, n.method, n.votes, n.confidence, n.reason,
               -- A decision that was reopened is the rule''s doing, not that of the reviewer who made it.
               CASE WHEN n.state = ''settled'' AND n.method IN (''adjudicated'', ''accepted'', ''dawid_skene'')
                    THEN n.decided_by_id END,
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
         WHERE (n.revision, n.state, n.value, n.method, n.votes, n.confidence, n.reason, n.decided_by_id)
               IS DISTINCT FROM
               (b.revision, b.state, b.value, b.method, b.votes, b.confidence, b.reason, b.decided_by_id)';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER verdict_made AFTER INSERT ON annotate_verdict REFERENCING NEW TABLE AS now_there
    FOR EACH STATEMENT EXECUTE FUNCTION annotate_log_verdicts();
CREATE TRIGGER verdict_changed AFTER UPDATE ON annotate_verdict
    REFERENCING OLD TABLE AS before NEW TABLE AS now_there
    FOR EACH STATEMENT EXECUTE FUNCTION annotate_log_verdicts();
"""
_NO_LOG = """
DROP TRIGGER verdict_made ON annotate_verdict;
DROP TRIGGER verdict_changed ON annotate_verdict;
DROP FUNCTION annotate_log_verdicts();
"""

# TRUNCATE is left alone: it needs the table's owner, and tests clean up with it.
_REFUSE = """
CREATE FUNCTION annotate_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: what is written there stays as it is', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = 'See docs/decisions/0008-the-trail.md.';
END $$;
"""
_LOGS = ("labelevent", "verdictevent", "auditentry", "claimedit")
# Rows that change while they live, and never go: what was said, what was decided, what left the house.
_KEPT = ("label", "verdict", "release")


_STAYS = (
    "CREATE TRIGGER {0}_stays BEFORE {1} ON annotate_{0} FOR EACH ROW EXECUTE FUNCTION annotate_refuse_rewriting();"
)


def _trigger(table: str, what: str) -> tuple[str, str]:
    return _STAYS.format(table, what), f"DROP TRIGGER {table}_stays ON annotate_{table};"


_TRIGGERS = [_trigger(table, "UPDATE OR DELETE") for table in _LOGS] + [_trigger(table, "DELETE") for table in _KEPT]


class Migration(migrations.Migration):
    dependencies = [("annotate", "0050_adjudication_fill")]

    operations = [
        migrations.AddField(
            "labelevent",
            "carried_from",
            models.ForeignKey(
                "annotate.label", on_delete=models.PROTECT, related_name="+", null=True, blank=True, db_index=False
            ),
        ),
        migrations.RunSQL(_LOG, _NO_LOG),
        migrations.RunSQL(_REFUSE, "DROP FUNCTION annotate_refuse_rewriting();"),
        *[migrations.RunSQL(there, back) for there, back in _TRIGGERS],
    ]
