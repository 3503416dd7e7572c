"""Tests of `nest` and `dispatch`, the namespaces."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import extenso as ex
import pytest


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Record:
    b: Any
    a: Any


def test_packing_the_leaves_is_the_nest() -> None:
    for structure in [3, [], {"b": [1, (2, 3)], "a": Point(4, {"z": 5})}, Record(1, [2]), (Record(Point(1, 2), 3),)]:
        assert ex.nest.pack_sequence_as(structure, ex.nest.flatten(structure)) == structure


def test_dicts_are_visited_by_key_and_records_by_field() -> None:
    assert ex.nest.flatten({"b": 1, "a": 2}) == [2, 1]
    assert ex.nest.flatten(Record(1, 2)) == [1, 2]
    assert list(ex.nest.map_structure(lambda x: x, {"b": 1, "a": 2})) == ["b", "a"]
    paths = ex.nest.flatten_with_paths({"b": Point(1, [2]), "a": None})
    assert paths == [(("a",), None), (("b", "x"), 1), (("b", "y", 0), 2)]


def test_attrs_classes_are_records() -> None:
    attr = pytest.importorskip("attr")
    Private = attr.make_class("Private", ["_a", "b"])
    made = ex.nest.map_structure(lambda x: x + 1, Private(1, 2))
    assert (made._a, made.b) == (2, 3)


def test_maps_go_over_several_structures() -> None:
    assert ex.nest.map_structure(lambda x, y: x + y, {"a": [1]}, {"a": [2]}) == {"a": [3]}
    with pytest.raises(ValueError, match=r"at \['a'\].*\[0, 1\]"):
        ex.nest.map_structure(lambda x, y: x, {"a": [1]}, {"a": [1, 2]})
    with pytest.raises(ValueError, match="at least one"):
        ex.nest.map_structure(lambda: 0)


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        ([1], (1,), "list stands against a tuple"),
        ({"a": 1}, {"b": 1}, "stand against"),
        ([1], 1, "leaf"),
        ({"k": {"a": [1, [2]]}}, {"k": {"a": [1, 2]}}, r"\['k'\]\['a'\]\[1\]"),
    ],
)
def test_structures_that_differ_are_named_by_path(a: Any, b: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ex.nest.assert_same_structure(a, b)


def test_types_of_containers_may_be_left_out() -> None:
    ex.nest.assert_same_structure([1, {"x": 1, "y": 2}], (1, Point(1, 2)), check_types=False)


def test_composites_are_nests_of_their_tensors() -> None:
    rows = ex.constant([[1], [2, 3]])
    flat = ex.nest.flatten({"r": rows, "s": ex.constant([{"a": 1, "b": None}])}, expand_composites=True)
    assert [leaf.to_py() for leaf in flat] == [[1, 2, 3], [0, 1, 3], [1], [0.0], [False]]
    assert ex.nest.flatten([rows])[0] is rows
    doubled = ex.nest.map_structure(lambda x: x, {"r": rows}, expand_composites=True)
    assert ex.all(doubled["r"] == rows).item()
    specs = ex.nest.flatten(rows.spec, expand_composites=True)
    assert specs == [ex.TensorSpec([3], "i64"), ex.TensorSpec([3], "i64")]
    assert ex.nest.map_structure(lambda x: x, rows.spec, expand_composites=True) == rows.spec
    packed = ex.nest.pack_sequence_as(rows.spec, [[4, 5, 6], [0, 0, 3]], expand_composites=True)
    assert packed.to_py() == [[], [4, 5, 6]]
    for splits in ([0, 3, 2], [1, 2, 3], [0, 1, 9]):
        with pytest.raises(ValueError):
            ex.nest.pack_sequence_as(rows, [[4, 5, 6], splits], expand_composites=True)
    with pytest.raises(ValueError, match="left over"):
        ex.nest.pack_sequence_as([rows], [1, 2])
    with pytest.raises(ValueError, match="no leaf is left"):
        ex.nest.pack_sequence_as([1, 2], [1])
    with pytest.raises(ValueError, match="stands against"):
        ex.nest.assert_same_structure(rows, ex.constant([1]), expand_composites=True)
    ex.nest.assert_same_structure(rows, ex.constant([["a"], [], ["b", "c"]]))


def test_the_examples_of_the_namespaces_hold() -> None:
    import doctest
    import importlib

    for name in ("nest", "dispatch"):
        results = doctest.testmod(importlib.import_module(f"extenso.{name}"))
        assert results.attempted > 0 and results.failed == 0


@pytest.mark.parametrize("name", ["promote", "broadcast", "constant", "to_py"])
def test_the_examples_of_functions_hold(name: str) -> None:
    import doctest
    import inspect

    test = doctest.DocTestParser().get_doctest(inspect.getdoc(getattr(ex, name)) or "", {"ex": ex}, name, None, None)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_a_nest_without_end_is_an_error() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="deeper than 100"):
        ex.nest.flatten(endless)


def test_dispatch_has_the_decorator_and_the_questions() -> None:
    from extenso import dispatch

    assert dispatch.dispatch_for is ex.dispatch_for and ex.dispatch is dispatch
    assert dispatch.is_unary_elementwise_op(ex.exp) and not dispatch.is_reduction_op(ex.exp)
    assert all(hasattr(dispatch, name) for name in dispatch.__all__)
