"""Making the .mo files: from nothing, once, whole, and always the same."""

from __future__ import annotations

import gettext
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from frontend.translation import catalogue
from tests.conftest import ROOT

PO = """msgid ""
msgstr ""
"Language: zh_Hans\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"
"Content-Type: text/plain; charset=utf-8\\n"

msgid "Yes"
msgstr "是"

#, fuzzy
msgid "No"
msgstr "不"

msgid "%(n)s unit"
msgid_plural "%(n)s units"
msgstr[0] ""
"""


@pytest.fixture
def po(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "zh_Hans" / "LC_MESSAGES" / "django.po"
    path.parent.mkdir(parents=True)
    path.write_text(PO, encoding="utf-8")
    monkeypatch.setattr(catalogue, "LOCALE", tmp_path)
    return path


def texts(path: Path) -> gettext.GNUTranslations:
    with path.open("rb") as file:
        return gettext.GNUTranslations(file)


def test_makes_what_is_missing_and_only_that(po: Path) -> None:
    target = po.with_suffix(".mo")
    assert catalogue.compile_catalogues() == [target]
    assert catalogue.compile_catalogues() == []
    assert texts(target).gettext("Yes") == "是"


def test_leaves_english_what_is_not_translated(po: Path) -> None:
    catalogue.compile_catalogues()
    said = texts(po.with_suffix(".mo"))
    assert said.gettext("No") == "No"
    assert said.ngettext("%(n)s unit", "%(n)s units", 5) == "%(n)s units"


def test_makes_it_anew_when_the_translations_change(po: Path) -> None:
    catalogue.compile_catalogues()
    po.write_text(PO.replace("是", "对"), encoding="utf-8")
    assert catalogue.compile_catalogues() == [po.with_suffix(".mo")]
    assert texts(po.with_suffix(".mo")).gettext("Yes") == "对"


def test_makes_it_anew_when_it_is_broken(po: Path) -> None:
    po.with_suffix(".mo").write_bytes(b"half a file")
    assert catalogue.compile_catalogues() == [po.with_suffix(".mo")]
    assert texts(po.with_suffix(".mo")).gettext("Yes") == "是"


def test_gives_the_same_bytes_every_time(po: Path) -> None:
    made = []
    for _ in range(2):
        catalogue.compile_catalogues()
        made.append(po.with_suffix(".mo").read_bytes())
        po.with_suffix(".mo").unlink()
    assert made[0] == made[1]


def test_many_at_once_leave_one_whole_file(po: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: catalogue.compile_catalogues(), range(32)))
    assert texts(po.with_suffix(".mo")).gettext("Yes") == "是"
    assert sorted(path.name for path in po.parent.iterdir()) == ["django.mo", "django.po"]


def test_a_fresh_checkout_speaks_chinese(tmp_path: Path) -> None:
    """Nothing but what is in the repository: the command that the Dockerfile runs makes the rest."""
    ignored = shutil.ignore_patterns("*.mo", "__pycache__")
    shutil.copytree(ROOT / "frontend" / "locale", tmp_path / "frontend" / "locale", ignore=ignored)
    shutil.copytree(ROOT / "frontend" / "translation", tmp_path / "frontend" / "translation", ignore=ignored)
    (tmp_path / "frontend" / "__init__.py").touch()
    subprocess.run([sys.executable, "-m", "frontend.translation.catalogue"], cwd=tmp_path, check=True)
    made = tmp_path / "frontend" / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.mo"
    assert texts(made).gettext("Log in") == "登录"
