"""What an experiment's rule was stays as it was, until its project is deleted."""

from django.db import migrations

_STAYS = """
CREATE TRIGGER experimentrule_stays BEFORE UPDATE OR DELETE ON systems_experimentrule
 FOR EACH ROW EXECUTE FUNCTION systems_stays(
    'SELECT e.project_id FROM systems_experiment e WHERE e.id = ($1).experiment_id');
"""


class Migration(migrations.Migration):
    dependencies = [
        ("systems", "0004_experiments"),
    ]

    operations = [
        migrations.RunSQL(_STAYS, "DROP TRIGGER experimentrule_stays ON systems_experimentrule"),
    ]
