from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judges", "0007_canaries_and_claims")]

    operations = [
        migrations.AddField("run", "expected", models.PositiveIntegerField(blank=True, null=True)),
        migrations.AddField("run", "in_hand_to", models.BigIntegerField(blank=True, null=True)),
    ]
