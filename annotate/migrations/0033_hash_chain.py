"""Entries of the trail are chained by their hashes (decision 64)."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

from annotate.migrations._audit_content import CONTENT

# Deferred twice. Foreign keys are checked when the transaction ends, in the same round as the first call, and may wait
# for a row that another transaction holds; that one may wait for the chain. So the chain is locked in the round after,
# when nothing else is waited for. The first call of that round chains all entries of the transaction, in the order in
# which every transaction locks chains.
_CHAIN = f"""
CREATE FUNCTION annotate_chain_entries() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    of_project bigint;
    entry record;
    chain annotate_auditchain;
BEGIN
    IF NEW.position = 0 THEN
        UPDATE annotate_auditentry SET position = -1 WHERE id = NEW.id;
        RETURN NULL;
    END IF;
    IF (SELECT position FROM annotate_auditentry WHERE id = NEW.id) IS DISTINCT FROM -1 THEN
        RETURN NULL;
    END IF;
    FOR of_project IN
        SELECT DISTINCT project_id FROM annotate_auditentry WHERE position = -1 ORDER BY project_id NULLS FIRST
    LOOP
        INSERT INTO annotate_auditchain (project_id, length, hash)
        SELECT of_project, 0, ''
         WHERE NOT EXISTS (SELECT FROM annotate_auditchain WHERE project_id IS NOT DISTINCT FROM of_project)
            ON CONFLICT DO NOTHING;
        SELECT * INTO STRICT chain FROM annotate_auditchain
         WHERE project_id IS NOT DISTINCT FROM of_project FOR UPDATE;
        FOR entry IN
            SELECT e.id, {CONTENT} AS content FROM annotate_auditentry e
             WHERE e.position = -1 AND e.project_id IS NOT DISTINCT FROM of_project ORDER BY e.id
        LOOP
            chain.length := chain.length + 1;
            chain.hash := encode(sha256(convert_to(chain.hash || E'\\n' || entry.content, 'UTF8')), 'hex');
            UPDATE annotate_auditentry SET position = chain.length, hash = chain.hash WHERE id = entry.id;
        END LOOP;
        UPDATE annotate_auditchain SET length = chain.length, hash = chain.hash WHERE id = chain.id;
    END LOOP;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER auditentry_chained AFTER INSERT OR UPDATE OF position ON annotate_auditentry
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.position < 1) EXECUTE FUNCTION annotate_chain_entries();
"""
_UNCHAIN = """
DROP TRIGGER auditentry_chained ON annotate_auditentry;
DROP FUNCTION annotate_chain_entries();
"""

# The end of a chain is now: what is chained can't say that it was written yesterday.
_TIME = """
CREATE FUNCTION annotate_time_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.created_at := clock_timestamp();
    RETURN NEW;
END $$;
CREATE TRIGGER auditentry_timed BEFORE INSERT ON annotate_auditentry
    FOR EACH ROW WHEN (NEW.position = 0) EXECUTE FUNCTION annotate_time_entry();
"""
_UNTIME = """
DROP TRIGGER auditentry_timed ON annotate_auditentry;
DROP FUNCTION annotate_time_entry();
"""

# An entry that isn't chained yet may be given its place, and nothing else of it changes.
_SAID = ", ".join(f"{{0}}.{name}" for name in (
    "id", "project_id", "actor_id", "action", "subject", "details", "created_at",
))  # fmt: skip
_STAYS = f"""
DROP TRIGGER auditentry_stays ON annotate_auditentry;
CREATE TRIGGER auditentry_stays BEFORE DELETE ON annotate_auditentry
    FOR EACH ROW EXECUTE FUNCTION annotate_refuse_rewriting();
CREATE TRIGGER auditentry_unchanged BEFORE UPDATE ON annotate_auditentry FOR EACH ROW
    WHEN (OLD.position IS NULL OR OLD.position > 0 OR NEW.position IS NOT DISTINCT FROM OLD.position
          OR ({_SAID.format("NEW")}) IS DISTINCT FROM ({_SAID.format("OLD")}))
    EXECUTE FUNCTION annotate_refuse_rewriting();
"""
_STAYED = """
DROP TRIGGER auditentry_stays ON annotate_auditentry;
DROP TRIGGER auditentry_unchanged ON annotate_auditentry;
CREATE TRIGGER auditentry_stays BEFORE UPDATE OR DELETE ON annotate_auditentry
    FOR EACH ROW EXECUTE FUNCTION annotate_refuse_rewriting();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0032_token_scopes"),
    ]

    operations = [
        migrations.AddField("auditentry", "position", models.BigIntegerField(null=True)),
        migrations.AddField("auditentry", "hash", models.CharField(db_default="", default="", max_length=64)),
        migrations.AddConstraint(
            "auditentry",
            models.UniqueConstraint(
                condition=Q(("position__gt", 0)),
                fields=("project", "position"),
                name="audit_chained_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddIndex(
            "auditentry",
            models.Index(condition=Q(("position__lt", 1)), fields=["position"], name="audit_to_chain"),
        ),
        migrations.CreateModel(
            name="AuditChain",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("length", models.BigIntegerField()),
                ("hash", models.CharField(max_length=64)),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project",), name="audit_one_chain", nulls_distinct=False)
                ],
            },
        ),
        migrations.RunSQL(_CHAIN, _UNCHAIN),
        migrations.RunSQL(_TIME, _UNTIME),
        migrations.RunSQL(_STAYS, _STAYED),
    ]
