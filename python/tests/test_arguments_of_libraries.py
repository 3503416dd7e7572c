"""Values of other libraries as arguments: what is missing stays missing, and integers stay exact."""

import operator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import extenso as ex

LARGE = 2**53 + 1


@pytest.mark.parametrize(
    "x",
    [
        pa.array([LARGE, None]),
        pa.chunked_array([[LARGE], [None]]),
        pl.Series([LARGE, None]),
        pd.Series([LARGE, None], dtype="Int64"),
        pd.Series([LARGE, None], dtype=pd.ArrowDtype(pa.int64())),
    ],
    ids=["array", "chunks", "polars", "pandas", "pandas of Arrow"],
)
def test_what_is_missing_stays_missing_and_integers_stay_exact(x: Any) -> None:
    assert ex.sum(x).to_py() == LARGE
    assert ex.add(x, 0).to_py() == [LARGE, None]
    assert ex.constant(x).to_py() == [LARGE, None]
    assert ex.function(lambda x: ex.add(x, 1))(x).to_py() == [LARGE + 1, None]
    with pytest.raises(ex.Error):
        ex.tensor(x)


def test_lists_texts_and_records_are_what_they_are() -> None:
    assert ex.sum(pa.array([[1, 2], [3]]), axis=1).to_py() == [3, 3]
    assert ex.upper(pa.array(["a", None])).to_py() == ["A", None]
    assert ex.upper(pl.Series(["a", None])).to_py() == ["A", None]
    assert ex.upper(pd.Series(["a", None], index=["i", "j"])).to_py() == ["A", None]
    assert ex.concat([pa.array([{"a": 1}])] * 2, 0).to_py() == [{"a": 1}, {"a": 1}]
    first = ex.function(lambda r: r["a"])
    for table in [pa.table({"a": [1]}), pl.DataFrame({"a": [1]}), pd.DataFrame({"a": [1]})]:
        assert first(table).to_py() == [1]
    assert ex.tensor(pa.array([1, 2])).to_py() == [1, 2]
    assert ex.asarray(pl.Series([1.5])).to_py() == [1.5]


def test_a_series_of_numpy_is_its_array() -> None:
    series = pd.Series([1.5, float("nan")], index=["a", "b"])
    assert np.array_equal(np.asarray(ex.add(series, 1)), [2.5, np.nan], equal_nan=True)
    assert ex.sum(pd.Series([True, False])).to_py() == 1
    assert ex.constant(pd.Series(pd.to_datetime(["2020-01-01"]))).to_py()[0].startswith("2020-01-01")
    assert ex.add(pd.Index([1, 2]), 1).to_py() == [2, 3]


def test_arrays_of_awkward_are_lists() -> None:
    ak = pytest.importorskip("awkward")
    assert ex.sum(ak.Array([[1, 2], [3]]), axis=1).to_py() == [3, 3]
    assert ex.add(ak.Array([1, None]), 1).to_py() == [2, None]


def test_structured_arrays_are_records() -> None:
    rows = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i8"), ("b", "f8")])
    wanted = [{"a": 1, "b": 2.5}, {"a": 3, "b": 4.5}]
    assert ex.constant(rows).to_py() == wanted
    assert ex.concat([rows, rows], 0).to_py() == wanted * 2
    assert ex.function(lambda r: r["a"])(rows).to_py() == [1, 3]


@pytest.mark.parametrize("apply", [operator.add, operator.truediv, operator.eq, operator.lt, operator.floordiv, divmod])
def test_a_series_of_pandas_stands_on_either_side_of_a_value(apply: Any) -> None:
    column = [3.0, 2.0]
    values = [ex.tensor([1.0, 2.0]), ex.constant([1.0, None]), ex.RaggedTensor.from_row_lengths([1.0, 2.0], [1, 1])]
    for x in values:
        for series in (pd.Series(column), pd.Series(column, index=["p", "q"]), pd.Index(column), pd.Series(column, dtype="Float64")):
            left, right = apply(series, x), apply(ex.constant(column), x)
            assert _plain(left) == _plain(right)


def _plain(made: Any) -> Any:
    return [ex.to_py(part) for part in made] if isinstance(made, tuple) else ex.to_py(made)


def test_records_have_no_operators_beside_a_series_either() -> None:
    records = ex.constant([{"a": 1.0}, {"a": 2.0}])
    with pytest.raises(ex.DispatchError, match="^add: no handler takes extenso/StructTensor"):
        pd.Series([1.0, 2.0]) + records
    with pytest.raises(ex.DispatchError, match="^add: no handler takes extenso/StructTensor"):
        pd.DataFrame({"a": [1.0, 2.0]}) + ex.tensor([1.0, 2.0])


def test_flags_may_be_booleans_of_numpy() -> None:
    assert ex.sum([[1, 2]], axis=1, keepdims=np.True_).to_py() == [[3]]
    assert ex.strings.base64_encode(["a"], pad=np.bool_(False)).to_py() == ["YQ"]
    with pytest.raises(ex.Error, match="keepdims.*1.0"):
        ex.sum([[1, 2]], axis=1, keepdims=np.float64(1.0))
