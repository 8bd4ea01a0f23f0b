"""Jobs that are under way are found among all that ever were."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0043_no_plain_former_names")]

    operations = [
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("status__in", ("waiting", "running"))),
                fields=["kind", "created_at"],
                name="job_to_do",
            ),
        ),
    ]
