"""What a CSV cell means. A cell is only text, so lists and objects are written in it as JSON."""

from __future__ import annotations

import ast
import re
from typing import Any

from annotate.importing.problems import RowError
from annotate.importing.strictjson import parse_object

# Cells that a spreadsheet would run as a formula. Exports put ' before them; reading takes one ' away again. Cells that
# already begin with quotes followed by such a character get one more, so that the way back is exact.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")

_PYTHON_STRING = r"(?:'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"
# Exactly one comma between the strings: numpy prints none, and Python would then join two contexts into one.
_PYTHON_LIST = re.compile(rf"\[\s*(?:{_PYTHON_STRING}\s*(?:,\s*{_PYTHON_STRING}\s*)*+,?\s*)?\]", re.DOTALL)


def guard(text: str) -> str:
    """The cell as it is exported."""
    return "'" + text if _FORMULA.match(text) else text


def unguard(text: str) -> str:
    """The inverse of `guard`; other texts stay as they are."""
    return text[1:] if text[:1] == "'" and _GUARDED.match(text) else text


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
            return ast.literal_eval(text)
        message = "Begins and ends like JSON, but is not: " + error.message if error.code == "json" else error.message
        raise RowError(error.code, message, field=field, excerpt=cell) from None


def number(cell: str) -> float | None:
    """The finite number written in the cell, or None."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if value - value == 0 else None
