"""Arrays of NumPy as values, and rows and records as arrays."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from extenso._core import (
    DTypeError,
    InvalidValueError,
    StructTensor,
    Tensor,
    _text_of,
    constant,
    reshape,
    size,
    tensor,
)
from extenso._interop import meanings
from extenso._interop.peers import components_of, records_of, refused
from extenso._types import MaskedTensor, RaggedTensor, TimeTensor

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


def of_array(x: Any, conversion: str) -> Any:
    """Returns the value of an array that another library holds, as `from_numpy` does; errors name the conversion."""
    try:
        return from_numpy(x)
    except (DTypeError, InvalidValueError) as error:
        raise type(error)(str(error).replace("from_numpy", conversion, 1)) from None


def _masked(array: Any) -> Any:
    missing = np.ma.getmaskarray(array)
    if array.dtype.names is None:
        # No object below the mask has a say.
        data: Any = np.where(missing, None, array.data) if array.dtype == object else array.data
        values = _plain(data)
        if isinstance(values, MaskedTensor) and values.mask.shape == missing.shape:
            return MaskedTensor(values.values, tensor(~missing & np.asarray(values.mask)))
        return MaskedTensor(values, tensor(~missing))
    # NumPy fails where it takes a field without elements from a masked array itself.
    field: Any = {name: np.ma.MaskedArray(array.data[name], missing[name]) for name in array.dtype.names}
    return StructTensor(array.shape, {name: _masked_field(array) for name, array in field.items()})


def _masked_field(field: Any) -> Any:
    if field.dtype.names is not None:
        return _masked(field)
    return _masked(field) if np.ma.getmaskarray(field).any() else _plain(field.data)


def _plain(array: Array) -> Any:
    if array.dtype.names is not None:
        return StructTensor(array.shape, {name: _plain(array[name]) for name in array.dtype.names})
    if array.ndim == 0 and array.dtype.kind != "O":
        return reshape(_plain(array.reshape(1)), ())
    if array.dtype.kind in "mM":
        return meanings.of_times(array)
    if array.dtype.kind == "V" and array.dtype.name.startswith("void"):
        return meanings.of_cells(array)
    if array.dtype.kind == "S":
        return _bytes(array.ravel().tolist(), array.shape)
    if array.dtype.kind in "UT":
        missing = getattr(array.dtype, "na_object", "")
        return _optional_text(array.ravel().tolist(), array.shape, hasattr(array.dtype, "na_object"), missing)
    if array.dtype.kind == "O":
        # Without objects nothing says what they would be; text is what arrays of objects hold most.
        return _objects(array) if array.size else tensor(array, "string")
    if array.dtype.kind == "c":
        raise DTypeError(f"from_numpy: found an array of {array.dtype}.\nWanted: real numbers. Take `.real` and `.imag`.")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        raise DTypeError(f"from_numpy: found an array of {array.dtype}.\nWanted: floats of 64 bits. Use `.astype('f8')`.")
    return tensor(array)


def _optional_text(items: "list[Any]", shape: "tuple[int, ...]", optional: bool, missing: object = None) -> Any:
    """The text of items, of which some may be the object that stands for a missing one, or NaN."""
    if not optional:
        return _text(items, shape)
    present = [item is not missing and item == item for item in items]
    texts = [item if here else "" for item, here in zip(items, present, strict=True)]
    return MaskedTensor(_text(texts, shape), tensor(np.array(present, dtype=bool).reshape(shape)))


def _text(items: "Sequence[str]", shape: "tuple[int, ...]") -> Any:
    joined = "".join(items)
    if joined.isascii():
        return _joined_text(joined.encode(), items, shape, "string")
    try:
        return _bytes([item.encode() for item in items], shape, "string")
    except UnicodeEncodeError as cause:
        text = f"from_numpy: the string {cause.object!r} has a lone surrogate.\nWanted: text that UTF-8 has."
        raise InvalidValueError(text) from None


def _bytes(items: "Sequence[bytes]", shape: "tuple[int, ...]", dtype: str = "bytes") -> Any:
    return _joined_text(b"".join(items), items, shape, dtype)


def _joined_text(data: bytes, items: "Sequence[str] | Sequence[bytes]", shape: "tuple[int, ...]", dtype: str) -> Any:
    """The tensor of strings that have so many bytes each, joined at once: a million of them are a million objects already."""
    offsets = np.zeros(len(items) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, items), dtype=np.int64, count=len(items)), out=offsets[1:])
    return _text_of(dtype, shape, offsets, np.frombuffer(data or b"\0", dtype=np.uint8)[: len(data)])


def _objects(array: Array) -> Any:
    items = array.ravel().tolist()
    kinds = set(map(type, items))
    if kinds in ({str}, {bytes}):
        return (_text if str in kinds else _bytes)(items, array.shape)
    if kinds == {str, type(None)}:
        return _optional_text(items, array.shape, optional=True)
    there = [item for item in items if item is not None]
    if array.ndim == 1 and there and all(isinstance(item, np.ndarray) and item.ndim > 0 for item in there):
        joined = _joined(there)
        if joined is not None:
            lengths = [0 if item is None else len(item) for item in items]
            rows = RaggedTensor.from_row_lengths(joined, tensor(np.array(lengths, dtype=np.int64)))
            return rows if len(there) == len(items) else MaskedTensor(rows, tensor([item is not None for item in items]))
    known = meanings.of_objects(items)
    return constant(array.tolist()) if known is None else reshape(known, array.shape)


def _joined(arrays: "Sequence[Any]") -> Any:
    """The values of all arrays in one; none where they differ in dtype or inner shape, which `constant` says better."""
    if len({(array.dtype, array.shape[1:]) for array in arrays}) != 1:
        return None
    masked = any(isinstance(array, np.ma.MaskedArray) for array in arrays)
    concatenate: Any = np.ma.concatenate if masked else np.concatenate
    return from_numpy(concatenate(arrays))


def to_numpy(x: Any) -> Any:
    """Returns the array of the tensor that a value says it is, or of the records of its components.

    Rows are an array of arrays, records a structured array, and masked values a masked array.
    """
    _refuse_unsaid(x, "to_numpy")
    return _made(x)


def _refuse_unsaid(x: Any, conversion: str) -> None:
    """Refuses times that are there and that NumPy or its objects cannot say."""
    meanings.refuse_least(x, conversion)
    if meanings.any_time(x, lambda time: True, TimeTensor):
        meanings.refuse_beyond_the_day(x, conversion)
        meanings.refuse_parts_of_microseconds(x, conversion)


def records_to_numpy(records: StructTensor) -> Any:
    """Returns a structured array: a masked one if a field may be missing. Text and rows are objects."""
    return to_numpy(records)


def _made(x: Any) -> Any:
    if isinstance(x, Tensor):
        return bf16_to_numpy(x) if x.dtype.name == "bf16" else x.to_numpy()
    if isinstance(x, StructTensor):
        return _of_records(x)
    if isinstance(x, MaskedTensor):
        return _of_masked(x)
    if isinstance(x, RaggedTensor):
        return _of_rows(x)
    if components_of(x) and not hasattr(type(x), "__extenso_tensor__"):
        return _of_records(records_of(x))
    array = meanings.to_numpy(x)
    return tensor(x).to_numpy() if array is None else array


def bf16_to_numpy(x: Tensor) -> Array:
    """Returns the array of a tensor of bf16, of which `ml_dtypes` has the dtype; a copy.

    Errors: `ml_dtypes` is not installed.
    """
    try:
        dtype: Any = import_module("ml_dtypes").bfloat16
    except ModuleNotFoundError:
        what = "to_numpy: found bf16, which is a dtype of NumPy where ml_dtypes is installed."
        raise DTypeError(f"{what}\nWanted: another dtype. Cast first: `cast(x, 'f32')`, or pip install ml_dtypes.") from None
    # What is pickled are the bits; neither a buffer nor DLPack gives NumPy those of bf16.
    _, (_, sizes, data, _) = x.__reduce__()
    return np.ndarray(sizes, dtype, data)


def _of_masked(x: MaskedTensor) -> Any:
    """A masked array: its mask is true where a value is missing."""
    values: Any = _made(x.values)
    missing = ~np.asarray(x.mask)
    missing = np.broadcast_to(missing.reshape(missing.shape + (1,) * (values.ndim - missing.ndim)), values.shape)
    out = np.ma.MaskedArray(values)
    out[missing] = np.ma.masked
    return out


def _of_rows(rows: RaggedTensor) -> Array:
    """An array of objects: for each row an array that shares the memory of the values."""
    values: Any = _made(rows.flat_values)
    for splits in reversed(rows.nested_row_splits):
        values = _cut(values, splits.tolist())
    out: Array = values
    return out


def _cut(values: Array, splits: "list[int]") -> Array:
    rows = np.empty(len(splits) - 1, dtype=object)
    for i, (start, end) in enumerate(zip(splits, splits[1:], strict=False)):
        rows[i] = values[start:end]
    return rows


def _of_records(records: StructTensor) -> Any:
    fields = {name: _made(records.field_value((name,))) for name in records.field_names()}
    shape: Any = records.shape
    types: Any = [(name, array.dtype, array.shape[len(shape) :]) for name, array in fields.items()]
    masked = any(isinstance(array, np.ma.MaskedArray) for array in fields.values())
    out: Any = np.ma.empty(shape, dtype=types) if masked else np.empty(shape, dtype=types)
    for name, array in fields.items():
        out[name] = array
    return out


def array_of(x: Any, dtype: Any, copy: "bool | None") -> Any:
    """Returns the array that says what a value says, for `numpy.asarray`."""
    if copy is False:
        raise ValueError(f"A {type(x).__name__} is no array of NumPy without a copy.")
    _refuse_unsaid(x, "asarray")
    return np.array(_said(x), dtype=dtype)


def _said(x: Any) -> Any:
    if isinstance(x, RaggedTensor):
        dense = x.to_tensor()
        if size(dense).item() != size(x).item():
            raise ValueError("The rows have several lengths. `to_numpy` gives an array of arrays, `to_tensor` pads.")
        return _said(dense)
    if not isinstance(x, MaskedTensor):
        return _made(x)
    values, missing = _said(x.values), ~np.asarray(x.mask)
    if not missing.any():
        return values
    floats = values.dtype.kind == "f"
    out = np.array(values, dtype=None if floats else object)
    out[missing] = np.nan if floats else None
    return out
