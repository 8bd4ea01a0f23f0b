"""How many tasks of a batch are in which state is counted in an index, which touches no row."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0040_lists_from_row_to_row"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="task",
            index=models.Index(fields=["batch", "purpose", "status"], name="task_by_status"),
        ),
    ]
