"""Arrays of Arrow, where a conversion goes through them."""

from math import prod
from typing import Any

from extenso._core import StructTensor, reshape, to_arrow
from extenso._interop.peers import peer, rows_of
from extenso._types import MaskedTensor, RaggedTensor


def array_of(x: Any, conversion: str) -> Any:
    """Returns the array of pyarrow that shares the memory of a value."""
    return peer("pyarrow", conversion).array(to_arrow(in_lists(x)))


def in_lists(x: Any) -> Any:
    """Returns a value whose records all have one axis, as those of Arrow: further ones become rows of one length."""
    if isinstance(x, StructTensor) and x.rank > 1:
        return _in_rows(x)
    if isinstance(x, StructTensor):
        fields = {name: x.field_value((name,)) for name in x.field_names()}
        listed = {name: in_lists(field) for name, field in fields.items()}
        return x if all(listed[name] is field for name, field in fields.items()) else x.with_updates(listed)
    if isinstance(x, RaggedTensor):
        splits, values = rows_of(x)
        listed_values = in_lists(values)
        return x if listed_values is values else RaggedTensor.from_row_splits(listed_values, splits)
    if isinstance(x, MaskedTensor):
        values = x.values
        if isinstance(values, StructTensor) and values.rank > 1 and x.mask.ndim > 0:
            sizes = [int(size or 0) for size in values.shape]
            masked = x.mask.ndim
            rows = _cut(in_lists(reshape(values, (prod(sizes),))), sizes, masked)
            return _cut(MaskedTensor(rows, reshape(x.mask, (prod(sizes[:masked]),))), sizes[:masked])
        listed_values = in_lists(values)
        return x if listed_values is values else MaskedTensor(listed_values, x.mask)
    return x


def _in_rows(records: StructTensor) -> Any:
    sizes = [int(size or 0) for size in records.shape]
    return _cut(in_lists(reshape(records, (prod(sizes),))), sizes)


def _cut(rows: Any, sizes: "list[int]", behind: int = 1) -> Any:
    """Values as rows of one length for each axis behind the first ones."""
    for axis in range(len(sizes) - 1, behind - 1, -1):
        rows = RaggedTensor.from_uniform_row_length(rows, sizes[axis], prod(sizes[:axis]))
    return rows
