"""Who is behind a session: asked at every request, so it is one statement by hand."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.db import connection

from annotate.models import User

_FIELDS = [field.attname for field in User._meta.concrete_fields]
_COLUMNS = ", ".join(f'"{field.column}"' for field in User._meta.concrete_fields)
# JSON comes as text from a statement by hand; the field knows how to read it.
_READ = [getattr(field, "from_db_value", None) for field in User._meta.concrete_fields]
_SELECT = f'SELECT {_COLUMNS} FROM "{User._meta.db_table}" WHERE id = %s'


class AccountBackend(ModelBackend):
    """Django's own, but for the look-up by id: building that query anew each time costs more than running it."""

    def get_user(self, user_id: Any) -> User | None:
        with connection.cursor() as cursor:
            cursor.execute(_SELECT, [user_id])
            row = cursor.fetchone()
        if row is None:
            return None
        values = [
            value if read is None else read(value, None, connection) for value, read in zip(row, _READ, strict=True)
        ]
        user = User.from_db(connection.alias, _FIELDS, values)
        return user if self.user_can_authenticate(user) else None
