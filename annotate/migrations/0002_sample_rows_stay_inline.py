"""Samples of a few kilobytes stay in their row uncompressed: compressing each one was a third of an import's time."""

from typing import ClassVar

from django.db import migrations


class Migration(migrations.Migration):
    dependencies: ClassVar = [("annotate", "0001_initial")]

    operations: ClassVar = [
        migrations.RunSQL(
            "ALTER TABLE annotate_sample SET (toast_tuple_target = 8160)",
            "ALTER TABLE annotate_sample RESET (toast_tuple_target)",
        ),
    ]
