"""Tests over the op tables: every op is a builtin with signature, docstring and examples that hold."""

from __future__ import annotations

import ast
import doctest
import inspect
import math
import pickle
import re
from pathlib import Path
from typing import Any

import extenso as ex
import pytest

CLASSES = [
    ex.unary_elementwise,
    ex.binary_elementwise,
    ex.elementwise,
    ex.reduction,
    ex.structural,
    ex.axiswise,
    ex.segment,
    ex.linear,
    ex.effect,
]
NAMES = sorted({op.__name__ for op_class in CLASSES for op in op_class.ops()})
EXAMPLES = ex._core.op_examples()
FLOATS = [(call, result) for name, call, result in EXAMPLES if re.search(r"\d\.\d", call) and "f64" not in call + result]
STUB = ast.parse(Path(ex.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
STUBS = {node.name: node.args for node in STUB.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", NAMES)
def test_every_op_is_a_documented_builtin(name: str) -> None:
    op = getattr(ex, name)
    assert inspect.isbuiltin(op)
    assert op.__module__ == "extenso"
    assert op.__name__ == name
    signature = inspect.signature(op)
    assert all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in signature.parameters.values())
    stub = STUBS[name]
    assert list(signature.parameters) == [arg.arg for arg in stub.args + stub.kwonlyargs]
    defaults = [p.default for p in signature.parameters.values() if p.default is not p.empty]
    assert defaults == [ast.literal_eval(default) for default in stub.defaults]
    doc = inspect.getdoc(op)
    assert doc
    assert doc.split("\n")[0].endswith(".")


def test_parts_of_other_functions_are_for_handlers_alone() -> None:
    parts = {name for name, _, _ in EXAMPLES} - set(NAMES)
    assert {"sum_high", "split_values", "check_weights"} <= parts
    manual = (Path(__file__).parents[2] / "book" / "ops.md").read_text(encoding="utf-8")
    for name in parts:
        op = getattr(ex._core._op(name), name)
        assert pickle.loads(pickle.dumps(op)) is op
        assert ">>>" not in op.__doc__
        assert not hasattr(ex, name) and not hasattr(ex._core, name) and name not in STUBS
        assert f"### {name}\n" not in manual
    # A handler for a class is asked for the parts too, and can tell of which class they are.
    assert ex._core._op("sum_high").sum_high in ex.reduction


@pytest.mark.parametrize(("name", "call", "result"), EXAMPLES, ids=[call for _, call, _ in EXAMPLES])
def test_examples_hold(name: str, call: str, result: str) -> None:
    assert value_of(ast.parse(call, mode="eval").body) == value_of(ast.parse(result, mode="eval").body)


@pytest.mark.parametrize(("call", "result"), FLOATS, ids=[call for call, _ in FLOATS])
def test_examples_hold_in_f32(call: str, result: str) -> None:
    found, wanted = (evaluate(ast.parse(text, mode="eval").body, narrow=True) for text in (call, result))
    assert ex.spec_of(found) == ex.spec_of(wanted)
    assert is_close(ex.to_py(found), ex.to_py(wanted))


def is_close(x: Any, y: Any) -> bool:
    if isinstance(x, list):
        return len(x) == len(y) and all(map(is_close, x, y))
    return x == y or (isinstance(x, float) and (math.isclose(x, y, rel_tol=1e-6) or x != x and y != y))


@pytest.mark.parametrize("name", NAMES)
def test_docstrings_run(name: str) -> None:
    parser = doctest.DocTestParser()
    test = parser.get_doctest(inspect.getdoc(getattr(ex, name)) or "", {"ex": ex}, name, None, None)
    results = doctest.DocTestRunner(verbose=False).run(test)
    assert results.failed == 0
    # An example of one call whose result is a list of numbers is what Python would show.
    plain = [call for op, call, result in EXAMPLES if op == name and re.fullmatch(r"\[[\d\s.,\[\]-]*\]", result)]
    assert results.attempted > 0 or all(len(re.findall(r"\w\(", call)) > 1 for call in plain)


def value_of(node: ast.expr) -> Any:
    """What an expression of the case grammar says, as plain Python with the dtype of the whole."""
    value = evaluate(node)
    return describe(ex.constant(value) if isinstance(value, (bool, int, float, str)) else value)


def evaluate(node: ast.expr, narrow: bool = False) -> Any:
    """The value of an expression; if `narrow`, lists of floats are f32."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            given = [evaluate(arg, narrow) for arg in args]
            if isinstance(getattr(ex, name, None), ex.DType):
                return ex.tensor(given[0], getattr(ex, name))
            op = getattr(ex._core._op(name), name)
            return op(*given, **{k.arg: evaluate(k.value, narrow) for k in keywords if k.arg})
        case ast.List():
            value = ex.constant([evaluate_literal(item) for item in node.elts])
            return ex.cast(value, "f32") if narrow and "f64" in str(ex.spec_of(value)) else value
        case ast.Tuple(elts=items):
            return tuple(evaluate(item, narrow) for item in items)
        case _:
            return evaluate_literal(node)


def evaluate_literal(node: ast.expr) -> Any:
    return eval(compile(ast.Expression(node), "case", "eval"), {"inf": math.inf, "nan": math.nan})


def describe(value: Any) -> Any:
    if isinstance(value, ex.RowPartition):
        return str(value)
    return str(ex.spec_of(value)), blur(ex.to_py(value))


def blur(value: Any) -> Any:
    if isinstance(value, list):
        return [blur(item) for item in value]
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def test_arguments_are_read_like_pythons() -> None:
    x = ex.tensor([[1, 2], [3, 4]])
    expect = [4, 6]
    for found in (ex.sum(x, 0), ex.sum(x, axis=0), ex.sum(axis=0, x=x), ex.sum(x, [0]), ex.sum(x, (0,), False)):
        assert found.tolist() == expect
    assert ex.concat([x, x], 1).shape == (2, 4)
    assert ex.concat(values=(x, x)).shape == (4, 2)


@pytest.mark.parametrize(
    ("call", "exception", "texts"),
    [
        (lambda: ex.add(1), TypeError, ["add: ", "'y' is missing", "add(x, y)"]),
        (lambda: ex.add(1, 2, 3), TypeError, ["add: ", "3 arguments", "add(x, y)"]),
        (lambda: ex.add(1, 2, z=3), TypeError, ["add: ", "no argument 'z'"]),
        (lambda: ex.add(1, 2, x=3), TypeError, ["add: ", "'x' is given twice"]),
        (lambda: ex.add([1], {}), TypeError, ["add: argument 'y': ", "dict"]),
        (lambda: ex.add([1], [1.0]), TypeError, ["add: ", "i64 and f64", "cast"]),
        (lambda: ex.add([1, 2], [1, 2, 3]), ValueError, ["add: ", "[2]", "[3]"]),
        (lambda: ex.floor_divide([1], [0]), ValueError, ["floor_divide: ", "zero", "[0]"]),
        (lambda: ex.sum([1], axis=3), IndexError, ["sum: ", "axis 3"]),
        (lambda: ex.sum([1], axis="a"), TypeError, ["sum: ", "'axis'", "axes"]),
        (lambda: ex.sum([1], axis=object()), TypeError, ["'axis'", "object"]),
        (lambda: ex.cast([1]), TypeError, ["cast: ", "'dtype' is missing"]),
        (lambda: ex.concat([]), ValueError, ["concat"]),
        (lambda: ex.concat(ex.tensor([1])), TypeError, ["concat: argument 'values'", "list or tuple"]),
        (lambda: ex.where([True], [1], "a"), TypeError, ["where: ", '"a"']),
    ],
)
def test_errors_say_where_what_and_what_was_wanted(call: Any, exception: type[Exception], texts: list[str]) -> None:
    with pytest.raises(exception) as caught:
        call()
    assert isinstance(caught.value, ex.Error)
    assert all(text in str(caught.value) for text in texts), str(caught.value)


def test_every_exception_is_an_error_of_the_package() -> None:
    builtins = {
        ex.DTypeError: TypeError,
        ex.ShapeError: ValueError,
        ex.InvalidValueError: ValueError,
        ex.OutOfRangeError: IndexError,
        ex.MissingNameError: KeyError,
        ex.OutOfMemoryError: MemoryError,
        ex.DispatchError: TypeError,
        ex.ScopeError: RuntimeError,
        ex.DataError: ValueError,
        ex.FileError: OSError,
        ex.InternalError: RuntimeError,
    }
    for cls, builtin in builtins.items():
        assert issubclass(cls, ex.Error)
        assert issubclass(cls, builtin)
    assert str(ex.MissingNameError("plain text")) == "plain text"


def test_classes_answer_semantic_questions() -> None:
    assert ex.is_unary_elementwise_op(ex.exp)
    assert ex.is_binary_elementwise_op(ex.add)
    assert ex.is_binary_elementwise_op(ex.less)
    assert ex.is_reduction_op(ex.sum)
    assert not ex.is_reduction_op(ex.add)
    assert not ex.is_reduction_op(len)
    assert ex.less in ex.comparison
    assert ex.add not in ex.comparison
    assert ex.sum in ex.reduction.ops()
