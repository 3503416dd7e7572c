"""Tests of annotated extension types: fields, conversion, immutability, equality, names, pickling, tracing's rebuild."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Optional, Union

import extenso as ex
import pytest


class Masked(ex.ExtensionType):
    """Values of which some count."""

    values: ex.Tensor
    mask: ex.Tensor
    unit: str = "m"

    def __validate__(self) -> None:
        if self.mask.dtype is not ex.bool:
            raise TypeError(f"mask is {self.mask.dtype}")

    def __validate_data__(self) -> None:
        if bool(ex.any(self.values < 0.0)):
            raise ValueError("a value is negative")


class Everything(ex.ExtensionType):
    b: bool
    i: int
    f: float
    s: str
    raw: bytes
    nothing: None
    dtype: ex.DType
    shape: ex.Shape
    tensor: ex.Tensor
    partition: ex.RowPartition
    inner: Masked
    either: Union[int, float]
    maybe: Optional[ex.Tensor]
    pair: tuple[int, str]
    seq: tuple[Union[int, float], ...]
    tensors: tuple[ex.Tensor, ...]
    lookup: Mapping[str, ex.Tensor]
    marked: Annotated[int, "of something"]
    shared: ClassVar[int] = 3


def everything(**changes: Any) -> Everything:
    fields: dict[str, Any] = {
        "b": True,
        "i": 1,
        "f": 2.5,
        "s": "text",
        "raw": b"\0",
        "nothing": None,
        "dtype": "f32",
        "shape": [None, 3],
        "tensor": [1, 2],
        "partition": ex.RowPartition.from_row_lengths([1, 2]),
        "inner": Masked([1.0], [True]),
        "either": 3,
        "maybe": None,
        "pair": [1, "a"],
        "seq": [1, 2.0],
        "tensors": [[1], [2.0]],
        "lookup": {"b": [1], "a": [2]},
        "marked": 7,
    }
    return Everything(**{**fields, **changes})


def test_fields_are_converted() -> None:
    value = everything()
    assert isinstance(value.tensor, ex.Tensor)
    assert value.dtype is ex.f32
    assert value.shape == ex.Shape([None, 3])
    assert value.pair == (1, "a")
    assert value.seq == (1, 2.0)
    assert [t.tolist() for t in value.tensors] == [[1], [2.0]]
    assert list(value.lookup) == ["a", "b"]
    assert Everything.shared == 3
    with pytest.raises(TypeError):
        value.lookup["c"] = 1  # type: ignore[index]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"i": 1.0}, "i: expected int, got 'float'"),
        ({"i": True}, "i: expected int, got 'bool'"),
        ({"f": 1}, "f: expected float, got 'int'"),
        ({"b": 1}, "b: expected bool, got 'int'"),
        ({"s": b"a"}, "s: expected str, got 'bytes'"),
        ({"nothing": 0}, "nothing: expected None, got 'int'"),
        ({"tensor": None}, "tensor: expected Tensor, got None"),
        ({"tensor": {}}, "tensor: expected Tensor, got 'dict'"),
        ({"tensor": Masked([1.0], [True])}, "tensor: expected Tensor, got 'Masked'"),
        ({"partition": [0, 1]}, "partition: expected RowPartition, got 'list'"),
        ({"inner": ex.tensor([1])}, "inner: expected Masked, got 'Tensor'"),
        ({"either": "a"}, "either: expected Union[int, float], got 'str'"),
        ({"maybe": {}}, "maybe: expected Union[Tensor, None], got 'dict'"),
        ({"pair": (1,)}, "pair: expected tuple[int, str], got 1 items"),
        ({"pair": (1, 2)}, "pair[1]: expected str, got 'int'"),
        ({"seq": [1, 2.0, "a"]}, "seq[2]: expected Union[int, float], got 'str'"),
        ({"seq": 3}, "seq: expected tuple[Union[int, float], ...], got 'int'"),
        ({"lookup": {1: [2]}}, "lookup: expected keys of str, got 'int'"),
        ({"lookup": {"a": {}}}, "lookup[\"a\"]: expected Tensor, got 'dict'"),
    ],
)
def test_what_does_not_fit_is_named_by_its_path(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(TypeError) as caught:
        everything(**changes)
    assert text in str(caught.value)


def test_components_and_static_data_are_the_spec() -> None:
    value = everything(maybe=[1.5])
    spec = ex.spec_of(value)
    assert spec.tensor == ex.TensorSpec([2], "i64")
    assert spec.maybe == ex.TensorSpec([1], "f64")
    assert spec.seq == (1, 2.0)
    assert spec.lookup["b"] == ex.TensorSpec([1], "i64")
    assert spec.inner == Masked.Spec(ex.TensorSpec([1], "f64"), ex.TensorSpec([1], "bool"))
    assert spec == ex.spec_of(everything(maybe=[2.5]))
    assert spec != ex.spec_of(everything())
    assert list(ex.spec_of(Masked([1.0], [True])).component_specs) == ["values", "mask"]


def test_values_are_immutable() -> None:
    masked = Masked([1.0], [True])
    for change in (
        lambda: setattr(masked, "values", ex.tensor([2.0])),
        lambda: setattr(masked, "other", 1),
        lambda: delattr(masked, "values"),
    ):
        with pytest.raises(AttributeError, match="cannot be changed"):
            change()
    with pytest.raises(TypeError, match="__setattr__"):
        object.__setattr__(masked, "values", 1)
    with pytest.raises(ex.Error, match="made already"):
        masked.__init__([1.0], [True])  # type: ignore[misc]


@pytest.mark.parametrize(
    ("args", "kwargs", "texts"),
    [
        ((), {}, ["'values' is missing", "Masked(values, mask, unit=...)"]),
        ((1, 2, "m", 3), {}, ["4 arguments"]),
        ((1,), {"values": 1}, ["'values' is given twice"]),
        ((1,), {"weight": 1}, ["no field 'weight'"]),
    ],
)
def test_wrong_calls_show_the_signature(args: tuple[Any, ...], kwargs: dict[str, Any], texts: list[str]) -> None:
    with pytest.raises(TypeError) as caught:
        Masked(*args, **kwargs)
    assert all(text in str(caught.value) for text in texts), str(caught.value)


def test_a_field_without_default_behind_one_with_default_is_keyword_only() -> None:
    class Later(ex.ExtensionType):
        a: int
        b: int = 2
        c: int

    assert (Later(1, c=3).b, Later(1, 5, c=3).b) == (2, 5)
    with pytest.raises(TypeError, match=r"Later\(a, b=..., \*, c\)"):
        Later(1, 2, 3)
    match Later(1, c=3):
        case Later(first, second):
            assert (first, second) == (1, 2)
        case _:
            pytest.fail("no match")


def test_defaults_are_checked_when_the_class_is_made() -> None:
    with pytest.raises(TypeError, match="f: expected float, got 'int'"):

        class Wrong(ex.ExtensionType):
            f: float = 1

    class Right(ex.ExtensionType):
        t: ex.Tensor = [1, 2]  # type: ignore[assignment]
        n: None = None

    assert Right().t.tolist() == [1, 2]
    assert Right().n is None


@pytest.mark.parametrize("annotation", [list[int], dict[str, int], object, complex, Mapping[int, int], "list[int]"])
def test_annotations_outside_the_allowed_set_are_refused(annotation: Any) -> None:
    with pytest.raises(TypeError, match="is not allowed"):
        type("Wrong", (ex.ExtensionType,), {"__annotations__": {"x": annotation}, "__module__": __name__})


@pytest.mark.parametrize("name", ["self", "Spec", "__x", "_extenso_x"])
def test_reserved_names_are_refused(name: str) -> None:
    with pytest.raises(ex.Error, match="reserved"):
        type("Wrong", (ex.ExtensionType,), {"__annotations__": {name: int}, "__module__": __name__})


def test_annotations_may_name_what_comes_later() -> None:
    class Tree(ex.ExtensionType):
        value: ex.Tensor
        child: Optional["Tree"] = None
        later: "Later | None" = None

    class Later(ex.ExtensionType):
        x: int

    globals()["Later"] = Later
    try:
        tree = Tree(1, Tree(2), Later(3))
    finally:
        del globals()["Later"]
    assert tree.child is not None
    assert tree.child.value.item() == 2
    with pytest.raises(TypeError, match=r"child: expected Union\[.*Tree, None\], got 'int'"):
        Tree(1, 2)  # type: ignore[arg-type]


def test_a_name_that_is_never_defined_is_an_error_at_first_use() -> None:
    class Waiting(ex.ExtensionType):
        x: "NeverDefined"  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(KeyError, match="NeverDefined"):
        Waiting(1)


def test_static_validation_runs_on_every_value_and_data_validation_on_those_from_outside() -> None:
    with pytest.raises(TypeError, match="mask is i64"):
        Masked([1.0], [1])
    with pytest.raises(ValueError, match="a value is negative"):
        Masked([-1.0], [True])
    good = pickle.dumps(Masked([1.0], [True]))
    with pytest.raises(ValueError, match="a value is negative"):
        pickle.loads(good.replace(b"\0\0\0\0\0\0\xf0\x3f", b"\0\0\0\0\0\0\xf0\xbf"))


def test_static_validation_runs_on_every_rebuild() -> None:
    class Vector(ex.ExtensionType):
        x: ex.Tensor

        def __validate__(self) -> None:
            if len(self.x.shape) == 2:
                raise ValueError("a matrix")

    vector, matrix = Vector([1.0]), ex.TensorSpec([None, 1], "f64")
    rebuilt = [
        lambda: Vector.Spec(matrix).from_components({"x": [[1.0]]}),
        lambda: ex.nest.map_structure(lambda x: ex.expand_dims(x, 0), vector, expand_composites=True),
        lambda: ex.function(lambda v: v).get_concrete_function(Vector.Spec(matrix)),
        lambda: ex.function(lambda v: Vector(ex.expand_dims(v.x, 0)))(vector),
    ]
    for make in rebuilt:
        with pytest.raises(ValueError, match="a matrix"):
            make()


def test_mappings_flatten_in_the_order_of_their_keys() -> None:
    class Lookup(ex.ExtensionType):
        table: Mapping[str, ex.Tensor]

    a, b = Lookup({"b": [1], "a": [2]}), Lookup({"a": [2], "b": [1]})
    for each in (a, b):
        assert [x.tolist() for x in ex.nest.flatten(each, expand_composites=True)] == [[2], [1]]
        assert list(ex.spec_of(each).component_specs) == list(ex.spec_of(a).component_specs)
    assert a == b and ex.spec_of(a) == ex.spec_of(b)
    f = ex.function(lambda x: x.table["a"] - x.table["b"])
    assert f(a).tolist() == f(b).tolist() == [1] and len(f.traces) == 1


def test_lists_become_tuples_and_arrays_tensors() -> None:
    np = pytest.importorskip("numpy")
    value = everything(tensor=np.arange(2, dtype="i1"), tensors=(np.zeros(1), 3), seq=(1,), pair=(1, "b"))
    assert value.tensor.dtype is ex.i8
    assert isinstance(value.tensors, tuple) and [x.shape for x in value.tensors] == [(1,), ()]
    with pytest.raises(TypeError, match=r"tensors\[1\]: expected Tensor, got 'object'"):
        everything(tensors=[[1], object()])
    with pytest.raises(TypeError, match=r'lookup\["a"\]\[1\]: expected int, got \'float\''):

        class Deep(ex.ExtensionType):
            lookup: Mapping[str, tuple[int, ...]]

        Deep({"a": [1, 2.0]})


def test_a_subclass_constructor_calls_the_constructor_that_its_base_wrote() -> None:
    class Ratio(ex.ExtensionType):
        part: ex.Tensor
        whole: ex.Tensor
        unit: str = ""

        def __init__(self, part: Any, **more: Any) -> None:
            super().__init__(part=part, whole=1.0, **more)

    class Percent(Ratio):
        digits: int = 0

        def __init__(self, part: Any, digits: int) -> None:
            super().__init__(part, unit="%", digits=digits)

    percent = Percent(0.5, 2)
    assert (percent.whole.item(), percent.unit, percent.digits) == (1.0, "%", 2)
    assert ex.function(lambda x: x)(percent) == percent


def test_static_validation_calls_no_op() -> None:
    class Computes(ex.ExtensionType):
        x: ex.Tensor

        def __validate__(self) -> None:
            ex.sum(self.x)

    with pytest.raises(ex.ScopeError, match="__validate__ calls the op"):
        Computes([1])


def test_a_constructor_may_call_super() -> None:
    class Scaled(Masked):
        scale: float = 1.0

        def __init__(self, values: Any, scale: float) -> None:
            tensor = ex.tensor(values)
            super().__init__(tensor * scale, ex.ones_like(tensor) == 1.0, scale=scale)

    scaled = Scaled([1.0, 2.0], 3.0)
    assert scaled.values.tolist() == [3.0, 6.0]
    assert isinstance(scaled, Masked)

    class Forgetful(Masked):
        def __init__(self) -> None:
            pass

    with pytest.raises(ex.Error, match=r"super\(\).__init__"):
        _ = Forgetful().values


def test_equality_is_one_boolean() -> None:
    a = Masked([1.0, 2.0], [True, False])
    assert a == Masked([1.0, 2.0], [True, False])
    assert not a != Masked([1.0, 2.0], [True, False])
    assert a != Masked([1.0, 3.0], [True, False])
    assert a != Masked([1.0, 2.0], [True, False], "km")
    assert a != Masked([[1.0, 2.0]], [True, False])
    assert a != Masked(ex.tensor([1.0, 2.0], "f32"), [True, False])
    assert Masked([float("nan")], [True]) != Masked([float("nan")], [True])
    assert a != 1
    assert everything() == everything()
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


def test_types_of_literals_count_in_equality() -> None:
    assert everything(either=1) != everything(either=1.0)
    assert everything(seq=[1]) != everything(seq=[1.0])
    assert everything(either=0.0) != everything(either=-0.0)
    nan = float("nan")
    assert everything(either=nan) == everything(either=-nan)
    assert ex.spec_of(everything(either=1)).most_specific_compatible_type(ex.spec_of(everything(either=1.0))) is None


def test_repr_shows_the_fields() -> None:
    assert repr(Masked([1.0], [True])) == "Masked(values=Tensor([1.0], f64[1]), mask=Tensor([True], bool[1]), unit='m')"
    assert repr(ex.spec_of(Masked([1.0], [True]))).startswith("Masked.Spec(values=TensorSpec([1], 'f64')")


def test_pickle_and_copy_give_back_an_equal_value() -> None:
    for value in (Masked([1.0], [True], "km"), everything(), everything(maybe=[1])):
        assert pickle.loads(pickle.dumps(value)) == value
        assert copy.copy(value) == value
        assert copy.deepcopy(value) == value
        spec = ex.spec_of(value)
        assert pickle.loads(pickle.dumps(spec)) == spec


def test_a_class_defined_again_in_its_module_replaces_the_old_one() -> None:
    def define(kind: Any) -> Any:
        body = {"__annotations__": {"x": kind}, "__module__": __name__, "__qualname__": "Notebook"}
        return type("Notebook", (ex.ExtensionType,), body)

    old, new = define(int), define(float)
    assert isinstance(old(1), old)
    assert isinstance(new(1.0), new)
    assert old(1) != new(1.0)
    assert ex.spec_of(old(1)) != ex.spec_of(new(1.0))
    assert ex.spec_of(define(float)(1.0)) == ex.spec_of(new(1.0))


def test_a_name_taken_by_another_module_is_an_error_that_names_both() -> None:
    def define(module: str) -> Any:
        body = {"__annotations__": {"x": int}, "__module__": module, "__extenso_name__": "tests/Taken"}
        return type("Taken", (ex.ExtensionType,), body)

    define("first_module")
    with pytest.raises(ValueError, match=r"tests/Taken.*first_module.*second_module"):
        define("second_module")


def test_names_are_module_and_qualified_name() -> None:
    class Local(ex.ExtensionType):
        x: int

    assert ex.spec_of(Local(1)).type_name == f"{__name__}/test_names_are_module_and_qualified_name.Local"

    class Named(ex.ExtensionType):
        __extenso_name__ = "shop/Order"
        x: int

    assert ex.spec_of(Named(1)).type_name == "shop/Order"
    with pytest.raises(ex.Error, match="not a type name"):
        type("Wrong", (ex.ExtensionType,), {"__extenso_name__": "no namespace", "__module__": __name__})


def test_the_base_has_no_values() -> None:
    with pytest.raises(TypeError, match="ExtensionType has no values"):
        ex.ExtensionType()


def test_is_extension_type() -> None:
    assert ex.is_extension_type(Masked)
    assert ex.is_extension_type(Masked([1.0], [True]))
    for ours in (ex.constant([[1], []]), ex.constant([1, None]), ex.constant([{"a": 1}]), ex.StructTensor):
        assert ex.is_extension_type(ours)
    for other in (ex.Tensor, ex.tensor(1), ex.RowPartition, 1, int):
        assert not ex.is_extension_type(other)


def test_values_are_freed() -> None:
    import gc
    import weakref

    masked = Masked([1.0], [True])
    gone = weakref.ref(masked)
    assert (masked == masked, ex.spec_of(masked)) is not None
    count = sys.getrefcount(masked)
    _ = masked == masked
    assert sys.getrefcount(masked) == count
    del masked
    gc.collect()
    assert gone() is None


def test_a_field_of_records_holds_records_alone() -> None:
    class Basket(ex.ExtensionType):
        items: ex.StructTensor

    assert ex.to_py(Basket(ex.constant({"a": 1})).items) == {"a": 1}
    for other in (ex.constant([[1], [2, 3]]), ex.constant([1, None]), {"a": 1}):
        with pytest.raises(ex.DTypeError, match="items: expected StructTensor, got"):
            Basket(other)


def test_a_missing_or_further_entry_of_an_argument_is_named() -> None:
    number = ex.TensorSpec([], "f64")
    f = ex.function(lambda c: c["a"] * c["b"]).get_concrete_function({"a": number, "b": number})
    with pytest.raises(ex.Error, match=r"argument 'c\.b': found absent"):
        f({"a": 2.0})
    with pytest.raises(ex.Error, match=r"argument 'c\.c': found 1\.0"):
        f({"a": 2.0, "b": 3.0, "c": 1.0})
