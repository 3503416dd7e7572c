"""What users hand in: classes that lead back to themselves, records of their own, subclasses of lists, several threads at once."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import operator
import pathlib
import pickle
import threading
import time
import typing
from typing import Any

import extenso as ex
import pytest

X = ex.tensor([1.0, 2.0])
Item = typing.TypeVar("Item")


class OfItself(ex.ExtensionType):
    """A type whose conversion to a tensor gives a value of the type."""

    v: ex.Tensor

    def __extenso_tensor__(self) -> Any:
        return OfItself(self.v)


def written(name: str, **methods: Any) -> Any:
    """A value of a class whose spec is written by hand, of one scalar but for what `methods` say."""

    class Value:
        def __extenso_type_spec__(self) -> Any:
            return Spec()

    body = {
        "value_type": Value,
        "serialize": lambda self: (),
        "component_specs": property(lambda self: {"a": ex.TensorSpec([], "f64")}),
        "to_components": lambda self, value: {"a": ex.tensor(1.0)},
        "from_components": lambda self, components: Value(),
    }
    Spec = ex.register_type_spec(f"tests.containers/{name}")(type("Spec", (ex.TypeSpec,), body | methods))
    return Value()


def test_a_conversion_that_never_ends_is_an_error() -> None:
    with pytest.raises(ex.InvalidValueError, match="`__extenso_tensor__` gives is deeper than 100"):
        OfItself([1.0]) + 1


def test_specs_and_values_that_contain_themselves_are_errors() -> None:
    with pytest.raises(ex.InvalidValueError, match="a spec is deeper than 100"):
        ex.spec_of(written("InData", serialize=lambda self: (self,)))
    with pytest.raises(ex.InvalidValueError, match="a spec is deeper than 100"):
        ex.spec_of(written("InSpecs", component_specs=property(lambda self: {"a": self})))
    itself = written("InValues", to_components=lambda self, value: {"a": value})
    with pytest.raises(ex.DTypeError, match="to_components.*found a value of type"):
        ex.function(lambda x: x)(itself)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ex.InvalidValueError, match="static data is deeper than 100"):
        ex.spec_of(written("Endless", serialize=lambda self: endless))
    ex.function(lambda x: x)(written("Plain"))


@pytest.mark.parametrize(
    "spec",
    [
        ex.RaggedTensorSpec([None, None], "f64"),
        ex.RaggedTensorSpec([2, None, 3], "f32", 1, "i32"),
        ex.RaggedTensorSpec([None, None], flat_values_spec=ex.StructTensorSpec([None], {"a": ex.TensorSpec([None], "i64")})),
        ex.MaskedTensorSpec(ex.TensorSpec([None], "f64")),
        ex.MaskedTensorSpec(ex.RaggedTensorSpec([None, None], "i64")),
        ex.StructTensorSpec([None], {"a": ex.RaggedTensorSpec([None, None], "f64")}),
        ex.spec_of(ex.constant([[1, None], None])),
    ],
    ids=str,
)
def test_specs_are_equal_to_their_copies(spec: ex.TypeSpec) -> None:
    for again in (pickle.loads(pickle.dumps(spec)), copy.deepcopy(spec)):
        assert again == spec and hash(again) == hash(spec) and again.is_subtype_of(spec)


class Interval:
    """A value whose spec is written by hand."""

    def __init__(self, low: Any) -> None:
        self.low = ex.tensor(low)

    def __extenso_type_spec__(self) -> IntervalSpec:
        return IntervalSpec(ex.spec_of(self.low))


class IntervalSpec(ex.TypeSpec):
    value_type = Interval

    def __init__(self, low: Any) -> None:
        self.low = low

    def serialize(self) -> tuple[Any]:
        return (self.low,)

    @property
    def component_specs(self) -> dict[str, Any]:
        return {"low": self.low}

    def to_components(self, value: Interval) -> dict[str, Any]:
        return {"low": value.low}

    def from_components(self, components: dict[str, Any]) -> Interval:
        return Interval(components["low"])


def test_specs_written_by_hand_are_pickled() -> None:
    spec = IntervalSpec(ex.TensorSpec([3], "f64"))
    assert pickle.loads(pickle.dumps(spec)) == spec and copy.deepcopy({"q": spec}) == {"q": spec}


@dataclasses.dataclass
class Made:
    """A record whose constructor does not take all of its fields, and changes one."""

    a: Any
    b: Any = dataclasses.field(default=None, init=False)
    kind: typing.ClassVar[str] = "made"

    def __post_init__(self) -> None:
        self.a = self.a + 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    a: Any
    name: str = "x"


class Named(typing.NamedTuple):
    a: Any
    b: Any = 2.0


def test_records_are_made_again_without_their_constructor() -> None:
    x = Made(X)
    x.b = x.a * 2
    for again in (ex.function(lambda x: x)(x), ex.nest.map_structure(lambda leaf: leaf, x)):
        assert isinstance(again, Made) and again.a.tolist() == [2.0, 3.0] and again.b.tolist() == [4.0, 6.0]
    for same in (ex.function(lambda x: x), lambda x: ex.nest.map_structure(lambda leaf: leaf, x)):
        frozen, named = same(Frozen(X)), same(Named(X))
        assert isinstance(frozen, Frozen) and frozen.a.tolist() == [1.0, 2.0] and frozen.name == "x"
        assert isinstance(named, Named) and named.a.tolist() == [1.0, 2.0] and named.b == 2.0


def test_records_are_of_their_class_whatever_others_are_called() -> None:
    same = ex.function(lambda x: x)
    first, second = (dataclasses.make_dataclass("Twin", [("a", Any)]) for _ in range(2))
    for cls in (first, second, first):
        assert type(same(cls(X))) is cls


@dataclasses.dataclass
class Failure(ValueError):
    """A record that is not laid out as other objects are."""

    a: Any


def test_records_of_any_layout_are_made_again() -> None:
    for same in (ex.function(lambda x: x), lambda x: ex.nest.map_structure(lambda leaf: leaf, x)):
        assert same(Failure(X)).a.tolist() == [1.0, 2.0]


def test_subclasses_of_lists_are_lists() -> None:
    items = type("Items", (list,), {})
    assert ex.function(lambda x: x[1])(items([X, ex.tensor(["a"])])).tolist() == ["a"]
    assert [x.tolist() for x in ex.function(lambda x: x)(items([X, X]))] == [[1.0, 2.0]] * 2


def test_several_threads_trace_a_function_once(tmp_path: pathlib.Path) -> None:
    def slow(x: ex.Tensor) -> ex.Tensor:
        time.sleep(0.02)
        return x * 2

    f, start = ex.function(slow), threading.Barrier(4)

    def call() -> None:
        start.wait()
        f(X)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(f.traces) == 1
    ex.save(f, tmp_path / "f.exo")


class Told:
    """A class that is told of its subclasses."""

    told: typing.ClassVar[list[str]] = []

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Told.told.append(cls.__name__)


def test_other_base_classes_are_told_of_a_type() -> None:
    class Of(ex.ExtensionType, typing.Generic[Item], Told):  # type: ignore[misc]
        a: ex.Tensor

    assert Told.told[-1] == "Of" and Of[int]([1.0]).a.tolist() == [1.0]
    with pytest.raises(TypeError, match="keyword"):
        type("Odd", (ex.ExtensionType,), {"__annotations__": {"a": ex.Tensor}}, versoin=2)


def test_parameters_that_are_positional_only_are_so_in_functions() -> None:
    both: Any = lambda x, /, **others: x + others["x"]
    assert ex.function(both)(X, x=X).tolist() == [2.0, 4.0]
    with pytest.raises(ex.DTypeError, match="'x' is missing"):
        ex.function(lambda x, /: x)(x=X)


def test_a_size_that_is_known_while_tracing_is_a_number() -> None:
    assert ex.function(lambda x: x.size)(X) == X.size
    with pytest.raises(ex.ScopeError, match="has no data"):
        ex.function(lambda x: x.size, [ex.TensorSpec([None], "f64")])(X)


def test_a_callable_without_a_signature_takes_arguments_by_position() -> None:
    x = ex.tensor([1.0, 5.0])
    assert ex.function(operator.itemgetter(1))(x).item() == 5.0

    @ex.function
    def square_sum(x: ex.Tensor) -> ex.Tensor:
        return ex.sum(x * x)

    concrete = square_sum.get_concrete_function(x)
    assert list(inspect.signature(concrete).parameters) == ["x"]
    assert ex.grad(concrete)(x).tolist() == [2.0, 10.0]
    assert ex.function(concrete)(x=x).item() == 26.0
