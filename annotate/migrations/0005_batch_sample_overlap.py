"""Until now every sample of a batch was labelled by as many people."""

from typing import ClassVar

from django.db import migrations


class Migration(migrations.Migration):
    dependencies: ClassVar = [("annotate", "0004_campaigns")]

    operations: ClassVar = [
        migrations.RunSQL(
            "UPDATE annotate_batchsample s SET overlap = b.overlap FROM annotate_batch b WHERE b.id = s.batch_id",
            migrations.RunSQL.noop,
        ),
    ]
