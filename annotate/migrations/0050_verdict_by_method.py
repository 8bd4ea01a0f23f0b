"""How verdicts were settled is counted in an index, which takes the place of the one of their criterion."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0049_labels_under_guidelines"),
    ]

    operations = [
        migrations.AlterField(
            model_name="verdict",
            name="criterion",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="verdicts",
                to="annotate.criterion",
            ),
        ),
        migrations.AddIndex(
            model_name="verdict",
            index=models.Index(fields=["criterion", "state", "method"], name="verdict_by_method"),
        ),
    ]
