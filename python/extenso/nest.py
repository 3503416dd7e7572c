"""Nests: lists, tuples, named tuples, dicts, dataclasses and attrs classes whose leaves are anything else.

Dicts are visited in sorted key order, dataclasses and attrs classes in field order. With `expand_composites`, values of
extension types are nests of the tensors that they are made of, and their specs of the specs of those.

>>> import extenso as ex
>>> ex.nest.flatten({"b": [1, 2], "a": 3})
[3, 1, 2]
>>> ex.nest.map_structure(lambda x: x * 10, {"b": [1, 2], "a": 3})
{'b': [10, 20], 'a': 30}
"""

from extenso._core import Error, InvalidValueError, StructTensor, TypeSpec, _collapse, _expand, is_extension_type, spec_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias

    _Path: TypeAlias = tuple[str | int, ...]

__all__ = ["assert_same_structure", "flatten", "flatten_with_paths", "map_structure", "pack_sequence_as"]

_MAX_DEPTH = 100


def flatten(structure: "Any", expand_composites: bool = False) -> "list[Any]":
    """Returns the leaves in order.

    >>> flatten(([1, {"k": 2}], 3))
    [1, 2, 3]
    """
    return [leaf for _, leaf in _leaves(structure, (), expand_composites)]


def flatten_with_paths(structure: "Any", expand_composites: bool = False) -> "list[tuple[_Path, Any]]":
    """Returns the leaves in order, each with the names and positions that lead to it.

    >>> flatten_with_paths({"a": [1, 2]})
    [(('a', 0), 1), (('a', 1), 2)]
    """
    return list(_leaves(structure, (), expand_composites))


def pack_sequence_as(structure: "Any", flat_sequence: "Iterable[Any]", expand_composites: bool = False) -> "Any":
    """Returns the leaves in the structure of another nest; the reverse of `flatten`.

    Too few or too many leaves are an error. With `expand_composites`, a spec in the structure says what its leaves have to be;
    a value there may be packed again from leaves of other shapes and dtypes, as far as its type allows.

    >>> pack_sequence_as({"a": 0, "b": [0, 0]}, [1, 2, 3])
    {'a': 1, 'b': [2, 3]}
    """
    leaves = iter(flat_sequence)
    packed = _rebuilt(structure, (), lambda path, leaf: _next(leaves, path), expand_composites)
    for _ in leaves:
        raise InvalidValueError("pack_sequence_as: leaves are left over.\nWanted: one leaf for each of the structure.")
    return packed


def assert_same_structure(a: "Any", b: "Any", check_types: bool = True, expand_composites: bool = False) -> None:
    """Checks that two nests have the same structure; an error names the first place where they differ.

    Without `check_types`, a list and a tuple of one length are alike, and so are a dict and a record of the same names.

    >>> assert_same_structure({"a": [1]}, {"a": [2]})
    """
    _compare(a, b, (), check_types, expand_composites)


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
    return pack_sequence_as(first, [func(*leaves) for leaves in zip(*columns, strict=True)], expand_composites)


def _next(leaves: "Iterator[Any]", path: "_Path") -> "Any":
    for leaf in leaves:
        return leaf
    raise InvalidValueError(
        f"pack_sequence_as: no leaf is left for {_text(path)}.\nWanted: one leaf for each of the structure."
    )


def _text(path: "_Path") -> str:
    return "".join(f"[{step!r}]" for step in path) or "the whole"


def _entries(structure: "Any") -> "list[tuple[str | int, Any]] | None":
    """Returns the names or positions and what stands there; none for a leaf."""
    if isinstance(structure, dict):
        if not all(isinstance(key, str) for key in structure):
            found = next(key for key in structure if not isinstance(key, str))
            raise InvalidValueError(f"nest: a dict has the key {found!r}.\nWanted: keys that are strings.")
        return [(key, structure[key]) for key in sorted(structure)]
    names = _record_names(structure)
    if names is not None:
        return [(name, getattr(structure, name)) for name in names]
    if isinstance(structure, list | tuple):
        return list(enumerate(structure))
    return None


def _record_names(structure: "Any") -> "list[str] | None":
    """Returns the field names of a named tuple, dataclass or attrs instance."""
    cls = type(structure)
    if isinstance(structure, tuple) and hasattr(cls, "_fields"):
        return list(cls._fields)
    if hasattr(cls, "__dataclass_fields__"):
        # Fields that are class variables or constructor arguments alone have another kind.
        return [name for name, field in cls.__dataclass_fields__.items() if field._field_type.name == "_FIELD"]
    if hasattr(cls, "__attrs_attrs__"):
        return [field.name for field in cls.__attrs_attrs__]
    return None


def _is_composite(leaf: "Any") -> bool:
    if isinstance(leaf, TypeSpec):
        return hasattr(leaf, "component_specs") or hasattr(leaf, "field_specs")
    return isinstance(leaf, StructTensor) or (not isinstance(leaf, type) and is_extension_type(leaf))


def _leaves(structure: "Any", path: "_Path", expand: bool) -> "Iterator[tuple[_Path, Any]]":
    _check_depth(path)
    entries = _entries(structure)
    if entries is not None:
        for step, inner in entries:
            yield from _leaves(inner, (*path, step), expand)
    elif expand and _is_composite(structure):
        for i, tensor in enumerate(_expand(structure)):
            yield (*path, i), tensor
    else:
        yield path, structure


def _check_depth(path: "_Path") -> None:
    if len(path) > _MAX_DEPTH:
        raise InvalidValueError(f"nest: the nest is deeper than {_MAX_DEPTH}.\nWanted: fewer levels.")


def _rebuilt(structure: "Any", path: "_Path", leaf: "Callable[[_Path, Any], Any]", expand: bool) -> "Any":
    _check_depth(path)
    entries = _entries(structure)
    if entries is None:
        return _rebuilt_leaf(structure, path, leaf, expand)
    built = {step: _rebuilt(inner, (*path, step), leaf, expand) for step, inner in entries}
    if isinstance(structure, dict):
        # The order of the keys is that of the structure, whatever the order of the leaves.
        made = {key: built[key] for key in structure}
        return made if type(structure) is dict else type(structure)(made)
    names = _record_names(structure)
    if names is not None:
        return _record_of(structure, {str(name): value for name, value in built.items()})
    return type(structure)(built[i] for i in range(len(built)))


def _record_of(structure: "Any", fields: "dict[str, Any]") -> "Any":
    cls = type(structure)
    if hasattr(cls, "__attrs_attrs__"):
        # A constructor of attrs knows a private field without its underscores.
        return cls(**{field.alias: fields[field.name] for field in cls.__attrs_attrs__ if field.init})
    if hasattr(cls, "__dataclass_fields__"):
        return cls(**{name: value for name, value in fields.items() if cls.__dataclass_fields__[name].init})
    return cls(**fields)


def _rebuilt_leaf(structure: "Any", path: "_Path", leaf: "Callable[[_Path, Any], Any]", expand: bool) -> "Any":
    if not (expand and _is_composite(structure)):
        return leaf(path, structure)
    components = [leaf((*path, i), part) for i, part in enumerate(_expand(structure))]
    try:
        if isinstance(structure, TypeSpec):
            return _collapse(structure, components)
        # The components of a value may come back in another shape or dtype: what it is made of stays, and is proven again.
        spec = _collapse(spec_of(structure), [spec_of(component) for component in components])
        return _collapse(spec, components)
    except Error as error:
        error.add_note(f"The components are those of {_text(path)}.")
        raise


def _compare(a: "Any", b: "Any", path: "_Path", check_types: bool, expand: bool) -> None:
    _check_depth(path)
    left, right = _entries(a), _entries(b)
    if (left is None) != (right is None):
        raise _differ(path, f"a {_kind(a, left)} stands against a {_kind(b, right)}")
    if left is None or right is None:
        _compare_leaves(a, b, path, expand)
        return
    if check_types and type(a) is not type(b):
        raise _differ(path, f"a {type(a).__name__} stands against a {type(b).__name__}")
    if [step for step, _ in left] != [step for step, _ in right]:
        raise _differ(path, f"{[step for step, _ in left]} stand against {[step for step, _ in right]}")
    for (step, x), (_, y) in zip(left, right, strict=True):
        _compare(x, y, (*path, step), check_types, expand)


def _compare_leaves(a: "Any", b: "Any", path: "_Path", expand: bool) -> None:
    if not expand or not (_is_composite(a) or _is_composite(b)):
        return
    if not (_is_composite(a) and _is_composite(b)):
        raise _differ(path, f"a {type(a).__name__} stands against a {type(b).__name__}")
    x, y = (leaf if isinstance(leaf, TypeSpec) else spec_of(leaf) for leaf in (a, b))
    if x.most_specific_compatible_type(y) is None:
        raise _differ(path, f"{x} stands against {y}")


def _kind(value: "Any", entries: "list[tuple[str | int, Any]] | None") -> str:
    return "leaf" if entries is None else type(value).__name__


def _differ(path: "_Path", what: str) -> InvalidValueError:
    return InvalidValueError(f"assert_same_structure: at {_text(path)}: {what}.\nWanted: the same structure on both sides.")
