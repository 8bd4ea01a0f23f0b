"""When a report was last what the data give: pages show that one without counting what it rests on. Of reports of
before, when they were made."""

from django.db import migrations, models
from django.db.models import F
from django.db.models.functions import Now


def as_made(apps, schema_editor):
    apps.get_model("judges", "AlignmentReport").objects.update(present_at=F("created_at"))


class Migration(migrations.Migration):
    dependencies = [
        ("judges", "0010_noted_ends"),
    ]

    operations = [
        migrations.AddField(
            model_name="alignmentreport",
            name="present_at",
            field=models.DateTimeField(db_default=Now()),
        ),
        migrations.RunPython(as_made, migrations.RunPython.noop),
    ]
