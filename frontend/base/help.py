"""What the figures mean: our own documents, in the application, so that a link from a figure always leads somewhere."""

from __future__ import annotations

import posixpath
from functools import cache
from pathlib import Path

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from frontend.base.markdown import Document, render_document

_DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


@require_safe
@login_required
def document(request: HttpRequest, name: str = "statistics") -> HttpResponse:
    """A document as a page; what a document offers to be run, as a file."""
    if name in _examples():
        file_name = posixpath.basename(name)
        return HttpResponse(
            (_DOCS / name).read_bytes(),
            content_type="text/plain; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{file_name}"'},
        )
    if name not in _names():
        raise Http404(_("There is no such page of help."))
    return render(request, "base/help.html", {"document": _read(name)})


@cache
def _names() -> frozenset[str]:
    """Of every document: its path below docs/, without the ending."""
    return frozenset(path.relative_to(_DOCS).with_suffix("").as_posix() for path in _DOCS.rglob("*.md"))


@cache
def _examples() -> frozenset[str]:
    return frozenset(path.relative_to(_DOCS).as_posix() for path in _DOCS.glob("examples/*.py"))


@cache
def _read(name: str) -> Document:
    def link(target: str) -> str:
        """Documents link to each other as files do; here they do so as pages."""
        path, _hash, anchor = target.partition("#")
        other = posixpath.normpath(posixpath.join(posixpath.dirname(name), path.removesuffix(".md")))
        if not path or other not in _names() | _examples():
            return target
        return reverse("help", args=[other]) + (f"#{anchor}" if anchor else "")

    return render_document((_DOCS / f"{name}.md").read_text(encoding="utf-8"), link)
