"""Values as tensors of torch, and as the keyed rows of torchrec."""

from typing import Any

from extenso._core import (
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
    if isinstance(x, StructTensor) and x.rank == 1:
        paths = x.field_names() if keys is None else list(keys)
        if not paths:
            raise InvalidValueError("to_kjt: there are no keys.\nWanted: the names of some fields.")
        names = [path if isinstance(path, str) else ".".join(path) for path in paths]
        return names, [_key(name, x[path]) for name, path in zip(names, paths, strict=True)]
    if isinstance(x, RaggedTensor) and keys is not None and len(list(keys)) == 1:
        (name,) = keys
        return [name], [_key(name, x)]
    raise refused("to_kjt", x, "a vector of records with rows as fields, or rows and one key")


def _key(name: str, field: Any) -> "tuple[Tensor, Tensor]":
    if isinstance(field, MaskedTensor) and isinstance(field.values, Tensor):
        if len(field.shape) == 1:
            # An element that may be missing is a row of none or one.
            return field.values[field.mask], cast(field.mask, i32)
        if len(field.mask.shape) == 1 and len(field.shape) == 2:
            field = mask(RaggedTensor.from_tensor(field.values), field.mask)
    if isinstance(field, Tensor) and len(field.shape) in (1, 2):
        field = RaggedTensor.from_tensor(expand_dims(field, 1) if len(field.shape) == 1 else field)
    if isinstance(field, (MaskedTensor, RaggedTensor)):
        # What is missing in a row is not in it, and a row that is missing is one of none.
        field = fill_none(drop_none(field, axis=1), 0)
    if not isinstance(field, RaggedTensor) or field.ragged_rank != 1 or not isinstance(field.flat_values, Tensor):
        raise refused("to_kjt", field, f"rows of numbers with one ragged axis in field '{name}'")
    return of_tensor(field.flat_values, "to_kjt"), cast(num(field, 1), i32)
