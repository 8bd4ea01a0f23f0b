"""QR codes, of which reportlab knows what is dark. Slow to load."""

from __future__ import annotations

from typing import Any

from reportlab.graphics.barcode.qrencoder import QRCode, QRErrorCorrectLevel

# Light modules around it, as the standard asks for.
_QUIET = 4


def qr_code(text: str) -> dict[str, Any]:
    """As an SVG draws it: its size in modules, and the path of the dark ones, row by row."""
    code = QRCode(None, QRErrorCorrectLevel.M)
    code.addData(text)
    code.make()
    size = range(code.getModuleCount())
    dark = (f"M{x + _QUIET},{y + _QUIET}h1v1h-1z" for y in size for x in size if code.isDark(y, x))
    return {"size": len(size) + 2 * _QUIET, "path": "".join(dark)}
