"""The published data sets. They lie beside the repository; TOUCHSTONE_SHARED names another place."""

import os
from pathlib import Path

import pytest

from tests.conftest import ROOT


def shared_data(name: str) -> Path:
    folder = Path(os.environ.get("TOUCHSTONE_SHARED") or ROOT.parent / "shared") / "data" / name
    if not folder.is_dir():
        pytest.fail(f"The data set {name} is not at {folder}; set TOUCHSTONE_SHARED to the folder that holds data/.")
    return folder
