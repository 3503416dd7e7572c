"""Tests of values as arrays of JAX."""

from __future__ import annotations

from typing import Any

import extenso as ex
import numpy as np
import pytest
from interop_values import address

jax: Any = pytest.importorskip("jax", reason="the tests of JAX need jax")


def test_dense_tensors_are_shared() -> None:
    # JAX copies memory that does not begin at a multiple of 64, which that of NumPy need not.
    memory = np.arange(80.0, dtype=np.float32)
    x = ex.tensor(memory[(-address(memory) % 64) // 4 :][:64].reshape(8, 8))
    array = x.to_jax()
    assert array.unsafe_buffer_pointer() == address(x) and array.tolist() == x.tolist()
    assert ex.from_dlpack(array).tolist() == x.tolist() and ex.tensor(array).tolist() == x.tolist()
    assert ex.tensor([True, False]).to_jax().tolist() == [True, False]


def test_rows_are_padded_to_sizes_that_do_not_vary() -> None:
    rows = ex.cast(ex.constant([[1.0, 2.0], [], [3.0]]), "f32")
    values, lengths = rows.to_jax()
    assert values.tolist() == [[1.0, 2.0], [0.0, 0.0], [3.0, 0.0]] and lengths.tolist() == [2, 0, 1]
    assert rows.to_jax(buckets=[8, 4]).values.shape == (3, 4)
    assert rows.to_jax(length=3, fill=-1.0).values.tolist()[1] == [-1.0] * 3
    assert jax.jit(lambda padded: padded.lengths.sum())(rows.to_jax(length=8)) == 3
    nested = ex.constant([[[1], []], [], [[2, 3]]]).to_jax(buckets=[2])
    assert nested.values.shape == (3, 2, 2)
    assert [lengths.tolist() for lengths in nested.lengths] == [[2, 0, 1], [[1, 0], [0, 0], [2, 0]]]
    with pytest.raises(ValueError, match="the longest row has 2 items"):
        rows.to_jax(buckets=[1])
    with pytest.raises(ValueError, match="one of the two"):
        rows.to_jax(length=1, buckets=[1])
    with pytest.raises(ValueError, match="none below 0"):
        rows.to_jax(length=-1)


def test_records_and_masked_values_are_dicts() -> None:
    given = ex.constant([{"a": 1.5, "b": [1], "m": None}, {"a": 2.5, "b": [], "m": 3}])
    made = given.with_updates({"a": ex.cast(given["a"], "f32")}).to_jax()
    assert made["a"].tolist() == [1.5, 2.5] and made["b"].lengths.tolist() == [1, 0]
    assert made["m"]["values"].tolist() == [0, 3] and made["m"]["mask"].tolist() == [False, True]
    assert ex.constant([[{"a": 1}, {"a": 2}], []]).to_jax()["a"].values.tolist() == [[1, 2], [0, 0]]


def test_floats_that_jax_makes_narrow_are_told_of() -> None:
    for value in (ex.tensor([0.1]), ex.constant([[0.1], []]), ex.constant([{"x": 0.1}])):
        with pytest.warns(UserWarning, match="float32 of f64.*jax_enable_x64") as told:
            value.to_jax()
        assert [warning.filename for warning in told] == [__file__]
    jax.config.update("jax_enable_x64", True)
    try:
        assert ex.tensor([0.1]).to_jax().dtype == "float64"
    finally:
        jax.config.update("jax_enable_x64", False)


def test_what_jax_would_lose_is_refused() -> None:
    with pytest.raises(ValueError, match="jax_enable_x64"):
        ex.tensor([2**40]).to_jax()
    assert ex.tensor([2**31 - 1, -(2**31)]).to_jax().tolist() == [2**31 - 1, -(2**31)]
    for value in (ex.tensor(["a"]), ex.constant([["a"], []])):
        with pytest.raises(TypeError, match="found a tensor of string"):
            value.to_jax()


def test_what_is_no_size_or_fill_is_refused_by_name() -> None:
    rows = ex.constant([[1], [2, 3]])
    for given in ({"length": "4"}, {"length": 2.0}, {"buckets": 8}, {"buckets": ["4"]}, {"fill": 1.5}, {"fill": "x"}):
        with pytest.raises(ex.DTypeError, match=f"^to_jax: argument '{next(iter(given))}'.*\nWanted: "):
            rows.to_jax(**given)
    assert rows.to_jax(length=np.int64(4)).values.shape == rows.to_jax(buckets=np.array([4, 8])).values.shape == (2, 4)
