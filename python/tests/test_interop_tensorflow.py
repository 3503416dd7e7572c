"""Tests of values as tensors of TensorFlow."""

from __future__ import annotations

from typing import Any

import extenso as ex
import numpy as np
import pytest

tf: Any = pytest.importorskip("tensorflow", reason="the tests of TensorFlow need tensorflow")


def test_tensors_are_tensors() -> None:
    for x in (ex.tensor(np.arange(6.0).reshape(2, 3)), ex.tensor([True]), ex.tensor([1, 2], "u16"), ex.tensor([1.5], "f16")):
        assert x.to_tensorflow().numpy().tolist() == x.tolist()
    assert ex.tensor(["a", "größe"]).to_tensorflow().numpy().tolist() == ["a".encode(), "größe".encode()]
    assert ex.tensor([], "string").to_tensorflow().dtype == tf.string
    assert ex.tensor(tf.constant([1, 2])).tolist() == [1, 2]
    assert ex.from_dlpack(tf.constant([1, 2])).tolist() == [1, 2]


def test_rows_are_ragged_tensors() -> None:
    for rows in ([[1, 2], [], [3]], [[[1.5]], [], [[2.5], []]]):
        made = ex.constant(rows).to_tensorflow()
        assert isinstance(made, tf.RaggedTensor) and made.to_list() == rows
    sparse = ex.constant([[1, 2], [], [3]]).to_tensorflow(layout="sparse")
    assert isinstance(sparse, tf.SparseTensor) and tf.sparse.to_dense(sparse).numpy().tolist() == [[1, 2], [0, 0], [3, 0]]
    assert isinstance(ex.tensor([[0, 1]]).to_tensorflow("sparse"), tf.SparseTensor)
    with pytest.raises(ValueError, match="Wanted: 'sparse'"):
        ex.tensor([1]).to_tensorflow("dense")


def test_records_are_structured_tensors() -> None:
    for records in ([{"a": 1.5, "b": [1]}, {"a": 2.5, "b": []}], [[{"a": 1}], []], {"a": 1, "n": {"b": [1, 2]}}):
        x = ex.constant(records)
        made = x.to_tensorflow()
        assert isinstance(made, tf.experimental.StructuredTensor) and made.to_pyval() == ex.to_py(x)
    made = ex.constant([{"a": None}, {"a": 3}]).to_tensorflow()
    assert made["a"]["values"].numpy().tolist() == [0, 3] and made["a"]["mask"].numpy().tolist() == [False, True]


def test_fields_that_tensorflow_has_no_name_for_are_a_dict() -> None:
    for name in ("_id", "é", "a b", "a\n", "1a", "größe"):
        records = ex.StructTensor([2], {name: ex.tensor([1, 2])})
        for x, wanted in ((records, [1, 2]), (ex.RaggedTensor.from_row_lengths(records, [2, 0]), [[1, 2], []])):
            made = x.to_tensorflow()
            assert isinstance(made, dict) and ex.to_py(ex.constant(made[name].numpy().tolist())) == wanted
    for name in ("a", "A1", "x9_", "class"):
        assert isinstance(ex.StructTensor([1], {name: ex.tensor([1])}).to_tensorflow(), tf.experimental.StructuredTensor)


def test_sparse_tensors_keep_the_sign_of_zero() -> None:
    numbers = [[0.0, -0.0, 1.5], [float("nan"), 0.0, float("-inf")]]
    for dtype in ("f16", "bf16", "f32", "f64"):
        made = ex.cast(ex.tensor(numbers), dtype).to_tensorflow("sparse")
        assert made.indices.numpy().tolist() == [[0, 1], [0, 2], [1, 0], [1, 2]] and made.dense_shape.numpy().tolist() == [2, 3]
        assert repr(tf.cast(made.values, tf.float64).numpy().tolist()) == "[-0.0, 1.5, nan, -inf]"
    assert ex.tensor([], "f64").to_tensorflow("sparse").dense_shape.numpy().tolist() == [0]
