"""Tests of frames and series of pandas as values, and back."""

from __future__ import annotations

import datetime
from typing import Any

import extenso as ex
import numpy as np
import pytest
from interop_values import address, same, values

pd: Any = pytest.importorskip("pandas", reason="the tests of pandas need pandas")
VALUES = values()


@pytest.mark.parametrize("name", VALUES)
def test_a_frame_and_back_is_the_value(name: str) -> None:
    x = VALUES[name]
    made = x.to_pandas()
    assert isinstance(made, pd.DataFrame if isinstance(x, ex.StructTensor) else pd.Series)
    back = ex.from_pandas(made)
    assert repr(ex.to_py(back)) == repr(ex.to_py(x))
    # Text of pandas and columns of Arrow do not say that nothing is missing where nothing is.
    assert ex.spec_of(back).is_compatible_with(ex.spec_of(x)) or "32" in name or "no " in name


def test_levels_of_the_index_are_fields() -> None:
    frame = pd.DataFrame({"n": [1, 2]})
    assert ex.from_pandas(frame).to_py() == [{"n": 1}, {"n": 2}]
    assert ex.from_pandas(frame[1:]).to_py() == [{"index": 1, "n": 2}]
    assert ex.from_pandas(frame[:1]).to_py() == [{"n": 1}]
    named = frame.set_index(pd.Index(["a", "b"], name="id"))
    assert ex.from_pandas(named).to_py() == [{"id": "a", "n": 1}, {"id": "b", "n": 2}]
    assert ex.from_pandas(frame.set_index(pd.Index([7, 9]))).to_py() == [{"index": 7, "n": 1}, {"index": 9, "n": 2}]
    many = frame.set_index(pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["k", None]))
    assert ex.from_pandas(many).to_py() == [{"k": "a", "level_1": 1, "n": 1}, {"k": "b", "level_1": 2, "n": 2}]


INDEXES: dict[str, Any] = {
    "default": pd.RangeIndex(3),
    "named": pd.Index([7, 8, 9], name="id"),
    "named range": pd.RangeIndex(3, name="id"),
    "floats": pd.Index([0.5, float("nan"), 1.5], name="at"),
    "nullable": pd.Index(pd.array([1, None, 3], dtype="Int16"), name="id"),
    "text": pd.Index(["x", "y", "z"], dtype="string", name="key"),
    "times": pd.DatetimeIndex(["2001-01-01", "2001-01-03", "2001-02-01"], name="when"),
    "zoned": pd.DatetimeIndex(["2001-01-01", "2001-01-03", "2001-02-01"], tz="UTC", name="when"),
    "categories": pd.CategoricalIndex(["a", "b", "a"], name="kind"),
    "two": pd.MultiIndex.from_arrays([[1, 1, 2], [0.5, 1.5, 0.5]], names=["outer", "inner"]),
    "three": pd.MultiIndex.from_product([[1], [True], pd.Index(["x", "y", "z"], dtype="string")], names=["a", "b", "c"]),
    "inside": pd.MultiIndex.from_arrays([[1, 2, 3], [4, 5, 6]], names=[("k", "a"), ("k", "b")]),
    "of several names": pd.Index([1, 2, 3], name=("n", "id")),
}
COLUMNS: dict[str, Any] = {
    "names": ["u", "v"],
    "levels": pd.MultiIndex.from_tuples([("u", "x"), ("u", "y")]),
    "of several depths": pd.MultiIndex.from_tuples([("u", "x", "p"), ("v", "", "")]),
    "none": [],
}


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("index", INDEXES)
def test_a_frame_comes_back_with_its_index(index: str, columns: str) -> None:
    labels = COLUMNS[columns]
    values = {i: [1, 2, 3] if i == 0 else [0.5, 1.5, 2.5] for i in range(len(labels))}
    frame = pd.DataFrame(values, index=INDEXES[index])
    frame.columns = labels if len(labels) else pd.Index([], dtype=object)
    names = [name for name in frame.index.names if name is not None]
    back = ex.from_pandas(frame).to_pandas(index=names)
    pd.testing.assert_frame_equal(back, frame, check_index_type="equiv")
    if len(names) == 1:
        pd.testing.assert_frame_equal(ex.from_pandas(frame).to_pandas(names[0]), frame)


def test_fields_of_records_inside_become_levels() -> None:
    records = ex.constant([{"id": 7, "at": {"x": 1, "y": 2}}, {"id": 8, "at": {"x": 3, "y": 4}}])
    made = records.to_pandas(index=[("at", "x"), "id"])
    assert made.index.tolist() == [(1, 7), (3, 8)] and made.columns.tolist() == [("at", "y")]
    # A level without a name comes back by the name that it got.
    frame = pd.DataFrame({"n": [1, 2]}, index=[5, 6])
    assert ex.from_pandas(frame).to_pandas(index="index").index.tolist() == [5, 6]
    assert address(records["id"]) == address(records.to_pandas(index="id").index.to_numpy())


def test_what_is_no_index_is_refused() -> None:
    records = ex.constant([{"id": 7, "at": {"x": 1, "y": 2}}])
    with pytest.raises(ex.MissingNameError, match="argument 'index' names 'key', which is no field.\n.*'id', .'at', 'x'"):
        records.to_pandas(index="key")
    with pytest.raises(ex.MissingNameError, match="names 'at', which is records.\nWanted: one of: .'at', 'x'., .'at', 'y'."):
        records.to_pandas(index=["id", "at"])
    with pytest.raises(ex.MissingNameError, match="names 'id', and the value is no records, but a Tensor"):
        ex.tensor([1]).to_pandas(index="id")
    for wrong in (3, [None], [()], {"id"}):
        with pytest.raises(ex.DTypeError, match="argument 'index' has .*\nWanted: the name of a field"):
            records.to_pandas(index=wrong)
    assert ex.tensor([1]).to_pandas(index=None).tolist() == [1]


def test_columns_of_several_levels_are_records_in_records() -> None:
    columns = pd.MultiIndex.from_tuples([("user", "id", ""), ("user", "at", "x"), ("user", "at", "y"), ("n", "", "")])
    frame = pd.DataFrame([[1, 0.5, 1.5, 7]], columns=columns)
    records = ex.from_pandas(frame)
    assert records.to_py() == [{"user": {"id": 1, "at": {"x": 0.5, "y": 1.5}}, "n": 7}]
    assert records.to_pandas().columns.tolist() == columns.tolist()
    assert ex.from_pandas(pd.DataFrame(np.zeros((1, 2)))).to_py() == [{"0": 0.0, "1": 0.0}]


def test_nullable_columns_are_masked() -> None:
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None], dtype="Int8"),
            "f": pd.array([1.5, None], dtype="Float32"),
            "b": pd.array([True, None], dtype="boolean"),
            "s": pd.array(["a", None], dtype="string"),
            "there": pd.array([1, 2], dtype="UInt16"),
        }
    )
    records = ex.from_pandas(frame)
    assert records["i"].to_py() == [1, None] and records["i"].dtype is ex.i8
    assert records["f"].dtype is ex.f32 and records["b"].to_py() == [True, None]
    assert records["s"].to_py() == ["a", None]
    assert isinstance(records["there"], ex.MaskedTensor)
    pd.testing.assert_frame_equal(records.to_pandas(), frame)


def test_columns_of_objects_are_what_they_hold() -> None:
    frame = pd.DataFrame(
        {
            "text": pd.Series(["a", None], dtype=object),
            "lists": [[1, 2], []],
            "dicts": [{"p": 1, "q": None}, {"p": 2, "q": "z"}],
            "both": [[{"k": 1}], None],
            "bytes": [b"x", b"y"],
        }
    )
    assert ex.from_pandas(frame).to_py() == frame.to_dict("records")
    with pytest.raises(TypeError, match="column 'm.n' of object"):
        ex.from_pandas(pd.DataFrame({("m", "n"): [1, "a"]}))


def test_series_are_values() -> None:
    assert ex.from_pandas(pd.Series([1.5, 2.5], name="v")).to_py() == [1.5, 2.5]
    named = pd.Series([1, 2], index=pd.Index(["a", "b"], name="k"))
    assert ex.from_pandas(named).to_py() == [{"k": "a", "values": 1}, {"k": "b", "values": 2}]
    assert ex.from_pandas(pd.Index(["a", "b"])).to_py() == ["a", "b"]
    assert ex.from_pandas(pd.DataFrame()).to_py() == []
    assert ex.from_pandas(pd.Series([], dtype="float32")).dtype is ex.f32


def test_numbers_are_shared() -> None:
    series = pd.Series(np.arange(4.0))
    assert address(ex.from_pandas(series)) == address(series.to_numpy())
    x = ex.tensor([1.0, 2.0])
    assert address(x.to_pandas().to_numpy()) == address(x)


def test_what_has_no_counterpart_is_refused() -> None:
    with pytest.raises(ValueError, match="two columns or levels of the index are named 'a'"):
        ex.from_pandas(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    for labels in [("a", ""), ("a", "b")], [("a", "b"), ("a", "")]:
        with pytest.raises(ValueError, match="'a' is a column of values, and a level that other columns are below"):
            ex.from_pandas(pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples(labels)))
    with pytest.raises(ValueError, match=r"are named 'a\.b'"):
        ex.from_pandas(pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b")] * 2)))
    with pytest.raises(TypeError, match="found a value of type list"):
        ex.from_pandas([1])
    with pytest.raises(ValueError, match="Wanted: a vector of records"):
        ex.constant({"a": 1}).to_pandas()


def test_periods_are_refused_and_their_times_are_not() -> None:
    months = pd.Series(pd.period_range("2001-01", periods=2, freq="M"))
    frame = pd.DataFrame({"when": months, "n": [1, 2]})
    for given in (months, frame, frame.set_index("when")):
        with pytest.raises(ex.DTypeError, match="period is a span of time.*\n.*to_timestamp"):
            ex.from_pandas(given)
    times = ex.from_pandas(months.dt.to_timestamp())
    assert isinstance(times, ex.TimestampTensor) and len(ex.to_py(times)) == 2


def test_a_zone_that_does_not_exist_is_named() -> None:
    times = ex.TimestampTensor([0, 1], "s", "Mars/Olympus")
    for x in (times, ex.StructTensor([2], {"at": times}), ex.MaskedTensor(times, ex.tensor([True, False]))):
        with pytest.raises(ex.InvalidValueError, match="^to_pandas: found times of the zone 'Mars/Olympus', which is not known"):
            x.to_pandas()
    assert str(ex.TimestampTensor([0], "s", "+01:00").to_pandas().dtype) == "datetime64[s, UTC+01:00]"


def test_nan_is_a_number_in_lists_and_missing_in_columns() -> None:
    nan = float("nan")
    assert ex.to_py(ex.from_pandas(pd.Series([np.array([1.0, nan])]))).__repr__() == "[[1.0, nan]]"
    assert repr(ex.to_py(ex.from_pandas(pd.Series([{"a": nan}, {"a": None}])))) == "[{'a': nan}, {'a': None}]"
    assert repr(ex.to_py(ex.from_pandas(pd.Series([[1.0, nan, None], None, nan])))) == "[[1.0, nan, None], None, None]"
    assert ex.to_py(ex.from_pandas(pd.Series(["a", None, nan], dtype=object))) == ["a", None, None]


def objects(*items: Any) -> Any:
    return pd.Series(np.fromiter(items, dtype=object, count=len(items)), dtype=object)


NANO = pd.Timestamp(1)
NOON = datetime.datetime(2020, 1, 1, 12)
ZONE = datetime.timezone(datetime.timedelta(hours=1))


def test_objects_of_pandas_keep_their_nanoseconds() -> None:
    text = "1970-01-01T00:00:00.000000001"
    zoned = ex.from_pandas(objects(pd.Timestamp(1, tz="Europe/Berlin")))
    assert zoned.values.tolist() == [1] and zoned.zone == "Europe/Berlin"
    for given, wanted in (
        ([NANO, None, NOON], [text, None, "2020-01-01T12:00:00"]),
        ([[NANO], []], [[text], []]),
        ([{"at": [NANO]}, {"at": None}], [{"at": [text]}, {"at": None}]),
        ([pd.Timedelta(1), datetime.timedelta(0)], ["1ns", "0ns"]),
    ):
        assert ex.to_py(ex.from_pandas(objects(*given))) == wanted
    odd = pd.Series(pd.Categorical([NANO], pd.Index([NANO], dtype=object)))
    assert ex.from_pandas(odd).to_py() == [text]


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([NOON.date(), NOON], "dates stand beside points in time"),
        ([NOON.replace(tzinfo=ZONE), NOON], "points in time with a zone stand beside ones without"),
        ([datetime.time(1, tzinfo=ZONE)], "a time of day has a zone"),
        (["a", b"b"], "text stands beside bytes"),
    ],
)
def test_objects_of_several_kinds_are_refused(items: Any, text: str) -> None:
    categories = pd.Series(pd.Categorical(objects(*items), pd.Index(items, dtype=object)))
    for series in (objects(*items), objects(items), objects(*({"x": item} for item in items)), categories):
        with pytest.raises(ex.DTypeError, match=f"^from_pandas: column 'values' of .* has no value: {text}"):
            ex.from_pandas(series)


def test_a_count_of_nanoseconds_is_none_of_days() -> None:
    with pytest.raises(ex.DTypeError, match="dates stand beside points in time"):
        ex.from_pandas(objects(NOON.date(), np.datetime64(1, "ns")))


def test_categories_that_are_periods_are_refused() -> None:
    months = pd.Categorical(pd.period_range("2020-01", periods=2, freq="M"))
    for given in (pd.Series(months, name="m"), pd.DataFrame({"m": months})):
        with pytest.raises(ex.DTypeError, match=r"column 'm' is of period\[M\], and a period is a span of time.\n.*cat.rename"):
            ex.from_pandas(given)


def test_categories_that_are_points_in_time_keep_their_zone() -> None:
    times = ex.TimestampTensor([0, 3600, 7200], "s", "Europe/Berlin")
    for ordered in (False, True):
        x = ex.CategoricalTensor(ex.tensor([0, 2, 1], "i8"), times, ordered=ordered)
        made = x.to_pandas()
        assert str(made.cat.categories.tz) == "Europe/Berlin" and made.cat.ordered == ordered
        for back in (ex.from_pandas(made), ex.from_pandas(ex.StructTensor([3], {"c": x}).to_pandas("c").index)):
            same(back, x)
        assert ex.mask(x, [True, False, True]).to_pandas().isna().tolist() == [False, True, False]
    odd = ex.CategoricalTensor([0], ex.TimestampTensor([0], "s", "Nowhere/City"))
    with pytest.raises(ex.InvalidValueError, match="^to_pandas: found times of the zone 'Nowhere/City'"):
        odd.to_pandas()


def test_levels_of_an_index_alone_are_records_of_them() -> None:
    index = pd.MultiIndex.from_tuples([(1, 2)], names=["a", None])
    assert ex.from_pandas(index).to_py() == [{"a": 1, "level_1": 2}]
    with pytest.raises(ex.InvalidValueError, match="^from_pandas: two columns or levels of the index are named 'a'"):
        ex.from_pandas(index.set_names(["a", "a"]))


def test_what_pandas_or_numpy_has_not_is_refused_by_name() -> None:
    records = ex.StructTensor([2], {"h": ex.tensor([1.5, 2.5], "f16"), "n": [1, 2]})
    for index in ("h", ["n", "h"]):
        with pytest.raises(ex.DTypeError, match="^to_pandas: argument 'index' names 'h', which is of f16"):
            records.to_pandas(index)
    if np.dtype("g").itemsize > 8:
        with pytest.raises(ex.DTypeError, match="^from_pandas: found an array of float128"):
            ex.from_pandas(pd.Series(np.zeros(2, "g")))
