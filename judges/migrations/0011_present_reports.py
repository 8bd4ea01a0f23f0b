"""When a report was last what the data give: pages show that one without counting what it rests on."""

from django.db import migrations, models
from django.db.models.functions import Now


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
    ]
