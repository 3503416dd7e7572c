"""Nests: lists, tuples, named tuples, dicts, dataclasses and attrs classes whose leaves are anything else.

Dicts are visited in sorted key order, dataclasses and attrs classes in field order. Records are made again of their fields, without
their constructor. With `expand_composites`, values of
extension types are nests of the tensors that they are made of, and their specs of the specs of those.

>>> import extenso as ex
>>> ex.nest.flatten({"b": [1, 2], "a": 3})
[3, 1, 2]
>>> ex.nest.map_structure(lambda x: x * 10, {"b": [1, 2], "a": 3})
{'b': [10, 20], 'a': 30}
"""

from extenso._core import (
    Error,
    InvalidValueError,
    StructTensor,
    TypeSpec,
    _collapse,
    _expand,
    _nest_compare,
    _nest_leaves,
    _nest_leaves_with_paths,
    _nest_packed,
    is_extension_type,
    spec_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    _Path: TypeAlias = tuple[str | int, ...]

__all__ = ["assert_same_structure", "flatten", "flatten_with_paths", "map_structure", "pack_sequence_as"]


def flatten(structure: "Any", expand_composites: bool = False) -> "list[Any]":
    """Returns the leaves in order.

    >>> flatten(([1, {"k": 2}], 3))
    [1, 2, 3]
    """
    return _nest_leaves(structure, _parts if expand_composites else None)


def flatten_with_paths(structure: "Any", expand_composites: bool = False) -> "list[tuple[_Path, Any]]":
    """Returns the leaves in order, each with the names and positions that lead to it.

    >>> flatten_with_paths({"a": [1, 2]})
    [(('a', 0), 1), (('a', 1), 2)]
    """
    return _nest_leaves_with_paths(structure, _parts if expand_composites else None)


def pack_sequence_as(structure: "Any", flat_sequence: "Iterable[Any]", expand_composites: bool = False) -> "Any":
    """Returns the leaves in the structure of another nest; the reverse of `flatten`.

    Too few or too many leaves are an error. With `expand_composites`, a spec in the structure says what its leaves have to be;
    a value there may be packed again from leaves of other shapes and dtypes, as far as its type allows.

    >>> pack_sequence_as({"a": 0, "b": [0, 0]}, [1, 2, 3])
    {'a': 1, 'b': [2, 3]}
    """
    leaves = iter(flat_sequence)
    if not expand_composites:
        return _nest_packed(structure, leaves)
    return _nest_packed(structure, leaves, _parts, _packed)


def assert_same_structure(a: "Any", b: "Any", check_types: bool = True, expand_composites: bool = False) -> None:
    """Checks that two nests have the same structure; an error names the first place where they differ.

    Without `check_types`, a list and a tuple of one length are alike, and so are a dict and a record of the same names.

    >>> assert_same_structure({"a": [1]}, {"a": [2]})
    """
    _nest_compare(a, b, check_types, _compare_leaves if expand_composites else None)


def map_structure(
    func: "Callable[..., Any]", *structures: "Any", check_types: bool = True, expand_composites: bool = False
) -> "Any":
    """Returns the nest of what `func` gives for the leaves of all structures, in the structure of the first.

    >>> map_structure(lambda x, y: x + y, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    if not structures:
        raise InvalidValueError("map_structure: no structure is given.\nWanted: at least one.")
    first, *others = structures
    for other in others:
        assert_same_structure(first, other, check_types, expand_composites)
    columns = [flatten(structure, expand_composites) for structure in structures]
    return pack_sequence_as(first, list(map(func, *columns)), expand_composites)


def _is_composite(leaf: "Any") -> bool:
    if isinstance(leaf, TypeSpec):
        return hasattr(leaf, "component_specs") or hasattr(leaf, "field_specs")
    return isinstance(leaf, StructTensor) or (not isinstance(leaf, type) and is_extension_type(leaf))


def _parts(leaf: "Any") -> "tuple[Any, ...] | None":
    """Returns the tensors that a composite is made of, or their specs."""
    return _expand(leaf) if _is_composite(leaf) else None


def _packed(structure: "Any", components: "list[Any]", place: str) -> "Any":
    """Returns the composite of components."""
    try:
        if isinstance(structure, TypeSpec):
            return _collapse(structure, components)
        # The components of a value may come back in another shape or dtype: what it is made of stays, and is proven again.
        spec = _collapse(spec_of(structure), [spec_of(component) for component in components])
        return _collapse(spec, components)
    except Error as error:
        error.add_note(f"The components are those of {place}.")
        raise


def _compare_leaves(a: "Any", b: "Any", place: str) -> None:
    if not (_is_composite(a) or _is_composite(b)):
        return
    if not (_is_composite(a) and _is_composite(b)):
        raise _differ(place, f"a {type(a).__name__} stands against a {type(b).__name__}")
    x, y = (leaf if isinstance(leaf, TypeSpec) else spec_of(leaf) for leaf in (a, b))
    if x.most_specific_compatible_type(y) is None:
        raise _differ(place, f"{x} stands against {y}")


def _differ(place: str, what: str) -> InvalidValueError:
    return InvalidValueError(f"assert_same_structure: at {place}: {what}.\nWanted: the same structure on both sides.")
