"""What columns of Arrow would take as values, without making any: from lengths, offsets and dictionaries alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# What a value costs besides its text: of a null in a list the file needs less than a bit.
_VALUE_BYTES = 64


def row_bytes(array: pa.Array) -> np.ndarray[Any, Any]:
    """What each row of a column would take as values, from lengths and offsets alone."""
    kind, types = array.type, pa.types
    own = np.full(len(array), _VALUE_BYTES, np.int64)
    lengths = text_lengths(array)
    if lengths is not None:
        return own + lengths
    if types.is_struct(kind):
        return own + sum((row_bytes(child) for child in array.flatten()), np.zeros(len(array), np.int64))
    if types.is_list(kind) or types.is_large_list(kind):
        offsets = _numbers(array.offsets)
        inner = array.values.slice(offsets[0], offsets[-1] - offsets[0])
        summed = np.concatenate(([0], np.cumsum(row_bytes(inner))))
        return own + summed[offsets[1:] - offsets[0]] - summed[offsets[:-1] - offsets[0]]
    if types.is_fixed_size_list(kind):
        inner = array.values.slice(array.offset * kind.list_size, len(array) * kind.list_size)
        return own + row_bytes(inner).reshape(len(array), kind.list_size).sum(axis=1)
    return own


def text_lengths(array: pa.Array) -> np.ndarray[Any, Any] | None:
    """Bytes of each text, 0 of none; None when the column holds something else."""
    if pa.types.is_dictionary(array.type):
        lengths = text_lengths(array.dictionary)
        if lengths is None:
            return None
        behind_all = len(lengths)
        return np.append(lengths, 0)[np.where(_numbers(array.is_valid()), _numbers(array.indices), behind_all)]
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return _numbers(pc.binary_length(array)) * _numbers(array.is_valid())
    return None


def _numbers(array: pa.Array) -> np.ndarray[Any, Any]:
    """Whole numbers as they lie in memory. Arrow's own ways load pandas, where that is installed."""
    array = array.cast(pa.int64())
    return np.frombuffer(array.buffers()[1], np.int64, len(array), 8 * array.offset)
