"""Objects of Python as arrays of Arrow, of a type that says all of them.

pyarrow takes a type from the first objects, and makes the others fit where it can: a point in time beside dates becomes
its date. What is here finds the type that loses nothing, or says why there is none.
"""

import datetime
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

# The names of the classes of what stands for a missing object.
_MISSING = {"NoneType", "NaTType", "NAType", "float"}


def exact_array(pa: Any, items: Any, objects: "Callable[[], list[Any]]", **options: Any) -> Any:
    """Returns the array of items; `objects` gives these one by one, where pyarrow may make others of them.

    Errors: what pyarrow raises, and a TypeError where no type holds all of them.
    """
    array = pa.array(items, **options)
    # Arrays of one kind of text are found without a look at each.
    if pa.types.is_string(array.type) or not _may_lose(pa.types, array.type):
        return array
    exact = _exact(pa, array.type, objects())
    return array if exact == array.type else pa.array(items, type=exact, **options)


def _may_lose(types: Any, of: Any) -> bool:
    """Whether pyarrow makes such a type of objects that are more than it."""
    if types.is_temporal(of) or types.is_binary(of) or types.is_string(of):
        return True
    return any(_may_lose(types, of.field(i).type) for i in range(of.num_fields))


def _exact(pa: Any, of: Any, items: "list[Any]") -> Any:
    """The type like one that may lose something of the items which loses nothing."""
    if pa.types.is_list(of):
        rows = [item for item in items if hasattr(item, "__len__")]
        return pa.list_(_exact(pa, of.value_type, list(chain.from_iterable(rows))))
    if pa.types.is_struct(of):
        records = [item for item in items if isinstance(item, dict)]
        fields = {of.field(i).name: of.field(i).type for i in range(of.num_fields)}
        odd = {name: [record.get(name) for record in records] for name, kind in fields.items() if _may_lose(pa.types, kind)}
        return pa.struct({name: _exact(pa, kind, odd[name]) if name in odd else kind for name, kind in fields.items()})
    return _of_leaves(pa, of, items)


def _of_leaves(pa: Any, of: Any, items: "list[Any]") -> Any:
    kinds = {kind for kind in set(map(type, items)) if kind.__name__ not in _MISSING}
    points = {kind for kind in kinds if issubclass(kind, datetime.datetime)}
    # Of a `datetime64` among dates pyarrow takes the count, whatever its unit, for days.
    if (points or np.datetime64 in kinds) and _some(kinds - points, datetime.date):
        raise TypeError("dates stand beside points in time.\nWanted: items of one kind.")
    if _some(kinds, str) and _some(kinds, bytes):
        raise TypeError("text stands beside bytes.\nWanted: items of one kind.")
    if points and len({zone is None for zone in _zones(items, points)}) > 1:
        raise TypeError("points in time with a zone stand beside ones without.\nWanted: a zone for all of them, or for none.")
    if _some(kinds, datetime.time) and _zones(items, kinds) != {None}:
        raise TypeError("a time of day has a zone.\nWanted: one without. Use `.replace(tzinfo=None)`.")
    # Objects of pandas count nanoseconds, those of Python microseconds.
    if pa.types.is_timestamp(of) and _any_of(kinds, items, "nanosecond"):
        return pa.timestamp("ns", of.tz)
    return pa.duration("ns") if pa.types.is_duration(of) and _any_of(kinds, items, "nanoseconds") else of


def _some(kinds: "set[type]", kind: type) -> bool:
    return any(issubclass(one, kind) for one in kinds)


def _zones(items: "list[Any]", kinds: "set[type]") -> "set[Any]":
    return {item.tzinfo for item in items if type(item) in kinds}


def _any_of(kinds: "set[type]", items: "list[Any]", name: str) -> bool:
    """Whether an item has such a part, which is not zero."""
    having = {kind for kind in kinds if hasattr(kind, name)}
    return bool(having) and any(getattr(item, name) for item in items if type(item) in having)
