"""Arrays of Arrow, where a conversion goes through them."""

from math import prod
from typing import Any

import numpy as np

from extenso._core import StructTensor, reshape, tensor, to_arrow
from extenso._interop.peers import peer, rows_of
from extenso._types import IntervalTensor, MaskedTensor, RaggedTensor


def array_of(x: Any, conversion: str) -> Any:
    """Returns the array of pyarrow that shares the memory of a value."""
    return peer("pyarrow", conversion).array(to_arrow(in_lists(x)))


def in_lists(x: Any) -> Any:
    """Returns a value whose records all have one axis, as those of Arrow: further ones become rows of one length.

    Intervals are of months, days and nanoseconds, the only ones of which pyarrow has objects.
    """
    if isinstance(x, IntervalTensor):
        return x if x.unit == "month_day_nano" else _with_all_parts(x)
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


def _with_all_parts(x: IntervalTensor) -> IntervalTensor:
    sizes = [int(size or 0) for size in x.shape]
    cells = np.zeros(sizes, dtype=[("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])
    if x.unit == "month":
        cells["months"] = x.part("months").to_numpy()
    else:
        cells["days"] = x.part("days").to_numpy()
        cells["nanoseconds"] = x.part("milliseconds").to_numpy() * 1_000_000
    return IntervalTensor(tensor(cells.reshape(-1).view(np.uint8).reshape(*sizes, 16)), "month_day_nano")


def _in_rows(records: StructTensor) -> Any:
    sizes = [int(size or 0) for size in records.shape]
    return _cut(in_lists(reshape(records, (prod(sizes),))), sizes)


def _cut(rows: Any, sizes: "list[int]", behind: int = 1) -> Any:
    """Values as rows of one length for each axis behind the first ones."""
    for axis in range(len(sizes) - 1, behind - 1, -1):
        rows = RaggedTensor.from_uniform_row_length(rows, sizes[axis], prod(sizes[:axis]))
    return rows
