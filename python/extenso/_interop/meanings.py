"""Values of which a tensor says what they count: times, dates, categories, bytes of one width; as NumPy has them."""

import datetime
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from extenso._core import (
    DTypeError,
    InvalidValueError,
    StructTensor,
    Tensor,
    UnionTensor,
    boolean_mask,
    cast,
    floor_divide,
    from_arrow,
    reshape,
    tensor,
)
from extenso._interop.arrow import array_of
from extenso._interop.objects import exact_array
from extenso._interop.peers import components_of, parts_inside, peer
from extenso._types import (
    CategoricalTensor,
    DateTensor,
    DecimalTensor,
    DurationTensor,
    FixedBytesTensor,
    IntervalTensor,
    MaskedTensor,
    RaggedTensor,
    TimestampTensor,
    TimeTensor,
)

Array = np.ndarray[Any, Any]

_DATES = ("Y", "M", "W", "D")
_UNITS = ("s", "ms", "us", "ns")
_SECONDS = ("W", "D", "h", "m")
_MILLISECONDS_OF_A_DAY = 86_400_000
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def of_times(array: Array) -> Any:
    """Returns the dates, points in time or durations of an array; a masked value if one is `NaT`."""
    missing = np.isnat(array)
    if not missing.any() or _unit(array) == "generic":
        return _counted(array)
    # What lies under a missing one is zero.
    return MaskedTensor(_counted(np.where(missing, array.dtype.type(0, _unit(array)), array)), tensor(~missing))


def _unit(array: Array) -> str:
    return np.datetime_data(array.dtype)[0]


def _counted(array: Array) -> Any:
    unit, step = np.datetime_data(array.dtype)
    if unit == "generic":
        raise DTypeError(f"from_numpy: found an array of {array.dtype} without a unit.\nWanted: days, s, ms, us or ns.")
    points = array.dtype.kind == "M"
    if unit in _UNITS:
        made = TimestampTensor if points else DurationTensor
        return made(tensor(_integers(array, unit)), unit)
    if points and unit in _DATES:
        days = _integers(array, "D")
        if days.size and (days.min() < -(2**31) or days.max() >= 2**31):
            raise InvalidValueError("from_numpy: found a date beyond 32 bits of days.\nWanted: dates of `datetime64[s]`.")
        return DateTensor(tensor(days.astype(np.int32)), "d")
    if unit in _SECONDS:
        made = TimestampTensor if points else DurationTensor
        return made(tensor(_integers(array, "s")), "s")
    raise DTypeError(f"from_numpy: found an array of {array.dtype}, steps of {step} {unit}.\nWanted: days, s, ms, us or ns.")


def _integers(array: Array, unit: str) -> Array:
    """How many units there are; the memory of the array where they are its own."""
    of_unit = array if np.datetime_data(array.dtype) == (unit, 1) else array.astype(f"{array.dtype.kind}8[{unit}]")
    back = of_unit.astype(array.dtype)
    if of_unit is not array and not np.array_equal(back, array):
        raise InvalidValueError(f"from_numpy: found {array.dtype} that 64 bits of {unit} do not hold.")
    return of_unit.astype(of_unit.dtype.newbyteorder("="), copy=False).view(np.int64)


def of_cells(array: Array) -> Any:
    """Returns byte strings of one width."""
    width = array.dtype.itemsize
    cells = np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape, width)
    return FixedBytesTensor(tensor(cells))


# The classes of objects that pyarrow takes for times, decimals and intervals. Some of them are in modules, the last is in none.
_KNOWN = {"date", "datetime", "time", "timedelta", "Timestamp", "Timedelta", "Decimal", "UUID", "MonthDayNano"}


def of_objects(items: "list[Any]") -> Any:
    """Returns the times, dates, decimals or intervals that objects are, in one vector; None if they are others."""
    kinds = {type(item) for item in items} - {type(None)}
    if not kinds or not {kind.__name__ for kind in kinds} <= _KNOWN:
        return None
    pa = peer("pyarrow", "from_numpy")
    try:
        return from_arrow(exact_array(pa, items, lambda: items))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as cause:
        names = ", ".join(sorted(kind.__qualname__ for kind in kinds))
        raise DTypeError(f"from_numpy: found objects of {names}, which have no value: {cause}") from cause


_LEAST = -(2**63)


def refuse_least(x: Any, conversion: str) -> None:
    """Refuses points in time and durations whose count is the least of 64 bits, which is `NaT` to NumPy.

    What lies under a missing value is not looked at.
    """
    if any_time(x, lambda time: bool((_array(time.values) == _LEAST).any())):
        raise InvalidValueError(
            f"{conversion}: found a time whose count is {_LEAST}, the `NaT` of NumPy, which would be missing.\n"
            "Wanted: any other. Take `x.values`, which are the counts, or mask what is missing."
        )


def refuse_beyond_the_day(x: Any, conversion: str) -> None:
    """Refuses times of a day that are none: before its start, or 24 hours after it and later."""

    def beyond(time: TimeTensor) -> bool:
        counts = _array(time.values)
        return bool(((counts < 0) | (counts >= 86_400 * _PER_SECOND[time.unit])).any())

    if any_time(x, beyond, TimeTensor):
        raise InvalidValueError(
            f"{conversion}: found a time of day that is not within the 24 hours of one.\n"
            "Wanted: any that is. Take `x.values`, which are the counts since midnight."
        )


def refuse_parts_of_microseconds(x: Any, conversion: str) -> None:
    """Refuses times of a day that `datetime.time` has not."""
    if any_time(x, lambda time: time.unit == "ns" and bool((_array(time.values) % 1000).any()), TimeTensor):
        raise InvalidValueError(
            f"{conversion}: found a time of day between two microseconds, which is all that `datetime.time` has.\n"
            "Wanted: whole microseconds. Use `cast_unit(x, 'us')`, or `x.values`."
        )


def any_time(x: Any, is_one: "Callable[[Any], bool]", kinds: Any = TimestampTensor | DurationTensor) -> bool:
    """Whether something holds for any times of some kinds that a value is made of, and that are not missing."""

    def inside(part: Any) -> bool:
        return any_time(part, is_one, kinds)

    if isinstance(x, kinds):
        return is_one(x)
    if isinstance(x, MaskedTensor):
        return inside(x.values) and (inside(boolean_mask(x.values, x.mask)) if x.mask.ndim else bool(x.mask))
    if isinstance(x, RaggedTensor):
        return inside(x.flat_values)
    if isinstance(x, CategoricalTensor):
        # Categories that nothing has are not looked at.
        return inside(x.categories) and inside(x.decoded())
    if isinstance(x, UnionTensor):
        return any(map(inside, x.components.values()))
    return any(map(inside, parts_inside(x) if isinstance(x, StructTensor) else components_of(x).values()))


def to_numpy(x: Any) -> Any:
    """Returns the array of what a value counts: of a dtype of NumPy, or of objects; None where it counts nothing."""
    if isinstance(x, TimestampTensor | DurationTensor):
        return _array(x.values).view(f"{'M' if isinstance(x, TimestampTensor) else 'm'}8[{x.unit}]")
    if isinstance(x, DateTensor):
        values = x.values if x.unit == "d" else floor_divide(x.values, _MILLISECONDS_OF_A_DAY)
        return _array(cast(values, "i64")).view("M8[D]")
    if isinstance(x, FixedBytesTensor):
        cells = np.ascontiguousarray(_array(x.cells))
        return cells.view(f"V{cells.shape[-1]}")[..., 0] if cells.shape[-1] else None
    if isinstance(x, CategoricalTensor):
        return x.decoded().to_numpy()
    if isinstance(x, TimeTensor):
        return _times_of_day(_array(x.values).astype(np.int64), x.unit)
    if isinstance(x, DecimalTensor | IntervalTensor):
        sizes = [int(size or 0) for size in x.shape]
        flat = x if len(sizes) == 1 else reshape(x, (prod(sizes),))
        return _objects(array_of(flat, "to_numpy").to_pylist()).reshape(sizes)
    if isinstance(x, UnionTensor):
        if x.ndim == 0:
            one = np.empty((), dtype=object)
            one[()] = x.to_py()
            return one
        return _objects(x.to_py())
    return None


def _objects(items: "list[Any]") -> Array:
    """An array whose elements are these objects, lists too."""
    return np.fromiter(items, dtype=object, count=len(items))


def _times_of_day(counts: Array, unit: str) -> Array:
    """The objects of `datetime` that so many units since midnight are. What is not within the day is missing, and may be any."""
    per_second = _PER_SECOND[unit]
    seconds, below = np.divmod(counts.ravel(), per_second)
    minutes, second = np.divmod(seconds, 60)
    hours, minute = np.divmod(minutes, 60)
    micros = below * 1_000_000 // per_second
    parts = ((hours % 24).tolist(), minute.tolist(), second.tolist(), micros.tolist())
    return _objects(list(map(datetime.time, *parts))).reshape(counts.shape)


def _array(x: Tensor) -> Array:
    array: Array = np.asarray(x)
    return array
