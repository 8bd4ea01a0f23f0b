"""Which expertise a sample needs."""

from __future__ import annotations

from collections.abc import Collection

from django.db import connection
from django.utils.translation import gettext as _

from annotate.errors import Invalid

# By hand: Django would take a key such as "7" for a place in a list.
_TAGS = """
    SELECT id, external_id, metadata ->> %(key)s::text, jsonb_typeof(metadata -> %(key)s::text)
      FROM annotate_sample WHERE id = ANY(%(samples)s) AND metadata ? %(key)s::text
"""


def sample_tags(key: str, samples: Collection[int]) -> dict[int, str]:
    """By sample the value of the metadata key as text. Of a sample without one, or with null or "": nothing.

    Raises Invalid for a list or an object: no member's tag could ever equal it.
    """
    if not key:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_TAGS, {"key": key, "samples": list(samples)})
        rows = cursor.fetchall()
    for _pk, name, _text, kind in rows:
        if kind in ("array", "object"):
            said = _("“%(key)s” of sample “%(sample)s” holds a list or an object; an expertise is one text or number.")
            raise Invalid("bad_tag", said % {"key": key, "sample": name[:80]})
    return {pk: text for pk, _name, text, _kind in rows if text}
