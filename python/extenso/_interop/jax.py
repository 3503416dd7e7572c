"""Values as arrays of JAX: dense ones share their memory, rows are padded to sizes that do not vary from call to call."""

import sys
import warnings
from collections.abc import Sequence
from operator import index
from types import FrameType
from typing import Any, NamedTuple

from extenso._core import DTypeError, InvalidValueError, Tensor, cast, max, min, num
from extenso._interop.peers import of_tensor, parts_of, peer
from extenso._types import RaggedTensor


class Padded(NamedTuple):
    """Rows as a dense array, and how much of it they are.

    `lengths` is the length of each row; for rows of rows a tuple of the lengths along each ragged axis.
    """

    values: Any
    lengths: Any


class _Shared:
    """A tensor to a library that knows no versions of DLPack, and writes no memory that it is given."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def __dlpack__(self, **_options: object) -> Any:
        return self._tensor.__dlpack__(copy=None if self._tensor.dtype.name == "bool" else False)

    def __dlpack_device__(self) -> "tuple[int, int]":
        return self._tensor.__dlpack_device__()


def to_jax(x: Any, length: "int | None" = None, buckets: "Sequence[int] | None" = None, fill: object = None) -> Any:
    """Returns what a value is to JAX: see `Tensor.to_jax`."""
    peer("jax", "to_jax")
    dlpack = peer("jax.dlpack", "to_jax")
    sizes = _sizes(length, buckets)

    def dense(tensor: Tensor) -> Any:
        array = dlpack.from_dlpack(_Shared(of_tensor(tensor, "to_jax")))
        _check_narrowed(tensor, array.dtype)
        return array

    def rows(ragged: RaggedTensor) -> Any:
        of_tensor(ragged.flat_values, "to_jax")  # type: ignore[arg-type]
        return _padded(ragged, sizes, fill, dense)

    return parts_of(x, "to_jax", dense, rows)


def _check_narrowed(x: Tensor, dtype: Any) -> None:
    """Refuses integers that JAX would cut, and warns of floats: it has 32 bits for them, unless it is told otherwise."""
    if x.dtype.name == "f64" and dtype.itemsize < 8:
        warnings.warn(
            f"to_jax: JAX makes {dtype} of f64. Call `jax.config.update('jax_enable_x64', True)` before to keep it, "
            "or `cast` to f32 to say that it is meant.",
            stacklevel=_outside(),
        )
        return
    if not x.dtype.is_integer or x.dtype.itemsize == dtype.itemsize or x.size == 0:
        return
    low, high = min(x).item(), max(x).item()
    bits = 8 * dtype.itemsize - (dtype.kind == "i")
    if high >= 2**bits or low < (-(2**bits) if dtype.kind == "i" else 0):
        raise InvalidValueError(
            f"to_jax: found integers from {low} to {high}, and JAX makes {dtype} of them.\n"
            "Wanted: integers that fit. Call `jax.config.update('jax_enable_x64', True)` before."
        )


def _outside() -> int:
    """Returns how many calls lie between the function that warns and the one that called this package."""
    frame: FrameType | None = sys._getframe(1)
    level = 0
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == "extenso":
        frame, level = frame.f_back, level + 1
    return level + 1


def _sizes(length: "int | None", buckets: "Sequence[int] | None") -> "list[int] | None":
    if length is not None and buckets is not None:
        raise InvalidValueError("to_jax: found both a length and buckets.\nWanted: one of the two.")
    sizes = [_size("length", length)] if length is not None else None if buckets is None else _buckets(buckets)
    if sizes is not None and (not sizes or sizes[0] < 0):
        raise InvalidValueError(f"to_jax: found the lengths {sizes}.\nWanted: at least one, and none below 0.")
    return sizes


def _buckets(buckets: "Sequence[int]") -> "list[int]":
    try:
        return sorted(_size("buckets", size) for size in buckets)
    except TypeError:
        raise DTypeError(f"to_jax: argument 'buckets' has {buckets!r}.\nWanted: a list of sizes, such as `[16, 64]`.") from None


def _size(name: str, size: Any) -> int:
    try:
        return index(size)
    except TypeError:
        raise DTypeError(f"to_jax: argument '{name}' has {size!r}.\nWanted: integers.") from None


def _padded(ragged: RaggedTensor, sizes: "list[int] | None", fill: object, dense: Any) -> Padded:
    bounds: list[int] = ragged.bounding_shape().tolist()
    axes = range(1, ragged.ragged_rank + 1)
    shape: list[int | None] = [_bucket(bounds[axis], sizes) if axis in axes else None for axis in range(len(bounds))]
    try:
        padded = ragged.to_tensor(fill, shape)
    except DTypeError as cause:
        raise DTypeError(f"to_jax: argument 'fill': {str(cause).removeprefix('to_dense: ')}") from None
    lengths = [_lengths(ragged, axis, shape, dense) for axis in axes]
    return Padded(dense(padded), lengths[0] if len(lengths) == 1 else tuple(lengths))


def _lengths(ragged: RaggedTensor, axis: int, shape: "list[int | None]", dense: Any) -> Any:
    lengths = num(ragged, axis)
    if isinstance(lengths, RaggedTensor):
        lengths = lengths.to_tensor(0, shape[:axis])
    return dense(cast(lengths, "i32"))


def _bucket(longest: int, sizes: "list[int] | None") -> "int | None":
    if sizes is None:
        return None
    fitting = [size for size in sizes if size >= longest]
    if not fitting:
        raise InvalidValueError(
            f"to_jax: the longest row has {longest} items.\n"
            f"Wanted: at most {sizes[-1]}, the largest bucket. Add a larger one, or cut the rows: `head(x, {sizes[-1]})`."
        )
    return fitting[0]
