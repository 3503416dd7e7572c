"""Frames and series of polars as values and back, through Arrow."""

from typing import Any

from extenso._core import DTypeError, StructTensor, UnionTensor, from_arrow, to_arrow
from extenso._interop.arrow import in_lists
from extenso._interop.peers import parts_inside, peer, records_of, refused
from extenso._types import IntervalTensor


def from_polars(x: Any) -> Any:
    """Returns the value of a DataFrame, whose columns become the fields of records, or of a Series.

    Numbers and offsets are shared; a column in which something is missing becomes masked values.

    >>> import extenso as ex, polars as pl
    >>> ex.from_polars(pl.DataFrame({"id": [1, 2], "tags": [["a"], []]})).to_py()
    [{'id': 1, 'tags': ['a']}, {'id': 2, 'tags': []}]
    """
    pl = peer("polars", "from_polars")
    if isinstance(x, pl.LazyFrame):
        raise refused("from_polars", x, "a DataFrame or a Series", "Call `collect()` first.")
    if not isinstance(x, pl.DataFrame | pl.Series):
        raise refused("from_polars", x, "a DataFrame or a Series of polars")
    if isinstance(x, pl.Series):
        return from_arrow(x.cast(known) if (known := _known(pl, x.dtype)) != x.dtype else x)
    if x.width == 0:
        return StructTensor([x.height], {})
    known = {name: _known(pl, dtype) for name, dtype in x.schema.items()}
    return from_arrow(x.cast({name: dtype for name, dtype in known.items() if dtype != x.schema[name]}))


def _known(pl: Any, dtype: Any) -> Any:
    """The dtype with numbers in the place of nothing, which polars exports in a way of its own.

    Errors: objects, which polars exports as addresses, and integers of 128 bits.
    """
    if dtype in (pl.Object, pl.Int128):
        raise DTypeError(f"from_polars: found a column of {dtype}.\nWanted: a type that Arrow has. Cast the column first.")
    if dtype == pl.Null:
        return pl.Float64
    if isinstance(dtype, pl.List):
        return pl.List(_known(pl, dtype.inner))
    if isinstance(dtype, pl.Array):
        return pl.Array(_known(pl, dtype.inner), dtype.size)
    if isinstance(dtype, pl.Struct):
        return pl.Struct([pl.Field(field.name, _known(pl, field.dtype)) for field in dtype.fields])
    return dtype


def _refuse_unknown(x: Any) -> None:
    """Refuses what polars has no type of, and would panic at."""
    if isinstance(x, IntervalTensor | UnionTensor):
        raise refused("to_polars", x, "a value of a type that polars has", "Take its parts, or its children.")
    for part in parts_inside(x):
        _refuse_unknown(part)


def to_polars(x: Any) -> Any:
    """Returns the DataFrame of records, a column for each field, and the Series of any other value."""
    pl = peer("polars", "to_polars")
    x = records_of(x)
    if isinstance(x, StructTensor) and not x.field_names():
        return pl.DataFrame(height=len(x))
    _refuse_unknown(x)
    made = pl.Series(to_arrow(in_lists(x)))
    return made.struct.unnest() if isinstance(x, StructTensor) and x.rank == 1 else made
