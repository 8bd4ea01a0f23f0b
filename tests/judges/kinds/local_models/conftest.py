"""Tests of models from a folder: `make test-models`. Where their libraries aren't installed nothing is collected."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") and find_spec("transformers") else ["test_*.py"]
