"""Digests of deleted people's names and addresses depend on SECRET_KEY: without it a list of addresses undoes no pseudonym."""

from django.core.signing import Signer
from django.db import migrations

# A SHA-256 in hexadecimal digits; what takes its place is shorter.
_PLAIN = 64


def _wrap(apps, schema_editor):
    """The names are gone, so what is keyed is the digest, and DeletedAccount.digest does both."""
    signer = Signer(salt="annotate.former_names")
    for row in apps.get_model("annotate", "DeletedAccount").objects.iterator():
        row.former = sorted(signer.signature(one) if len(one) == _PLAIN else one for one in row.former)
        row.save(update_fields=["former"])


class Migration(migrations.Migration):
    dependencies = [("annotate", "0041_tasks_counted_in_an_index")]

    operations = [migrations.RunPython(_wrap, migrations.RunPython.noop)]
