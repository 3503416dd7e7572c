"""The methods of records that rows of records and masked records have too: fields, updates, and the functions of paths.

Values that hold no records do not have them: `hasattr` says so. What stands at a path has the rows of the whole, and is missing
where a record on the way is; rows keep their partitions.
"""

from collections.abc import Mapping
from functools import update_wrapper
from types import MethodType
from typing import TypeVar, cast

from extenso import paths as _paths
from extenso._core import DTypeError, StructTensor, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeAlias

    Path: TypeAlias = str | Sequence[str]

F = TypeVar("F", bound="Callable[..., Any]")

# The name by which records around a value have it, so that what they do to their fields is done to it.
_WHOLE = "x"


class _OfRecords:
    """A method that values have whose innermost values are records, and no others."""

    def __init__(self, function: "Callable[..., Any]") -> None:
        self._function = function
        update_wrapper(cast("Any", self), function)

    def __get__(self, value: "Any", owner: "type | None" = None) -> "Any":
        if value is None:
            return self._function
        if _inner(value) is None:
            raise _no_records(value, self._function.__name__)
        return MethodType(self._function, value)


def _of_records(function: F) -> F:
    return cast("F", _OfRecords(function))


class Records:
    """The methods of rows and masked values that hold records. Those of `StructTensor` mean the same."""

    __slots__ = ()

    if TYPE_CHECKING:
        # Of the classes below, which have the values that they cut or mask.
        values: Any

    @_of_records
    def field_names(self) -> "list[str]":
        """Returns the names of the fields, in order.

        >>> import extenso as ex
        >>> ex.constant([[{"id": 1, "tag": "x"}], []]).field_names()
        ['id', 'tag']
        """
        names: list[str] = _inner(self).field_names()
        return names

    @_of_records
    def field_value(self, path: "Path") -> "Any":
        """Returns the field of a name, or at a path: a tuple of names, or a text such as `items[*].price`.

        >>> import extenso as ex
        >>> orders = ex.constant([[{"id": 1, "items": [{"n": 2}, {"n": 3}]}], []])
        >>> orders.field_value("id").to_py(), orders.field_value("items[*].n").to_py()
        ([[1], []], [[[2, 3]], []])
        """
        return _around(self).field_value(_below(self, path))

    @_of_records
    def with_updates(self, updates: "Mapping[Any, Any]") -> "Any":
        """Returns the records with these fields replaced or added, which have their rows; the other fields keep their buffers.

        A key is a name, or a tuple of names for a field of records inside, which has the rows of those records.

        >>> import extenso as ex
        >>> rows = ex.constant([[{"n": 1}, {"n": 2}], []])
        >>> rows.with_updates({"twice": rows["n"] * 2}).to_py()
        [[{'n': 1, 'twice': 2}, {'n': 2, 'twice': 4}], []]
        """
        return _whole(_around(self).with_updates(_each_below(self, updates)))

    @_of_records
    def without(self, paths: "Iterable[Path]") -> "Any":
        """Returns the records without some fields: a list of names and of paths, which are tuples of names or texts, or one of them.

        >>> import extenso as ex
        >>> ex.constant([{"id": 1, "tag": "x"}, None]).without("tag").to_py()
        [{'id': 1}, None]
        """
        return _whole(_around(self).without(_several(self, paths)))

    @_of_records
    def with_only(self, paths: "Iterable[Path]") -> "Any":
        """Returns the records with some fields only, in the order in which they are named: names and paths, or one of them.

        >>> import extenso as ex
        >>> ex.constant([[{"id": 1, "tag": "x", "n": 2}], []]).with_only(["n", "id"]).to_py()
        [[{'n': 2, 'id': 1}], []]
        """
        below = _several(self, paths)
        return _whole(_around(self).with_only(below)) if below else _paths.project(self, [])

    @_of_records
    def promote(self, path: "Path", to: "Path") -> "Any":
        """Returns the records with the field at `path` also at `to`, further up: see `extenso.promote`.

        >>> import extenso as ex
        >>> ex.constant([[{"docs": [{"n": 1}, {"n": 2}]}], []]).promote(("docs", "n"), "all")["all"].to_py()
        [[[1, 2]], []]
        """
        return _paths.promote(self, path, to)

    @_of_records
    def broadcast(self, path: "Path", to: "Path") -> "Any":
        """Returns the records with the field at `path` also at `to`, further down: see `extenso.broadcast`.

        >>> import extenso as ex
        >>> ex.constant([[{"id": 7, "docs": [{"n": 1}]}], []]).broadcast("id", ("docs", "id"))["docs", "id"].to_py()
        [[[7]], []]
        """
        return _paths.broadcast(self, path, to)

    @_of_records
    def project(self, paths: "Iterable[Path]") -> "Any":
        """Returns the records with some fields only, which keep their places: see `extenso.paths.project`.

        >>> import extenso as ex
        >>> ex.constant([[{"id": 7, "docs": [{"n": 1, "m": 2}]}], []]).project([("docs", "n")]).to_py()
        [[{'docs': [{'n': 1}]}], []]
        """
        return _paths.project(self, paths)

    @_of_records
    def reroot(self, path: "Path", index: "str | None" = None) -> "Any":
        """Returns what stands at a path in all records, in one vector: see `extenso.paths.reroot`.

        >>> import extenso as ex
        >>> ex.constant([[{"docs": [1, 2]}], [{"docs": [3]}]]).reroot("docs").tolist()
        [1, 2, 3]
        """
        return _paths.reroot(self, path, index)

    @_of_records
    def has(self, path: "Path") -> "Any":
        """Returns whether the field at a path has a value in each of its records: see `extenso.paths.has`.

        >>> import extenso as ex
        >>> ex.constant([[{"a": 1}, {"a": None}], []]).has("a").to_py()
        [[True, False], []]
        """
        return _paths.has(self, path)

    @_of_records
    def size(self, path: "Path | None" = None) -> "Any":
        """Returns how many values the field at a path has in each of its records: see `extenso.paths.size`.

        Without a path, how many records there are, without those that are missing.

        >>> import extenso as ex
        >>> users = ex.constant([[{"a": [1, 2]}, {"a": []}], []])
        >>> users.size("a").to_py(), users.size().item()
        ([[2, 0], []], 2)
        """
        return count(self) if path is None else _paths.size(self, path)

    @_of_records
    def local_index(self, path: "Path") -> "Any":
        """Returns the position of each value of the field at a path in its record: see `extenso.paths.local_index`.

        >>> import extenso as ex
        >>> ex.constant([[{"a": [7, 8]}], []]).local_index("a").to_py()
        [[[0, 1]], []]
        """
        return _paths.local_index(self, path)

    @_of_records
    def filter(self, path: "Path", mask: "Any") -> "Any":
        """Returns the records with some items of the list at a path: see `extenso.paths.filter`.

        >>> import extenso as ex
        >>> users = ex.constant([[{"a": [1, 2]}], []])
        >>> users.filter("a", users["a"] > 1).to_py()
        [[{'a': [2]}], []]
        """
        return _paths.filter(self, path, mask)

    @_of_records
    def slice(self, path: "Path", begin: "int | None" = None, end: "int | None" = None) -> "Any":
        """Returns the records with the list at a path sliced: see `extenso.paths.slice`.

        >>> import extenso as ex
        >>> ex.constant([{"a": [1, 2, 3]}, None]).slice("a", begin=1).to_py()
        [{'a': [2, 3]}, None]
        """
        return _paths.slice(self, path, begin, end)

    @_of_records
    def apply(self, paths: "Iterable[Path]", function: "Callable[..., Any]", to: "Path") -> "Any":
        """Returns the records with a function of the values at some paths as a field: see `extenso.paths.apply`.

        >>> import extenso as ex
        >>> ex.constant([[{"a": 1, "b": 2}], []]).apply(["a", "b"], ex.add, "sum").to_py()
        [[{'a': 1, 'b': 2, 'sum': 3}], []]
        """
        return _paths.apply(self, paths, function, to)

    def __contains__(self, item: "Any") -> bool:
        """Whether records have a field of this name, or elements along the outer axis are equal to an item."""
        records = _inner(self)
        if records is not None and isinstance(item, str):
            return item in records
        return bool(super().__contains__(item))  # type: ignore[misc]

    def __dir__(self) -> "list[str]":
        names = set(super().__dir__())
        return sorted(names if _inner(self) is not None else names - _METHODS)


_METHODS = {name for name, member in vars(Records).items() if isinstance(member, _OfRecords)}


def _inner(x: "Any") -> "Any":
    """Returns the records that are innermost in rows and masks, or nothing where other values are."""
    while isinstance(x, Records):
        x = x.values
    return x if isinstance(x, StructTensor) else None


def _ragged_rank(x: "Any") -> int:
    """Returns how many levels of rows are around the records."""
    from extenso._types import RaggedTensor

    levels = 0
    while isinstance(x, Records):
        levels, x = levels + isinstance(x, RaggedTensor), x.values
    return levels


def _no_records(x: "Any", name: str) -> AttributeError:
    cls = type(x).__name__
    while isinstance(x, Records):
        x = x.values
    found = f"'{cls}' has no '{name}': its values are a {type(x).__name__}."
    return AttributeError(f"{found}\nWanted: rows of records, or masked records.")


def _around(x: "Any") -> StructTensor:
    """Returns records that have a value as their field."""
    return StructTensor([None] * min(x.ndim, 1), {_WHOLE: x})


def _whole(records: StructTensor) -> "Any":
    return records.field_value((_WHOLE,))


def _below(x: "Any", path: "Any") -> "Any":
    """Returns a path of the value as one of the records around it; what is no path is left for these to refuse."""
    if isinstance(path, str):
        is_name = path in _inner(x).field_names() or not set(path) & set('.["')
        return (_WHOLE, path) if is_name else f"{_WHOLE}{'[*]' * _ragged_rank(x)}.{path}"
    return (_WHOLE, *path) if isinstance(path, tuple | list) else path


def _each_below(x: "Any", updates: "Any") -> "dict[Any, Any]":
    if not isinstance(updates, Mapping):
        found = f"with_updates: found a value of type {type(updates).__name__}."
        raise DTypeError(f"{found}\nWanted: values by the names or the paths of their fields, as a dict.")
    return {(_WHOLE, path) if isinstance(path, str) else _below(x, path): field for path, field in updates.items()}


def _several(x: "Any", paths: "Any") -> "list[Any]":
    one = isinstance(paths, str) or (isinstance(paths, tuple) and paths and all(isinstance(name, str) for name in paths))
    return [_below(x, paths)] if one else [_below(x, path) for path in paths]
