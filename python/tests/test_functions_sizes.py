"""Tests of traced functions that are called with values of several sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import extenso as ex
import pyarrow as pa
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_body_that_needs_known_sizes_is_traced_for_each() -> None:
    """Where the trace of unknown sizes fails, each call has a trace of its own sizes."""
    diagonal = ex.function(lambda x: ex.einsum("ii->i", x))
    chosen = ex.function(lambda x, a, b: x[a, b])
    for n in (2, 3, 4, 2):
        x, at = ex.reshape(ex.arange(n * n), (n, n)), ex.arange(n)
        assert diagonal(x).tolist() == chosen(x, at, at).tolist() == [i * (n + 1) for i in range(n)]


def test_an_error_of_the_body_is_that_of_the_sizes_that_were_given() -> None:
    f = ex.function(lambda x: ex.reshape(x, (2, 2)))
    f(ex.ones(4))
    with pytest.raises(ex.Error, match="5"):
        f(ex.ones(5))


def test_a_fused_reduction_of_no_elements_that_broadcast() -> None:
    for shape, other in (((2, 0), (0,)), ((3, 0), (1, 0)), ((2, 3, 0), (3, 0))):
        x, y = ex.zeros(shape), ex.zeros(other)
        f = ex.function(lambda x, y: ex.sum(x * y, axis=-1))
        assert f(x, y).tolist() == ex.sum(x * y, axis=-1).tolist()


def test_the_gradient_of_parts_that_were_joined_along_an_axis_of_unknown_size() -> None:
    spec = ex.TensorSpec([None, None], "f64")
    f = ex.function(lambda x, y: ex.sum(ex.concat([x, y], axis=1) ** 2.0), input_signature=[spec, spec])
    x, y = ex.tensor([[1.0, 2.0], [3.0, 4.0]]), ex.tensor([[5.0], [6.0]])
    assert [g.tolist() for g in ex.grad(f, argnums=(0, 1))(x, y)] == [[[2.0, 4.0], [6.0, 8.0]], [[10.0], [12.0]]]


def test_rows_that_were_cut_out_of_deeper_rows() -> None:
    """What stands in front of the rows is in no result."""
    x = ex.constant([[[9.0, 9.0]], [[1.0], [2.0, 3.0]]])[1:]
    wanted = [[[1.0], [2.0, 9.0]]]
    for f in (lambda x, y: ex.linear_scan(x, y, axis=-1), ex.function(lambda x, y: ex.linear_scan(x, y, axis=-1))):
        assert ex.to_py(f(x, ex.constant([[[1.0], [2.0, 3.0]]]))) == wanted
    records = ex.constant([[{"r": [9, 9]}], [{"r": [6, 3]}, {"r": []}]])[1:]
    for g in (lambda x: ex.paths.filter(x, "r", x["r"] > 3), ex.function(lambda x: ex.paths.filter(x, "r", x["r"] > 3))):
        assert ex.to_py(g(records)) == [[{"r": [6]}, {"r": []}]]


@pytest.mark.parametrize("step", [None, 2, -1, -3])
def test_slices_by_numbers_that_a_function_is_given(step: int | None) -> None:
    """A traced function slices as Python does, whatever the bounds are when it is called."""
    rows = ex.constant([[1, 2, 3, 4, 5], [], [6, 7]])
    masked = ex.constant([[1, None, 3], None, [4, 5]])
    records = ex.constant([{"a": [1, 2]}, {"a": []}, {"a": [3]}])
    between = ex.function(lambda x, a, b: x[a:b:step])
    behind = ex.function(lambda x, a: x[a::step])
    before = ex.function(lambda x, b: x[:b:step])
    inner = ex.function(lambda x, a, b: x[:, a:b:step])
    for a in (-9, -2, 0, 1, 3, 9):
        for b in (-9, -1, 0, 2, 9):
            first, last = ex.tensor(a), ex.tensor(b, dtype="i32")
            for x in (ex.arange(6), ex.reshape(ex.arange(6), (3, 2)), rows, masked, records):
                assert ex.to_py(between(x, first, last)) == ex.to_py(x[a:b:step])
                assert ex.to_py(behind(x, first)) == ex.to_py(x[a::step])
                assert ex.to_py(before(x, last)) == ex.to_py(x[:b:step])
            for x in (ex.reshape(ex.arange(6), (2, 3)), rows, masked):
                assert ex.to_py(inner(x, first, last)) == ex.to_py(x[:, a:b:step])


def test_bounds_and_steps_beyond_every_list() -> None:
    f = ex.function(lambda x, a: (x[:a], x[a : 2**70], x[a::3], x[-(2**70) : a : 1]))
    for x in (ex.arange(5), ex.constant([[1, 2], [], [3]])):
        for a in (ex.tensor(2**63, dtype="u64"), ex.tensor(2**64 - 1, dtype="u64"), ex.tensor(2, dtype="u8"), ex.tensor(-(2**63))):
            n = int(a)
            wanted = [x[:n], x[n : 2**70], x[n::3], x[-(2**70) : n : 1]]
            assert [ex.to_py(part) for part in f(x, a)] == [ex.to_py(part) for part in wanted]
        for step in (2**63 - 1, -(2**63) + 1, 2**62 + 1):
            g = ex.function(lambda x, a, step=step: x[a::step])
            assert ex.to_py(g(x, ex.tensor(1))) == ex.to_py(x[1::step])


def test_several_axes_of_unknown_sizes() -> None:
    x = ex.reshape(ex.cast(ex.arange(24), "f64"), (2, 3, 4))
    for axes in ((0, 1), (1, 2), (0, 2), (2, 0), (0, 1, 2)):
        for keepdims in (False, True):
            f = ex.function(lambda x, axes=axes, keepdims=keepdims: ex.median(x, axis=axes, keepdims=keepdims), input_signature=[ex.TensorSpec([None] * 3, "f64")])
            assert f(x).tolist() == ex.median(x, axis=axes, keepdims=keepdims).tolist()
    for spec in ([None, 0, 4], [None, None, 0]):
        f = ex.function(lambda x: ex.quantile(x, [0.0, 1.0], axis=(1, 2)), input_signature=[ex.TensorSpec(spec, "f64")])
        empty = ex.zeros((2, spec[1] or 0, 4 if spec[1] == 0 else 0))
        assert str(f(empty).tolist()) == str(ex.quantile(empty, [0.0, 1.0], axis=(1, 2)).tolist())


def test_a_mask_of_one_element_beside_values_of_unknown_sizes() -> None:
    specs = [ex.TensorSpec([None], "i64"), ex.MaskedTensorSpec(ex.TensorSpec([None], "i64"))]
    f = ex.function(lambda x, y: x + y, input_signature=specs)
    assert ex.to_py(f(ex.tensor([5, 1, 2]), ex.constant([None, 3])[1:])) == [8, 4, 5]
    assert ex.to_py(f(ex.tensor([5]), ex.constant([None, 3]))) == [None, 8]
    assert ex.to_py(f(ex.tensor([5, 1]), ex.constant([None, 3]))) == [None, 4]


def test_rows_that_may_be_missing_inside_rows_that_were_cut_out() -> None:
    lists = pa.list_(pa.list_(pa.float64()))
    x, y = ex.from_arrow(pa.array([[], [[0.0], None]], lists)[:1]), ex.from_arrow(pa.array([[]], lists))
    z = ex.from_arrow(pa.array([[[9.0]], [[1.0, 2.0], None]], lists)[1:])
    assert ex.to_py(ex.function(lambda a, b: a + b)(x, y)) == ex.to_py(x + y) == [[]]
    assert ex.to_py(ex.function(lambda a: ex.var(a, axis=1))(z)) == ex.to_py(ex.var(z, axis=1))
    assert ex.to_py(ex.function(lambda a: a == a)(z)) == ex.to_py(z == z)


def _specs(x: object) -> list[str]:
    return [str(ex.spec_of(x)), str(ex.to_py(x))]


def test_lists_filled_up_are_in_a_trace_of_unknown_sizes_what_they_are_in_a_call() -> None:
    x = ex.reshape(ex.arange(12), (2, 3, 2))
    masked = ex.mask(x, [[True, False, True], [True, True, True]])
    rows = ex.constant([[1, 2, 3], []])
    cases = [
        (x, ex.TensorSpec([None] * 3, "i64")),
        (masked, ex.MaskedTensorSpec(values=ex.TensorSpec([None] * 3, "i64"), mask=ex.TensorSpec([None, None], "bool"))),
        (rows, ex.RaggedTensorSpec([None, None], "i64")),
    ]
    for given, spec in cases:
        for axis in range(ex.rank(given)):
            for target in (0, 2, 4):
                for clip in (False, True):
                    f = ex.function(lambda x, axis=axis, target=target, clip=clip: ex.pad_none(x, target, axis=axis, clip=clip), input_signature=[spec])
                    assert _specs(f(given)) == _specs(ex.pad_none(given, target, axis=axis, clip=clip))


def test_what_is_no_bound_of_a_slice() -> None:
    with pytest.raises(ex.ScopeError, match="the step of the slice is a symbol"):
        ex.function(lambda x, a: x[::a])(ex.arange(3), ex.tensor(1))
    with pytest.raises(ex.DTypeError, match="a bound of the slice is f64"):
        ex.function(lambda x, a: x[a:])(ex.arange(3), ex.tensor(1.0))
    with pytest.raises(ex.DTypeError, match=r"a bound of the slice is i64\[2\]"):
        ex.function(lambda x, a: x[a:])(ex.arange(3), ex.arange(2))
    with pytest.raises(ex.Error, match="the step is 0"):
        ex.function(lambda x, a: x[a::0])(ex.arange(3), ex.tensor(1))


def test_the_gradient_at_numbers_of_python() -> None:
    assert ex.grad(lambda x: x * x)(3.0).tolist() == 6.0
    value, grads = ex.value_and_grad(lambda p, x: ex.sum(p["w"] * x + p["b"]))({"w": 2.0, "b": 0.5}, ex.tensor([1.0, 2.0]))
    assert value.tolist() == 7.0 and {name: g.tolist() for name, g in grads.items()} == {"w": 3.0, "b": 2.0}


def test_the_gradient_at_data_in_a_traced_function() -> None:
    """What is computed of data alone is data while a function is traced; a gradient must not be zero for that."""
    two = ex.tensor(2.0)
    assert ex.function(lambda x: ex.grad(lambda y: y * y * x)(3.0))(two).tolist() == 12.0
    assert ex.function(lambda x: ex.grad(lambda y: y * y * y)(ex.tensor(3.0)) + 0.0 * x)(two).tolist() == 27.0
    assert ex.function(lambda x: ex.grad(ex.grad(lambda y: y * y * y * x))(ex.tensor(3.0)))(two).tolist() == 36.0
    rows = ex.constant([[1.0, 2.0], [3.0]])
    found = ex.function(lambda x: ex.grad(lambda r: ex.sum(r * r) * x)(rows))(two)
    assert ex.to_py(found) == [[4.0, 8.0], [12.0]]
    at = ex.tensor([1.0, 2.0])
    assert ex.function(lambda x: ex.grad(lambda y: ex.sum(y * at))(at) * x)(two).tolist() == [2.0, 4.0]


def test_the_argument_that_is_no_value_is_named() -> None:
    """An instance that cannot say when it is gone is told how a method of it is traced."""

    class Model:
        __slots__ = ()

        @ex.function
        def score(self, x: ex.Tensor) -> ex.Tensor:
            return x

    with pytest.raises(ex.DTypeError, match=r"(?s)argument 'self': .*type .*Model.*self.f = function"):
        Model().score(ex.tensor([1.0]))
    with pytest.raises(ex.DTypeError, match="argument 'y': found a value of type object"):
        ex.function(lambda x, y: x)(1.0, object())
    with pytest.raises(ex.DTypeError, match="(?s)mean.*asks the handlers"):
        ex.dispatch_for(ex.mean, ex.RaggedTensor)
    with pytest.raises(ex.DTypeError, match=r"constant\(\[1, None\]\)"):
        ex.sum([1, None])


def test_each_size_has_a_trace_where_retracing_is_not_reduced() -> None:
    @ex.function(reduce_retracing=False)
    def f(x: ex.Tensor) -> ex.Tensor:
        return x

    for n in (2, 3, 2, 4):
        f(ex.zeros([n]))
    assert [each.input_spec["x"].shape.dims for each in f.traces] == [(2,), (3,), (4,)]


def test_a_branch_on_a_size_takes_the_side_of_each_call() -> None:
    def scaled(x: ex.Tensor) -> ex.Tensor:
        return x * {2: 10.0, 3: 20.0}.get(x.shape[0] or 0, 1.0)

    sizes: "list[Callable[[Any], Any]]" = [
        lambda x: x if x.shape[0] == 2 else -x,
        lambda x: x if x.shape == (2,) else -x,
        lambda x: x if 2 in x.shape else -x,
        lambda x: x if tuple(x.shape) != (3,) else -x,
        lambda x: x if x.shape[0] else x + 1.0,
        lambda x: x * float(str(x.shape)[1]),
        scaled,
    ]
    for body in sizes:
        f = ex.function(body)
        for n in (2, 3, 2, 4, 1, 0, 2):
            x = ex.arange(n, dtype="f64")
            assert f(x).tolist() == body(x).tolist(), n
    rows = ex.function(lambda x: ex.num(x) if x.shape[0] == 2 else -ex.num(x))
    for value in ([[1], [2, 3]], [[1], [], []], [[1], [2, 3]]):
        x = ex.RaggedTensor.from_row_lengths(ex.tensor([v for row in value for v in row], dtype="i64"), [len(row) for row in value])
        sign = 1 if len(value) == 2 else -1
        assert rows(x).tolist() == [sign * len(row) for row in value]


def test_a_size_that_is_known_keeps_one_trace_for_all_others() -> None:
    f = ex.function(lambda x: ex.reshape(x, [-1, 1, x.shape[-1]]))
    for n in (2, 3, 5, 7):
        assert f(ex.ones((n, 3))).shape == (n, 1, 3)
    assert len(f.traces) <= 2
    signature = ex.function(lambda x: x if x.shape[0] is None else -x, input_signature=[ex.TensorSpec([None], "f64")])
    assert signature(ex.tensor([1.0])).tolist() == [1.0]


class Pair(ex.ExtensionType):
    """Two tensors of one shape."""

    first: ex.Tensor
    second: ex.Tensor

    def __validate__(self) -> None:
        if self.first.shape != self.second.shape:
            raise ValueError("the shapes differ")


def test_sizes_that_are_not_known_fit_each_other_where_they_are_one() -> None:
    same = ex.function(lambda x: x if (x * 2.0).shape == x.shape else -x)
    pairs = ex.function(lambda p: Pair(p.first + 1.0, p.second))
    for n in (2, 3, 4, 5):
        assert same(ex.ones(n)).tolist() == [1.0] * n
        assert pairs(Pair(ex.ones(n), ex.zeros(n))).first.tolist() == [2.0] * n
    assert len(same.traces) <= 2 and len(pairs.traces) <= 2


def test_vectors_of_a_cross_product_have_three_elements_whenever_that_is_seen() -> None:
    turned = ex.function(lambda x: ex.cross_product(x, ex.flip(x)))
    assert turned(ex.tensor([1.0, 2.0, 3.0])).tolist() == [-4.0, 8.0, -4.0]
    for size in (4, 2):
        with pytest.raises(ex.ShapeError, match=f"{size}"):
            turned(ex.ones(size))


def test_a_trace_of_unknown_sizes_refuses_what_a_call_refuses() -> None:
    class Pair(ex.BatchableExtensionType):
        __extenso_name__ = "tests.sizes/Pair"
        a: ex.Tensor
        b: ex.Tensor

    floats, truths = ex.TensorSpec([None], "f64"), ex.TensorSpec([None], "bool")
    codes, words = ex.TensorSpec([None], "i64"), ex.TensorSpec([None], "string")
    one, three, there = ex.tensor([1.0]), ex.tensor([1.0, 2.0, 3.0]), ex.tensor([True, True, False])
    two = ex.tensor(["x", "y"])
    refused: list[tuple[Any, list[Any], list[Any]]] = [
        (lambda x, y: ex.take(Pair(x, y), [0]).a, [floats] * 2, [one, three]),
        (lambda x, y: ex.take(Pair(x, y), [0]).b, [floats] * 2, [three, one]),
        (lambda x, m: ex.sum(ex.MaskedTensor(x, m)), [floats, truths], [one, there]),
        (lambda x, m: ex.sum(ex.mask(x, m)), [floats, truths], [three, there[:1]]),
        (lambda x, y: ex.zip({"a": x, "b": y})[0], [floats] * 2, [one, three]),
        (lambda x, y: ex.StructTensor([None], {"a": x, "b": y})["b"], [floats] * 2, [one, three]),
        (lambda c, w: ex.CategoricalTensor(c, w) == "y", [codes, words], [ex.tensor([0, -1]), two]),
        (lambda c, w: ex.CategoricalTensor(c, w)[:1], [codes, words], [ex.tensor([0, 2]), two]),
    ]
    for f, specs, args in refused:
        with pytest.raises(ex.Error):
            f(*args)
        with pytest.raises(ex.Error):
            ex.function(f, input_signature=specs)(*args)
    for f, specs in [(f, specs) for f, specs, _ in refused if specs == [floats] * 2]:
        assert ex.to_py(ex.function(f, input_signature=specs)(three, three)) == ex.to_py(f(three, three))
