"""The text of guidelines as a page shows it, with the project's images."""

from __future__ import annotations

from django.utils.safestring import SafeString

from annotate.models import Project
from annotate.projects.guideline_images_read import sizes_of
from frontend.base.help import Shown, render_markdown


def guidelines_html(project: Project, text: str) -> SafeString:
    at = f"/api/projects/{project.slug}/guidelines/images/"
    images = {
        f"image:{name}": Shown(f"{at}{name}/", width, height)
        for name, (width, height) in sizes_of(project, text).items()
    }
    return render_markdown(text, images)
