"""Models from a folder on this machine: below the operator's JUDGE_MODELS_DIR, read from disk only, never downloaded,
never a pickle, and no code that lies beside them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from judges.endpoints.calls import StopRun
from judges.kinds.base import Config
from judges.kinds.fields import Fields

# It begins with a letter or a digit, so that no name is hidden or leads upwards, and has no path separator.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_WEIGHTS = "*.safetensors"
# What a model and its tokeniser are loaded from; nothing else in the folder is looked at.
_READ = (_WEIGHTS, "*.json", "*.txt", "*.model")


class NoModel(Exception):
    """There is no such folder to load from; its text says why, in a sentence."""


def is_installed() -> bool:
    return find_spec("torch") is not None and find_spec("transformers") is not None


def model_names() -> list[str]:
    """The folders that a model can be loaded from."""
    top = settings.JUDGE_MODELS_DIR
    if top is None or not top.is_dir():
        return []
    return sorted(folder.name for folder in top.iterdir() if _NAME.fullmatch(folder.name) and _is_model(folder))


def model_folder(name: str) -> Path:
    """Raises NoModel."""
    top = settings.JUDGE_MODELS_DIR
    if top is None:
        raise NoModel(
            _("This installation has no model folder. The server administrator can set it in JUDGE_MODELS_DIR.")
        )
    known = ", ".join(model_names()) or _("none yet")
    folder = (top / name) if _NAME.fullmatch(name) else None
    if folder is None or not folder.is_dir() or not folder.resolve().is_relative_to(top.resolve()):
        raise NoModel(_("Must be the name of a model folder: %(names)s.") % {"names": known})
    if not _is_model(folder):
        raise NoModel(_("“%(name)s” has no config.json with weights as safetensors beside it.") % {"name": name})
    return folder


def config_of(folder: Path) -> dict[str, Any]:
    """The model's own configuration. Raises NoModel when it can't be read."""
    try:
        found = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise NoModel(_("The config.json of “%(name)s” can’t be read.") % {"name": folder.name})
    return found


def hash_of(folder: Path) -> str:
    """SHA-256 of everything that is loaded: another model under the same name is noticed."""
    files = sorted(file for pattern in _READ for file in folder.glob(pattern) if file.is_file())
    digest = hashlib.sha256()
    for file in files:
        state = file.stat()
        digest.update(f"{file.name}\0{_hash_of_file(str(file), state.st_size, state.st_mtime_ns)}\n".encode())
    return digest.hexdigest()


@lru_cache(maxsize=1000)
def _hash_of_file(path: str, size: int, changed_ns: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_model(folder: Path) -> bool:
    return (folder / "config.json").is_file() and any(folder.glob(_WEIGHTS))


def folder_fields(fields: Fields) -> tuple[dict[str, str], Path]:
    """Of a configuration: {"folder", "sha256"}, and where that is. sha256: of what was there when it was made."""
    if not is_installed():
        raise fields.refuse("folder", needs_models())
    try:
        folder = model_folder(fields.text("folder", longest=100))
    except NoModel as error:
        raise fields.refuse("folder", str(error)) from error
    digest = hash_of(folder)
    if fields.raw("sha256") not in (None, digest):
        raise fields.refuse("sha256", changed(folder.name))
    return {"folder": folder.name, "sha256": digest}, folder


def needs_models() -> str:
    return _("Models from a folder need what “make run WITH=models” installs.")


def changed(name: str) -> str:
    return _("The model in “%(name)s” is not the one this version was created with.") % {"name": name}


def checked_folder(name: str, digest: str) -> Path:
    """Where the model is that a version was made with. Raises StopRun."""
    if not is_installed():
        raise StopRun("needs_models", needs_models())
    try:
        folder = model_folder(name)
    except NoModel as error:
        raise StopRun("no_model", str(error)) from error
    if hash_of(folder) != digest:
        raise StopRun("model_changed", changed(name))
    return folder


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that is ready to be asked. longest: how many tokens it can read at once."""

    torch: Any
    tokenizer: Any
    model: Any
    longest: int


def load(config: Config, head: str) -> Loaded:
    """The model of a version's configuration. head: the name of one of transformers' classes. Raises StopRun."""
    folder = checked_folder(config["folder"], config["sha256"])
    torch, library = _libraries()
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(folder, **options)
        model = getattr(library, head).from_pretrained(folder, use_safetensors=True, **options)
    except Exception as error:  # whatever is wrong with a folder, the run can't go on, and its files are no secret
        raise StopRun(
            "no_model",
            _("The model in “%(name)s” can’t be loaded (%(error)s).")
            % {"name": folder.name, "error": type(error).__name__},
        ) from error
    if not tokenizer.is_fast:
        raise StopRun("no_model", _("“%(name)s” has no tokenizer.json.") % {"name": folder.name})
    model.eval()
    return Loaded(torch, tokenizer, model, _longest(tokenizer, model.config))


def _longest(tokenizer: Any, config: Any) -> int:
    positions = getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length
    # RoBERTa's positions begin after its padding token.
    if getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "camembert"):
        positions -= config.pad_token_id + 1
    return int(min(positions, tokenizer.model_max_length))


def _libraries() -> tuple[Any, Any]:
    """torch and transformers, which take seconds to load."""
    # Before it is loaded: it reads these once.
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return torch, transformers
