from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0020_audits_leave_out"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="criterion",
            name="criterion_scale_known",
        ),
        migrations.AlterField(
            model_name="criterion",
            name="scale",
            field=models.CharField(
                choices=[
                    ("binary", "Binary"),
                    ("nominal", "Nominal"),
                    ("ordinal", "Ordinal"),
                    ("interval", "Interval"),
                    ("multi", "Multi-select"),
                    ("text", "Free text"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="criterion",
            constraint=models.CheckConstraint(
                condition=models.Q(("scale__in", ["binary", "nominal", "ordinal", "interval", "multi", "text"])),
                name="criterion_scale_known",
            ),
        ),
    ]
