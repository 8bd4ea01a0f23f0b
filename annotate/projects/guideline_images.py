"""Images in a project's guidelines: uploaded, named by texts, and taken along by a duplicate (decision 48)."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import IO

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from annotate.core.pictures import read_picture
from annotate.core.trail import note
from annotate.models import GuidelineImage, GuidelineVersion, Project, User
from annotate.projects.guideline_images_read import names_in

MAX_IMAGES = 200
# So long a text may be written before it is saved.
_UNSAVED = timedelta(days=1)


def add_image(*, actor: User | None, project: Project, file: IO[bytes], name: str, size: int) -> GuidelineImage:
    """Keeps the picture in the file. One that the project has already is that one.

    name, size: the file's. Raises Refusal, TooLarge, and Conflict when there is no room for more.
    """
    picture = read_picture(file, name=name, size=size)
    own_name = sha256(picture.content).hexdigest()[:32]
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        known = GuidelineImage.objects.filter(project=project, name=own_name).defer("content").first()
        if known is not None:
            return known
        _make_room(project)
        made = GuidelineImage.objects.create(
            project=project,
            name=own_name,
            content=picture.content,
            width=picture.width,
            height=picture.height,
        )
        note(
            actor=actor,
            action="guidelines.image_added",
            subject=own_name,
            project=project,
            width=made.width,
            height=made.height,
            bytes=len(picture.content),
        )
    return made


def _make_room(project: Project) -> None:
    """When there are as many as there may be, those go that no version names and nobody can still be writing about."""
    images = GuidelineImage.objects.filter(project=project)
    if images.count() < MAX_IMAGES:
        return
    named: set[str] = set()
    for text in GuidelineVersion.objects.filter(project=project).values_list("text", flat=True).iterator():
        named |= names_in(text)
    images.filter(created_at__lt=timezone.now() - _UNSAVED).exclude(name__in=named).delete()
    if images.count() >= MAX_IMAGES:
        raise Conflict(
            "too_many_images", _("The guidelines have %(most)d images, which is the limit.") % {"most": MAX_IMAGES}
        )


def copy_images(*, text: str, of: Project, to: Project) -> None:
    """Those that the text names, for a project that begins with it."""
    GuidelineImage.objects.bulk_create(
        GuidelineImage(project=to, name=one.name, content=one.content, width=one.width, height=one.height)
        for one in GuidelineImage.objects.filter(project=of, name__in=names_in(text))
    )
