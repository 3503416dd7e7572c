"""Functions of paths in nested records: parts of records, and what is known of the field at a path.

A path is a name, or a tuple of names; rows and masks on the way are passed through. They take records, rows of records and
masked records, all of which have them as methods. Names and meaning are those of struct2tensor.

>>> import extenso as ex
>>> users = ex.constant([{"id": 7, "docs": [{"n": 1}, {"n": 2}]}, {"id": 8, "docs": []}])
>>> ex.paths.size(users, "docs").tolist()
[2, 0]
>>> ex.paths.slice(users, "docs", end=1).to_py()
[{'id': 7, 'docs': [{'n': 1}]}, {'id': 8, 'docs': []}]
"""

from extenso._core import DTypeError, _Paths
from extenso._core import broadcast as broadcast
from extenso._core import promote as promote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeAlias

    Path: TypeAlias = str | Sequence[str]

__all__ = ["apply", "broadcast", "filter", "has", "local_index", "project", "promote", "reroot", "size", "slice"]


def project(x: "Any", paths: "Iterable[Path]") -> "Any":
    """Returns the records with some fields only, which keep their places.

    >>> import extenso as ex
    >>> project(ex.constant([{"a": 1, "docs": [{"n": 1, "m": 2}]}]), [("docs", "n")]).to_py()
    [{'docs': [{'n': 1}]}]
    """
    return _Paths.project(x, _several(paths))


def reroot(x: "Any", path: "Path", index: "str | None" = None) -> "Any":
    """Returns what stands at a path in all records, in one vector; lists on the way are joined.

    With `index`, records that have a new field of this name: the position of the record at the root that each was in.

    >>> import extenso as ex
    >>> reroot(ex.constant([{"docs": [{"n": 1}]}, {"docs": [{"n": 2}, {"n": 3}]}]), "docs", "user").to_py()
    [{'n': 1, 'user': 0}, {'n': 2, 'user': 1}, {'n': 3, 'user': 1}]
    """
    return _Paths.reroot(x, path, index)


def has(x: "Any", path: "Path") -> "Any":
    """Returns whether the field at a path has a value in each of its records: an item of a list, or the value itself.

    >>> import extenso as ex
    >>> has(ex.constant([{"a": 1}, {"a": None}]), "a").tolist()
    [True, False]
    """
    return _Paths.has(x, path)


def size(x: "Any", path: "Path") -> "Any":
    """Returns how many values the field at a path has in each of its records; a missing list counts as empty.

    >>> import extenso as ex
    >>> size(ex.constant([{"a": [1, 2]}, {"a": []}]), "a").tolist()
    [2, 0]
    """
    return _Paths.size(x, path)


def local_index(x: "Any", path: "Path") -> "Any":
    """Returns the position of each value of the field at a path among those of its record.

    >>> import extenso as ex
    >>> local_index(ex.constant([{"a": [7, 8]}, {"a": [9]}]), "a").to_py()
    [[0, 1], [0]]
    """
    return _Paths.local_index(x, path)


def filter(x: "Any", path: "Path", mask: "Any") -> "Any":
    """Returns the records with the items of the list at a path where `mask`, which has its rows, is true alone.

    >>> import extenso as ex
    >>> users = ex.constant([{"docs": [{"n": 1}, {"n": 2}]}, {"docs": [{"n": 3}]}])
    >>> filter(users, "docs", users["docs", "n"] > 1).to_py()
    [{'docs': [{'n': 2}]}, {'docs': [{'n': 3}]}]
    """
    return _Paths.filter(x, path, mask)


def slice(x: "Any", path: "Path", begin: "int | None" = None, end: "int | None" = None) -> "Any":
    """Returns the records with the list at a path sliced, by the rules of Python's slices.

    >>> import extenso as ex
    >>> slice(ex.constant([{"a": [1, 2, 3]}, {"a": [4]}]), "a", begin=-2).to_py()
    [{'a': [2, 3]}, {'a': [4]}]
    """
    return _Paths.slice(x, path, begin, end)


def apply(x: "Any", paths: "Iterable[Path]", function: "Callable[..., Any]", to: "Path") -> "Any":
    """Returns the records with what `function` makes of the values at some paths as the field `to`.

    The values have the rows of their records, from the root; the result has those of the records at `to`.

    >>> import extenso as ex
    >>> apply(ex.constant([{"a": 1, "b": 2}]), ["a", "b"], ex.add, "sum").to_py()
    [{'a': 1, 'b': 2, 'sum': 3}]
    """
    return _Paths.apply(x, _several(paths), function, to)


def _several(paths: "Iterable[Path]") -> "Iterable[Path]":
    """Returns paths that have an end, which an array of no size beside a huge one seems not to have."""
    if isinstance(paths, (str, list, tuple)):
        return paths
    raise DTypeError(f"found a value of type {type(paths).__name__} as paths\nWanted: a list of names, or of tuples of names")
