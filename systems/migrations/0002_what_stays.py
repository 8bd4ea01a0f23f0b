"""What was frozen, and what a question once said, stays as it is until its project is deleted."""

from django.db import migrations

# As `annotate_refuse_rewriting` does. The trigger's argument finds the project of the old row, which is `$1`.
_STAYS = """
CREATE FUNCTION systems_stays() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE stands boolean;
BEGIN
    IF TG_OP = 'DELETE' THEN
        EXECUTE 'SELECT EXISTS (SELECT FROM annotate_project p WHERE p.id = (' || TG_ARGV[0] || '))' INTO stands USING OLD;
        IF NOT stands THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION '% on % is refused: what is written there stays as it is', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = 'See docs/decisions/0053-questions-versions-responses.md.';
END $$;
"""
_PROJECT_OF = {
    "questionrevision": "SELECT q.project_id FROM systems_question q WHERE q.id = ($1).question_id",
    "frozenset": "SELECT s.project_id FROM systems_questionset s WHERE s.id = ($1).question_set_id",
    "frozenquestion": (
        "SELECT s.project_id FROM systems_questionset s JOIN systems_frozenset f ON f.question_set_id = s.id"
        " WHERE f.id = ($1).frozen_set_id"
    ),
}
_TRIGGERS = "".join(
    f"CREATE TRIGGER {table}_stays BEFORE UPDATE OR DELETE ON systems_{table}"
    f" FOR EACH ROW EXECUTE FUNCTION systems_stays('{project}');\n"
    for table, project in _PROJECT_OF.items()
)
_GO = "".join(f"DROP TRIGGER {table}_stays ON systems_{table};\n" for table in _PROJECT_OF)


class Migration(migrations.Migration):
    dependencies = [
        ("systems", "0001_tables"),
    ]

    operations = [
        migrations.RunSQL(_STAYS + _TRIGGERS, _GO + "DROP FUNCTION systems_stays();"),
    ]
