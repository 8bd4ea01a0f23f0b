"""Five sizes of type and one scale of distances (base/scales.css), in every style sheet and every drawing of ours."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from frontend.reports.plots.ink import READ, SMALL
from tests.conftest import ROOT

SCALES = ROOT / "frontend/base/static/base/scales.css"
SHEETS = sorted((ROOT / "frontend").glob("*/static/*/*.css"))
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DECLARATION = re.compile(r"(?<![\w-])(--[\w-]+|[a-z-]+)\s*:\s*([^;{}]+)(?=[;}])")
# The paper's own margins are the printer's.
PAPER = re.compile(r"@page\s*\{[^}]*\}")

SIZES = re.compile(r"var\(--text-[1-5]\)|inherit")
FONT = re.compile(r"inherit|100%/1\.5 var\(--font\)|var\(--text-[1-5]\)/.*")
SPACED = re.compile(r"(margin|padding|gap|row-gap|column-gap)(-[a-z-]+)?")
STEP = r"var\(--s[0-7]\)"
DISTANCE = re.compile(rf"0|auto|{STEP}|calc\(-1 \* {STEP}\)|!important")
PART = re.compile(r"[\w-]+\([^()]*(?:\([^()]*\)[^()]*)*\)|\S+")


def _declarations(sheet: str) -> Iterator[tuple[int, str, str]]:
    """The line, the property and the value of each; what is left out leaves its lines."""
    for left_out in (COMMENT, PAPER):
        sheet = left_out.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), sheet)
    for found in DECLARATION.finditer(sheet):
        yield sheet.count("\n", 0, found.start()) + 1, found[1], found[2].strip()


def outside(sheet: str) -> list[str]:
    """What has a size or a distance that is none of the scales."""
    found = []
    for line, name, value in _declarations(sheet):
        allowed = (
            SIZES.fullmatch(value)
            if name == "font-size"
            else FONT.fullmatch(value)
            if name == "font"
            else all(map(DISTANCE.fullmatch, PART.findall(value)))
            if SPACED.fullmatch(name)
            else not re.fullmatch(r"--(text-\w+|s\d+)", name)
        )
        if not allowed:
            found.append(f"{line}: {name}: {value}")
    return found


@pytest.mark.parametrize("sheet", [path for path in SHEETS if path != SCALES], ids=lambda path: path.name)
def test_sizes_and_distances_are_of_the_scales(sheet: Path) -> None:
    assert [f"{sheet.relative_to(ROOT)}:{one}" for one in outside(sheet.read_text(encoding="utf-8"))] == []


def test_what_is_outside_is_named_with_its_line() -> None:
    sheet = """/* font-size: 3px; */
@page { margin: 16mm; }
a { font-size: 0.875em; margin: 0 auto calc(-1 * var(--s2)) var(--s1) }
b { padding-inline: var(--s2) 3px; font: 600 11px serif; scroll-margin: 3px;
  gap: calc(2 * var(--s2)); }
:root { --text-6: 1rem; --s8: 5rem; }"""
    assert outside(sheet) == [
        "3: font-size: 0.875em",
        "4: padding-inline: var(--s2) 3px",
        "4: font: 600 11px serif",
        "5: gap: calc(2 * var(--s2))",
        "6: --text-6: 1rem",
        "6: --s8: 5rem",
    ]


def test_the_scales_are_five_sizes_and_eight_distances_that_grow() -> None:
    screen, _, _paper = SCALES.read_text(encoding="utf-8").partition("@media print")
    steps: dict[str, list[float]] = {"text": [], "s": []}
    for _, name, value in _declarations(screen):
        steps[name.strip("-").rstrip("-01234567")].append(float(value.removesuffix("rem")) * 16)
    sizes, distances = steps["text"], steps["s"]
    assert len(sizes) == 5
    assert len(distances) == 8
    assert sizes == sorted(set(sizes))
    assert distances == sorted(set(distances))
    # Nothing below 12 px; what is read is at least 14.
    assert sizes[0] >= 12
    assert sizes[1] >= 14
    # A plot is drawn in points, for the width at which it is shown.
    assert [point * 96 / 72 for point in (SMALL, READ)] == sizes[:2]


def test_drawings_and_templates_have_no_sizes_of_their_own() -> None:
    files = [path for suffix in ("html", "svg", "py", "js") for path in (ROOT / "frontend").rglob(f"*.{suffix}")]
    own = re.compile(r"""font-size\s*[:=]\s*["']?(?!13")[\w.]|fontsize\s*=\s*[\d.]""")
    assert [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if own.search(line)
    ] == []
