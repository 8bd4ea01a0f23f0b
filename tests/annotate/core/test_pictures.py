"""What is kept of an uploaded picture: its pixels, written anew, and nothing else of the file."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from annotate.core.errors import Refusal, TooLarge
from annotate.core.pictures import MOST_BYTES, MOST_KEPT, Picture, read_picture

SCRIPT = b"<script>alert(document.domain)</script>"


def written(file_format: str, size: tuple[int, int] = (60, 40), *, mode: str = "RGB", **more: Any) -> bytes:
    file = BytesIO()
    Image.new(mode, size, "#c02040").save(file, file_format, **more)
    return file.getvalue()


def kept(content: bytes, name: str) -> Picture:
    return read_picture(BytesIO(content), name=name, size=len(content))


def code_of(content: bytes, name: str) -> tuple[str, int]:
    with pytest.raises(Refusal) as refused:
        kept(content, name)
    return refused.value.code, refused.value.status


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few kilobytes that says it has so many pixels, and has them."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((width + 7) // 8 + 1) * height, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("file_format", "name"),
    [("PNG", "a.png"), ("JPEG", "A.JPG"), ("JPEG", "a.jpeg"), ("WEBP", "a.webp"), ("GIF", "a.gif")],
)
def test_each_format_is_kept_as_one(file_format: str, name: str) -> None:
    picture = kept(written(file_format), name)
    assert (picture.width, picture.height) == (60, 40)
    with Image.open(BytesIO(picture.content)) as image:
        assert (image.format, image.size) == ("WEBP", (60, 40))
        assert image.convert("RGB").getpixel((30, 20))[0] in range(0xB8, 0xC8)  # type: ignore[index]


def test_nothing_but_pixels_is_kept() -> None:
    where = Image.Exif()
    where[0x010E] = "Taken at home"
    for file_format in ("JPEG", "PNG", "WEBP"):
        content = written(file_format, exif=where, icc_profile=b"profile of colours" * 20)
        assert b"Taken at home" in content
        picture = kept(content + SCRIPT, f"a.{file_format.lower()}")
        for part in (b"Taken at home", b"profile of colours", b"EXIF", b"ICCP", b"script"):
            assert part not in picture.content


def test_a_photo_stands_upright() -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    assert (picture := kept(written("JPEG", exif=turned), "a.jpg")).width == 40
    assert picture.height == 60


def test_transparency_is_kept() -> None:
    content = BytesIO()
    Image.new("RGBA", (4, 4), (0, 0, 0, 0)).save(content, "PNG")
    with Image.open(BytesIO(kept(content.getvalue(), "a.png").content)) as image:
        assert image.getpixel((1, 1))[3] == 0  # type: ignore[index]


def test_a_large_one_is_made_small() -> None:
    noise = BytesIO()
    Image.effect_noise((2400, 1200), 90).convert("RGB").save(noise, "JPEG", quality=90)
    picture = kept(noise.getvalue(), "a.jpg")
    assert len(picture.content) <= MOST_KEPT
    assert picture.width <= 1600
    assert abs(picture.width - 2 * picture.height) <= 1
    assert kept(written("PNG", (3000, 30)), "a.png").width == 1600


@pytest.mark.parametrize("name", ["a.html", "a.svg", "a.png.html", "a", "a.bmp", ".png", "a.png\x00.svg"])
def test_a_picture_under_another_name_is_refused(name: str) -> None:
    assert code_of(written("PNG") + SCRIPT, name) == ("no_image", 400)


@pytest.mark.parametrize(
    "content",
    [
        b"", SCRIPT, b'<svg xmlns="http://www.w3.org/2000/svg"/>', written("BMP"), written("TIFF"), written("PNG")[:60],
        written("JPEG")[:-300], b"%PDF-1.7", written("GIF")[:20],
    ],
    ids=range(9),
)  # fmt: skip
def test_what_is_no_picture_is_refused(content: bytes) -> None:
    assert code_of(content, "a.png") == ("no_image", 400)


def test_moving_ones_are_refused() -> None:
    frames = [Image.new("RGB", (8, 8), color) for color in ("red", "blue")]
    for file_format in ("GIF", "WEBP", "PNG"):
        content = BytesIO()
        frames[0].save(content, file_format, save_all=True, append_images=frames[1:])
        assert code_of(content.getvalue(), f"a.{file_format.lower()}") == ("animated", 400)


@pytest.mark.parametrize("size", [(6000, 5000), (20_000, 20_000)])
def test_a_bomb_is_refused_by_what_it_says(size: tuple[int, int]) -> None:
    content = bomb(*size)
    assert len(content) < 100_000
    assert code_of(content, "a.png") == ("too_many_pixels", 400)


def test_too_many_bytes_are_refused_unread() -> None:
    with pytest.raises(TooLarge):
        read_picture(BytesIO(b""), name="a.png", size=MOST_BYTES + 1)
