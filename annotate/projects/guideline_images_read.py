"""Which images texts of guidelines name, and the images.

Markdown names an image of the project as `![what it shows](image:NAME)`: without the project, so that a text is as true
in a duplicate, and without an address that anybody else could answer.
"""

from __future__ import annotations

import re

from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.rows import first_or_raise
from annotate.models import GuidelineImage, Project

_NAME = re.compile(r"image:([0-9a-f]{32})\b")
_WITHOUT_WORDS = re.compile(r"!\[\s*\]\(\s*<?image:")


def names_in(text: str) -> set[str]:
    return set(_NAME.findall(text))


def lacks_words(text: str) -> bool:
    """Whether one of the text's images has no words for those who don't see it."""
    return bool(_WITHOUT_WORDS.search(text))


def sizes_of(project: Project, text: str) -> dict[str, tuple[int, int]]:
    """Of the images that the text names, width and height by name. Asks nothing when it names none."""
    names = names_in(text)
    if not names:
        return {}
    found = GuidelineImage.objects.filter(project=project, name__in=names)
    return {name: (width, height) for name, width, height in found.values_list("name", "width", "height")}


def one_image(project: Project, name: str) -> GuidelineImage:
    return first_or_raise(GuidelineImage.objects.filter(project=project, name=name), Http404(_("Image not found.")))
