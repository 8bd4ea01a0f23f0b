from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0028_import_kinds_of_retrieval"),
    ]

    operations = [
        migrations.AddField(
            model_name="sample",
            name="composed",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
