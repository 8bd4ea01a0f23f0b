"""What one person did is read along an index of theirs, the newest first, which takes the place of the one of persons."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0045_what_waits")]

    operations = [
        migrations.AddIndex(
            model_name="labelevent",
            index=models.Index(fields=["actor", "-created_at"], name="label_event_by_actor"),
        ),
        migrations.AddIndex(
            model_name="verdictevent",
            index=models.Index(
                fields=["actor", "-created_at"],
                condition=models.Q(("actor__isnull", False)),
                name="verdict_event_by_actor",
            ),
        ),
        migrations.AlterField(
            model_name="labelevent",
            name="actor",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="verdictevent",
            name="actor",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]
