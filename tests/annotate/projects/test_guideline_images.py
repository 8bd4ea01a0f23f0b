"""Images of guidelines: who may upload and see them, how they are served, and that they stay while texts need them."""

from __future__ import annotations

from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from PIL import Image

from annotate.core.errors import Conflict, Invalid
from annotate.models import AuditEntry, GuidelineImage, User
from annotate.projects import guideline_images
from annotate.projects.guideline_images import add_image
from annotate.projects.guidelines import change_guidelines
from frontend.base.guideline_text import guidelines_html
from judges.endpoints.duplicate import duplicate_project
from tests.annotate.factories import World, make_world
from tests.clients import client_of

ROOT = "/api/projects/desk/guidelines/images/"


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    return make_world()


def png(color: str = "red", size: tuple[int, int] = (8, 6)) -> bytes:
    content = BytesIO()
    Image.new("RGB", size, color).save(content, "PNG")
    return content.getvalue()


def add(world: World, color: str = "red") -> GuidelineImage:
    content = png(color)
    return add_image(actor=world.alice, project=world.project, file=BytesIO(content), name="a.png", size=len(content))


def upload(user: User | None, content: bytes, name: str = "a.png") -> Any:
    return client_of(user).post(ROOT, {"file": SimpleUploadedFile(name, content)}, format="multipart")


def test_who_writes_guidelines_uploads_and_every_member_sees(world: World) -> None:
    reply = upload(world.rita, png())
    assert (reply.status_code, set(reply.json())) == (201, {"name", "width", "height"})
    assert (reply.json()["width"], reply.json()["height"]) == (8, 6)
    statuses = [upload(user, png("blue")).status_code for user in (world.ann, world.charlie, world.dora, None)]
    assert statuses == [403, 404, 404, 401]
    url = f"{ROOT}{reply.json()['name']}/"
    for user in (world.alice, world.rita, world.ann):
        served = client_of(user).get(url)
        assert served.status_code == 200
        assert served["Content-Type"] == "image/webp"
        assert served["Cache-Control"] == "private, max-age=31536000, immutable"
        assert served["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'self'" in served["Content-Security-Policy"]
        with Image.open(BytesIO(served.content)) as image:
            assert (image.format, image.size) == ("WEBP", (8, 6))
    assert [client_of(user).get(url).status_code for user in (world.charlie, world.dora, None)] == [404, 404, 401]
    # The same address in another project has nothing.
    assert client_of(world.dora).get(url.replace("desk", "next-door")).status_code == 404
    noted = AuditEntry.objects.get(action="guidelines.image_added")
    assert (noted.actor, noted.subject) == (world.rita, reply.json()["name"])
    assert noted.details == {"width": 8, "height": 6, "bytes": len(served.content)}


@pytest.mark.parametrize("name", ["a.html", "a.svg", "../../a.htm"])
def test_a_picture_with_a_script_under_another_name_is_refused(name: str, world: World) -> None:
    reply = upload(world.alice, png() + b"<script>alert(1)</script>", name)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "no_image")
    assert client_of(world.alice).post(ROOT, {}, format="multipart").status_code == 422
    assert not GuidelineImage.objects.exists()


def test_too_large_a_file_is_refused(world: World) -> None:
    assert upload(world.alice, bytes(5 * 2**20 + 1)).status_code == 413
    assert upload(world.alice, bytes(7 * 2**20)).status_code == 413


def test_the_same_picture_is_kept_once(world: World) -> None:
    assert add(world) == add(world)
    assert AuditEntry.objects.filter(action="guidelines.image_added").count() == 1
    assert add(world, "blue") != add(world)


def test_there_is_room_for_so_many_and_what_no_version_names_goes_first(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guideline_images, "MAX_IMAGES", 3)
    first, second, _third = add(world, "red"), add(world, "green"), add(world, "blue")
    with pytest.raises(Conflict) as refused:
        add(world, "black")
    assert refused.value.code == "too_many_images"
    change_guidelines(actor=world.alice, project=world.project, text=f"![One](image:{first.name})")
    change_guidelines(actor=world.alice, project=world.project, text="None any more.")
    GuidelineImage.objects.filter(pk__in=[first.pk, second.pk]).update(created_at=timezone.now() - timedelta(days=2))
    add(world, "black")
    left = set(GuidelineImage.objects.values_list("pk", flat=True))
    assert first.pk in left
    assert second.pk not in left
    assert len(left) == 3


def test_an_image_needs_words(world: World) -> None:
    image = add(world)
    for text in (f"![](image:{image.name})", f"One\n\n![ \n](<image:{image.name}>)"):
        with pytest.raises(Invalid) as refused:
            change_guidelines(actor=world.alice, project=world.project, text=text)
        assert refused.value.code == "image_without_words"
    change_guidelines(actor=world.alice, project=world.project, text=f"![A red box](image:{image.name})")


def test_a_duplicate_takes_along_what_its_text_names(world: World) -> None:
    image, _other = add(world, "red"), add(world, "blue")
    text = f"See ![A red box](image:{image.name})"
    change_guidelines(actor=world.alice, project=world.project, text=text)
    made = duplicate_project(actor=world.alice, project=world.project, slug="copy", name="Copy")
    (copied,) = GuidelineImage.objects.filter(project=made)
    assert (copied.name, bytes(copied.content)) == (image.name, bytes(image.content))
    assert f'src="/api/projects/copy/guidelines/images/{image.name}/"' in guidelines_html(made, made.guidelines)
    served = client_of(world.alice).get(f"/api/projects/copy/guidelines/images/{image.name}/")
    assert served.content == bytes(image.content)


def test_a_text_shows_no_image_of_another_project(world: World) -> None:
    image = add(world)
    shown = guidelines_html(world.other, f"![A red box](image:{image.name})")
    assert "<img" not in shown
    assert "[Image not found: A red box]" in shown
