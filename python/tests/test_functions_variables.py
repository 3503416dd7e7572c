"""Variables among the arguments of traced functions, and concrete functions that others call."""

import pathlib

import extenso as ex
import pytest


def test_variables_are_arguments_and_which_are_the_same_is_part_of_the_key() -> None:
    seen = []

    @ex.function
    def f(a: ex.Variable, b: ex.Variable) -> ex.Tensor:
        seen.append(a is b)
        a.assign(a.read() + 10)
        return b.read()

    v, w = ex.Variable("v", 1), ex.Variable("w", 2)
    assert f(v, w).item() == 2 and (v.read().item(), w.read().item()) == (11, 2)
    assert f(v, v).item() == 21
    assert f(w, v).item() == 21 and w.read().item() == 12
    assert seen == [False, True] and len(f.traces) == 2
    assert f(v, ex.Variable("x", [1])).tolist() == [1] and len(f.traces) == 3
    assert f.traces[1](w, w).item() == 22


def test_variables_are_found_in_nests_and_passed_on() -> None:
    @ex.function
    def add(to: ex.Variable, x: ex.Tensor) -> ex.Tensor:
        return to.assign(to.read() + x)

    @ex.function
    def f(state: "dict[str, ex.Variable]", x: ex.Tensor) -> ex.Tensor:
        return add(state["b"], x) * add(state["a"], x)

    a, b = ex.Variable("a", 1), ex.Variable("b", 5)
    assert f({"a": a, "b": b}, ex.tensor(1)).item() == 12
    assert f({"b": b, "a": a}, ex.tensor(1)).item() == 21 and len(f.traces) == 1
    assert (a.read().item(), b.read().item()) == (3, 7)
    assert f({"a": a, "b": a}, ex.tensor(1)).item() == 20 and len(f.traces) == 2


def test_a_variable_among_the_arguments_is_a_number_in_operators_and_gradients() -> None:
    v = ex.Variable("v", 3.0)
    f = ex.function(lambda a, x: a * x + a)
    assert f(v, ex.tensor(2.0)).item() == 9.0
    v.assign(1.0)
    assert f(v, ex.tensor(2.0)).item() == 3.0 and len(f.traces) == 1
    assert ex.grad(lambda a: a * a)(ex.Variable("w", 3.0)).item() == 6.0


def test_branches_change_the_variable_that_is_given() -> None:
    @ex.function
    def f(v: ex.Variable, p: ex.Tensor) -> ex.Tensor:
        return ex.cond(p, lambda: v.assign(v.read() * 2), lambda: v.read())

    a, b = ex.Variable("a", 1), ex.Variable("b", 10)
    assert [f(v, ex.tensor(p)).item() for v, p in ((a, True), (b, True), (b, False), (a, True))] == [2, 20, 20, 4]
    assert len(f.traces) == 1


def test_concrete_functions_become_part_of_the_function_that_calls_them(tmp_path: pathlib.Path) -> None:
    steps = ex.Variable("steps", 0)

    @ex.function
    def inner(x: ex.Tensor) -> "dict[str, ex.Tensor]":
        return {"y": x * 2.0, "n": steps.assign(steps.read() + 1)}

    concrete = inner.get_concrete_function(ex.TensorSpec([None], "f64"))
    outer = ex.function(lambda x: concrete(x + 1.0)["y"])
    constant = ex.function(lambda: concrete(ex.tensor([1.0]))["n"])
    assert [outer(ex.tensor([v, v])).tolist() for v in (1.0, 2.0)] == [[4.0, 4.0], [6.0, 6.0]]
    assert [constant().item() for _ in range(2)] == [3, 4]
    ex.save(concrete, tmp_path / "f.exo")
    loaded = ex.load(tmp_path / "f.exo").inner
    assert ex.function(lambda x: loaded(x)["y"] + 1.0)(ex.tensor([1.0])).tolist() == [3.0]
    with pytest.raises(ex.ScopeError, match="the function itself"):
        given = ex.function(lambda v: v.read()).get_concrete_function(steps)
        ex.function(lambda: given(steps))()


def test_a_variable_among_the_arguments_holds_nothing_elsewhere() -> None:
    kept = []

    @ex.function
    def f(v: ex.Variable) -> ex.Tensor:
        kept.append(v)
        return v.read()

    v = ex.Variable("v", 1)
    f(v)
    with pytest.raises(ex.ScopeError, match="argument of a function"):
        kept[0].read()
    with pytest.raises(ex.Error, match="'v'"):
        f.traces[0]()
    with pytest.raises(ex.ScopeError, match="argument of a function"):
        ex.save(f, "unwritten.exo")
