"""A report's summary as one page of PDF, in the reader's language.

Latin letters and signs are in DejaVu, which comes with matplotlib and is embedded. Chinese is in a font that PDF
readers bring themselves (STSong-Light): one to embed would weigh as much as the rest of the application.

Reportlab takes a moment to load: frontend.reports.file names this module, and loads it for the first PDF.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph

from frontend.reports.first_screen import FirstScreen
from frontend.reports.pictures import Picture
from frontend.reports.summary import summary_context
from judges.certificates.decision_read import Looked
from judges.models import AlignmentReport

_PLAIN, _BOLD, _CHINESE = "DejaVuSans", "DejaVuSans-Bold", "STSong-Light"
_INK, _MUTED, _LINE, _BAND = "#16181d", "#596070", "#d5d9e0", "#dfe3f3"
_GREY = "#596070"
_COLOURS = {"alone_in_region": "#1b7446", "with_a_person": "#96590a", "not_for_use": "#b0271d"}
_WIDTH, _HEIGHT, _MARGIN = 595.0, 842.0, 48.0
_INNER = _WIDTH - 2 * _MARGIN
# Judge, decision, kappa, picture; from the left margin.
_COLUMNS = (0.0, 160.0, 310.0, 420.0)
_BAR = 79.0
# The signs that only the Chinese font has.
_ASIAN = re.compile("[\u2e80-\uffef]+")
_TITLE, _PROMPT, _SENTENCE, _NAME = 80, 240, 400, 60


def report_pdf(report: AlignmentReport, looked: Looked | None = None) -> bytes:
    """looked: as `summary_context` has it."""

    _register_fonts()
    summary, out = summary_context(report, looked), io.BytesIO()
    # The same report gives the same bytes.
    canvas = Canvas(out, pagesize=A4, invariant=1, lang=get_language() or "en", initialFontName=_PLAIN)
    canvas.setTitle(f"{summary['title']} – {summary['project']}")
    canvas.setCreator("Touchstone")
    page = _Page(canvas)
    _head(page, summary)
    _verdict(page, summary)
    if summary["screen"].judges:
        _judges(page, summary)
    _foot(page, summary)
    canvas.showPage()
    canvas.save()
    return out.getvalue()


@cache
def _register_fonts() -> None:

    found = find_spec("matplotlib")
    assert found is not None
    assert found.origin is not None
    fonts = Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"
    for name in (_PLAIN, _BOLD):
        registerFont(TTFont(name, str(fonts / f"{name}.ttf")))
    registerFont(UnicodeCIDFont(_CHINESE))


class _Page:
    """A sheet that is filled from the top; `y` is where the next thing goes."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas
        self.y = _HEIGHT - _MARGIN

    def write(
        self, text: str, size: float, *, colour: str = _INK, font: str = _PLAIN, x: float = 0.0, width: float = _INNER
    ) -> float:
        """Below the last, and moves down. Returns its height."""
        height = self.put(text, size, colour=colour, font=font, x=x, width=width)
        self.y -= height
        return height

    def put(
        self, text: str, size: float, *, colour: str = _INK, font: str = _PLAIN, x: float = 0.0, width: float = _INNER
    ) -> float:
        """The same, and stays where it is."""
        paragraph = _paragraph(text, size, colour, font)
        _used, height = paragraph.wrap(width, _HEIGHT)
        paragraph.drawOn(self.canvas, _MARGIN + x, self.y - height)
        return float(height)

    def rule(self) -> None:
        self.canvas.setStrokeColor(_LINE)
        self.canvas.setLineWidth(0.6)
        self.canvas.line(_MARGIN, self.y, _WIDTH - _MARGIN, self.y)


def _paragraph(text: str, size: float, colour: str, font: str) -> Paragraph:

    style = ParagraphStyle(
        "text",
        fontName=font,
        fontSize=size,
        leading=1.4 * size,
        textColor=colour,
        # Chinese breaks between any two signs; so does a long name without blanks.
        wordWrap="CJK" if _ASIAN.search(text) else None,
        splitLongWords=1,
    )
    return Paragraph(_ASIAN.sub(lambda found: f'<font name="{_CHINESE}">{found[0]}</font>', escape(text)), style)


def _cut(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _head(page: _Page, summary: Mapping[str, Any]) -> None:
    page.write(_cut(summary["project"], _TITLE), 9, colour=_MUTED)
    page.write(_cut(summary["title"], _TITLE), 20, font=_BOLD)
    page.y -= 2
    page.write(_cut(summary["prompt"], _PROMPT), 9, colour=_MUTED)
    page.y -= 14


def _verdict(page: _Page, summary: Mapping[str, Any]) -> None:
    screen: FirstScreen = summary["screen"]
    if screen.judges:
        decision = screen.judges[0].decision
        _symbol(page.canvas, decision["code"], _MARGIN + 4, page.y - 7)
        page.write(_chip(decision), 9, colour=_COLOURS.get(decision["code"], _GREY), font=_BOLD, x=14)
        page.y -= 2
    first, *others = screen.sentences
    page.write(_cut(first, _SENTENCE), 13, font=_BOLD)
    page.y -= 2
    page.write(_cut(" ".join(others), _SENTENCE), 10)
    page.y -= 12
    width, lowest = _INNER / 3, page.y
    for place, one in enumerate(screen.figures):
        top, x = page.y, place * width
        page.write(_cut(one.title, _NAME), 8, colour=_MUTED, x=x, width=width - 12)
        page.write(one.value, 16, font=_BOLD, x=x, width=width - 12)
        note = ", ".join(filter(None, (one.where, one.note)))
        page.write(_cut(note, _NAME), 8, colour=_MUTED, x=x, width=width - 12)
        lowest, page.y = min(lowest, page.y), top
    page.y = lowest - 12
    if summary["steps"]:
        page.write(pgettext("what to do next", "Next"), 10, font=_BOLD)
    for place, step in enumerate(summary["steps"], start=1):
        page.write(f"{place}. {_cut(step.text, _SENTENCE)}", 9)
        page.y -= 2
    page.y -= 16


def _chip(decision: Mapping[str, Any]) -> str:
    if not decision["is_provisional"]:
        return str(decision["chip"])
    return _("%(decision)s (provisional)") % {"decision": decision["chip"]}


def _judges(page: _Page, summary: Mapping[str, Any]) -> None:
    screen: FirstScreen = summary["screen"]
    page.write(_("Judges, best first"), 11, font=_BOLD)
    page.y -= 2
    _row(page, [_("Judge"), _("Decision"), _("Kappa, 95% interval")], _MUTED)
    for judge in screen.first:
        kappa = f"{judge.kappa.text} {judge.where}"
        if judge.kappa.interval:
            kappa = f"{kappa} ({judge.kappa.interval})"
        top = page.y - 4
        _row(page, [_cut(judge.title, _NAME), _chip(judge.decision), kappa], _INK)
        colour = _COLOURS.get(judge.decision["code"], _GREY)
        _picture(page.canvas, _MARGIN + _COLUMNS[-1], top - 6, judge.picture, colour)
    page.y -= 4
    if screen.rest:
        page.write(_("More judges are in the full report: %(n)s") % {"n": len(screen.rest)}, 7.5, colour=_MUTED)
    said = _(
        "Kappa is agreement corrected for chance: 1 is perfect, 0 is chance. The band is the agreement between "
        "annotators."
    )
    page.write(said, 7.5, colour=_MUTED)
    if any(judge.decision["is_provisional"] for judge in screen.first):
        said = _("Provisional: from the dev set, on which judges may have been tuned.")
        page.write(said, 7.5, colour=_MUTED)


def _row(page: _Page, cells: Sequence[str], colour: str) -> None:
    page.y -= 4
    lowest = page.y
    for place, cell in enumerate(cells):
        x, width = _COLUMNS[place], _COLUMNS[place + 1] - _COLUMNS[place] - 8
        lowest = min(lowest, page.y - page.put(cell, 8, colour=colour, x=x, width=width))
    page.y = lowest - 5
    page.rule()


def _picture(canvas: Canvas, x: float, y: float, picture: Picture, colour: str) -> None:
    """An interval before the band of annotators' agreement, with the line of chance."""

    def at(place: str) -> float:
        return x + _BAR * float(place.rstrip("%")) / 100

    if picture.band is not None:
        canvas.setFillColor(_BAND)
        canvas.rect(at(picture.band[0]), y - 6, at(picture.band[1]) - x, 12, stroke=0, fill=1)
    canvas.setStrokeColor(_LINE)
    canvas.setLineWidth(0.8)
    canvas.line(at(picture.zero), y - 6, at(picture.zero), y + 6)
    canvas.setStrokeColor(colour)
    canvas.setFillColor(colour)
    if picture.low is not None and picture.high is not None:
        canvas.setLineWidth(1.6)
        canvas.line(at(picture.low), y, at(picture.high), y)
    if picture.dot is not None:
        canvas.circle(at(picture.dot), y, 2.4, stroke=0, fill=1)


def _symbol(canvas: Canvas, code: str, x: float, y: float) -> None:
    """Told apart by its shape as well: full, half, empty, or a question mark."""
    colour = _COLOURS.get(code, _GREY)
    canvas.setStrokeColor(colour)
    canvas.setFillColor(colour)
    canvas.setLineWidth(1)
    if code not in _COLOURS:
        canvas.setFont(_BOLD, 10)
        canvas.drawCentredString(x, y - 3.5, "?")
        return
    canvas.circle(x, y, 3.6, stroke=1, fill=int(code == "alone_in_region"))
    if code == "with_a_person":
        canvas.wedge(x - 3.6, y - 3.6, x + 3.6, y + 3.6, 90, 180, stroke=0, fill=1)


def _foot(page: _Page, summary: Mapping[str, Any]) -> None:
    """Where the figures come from, at the bottom of the sheet."""
    said = [summary["rests"]]
    if summary["number"]:
        said.insert(0, _("Report %(n)s") % {"n": summary["number"]})
    if summary["made"]:
        said.insert(1, summary["made"])
    page.y = _MARGIN + 26
    page.rule()
    page.y -= 6
    page.write(" · ".join(said), 8, colour=_MUTED)
    page.write(_("Data fingerprint %(fingerprint)s") % {"fingerprint": summary["fingerprint"][:16]}, 7, colour=_MUTED)
