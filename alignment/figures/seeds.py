"""Randomness of a report: one generator for each figure."""

import hashlib

import numpy as np


def generator(seed: int, *names: object) -> np.random.Generator:
    """The generator behind one figure: it hangs on the project's seed and on what the figure is about, so that a figure
    is the same whichever others are asked for with it."""
    digest = hashlib.sha256("\x1f".join(map(str, (seed, *names))).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16]))
