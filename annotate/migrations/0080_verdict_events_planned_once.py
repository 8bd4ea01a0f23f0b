from django.db import migrations

# As in 0070, but what logs new verdicts is planned once per connection: it joins nothing, so its plan is good for any
# number of rows. Nearly every finished sample makes one verdict, and parsing and planning took longer than writing.
#
# What logs changed ones is still planned for the rows that it has: a plan kept from a first, empty statement compares
# every row with every other.
_LOGGED = """
        INSERT INTO annotate_verdictevent
               (verdict_id, revision, state, value, method, votes, confidence, reason, actor_id, created_at)
        SELECT n.id, n.revision, n.state, n.value, n.method, n.votes, n.confidence, n.reason,
               -- A decision that was reopened is the rule's doing, not that of the reviewer who made it.
               CASE WHEN n.state = 'settled' AND n.method IN ('adjudicated', 'accepted', 'dawid_skene')
                    THEN n.decided_by_id ELSE n.approved_by_id END,
               statement_timestamp()
          FROM now_there n"""
_ONLY_CHANGED = """
          JOIN before b USING (id)
         WHERE (n.revision, n.state, n.value, n.method, n.votes, n.confidence, n.reason, n.decided_by_id,
                n.approved_by_id)
               IS DISTINCT FROM
               (b.revision, b.state, b.value, b.method, b.votes, b.confidence, b.reason, b.decided_by_id,
                b.approved_by_id)"""


def _function(on_insert: str) -> str:
    return f"""
CREATE OR REPLACE FUNCTION annotate_log_verdicts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM now_there) THEN
        RETURN NULL;
    ELSIF TG_OP = 'INSERT' THEN
        {on_insert};
    ELSE
        EXECUTE $logged${_LOGGED}{_ONLY_CHANGED}$logged$;
    END IF;
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("annotate", "0071_consensus_threshold")]

    operations = [migrations.RunSQL(_function(_LOGGED), _function(f"EXECUTE $logged${_LOGGED}$logged$"))]
