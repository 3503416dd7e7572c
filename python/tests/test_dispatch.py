"""Tests of dispatch: which handler answers, in which order, and what it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import extenso as ex
import pytest


class Masked(ex.ExtensionType):
    values: ex.Tensor
    mask: ex.Tensor


class Child(Masked):
    extra: int = 0


class Labeled(ex.ExtensionType):
    values: ex.Tensor
    label: str = ""


@pytest.fixture
def register() -> Iterator[Callable[..., Any]]:
    """Registers handlers for one test."""
    made: list[Any] = []

    def add(target: Any, *types: type) -> Callable[[Any], Any]:
        def decorate(handler: Any) -> Any:
            made.append(handler)
            return ex.dispatch_for(target, *types)(handler)

        return decorate

    yield add
    for handler in made:
        ex.unregister(handler)


def masked() -> Masked:
    return Masked([1.0, 2.0], [True, False])


def child() -> Child:
    return Child([1.0, 2.0], [True, False], 1)


def named(name: str, calls: list[str], answer: Any = NotImplemented) -> Callable[..., Any]:
    def handler(*args: Any, **kwargs: Any) -> Any:
        calls.append(name)
        return answer

    return handler


def test_a_handler_for_an_op_is_called_like_the_op(register: Any) -> None:
    seen: list[Any] = []

    @register(ex.sum, Masked)
    def handle_sum(x: Masked, axis: Any, keepdims: bool) -> ex.Tensor:
        seen.append((x, axis, keepdims))
        return ex.sum(ex.where(x.mask, x.values, 0.0), axis, keepdims)

    value = masked()
    assert ex.sum(value).item() == 1.0
    assert ex.sum(value, 0, keepdims=True).tolist() == [1.0]
    assert [(x is value, axis, keepdims) for x, axis, keepdims in seen] == [(True, None, False), (True, (0,), True)]


def test_a_handler_for_a_class_is_given_the_op(register: Any) -> None:
    @register(ex.unary_elementwise, Masked)
    def unary(op: Any, x: Masked, **attributes: Any) -> Masked:
        return Masked(op(x.values, **attributes), x.mask)

    assert (-masked()).values.tolist() == [-1.0, -2.0]
    assert ex.cast(masked(), "i32").values.dtype is ex.i32
    assert abs(-masked()) == masked()


def test_comparisons_fall_to_the_binary_class(register: Any) -> None:
    @register(ex.binary_elementwise, Masked)
    def binary(op: Any, x: Masked, y: Any) -> Any:
        assert op in ex.binary_elementwise
        return op(x.values, y)

    assert (masked() < 2.0).tolist() == [True, False]

    @register(ex.comparison, Masked)
    def comparison(op: Any, x: Masked, y: Any) -> str:
        return ex.tensor("the narrower class comes first")

    assert (masked() < 2.0).item() == "the narrower class comes first"
    assert (masked() + 2.0).tolist() == [3.0, 4.0]


def test_weak_scalars_reach_a_handler_as_they_were(register: Any) -> None:
    seen: list[Any] = []

    @register(ex.add, Masked)
    def add(x: Any, y: Any) -> Masked:
        seen.append((x, y))
        if isinstance(y, bool):
            return x
        if isinstance(x, Masked):
            return Masked(x.values + y, x.mask)
        return Masked(x + y.values, y.mask)

    masked_i8 = Masked(ex.tensor([1, 2], "i8"), [True, True])
    assert (masked_i8 + 3).values.dtype is ex.i8
    assert (3 + masked_i8).values.tolist() == [4, 5]
    assert [type(arg) for pair in seen for arg in pair] == [Masked, int, int, Masked]
    _ = [masked() + other for other in (True, 1.5)]
    assert [type(y) for _, y in seen[2:]] == [bool, float]


def test_precedence_is_subclass_first_then_left_to_right(register: Any) -> None:
    calls: list[str] = []
    register(ex.add, Masked)(named("Masked", calls))
    register(ex.add, Child)(named("Child", calls))
    register(ex.add, Labeled)(named("Labeled", calls))
    labeled = Labeled([1.0])
    for args, expect in [
        ((masked(), child()), ["Child", "Masked"]),
        ((child(), masked()), ["Child", "Masked"]),
        ((labeled, masked()), ["Labeled", "Masked"]),
        ((masked(), labeled), ["Masked", "Labeled"]),
        ((labeled, child()), ["Labeled", "Child", "Masked"]),
        ((1.0, labeled), ["Labeled"]),
    ]:
        calls.clear()
        with pytest.raises(ex.DispatchError):
            ex.add(*args)
        assert calls == expect
    calls.clear()
    with pytest.raises(ex.DispatchError):
        ex.concat([ex.tensor([1.0]), labeled])
    register(ex.concat, Labeled)(named("in a list", calls))
    with pytest.raises(ex.DispatchError):
        ex.concat([ex.tensor([1.0]), labeled])
    assert calls == ["in a list"]


def test_op_comes_before_class_before_catch_all_and_later_before_earlier(register: Any) -> None:
    calls: list[str] = []

    class Catching(ex.ExtensionType):
        x: ex.Tensor

        def __extenso_dispatch__(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            calls.append("catch-all")
            return ex.tensor(op.__name__)

    register(ex.binary_elementwise, Catching)(named("class", calls))
    register(ex.add, Catching)(named("op", calls))
    register(ex.add, Catching)(named("later op", calls))
    value = Catching([1])
    assert (value + 1).item() == "add"
    assert calls == ["later op", "op", "class", "catch-all"]
    assert ex.sum(value, axis=0).item() == "sum"


def test_a_catch_all_sees_op_arguments_and_attributes() -> None:
    class Logged(ex.ExtensionType):
        x: ex.Tensor

        def __extenso_dispatch__(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if op is ex.exp:
                return NotImplemented
            plain = [arg.x if isinstance(arg, Logged) else arg for arg in args]
            return type(self)(op(*plain, **kwargs))

    class Narrow(Logged):
        def __extenso_dispatch__(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return NotImplemented if op is ex.sum else super().__extenso_dispatch__(op, args, kwargs)

    result = ex.sum(Logged([[1, 2]]), axis=1)
    assert (type(result), result.x.tolist()) == (Logged, [3])
    assert (1 + Logged([1])).x.tolist() == [2]
    with pytest.raises(ex.DispatchError, match="exp"):
        ex.exp(Logged([1.0]))
    # The subclass declines the sum, and its ancestor's own method takes it.
    assert type(ex.sum(Narrow([1]))) is Narrow
    assert type(-Narrow([1])) is Narrow


def test_a_class_method_may_catch_all() -> None:
    class Static(ex.ExtensionType):
        x: ex.Tensor

        @classmethod
        def __extenso_dispatch__(cls, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return ex.tensor(f"{cls.__name__}.{op.__name__}")

    assert ex.exp(Static([1.0])).item() == "Static.exp"


@pytest.mark.parametrize("data", [[[1], [2, 3]], [1, None], [{"a": 1}]])
def test_shipped_types_leave_types_that_they_do_not_know_to_these(data: Any) -> None:
    class Foreign(ex.ExtensionType):
        x: ex.Tensor

        def __extenso_dispatch__(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return ex.tensor(f"Foreign.{op.__name__}")

    class Mute(ex.ExtensionType):
        x: ex.Tensor

    value, foreign = ex.constant(data), Foreign([1])
    for result, name in [
        (value + foreign, "add"),
        (foreign + value, "add"),
        (ex.where(value, foreign, value), "where"),
        (ex.concat([value, foreign], 0), "concat"),
    ]:
        assert result.item() == f"Foreign.{name}"
    with pytest.raises(ex.DispatchError, match="Mute"):
        value + Mute([1])


def test_types_that_do_not_mix_stay_apart(register: Any) -> None:
    class Picky(ex.ExtensionType):
        __extenso_dispatch_types__ = [Masked]
        x: ex.Tensor

    calls: list[str] = []
    register(ex.add, Picky)(named("Picky", calls))
    for other, asked in ((masked(), ["Picky"]), (child(), ["Picky"]), (1, ["Picky"]), (Labeled([1]), [])):
        calls.clear()
        with pytest.raises(ex.DispatchError):
            ex.add(Picky([1]), other)
        assert calls == asked


def test_when_all_decline_the_error_lists_them(register: Any) -> None:
    @register(ex.add, Masked)
    def declines(x: Any, y: Any) -> Any:
        return NotImplemented

    with pytest.raises(TypeError) as caught:
        masked() + Labeled([1.0])
    text = str(caught.value)
    assert all(part in text for part in ("add: ", "Masked", "Labeled", "declines", "binary elementwise")), text


def test_when_all_decline_values_that_convert_are_tensors(register: Any) -> None:
    class Convertible(ex.ExtensionType):
        x: ex.Tensor

        def __extenso_tensor__(self) -> ex.Tensor:
            return self.x

    calls: list[str] = []
    register(ex.add, Convertible)(named("asked", calls))
    assert (Convertible([1, 2]) + 1).tolist() == [2, 3]
    assert calls == ["asked"]
    assert ex.tensor(Convertible([1, 2]), "f32").tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="no single tensor"):
        ex.tensor(masked())


def test_what_a_handler_raises_comes_out_as_it_is(register: Any) -> None:
    class MyError(Exception):
        pass

    error = MyError("mine")

    @register(ex.add, Masked)
    def fails(x: Any, y: Any) -> Any:
        raise error

    with pytest.raises(MyError) as caught:
        masked() + 1
    assert caught.value is error
    assert any(frame.name == "fails" for frame in caught.traceback)


def test_an_error_of_an_op_in_a_handler_says_what_was_called(register: Any) -> None:
    @register(ex.add, Masked)
    def add_masked(x: Masked, y: Any) -> Masked:
        return Masked(ex.reshape(x.values, [7]), x.mask)

    @register(ex.multiply, Masked)
    def multiply_masked(x: Masked, y: Any) -> Any:
        return x + y

    for f in (lambda x: x * 2.0, ex.function(lambda x: x * 2.0)):
        with pytest.raises(ex.ShapeError, match="reshape: ") as caught:
            f(masked())
        said = [note for note in caught.value.__notes__ if note.startswith("The handler")]
        first, second = said
        assert first.startswith("The handler `") and first.endswith("add_masked` of `add` raised this.")
        assert second.endswith("multiply_masked` of `multiply` raised this.")


COMPOSED: list[tuple[str, Callable[[Any], object]]] = [
    ("tile", lambda x: ex.tile(x, [2])),
    ("diff", lambda x: ex.diff(x)),
    ("diff", lambda x: ex.diff(x, prepend=x)),
    ("size", lambda x: ex.size(x)),
    ("empty_like", lambda x: ex.empty_like(x)),
    ("segment_mean", lambda x: ex.segment_mean([1.0], x)),
    ("decode_arrow", lambda x: ex.decode_arrow(x, ex.TensorSpec([], "i64"))),
    ("promote", lambda x: ex.promote(x, x, "a")),
    ("broadcast", lambda x: ex.broadcast(x, "a", x)),
    ("grad", lambda x: ex.grad(x)),
    ("value_and_grad", lambda x: ex.value_and_grad(x)),
    ("function", lambda x: ex.function(x)),
    ("isdtype", lambda x: ex.isdtype(ex.i8, "odd")),
]


@pytest.mark.parametrize(("name", "f"), COMPOSED)
def test_an_error_names_what_was_called_and_no_op_inside(name: str, f: Callable[[Any], object]) -> None:
    with pytest.raises(ex.Error) as caught:
        f(masked())
    assert str(caught.value).startswith(f"{name}: ")
    assert not any(inside in str(caught.value) for inside in ("concat: ", "shape: ", "zeros_like: "))


def test_what_a_handler_returns_has_to_be_a_value(register: Any) -> None:
    register(ex.exp, Masked)(named("number", [], 1.5))
    assert ex.exp(masked()).item() == 1.5
    register(ex.exp, Masked)(named("nothing", [], {}))
    with pytest.raises(TypeError, match="dict"):
        ex.exp(masked())


def test_a_nested_value_is_taken_apart_by_the_handlers_of_its_parts(register: Any) -> None:
    class Outer(ex.ExtensionType):
        inner: Masked
        name: str

    @register(ex.add, Masked)
    def add_masked(x: Masked, y: Any) -> Masked:
        return Masked(x.values + y, x.mask)

    @register(ex.add, Outer)
    def add_outer(x: Outer, y: Any) -> Outer:
        return Outer(x.inner + y, x.name)

    result = Outer(masked(), "a") + 1.0
    assert result == Outer(Masked([2.0, 3.0], [True, False]), "a")


def test_unregistered_handlers_are_gone() -> None:
    handler = ex.dispatch_for(ex.exp, Masked, Labeled)(lambda x: ex.tensor("handled"))
    assert ex.exp(masked()).item() == "handled"
    assert ex.exp(Labeled([1.0])).item() == "handled"
    ex.unregister(handler)
    for value in (masked(), Labeled([1.0])):
        with pytest.raises(ex.DispatchError):
            ex.exp(value)
    with pytest.raises(KeyError, match="no registered handler"):
        ex.unregister(handler)


@pytest.mark.parametrize(
    ("args", "text"),
    [((len, Masked), "an op"), ((ex.add,), "no type"), ((ex.add, int), "an extension type"), ((ex.add, 3), "found 3")],
)
def test_wrong_registrations_are_errors(args: tuple[Any, ...], text: str) -> None:
    with pytest.raises(ex.Error, match=text):
        ex.dispatch_for(*args)


def test_handlers_that_recurse_forever_are_stopped(register: Any) -> None:
    @register(ex.exp, Masked)
    def again(x: Any) -> Any:
        return ex.exp(x)

    with pytest.raises(RecursionError):
        ex.exp(masked())
