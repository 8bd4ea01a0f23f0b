"""Hashed names reach into our own modules' imports, and only there."""

from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage

from config.staticfiles import ModuleManifestStorage

FILES = {
    "label/main.js": (
        "// Modules may import and export { these } from others.\n"
        '/* import {x} from "./missing.js"; is an example in a comment\n * import "./missing.js"\n */\n'
        'import {a, b} from "./a.js";\n'
        "import {\n  c,\n  d,\n} from './deep/c.js'\n"
        'import "./deep/side.js";\n'
        'export * from "./a.js";\n'
        'const later = () => import("./deep/side.js");\n'
        'const text = "import nothing from here";\n'
        'import {e} from "https://example.org/e.js";\n'
    ),
    "label/a.js": "export const a = 1;\nexport const b = 2;\n",
    "label/deep/c.js": 'import {a} from "../a.js";\nexport const c = a;\nexport const d = a;\n',
    "label/deep/side.js": "console.log(1);\n",
    "other/vendor.js": '/* import {x} from "./missing.js" */\nimport {y} from "./absent.js";\n',
}


def collect(folder: Path, files: dict[str, str]) -> dict[str, str]:
    """Post-process these files as collectstatic does; the hashed names by the plain ones."""
    storage = ModuleManifestStorage(location=str(folder), base_url="/static/")
    plain = FileSystemStorage(location=str(folder))
    for name, text in files.items():
        plain.save(name, ContentFile(text))
    for _, _, processed in storage.post_process({name: (plain, name) for name in files}):
        assert not isinstance(processed, Exception), processed
    return {name: storage.stored_name(name) for name in files}


@pytest.fixture
def manifest_settings(settings) -> None:
    settings.DEBUG = False
    settings.STATIC_URL = "/static/"


def test_imports_in_our_modules_are_hashed(tmp_path: Path, manifest_settings: None) -> None:
    names = collect(tmp_path, FILES)
    text = (tmp_path / names["label/main.js"]).read_text()
    a, side, c = (Path(names[name]).name for name in ("label/a.js", "label/deep/side.js", "label/deep/c.js"))
    assert f'import {{a, b}} from "./{a}";' in text
    assert f'}} from "./deep/{c}"\n' in text
    assert f'import "./deep/{side}";' in text
    assert f'export * from "./{a}";' in text
    assert f'import("./deep/{side}")' in text
    assert f'from "../{a}";' in (tmp_path / names["label/deep/c.js"]).read_text()


def test_comments_strings_and_other_hosts_are_left_alone(tmp_path: Path, manifest_settings: None) -> None:
    text = (tmp_path / collect(tmp_path, FILES)["label/main.js"]).read_text()
    assert '/* import {x} from "./missing.js"; is an example in a comment\n * import "./missing.js"\n */' in text
    assert '"import nothing from here"' in text
    assert 'from "https://example.org/e.js"' in text


def test_files_of_others_are_left_alone(tmp_path: Path, manifest_settings: None) -> None:
    assert (tmp_path / collect(tmp_path, FILES)["other/vendor.js"]).read_text() == FILES["other/vendor.js"]


def test_a_change_below_renames_all_above(tmp_path: Path, manifest_settings: None) -> None:
    before = collect(tmp_path / "before", FILES)
    after = collect(tmp_path / "after", {**FILES, "label/a.js": "export const a = 3;\nexport const b = 2;\n"})
    changed = {name for name in FILES if before[name] != after[name]}
    assert changed == {"label/a.js", "label/deep/c.js", "label/main.js"}


def test_an_import_of_a_missing_file_stops_collectstatic(tmp_path: Path, manifest_settings: None) -> None:
    with pytest.raises(AssertionError, match=r"absent\.js"):
        collect(tmp_path, {"label/main.js": 'import {x} from "./absent.js";\n'})
