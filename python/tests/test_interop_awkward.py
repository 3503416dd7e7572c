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
    with pytest.raises(ex.DataError, match="^from_awkward: the bytes at 0 are not UTF-8"):
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


def union_of(*children: Any) -> Any:
    """The union whose elements are those of the first child, then those of the next."""
    pa = pytest.importorskip("pyarrow")
    tags = [tag for tag, child in enumerate(children) for _ in child]
    offsets = [place for child in children for place in range(len(child))]
    arrays = [child if isinstance(child, pa.Array) else pa.array(child) for child in children]
    return ex.from_arrow(pa.UnionArray.from_dense(pa.array(tags, pa.int8()), pa.array(offsets, pa.int32()), arrays))


def test_children_of_unions_are_not_merged() -> None:
    pa = pytest.importorskip("pyarrow")
    big = 2**53 + 1
    for union in (
        union_of([big], [0.5]),
        union_of([{"a": big}], [{"a": 0.5}]),
        union_of(pa.array([1], pa.int8()), pa.array([2**64 - 1], pa.uint64())),
        union_of([1, 2], [3]),
        union_of([None, 1], [0.5], ["x"]),
        union_of(pa.array([1], pa.timestamp("s")), pa.array([1], pa.timestamp("us"))),
    ):
        same(ex.from_awkward(union.to_awkward()), union)
    words = union_of(["a", None], pa.array(["b", "c"]).dictionary_encode())
    lists = union_of([[big], [1, 2]], [[0.5], []])
    for union in (words, lists, union_of([[big]], pa.array([[0.5, 1.5]], pa.list_(pa.float64(), 2)))):
        back = ex.from_awkward(union.to_awkward())
        assert back.to_py() == union.to_py() and back.child_ids() == [0, 1]


def test_what_is_missing_of_a_union_is_so_in_its_children() -> None:
    union = union_of([2**53 + 1, 3], [0.5, 1.5])
    for mask in ([True, False, True, True], [False, True, True, False], [False] * 4):
        back = ex.from_awkward(ex.mask(union, mask).to_awkward())
        assert back.to_py() == ex.mask(union, mask).to_py() and back.child_ids() == [0, 1]
    assert ex.from_awkward(ex.mask(union, [True] * 4)[:0].to_awkward()).to_py() == []


def test_unions_in_unions_are_one() -> None:
    pa = pytest.importorskip("pyarrow")
    inner = pa.UnionArray.from_dense(pa.array([1, 0], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([2**53 + 1]), pa.array(["x"])])
    union = union_of([0.5], inner, [1.5])
    back = ex.from_awkward(union.to_awkward())
    assert back.to_py() == union.to_py() == [0.5, "x", 2**53 + 1, 1.5] and back.child_ids() == [0, 1, 2, 3]


def test_one_element_of_a_union_is_no_array() -> None:
    with pytest.raises(ex.ShapeError, match="^to_awkward: a scalar has no array"):
        union_of([1], ["a"])[0].to_awkward()


def test_dense_axes_of_times_and_categories_stay_dense() -> None:
    counts = ex.tensor([[0, 1, 0], [1, 0, 1]])
    times = ex.TimestampTensor(counts, "s")
    for x in (
        times,
        ex.DateTensor(ex.cast(counts, "i32"), "d"),
        ex.CategoricalTensor(counts, ["a", "b"]),
        ex.StructTensor([2, 3], {"at": times}),
        ex.mask(times, [True, False]),
        ex.mask(times, counts > 0),
        ex.reshape(times, (2, 1, 3)),
        times[:0],
        times[:, :0],
    ):
        same(ex.from_awkward(x.to_awkward()), x)


def test_a_time_that_is_none_under_a_mask_is_missing_once() -> None:
    hidden = ex.mask(ex.DurationTensor([-(2**63), 1], "s"), [False, True])
    same(ex.from_awkward(hidden.to_awkward()), hidden)


def test_a_category_is_not_the_time_that_awkward_has_not() -> None:
    times = ex.TimestampTensor([-(2**63), 0], "us")
    with pytest.raises(ex.InvalidValueError, match="^to_awkward: found a time whose count is"):
        ex.CategoricalTensor([0, 1], times).to_awkward()


def test_two_fields_of_one_name_are_refused() -> None:
    contents = [ak.contents.NumpyArray(np.arange(2)), ak.contents.NumpyArray(np.arange(2.0))]
    with pytest.raises(ex.InvalidValueError, match="^from_awkward: two fields of records are named 'x'"):
        ex.from_awkward(ak.Array(ak.contents.RecordArray(contents, ["x", "x"])))


def test_what_has_no_value_names_the_conversion() -> None:
    for array, text in ((np.zeros(2, complex), "found an array of complex128"), (np.zeros(2, "m8[Y]"), "found an array of timedelta64")):
        with pytest.raises(ex.DTypeError, match=f"^from_awkward: {text}"):
            ex.from_awkward(ak.Array(array))
