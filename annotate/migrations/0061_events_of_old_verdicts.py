from django.db import migrations

# A verdict made before verdicts were logged gets one event: what it was when the log began, at its last change.
_BACKFILL = """
    INSERT INTO annotate_verdictevent
           (verdict_id, revision, state, value, method, votes, confidence, reason, actor_id, created_at)
    SELECT id, revision, state, value, method, votes, confidence, reason,
           CASE WHEN state = 'settled' AND method IN ('adjudicated', 'accepted', 'dawid_skene') THEN decided_by_id END,
           updated_at
      FROM annotate_verdict v
     WHERE NOT EXISTS (SELECT FROM annotate_verdictevent e WHERE e.verdict_id = v.id)
"""


class Migration(migrations.Migration):
    dependencies = [("annotate", "0060_the_trail")]

    operations = [migrations.RunSQL(_BACKFILL, migrations.RunSQL.noop)]
