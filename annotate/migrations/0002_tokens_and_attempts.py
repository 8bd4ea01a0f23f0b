"""Tokens get a name and when they were last used; those that there are move over from knox's own table. And a place to
count wrong passwords."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

_MOVE = """
INSERT INTO annotate_apitoken (digest, token_key, created, expiry, user_id, name)
SELECT digest, token_key, created, expiry, user_id, '' FROM knox_authtoken;
DELETE FROM knox_authtoken;
"""
_MOVE_BACK = """
INSERT INTO knox_authtoken (digest, token_key, created, expiry, user_id)
SELECT digest, token_key, created, expiry, user_id FROM annotate_apitoken;
"""


class Migration(migrations.Migration):
    dependencies = [("annotate", "0001_tables"), ("knox", "0009_extend_authtoken_field")]

    operations = [
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("digest", models.CharField(max_length=128, primary_key=True, serialize=False)),
                ("token_key", models.CharField(db_index=True, max_length=25)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("expiry", models.DateTimeField(blank=True, null=True)),
                ("name", models.CharField(blank=True, db_default="", max_length=80)),
                ("last_used", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="auth_token_set",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        migrations.CreateModel(
            name="Attempts",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("until", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "attempts",
                "indexes": [models.Index(fields=["until"], name="attempts_until")],
            },
        ),
        migrations.RunSQL(_MOVE, _MOVE_BACK),
    ]
