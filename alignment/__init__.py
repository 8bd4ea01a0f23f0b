"""How well raters, people and judges alike, agree: ratings in, estimates out.

Pure functions on arrays (numpy, scipy); no Django. Every statistic returns an ``Estimate``. Definitions and sources
stand in the functions; randomness arrives as ``rng``. ``Ratings.from_frame`` and ``alignment.frames`` are for pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alignment import frames as frames
    from alignment import report as report
    from alignment.public import *  # noqa: F403
else:

    def __getattr__(name):
        """Loaded when first asked for: numpy and scipy take half a second, which every start of a process that imports
        ``alignment`` would pay."""
        if name in ("frames", "report"):
            return import_module(f"alignment.{name}")
        if name == "__all__":
            return [each for each in vars(import_module("alignment.public")) if not each.startswith("_")]
        if name.startswith("_"):
            raise AttributeError(f"module 'alignment' has no attribute {name!r}")
        return getattr(import_module("alignment.public"), name)

    def __dir__():
        return sorted(("frames", "report", *__getattr__("__all__")))
