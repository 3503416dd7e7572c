"""Frames and series of polars as values and back, through Arrow."""

from collections.abc import Callable
from typing import Any

from extenso._core import (
    DTypeError,
    InvalidValueError,
    StructTensor,
    UnionTensor,
    arange,
    from_arrow,
    max,
    min,
    take,
    to_arrow,
    to_py,
)
from extenso._interop.arrow import in_lists
from extenso._interop.meanings import any_time, refuse_beyond_the_day
from extenso._interop.peers import parts_inside, peer, records_of, refuse_scalar, refused, rows_of
from extenso._types import CategoricalTensor, DecimalTensor, FixedBytesTensor, IntervalTensor, MaskedTensor, RaggedTensor


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
        known = _known(pl, x.dtype)
        return _guarded("from_polars", lambda: from_arrow(x.cast(known) if known != x.dtype else x))
    if x.width == 0:
        return StructTensor([x.height], {})
    # Each look at the schema of a frame makes it anew.
    known = {name: (dtype, _known(pl, dtype)) for name, dtype in x.schema.items()}
    changed = {name: dtype for name, (given, dtype) in known.items() if dtype != given}
    return _guarded("from_polars", lambda: from_arrow(x.cast(changed)))


def _guarded(conversion: str, convert: "Callable[[], Any]") -> Any:
    """The result of a call of polars, whose panics and own errors are errors of the conversion."""
    try:
        return convert()
    except BaseException as cause:
        # The class of a panic is no exception of Python's usual ones, and has no public name.
        panics = type(cause).__name__ == "PanicException"
        if not panics and not isinstance(cause, peer("polars", conversion).exceptions.PolarsError):
            raise
        how = "panics at" if panics else "refuses"
        raise DTypeError(f"{conversion}: polars {how} this value: {cause}\nWanted: a type that polars has.") from None


def _known(pl: Any, dtype: Any) -> Any:
    """The dtype with numbers in the place of nothing, which polars exports in a way of its own.

    Errors: objects, which polars exports as addresses, and integers of 128 bits.
    """
    if dtype in (pl.Object, pl.Int128, getattr(pl, "UInt128", pl.Int128)):
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
    if isinstance(x, DecimalTensor) and (x.bits != 128 or x.scale < 0):
        what = f"to_polars: found decimals of {x.bits} bits and scale {x.scale}."
        raise DTypeError(f"{what}\nWanted: 128 bits and a scale that is not negative. Cast them to f64.")
    if isinstance(x, FixedBytesTensor) and x.cells.shape[-1] == 0:
        raise DTypeError("to_polars: found byte strings of width 0.\nWanted: at least one byte. Use `bytes`.")
    for part in parts_inside(x):
        _refuse_unknown(part)


def _overflows(time: Any) -> bool:
    """Whether seconds are too many for the milliseconds that polars makes of them."""
    most = 2**63 // 1000
    if time.unit != "s" or time.values.size == 0:
        return False
    least, greatest = min(time.values).item(), max(time.values).item()
    return bool(least < -most or greatest > most)


def _with_enums(pl: Any, dtype: Any, x: Any) -> Any:
    """The dtype with an `Enum` for categories that have an order, which Arrow's dictionaries lose in polars."""
    if isinstance(x, MaskedTensor):
        return _with_enums(pl, dtype, x.values)
    if isinstance(dtype, pl.List | pl.Array):
        inner = _with_enums(pl, dtype.inner, x.values if isinstance(x, RaggedTensor) else x)
        return pl.List(inner) if isinstance(dtype, pl.List) else pl.Array(inner, dtype.size)
    if isinstance(dtype, pl.Struct) and isinstance(x, StructTensor):
        fields = [(field.name, field.dtype, x.field_value((field.name,))) for field in dtype.fields]
        return pl.Struct([pl.Field(name, _with_enums(pl, inner, value)) for name, inner, value in fields])
    if isinstance(x, CategoricalTensor) and x.ordered and isinstance(dtype, pl.Categorical):
        words = to_py(x.categories)
        # An `Enum` has each word once, and no word that is missing.
        return pl.Enum(words) if len(set(words)) == len(words) and None not in words else dtype
    return dtype


def _without_arrays(pl: Any, dtype: Any) -> Any:
    """The dtype with lists for arrays, at every level."""
    if isinstance(dtype, pl.List | pl.Array):
        return pl.List(_without_arrays(pl, dtype.inner))
    if isinstance(dtype, pl.Struct):
        return pl.Struct([pl.Field(field.name, _without_arrays(pl, field.dtype)) for field in dtype.fields])
    return dtype


def _packed(x: Any) -> Any:
    """The value with lists of one size that may be missing in memory of their own, as polars reads none that are sliced."""
    if isinstance(x, StructTensor):
        fields = {name: x.field_value((name,)) for name in x.field_names()}
        moved = {name: _packed(field) for name, field in fields.items()}
        return x if all(moved[name] is field for name, field in fields.items()) else StructTensor(x.shape, moved)
    if isinstance(x, RaggedTensor):
        splits, values = rows_of(x)
        packed = _packed(values)
        return x if packed is values else RaggedTensor.from_row_splits(packed, splits)
    if not isinstance(x, MaskedTensor):
        return x
    packed = _packed(x.values)
    if packed is not x.values:
        x = MaskedTensor(packed, x.mask)
    elements: Any = packed
    while isinstance(elements, MaskedTensor):
        elements = elements.values
    of_one_size = not isinstance(elements, RaggedTensor) and len(elements.shape) > x.mask.ndim
    return take(x, arange(len(x)), axis=0) if of_one_size else x


def to_polars(x: Any) -> Any:
    """Returns the DataFrame of records, a column for each field, and the Series of any other value; categories in an order are an `Enum`."""
    pl = peer("polars", "to_polars")
    x = records_of(x)
    if isinstance(x, StructTensor) and not x.field_names():
        return pl.DataFrame(height=len(x))
    refuse_scalar(x, "to_polars")
    _refuse_unknown(x)
    if any_time(x, _overflows):
        what = "to_polars: found a time that 64 bits of ms do not hold."
        raise InvalidValueError(f"{what}\nWanted: fewer seconds, which are milliseconds in polars. Take `x.values`.")
    refuse_beyond_the_day(x, "to_polars")
    made = _guarded("to_polars", lambda: pl.Series(to_arrow(in_lists(_packed(x)))))
    dtype = _with_enums(pl, made.dtype, x)
    if dtype != made.dtype:
        # Words that polars does not cast in arrays it casts in lists.
        made = _guarded("to_polars", lambda: made.cast(_without_arrays(pl, made.dtype)).cast(_without_arrays(pl, dtype)).cast(dtype))
    return made.struct.unnest() if isinstance(x, StructTensor) and x.rank == 1 else made
