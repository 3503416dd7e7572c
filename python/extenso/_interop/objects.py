"""Objects of Python as arrays of Arrow, of a type that says all of them.

pyarrow takes a type from the first objects, and makes the others fit where it can: a point in time beside dates becomes
its date. What is here finds the type that loses nothing, or says why there is none.
"""

import datetime
from collections.abc import Callable
from itertools import chain
from operator import attrgetter
from typing import Any

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
    every = set(map(type, items))
    kinds = {kind for kind in every if kind.__name__ not in _MISSING}
    if len(kinds) < len(every) and kinds - {str, bytes, datetime.date}:
        items = [item for item in items if type(item) in kinds]
    points = {kind for kind in kinds if issubclass(kind, datetime.datetime)}
    if points and any(issubclass(kind, datetime.date) for kind in kinds - points):
        raise TypeError("dates stand beside points in time.\nWanted: items of one kind.")
    if str in kinds and bytes in kinds:
        raise TypeError("text stands beside bytes.\nWanted: items of one kind.")
    if points and len({zone is None for zone in _zones(items)}) > 1:
        raise TypeError("points in time with a zone stand beside ones without.\nWanted: a zone for all of them, or for none.")
    if kinds == {datetime.time} and _zones(items) != {None}:
        raise TypeError("a time of day has a zone.\nWanted: one without. Use `.replace(tzinfo=None)`.")
    # Objects of pandas count nanoseconds, those of Python microseconds.
    if pa.types.is_timestamp(of) and _any_of(kinds, items, "nanosecond"):
        return pa.timestamp("ns", of.tz)
    return pa.duration("ns") if pa.types.is_duration(of) and _any_of(kinds, items, "nanoseconds") else of


def _zones(items: "list[Any]") -> "set[Any]":
    return set(map(attrgetter("tzinfo"), items))


def _any_of(kinds: "set[type]", items: "list[Any]", name: str) -> bool:
    return any(hasattr(kind, name) for kind in kinds) and any(getattr(item, name, 0) for item in items)
