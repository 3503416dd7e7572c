"""Tests of specs, and of types whose spec is written by hand."""

from __future__ import annotations

import pathlib
import pickle
import subprocess
import sys
from typing import Any

import extenso as ex
import pytest


def spec(shape: Any, dtype: str = "f32") -> ex.TensorSpec:
    return ex.TensorSpec(shape, dtype)


@pytest.mark.parametrize(
    ("a", "b", "compatible", "subtype", "join"),
    [
        (spec([2, 1]), spec([5, 3]), False, False, spec([None, None])),
        (spec([2, 3]), spec([None, 3]), True, True, spec([None, 3])),
        (spec([None, 3]), spec([2, 3]), True, False, spec([None, 3])),
        (spec([2]), spec([2, 1]), False, False, spec(None)),
        (spec([2]), spec(None), True, True, spec(None)),
        (spec([5, 3]), spec([5, None]), True, True, spec([5, None])),
        (spec([5, None]), spec(None), True, True, spec(None)),
        (spec(None), spec([5, None]), True, False, spec(None)),
        (spec([2]), spec([2], "f64"), False, False, None),
        (spec([2]), ex.RowPartitionSpec(2, 2), False, False, None),
        (ex.RowPartitionSpec(2, 3), ex.RowPartitionSpec(), True, True, ex.RowPartitionSpec()),
        (ex.RowPartitionSpec(), ex.RowPartitionSpec(dtype="i32"), False, False, None),
    ],
)
def test_compatibility_subtypes_and_joins(a: Any, b: Any, compatible: bool, subtype: bool, join: Any) -> None:
    assert a.is_compatible_with(b) is b.is_compatible_with(a) is compatible
    assert a.is_subtype_of(b) is subtype
    assert a.most_specific_compatible_type(b) == join


def test_specs_are_compatible_with_values() -> None:
    assert spec([None]).is_compatible_with(ex.tensor([1.0], "f32"))
    assert not spec([None]).is_compatible_with([1.0])
    assert spec([], "i64").is_compatible_with(3)


def test_specs_show_and_pickle_themselves() -> None:
    for each in (spec([None, 3]), spec(None), spec([]), ex.RowPartitionSpec(2, None, "i32")):
        assert eval(repr(each), {"TensorSpec": ex.TensorSpec, "RowPartitionSpec": ex.RowPartitionSpec}) == each
        assert pickle.loads(pickle.dumps(each)) == each
        assert hash(each) == hash(pickle.loads(pickle.dumps(each)))
    assert spec([None, 3]).shape.dims == (None, 3)
    assert spec([2]).dtype is ex.f32
    assert ex.tensor([1.0]).spec == spec([1], "f64")
    with pytest.raises(TypeError, match="i32 or i64"):
        ex.RowPartitionSpec(dtype="f32")
    with pytest.raises(TypeError, match="shape: found"):
        spec(["a"])
    with pytest.raises(TypeError, match="shape"):
        spec([-1])


class Pair(ex.ExtensionType):
    first: ex.Tensor
    second: ex.Tensor
    name: str = "pair"


def test_specs_of_annotated_types_are_made_from_specs() -> None:
    partial = Pair.Spec(spec([None]), second=spec(None))
    assert partial.name == "pair"
    assert partial.is_compatible_with(Pair(ex.tensor([1.0], "f32"), ex.tensor(1, "f32")))
    assert not partial.is_compatible_with(Pair([1.0], [1.0]))
    assert not partial.is_compatible_with(Pair.Spec(spec([None]), spec(None), "other"))
    joined = Pair.Spec(spec([2]), spec([2])).most_specific_compatible_type(Pair.Spec(spec([3]), spec([2])))
    assert joined == Pair.Spec(spec([None]), spec([2]))
    assert isinstance(joined, Pair.Spec)
    assert pickle.loads(pickle.dumps(partial)) == partial
    for args, text in [((spec([1]),), "'second' is missing"), ((1, 2), "expected a spec"), ((1, 2, 3, 4), "4 arg")]:
        with pytest.raises(TypeError, match=text):
            Pair.Spec(*args)
    with pytest.raises(AttributeError, match="nothing"):
        _ = partial.nothing


def test_specs_of_annotated_types_take_values_apart_and_rebuild_them() -> None:
    pair = Pair([1.0, 2.0], [3], "p")
    full = ex.spec_of(pair)
    components = full.to_components(pair)
    assert list(components) == list(full.component_specs) == ["first", "second"]
    assert full.value_type is Pair and full.from_components(components) == pair
    wide = Pair.Spec(spec([None], "f64"), spec(None, "i64"), "q")
    assert wide.from_components(components) == Pair([1.0, 2.0], [3], "q")
    rows = ex.constant([[1], [2, 3]])
    assert rows.spec.from_components(rows.spec.to_components(rows)).to_py() == rows.to_py()
    for given, error, text in [
        ({"first": components["first"]}, KeyError, "'second' is missing"),
        ({**components, "third": 1}, ValueError, "3 components"),
        ({**components, "second": [1.5]}, TypeError, r"component 'second': found f64\[1\]"),
    ]:
        with pytest.raises(error, match=text):
            full.from_components(given)
    with pytest.raises(TypeError, match="to_components"):
        full.to_components(Pair([1.0], [3], "p"))


class Interval:
    """A type whose spec is written by hand."""

    def __init__(self, low: Any, high: Any, closed: bool = True) -> None:
        self.low, self.high, self.closed = ex.tensor(low), ex.tensor(high), closed

    def __extenso_type_spec__(self) -> IntervalSpec:
        return IntervalSpec(self.low.spec, self.closed)


@ex.register_type_spec("tests/Interval")
class IntervalSpec(ex.TypeSpec):
    """The spec of an interval."""

    value_type = Interval

    def __init__(self, bound: ex.TypeSpec, closed: bool) -> None:
        self.bound, self.closed = bound, closed

    def serialize(self) -> tuple[Any, ...]:
        return self.bound, self.closed

    @property
    def component_specs(self) -> dict[str, ex.TypeSpec]:
        return {"low": self.bound, "high": self.bound}

    def to_components(self, value: Interval) -> dict[str, ex.Tensor]:
        return {"low": value.low, "high": value.high}

    def from_components(self, components: dict[str, ex.Tensor]) -> Interval:
        return Interval(components["low"], components["high"], self.closed)


def test_everything_follows_from_a_spec_written_by_hand() -> None:
    a, b = IntervalSpec(spec([2]), True), IntervalSpec(spec([3]), True)
    assert a == IntervalSpec(spec([2]), True)
    assert a != IntervalSpec(spec([2]), False)
    assert hash(a) == hash(IntervalSpec(spec([2]), True))
    assert not a.is_compatible_with(b)
    joined = a.most_specific_compatible_type(b)
    assert isinstance(joined, IntervalSpec)
    assert joined == IntervalSpec(spec([None]), True)
    assert (joined.bound, joined.closed) == (spec([None]), True)
    assert a.is_subtype_of(joined)
    assert joined.is_compatible_with(Interval(ex.tensor([1.0], "f32"), ex.tensor([2.0], "f32")))
    assert a.most_specific_compatible_type(IntervalSpec(spec([2]), False)) is None
    assert ex.spec_of(Interval([1.0], [2.0])) == IntervalSpec(spec([1], "f64"), True)
    assert ex.is_extension_type(Interval)
    assert not ex.is_extension_type(IntervalSpec)


def test_values_of_a_handwritten_type_dispatch() -> None:
    @ex.dispatch_for(ex.add, Interval)
    def add(x: Interval, y: Any) -> Interval:
        return Interval(x.low + y, x.high + y, x.closed)

    try:
        result = ex.add(Interval([1.0], [2.0]), 1.0)
    finally:
        ex.unregister(add)
    assert isinstance(result, Interval)
    assert (result.low.tolist(), result.high.tolist()) == ([2.0], [3.0])


def test_a_handwritten_type_is_traced_differentiated_and_saved(tmp_path: pathlib.Path) -> None:
    def width(x: Interval) -> ex.Tensor:
        return ex.sum((x.high - x.low) * x.high)

    @ex.function
    def steepest(x: Interval) -> Interval:
        return ex.grad(width)(x)

    x = Interval([1.0, 2.0], [4.0, 3.0], closed=False)
    slope = steepest(x)
    assert isinstance(slope, Interval) and not slope.closed
    assert (slope.low.tolist(), slope.high.tolist()) == ([-4.0, -3.0], [7.0, 4.0])
    ex.save(steepest, tmp_path / "steepest.exo")
    loaded = ex.load(tmp_path / "steepest.exo").steepest(x)
    assert isinstance(loaded, Interval) and loaded.high.tolist() == slope.high.tolist()


def test_a_handwritten_value_can_be_a_component() -> None:
    class Holder(ex.ExtensionType):
        interval: Interval
        weight: ex.Tensor

    holder = Holder(Interval([1.0], [2.0]), 3.0)
    assert ex.spec_of(holder).interval == IntervalSpec(spec([1], "f64"), True)
    assert holder == Holder(Interval([1.0], [2.0]), 3.0)
    assert holder != Holder(Interval([1.0], [2.5]), 3.0)
    with pytest.raises(TypeError, match="interval: expected Interval, got 'list'"):
        Holder([1.0], 2.0)  # type: ignore[arg-type]


def test_only_a_class_that_says_its_spec_is_registered() -> None:
    for foreign in (int, ex.Tensor, type("Plain", (), {})):
        with pytest.raises(TypeError, match="__extenso_type_spec__"):
            ex.register_type_spec("tests/Foreign")(type("ForeignSpec", (ex.TypeSpec,), {"value_type": foreign}))


def test_names_of_types_are_unique_and_have_a_default() -> None:
    def define(module: str) -> Any:
        value = type("Named", (), {"__module__": module, "__extenso_type_spec__": lambda self: None})
        return type("NamedSpec", (ex.TypeSpec,), {"value_type": value, "component_specs": ()})

    first = define("first")
    assert ex.register_type_spec("tests/Unique")(first) is first
    with pytest.raises(ValueError, match="registered as 'tests/Unique' already"):
        ex.register_type_spec("tests/Second")(first)
    with pytest.raises(ValueError, match=r"tests/Unique.*first.*second"):
        ex.register_type_spec("tests/Unique")(define("second"))
    plain = ex.register_type_spec(define("third"))
    with pytest.raises(ValueError, match="registered as 'third/Named' already"):
        ex.register_type_spec("tests/Second")(plain)


def test_a_class_takes_one_name() -> None:
    assert ex.register_type_spec("tests/Interval")(IntervalSpec) is IntervalSpec
    with pytest.raises(ValueError, match=r"tests/Interval.*already"):
        ex.register_type_spec("tests/Other")(IntervalSpec)
    with pytest.raises(KeyError, match="value_type"):

        @ex.register_type_spec
        class Nameless(ex.TypeSpec):
            pass


def test_ops_are_forbidden_inside_taking_apart() -> None:
    class Lazy:
        def __extenso_type_spec__(self) -> ex.TypeSpec:
            return LazySpec()

    class LazySpec(ex.TypeSpec):
        value_type = Lazy
        component_specs = spec([], "i64")

        def serialize(self) -> tuple[()]:
            ex.add(1, 2)
            return ()

    with pytest.raises(ex.ScopeError, match="calls the op"):
        ex.spec_of(Lazy())


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "component_specs"),
        ({"component_specs": 3}, "found a value of type int among the components"),
        ({"component_specs": (), "serialize": lambda self: object()}, "static data"),
    ],
)
def test_faults_of_a_handwritten_spec_are_named(body: dict[str, Any], text: str) -> None:
    class Value:
        def __extenso_type_spec__(self) -> Any:
            return type("ValueSpec", (ex.TypeSpec,), {"value_type": Value, **body})()

    with pytest.raises(Exception, match=text):
        ex.spec_of(Value())


def test_something_else_than_a_spec_is_an_error() -> None:
    class Value:
        def __extenso_type_spec__(self) -> int:
            return 3

    with pytest.raises(TypeError, match="returned a int"):
        ex.spec_of(Value())


def test_tensors_and_partitions_answer_the_spec_method() -> None:
    assert ex.tensor([1]).__extenso_type_spec__() == spec([1], "i64")
    assert ex.RowPartition.from_row_lengths([1]).__extenso_type_spec__() == ex.RowPartitionSpec(1, 1)


def test_specs_show_the_call_that_makes_them() -> None:
    for shown in [
        "RaggedTensorSpec([2, None], 'i64')",
        "RaggedTensorSpec([2, None, 3], 'f32', 1)",
        "RaggedTensorSpec([None, None, None], 'string')",
        "RaggedTensorSpec([None, None], flat_values_spec=StructTensorSpec([None], {'a': TensorSpec([None], 'i64')}))",
        "MaskedTensorSpec(TensorSpec([None], 'i64'))",
        "MaskedTensorSpec(RaggedTensorSpec([None, None], 'i64'))",
    ]:
        names = ("MaskedTensorSpec", "RaggedTensorSpec", "StructTensorSpec", "TensorSpec")
        assert repr(eval(shown, {name: getattr(ex, name) for name in names})) == shown
    assert repr(ex.constant([[1], []]).spec).startswith("RaggedTensorSpec(values=TensorSpec([1], 'i64'), partition=")


def test_every_value_shows_its_spec() -> None:
    decimals = ex.MaskedTensor(ex.DecimalTensor.parse(["1.5", "0"], 5, 2), [True, False])
    assert repr(decimals.spec).startswith("MaskedTensorSpec(DecimalTensor.Spec(")
    assert "MaskedTensorSpec" in repr(ex.constant([[[1], None], []]).spec)
    cells = ex.FixedBytesTensor(ex.reshape(ex.cast(ex.constant([1, 2, 3, 4, 5, 6]), "u8"), (2, 3)))
    assert (cells.shape, ex.StructTensor([2], {"cells": cells}).spec.shape.dims) == ((2,), (2,))


def test_the_specs_of_shipped_types_have_their_classes_when_first_met() -> None:
    code = "import extenso as ex; print(type(ex.infer_spec([{'t': [1, None]}]).field_specs['t']).__name__)"
    shown = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "RaggedTensorSpec\n"


def test_deep_records_have_their_specs_in_no_time() -> None:
    spec = ex.infer_spec(b'{"a":' * 50 + b"1" + b"}" * 50)
    assert repr(spec).count("StructTensorSpec") == 50 and pickle.loads(pickle.dumps(spec)) == spec
    assert ex.RaggedTensorSpec([None, None], flat_values_spec=spec).values == spec


def test_specs_of_unions_are_pickled() -> None:
    x = ex.UnionTensor([1, 0], {"n": [1, 2], "t": ["a", "b"]})
    rows = ex.constant([{"a": 1}, {"a": 2}]).with_updates({"u": x})
    for value in (x, rows):
        assert pickle.loads(pickle.dumps(value.spec)) == value.spec and ex.to_py(pickle.loads(pickle.dumps(value))) == ex.to_py(value)


def test_fields_of_one_spec_have_sizes_of_their_own() -> None:
    rows, records = ex.RaggedTensorSpec([None, None], "f64"), ex.StructTensorSpec([None], {"n": ex.RaggedTensorSpec([None, None], "i64")})
    spec = ex.StructTensorSpec([None], {"a": rows, "b": rows, "c": records, "d": records})
    other = ex.RaggedTensorSpec([None, None], "f64")
    alike = ex.StructTensorSpec([None], {"a": rows, "b": other, "c": records, "d": records})
    assert spec == alike == pickle.loads(pickle.dumps(spec)) and hash(spec) == hash(alike)
    counted = ex.function(lambda r: {"n": ex.num(r["a"]) - ex.num(r["b"]), "m": ex.sum(r["c"]["n"], axis=1) - ex.sum(r["d"]["n"], axis=1)})
    row = {"a": [1.0], "b": [], "c": {"n": [1, 2]}, "d": {"n": [4]}}
    made = counted.get_concrete_function(spec).run([row])
    assert (ex.to_py(made["n"]), ex.to_py(made["m"])) == ([1], [-1])

