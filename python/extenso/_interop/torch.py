"""Values as tensors of torch, and as the keyed rows of torchrec."""

from collections.abc import Iterable
from typing import Any

from extenso._core import (
    DTypeError,
    InvalidValueError,
    StructTensor,
    Tensor,
    cast,
    concat,
    drop_none,
    expand_dims,
    fill_none,
    i32,
    mask,
    num,
)
from extenso._interop.peers import of_tensor, parts_of, peer, refused
from extenso._types import MaskedTensor, RaggedTensor

_LAYOUTS = ("jagged", "strided")


def to_torch(x: Any, layout: Any = None) -> Any:
    """Returns what a value is to torch: see `Tensor.to_torch`."""
    torch = peer("torch", "to_torch")
    name = "jagged" if layout is None else str(layout).removeprefix("torch.")
    if name not in _LAYOUTS:
        raise InvalidValueError(f"to_torch: found the layout {layout!r}.\nWanted: 'jagged' or 'strided'.")

    def dense(tensor: Tensor) -> Any:
        return torch.from_dlpack(of_tensor(tensor, "to_torch"))

    def rows(ragged: RaggedTensor) -> Any:
        of_tensor(ragged.flat_values, "to_torch")  # type: ignore[arg-type]
        if name == "strided":
            return dense(ragged.to_tensor())
        if ragged.ragged_rank > 1:
            raise InvalidValueError(
                f"to_torch: found rows with {ragged.ragged_rank} ragged axes.\n"
                "Wanted: one, which is all that torch's jagged layout has. Use `layout='strided'`, which pads."
            )
        # Whoever wrote splits that are shared would move rows of the value, so that torch gets its own.
        splits = torch.from_dlpack(cast(ragged.row_splits, "i64").__dlpack__())
        return torch.nested.nested_tensor_from_jagged(dense(ragged.flat_values), splits)  # type: ignore[arg-type]

    return parts_of(x, "to_torch", dense, rows)


def to_kjt(x: Any, keys: Any = None) -> Any:
    """Returns the keyed rows of torchrec: see `StructTensor.to_kjt`."""
    torch = peer("torch", "to_kjt")
    torchrec = peer("torchrec", "to_kjt")
    names, rows = keyed(x, keys)
    values = concat([values for values, _ in rows])
    lengths = concat([lengths for _, lengths in rows])
    return torchrec.KeyedJaggedTensor.from_lengths_sync(
        keys=names, values=torch.from_dlpack(values), lengths=torch.from_dlpack(lengths)
    )


def keyed(x: Any, keys: Any = None) -> "tuple[list[str], list[tuple[Tensor, Tensor]]]":
    """Returns the keys, and for each the values of all its rows and the length of each row."""
    records = isinstance(x, StructTensor) and x.rank == 1
    paths = _paths(x.field_names() if keys is None and records else [] if keys is None else keys)
    if records and not paths:
        raise InvalidValueError("to_kjt: there are no keys.\nWanted: the names of some fields.")
    if not records and not (isinstance(x, RaggedTensor) and len(paths) == 1):
        raise refused("to_kjt", x, "a vector of records with rows as fields, or rows and one key")
    fields = [x[path] for path in paths] if records else [x]
    names = [path if isinstance(path, str) else ".".join(path) for path in paths]
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise InvalidValueError(f"to_kjt: the key '{twice[0]}' comes twice.\nWanted: each key once.")
    rows = [_key(name, field) for name, field in zip(names, fields, strict=True)]
    _refuse_several(names, [values.dtype.name for values, _ in rows])
    return names, rows


def _paths(keys: Any) -> "list[str | tuple[str, ...]]":
    if isinstance(keys, Iterable) and not isinstance(keys, str):
        paths = list(keys)
        names = [name for path in paths for name in (path if isinstance(path, tuple) else [path])]
        if all(isinstance(name, str) for name in names):
            return paths
    raise DTypeError(
        f"to_kjt: argument 'keys' has {keys!r}.\n"
        "Wanted: a list of names of fields, and of tuples of names for fields of records inside."
    )


def _refuse_several(names: "list[str]", dtypes: "list[str]") -> None:
    other = [i for i, dtype in enumerate(dtypes) if dtype != dtypes[0]]
    if other:
        raise DTypeError(
            f"to_kjt: the values of '{names[0]}' are {dtypes[0]}, those of '{names[other[0]]}' {dtypes[other[0]]}.\n"
            f"Wanted: one dtype for all keys. Cast them first: `cast(x, '{dtypes[0]}')`."
        )


def _key(name: str, field: Any) -> "tuple[Tensor, Tensor]":
    if isinstance(field, MaskedTensor) and isinstance(field.values, Tensor):
        if len(field.shape) == 1:
            # An element that may be missing is a row of none or one.
            return of_tensor(field.values[field.mask], "to_kjt"), cast(field.mask, i32)
        if len(field.mask.shape) == 1 and len(field.shape) == 2:
            field = mask(RaggedTensor.from_tensor(field.values), field.mask)
    if isinstance(field, Tensor) and len(field.shape) in (1, 2):
        field = RaggedTensor.from_tensor(expand_dims(field, 1) if len(field.shape) == 1 else field)
    if isinstance(field, MaskedTensor | RaggedTensor) and len(field.shape) > 1:
        # What is missing in a row is not in it, and a row that is missing is one of none.
        field = fill_none(drop_none(field, axis=1), 0)
    if not isinstance(field, RaggedTensor) or field.ragged_rank != 1 or not isinstance(field.flat_values, Tensor):
        field = field.values if isinstance(field, MaskedTensor) else field
        raise refused("to_kjt", field, f"rows of numbers with one ragged axis in field '{name}'")
    return of_tensor(field.flat_values, "to_kjt"), cast(num(field, 1), i32)
