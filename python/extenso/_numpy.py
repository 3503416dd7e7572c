"""Rows and records as NumPy arrays; imported when one is asked for."""

from typing import Any

import numpy as np

from extenso._core import StructTensor


def rows_to_numpy(rows: Any) -> "np.ndarray[Any, Any]":
    """Returns an array of objects: for each row an array that shares the memory of the values."""
    values: np.ndarray[Any, Any] = rows.flat_values.to_numpy()
    for splits in reversed(rows.nested_row_splits):
        values = _cut(values, splits.tolist())
    return values


def _cut(values: "np.ndarray[Any, Any]", splits: "list[int]") -> "np.ndarray[Any, Any]":
    rows = np.empty(len(splits) - 1, dtype=object)
    for i, (start, end) in enumerate(zip(splits, splits[1:], strict=False)):
        rows[i] = values[start:end]
    return rows


def records_to_numpy(records: StructTensor) -> "np.ndarray[Any, Any]":
    """Returns a structured array; text, rows and what may be missing are objects, `None` where missing."""
    fields = {name: _plain(records.field_value((name,)).to_numpy()) for name in records.field_names()}
    shape: Any = records.shape
    types: Any = [(name, array.dtype, array.shape[len(shape) :]) for name, array in fields.items()]
    out = np.empty(shape, dtype=types)
    for name, array in fields.items():
        out[name] = array
    return out


def _plain(array: Any) -> Any:
    if isinstance(array, np.ma.MaskedArray):
        plain = array.data.astype(object)
        plain[np.ma.getmaskarray(array)] = None
        return plain
    return array if array.dtype.kind in "biufV" else array.astype(object)
