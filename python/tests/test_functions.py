"""Traced functions from Python: traces, scopes, control flow, gradients, types through the graph."""

import re
from typing import Any

import extenso as ex
import numpy as np
import pytest


class Reading(ex.ExtensionType):
    """A measured value with its unit."""

    __extenso_name__ = "tests.functions/Reading"

    values: ex.Tensor
    unit: str = "m"


@ex.dispatch_for(ex.unary_elementwise, Reading)
def _on_values(op: object, x: Reading) -> Reading:
    return Reading(op(x.values), unit=x.unit)  # type: ignore[operator]


def test_a_call_that_differs_in_sizes_generalises() -> None:
    calls = []

    @ex.function
    def f(x: ex.Tensor) -> ex.Tensor:
        calls.append(1)
        return x + 1.0

    for n in (2, 3, 4, 5):
        assert f(ex.tensor([1.0] * n)).tolist() == [2.0] * n
    assert len(calls) == 2 and len(f.traces) == 1
    f(ex.tensor([1.0], dtype="f32"))
    assert f.retraces[-1] == [("x", "f64[?]", "f32[1]")]


def test_a_retrace_names_the_static_value_that_changed() -> None:
    f = ex.function(lambda x, k=2, *, options=None: x * k)
    f(ex.tensor([1.0]))
    f(ex.tensor([1.0]), 3)
    assert f.retraces[-1] == [("k", "2", "3")]
    f(ex.tensor([1.0]), 3, options={"a": 1})
    assert f.retraces[-1] == [("options", "None", "{a: 1}")]


def test_a_concrete_function_shows_its_signature() -> None:
    f = ex.function(lambda x, k=2: x * k, name="scaled")
    assert repr(f.get_concrete_function(ex.TensorSpec([None], "f32"))) == "<concrete function scaled(x: f32[?], k: 2) -> f32[?]>"


def test_one_spec_for_two_arguments_is_as_two_that_are_equal() -> None:
    vector = ex.TensorSpec([None], "f64")
    for f in (
        ex.function(lambda x, y: ex.concat([x, y], axis=0)).get_concrete_function(vector, vector),
        ex.function(lambda x, y: ex.concat([x, y], axis=0), input_signature=[vector, vector]),
    ):
        assert f(ex.tensor([1.0, 2.0]), ex.tensor([3.0])).to_py() == [1.0, 2.0, 3.0]


def test_a_variable_stands_for_what_it_holds_in_operators() -> None:
    weights = ex.Variable("operators/weights", [1.0, 2.0])
    assert (weights * 2).tolist() == [2.0, 4.0] and (2 - weights).tolist() == [1.0, 0.0]
    assert weights.shape == (2,) and ex.function(lambda x: x**weights)(ex.tensor([3.0, 3.0])).tolist() == [3.0, 9.0]
def test_the_most_specific_trace_answers() -> None:
    @ex.function
    def f(x: ex.Tensor) -> ex.Tensor:
        return x

    shapes = [(None, None, None), (None, 1, None), (None, 1, 2), (None, 2, 2)]
    made = [f.get_concrete_function(ex.TensorSpec(shape, "f32")) for shape in shapes]
    assert [each.input_spec["x"].shape.dims for each in made] == shapes
    for given, wanted in [((1, 1, 2), 2), ((1, 1, 3), 1), ((1, 3, 3), 0), ((9, 2, 2), 3)]:
        x = ex.cast(ex.zeros(given), "f32")
        assert f.get_concrete_function(x).input_spec["x"].shape.dims == shapes[wanted]
        assert f(x).shape == given
    assert len(f.traces) == 4
    assert f.get_concrete_function(ex.TensorSpec((None, 1, 2), "f32")).input_spec == made[2].input_spec and len(f.traces) == 4


def test_a_tie_goes_to_the_earlier_trace() -> None:
    for shapes in ([(None, 2), (3, None)], [(3, None), (None, 2)]):
        f = ex.function(lambda x: x)
        for shape in shapes:
            f.get_concrete_function(ex.TensorSpec(shape, "f64"))
        assert f.get_concrete_function(ex.zeros((3, 2))).input_spec["x"].shape.dims == shapes[0]


def test_what_was_asked_for_is_not_generalised() -> None:
    f = ex.function(lambda x: x)
    f.get_concrete_function(ex.TensorSpec([2], "f64"))
    for n in (3, 4):
        f(ex.zeros([n]))
    assert [each.input_spec["x"].shape.dims for each in f.traces] == [(2,), (None,)]
    # What calls have traced gives way to what covers it.
    g = ex.function(lambda x: x)
    g(ex.zeros([2]))
    g.get_concrete_function(ex.TensorSpec([None], "f64"))
    assert [each.input_spec["x"].shape.dims for each in g.traces] == [(None,)]


def test_traces_are_bounded_and_say_why_they_happened() -> None:
    @ex.function
    def f(x: object, k: int = 0) -> object:
        return x

    x = ex.tensor([1.0])
    f({"a": x, "b": [x]})
    f({"a": x, "b": [ex.tensor([[1.0]])]}, 1)
    assert f.retraces == [[], [("x.b[0]", "f64[1]", "f64[1, 1]"), ("k", "0", "1")]]
    # The nearest earlier trace is the one that explains.
    f({"a": x, "b": [x]}, 2)
    assert f.retraces[-1] == [("k", "0", "2")]
    for k in range(1100):
        f(x, k)
    assert len(f.traces) == 32 and len(f.retraces) == 1024


def test_python_numbers_are_static() -> None:
    calls = []

    @ex.function
    def f(x: ex.Tensor, k: object) -> ex.Tensor:
        calls.append(k)
        return x * 2.0 if k == 1 else x

    x = ex.tensor([1.0])
    for k in (1, 1.0, True, 1):
        f(x, k)
    assert [type(k) for k in calls] == [int, float, bool]
    nan = float("nan")
    for k in (nan, -nan, float("nan"), "nan", None):
        f(x, k)
    assert [str(k) for k in calls[3:]] == ["nan", "nan", "None"]


def test_lists_and_tuples_are_different_arguments_and_dicts_have_no_order() -> None:
    @ex.function
    def f(x: object) -> object:
        return x

    one, two = ex.tensor(1), ex.tensor(2)
    for given in ([one, two], (one, two), {"b": one, "a": two}, {"a": one, "b": two}, {"a": one}):
        assert f(given) == given
    assert len(f.traces) == 4
    concrete = f.get_concrete_function([one, two])
    with pytest.raises(ValueError, match=r"found \("):
        concrete((one, two))
    with pytest.raises(ValueError, match="x.b"):
        f.get_concrete_function({"a": one, "b": two})({"a": one})


def test_a_symbol_has_no_truth_value() -> None:
    @ex.function
    def f(x: ex.Tensor) -> ex.Tensor:
        if x > 0.0:
            return x
        return -x

    with pytest.raises(ex.ScopeError, match="cond") as refused:
        f(ex.tensor(1.0))
    advised = re.findall(r"`(\w+)`", str(refused.value))
    assert advised and all(hasattr(ex, name) for name in advised)


def test_a_symbol_of_a_closed_scope_names_its_function() -> None:
    kept = []

    @ex.function
    def leaky(x: ex.Tensor) -> ex.Tensor:
        kept.append(x)
        return x

    leaky(ex.tensor([1.0]))
    with pytest.raises(ex.ScopeError, match="leaky"):
        kept[0] + 1.0


def test_a_branch_that_is_not_taken_does_nothing() -> None:
    seen = ex.Variable("seen", 0)

    @ex.function
    def f(p: ex.Tensor, x: ex.Tensor, y: ex.Tensor) -> ex.Tensor:
        def divide() -> ex.Tensor:
            seen.assign(seen.read() + 1)
            return ex.floor_divide(x, y)

        return ex.cond(p, divide, lambda: x)

    x, zero = ex.tensor([6]), ex.tensor([0])
    assert f(ex.tensor(False), x, zero).tolist() == [6]
    assert seen.read().item() == 0
    assert f(ex.tensor(True), x, ex.tensor([4])).tolist() == [1]
    assert seen.read().item() == 1
    with pytest.raises(ValueError, match="divided by zero at position"):
        f(ex.tensor(True), x, zero)


def test_effects_without_symbolic_arguments_run_at_each_call() -> None:
    steps = ex.Variable("steps", 0)

    @ex.function
    def tick() -> ex.Tensor:
        return steps.assign(steps.read() + 1)

    assert [tick().item() for _ in range(3)] == [1, 2, 3]


def test_cond_says_what_does_not_fit() -> None:
    yes = ex.tensor(True)
    with pytest.raises(ex.DTypeError, match="argument 'then' is a value of type int"):
        ex.cond(yes, 1, 2)
    one = ex.tensor(1)
    with pytest.raises(ex.DTypeError, match=r"cond: the branches return i64\[\] and f64\[\]\."):
        ex.function(lambda p: ex.cond(p, lambda: one, lambda: ex.tensor(1.0)))(yes)
    with pytest.raises(ex.DTypeError, match=r"cond: at 'a\[1\]': the branches return"):
        pair = {"a": [one, one]}, {"a": [one, ex.tensor(1.0)]}
        ex.function(lambda p: ex.cond(p, lambda: pair[0], lambda: pair[1]))(yes)
    with pytest.raises(ex.InvalidValueError, match=r"cond: a leaf stands against a dict\."):
        ex.function(lambda p: ex.cond(p, lambda: one, lambda: {"a": one}))(yes)


def test_a_branch_of_constants_fails_when_it_is_taken() -> None:
    table = ex.tensor([1, 2])

    @ex.function
    def f(p: ex.Tensor) -> ex.Tensor:
        return ex.cond(p, lambda: ex.take(table, 5) + ex.floor_divide(table, 0), lambda: table)

    assert f(ex.tensor(False)).tolist() == [1, 2]
    with pytest.raises(IndexError, match=r"take.*5"):
        f(ex.tensor(True))
    with pytest.raises(ex.ShapeError):  # What never fits is no matter of the branch taken.
        ex.function(lambda p: ex.cond(p, lambda: table + ex.tensor([1, 2, 3]), lambda: table))(ex.tensor(False))


def test_a_constant_is_assigned_at_each_call() -> None:
    state = ex.Variable("state", 0)

    @ex.function
    def reset() -> ex.Tensor:
        return state.assign(7)

    reset()
    state.assign(0)
    assert (reset().item(), state.read().item(), len(reset.traces)) == (7, 7, 1)


def test_an_exception_in_the_body_comes_out_as_it_is() -> None:
    class Mine(Exception):
        pass

    @ex.function
    def f(x: ex.Tensor) -> ex.Tensor:
        raise Mine("here")

    with pytest.raises(Mine, match="here"):
        f(ex.tensor(1.0))


def test_types_go_through_a_function_and_its_gradient() -> None:
    @ex.function
    def f(r: Reading, scale: ex.Tensor) -> "dict[str, object]":
        return {"out": ex.exp(r), "scaled": r.values * scale}

    r = Reading([0.0, 1.0], unit="km")
    out = f(r, ex.tensor(2.0))
    assert isinstance(out["out"], Reading) and out["out"].unit == "km"
    assert out["scaled"].tolist() == [0.0, 2.0]

    grad = ex.grad(lambda r: ex.sum(r.values * r.values))(r)
    assert isinstance(grad, Reading) and grad.unit == "km" and grad.values.tolist() == [0.0, 2.0]


def test_gradients_of_gradients() -> None:
    cube = lambda x: x * x * x
    assert ex.grad(ex.grad(cube))(ex.tensor(2.0)).item() == 12.0
    value, (dx, dy) = ex.value_and_grad(lambda x, y: x * y, argnums=(0, 1))(ex.tensor(3.0), ex.tensor(4.0))
    assert (value.item(), dx.item(), dy.item()) == (12.0, 4.0, 3.0)
    (dx,) = ex.grad(cube, argnums=[0])(ex.tensor(2.0))
    assert dx.item() == 12.0

    of_all = ex.grad(lambda first, *others: first * others[0] * others[1], argnums=(2, 0))
    assert [g.item() for g in of_all(*map(ex.tensor, (2.0, 3.0, 5.0)))] == [6.0, 15.0]
    with pytest.raises(ex.OutOfRangeError, match="there is no argument 3"):
        ex.grad(lambda *x: x[0], argnums=3)(ex.tensor(1.0))
    with pytest.raises(ex.InvalidValueError, match="argument 0 twice"):
        ex.grad(cube, argnums=(0, 0))(ex.tensor(1.0))


def test_a_function_has_the_docstring_of_its_body() -> None:
    def twice(x: Any) -> Any:
        """Twice as much."""
        return x * 2

    assert ex.function(twice).__doc__ == "Twice as much." and ex.function(lambda x: x).__doc__ is None
    assert ex.function(twice).__qualname__ == twice.__qualname__
    assert str(ex.Function.__doc__).startswith("A function that is traced once")


def test_numbers_in_branches_take_the_dtype_of_what_stands_against_them() -> None:
    x = ex.tensor([2.0, -2.0], "f32")
    chosen = ex.function(lambda x: ex.cond(x > 0.0, lambda: (1.0, {"a": x}), lambda: (x, {"a": 0})))
    assert chosen(x[0])[0].dtype == ex.f32 and [chosen(x[0])[0].item(), chosen(x[1])[0].item()] == [1.0, -2.0]
    assert [chosen(x[0])[1]["a"].item(), chosen(x[1])[1]["a"].item()] == [2.0, 0.0]
    either = ex.function(lambda x: ex.cond(x > 0.0, lambda: 1, lambda: 2.5))
    assert [either(x[0]).item(), either(x[1]).item()] == [1.0, 2.5]
    with pytest.raises(ex.DTypeError, match="cond: the literal 300 does not fit dtype u8"):
        ex.function(lambda x: ex.cond(x > 0, lambda: x, lambda: 300))(ex.tensor(1, "u8"))


def test_a_method_of_a_type_is_a_function() -> None:
    class Line(ex.ExtensionType):
        __extenso_name__ = "tests.functions/Line"
        slope: ex.Tensor

        @ex.function
        def at(self, x: ex.Tensor) -> ex.Tensor:
            return self.slope * x

    assert Line(ex.tensor(2.0)).at(ex.tensor([1.0, 2.0])).tolist() == [2.0, 4.0]


def test_nests_come_back_as_they_went_in() -> None:
    import collections
    import dataclasses

    Pair = collections.namedtuple("Pair", "a b")

    @dataclasses.dataclass
    class Box:
        x: ex.Tensor

    @ex.function
    def f(n: object) -> object:
        return n

    out = f({"p": Pair(ex.tensor(1.0), [ex.tensor(2.0), "text"]), "b": Box(ex.tensor(3.0))})
    assert isinstance(out["p"], Pair) and out["p"].b[1] == "text" and isinstance(out["b"], Box)
    assert out["b"].x.item() == 3.0


def test_arguments_are_bound_as_python_binds_them() -> None:
    @ex.function
    def f(x: ex.Tensor, *rest: ex.Tensor, k: float = 2.0, **more: ex.Tensor) -> ex.Tensor:
        for r in rest:
            x = x + r
        return x * k + more["z"]

    one = ex.tensor(1.0)
    assert f(one, one, one, z=one).item() == 7.0
    assert f(one, k=3.0, z=one).item() == 4.0
    with pytest.raises(TypeError, match="'x' is missing"):
        f(z=one)


def test_a_signature_is_traced_once_and_arguments_are_made_to_fit() -> None:
    rows = ex.RaggedTensorSpec([None, None], ex.f32, 1)

    @ex.function(input_signature=[rows, {"k": ex.TensorSpec([], ex.i32)}])
    def scaled(x: Any, by: Any, plus: int = 0) -> Any:
        return ex.sum(x, axis=1) * ex.cast(by["k"], ex.f32) + float(plus)

    assert scaled([[1, 2], [], [3]], {"k": 2}).tolist() == [6.0, 0.0, 6.0]
    assert scaled(ex.constant([[1.5]], rows), {"k": np.int32(3)}).tolist() == [4.5]
    assert len(scaled.traces) == 1
    assert scaled.get_concrete_function().input_spec == {"x": rows, "by": {"k": ex.TensorSpec([], ex.i32)}, "plus": 0}
    assert scaled.get_concrete_function(rows, {"k": ex.TensorSpec([], ex.i32)}) is not None
    for wrong, error, text in [
        ((ex.constant([[1, 2], [3]]), {"k": 2}), TypeError, r"argument 'x\[\*\]': found i64\[3\]"),
        (([[1]], {"k": [2]}), TypeError, "by.k"),
        (([[1]], {"n": 2}), ValueError, "by.k"),
        (([[1]], {"k": 2}, 5), ValueError, "'plus'"),
    ]:
        with pytest.raises(error, match=text):
            scaled(*wrong)
    with pytest.raises(ValueError, match=r"\[1\]\[0\]: found a string") as raised:
        scaled([[1], ["a"]], {"k": 2})
    assert raised.value.__notes__ == ["This is the argument 'x'."]
    with pytest.raises(TypeError, match="x"):
        scaled.get_concrete_function(ex.TensorSpec([None], ex.f32), {"k": ex.TensorSpec([], ex.i32)})
    named = ex.function(lambda x, y: x + y, {"y": ex.TensorSpec([], ex.f64), "x": ex.TensorSpec([None], ex.f64)})
    assert named([1, 2], 3).tolist() == [4.0, 5.0]
    with pytest.raises(TypeError, match="input_signature"):
        ex.function(lambda x: x, ex.TensorSpec([], ex.f64))  # type: ignore[call-overload]


def test_required_paths_are_those_that_read_json_takes() -> None:
    records = [{"id": 1, "tags": ["a"], "items": [{"price": 2.0, "sku": "x"}], "note": None}, {"id": 2, "tags": [], "items": [], "note": "n"}]
    spec = ex.infer_spec(records)
    for f, paths in [
        (lambda r: r["id"], ["id"]),
        (lambda r: ex.sum(r["items"]["price"], axis=1), ["items[*].price"]),
        (lambda r: ex.num(r["items"]["price"]), ["items"]),
        (lambda r: ex.is_none(r["note"]), ["note"]),
        (lambda r: (r["tags"], r["id"]), ["id", "tags[*]"]),
    ]:
        concrete = ex.function(f).get_concrete_function(spec)
        assert sorted(concrete.required_paths()) == paths
        read = ex.read_json(records, spec, paths=paths)
        assert set(read.field_names()) == {path.split("[")[0].split(".")[0] for path in paths}
    x, y = ex.TensorSpec([None], ex.f64), ex.TensorSpec([None], ex.string)
    assert ex.function(lambda x, y: x).get_concrete_function(x, y).required_paths() == ["x"]
    assert ex.function(lambda r, y: r["id"]).get_concrete_function(spec, y).required_paths() == ["r.id"]


def test_print_prints_each_time_the_function_comes_there(capsys: pytest.CaptureFixture[str]) -> None:
    @ex.function
    def f(x: Any, rows: Any) -> Any:
        ex.print("x is", x, "and rows", rows, sep=" ")
        ex.cond(ex.sum(x) > 2.0, lambda: ex.print("large") or x, lambda: x)
        return x * 2.0

    rows = ex.constant([[1], [2, 3]])
    assert f(ex.tensor([1.0]), rows).tolist() == [2.0]
    shown = capsys.readouterr().out
    assert shown.startswith("x is [1.0] and rows ") and "[1, 2, 3]" in shown and shown.count("\n") == 1
    f(ex.tensor([5.0]), rows)
    assert capsys.readouterr().out.endswith("large\n")
    assert f.traces[0].op_count >= 2 and len(f.traces) == 1
    ex.print("a", 1, True, "ß", ex.tensor(["b"]), sep="|")
    assert capsys.readouterr().out == 'a|1|True|ß|["b"]\n'
    with pytest.raises(ValueError, match="holds `{}`"):
        ex.print("{}", 1)


@pytest.mark.parametrize(
    "move",
    [
        lambda x: ex.roll(x, 1),
        lambda x: ex.isin(x, [1]),
        lambda x: ex.unflatten(ex.flatten(x), ex.num(x)),
        lambda x: ex.mask(x, x > 1),
        lambda x: ex.sort(x)[:, ::-1],
    ],
)
def test_a_branch_gives_rows_that_it_did_not_make(move: Any) -> None:
    def chosen(p: ex.Tensor, x: ex.RaggedTensor) -> Any:
        rows = move(x)
        return ex.cond(p, lambda: rows, lambda: ex.where(rows == rows, rows, rows))

    f = ex.function(chosen)
    for x in (ex.constant([[1, 2], [3]]), ex.constant([[1], [2, 3], []])):
        for p in (True, False):
            assert ex.to_py(f(ex.tensor(p), x)) == ex.to_py(move(x))


def test_what_fails_when_a_graph_runs_names_the_line_in_which_its_op_was_called() -> None:
    def f(x: Any, at: Any) -> Any:
        doubled = x * 2
        return ex.take(doubled, at, axis=0)

    def called(start: int, end: int) -> str:
        lines = f"line {start}" if start == end else f"lines {start} to {end}"
        return f"Called in {lines} of {__file__}."

    first = f.__code__.co_firstlineno
    outside, inside = ex.tensor([1, 2]), ex.tensor([5])
    for function in (ex.function(f), ex.function(ex.function(f))):
        with pytest.raises(IndexError) as error:
            function(outside, inside)
        assert str(error.value).endswith(called(first + 2, first + 2))
        assert str(error.value).count("Called in") == 1
    # Elementwise ops in one step are called in all of its lines.
    def g(x: Any, y: Any) -> Any:
        quotient = x // y
        return quotient + 1

    first = g.__code__.co_firstlineno
    with pytest.raises(ex.Error) as error:
        ex.function(g)(outside, ex.tensor([1, 0]))
    assert str(error.value).endswith(called(first + 1, first + 2))


@pytest.mark.parametrize("argnums", ["a", 1.5, True, [0, "a"]])
def test_what_is_no_position_is_no_argnum(argnums: object) -> None:
    with pytest.raises(ex.DTypeError, match="`argnums` names"):
        ex.grad(ex.sum, argnums)  # type: ignore[arg-type]


def test_a_concrete_function_of_any_arguments_is_called_as_it_was_written() -> None:
    vector = ex.TensorSpec([None], "i64")
    both = ex.function(lambda *a: a[0] + a[1]).get_concrete_function(vector, vector)
    for args in (([1, 2], [2, 3]), (ex.tensor([1, 2]), [2, 3]), (([1, 2], [2, 3]),)):
        assert both(*args).tolist() == [3, 5]
    behind = ex.function(lambda x, *a: x + a[0] * a[1]).get_concrete_function(vector, vector, vector)
    assert behind([1], [2], [3]).tolist() == behind([1], ([2], [3])).tolist() == [7]
    pair = ex.function(lambda pair, y: pair[0] + pair[1] * y).get_concrete_function((vector, vector), vector)
    assert pair(([1], [2]), [3]).tolist() == [7]


def _records(names: list[str], prices: object, tags: object, more: bool = False) -> ex.StructTensor:
    fields = {"name": names, "prices": prices, "tags": tags} | ({"more": names} if more else {})
    return ex.constant([dict(zip(fields, row, strict=True)) for row in zip(*fields.values(), strict=True)])  # type: ignore[return-value]


def _calling(f: ex.ConcreteFunction) -> ex.Function:
    return ex.function(lambda x: f(x), name="outer")


def test_arguments_in_other_forms_are_cast_where_nothing_is_lost() -> None:
    deep = ex.RaggedTensorSpec([None, None, None], "f64")
    some = ex.MaskedTensorSpec(ex.RaggedTensorSpec([None, None], "f64"), ex.TensorSpec([None], "bool"))
    none = ex.MaskedTensorSpec(ex.TensorSpec([None], "f64"), ex.TensorSpec([None], "bool"))
    none_in = ex.RaggedTensorSpec([None, None], flat_values_spec=none)
    short = ex.RaggedTensorSpec([None, None], "i64", row_splits_dtype="i32")
    for spec, values in [
        (ex.TensorSpec([None], "f64"), [ex.constant([1, 2], ex.TensorSpec([None], "i32")), ex.constant([0.5])]),
        (ex.RaggedTensorSpec([None, None], "f64"), [ex.constant([[1.0, 2.0], [3.0, 4.0]]), ex.constant([[1.0], []])]),
        (deep, [ex.constant([[[1.0, 2.0]], [[3.0, 4.0]]]), ex.constant([[[1.0], [2.0]], []]), ex.constant([[[1.0, 2.0], [2.0]]])]),
        (some, [ex.constant([[1.0, 2.0], [3.0, 4.0]]), ex.constant([[1.0], None]), ex.constant([[1.0], []])]),
        (none_in, [ex.constant([[1.0, None], [3.0, 4.0]]), ex.constant([[1.0, 2.0]]), ex.constant([[1.0], []])]),
        (short, [ex.constant([[1], [2, 3]]), ex.constant([[1, 2], [3, 4]])]),
    ]:
        f = ex.function(lambda x: x, name="same").get_concrete_function(spec)
        outer = _calling(f)
        for value in values:
            assert ex.to_py(f(value)) == ex.to_py(value) == ex.to_py(ex.function(lambda x: x, [spec])(value))
            # How many values there are is not known of offsets that are narrowed when a graph runs.
            assert spec is short or ex.to_py(outer(value)) == ex.to_py(value)
    # Where sizes are not known before the graph runs, too.
    rows_of = _calling(ex.function(lambda x: x, name="same").get_concrete_function(ex.RaggedTensorSpec([None, None], "i64")))
    for sizes in [[1, 2], [None, None], [1, None], [None, 2]]:
        known = rows_of.get_concrete_function(ex.TensorSpec(sizes, "i64"))
        assert ex.to_py(known(ex.constant([[1, 2]]))) == [[1, 2]]
    same_lengths = _records(["a", "b"], [[1.0], [2.0]], [["x"], ["y"]], more=True)
    f = ex.function(lambda r: {"sum": ex.sum(r["prices"], axis=1), "tags": r["tags"]}, name="f").get_concrete_function(
        ex.StructTensorSpec([None], {
            "tags": ex.MaskedTensorSpec(ex.RaggedTensorSpec([None, None], "string"), ex.TensorSpec([None], "bool")),
            "prices": ex.RaggedTensorSpec([None, None], "f64"),
        })
    )
    assert ex.to_py(f(same_lengths)) == {"sum": [1.0, 2.0], "tags": [["x"], ["y"]]}


def test_what_a_cast_would_lose_is_refused() -> None:
    rows = ex.RaggedTensorSpec([None, None], "f64")
    for spec, value, text in [
        (rows, ex.constant([[1.0], None]), r"argument 'x'"),
        (rows, ex.constant([[1.0, None]]), r"argument 'x'"),
        (rows, ex.constant([1.0]), r"argument 'x': found f64\[1\]"),
        (rows, ex.constant([[1], [2, 3]]), r"argument 'x\[\*\]': found i64\[3\]"),
        (ex.TensorSpec([None], "f32"), ex.constant([1.0]), r"found f64\[1\]"),
        (ex.TensorSpec([2], "f64"), ex.constant([1.0]), r"found f64\[1\]"),
        (ex.StructTensorSpec([None], {"a": ex.TensorSpec([None], "i64")}), ex.constant([{"b": 1}]), r"argument 'x'"),
        (ex.StructTensorSpec([None], {"a": rows, "b": rows}), ex.constant([{"a": [], "b": [1]}]), r"argument 'x\.b.*': found i64"),
    ]:
        f = ex.function(lambda x: x, name="same").get_concrete_function(spec)
        with pytest.raises((TypeError, ValueError), match=text):
            f(value)
    for dtype, array, text in [("i8", [300], r"found i64\[1\]"), ("i64", [1.5], r"found f64\[1\]"), ("u8", [-1], r"found i64")]:
        f = ex.function(lambda x: x, name="same").get_concrete_function(ex.TensorSpec([None], dtype))
        assert f(np.array([3])).tolist() == f(np.array([3.0])).tolist() == [3]
        with pytest.raises(TypeError, match=text):
            f(np.array(array))
    boxes = ex.MaskedTensorSpec(
        ex.StructTensorSpec([None, None, None], {"c": ex.TensorSpec([None, None, None], "f64")}), ex.TensorSpec([None, None, None], "bool")
    )
    same = _calling(ex.function(lambda x: x, name="same").get_concrete_function(rows))
    with pytest.raises(TypeError, match="argument 'x': found MaskedTensor"):
        same.get_concrete_function(boxes)
