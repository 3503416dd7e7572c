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


def test_containers_of_other_classes_are_made_again_as_they_are() -> None:
    from collections import OrderedDict

    class Items(list):  # type: ignore[type-arg]
        pass

    structure = OrderedDict([("b", Items([1, 2])), ("a", (3,))])
    assert ex.nest.flatten(structure) == [3, 1, 2]
    made = ex.nest.map_structure(lambda x: x * 10, structure)
    assert type(made) is OrderedDict and list(made) == ["b", "a"] and made == {"b": [10, 20], "a": (30,)}
    assert type(made["b"]) is Items
    with pytest.raises(ValueError, match="the key 1"):
        ex.nest.flatten([{1: 2}])


def test_a_place_without_a_leaf_is_named() -> None:
    with pytest.raises(ValueError, match=r"no leaf is left for \['a'\]\[1\]"):
        ex.nest.pack_sequence_as({"a": [1, 2]}, [1])


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


class Line(ex.ExtensionType):
    points: ex.Tensor
    width: int = 1

    def __validate__(self) -> None:
        if len(self.points.shape) == 2:
            raise ValueError("points of rank 2")


def test_composites_are_rebuilt_of_other_shapes_and_dtypes_and_validated() -> None:
    def mapped(func: Any, value: Any) -> Any:
        return ex.nest.map_structure(func, value, expand_composites=True)

    line = Line([1, 2], 3)
    assert mapped(lambda x: ex.cast(x, "f32"), line) == Line(ex.tensor([1, 2], "f32"), 3)
    assert mapped(lambda x: ex.reshape(x, (1, 1, 2)), [line])[0].points.shape == (1, 1, 2)
    with pytest.raises(ValueError, match="points of rank 2"):
        mapped(lambda x: ex.expand_dims(x, 0), line)
    twice = ex.constant([{"a": 1, "m": None}, {"a": 2, "m": "x"}])
    assert mapped(lambda x: ex.concat([x, x], 0), twice).to_py() == twice.to_py() * 2
    rows = ex.constant([[1], [2, 3]])
    packed = ex.nest.pack_sequence_as(rows, [["a", "b"], ex.tensor([0, 0, 1, 2], "i32")], expand_composites=True)
    assert packed.to_py() == [[], ["a"], ["b"]] and packed.spec.row_splits_dtype is ex.i32
    with pytest.raises(TypeError, match="f64"):
        ex.nest.pack_sequence_as(rows, [[1, 2], [0.0, 2.0]], expand_composites=True)
    # A spec says what the leaves have to be.
    with pytest.raises(TypeError, match=r"string\[2\]"):
        ex.nest.pack_sequence_as(rows.spec, [["a", "b"], [0, 0, 2]], expand_composites=True)
    with pytest.raises(ValueError, match="width=3.*width=1"):
        ex.nest.map_structure(lambda x, y: x, line, Line([1, 2]), expand_composites=True)


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


@pytest.mark.parametrize(
    ("question", "yes", "no"),
    [
        ("is_unary_elementwise_op", "negative exp cast logical_not isnan", "add sum where concat"),
        ("is_binary_elementwise_op", "add less logical_and maximum floor_divide", "exp sum where concat"),
        ("is_reduction_op", "sum prod max min any all", "add exp cumulative_sum take"),
    ],
)
def test_the_questions_name_the_class_of_an_op(question: str, yes: str, no: str) -> None:
    ask = getattr(ex.dispatch, question)
    assert all(ask(getattr(ex, name)) for name in yes.split())
    assert not any(ask(getattr(ex, name)) for name in no.split())
    assert not ask(len) and not ask("exp")
