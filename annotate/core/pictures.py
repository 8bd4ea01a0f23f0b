"""Pictures that people upload: never their file is kept, but its pixels, written anew, small and in one format."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePath
from typing import IO, Any

from django.utils.translation import gettext as _
from PIL import Image, ImageOps

from annotate.core.bodies import KIB, MIB
from annotate.core.errors import Refusal, TooLarge

MEDIA_TYPE = "image/webp"
MOST_BYTES = 5 * MIB
# Of what is decoded; a photo of 24 megapixels is within it, and 100 MB of memory for it.
MOST_PIXELS = 25_000_000
MOST_KEPT = 400 * KIB
# What a panel shows needs less; opened in full, text of a screenshot can still be read.
_WIDEST, _HIGHEST = 1600, 4800

_ENDINGS = {".png", ".jpg", ".jpeg", ".webp", ".gif"}
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
# The first that is small enough: screenshots mostly are without loss, of photos the rest.
_WITHOUT_LOSS: dict[str, Any] = {"lossless": True}
_WAYS: tuple[tuple[float, dict[str, Any]], ...] = (
    (1, _WITHOUT_LOSS), (1, {"quality": 82}), (1, {"quality": 60}), (0.6, {"quality": 60}), (0.35, {"quality": 50}),
)  # fmt: skip
# Threads of a web process take turns: what one picture takes while it is decoded is all that is taken.
_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class Picture:
    content: bytes
    width: int
    height: int


def read_picture(file: IO[bytes], *, name: str, size: int) -> Picture:
    """The picture in an uploaded file, without anything else that is in it.

    Raises TooLarge and Refusal (400) with a sentence. How many pixels there are is read before any is decoded.
    """
    if size > MOST_BYTES:
        raise TooLarge(
            "image_too_large", _("The image has more than %(most)d MB. Make it smaller.") % {"most": MOST_BYTES // MIB}
        )
    if PurePath(name).suffix.lower() not in _ENDINGS:
        raise _no_picture()
    with _one_at_a_time:
        try:
            with Image.open(file, formats=_FORMATS) as image:
                return _written_anew(image)
        except Image.DecompressionBombError as error:
            raise _too_many_pixels() from error
        except (OSError, ValueError, SyntaxError) as error:
            # What Pillow raises for what is no such picture, is cut off, or is more than it says.
            raise _no_picture() from error


def _written_anew(image: Image.Image) -> Picture:
    if image.width * image.height > MOST_PIXELS:
        raise _too_many_pixels()
    # A JPEG with several pictures is one of a camera with its own small copies.
    if image.format != "MPO" and getattr(image, "is_animated", False):
        raise Refusal("animated", _("Animated images can’t be used. Upload a still one."))
    ways = _WAYS[1:] if image.format in ("JPEG", "MPO") else _WAYS
    ImageOps.exif_transpose(image, in_place=True)
    seen = image.convert("RGBA" if image.has_transparency_data else "RGB")
    seen.thumbnail((_WIDEST, _HIGHEST))
    for scale, way in ways:
        content = _encoded(small := ImageOps.scale(seen, scale) if scale < 1 else seen, way)
        if len(content) <= MOST_KEPT:
            return Picture(content, small.width, small.height)
    raise Refusal("too_detailed", _("The image has too much detail to be kept small. Cut out a part of it."))


def _encoded(image: Image.Image, way: dict[str, Any]) -> bytes:
    written = BytesIO()
    # Nothing but pixels: else what the file says of its colours would come along.
    image.save(written, "WEBP", icc_profile=b"", exif=b"", xmp=b"", **way)
    return written.getvalue()


def _too_many_pixels() -> Refusal:
    most = MOST_PIXELS // 1_000_000
    return Refusal(
        "too_many_pixels", _("The image has more than %(most)d million pixels. Make it smaller.") % {"most": most}
    )


def _no_picture() -> Refusal:
    return Refusal("no_image", _("This file isn’t an image that can be used. Upload a PNG, JPEG, WebP or GIF file."))
