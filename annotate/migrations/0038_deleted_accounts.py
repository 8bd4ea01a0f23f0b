"""An account can be deleted: its person's votes get another name, and nothing else of them changes."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# What people voted, whatever they are called. OR REPLACE: where an older backup is restored, it is there already, as only
# functions of triggers go with their tables.
_NAMELESS = """
CREATE OR REPLACE FUNCTION annotate_without_names(votes jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_agg(vote - 'rater' ORDER BY n) FROM jsonb_array_elements(votes) WITH ORDINALITY AS all_votes (vote, n)
$$;
"""

# A vote whose rater has another name is the same vote: no event. Names are taken out only where nothing else differs.
_LOGGED = """
        INSERT INTO annotate_verdictevent
               (verdict_id, revision, state, value, method, votes, confidence, reason, actor_id, created_at)
        SELECT n.id, n.revision, n.state, n.value, n.method, n.votes, n.confidence, n.reason,
               CASE WHEN n.state = 'settled' AND n.method IN ('adjudicated', 'accepted', 'dawid_skene')
                    THEN n.decided_by_id ELSE n.approved_by_id END,
               statement_timestamp()
          FROM now_there n"""
_CHANGED = """
          JOIN before b USING (id)
         WHERE (n.revision, n.state, n.value, n.method, n.confidence, n.reason, n.decided_by_id, n.approved_by_id)
               IS DISTINCT FROM
               (b.revision, b.state, b.value, b.method, b.confidence, b.reason, b.decided_by_id, b.approved_by_id)
            OR n.votes IS DISTINCT FROM b.votes"""
_BUT_FOR_NAMES = " AND annotate_without_names(n.votes) IS DISTINCT FROM annotate_without_names(b.votes)"
_LOG = f"""
CREATE OR REPLACE FUNCTION annotate_log_verdicts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM now_there) THEN
        RETURN NULL;
    ELSIF TG_OP = 'INSERT' THEN
        {_LOGGED};
    ELSE
        EXECUTE $logged${_LOGGED}{_CHANGED}{{but}}$logged$;
    END IF;
    RETURN NULL;
END $$;
"""

# Of an event, the names in its votes may change, and nothing else.
_SAME_EVENT = ", ".join(f"{{0}}.{name}" for name in (
    "id", "verdict_id", "revision", "state", "value", "method", "confidence", "reason", "actor_id", "created_at",
))  # fmt: skip
_STAYS = f"""
DROP TRIGGER verdictevent_stays ON annotate_verdictevent;
CREATE TRIGGER verdictevent_stays BEFORE DELETE ON annotate_verdictevent
    FOR EACH ROW EXECUTE FUNCTION annotate_refuse_rewriting();
CREATE TRIGGER verdictevent_unchanged BEFORE UPDATE ON annotate_verdictevent FOR EACH ROW
    WHEN (({_SAME_EVENT.format("NEW")}) IS DISTINCT FROM ({_SAME_EVENT.format("OLD")})
          OR annotate_without_names(NEW.votes) IS DISTINCT FROM annotate_without_names(OLD.votes))
    EXECUTE FUNCTION annotate_refuse_rewriting();
"""
_STAYED = """
DROP TRIGGER verdictevent_stays ON annotate_verdictevent;
DROP TRIGGER verdictevent_unchanged ON annotate_verdictevent;
CREATE TRIGGER verdictevent_stays BEFORE UPDATE OR DELETE ON annotate_verdictevent
    FOR EACH ROW EXECUTE FUNCTION annotate_refuse_rewriting();
"""


class Migration(migrations.Migration):
    dependencies = [("annotate", "0037_jobs")]

    operations = [
        migrations.CreateModel(
            name="DeletedAccount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "former",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), size=None),
                ),
                ("deleted_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deleted_account",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.RunSQL(_NAMELESS, "DROP FUNCTION annotate_without_names(jsonb);"),
        migrations.RunSQL(_LOG.format(but=_BUT_FOR_NAMES), _LOG.format(but="")),
        migrations.RunSQL(_STAYS, _STAYED),
    ]
