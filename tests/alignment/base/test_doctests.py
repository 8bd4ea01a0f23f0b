"""The examples in the docstrings run."""

import doctest
import importlib
import pkgutil

import alignment


def test_examples():
    run = 0
    for module in pkgutil.walk_packages(alignment.__path__, "alignment."):
        result = doctest.testmod(importlib.import_module(module.name))
        assert result.failed == 0, module.name
        run += result.attempted
    assert run > 10
