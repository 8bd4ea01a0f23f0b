"""What a token may do, of what its account may. Tokens of before may do all of it, as they did."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0031_second_factors"),
    ]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=8), db_default=["admin"], size=None
            ),
        ),
        migrations.AddConstraint(
            model_name="apitoken",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("scopes__contained_by", ["read", "label", "push", "admin"]), ("scopes__len__gte", 1)
                ),
                name="token_scopes_known",
            ),
        ),
    ]
