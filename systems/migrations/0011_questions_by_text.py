"""Questions are found by what they say."""

from django.contrib.postgres.indexes import HashIndex
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("systems", "0010_side_by_side"),
    ]

    operations = [
        migrations.AddIndex(model_name="questionrevision", index=HashIndex(fields=["text"], name="question_by_text")),
    ]
