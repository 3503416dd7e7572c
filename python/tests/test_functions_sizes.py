"""Tests of traced functions that are called with values of several sizes."""

from __future__ import annotations

import extenso as ex
import pytest


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
