"""The methods by which a value becomes one of another library, or stands beside one: the same ones for every class of values.

They stand here and not in each class, which may be written in Rust or by a user; `extenso._interop` does the work, and is
imported when a method is first called.
"""

from extenso._core import ExtensionType, OpaqueExtension, StructTensor, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def to_pandas(self: "Any", index: "Any" = None) -> "Any":
    """Returns the DataFrame of records, and the Series of any other value.

    Numbers and booleans are columns of NumPy, masked ones of pandas' nullable dtypes, strings of its `string`. Records in
    records become columns of several levels; rows, dense axes and bytes columns of an `ArrowDtype`, which need pyarrow.
    Records have one axis, and other values at least one: a scalar is an error.

    With `index`, the field of a name becomes the index in place of a column; a tuple of names is a field of records inside, and a
    list of several is an index of several levels. So `from_pandas(frame).to_pandas(index=frame.index.names)` is the frame where
    the levels of its index have names. A name that is no field is a `MissingNameError`.

    >>> import extenso as ex
    >>> records = ex.constant([{"id": 1, "score": 0.5}, {"id": 2, "score": None}])
    >>> records.to_pandas().dtypes.to_dict()
    {'id': dtype('int64'), 'score': Float64Dtype()}
    >>> frame = records.to_pandas(index="id")
    >>> frame.index.tolist(), frame.columns.tolist()
    ([1, 2], ['score'])
    """
    from extenso._interop import pandas

    return pandas.to_pandas(self, index)


def to_polars(self: "Any") -> "Any":
    """Returns the DataFrame of records, and the Series of any other value; a scalar is an error.

    >>> import extenso as ex
    >>> ex.constant([{"id": 1, "tags": ["x"]}]).to_polars().to_dicts()
    [{'id': 1, 'tags': ['x']}]
    """
    from extenso._interop import polars

    return polars.to_polars(self)


def to_awkward(self: "Any") -> "Any":
    """Returns the Awkward Array of a value, which shares offsets and numbers; of one record a Record.

    A tensor without an axis is an error.

    >>> import extenso as ex
    >>> ex.constant([[1, 2], [], [3]]).to_awkward()
    <Array [[1, 2], [], [3]] type='3 * var * int64'>
    """
    from extenso._interop import awkward

    return awkward.to_awkward(self)


def to_torch(self: "Any", layout: "Any" = None) -> "Any":
    """Returns the tensors of torch that a value is made of; they share its memory, and must not be written.

    Rows are jagged nested tensors; with `layout="strided"` they are padded with zeros. Records become a dict of their
    fields, masked values a dict of `values` and `mask`, and a value of a class that a user wrote a dict of its components.
    Text has no counterpart.
    """
    from extenso._interop import torch

    return torch.to_torch(self, layout)


def to_kjt(self: "Any", keys: "Sequence[str | tuple[str, ...]] | None" = None) -> "Any":
    """Returns the KeyedJaggedTensor of torchrec: for each key the rows of the field of that name.

    `keys` chooses and orders the fields, also by paths, whose keys are the names with dots between; without it, all are taken. A
    plain field is a row of one for each record, and a masked one of none or one; lists of one size are rows; what is missing in
    a row is not in it, and a row that is missing has none. Rows that are no field of records need the one key that they get.
    """
    from extenso._interop import torch

    return torch.to_kjt(self, keys)


def to_jax(
    self: "Any", length: "int | None" = None, buckets: "Sequence[int] | None" = None, fill: object = None
) -> "Any":
    """Returns the arrays of JAX that a value is made of; a dense one shares its memory.

    Rows become a pair of padded `values` and `lengths`: padded to the longest row, to `length`, or to the smallest of
    `buckets` that holds it, so that a compiled function meets few shapes. `fill` stands in the padding: zero without it.
    Records become a dict of their fields, masked values a dict of `values` and `mask`, and a value of a class that a user
    wrote a dict of its components. Text has no counterpart. Without `jax_enable_x64`, JAX has 32 bits for numbers: integers that
    do not fit raise, and `f64` becomes `float32` with a warning.
    """
    from extenso._interop import jax

    return jax.to_jax(self, length, buckets, fill)


def to_tensorflow(self: "Any", layout: "str | None" = None) -> "Any":
    """Returns what a value is to TensorFlow: a Tensor, a RaggedTensor, or a StructuredTensor of records.

    With `layout="sparse"`, tensors and rows are SparseTensors. Where TensorFlow has no StructuredTensor, records become a
    dict of their fields; masked values always are a dict of `values` and `mask`.
    """
    from extenso._interop import tensorflow

    return tensorflow.to_tensorflow(self, layout)


def to_numpy(self: "Any") -> "Any":
    """Returns the array of a value that says which tensor it is."""
    from extenso._interop import numpy

    return numpy.to_numpy(self)


def __array_ufunc__(self: "Any", ufunc: "Any", method: str, *inputs: "Any", **options: "Any") -> "Any":
    """Returns what the op of the meaning of one of NumPy's universal functions gives.

    So that `numpy.float64(2) * x` and `numpy.sqrt(x)` are values as `2 * x` and `sqrt(x)` are. `reduce`, which is behind `numpy.sum`, is a
    reduction. A function without such an op, and `out=`, are a TypeError of NumPy.

    >>> import extenso as ex, numpy as np
    >>> np.float64(2) * ex.constant([[1.0, 2.0], [], [3.0]])
    RaggedTensor([[2.0, 4.0], [], [6.0]], f64[3, ?])
    """
    from extenso._interop import ufuncs

    return ufuncs.apply(ufunc, method, inputs, options)


# What pandas compares: above that of its frames (4000), a series beside a value leaves the operator to the value.
_PANDAS_PRIORITY = 5000


def attach() -> None:
    """Gives the methods to the classes of values."""
    setattr(Tensor, "__pandas_priority__", _PANDAS_PRIORITY)
    setattr(ExtensionType, "__pandas_priority__", _PANDAS_PRIORITY)
    for convert in (to_pandas, to_polars, to_awkward, to_torch, to_kjt, to_jax, to_tensorflow):
        for cls in (Tensor, StructTensor, ExtensionType, OpaqueExtension):
            setattr(cls, convert.__name__, convert)
    for cls in (ExtensionType, OpaqueExtension):
        setattr(cls, "to_numpy", to_numpy)
    # A tensor is an array to NumPy, whose functions give arrays of it.
    for cls in (StructTensor, ExtensionType, OpaqueExtension):
        setattr(cls, "__array_ufunc__", __array_ufunc__)
