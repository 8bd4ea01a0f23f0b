"""What pages load is bundled when static files are collected, under names that contain their content's hash."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as actual
from django.contrib.staticfiles import finders
from django.core.files.storage import FileSystemStorage
from django.http import HttpResponse
from django.templatetags.static import static
from django.test import RequestFactory
from whitenoise.middleware import WhiteNoiseMiddleware

from config import staticfiles
from config.staticfiles import BundledManifestStorage, bundle, page_files

FILES = {
    "label/work.js": (
        "// Modules may import and export { these } from others.\n"
        '/* import {x} from "./missing.js"; is an example in a comment */\n'
        'import {a, b} from "../base/a.js";\n'
        'import {\n  c as other,\n} from "./part.js"\n'
        'import "./side.js";\n'
        'console.log(a, b, other, "import nothing from here");\n'
    ),
    "label/part.js": 'import {a} from "../base/a.js";\nexport const c = a + "-c";\nexport const d = "nobody asks";\n',
    "label/side.js": 'console.log("first");\n',
    "label/work.css": '@import "../base/base.css";\n.work { color: var(--ink) }\n::highlight(cursor) { color: red }\n',
    "base/a.js": "export const a = [1].at(0);\nexport const b = [2].at(0);\n",
    "base/base.css": ":root { --ink: #123456 }\n",
}
OTHERS = {"vendor/vendor.js": '/* import {x} from "./missing.js" */\nimport {y} from "./absent.js";\n'}
PAGE = ["label/work.css", "label/work.js"]


def write(folder: Path, files: dict[str, str]) -> list[Path]:
    """The files in the rooms they belong to; the rooms' folders."""
    rooms = {folder / name.partition("/")[0] / "static" for name in files}
    for name, text in files.items():
        path = folder / name.partition("/")[0] / "static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return sorted(rooms)


@pytest.fixture
def production(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    settings.DEBUG = False
    settings.STATIC_URL = "/static/"
    monkeypatch.setattr(staticfiles, "page_files", lambda: PAGE)
    return settings


def collect(folder: Path, files: dict[str, str], settings: Any) -> tuple[Path, dict[str, str]]:
    """As collectstatic does: where the files are now, and the hashed names by the plain ones."""
    settings.STATICFILES_DIRS = write(folder / "rooms", files)
    target = folder / "collected"
    storage = BundledManifestStorage(location=str(target), base_url="/static/")
    paths: dict[str, Any] = {}
    for name, text in {**files, **OTHERS}.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text)
        paths[name] = (FileSystemStorage(location=str(target)), name)
    for _, _, processed in storage.post_process(paths):
        assert not isinstance(processed, Exception), processed
    return target, {name: storage.stored_name(name) for name in paths}


def test_a_page_gets_one_script_and_one_style_sheet(tmp_path: Path, production: Any) -> None:
    target, names = collect(tmp_path, FILES, production)
    script, style = ((target / names[name]).read_text() for name in ("label/work.js", "label/work.css"))
    assert "import{" not in script
    assert "@import" not in style
    assert script.index('"first"') < script.index('"import nothing from here"')
    assert "nobody asks" not in script
    assert style.index("--ink") < style.index(".work") < style.index("::highlight(cursor)")


def test_what_a_page_is_made_of_is_in_its_source_map_only(tmp_path: Path, production: Any) -> None:
    target, names = collect(tmp_path, FILES, production)
    mine = {name for name in names if name not in OTHERS}
    assert mine == {"label/work.css", "label/work.css.map", "label/work.js", "label/work.js.map"}
    assert not (target / "label" / "part.js").exists()
    for name, made_of in (
        ("label/work.js", ["base/a.js", "label/part.js", "label/side.js", "label/work.js"]),
        ("label/work.css", ["base/base.css", "label/work.css"]),
    ):
        hashed_map = Path(names[f"{name}.map"])
        assert f"sourceMappingURL={hashed_map.name}" in (target / names[name]).read_text()
        found = json.loads((target / hashed_map).read_text())
        assert sorted(found["sources"]) == made_of
        assert found["sourceRoot"] == "/static/"
        assert found["sourcesContent"] == [FILES[source] for source in found["sources"]]


def test_files_of_others_are_left_alone(tmp_path: Path, production: Any) -> None:
    target, names = collect(tmp_path, FILES, production)
    assert (target / names["vendor/vendor.js"]).read_text() == OTHERS["vendor/vendor.js"]


def test_a_change_below_renames_what_is_made_of_it(tmp_path: Path, production: Any) -> None:
    _, before = collect(tmp_path / "before", FILES, production)
    _, same = collect(tmp_path / "elsewhere", FILES, production)
    assert same == before
    changed = {"base/a.js": "export const a = [3].at(0), b = [2].at(0);\n"}
    _, after = collect(tmp_path / "after", {**FILES, **changed}, production)
    assert {name for name in before if before[name] != after[name]} == {"label/work.js", "label/work.js.map"}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"label/part.js": 'import "../base/missing.js";\nexport const c = 1;\n'}, "missing.js"),
        ({"label/part.js": "export const c = ;\n"}, "part.js"),
        ({"label/part.js": "export const d = 1;\n"}, '"c"'),
        ({"label/work.css": '@import "../base/missing.css";\n'}, "missing.css"),
        ({"label/work.css": ".work { background: url(missing.svg) }\n"}, "missing.svg"),
    ],
    ids=["import", "syntax", "export", "@import", "url()"],
)
def test_a_mistake_stops_collectstatic(tmp_path: Path, changed: dict[str, str], named: str) -> None:
    rooms = write(tmp_path / "rooms", {**FILES, **changed})
    with pytest.raises(RuntimeError, match=re.escape(named)):
        bundle(PAGE, rooms, tmp_path / "collected")


def test_a_page_that_names_what_is_not_there_stops_collectstatic(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"label/gone\.js: a page names it, and it is not there"):
        bundle([*PAGE, "label/gone.js"], write(tmp_path / "rooms", FILES), tmp_path / "collected")


def test_bundling_leaves_nothing_among_the_sources(tmp_path: Path) -> None:
    rooms = write(tmp_path / "rooms", FILES)
    bundle(PAGE, rooms, tmp_path / "collected")
    there = {path.relative_to(room).as_posix() for room in rooms for path in room.rglob("*") if path.is_file()}
    assert there == FILES.keys()


# The application's own files


def test_a_template_names_one_script_and_one_style_sheet_at_most(root: Path) -> None:
    for template in (root / "frontend").rglob("*.html"):
        named = re.findall(r'{% static "[^"]+\.(css|js)" %}', template.read_text())
        assert len(named) == len(set(named)), template.name


def test_a_room_takes_from_base_and_from_no_other(root: Path) -> None:
    for path in (root / "frontend").glob("*/static/*/*"):
        if path.suffix in {".css", ".js"}:
            rooms = set(re.findall(r'"\.\./(\w+)/[^"]+"', path.read_text()))
            gathers = path.name == "all-pages.css"
            assert gathers or rooms <= ({"base"} if path.parent.name != "base" else set()), path.name


def test_every_module_is_part_of_a_page(root: Path, tmp_path: Path) -> None:
    rooms = [Path(room) for room in actual.STATICFILES_DIRS]
    made = bundle(page_files(), rooms, tmp_path)
    sources = {
        source
        for name in made
        if name.endswith(".map")
        for source in json.loads((tmp_path / name).read_text())["sources"]
    }
    there = {
        path.relative_to(room).as_posix()
        for room in rooms
        for path in room.rglob("*")
        if path.suffix in {".css", ".js"}
    }
    # The rules that only the file with a report needs are written into it.
    assert there - sources - set(page_files()) == {"reports/report-file.css"}


def test_what_is_collected_is_whole(collected_static: Path) -> None:
    names: dict[str, str] = json.loads((collected_static / "staticfiles.json").read_text())["paths"]
    rooms = {Path(room).parent.name for room in actual.STATICFILES_DIRS}
    ours = [name for name in names if name.partition("/")[0] in rooms and Path(name).suffix in {".css", ".js"}]
    assert sorted(ours) == page_files()
    for name in ours:
        hashed = collected_static / names[name]
        text = hashed.read_text()
        (source_map,) = re.findall(r"sourceMappingURL=(\S+)", text)
        assert (hashed.parent / source_map).name == Path(names[f"{name}.map"]).name
        assert (hashed.parent / source_map).exists()
        assert len(text) < 1000 or hashed.with_name(f"{hashed.name}.gz").exists()
        assert not re.search(r"@import|\burl\(|\bimport\b[^:]*?[\"']\.", text), name
        assert str(actual.BASE_DIR) not in (hashed.parent / source_map).read_text()


def test_with_debug_pages_load_the_modules_as_they_are(settings: Any) -> None:
    settings.DEBUG = True
    middleware = WhiteNoiseMiddleware(lambda request: HttpResponse(status=404))

    def served(name: str) -> str:
        response: Any = middleware(RequestFactory().get(static(name)))
        assert response.status_code == 200, name
        with response.file_to_stream as file:
            text: str = file.read().decode()
        return text

    waiting, seen = page_files(), set[str]()
    while waiting:
        name = waiting.pop()
        text = served(name)
        assert text == Path(str(finders.find(name))).read_text()
        seen.add(name)
        folder = Path(name).parent
        for imported in re.findall(r'(?m)^(?:import\b.*|@import )"(\.[^"]+)";', text):
            found = (Path("/") / folder / imported).resolve().relative_to("/").as_posix()
            waiting += [found] if found not in seen else []
    assert "label/outbox.js" in seen
    assert "base/base.css" in seen
