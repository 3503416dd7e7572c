"""Tests of frames and series of polars as values, and back."""

from __future__ import annotations

import sys
from typing import Any

import extenso as ex
import pytest
from interop_values import address, values

pl: Any = pytest.importorskip("polars", reason="the tests of polars need polars")
VALUES = values()


@pytest.mark.parametrize("name", VALUES)
def test_a_frame_and_back_is_the_value(name: str) -> None:
    x = VALUES[name]
    made = x.to_polars()
    assert isinstance(made, pl.DataFrame if isinstance(x, ex.StructTensor) else pl.Series)
    back = ex.from_polars(made)
    assert repr(ex.to_py(back)) == repr(ex.to_py(x))
    assert ex.spec_of(back).is_compatible_with(ex.spec_of(x)) or "32" in name or "no " in name


def test_frames_are_records() -> None:
    frame = pl.DataFrame({"id": [1, 2], "tags": [["a"], None], "at": [{"x": 1.5}, {"x": None}]})
    records = ex.from_polars(frame)
    assert records.to_py() == frame.to_dicts()
    assert records["id"].dtype is ex.i64
    assert ex.from_polars(frame[:0]).to_py() == []
    assert ex.from_polars(pl.DataFrame()).to_py() == []
    chunks = pl.concat([pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [2]})], rechunk=False)
    assert ex.from_polars(chunks).to_py() == [{"a": 1}, {"a": 2}]
    matrix = pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int8, 2))
    assert ex.from_polars(matrix).shape == (2, 2)


def test_nothing_has_a_type_and_objects_have_none() -> None:
    for items in ([None, None], [[None], []], [{"a": None}, {"a": None}], []):
        series = pl.Series(items)
        assert ex.to_py(ex.from_polars(series)) == series.to_list()
        assert ex.to_py(ex.from_polars(series.to_frame("x"))["x"]) == series.to_list()
    for dtype, item in ((pl.Object, object()), (pl.Int128, 1)):
        with pytest.raises(TypeError, match="a type that Arrow has"):
            ex.from_polars(pl.DataFrame({"x": pl.Series([item], dtype=dtype)}))


def test_records_with_more_axes_are_lists() -> None:
    pytest.importorskip("pandas", reason="this test needs pandas")
    records = ex.constant([{"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 3}, {"b": 4}]}])
    assert records["a"].rank == 2
    assert records.to_polars().to_dicts() == records.to_py() == ex.from_pandas(records.to_pandas()).to_py()
    assert records["a"].to_polars().to_list() == records["a"].to_pandas().tolist() == records["a"].to_py()
    assert ex.constant([[{"a": [{"b": 1}]}], []]).to_polars().to_list() == [[{"a": [{"b": 1}]}], []]


def test_numbers_are_shared() -> None:
    series = pl.Series([1.0, 2.0, 3.0])
    assert address(ex.from_polars(series)) == address(series.to_numpy())
    x = ex.tensor([1.0, 2.0])
    assert address(x.to_polars().to_numpy()) == address(x)


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Call `collect\(\)` first"):
        ex.from_polars(pl.LazyFrame({"a": [1]}))
    with pytest.raises(TypeError, match="found a value of type list"):
        ex.from_polars([1])
    with pytest.raises(ex.ShapeError, match="expand_dims"):
        ex.tensor(1).to_polars()


def test_pyarrow_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    records = ex.from_polars(pl.DataFrame({"id": [1, 2], "name": ["a", None], "tags": [["x"], []]}))
    assert ex.from_polars(records.to_polars()) == records


def test_records_on_a_dense_axis_that_may_be_missing() -> None:
    pa = pytest.importorskip("pyarrow")
    records = pa.array([[{"a": 1}, None], [None, {"a": 2}]], pa.list_(pa.struct([("a", pa.int64())]), 2))
    frame = ex.from_arrow(records).to_polars()
    assert frame.to_list() == records.to_pylist()
    assert ex.from_arrow(records).to_pandas().tolist()[0][1] is None


def test_categories_in_an_order_are_an_enum() -> None:
    words = pl.Enum(["b", "a", "z"])
    for series in (
        pl.Series("c", ["a", None, "b"], dtype=words),
        pl.Series("c", [["a", "b"], [], [None]], dtype=pl.List(words)),
        pl.Series("c", [{"x": "a"}, {"x": "z"}], dtype=pl.Struct({"x": words})),
    ):
        value = ex.from_polars(series)
        back = value.to_polars()
        series = series.struct.unnest() if isinstance(back, pl.DataFrame) else series
        assert back.to_series().dtype == words if isinstance(back, pl.DataFrame) else back.dtype == series.dtype
        assert ex.from_polars(back).to_py() == value.to_py()
        assert back.equals(series.rename(back.name)) if isinstance(back, pl.Series) else back.equals(series)


def test_seconds_that_no_milliseconds_hold_are_refused() -> None:
    most = 2**63 // 1000
    for made in (ex.TimestampTensor, ex.DurationTensor):
        same = made([most, -most], "s").to_polars().cast(pl.Int64).to_list()
        assert same == [1000 * most, -1000 * most]
        for x in (made([0, most + 1], "s"), made([0, -most - 1], "s")):
            with pytest.raises(ex.InvalidValueError, match="^to_polars: found a time that 64 bits of ms do not hold"):
                x.to_polars()
            assert ex.MaskedTensor(x, ex.tensor([True, False])).to_polars().to_list()[1] is None


def test_categories_in_an_order_stay_so_in_arrays() -> None:
    series = pl.Series([["a"], ["b"]], dtype=pl.Array(pl.Enum(["b", "a"]), 1))
    again = ex.from_polars(series).to_polars()
    assert again.dtype == series.dtype and again.to_list() == series.to_list()


def test_lists_of_one_size_that_may_be_missing_are_sliced() -> None:
    rows = ex.mask(ex.constant([[1], [2], [3]]), [True, False, True])
    assert rows[1:].to_polars().to_list() == [None, [3]]
    records = ex.StructTensor([3], {"a": rows, "b": [4, 5, 6]})
    assert records[1:].to_polars().to_dicts() == [{"a": None, "b": 5}, {"a": [3], "b": 6}]


def test_sliced_lists_of_one_size_in_which_and_of_which_some_are_missing_are_arrays() -> None:
    pa = pytest.importorskip("pyarrow")
    lists = pa.array([None, [1, 1], None, [1, None]], pa.list_(pa.int32(), 2))
    assert ex.from_arrow(lists.slice(1)).to_polars().to_list() == [[1, 1], None, [1, None]]
    assert ex.from_arrow(pa.table({"x": lists}).slice(1)).to_polars()["x"].to_list() == [[1, 1], None, [1, None]]


def test_what_polars_refuses_is_an_error_of_the_conversion() -> None:
    with pytest.raises(ex.DTypeError, match="to_polars: polars refuses this value"):
        ex.TimestampTensor([0], "ms", "+05:30").to_polars()


VECTORS: "dict[str, Any]" = {
    "numbers": ex.tensor([[0, 1], [2, 3], [4, 5], [6, 7]] * 4),
    "text": ex.tensor([["a", "b"], ["c", ""], ["", "d"], ["e", "f"]] * 4),
    "times": ex.TimestampTensor(ex.tensor([[0, 1], [2, 3], [4, 5], [6, 7]] * 4), "us"),
    "categories": ex.CategoricalTensor(ex.tensor([[0, 1], [1, 0]] * 8), ["a", "b"]),
    "records": ex.StructTensor([16, 2], {"a": ex.tensor([[0, 1], [2, 3]] * 8)}),
}


@pytest.mark.parametrize("name", VECTORS)
def test_sliced_rows_and_records_of_vectors_that_may_be_missing(name: str) -> None:
    mask = [True, False, True, True] * 4
    vectors = ex.mask(VECTORS[name], mask)
    rows, records = ex.RaggedTensor.from_row_lengths(vectors, [1] * 16), ex.StructTensor([16], {"v": vectors})
    for x in (rows, ex.mask(rows, mask), records, ex.mask(records, [True] * 16), ex.RaggedTensor.from_row_lengths(records, [1] * 16)):
        for part in (x[1:], x[3:6]):
            assert ex.to_py(ex.from_polars(part.to_polars())) == part.to_py()


def test_categories_in_an_order_of_which_one_is_missing_are_no_enum() -> None:
    words = ex.CategoricalTensor([0, 1, 2], ex.constant(["b", None, "a"]), ordered=True)
    assert words.to_polars().dtype == pl.Categorical and words.to_polars().to_list() == ["b", None, "a"]
