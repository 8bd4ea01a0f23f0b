"""Looks keep which samples they rest on, for certificates to be applied and watched."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("judges", "0003_looks_certificates_evidence")]

    operations: ClassVar = [
        migrations.AddField(model_name="look", name="samples", field=models.JSONField(null=True)),
    ]
