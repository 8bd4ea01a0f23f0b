"""Static files under names that contain their content's hash, so that browsers may keep them for ever."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from whitenoise.storage import CompressedManifestStaticFilesStorage

from config.bundles import bundle, page_files


class BundledManifestStorage(CompressedManifestStaticFilesStorage):
    """Also bundles what pages load, before it is hashed and compressed; what bundles are made of is not served."""

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[Any, Any, Any]]:
        if not dry_run:
            self._bundle(paths)
        yield from super().post_process(paths, dry_run=dry_run, **options)

    def _bundle(self, paths: dict[str, Any]) -> None:
        rooms = [Path(room) for room in settings.STATICFILES_DIRS]
        for room in rooms:
            for source in room.rglob("*"):
                if source.suffix in {".css", ".js"}:
                    name = source.relative_to(room).as_posix()
                    self.delete(name)
                    del paths[name]
        for name in bundle(page_files(), rooms, Path(self.location)):
            paths[name] = (self, name)
