"""Traced methods: of extension types, whose `self` is an argument, and of other classes, whose instances have traces of their own."""

from __future__ import annotations

import dataclasses
import gc
import pathlib
import weakref

import extenso as ex
import pytest

VECTOR = ex.TensorSpec([None], "f64")


class Model:
    """A class that is no type."""

    def __init__(self, weight: float, bias: bool = True) -> None:
        self.weight = ex.Variable("weight", weight)
        self.bias = bias

    @ex.function
    def score(self, x: ex.Tensor) -> ex.Tensor:
        """The score."""
        y = x * self.weight.read()
        return y + 1.0 if self.bias else y

    @ex.function
    def of_rows(self, row: ex.StructTensor) -> ex.Tensor:
        return self.score(row["x"])

    @ex.function(input_signature=[VECTOR])
    def declared(self, x: ex.Tensor) -> ex.Tensor:
        return self.score(x) * 2.0


def test_an_instance_has_traces_of_its_own() -> None:
    two, three = Model(2.0), Model(3.0, bias=False)
    x = ex.tensor([1.0, 2.0])
    assert two.score(x).tolist() == Model(2.0).score(x).tolist() == [3.0, 5.0]
    assert three.score(x).tolist() == [3.0, 6.0]
    two.weight.assign(10.0)
    assert two.score(x).tolist() == [11.0, 21.0] and three.score(x).tolist() == [3.0, 6.0]
    assert (len(two.score.traces), len(three.score.traces), len(Model.score.traces)) == (1, 1, 0)
    assert two.score.get_concrete_function(VECTOR)(x).tolist() == [11.0, 21.0]
    assert two.score.__doc__ == "The score." and two.score.__name__ == "score"
    assert two.score.__qualname__ == "Model.score"
    assert ex.function(lambda x: two.score(three.score(x)))(x).tolist() == [31.0, 61.0]


def test_a_signature_leaves_self_out() -> None:
    model = Model(2.0)
    assert model.declared([1, 2]).tolist() == [6.0, 10.0] and model.declared([1, 2, 3]).tolist() == [6.0, 10.0, 14.0]
    assert len(model.declared.traces) == 1
    assert model.declared.get_concrete_function()(ex.tensor([1.0])).tolist() == [6.0]
    with pytest.raises(ex.DTypeError, match="argument 'x'"):
        model.declared(["a"])
    with pytest.raises(ex.DTypeError, match=r"2 arguments|the arguments \(self, x\)"):

        class Wrong:
            @ex.function(input_signature=[VECTOR, VECTOR, VECTOR])
            def f(self, x: ex.Tensor) -> ex.Tensor:
                return x


def test_a_signature_beside_a_self_that_is_a_value() -> None:
    class Scale(ex.ExtensionType):
        by: ex.Tensor
        times: int = 1

        @ex.function(input_signature={"x": VECTOR})
        def apply(self, x: ex.Tensor) -> ex.Tensor:
            for _ in range(self.times):
                x = x * self.by
            return x

    assert Scale(2.0).apply([1, 2]).tolist() == [2.0, 4.0] and Scale(3.0).apply([1]).tolist() == [3.0]
    assert Scale(3.0, 2).apply([1]).tolist() == [9.0] and len(Scale.apply.traces) == 2
    with pytest.raises(ex.DTypeError):
        Scale(2.0).apply([[1.0]])


def test_nothing_keeps_an_instance() -> None:
    model = Model(2.0)
    x = ex.tensor([1.0])
    model.score(x)
    method, gone = model.score, weakref.ref(model)
    del model
    assert method(ex.tensor([[1.0]])).tolist() == [[3.0]]  # A method keeps what it is of.
    del method
    gc.collect()
    assert gone() is None
    for weight in range(20):  # Another object comes to stand where the last one stood.
        assert Model(float(weight)).score(x).tolist() == [weight + 1.0]


def test_a_method_of_a_base_and_of_a_subclass() -> None:
    class Twice(Model):
        @ex.function
        def score(self, x: ex.Tensor) -> ex.Tensor:
            return super().score(x) * 2.0

    assert Twice(2.0).score(ex.tensor([1.0])).tolist() == [6.0]
    assert Twice(2.0).declared([1.0]).tolist() == [12.0]


def test_a_dataclass_of_values_is_an_argument_and_another_is_not() -> None:
    @dataclasses.dataclass
    class Layer:
        weight: ex.Tensor

        @ex.function
        def apply(self, x: ex.Tensor) -> ex.Tensor:
            return x * self.weight

    @dataclasses.dataclass
    class Network:
        layers: list[Model]

        @ex.function
        def apply(self, x: ex.Tensor) -> ex.Tensor:
            for layer in self.layers:
                x = layer.score(x)
            return x

    x = ex.tensor([1.0])
    assert [Layer(ex.tensor(w)).apply(x).item() for w in (2.0, 3.0)] == [2.0, 3.0] and len(Layer.apply.traces) == 1
    assert Network([Model(2.0), Model(3.0)]).apply(x).tolist() == [10.0]


def test_a_method_is_saved_and_run(tmp_path: pathlib.Path) -> None:
    model = Model(2.0)
    ex.save(model.declared, tmp_path / "f.exo")
    assert ex.load(tmp_path / "f.exo")(ex.tensor([1.0, 2.0])).tolist() == [6.0, 10.0]
    assert model.of_rows.run(b'{"x": 1.5}\n{"x": 2.5}\n', format="json").tolist() == [4.0, 6.0]
    value, gradient = ex.value_and_grad(lambda x: ex.sum(model.score(x)))(ex.tensor([1.0]))
    assert (value.item(), gradient.tolist()) == (3.0, [2.0])
