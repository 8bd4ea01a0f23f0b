"""Entries of before the chains are chained in their order, by the trigger of all others. Batch by batch, each kept when
it is done: what is interrupted goes on where it was."""

from typing import Any

from django.db import migrations, transaction

_BATCH = 5000
_NEXT = f"""
UPDATE annotate_auditentry SET position = -1 WHERE id IN (
    SELECT id FROM annotate_auditentry WHERE position IS NULL ORDER BY id LIMIT {_BATCH})
"""


def _chain_all(apps: Any, editor: Any) -> None:
    with editor.connection.cursor() as cursor:
        chained = _BATCH
        while chained == _BATCH:
            with transaction.atomic(editor.connection.alias):
                cursor.execute("ALTER TABLE annotate_auditentry DISABLE TRIGGER auditentry_unchanged")
                cursor.execute(_NEXT)
                chained = cursor.rowcount
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute("SET CONSTRAINTS ALL DEFERRED")
                cursor.execute("ALTER TABLE annotate_auditentry ENABLE TRIGGER auditentry_unchanged")
        # The trigger finds its entries by an index, once the statistics know that there are few.
        cursor.execute("ANALYZE annotate_auditentry, annotate_auditchain")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("annotate", "0033_hash_chain"),
    ]

    operations = [
        migrations.RunPython(_chain_all, migrations.RunPython.noop, elidable=True),
    ]
