"""Steps of migrations over tables that people write to all day: nobody waits for them. Their migrations are not atomic.

A build that was cut off leaves an index that nobody uses, so each is first dropped if it is there: such a migration may
be run again.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.operations.base import Operation


def index_made(model: str, index: models.Index) -> list[Operation]:
    gone = f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}"
    return [migrations.RunSQL(gone, migrations.RunSQL.noop), AddIndexConcurrently(model, index)]


def index_of_key_gone(table: str, key: str, index: str, field: models.Field) -> Operation:
    """table: app and model, `annotate_label`. key: the foreign key's name; field: as it is without the index.

    Only the index goes. Django's own AlterField would make the foreign key again as well, and check all rows for it.
    """
    again = f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {index} ON {table} ({key}_id)"
    return migrations.SeparateDatabaseAndState(
        state_operations=[migrations.AlterField(table.split("_", 1)[1], key, field)],
        database_operations=[migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {index}", again)],
    )
