"""Arrays and values inside dicts and lists keep their dtype; a field shares the memory of its array."""

from __future__ import annotations

from typing import Any

import extenso as ex
import pytest

np: Any = pytest.importorskip("numpy", reason="NumPy is not installed, so that there are no arrays")


def test_an_array_in_a_field_keeps_dtype_and_memory() -> None:
    array = np.array([1.5, 2.5], dtype=np.float32)
    x = ex.constant({"a": array, "b": {"c": array}, "n": 1})
    assert x["a"].dtype == x["b", "c"].dtype == ex.f32
    assert np.shares_memory(np.asarray(x["a"]), array)
    assert np.shares_memory(np.asarray(x["b", "c"]), array)
    assert x.to_py() == {"a": [1.5, 2.5], "b": {"c": [1.5, 2.5]}, "n": 1}


def test_values_in_a_field_are_shared() -> None:
    rows, masked = ex.constant([[1], [2, 3]]), ex.constant([1, None])
    x = ex.constant({"rows": rows, "masked": masked, "t": ex.tensor([1, 2], dtype="u8")})
    assert x["t"].dtype == ex.u8
    assert x.to_py() == {"rows": [[1], [2, 3]], "masked": [1, None], "t": [1, 2]}


def test_arrays_in_lists_are_joined() -> None:
    def small(*items: int) -> Any:
        return np.array(items, dtype=np.int16)

    assert ex.constant([small(1, 2), small(3, 4)]).spec == ex.TensorSpec([2, 2], "i16")
    rows = ex.constant([small(1, 2), small(), small(3)])
    assert rows.to_py() == [[1, 2], [], [3]] and rows.values.dtype == ex.i16
    records = ex.constant([{"a": small(1)}, {"a": small(2, 3)}, {"a": None}])
    assert records.to_py() == [{"a": [1]}, {"a": [2, 3]}, {"a": None}]
    assert records["a"].values.values.dtype == ex.i16
    assert ex.constant([small(1, 2), [3, 4]]).to_py() == [[1, 2], [3, 4]]
    assert ex.constant([small(1), np.array([0.5])]).to_py() == [[1.0], [0.5]]
    assert ex.constant([np.float32(1.5), np.float32(2.5)]).dtype == ex.f32
    with pytest.raises(ex.Error, match=r"\[1\]"):
        ex.constant([small(1), "x"])


def test_a_spec_says_the_dtypes() -> None:
    spec = ex.StructTensorSpec([], {"a": ex.TensorSpec([2], "f64")})
    x = ex.constant({"a": np.array([1, 2], dtype=np.float32)}, spec)
    assert x["a"].dtype == ex.f64
