"""The file itself: written without knowing beforehand how long anything is, and read with every byte checked."""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NoReturn

from django.core.management import CommandError

# The first member. Another format has another number.
MARK = "touchstone-backup-1"
MANIFEST, SEAL = "manifest.json", "manifest.sha256"
CHUNK = 1024 * 1024
_BLOCK = tarfile.BLOCKSIZE
_END = bytes(2 * _BLOCK)

Manifest = dict[str, Any]


class Member:
    """One that is being written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._hash, self._bytes = file, hashlib.sha256(), 0

    def write(self, content: bytes) -> None:
        self._file.write(content)
        self._hash.update(content)
        self._bytes += len(content)

    def entry(self) -> dict[str, Any]:
        return {"bytes": self._bytes, "sha256": self._hash.hexdigest()}


@contextmanager
def member(file: IO[bytes], name: str) -> Iterator[Member]:
    """What is written to it stands in the tar under this name. Its header is written once more when its size is known;
    GNU's format has room for any."""
    header = tarfile.TarInfo(name)
    start = file.tell()
    file.write(header.tobuf(tarfile.GNU_FORMAT))
    content = Member(file)
    yield content
    header.size = content.entry()["bytes"]
    file.write(bytes(-header.size % _BLOCK))
    end = file.tell()
    file.seek(start)
    file.write(header.tobuf(tarfile.GNU_FORMAT))
    file.seek(end)


def begin(file: IO[bytes]) -> None:
    _write(file, MARK, b"")


def finish(file: IO[bytes], manifest: Manifest) -> str:
    """Returns the SHA-256 of the manifest, and thereby of all."""
    written = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True).encode()
    seal = hashlib.sha256(written).hexdigest()
    _write(file, MANIFEST, written)
    _write(file, SEAL, seal.encode())
    file.write(_END)
    return seal


def _write(file: IO[bytes], name: str, content: bytes) -> None:
    with member(file, name) as opened:
        opened.write(content)


class Archive:
    """A backup to read. Raises CommandError with the name of the file and the place in it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._tar = tarfile.open(path, "r:")  # noqa: SIM115 (`close` below)
        except OSError as error:
            raise CommandError(f"Cannot read {path}: {error.strerror}.") from None
        except tarfile.ReadError:
            raise CommandError(f"{path} is no backup of Touchstone: it is no tar file.") from None
        try:
            self._members = self._found()
            self.manifest: Manifest = self._sealed()
            self._said = {
                f"{kind}/{name}": entry for kind in ("tables", "files") for name, entry in self.manifest[kind].items()
            }
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._tar.close()

    def _found(self) -> dict[str, tarfile.TarInfo]:
        """By their headers alone, so that a file that breaks off is known before all of it is read."""
        found: list[tarfile.TarInfo] = []
        with suppress(tarfile.ReadError):
            for one in self._tar:
                found.append(one)  # noqa: PERF402 - what came before the error counts
        first = found[0].name if found else ""
        if first != MARK:
            raise CommandError(
                f"{self._path} is no backup that this version reads: it begins with “{first}”, not “{MARK}”."
            )
        last = found[-1]
        end = _end_of(last)
        if last.name != SEAL or self._path.stat().st_size != end + len(_END):
            self._refuse(f"it is not whole. What can be read ends with {last.name}, at byte {end:,}")
        return {one.name: one for one in found}

    def _sealed(self) -> Manifest:
        written = self._read(self._members[MANIFEST]) if MANIFEST in self._members else b""
        if hashlib.sha256(written).hexdigest() != self._read(self._members[SEAL]).decode(errors="replace"):
            self._refuse(f"{MANIFEST} was altered")
        try:
            manifest: Manifest = json.loads(written)
            _ = manifest["tables"].items(), manifest["files"].items()
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            self._refuse(f"{MANIFEST} is none")
        return manifest

    def check(self) -> None:
        """Reads all of it. Raises CommandError unless it is what the manifest says, and all of that."""
        different = self._members.keys() ^ {*self._said, MARK, MANIFEST, SEAL}
        if different:
            self._refuse(f"its manifest and its content differ in {min(different)}")
        for name in self._said:
            for _chunk in self.chunks(name):
                pass

    def chunks(self, name: str) -> Iterator[bytes]:
        """Raises CommandError at the end if it was not what the manifest says."""
        seen = hashlib.sha256()
        with self.open(name) as content:
            while chunk := content.read(CHUNK):
                seen.update(chunk)
                yield chunk
        if seen.hexdigest() != self._said[name]["sha256"]:
            where = self._members[name]
            self._refuse(f"{name} (bytes {where.offset_data:,} to {_end_of(where):,}) was altered")

    def open(self, name: str) -> IO[bytes]:
        content = self._tar.extractfile(self._members[name])
        if content is None:
            self._refuse(f"{name} is no file")
        return content

    def _read(self, one: tarfile.TarInfo) -> bytes:
        content = self._tar.extractfile(one)
        return content.read() if content else b""

    def _refuse(self, why: str) -> NoReturn:
        raise CommandError(f"{self._path} is damaged: {why}. Nothing was restored.")


def _end_of(one: tarfile.TarInfo) -> int:
    return one.offset_data + one.size + -one.size % _BLOCK
