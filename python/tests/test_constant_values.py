"""Arrays and values inside dicts and lists keep their dtype; a field shares the memory of its array."""

from __future__ import annotations

import datetime as dt
import decimal
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


def test_a_spec_of_times_takes_objects_and_texts() -> None:
    moment, day, hour = dt.datetime(2020, 1, 5, 3), dt.date(2020, 1, 5), dt.timedelta(hours=1)
    amount = decimal.Decimal("1.5")
    for item in (moment, day, hour, amount, dt.time(3, 4)):
        like = ex.constant([[item], [item, item], []])
        wanted = ex.constant([[item], [], [item, item]])
        given: Any = [[item], [], [item, item]]
        found = ex.constant(given, like.spec)
        assert found.spec == wanted.spec and found.to_py() == wanted.to_py()
        assert ex.constant(wanted.to_py(), like.spec).to_py() == wanted.to_py()
        masked = ex.constant([item, None])
        assert ex.constant([None, item], masked.spec).to_py() == [None, ex.constant([item]).to_py()[0]]
        record = ex.constant([{"a": item}])
        assert ex.constant([{"a": item}], record.spec).to_py() == record.to_py()
    milliseconds = ex.TimestampTensor(ex.constant([0]), "ms").spec
    assert ex.constant([moment], milliseconds).to_py() == ["2020-01-05T03:00:00"]
    with pytest.raises(ValueError, match=r"constant: \[0\]: found '2020-01-05T03:00:00.000001'"):
        ex.constant([moment + dt.timedelta(microseconds=1)], milliseconds)
    with pytest.raises(ValueError, match=r"constant: \[0\]: found an integer"):
        ex.constant([3], milliseconds)
    whole = ex.DecimalTensor.parse(["1"], 10, 2).spec
    assert ex.constant([3], whole).to_py() == ["3.00"]
    with pytest.raises(ex.Error, match="missing"):
        ex.constant([None], milliseconds)


def test_errors_name_what_was_called() -> None:
    months = np.array([1], dtype="m8[M]")
    with pytest.raises(ex.Error, match=r"^constant: found an array of timedelta64\[M\]"):
        ex.constant(months)
    with pytest.raises(ex.Error, match=r"^constant: .*a.*: found an array"):
        ex.constant({"a": months})
    with pytest.raises(ex.Error, match=r"^add: found an array of timedelta64\[M\]"):
        ex.add(ex.DurationTensor(ex.constant([1]), "s"), months)
    with pytest.raises(ex.Error, match=r"^from_numpy: found an array of timedelta64\[M\]"):
        ex.from_numpy(months)
    with pytest.raises(ex.Error, match=r"^constant: \[1\]: found 1E\+80"):
        ex.constant([decimal.Decimal(1), decimal.Decimal("1e80")])


def test_rows_of_one_length_have_it_as_the_spec_says() -> None:
    spec = ex.RaggedTensorSpec([None, 2, None], "i64")
    x = ex.constant([[[1], [2]], [[3], []]], spec)
    assert x.shape == (2, 2, None) and x.spec.is_subtype_of(spec) and x.to_py() == [[[1], [2]], [[3], []]]
    assert ex.function(lambda x: ex.sum(x, axis=2), input_signature=[spec])(x).to_py() == [[1, 2], [3, 0]]
    for given, path, size in (([[[1], [2]], [[3]]], r"\[1\]", 1), ([[[1], [2], [3]]], r"\[0\]", 3), ([[]], r"\[0\]", 0)):
        with pytest.raises(ex.ShapeError, match=f"constant: {path}: the list has {size} items.\nWanted: 2, as the spec"):
            ex.constant(given, spec)
    with pytest.raises(ex.ShapeError, match=r"\[0\]\[1\]: the list has 1 items.\nWanted: 3"):
        ex.constant([[[1, 2, 3], [4]], []], ex.RaggedTensorSpec([None, None, 3], "i64"))
    optional = ex.MaskedTensorSpec(spec)
    assert ex.constant([[[1], [2]], None], optional).to_py() == [[[1], [2]], None]
    with pytest.raises(ex.ShapeError, match="Wanted: 2"):
        ex.constant([[[1]], None], optional)
