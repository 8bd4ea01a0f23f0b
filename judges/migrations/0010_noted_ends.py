"""What the audit log last said of a certificate: why it has ended, or that it holds."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("judges", "0009_report_links"),
    ]

    operations = [
        migrations.AddField(
            model_name="certificate",
            name="noted_end",
            field=models.CharField(blank=True, db_default="", default="", max_length=60),
        ),
    ]
