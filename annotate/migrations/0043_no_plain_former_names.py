"""A plain digest doesn't fit any more: a process of the version before, which would write one, fails instead."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    # Not in 0042: a table whose rows have just changed can't be altered in the same transaction.
    dependencies = [("annotate", "0042_keyed_former_names")]

    operations = [
        migrations.AlterField(
            model_name="deletedaccount",
            name="former",
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=43), size=None),
        ),
    ]
