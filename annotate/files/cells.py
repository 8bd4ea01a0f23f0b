"""What a CSV cell means. A cell is only text, so lists and objects are written in it as JSON.

Fields of a sample as they may be written, turned into what is stored. Every refusal names the field.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import IO, Any

from annotate.core.texts import is_blank
from annotate.core.units import MAX_UNITS
from annotate.files.fields import squeeze
from annotate.files.problems import MAX_ID_CHARACTERS, MAX_VALUES, RowError
from annotate.files.strict_json import check_text, parse_object
from annotate.samples.claim_splitting import Claim, locate

# Cells that a spreadsheet would run as a formula. Exports put ' before them; reading takes one ' away again. Cells that
# already begin with quotes followed by such a character get one more, so that the way back is exact.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")

_PYTHON_STRING = r"(?:'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"
# Exactly one comma between the strings: numpy prints none, and Python would then join two contexts into one. Nothing in
# it is given back once it is matched, or many blanks would take the square of their number.
_PYTHON_LIST = re.compile(rf"\[\s*+(?:{_PYTHON_STRING}\s*+(?:,\s*+{_PYTHON_STRING}\s*+)*+(?:,\s*+)?+)?+\]", re.DOTALL)
_EACH_STRING = re.compile(_PYTHON_STRING, re.DOTALL)


def guard(text: str) -> str:
    """The cell as it is exported."""
    return "'" + text if _FORMULA.match(text) else text


def unguard(text: str) -> str:
    """The inverse of `guard`; other texts stay as they are."""
    return text[1:] if text[:1] == "'" and _GUARDED.match(text) else text


def as_cells(row: Mapping[str, Any]) -> dict[str, str]:
    """A row as CSV has it, before it is guarded: lists and objects are JSON, and no value is an empty cell."""
    return {column: _cell(value) for column, value in row.items()}


def write_table(rows: Iterable[Mapping[str, Any]], file: IO[bytes]) -> int:
    """As CSV with a header; texts that a spreadsheet would run as a formula get a ' in front. Returns how many rows."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    count = 0
    for row in rows:
        if not count:
            writer.writerow([guard(column) for column in row])
        cells = zip(row.values(), as_cells(row).values(), strict=True)
        writer.writerow([guard(cell) if isinstance(value, str) else cell for value, cell in cells])
        count += 1
    text.detach()
    return count


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")  # as JSONL spells it
    return json.dumps(value, ensure_ascii=False)


def structured(cell: str, field: str) -> Any:
    """The list or object written in the cell, else the text itself. An empty cell is None.

    A cell that begins and ends like a list or an object has to be one: JSON, or a list of strings as Python prints it.
    """
    text = cell.strip()
    if not text:
        return None
    if not (text[0] == "[" and text[-1] == "]") and not (text[0] == "{" and text[-1] == "}"):
        return cell
    try:
        return parse_object(b'{"":' + text.encode() + b"}")[""]
    except RowError as error:
        if error.code == "json" and _PYTHON_LIST.fullmatch(text):
            return _python_list(text, field)
        message = "Begins and ends like JSON, but is not: " + error.message if error.code == "json" else error.message
        raise RowError(error.code, message, field=field, excerpt=cell) from None


def _python_list(text: str, field: str) -> list[str]:
    """String by string: Python's own reader of the whole list takes a hundred bytes of memory for each of its own."""
    found: list[str] = []
    for match in _EACH_STRING.finditer(text):
        if len(found) == MAX_VALUES:
            raise RowError("too_many_values", f"Holds more than {MAX_VALUES:,} values.", field=field, excerpt=text)
        try:
            value = ast.literal_eval(match[0])
        except (SyntaxError, ValueError):
            message = "Begins and ends like a list of Python strings, but is not one."
            raise RowError("json", message, field=field, excerpt=match[0]) from None
        check_text(value, field)
        found.append(value)
    return found


def number(cell: str) -> float | None:
    """The finite number written in the cell, or None."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if value - value == 0 else None


_TEXT_KEYS = ("text", "content", "page_content", "passage")
_ID_KEYS = ("id", "doc_id", "document_id", "docid")


def kind_of(value: object) -> str:
    names = {str: "text", bool: "true/false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return "nothing" if value is None else names.get(type(value), type(value).__name__)


def wrong_type(field: str, expected: str, value: object) -> RowError:
    return RowError("type", f"Expected {expected}, found {kind_of(value)}.", field=field, excerpt=value)


def words(value: object, field: str) -> str:
    """A text that says something."""
    if type(value) is not str:
        raise RowError("missing", "Is missing.", field=field) if value is None else wrong_type(field, "text", value)
    if is_blank(value):
        raise RowError("missing", "Is empty.", field=field)
    return value


def optional_text(value: object, field: str) -> str | None:
    if value is None or type(value) is str:
        return value
    raise wrong_type(field, "text", value)


_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def truth(value: object, field: str) -> bool:
    if type(value) is bool:
        return value
    read = _TRUTHS.get(str(value).strip().lower()) if type(value) in (str, int) else None
    if read is None:
        raise wrong_type(field, "true or false", value)
    return read


def identifier(value: object, field: str) -> str:
    if type(value) is int:
        return str(value)
    text = words(value, field)
    if len(text) > MAX_ID_CHARACTERS or len(text.encode()) > 4 * MAX_ID_CHARACTERS:
        raise RowError("too_long", f"Longer than {MAX_ID_CHARACTERS} characters.", field=field, excerpt=text)
    return text


# In columns of these names a text is a list that was lost on the way here; in one called `context` it is the context.
_SEVERAL = frozenset(map(squeeze, ("contexts", "retrieved_contexts", "passages", "documents")))


def contexts(value: object, field: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if type(value) is str and squeeze(field) not in _SEVERAL:
        value = [value] if value else []
    found: list[dict[str, Any]] = []
    for index, item in enumerate(_listed(value, field, "a list of contexts")):
        if type(item) is str:
            found.append({"id": None, "text": item, "score": None})
        elif type(item) is dict:
            found.append(_plain_context(item) or _context(item, f"{field}[{index}]"))
        else:
            raise wrong_type(f"{field}[{index}]", "text or {id, text, score}", item)
    return found


def _plain_context(item: dict[str, Any]) -> dict[str, Any] | None:
    """Exactly {id, text, score}, or without the score: by far the most frequent, hence without any detours."""
    text, identity = item.get("text"), item.get("id")
    if type(text) is not str or type(identity) is not str:
        return None
    if len(item) == 2:
        return {"id": identity, "text": text, "score": None}
    score = item.get("score")
    if len(item) == 3 and type(score) is float:
        return {"id": identity, "text": text, "score": score}
    return None


def _context(item: dict[str, Any], field: str) -> dict[str, Any]:
    """id, text and score first; whatever else the file says about the context is kept with it."""
    text_key = next((key for key in _TEXT_KEYS if key in item), None)
    if text_key is None:
        raise RowError("missing", "A context has a text.", field=f"{field}.text", excerpt=item)
    text = item[text_key]
    if type(text) is not str:
        raise wrong_type(f"{field}.{text_key}", "text", text)
    id_key = next((key for key in _ID_KEYS if key in item), None)
    identity = item[id_key] if id_key else None
    if type(identity) is int:
        identity = str(identity)
    if identity is not None and type(identity) is not str:
        raise wrong_type(f"{field}.{id_key}", "text", identity)
    score = item.get("score")
    if score is not None and type(score) not in (int, float):
        raise wrong_type(f"{field}.score", "a number", score)
    context = {"id": identity, "text": text, "score": score}
    if len(item) > 3 or not item.keys() <= {text_key, id_key, "score"}:
        context.update((key, child) for key, child in item.items() if key not in (text_key, id_key, "score"))
    return context


def claims(value: object, field: str, answer: str, *, extras: bool) -> list[Claim]:
    """extras: keep what else the file says about a claim."""
    items = _listed(value, field, "a list of claims")
    texts: list[str] = []
    for index, item in enumerate(items):
        text = item.get("text") if type(item) is dict else item
        if type(text) is not str or is_blank(text):
            raise RowError("type", "A claim is a text or {text, start, end}.", field=f"{field}[{index}]", excerpt=item)
        texts.append(text)
    found: list[Claim] = []
    for index, (item, text, (start, end)) in enumerate(zip(items, texts, locate(texts, answer), strict=True)):
        claim: Claim = {"text": text, "start": start, "end": end}
        if type(item) is dict:
            if item.get("start") is not None or item.get("end") is not None:
                claim["start"], claim["end"] = _given_span(item, text, answer, f"{field}[{index}]")
            if extras and len(item) > 1:
                claim.update((key, child) for key, child in item.items() if key not in claim)
        found.append(claim)
    return found


def _given_span(item: dict[str, Any], text: str, answer: str, field: str) -> tuple[int, int]:
    start, end = item.get("start"), item.get("end")
    if type(start) is not int or type(end) is not int:
        raise RowError("span", "start and end are whole numbers, both or neither.", field=field, excerpt=item)
    if not 0 <= start < end <= len(answer) or answer[start:end] != text:
        there = answer[max(0, start) : max(0, end)]
        raise RowError(
            "span",
            f"The answer's characters {start}–{end} are not the claim's text (count Unicode code points from 0).",
            field=field,
            excerpt=there or text,
        )
    return start, end


def texts(value: object, field: str) -> list[str]:
    """A list of texts; {"text": …} is its text, and a lone text a list of one."""
    return _texts(value, field, "text")


def identifiers(value: object, field: str) -> list[str]:
    """A list of texts or whole numbers, which become their digits; a lone one is a list of one."""
    return _texts(value if type(value) is not int else str(value), field, "text or a whole number")


def _texts(value: object, field: str, expected: str) -> list[str]:
    if value is None:
        return []
    if type(value) is str:
        return [value] if value else []
    takes_numbers = expected != "text"
    found = []
    for index, item in enumerate(_listed(value, field, "a list of texts")):
        text = item.get("text") if type(item) is dict else str(item) if takes_numbers and type(item) is int else item
        if type(text) is not str or not text:
            raise wrong_type(f"{field}[{index}]", expected, item)
        found.append(text)
    return found


def _listed(value: object, field: str, expected: str) -> list[Any]:
    if type(value) is not list:
        raise wrong_type(field, expected, value)
    if len(value) > MAX_UNITS:
        raise RowError("too_long", f"{len(value):,} entries; the limit is {MAX_UNITS:,}.", field=field)
    return value
