"""Tests of times, categories, unions and other values that say what their numbers count, in other libraries."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import extenso as ex
import numpy as np
import pytest
from interop_values import address, same

PEERS = ["numpy", "pandas", "polars", "awkward"]


def times() -> "dict[str, Any]":
    points = ex.TimestampTensor(ex.tensor([0, -1, 951782400]), "s")
    return {
        "points": points,
        "points of ns": ex.TimestampTensor(ex.tensor([0, 1]), "ns"),
        "durations": ex.DurationTensor(ex.tensor([1, -5]), "us"),
        "days": ex.DateTensor(ex.tensor([0, 19782], "i32"), "d"),
        "missing points": ex.MaskedTensor(points, ex.tensor([True, False, True])),
    }


@pytest.mark.parametrize("peer", ["numpy", "awkward"])
@pytest.mark.parametrize("name", times())
def test_times_and_back_are_the_value(name: str, peer: str) -> None:
    pytest.importorskip(peer, reason=f"this test needs {peer}")
    x = times()[name]
    same(getattr(ex, f"from_{peer}")(getattr(x, f"to_{peer}")()), x)


@pytest.mark.parametrize("peer", PEERS)
def test_times_in_rows_and_records_keep_their_meaning(peer: str) -> None:
    pytest.importorskip(peer, reason=f"this test needs {peer}")
    days = ex.DateTensor(ex.tensor([0, 1, 2], "i32"), "d")
    rows = ex.RaggedTensor.from_row_splits(days, [0, 2, 2, 3])
    records = ex.StructTensor([3], {"day": days, "all": rows, "at": ex.TimestampTensor(ex.tensor([1, 2, 3]), "us")})
    for x in (rows, records):
        assert ex.to_py(getattr(ex, f"from_{peer}")(getattr(x, f"to_{peer}")())) == ex.to_py(x)


@pytest.mark.parametrize(
    ("array", "expect"),
    [
        (np.array(["2020-01-02", "NaT"], "M8[D]"), ["2020-01-02", None]),
        (np.array(["2020-01", "1969-12"], "M8[M]"), ["2020-01-01", "1969-12-01"]),
        (np.array(["2020-01-01T05"], "M8[h]"), ["2020-01-01T05:00:00"]),
        (np.array(["2020-01-01T00:00:01.5"], ">M8[ms]"), ["2020-01-01T00:00:01.500"]),
        (np.array([50], "M8[25s]"), ["1970-01-01T00:20:50"]),
        (np.array([1, 2], "m8[W]"), ["604800s", "1209600s"]),
        (np.array("2020-01-01", "M8[s]"), "2020-01-01T00:00:00"),
        (np.array([], "m8[ns]"), []),
    ],
)
def test_every_unit_of_numpy_is_a_time(array: Any, expect: Any) -> None:
    assert ex.to_py(ex.from_numpy(array)) == expect


def test_what_does_not_fit_is_refused() -> None:
    for array, text in (
        (np.array([2**40], "M8[D]"), "beyond 32 bits of days"),
        (np.array([1], "m8[Y]"), "steps of 1 Y"),
        (np.array([1], "M8[ps]"), "steps of 1 ps"),
        (np.array([1], "m8"), "without a unit"),
        (np.array([2**62], "M8[h]"), "64 bits of s do not hold"),
    ):
        with pytest.raises(ex.Error, match=text):
            ex.from_numpy(array)


LEAST = -(2**63)
HIDDEN = ex.tensor([True, False])


@pytest.mark.parametrize("peer", ["numpy", "pandas", "awkward"])
def test_a_time_that_is_there_never_becomes_a_missing_one(peer: str) -> None:
    pytest.importorskip(peer, reason=f"this test needs {peer}")
    there = [ex.TimestampTensor([0, LEAST], "ns"), ex.DurationTensor([LEAST, 0], "s")]
    for x in (*there, ex.StructTensor([2], {"x": there[0]}), ex.MaskedTensor(there[1], HIDDEN)):
        with pytest.raises(ex.InvalidValueError, match=f"^to_{peer}: found a time whose count is {LEAST}"):
            getattr(x, f"to_{peer}")()


@pytest.mark.parametrize("peer", PEERS)
def test_what_lies_under_a_missing_time_is_not_looked_at(peer: str) -> None:
    pytest.importorskip(peer, reason=f"this test needs {peer}")
    hidden = ex.TimestampTensor([0, LEAST], "us")
    records = ex.StructTensor([2], {"at": hidden})
    rows = ex.RaggedTensor.from_row_lengths(hidden, [1, 1])
    inside = ex.StructTensor([2], {"at": ex.MaskedTensor(hidden, HIDDEN)})
    for x in (*(ex.MaskedTensor(values, HIDDEN) for values in (hidden, records, rows)), inside, rows[:1]):
        back = ex.to_py(getattr(ex, f"from_{peer}")(getattr(x, f"to_{peer}")()))
        # A record that is missing is one of missing fields in some.
        assert back in (ex.to_py(x), [{"at": "1970-01-01T00:00:00"}, {"at": None}])


@pytest.mark.parametrize("peer", ["numpy", "polars"])
def test_a_time_beyond_the_day_is_none_of_another(peer: str) -> None:
    pytest.importorskip(peer, reason=f"this test needs {peer}")
    for unit, day in (("s", 86_400), ("ms", 86_400_000), ("us", 86_400_000_000), ("ns", 86_400_000_000_000)):
        counts = ex.tensor([0, day], "i32" if unit in ("s", "ms") else "i64")
        times = ex.TimeTensor(counts, unit)
        for x in (times, ex.TimeTensor(counts - 1, unit), ex.StructTensor([2], {"x": times}), ex.CategoricalTensor([1], times)):
            with pytest.raises(ex.InvalidValueError, match=f"^to_{peer}: found a time of day that is not within the 24 hours"):
                getattr(x, f"to_{peer}")()
        last = ex.TimeTensor(counts[1:] - (1000 if unit == "ns" else 1), unit)
        for x, begin in ((ex.mask(times, [True, False])[:1], "00:00:00"), (last, "23:59:59")):
            assert ex.to_py(getattr(ex, f"from_{peer}")(getattr(x, f"to_{peer}")()))[0].startswith(begin)


def test_a_part_of_a_microsecond_that_is_missing_is_not_looked_at() -> None:
    times = ex.TimeTensor([1, 1000], "ns")
    micro = datetime.time(0, 0, 0, 1)
    assert ex.mask(times, [False, True]).to_numpy().tolist() == [None, micro]
    assert ex.mask(ex.StructTensor([2], {"x": times}), [False, True]).to_numpy()["x"].tolist() == [None, micro]
    assert ex.mask(times, [False, True])[0].to_numpy().tolist() is None
    with pytest.raises(ex.InvalidValueError, match="^to_numpy: found a time of day between two microseconds"):
        ex.mask(times, [True, False]).to_numpy()


def test_times_share_their_memory() -> None:
    array = np.array(["2020-01-01"], "M8[us]")
    points = ex.from_numpy(array)
    assert points.unit == "us" and address(points.values) == address(array) == address(points.to_numpy())
    days = ex.DateTensor(ex.tensor([86_400_000, -1], "i64"), "ms").to_numpy()
    assert days.dtype == "M8[D]" and days.tolist() == [datetime.date(1970, 1, 2), datetime.date(1969, 12, 31)]


def test_bytes_of_one_width_stay_so() -> None:
    array = np.array([b"ab\0\0", b"cdef"], "V4")
    cells = ex.from_numpy(array)
    assert isinstance(cells, ex.FixedBytesTensor) and cells.to_py() == [b"ab\0\0", b"cdef"]
    assert cells.to_numpy().tobytes() == array.tobytes() and cells.to_numpy().dtype == array.dtype
    assert address(cells.cells) == address(array)


def test_categories_are_those_of_the_library() -> None:
    x = ex.CategoricalTensor([1, 0, 1], ["a", "b"])
    assert x.to_numpy().tolist() == ["b", "a", "b"]
    for peer in ("pandas", "polars", "awkward"):
        pytest.importorskip(peer, reason=f"this test needs {peer}")
        back = getattr(ex, f"from_{peer}")(getattr(x, f"to_{peer}")())
        assert isinstance(back, ex.CategoricalTensor) and back.to_py() == x.to_py(), peer
        masked = ex.MaskedTensor(x, ex.tensor([True, False, True]))
        assert ex.to_py(getattr(ex, f"from_{peer}")(getattr(masked, f"to_{peer}")())) == ["b", None, "b"], peer


def test_columns_of_pandas_have_its_own_times_and_categories() -> None:
    pd: Any = pytest.importorskip("pandas", reason="this test needs pandas")
    frame = pd.DataFrame(
        {
            "at": pd.to_datetime(["2020-01-01T01:02:03", None]),
            "zoned": pd.to_datetime(["2020-01-01", "2020-06-01"]).tz_localize("Europe/Berlin"),
            "for": pd.to_timedelta(["1s", "2s"]),
            "kind": pd.Categorical(["x", None], categories=["y", "x"]),
            "day": [datetime.date(2020, 1, 1), None],
            "price": [decimal.Decimal("1.10"), decimal.Decimal("-2.00")],
            "nothing": [None, None],
        }
    )
    records = ex.from_pandas(frame)
    assert records["zoned"].zone == "Europe/Berlin" and records["at"].to_py() == ["2020-01-01T01:02:03", None]
    assert records["kind"].to_py() == ["x", None] and records["price"].to_py() == ["1.10", "-2.00"]
    back = records.to_pandas()
    for name in ("at", "zoned", "for"):
        pd.testing.assert_series_equal(back[name], frame[name])
    assert back["kind"].tolist()[0] == "x" and back["kind"].dtype.categories.tolist() == ["y", "x"]


def test_unions_of_awkward_are_unions() -> None:
    ak: Any = pytest.importorskip("awkward", reason="this test needs awkward")
    for array in (ak.Array([1, "a", 2]), ak.Array([1, [2.5, 3.5], []]), ak.Array([[1, "a"], []])):
        union = ex.from_awkward(array)
        assert ex.to_py(union) == array.to_list()
        assert union.to_awkward().to_list() == array.to_list()
    assert ex.from_awkward(ak.Array([1, "a"])).to_numpy().tolist() == [1, "a"]


def test_libraries_of_tensors_see_what_is_counted() -> None:
    from extenso._interop.peers import parts_of

    def dense(x: Any) -> Any:
        return x.tolist()

    def rows(x: Any) -> Any:
        return x.to_py()

    for x in times().values():
        values = x if not isinstance(x, ex.MaskedTensor) else x.values
        made = parts_of(x, "test", dense, rows)
        assert (made["values"] if isinstance(x, ex.MaskedTensor) else made) == values.values.tolist()
    assert parts_of(ex.CategoricalTensor([1, 0], ["a", "b"]), "test", dense, rows) == [1, 0]
    in_rows = ex.RaggedTensor.from_row_splits(ex.DurationTensor([1, 2], "s"), [0, 2, 2])
    assert parts_of(in_rows, "test", dense, rows) == [[1, 2], []]


def test_what_numpy_has_no_dtype_of_is_objects() -> None:
    pa: Any = pytest.importorskip("pyarrow", reason="this test needs pyarrow")
    for items in (
        [decimal.Decimal("1.10"), None],
        [datetime.time(1, 2, 3), datetime.time(0)],
        [pa.MonthDayNano([1, -2, 3]), None],
        [datetime.date(2020, 1, 2), None],
    ):
        x = ex.from_arrow(pa.array(items))
        back = ex.from_numpy(x.to_numpy())
        assert ex.to_py(back) == ex.to_py(x)
        assert ex.to_py(ex.from_numpy(np.array([*items, None], dtype=object)[:2])) == ex.to_py(x)
    with pytest.raises(TypeError, match="found objects of Decimal, date"):
        ex.from_numpy(np.array([decimal.Decimal(1), datetime.date(2020, 1, 1)], dtype=object))


INTERVALS = {
    "month": (np.array([1, -14], "<i4"), [(1, 0, 0), (-14, 0, 0)]),
    "day_time": (np.array([[1, 2], [-3, -(2**31)]], "<i4"), [(0, 1, 2_000_000), (0, -3, -(2**31) * 1_000_000)]),
}


@pytest.mark.parametrize("unit", INTERVALS)
def test_every_interval_has_objects(unit: str) -> None:
    pa: Any = pytest.importorskip("pyarrow", reason="this test needs pyarrow")
    parts, wanted = INTERVALS[unit]
    x = ex.IntervalTensor(ex.tensor(parts.view(np.uint8).reshape(2, -1)), unit)
    objects = [pa.MonthDayNano(list(parts)) for parts in wanted]
    assert x.to_numpy().tolist() == objects and x[:0].to_numpy().shape == (0,)
    matrix = ex.reshape(x, (2, 1)).to_numpy()
    assert matrix.tolist() == [[one] for one in objects]
    assert ex.to_py(ex.from_numpy(matrix)) == [[text] for text in ex.from_arrow(pa.array(objects)).to_py()]
    missing = ex.MaskedTensor(x, ex.tensor([True, False]))
    assert missing.to_numpy().tolist() == [objects[0], None]
    pytest.importorskip("pandas", reason="this test needs pandas")
    first, second = ex.from_arrow(pa.array(objects)).to_py()
    for value, texts in (
        (x, [first, second]),
        (missing, [first, None]),
        (ex.RaggedTensor.from_row_lengths(x, [0, 2]), [[], [first, second]]),
        (ex.StructTensor([2], {"x": x}), [{"x": first}, {"x": second}]),
        (ex.reshape(x, (2, 1)), [[first], [second]]),
    ):
        assert ex.to_py(ex.from_pandas(value.to_pandas())) == texts


def test_types_that_a_library_lacks_are_refused() -> None:
    pa: Any = pytest.importorskip("pyarrow", reason="this test needs pyarrow")
    interval = ex.from_arrow(pa.array([pa.MonthDayNano([1, -2, 3])]))
    price = ex.from_arrow(pa.array([decimal.Decimal("1.10")]))
    if_there = {"polars": [interval], "awkward": [interval, price]}
    for peer, values in if_there.items():
        pytest.importorskip(peer, reason=f"this test needs {peer}")
        for x in values:
            for nested in (x, ex.StructTensor([1], {"x": x}), ex.RaggedTensor.from_row_splits(x, [0, 1])):
                with pytest.raises(TypeError, match=f"to_{peer}: found a value of type"):
                    getattr(nested, f"to_{peer}")()


def test_objects_of_several_axes_keep_them() -> None:
    pa = pytest.importorskip("pyarrow")
    one, clock = decimal.Decimal("1.00"), datetime.time(1)
    for item, kind in ((one, pa.decimal128(5, 2)), (clock, pa.time64("us"))):
        found = ex.from_arrow(pa.array([[item, None], [None, item]], pa.list_(kind, 2))).to_numpy()
        assert found.tolist() == [[item, None], [None, item]]
        whole = ex.from_arrow(pa.array([[item, item]], pa.list_(kind, 2)))
        assert whole.to_numpy().tolist() == [[item, item]]
        assert ex.reshape(whole, (2,))[0].to_numpy().item() == item
        assert ex.from_arrow(pa.array([], pa.list_(pa.struct([("t", kind)]), 2))).to_numpy().shape == (0, 2)
    span = pa.scalar((1, 2, 3), pa.month_day_nano_interval())
    spans = ex.from_arrow(pa.FixedSizeListArray.from_arrays(pa.array([span, span, span, span]), 2)).to_numpy()
    assert spans.shape == (2, 2)
    assert spans[1, 1] == span.as_py()


def test_records_of_which_some_axes_may_be_missing_are_lists_of_arrow() -> None:
    pa = pytest.importorskip("pyarrow")
    record = pa.struct([("a", pa.int64())])
    for rows, kind in (
        ([[[{"a": 1}, {"a": 2}]], [None]], pa.list_(pa.list_(record, 2), 1)),
        ([[{"a": 1}, None], [None, {"a": 2}]], pa.list_(record, 2)),
        ([[[{"a": 1}], [{"a": 2}]], None], pa.list_(pa.list_(record, 1), 2)),
    ):
        value = ex.from_arrow(pa.array(rows, kind))
        frame = pytest.importorskip("pandas").DataFrame({"x": value.to_pandas()})
        assert pa.array(frame["x"]).to_pylist() == rows
        assert value.to_polars().to_list() == rows
