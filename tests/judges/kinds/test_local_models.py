"""Which folders a model may come from, without the libraries that load one; local_models/ has those."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotate.models import Project
from judges.endpoints.calls import StopRun
from judges.kinds import local_models
from judges.kinds.base import Kind, Refused
from judges.kinds.embedding import KIND as EMBEDDING
from judges.kinds.local_models import NoModel, checked_folder, hash_of, model_folder, model_names
from judges.kinds.nli import KIND as NLI
from tests.judges.building import make_project

pytestmark = pytest.mark.django_db
NAMES = {"0": "contradiction", "1": "neutral", "2": "entailment"}


@pytest.fixture
def models(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The operator's folder with one model in it, on a machine that has the libraries."""
    monkeypatch.setattr(local_models, "is_installed", lambda: True)
    top = tmp_path / "models"
    make_folder(top / "tiny")
    settings.JUDGE_MODELS_DIR = top
    return top


def make_folder(folder: Path, **config: Any) -> None:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"id2label": NAMES, **config}))
    (folder / "model.safetensors").write_bytes(b"weights")


@pytest.fixture
def project(db: None) -> Project:
    return make_project()


def _nli(project: Project, **config: Any) -> dict[str, Any]:
    return NLI.complete({"criterion": "support", "folder": "tiny", **config}, project)


def test_a_folder_below_the_operators(models: Path) -> None:
    assert model_folder("tiny") == models / "tiny"
    assert model_names() == ["tiny"]


@pytest.mark.parametrize(
    "name", ["..", ".", "", "../tiny", "tiny/", "a/b", "/etc", "/", ".hidden", "tiny\0", "tiny\n", "~", "nobody", "é"]
)
def test_names_that_lead_elsewhere(models: Path, name: str) -> None:
    make_folder(models / "a" / "b")
    make_folder(models / ".hidden")
    make_folder(models.parent / "outside")
    with pytest.raises(NoModel):
        model_folder(name)


def test_a_link_out_of_it_is_not_followed(models: Path) -> None:
    make_folder(models.parent / "outside")
    (models / "link").symlink_to(models.parent / "outside")
    with pytest.raises(NoModel):
        model_folder("link")


def test_a_pickle_is_no_model(models: Path) -> None:
    make_folder(models / "pickled")
    (models / "pickled" / "model.safetensors").rename(models / "pickled" / "pytorch_model.bin")
    with pytest.raises(NoModel, match="safetensors"):
        model_folder("pickled")
    assert model_names() == ["tiny"]


def test_without_a_folder_of_models(settings: Any, monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    monkeypatch.setattr(local_models, "is_installed", lambda: True)
    settings.JUDGE_MODELS_DIR = None
    assert model_names() == []
    with pytest.raises(Refused, match="JUDGE_MODELS_DIR") as refused:
        _nli(project)
    assert refused.value.field == "folder"


@pytest.mark.parametrize("kind", [NLI, EMBEDDING], ids=["nli", "embedding"])
def test_without_the_libraries(models: Path, monkeypatch: pytest.MonkeyPatch, project: Project, kind: Kind) -> None:
    config = kind.complete({"criterion": "support", "folder": "tiny"}, project)
    monkeypatch.setattr(local_models, "is_installed", lambda: False)
    with pytest.raises(Refused, match="WITH=models"):
        kind.complete({"criterion": "support", "folder": "tiny"}, project)
    with pytest.raises(StopRun, match="WITH=models") as stop:
        checked_folder(config["folder"], config["sha256"])
    assert stop.value.code == "needs_models"


def test_another_model_under_the_same_name_is_noticed(models: Path, project: Project) -> None:
    config = _nli(project)
    assert checked_folder("tiny", config["sha256"]) == models / "tiny"
    (models / "tiny" / "model.safetensors").write_bytes(b"other weights")
    assert hash_of(models / "tiny") != config["sha256"]
    with pytest.raises(StopRun) as stop:
        checked_folder("tiny", config["sha256"])
    assert stop.value.code == "model_changed"
    with pytest.raises(Refused) as refused:
        _nli(project, sha256=config["sha256"])
    assert refused.value.field == "sha256"


def test_a_folder_that_is_gone(models: Path, project: Project) -> None:
    config = _nli(project)
    (models / "tiny").rename(models / "elsewhere")
    with pytest.raises(StopRun) as stop:
        checked_folder("tiny", config["sha256"])
    assert stop.value.code == "no_model"


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (NAMES, "entailment"),
        ({"0": "ENTAILMENT", "1": "NEUTRAL", "2": "CONTRADICTION"}, "ENTAILMENT"),
        ({"0": "entailment", "1": "not_entailment"}, "entailment"),
    ],
)
def test_the_class_of_entailment_is_the_models_own(
    models: Path, project: Project, labels: dict[str, str], found: str
) -> None:
    make_folder(models / "other", id2label=labels)
    config = _nli(project, folder="other")
    assert config["entailment"] == found
    assert NLI.complete(config, project) == config


@pytest.mark.parametrize(
    ("labels", "field"),
    [({"0": "LABEL_0", "1": "LABEL_1"}, "entailment"), (None, "folder"), ({"zero": "entailment"}, "folder")],
)
def test_a_model_that_names_no_entailment(models: Path, project: Project, labels: Any, field: str) -> None:
    make_folder(models / "other", id2label=labels)
    with pytest.raises(Refused) as refused:
        _nli(project, folder="other")
    assert refused.value.field == field


def test_a_class_that_is_named(models: Path, project: Project) -> None:
    make_folder(models / "other", id2label={"0": "LABEL_0", "1": "LABEL_1"})
    assert _nli(project, folder="other", entailment="LABEL_1")["entailment"] == "LABEL_1"
    with pytest.raises(Refused):
        _nli(project, folder="other", entailment="LABEL_2")
