"""Tests of Awkward Arrays of every layout as values, and back."""

from __future__ import annotations

from typing import Any

import extenso as ex
import numpy as np
import pytest
from interop_values import address, same, values

ak: Any = pytest.importorskip("awkward", reason="the tests of Awkward Arrays need awkward")
VALUES = values()


@pytest.mark.parametrize("name", VALUES)
def test_an_array_and_back_is_the_value(name: str) -> None:
    x = VALUES[name]
    array = x.to_awkward()
    assert ak.is_valid(array)
    same(ex.from_awkward(array), x)


def test_elements_are_those_of_the_value() -> None:
    for name, x in VALUES.items():
        if name != "floats":
            assert x.to_awkward().to_list() == ex.to_py(x), name


LAYOUTS: "dict[str, tuple[Any, Any]]" = {
    "lists": (ak.Array([[1, 2], [], [3]]), [[1, 2], [], [3]]),
    "part of lists": (ak.Array([[1, 2], [], [3]])[1:], [[], [3]]),
    "lists in another order": (ak.Array([[1, 2], [], [3]])[[2, 0]], [[3], [1, 2]]),
    "lists of 32 bits": (
        ak.Array(ak.contents.ListOffsetArray(ak.index.Index32(np.array([0, 2, 2], "i4")), ak.contents.NumpyArray(np.arange(3)))),
        [[0, 1], []],
    ),
    "lists of unsigned 32 bits": (
        ak.Array(ak.contents.ListOffsetArray(ak.index.IndexU32(np.array([1, 2], "u4")), ak.contents.NumpyArray(np.arange(3)))),
        [[1]],
    ),
    "regular": (ak.to_regular(ak.Array([["a", "b"], ["c", "d"]])), [["a", "b"], ["c", "d"]]),
    "regular of none": (ak.from_numpy(np.zeros((2, 0)), regulararray=True), [[], []]),
    "regular records": (ak.to_regular(ak.Array([[{"a": 1}], [{"a": 2}]])), [[{"a": 1}], [{"a": 2}]]),
    "regular lists": (ak.to_regular(ak.Array([[[1], []], [[], [2]]])), [[[1], []], [[], [2]]]),
    "indexed options": (ak.Array([1, None, 3]), [1, None, 3]),
    "masked by bytes": (ak.mask(ak.Array([1, 2]), [True, False]), [1, None]),
    "masked by bits": (ak.Array(ak.Array([1, None, 3]).layout.to_BitMaskedArray(False, False)), [1, None, 3]),
    "all there": (ak.Array(ak.contents.UnmaskedArray(ak.contents.NumpyArray(np.arange(2)))), [0, 1]),
    "missing lists": (ak.Array([None, [1, None], []]), [None, [1, None], []]),
    "missing records": (ak.Array([None, {"a": 1, "b": "x"}]), [None, {"a": 1, "b": "x"}]),
    "nothing but missing": (ak.Array([None, None]), [None, None]),
    "no missing": (ak.Array([1, None])[:0], []),
    "records": (ak.Array([{"a": 1, "b": [{"c": "x"}]}, {"a": 2, "b": []}]), [{"a": 1, "b": [{"c": "x"}]}, {"a": 2, "b": []}]),
    "tuples": (ak.Array([(1, "a"), (2, "b")]), [{"0": 1, "1": "a"}, {"0": 2, "1": "b"}]),
    "part of records": (ak.Array([{"a": 1}, {"a": 2}])[1:], [{"a": 2}]),
    "records without fields": (ak.Array([{}, {}]), [{}, {}]),
    "byte strings": (ak.Array([b"a", b""]), [b"a", b""]),
    "part of strings": (ak.Array(["a", "größe", "c"])[1:], ["größe", "c"]),
    "strings in another order": (ak.Array(["a", "bb"])[[1, 0]], ["bb", "a"]),
    "indexed": (ak.Array(ak.contents.IndexedArray(ak.index.Index64(np.array([1, 0])), ak.contents.NumpyArray(np.arange(2)))), [1, 0]),
    "unknown": (ak.Array([]), []),
    "lists of unknown": (ak.Array([[], []]), [[], []]),
    "booleans": (ak.Array([[True], [False]]), [[True], [False]]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_is_a_value(name: str) -> None:
    array, expect = LAYOUTS[name]
    value = ex.from_awkward(array)
    assert ex.to_py(value) == expect
    assert ex.to_py(ex.from_awkward(value.to_awkward())) == expect


def test_dense_axes_stay_dense() -> None:
    assert ex.from_awkward(LAYOUTS["regular"][0]).shape == (2, 2)
    assert isinstance(ex.from_awkward(LAYOUTS["regular records"][0]), ex.StructTensor)
    assert ex.from_awkward(ak.from_numpy(np.zeros((2, 3)))).shape == (2, 3)
    matrix = ex.StructTensor([2, 3], {"a": np.zeros((2, 3))})
    same(ex.from_awkward(matrix.to_awkward()), matrix)
    masked = ex.mask(ex.tensor([[1, 2], [3, 4]]), ex.tensor([[True, False], [True, True]]))
    same(ex.from_awkward(masked.to_awkward()), masked)


def test_offsets_and_numbers_are_shared() -> None:
    array = ak.Array([[1, 2], [], [3]])
    rows = ex.from_awkward(array)
    assert address(rows.values) == address(array.layout.content.data)
    assert address(rows.row_splits) == address(array.layout.offsets.data)
    layout = rows.to_awkward().layout
    assert address(layout.content.data) == address(rows.values)
    assert address(layout.offsets.data) == address(rows.row_splits)
    texts = ex.from_awkward(ak.Array(["a", "bb"]))
    layout = texts.to_awkward().layout
    again = ex.from_awkward(ak.Array(layout)).to_awkward().layout
    assert address(again.content.data) == address(layout.content.data)
    assert address(again.offsets.data) == address(layout.offsets.data)


def test_axes_without_elements() -> None:
    for shape in ((2, 3, 0), (2, 0), (0, 3), (0, 2, 0), (3, 0, 2)):
        for dtype in ("f64", "bool", "string"):
            x = ex.reshape(ex.tensor([], dtype=dtype), shape)
            array = x.to_awkward()
            assert array.to_list() == x.tolist() and str(array.type) == str(ak.Array(np.zeros(shape)).type).replace("float64", {"f64": "float64"}.get(dtype, dtype))
            assert ex.from_awkward(array).shape == shape


def test_a_record_is_one() -> None:
    one = ex.from_awkward(ak.Record({"a": 1, "b": ["x"]}))
    assert one.shape == () and one.to_py() == {"a": 1, "b": ["x"]}
    back = one.to_awkward()
    assert isinstance(back, ak.Record) and back.to_list() == {"a": 1, "b": ["x"]}
    assert ex.from_awkward(ak.Array([{"a": 1}, {"a": 2}])[1]).to_py() == {"a": 2}


def test_what_has_no_counterpart_is_refused() -> None:
    with pytest.raises(ValueError, match="Use `expand_dims"):
        ex.tensor(1.0).to_awkward()
    with pytest.raises(TypeError, match="`constant` takes lists"):
        ex.from_awkward([[1]])
    with pytest.raises(TypeError, match="rows, which have values"):
        from extenso._interop.awkward import to_awkward

        to_awkward(ex.constant([[1], []]).partition)
    with pytest.raises(ex.Error):
        ex.from_awkward(ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(np.array([0, 1])), ak.contents.NumpyArray(np.array([255], "u1"), parameters={"__array__": "char"}), parameters={"__array__": "string"})))


def test_unions_hold_what_their_contents_hold() -> None:
    day = np.array(["NaT", "2020-01-02"], "M8[D]")
    times = ex.from_awkward(ak.concatenate([ak.Array(day), ak.Array(["x"])]))
    assert ex.to_py(times) == [None, ex.to_py(ex.from_numpy(day))[1], "x"]
    mixed = ak.Array([1, None, "a"])
    for chosen in (slice(1), [0, 2], [2, 1, 1], slice(1, None)):
        assert ex.to_py(ex.from_awkward(mixed[chosen])) == mixed[chosen].to_list()
    rows = ak.Array([[1, None, "a"], ["b"]])[1:]
    assert ex.to_py(ex.from_awkward(rows)) == [["b"]]
    strided = ak.contents.NumpyArray(np.arange(6, dtype="i2")[::2])
    tags, index = ak.index.Index8(np.array([0, 1, 0], "i1")), ak.index.Index64(np.array([0, 0, 1]))
    union = ak.contents.UnionArray(tags, index, [strided, ak.contents.NumpyArray(np.array([True, False]))])
    assert ex.to_py(ex.from_awkward(ak.Array(union))) == [0, True, 2]
