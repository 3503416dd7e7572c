"""Arrays of NumPy as values, and rows and records as arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from extenso._core import DTypeError, StructTensor, Tensor, constant, reshape, tensor
from extenso._interop.peers import components_of, records_of, refused
from extenso._types import MaskedTensor, RaggedTensor

Array = np.ndarray[Any, Any]


def from_numpy(x: Any) -> Any:
    """Returns the value of an array of NumPy of any dtype.

    Numbers in order share the memory of the array. A structured array becomes records, whatever is nested in it, and a
    masked array masked values; of masked records, a field is masked where one of its values is missing. Text of any
    dtype becomes strings, an array of objects what its objects are: strings, rows of arrays or lists, records of dicts,
    and missing for `None`.

    >>> import extenso as ex, numpy as np
    >>> ex.from_numpy(np.array([(1, "ada")], dtype=[("id", "i4"), ("name", "U8")])).to_py()
    [{'id': 1, 'name': 'ada'}]
    """
    if not isinstance(x, np.ndarray | np.generic) and not hasattr(x, "__array__"):
        raise refused("from_numpy", x, "an array of NumPy", "`constant` takes lists, and `tensor` numbers.")
    array = np.asanyarray(x)
    if isinstance(array, np.ma.MaskedArray):
        return _masked(array)
    return _plain(np.asarray(array))


def _masked(array: Any) -> Any:
    missing = np.ma.getmaskarray(array)
    if array.dtype.names is None:
        return MaskedTensor(_plain(array.data), tensor(~missing))
    return StructTensor(array.shape, {name: _masked_field(array[name]) for name in array.dtype.names})


def _masked_field(field: Any) -> Any:
    if not isinstance(field, np.ma.MaskedArray):
        return _plain(np.asarray(field))
    if field.dtype.names is not None:
        return _masked(field)
    return _masked(field) if np.ma.getmaskarray(field).any() else _plain(field.data)


def _plain(array: Array) -> Any:
    if array.dtype.names is not None:
        return StructTensor(array.shape, {name: _plain(array[name]) for name in array.dtype.names})
    if array.ndim == 0 and array.dtype.kind != "O":
        return reshape(_plain(array.reshape(1)), ())
    if array.dtype.kind == "V" and array.dtype.name.startswith("void"):
        return _reshaped(tensor([item.tobytes() for item in array.ravel()], "bytes"), array.shape)
    if array.dtype.kind == "T":
        return _text(array)
    if array.dtype.kind == "O":
        # Without objects nothing says what they would be; text is what arrays of objects hold most.
        return _objects(array) if array.size else tensor(array, "string")
    if array.dtype.kind == "c":
        raise DTypeError(f"from_numpy: found an array of {array.dtype}.\nWanted: real numbers. Take `.real` and `.imag`.")
    return tensor(array)


def _text(array: Any) -> Any:
    """The strings of NumPy's own type of text, which may have an object that stands for a missing one."""
    if not hasattr(array.dtype, "na_object"):
        return tensor(array)
    na = array.dtype.na_object
    flat = array.ravel().tolist()
    present = np.array([item is not na and item == item for item in flat], dtype=bool)
    texts = [item if here else "" for item, here in zip(flat, present, strict=True)]
    values = _reshaped(tensor(texts, "string"), array.shape)
    return MaskedTensor(values, tensor(present.reshape(array.shape)))


def _objects(array: Array) -> Any:
    if array.ndim == 1 and all(isinstance(item, np.ndarray) and item.ndim > 0 for item in array):
        joined = _joined(array.tolist())
        if joined is not None:
            return RaggedTensor.from_row_lengths(joined, tensor(np.array([len(item) for item in array], dtype=np.int64)))
    return constant(array.tolist())


def _joined(arrays: "Sequence[Any]") -> Any:
    """The values of all arrays in one; none where they differ in dtype or inner shape, which `constant` says better."""
    if len({(array.dtype, array.shape[1:]) for array in arrays}) != 1:
        return None
    masked = any(isinstance(array, np.ma.MaskedArray) for array in arrays)
    concatenate: Any = np.ma.concatenate if masked else np.concatenate
    return from_numpy(concatenate(arrays))


def _reshaped(values: Tensor, shape: "tuple[int, ...]") -> Any:
    return values if len(shape) == 1 else reshape(values, shape)


def to_numpy(x: Any) -> Any:
    """Returns the array of the tensor that a value says it is, or of the records of its components."""
    if components_of(x) and not hasattr(type(x), "__extenso_tensor__"):
        return records_of(x).to_numpy()
    return tensor(x).to_numpy()


def masked_to_numpy(x: MaskedTensor) -> Any:
    """Returns a masked array: its mask is true where a value is missing."""
    values: Any = x.values.to_numpy()
    missing = ~np.asarray(x.mask)
    missing = np.broadcast_to(missing.reshape(missing.shape + (1,) * (values.ndim - missing.ndim)), values.shape)
    out = np.ma.MaskedArray(values)
    out[missing] = np.ma.masked
    return out


def rows_to_numpy(rows: RaggedTensor) -> Array:
    """Returns an array of objects: for each row an array that shares the memory of the values."""
    values: Any = rows.flat_values.to_numpy()
    for splits in reversed(rows.nested_row_splits):
        values = _cut(values, splits.tolist())
    out: Array = values
    return out


def _cut(values: Array, splits: "list[int]") -> Array:
    rows = np.empty(len(splits) - 1, dtype=object)
    for i, (start, end) in enumerate(zip(splits, splits[1:], strict=False)):
        rows[i] = values[start:end]
    return rows


def records_to_numpy(records: StructTensor) -> Any:
    """Returns a structured array: a masked one if a field may be missing. Text and rows are objects."""
    fields = {name: records.field_value((name,)).to_numpy() for name in records.field_names()}
    shape: Any = records.shape
    types: Any = [(name, array.dtype, array.shape[len(shape) :]) for name, array in fields.items()]
    masked = any(isinstance(array, np.ma.MaskedArray) for array in fields.values())
    out: Any = np.ma.empty(shape, dtype=types) if masked else np.empty(shape, dtype=types)
    for name, array in fields.items():
        out[name] = array
    return out
