"""How the texts of `tests.scripts` come into every text of the database, and what a page looks like in which one of
them was not written as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from zlib import crc32

from django.apps import apps
from django.core.validators import MaxLengthValidator, ProhibitNullCharactersValidator
from django.db import IntegrityError, OperationalError, connection, models, transaction

from tests.annotate.factories import rewriting_history
from tests.scripts import HOST, TEXTS

if TYPE_CHECKING:
    from playwright.sync_api import Page

# What stands in a page in which a text was not written as text.
FOUND = """(host) => {
  const found = window.ran === undefined ? [] : ["a script ran"];
  const addresses = ["href", "xlink:href", "src", "srcset", "action", "formaction", "data", "poster", "background"];
  const added = "#planted, base, iframe, frame, object, embed, meta[http-equiv=refresh i]";
  const say = (element, what) => found.push(`${what}: ${element.outerHTML.slice(0, 150)}`);
  for (const element of document.querySelectorAll("*")) {
    if (element.matches(added)) say(element, "added");
    for (const { name, value } of element.attributes) {
      if (/^on|hx-on/i.test(name)) say(element, name);
      if (/^(data-)?hx-/.test(name) && value.includes(host)) say(element, name);
      if (!addresses.includes(name)) continue;
      const plain = value.replace(/[\\x00-\\x20]/g, "");
      if (/^(javascript|vbscript|data:text)/i.test(plain)) say(element, name);
      if (plain.includes(host) && !element.matches("a[href]")) say(element, name);
    }
    if (element.matches("script[type='application/json']")) {
      try { JSON.parse(element.textContent); } catch { say(element, "ends early"); }
    } else if (element.matches("script:not([src]), style") && /window\\.ran|planted/.test(element.textContent)) {
      say(element, "ours");
    }
  }
  return found;
}"""


def found_in(page: Page) -> list[str]:
    found: list[str] = page.evaluate(FOUND, HOST)
    return [f"{page.url}: {what}" for what in found]


# What only the code writes, or what is compared with what only the code writes; wherever a field has such a name.
_OURS = """
    password digest token_key token_digest hash content_hash request_digest fingerprint judge_hash sha256 key unit
    action stop_code error_code error state method status language file_format stored_as dimension currency key_variable
    key_last4 noted_end secret issuer subject base_url data_version path primary plots
"""
# In JSON, texts without a blank are codes and names, but for these.
_IN_WORDS = "text label title description help comment reason rationale message quote"
# JSON that others write, names and values.
_FREE = "metadata conditions configuration documents entities key_facts earlier_turns headers body reply"


def texts() -> dict[str, Any]:
    """Every field of every model that has a text which is no code: "Model.field" -> the field."""
    return {
        f"{model.__name__}.{field.name}": field
        for model in apps.get_models()
        if model._meta.app_label in ("annotate", "judges", "systems")
        for field in model._meta.concrete_fields
        if isinstance(field, models.CharField | models.TextField | models.JSONField) and not _is_code(field)
    }


def _is_code(field: Any) -> bool:
    """Of a field with a validator, that is what refuses texts such as ours."""
    harmless = (MaxLengthValidator, ProhibitNullCharactersValidator)
    checked = [one for one in field.validators if not isinstance(one, harmless)]
    return bool(field.choices or checked or field.name in _OURS.split())


def plant() -> set[str]:
    """Into all of them, wherever a row has something there; where no row has, into every row that is to have a text.
    Returns the names of the fields that got one."""
    with rewriting_history():
        return {name for name, field in texts().items() if _planted(field)}


def _planted(field: Any) -> bool:
    rows = dict(field.model._default_manager.values_list("pk", field.attname))
    filled = {pk: value for pk, value in rows.items() if value}
    if isinstance(field, models.JSONField):
        made = {pk: _within(value, everything=field.name in _FREE.split()) for pk, value in filled.items()}
        changed = {pk: json.dumps(value) for pk, value in made.items() if value != filled[pk]}
        return bool(changed) and _write(field, "jsonb", changed)
    values = filled or dict.fromkeys(rows, "")
    # Of many rows each gets a part, or pages grow to megabytes.
    count = len(TEXTS) // 4 if len(values) > 20 else len(TEXTS)
    # An index holds no more than 2,700 bytes.
    return any(
        _write(field, "text", {pk: some(value, most, count) for pk, value in values.items()})
        for most in ((field.max_length,) if field.max_length else (None, 1000))
    )


def _write(field: Any, kind: str, values: dict[Any, str]) -> bool:
    meta = field.model._meta
    table, column, key = (connection.ops.quote_name(name) for name in (meta.db_table, field.column, meta.pk.column))
    keys = meta.pk.db_type(connection).split(" ")[0]
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {table} SET {column} = made.value::{kind}"
                f" FROM unnest(%s::{keys}[], %s::text[]) made(pk, value) WHERE {key} = made.pk",
                [list(values), list(values.values())],
            )
    except (IntegrityError, OperationalError):
        return False
    return bool(values)


def some(text: str, most: int | None, count: int = len(TEXTS)) -> str:
    """The text and so many of the others, or the first that finds room; from another one on for each text. The same
    text gets the same, so that what refers to a name still does."""
    start = crc32(text.encode()) % len(TEXTS)
    others = [*TEXTS[start:], *TEXTS[:start]]
    if most is None:
        return "\n\n".join([text, *others[:count]])
    return next((f"{text} {one}" for one in others if len(text) + 1 + len(one) <= most), text)


def _within(value: Any, key: str = "", *, everything: bool = False) -> Any:
    if isinstance(value, dict):
        names = {name: some(name, 200) if everything else name for name in value}
        return {names[name]: _within(one, name, everything=everything) for name, one in value.items()}
    if isinstance(value, list):
        return [_within(one, key, everything=everything) for one in value]
    if isinstance(value, str) and (everything or key in _IN_WORDS.split() or " " in value):
        return some(value, None)
    return value
