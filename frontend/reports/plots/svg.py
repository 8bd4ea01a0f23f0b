"""From a matplotlib figure to an SVG that may stand inside any page: no style sheet, no style attribute, no link, ids
of its own, ink in the page's text colour, and a description for those who can't see it.

Our Content-Security-Policy has no 'unsafe-inline', so a style attribute would be dropped by the browser; what
matplotlib writes as style becomes presentation attributes, which every browser draws.

Words in a plot are remarks as JSON between two marks: it is frozen once, and shown in every reader's language
(frontend.reports.in_words.plot_in_words).

Matplotlib takes half a second to load. Only the worker draws: what it calls is named in frontend/apps.py.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
from django.utils.translation import override
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from alignment.base.estimate import Remark
from frontend.reports.in_words import MARK, in_words
from frontend.reports.plots.ink import CONTROL, READ, SMALL, plain

SVG = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
# Matplotlib's black: replaced by the page's own ink, so that a plot reads on light and on dark.
_INK = re.compile(r"^(#000000|#000|black)$")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
# As many marks as the word's place among those of the plot, and one after it.
_WORD = re.compile(f"({MARK}+)[^{MARK}]*{MARK}")

_SETTINGS: Any = {
    "svg.fonttype": "none",  # text stays text: searchable, in the page's font
    "svg.hashsalt": "touchstone",  # the same figures give the same bytes
    "text.parse_math": False,  # a "$" in a judge's name is a "$"
    "font.size": READ,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "path.simplify": False,
}


class Words:
    """The words of a plot while it is drawn: English, since room is made for them, and told apart by marks."""

    def __init__(self) -> None:
        self.remarks: list[Remark] = []

    def __call__(self, remark: Remark) -> str:
        self.remarks.append(remark)
        return MARK * len(self.remarks) + in_words(remark) + MARK

    def marked(self, text: str) -> str:
        """The remark in place of its English words; any other text as it is."""
        found = _WORD.fullmatch(text)
        return marked(self.remarks[len(found[1]) - 1]) if found else text


def draw(
    name: str,
    title: Remark,
    description: Sequence[Remark | str],
    size: tuple[float, float],
    paint: Callable[[Axes, Words], None],
    margins: tuple[float, float, float, float] | None = None,
) -> str:
    """An SVG element as text. `name` keeps its ids apart from those of other plots on the page.

    `margins`: left, right, top and bottom, in inches, for a plot whose labels have a known size; without, room is made
    for what is there, which takes twice as long.
    """
    words = Words()
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings(), override("en"):
        # It measures text with a font that may lack Chinese characters; the reader's browser draws them with its own.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained" if margins is None else None)
        if margins is not None:
            (width, height), (left, right, top, bottom) = size, margins
            figure.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height)
        canvas = FigureCanvasSVG(figure)
        figure.patch.set_visible(False)
        axes = figure.add_subplot()
        axes.patch.set_visible(False)
        paint(axes, words)
        out = io.StringIO()
        # Not savefig, which draws everything twice.
        canvas.print_svg(out, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    return embeddable(out.getvalue(), words, name=name, title=title, description=description)


def beside(axes: Axes, place: float, text: str) -> None:
    """A text on the right of the axes, at this place of its rows."""
    axes.annotate(
        text,
        (1.0, place),
        xycoords=("axes fraction", "data"),
        xytext=(8, 0),
        textcoords="offset points",
        verticalalignment="center",
        fontsize=SMALL,
    )


def above(axes: Axes, x: float, text: str, shift: tuple[int, int], **given: Any) -> None:
    """A text above the axes, at this value. shift: by how many points from it."""
    axes.annotate(
        text,
        (x, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=shift,
        textcoords="offset points",
        fontsize=SMALL,
        **given,
    )


def title_rows(axes: Axes, titles: Sequence[str], **given: Any) -> None:
    """A row for each title, the first at the top."""
    axes.set_yticks(range(len(titles)), [plain(title) for title in titles], **given)
    axes.set_ylim(len(titles) - 0.4, -0.6)
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)


def room_for(labels: Iterable[str]) -> float:
    """Inches that small labels on the left of a plot take, with some to spare: most letters are narrower, and a
    Chinese one is as wide as it is high."""
    return 0.25 + max(
        (sum(0.135 if ord(sign) > 0x2E80 else 0.081 for sign in plain(label)) for label in labels), default=0
    )


def marked(part: Remark | str) -> str:
    """A remark as a plot keeps it; a text without what XML can't hold."""
    if isinstance(part, str):
        return CONTROL.sub("", part)
    return MARK + json.dumps(_clean(part), ensure_ascii=False, separators=(",", ":")) + MARK


def _clean(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _clean(one) for name, one in value.items()}
    return CONTROL.sub("", value) if isinstance(value, str) else value


def embeddable(source: str, words: Words, *, name: str, title: Remark, description: Sequence[Remark | str]) -> str:
    # Registered for the writer: the default would be ns0: prefixes, which HTML doesn't understand.
    ET.register_namespace("", SVG)
    root = ET.fromstring(source)  # noqa: S314 - matplotlib wrote it a moment ago
    _drop(root, {"metadata", "style"})
    for element in root.iter():
        _flatten_style(element)
        _rename(element, name)
        element.text = element.text and words.marked(element.text)
    for attribute in ("width", "height"):
        root.attrib.pop(attribute, None)
    root.attrib.update(
        {
            "class": "plot",
            "role": "img",
            "aria-labelledby": f"{name}-title {name}-description",
            "stroke-linejoin": "round",
            "font-family": "inherit",
        }
    )
    described = " ".join(map(marked, description))
    for position, (tag, text) in enumerate((("title", marked(title)), ("desc", described))):
        element = ET.Element(f"{{{SVG}}}{tag}", {"id": f"{name}-{'description' if tag == 'desc' else tag}"})
        element.text = text
        root.insert(position, element)
    return ET.tostring(root, encoding="unicode")


def _drop(root: ET.Element, tags: set[str]) -> None:
    for parent in root.iter():
        for child in list(parent):
            if child.tag.rsplit("}", 1)[-1] in tags:
                parent.remove(child)


def _flatten_style(element: ET.Element) -> None:
    style = element.attrib.pop("style", "")
    for declaration in filter(None, (part.strip() for part in style.split(";"))):
        attribute, _, value = (part.strip() for part in declaration.partition(":"))
        if attribute == "font-family":
            continue  # the page's own
        if attribute == "font":
            size = re.search(r"([0-9.]+)px", value)
            if size:
                element.set("font-size", size[1])
        else:
            element.set(attribute, value)
    for attribute in ("fill", "stroke"):
        if _INK.match(element.get(attribute, "")):
            element.set(attribute, "currentColor")
    # SVG fills with black unless told otherwise, and matplotlib relies on it for text.
    if element.tag == f"{{{SVG}}}text" and "fill" not in element.attrib:
        element.set("fill", "currentColor")


def _rename(element: ET.Element, name: str) -> None:
    """Ids and what refers to them, so that two plots in one page don't clip each other."""
    if "id" in element.attrib:
        element.set("id", f"{name}-{element.attrib['id']}")
    target = element.attrib.pop(_XLINK, None)
    if target is not None:
        element.set("href", f"#{name}-{target.removeprefix('#')}")
    for attribute, value in element.attrib.items():
        if "url(#" in value:
            element.set(attribute, _REFERENCE.sub(lambda found: f"url(#{name}-{found[1]})", value))
