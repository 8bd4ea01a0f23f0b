"""Defaults that 0004 gives from the start, for databases that went through it when it didn't: a process of the version
before knows nothing of these columns, and its rows must still be taken while an upgrade is under way."""

from django.db import migrations

_DEFAULTS = {
    "batch": {
        "consensus": "'majority'",
        "gold_feedback": "false",
        "gold_share": "0",
        "lease_minutes": "30",
        "overlap_share": "1",
        "repeat_share": "0",
        "strategy": "'balanced'",
        "tag_key": "''",
    },
    "batchsample": {
        "overlap": "1",
        "tag": "''",
    },
    "task": {
        "purpose": "'label'",
        "return_message": "''",
        "tag": "''",
    },
}


class Migration(migrations.Migration):
    dependencies = [("annotate", "0062_trail_indexes")]

    operations = [
        migrations.RunSQL(
            f"ALTER TABLE annotate_{table} "
            + ", ".join(f"ALTER COLUMN {name} SET DEFAULT {value}" for name, value in defaults.items()),
            migrations.RunSQL.noop,
        )
        for table, defaults in _DEFAULTS.items()
    ]
