"""Tests of arrays of NumPy of every dtype as values, and back."""

from __future__ import annotations

import datetime
import sys
from typing import Any

import extenso as ex
import numpy as np
import pytest
from interop_values import address, same, values

VALUES = values()
# A row of nothing does not say what it would hold, and a masked record is one whose fields are all masked.
LOSSY = {"no rows", "no records"}


@pytest.mark.parametrize("name", sorted(VALUES.keys() - LOSSY))
def test_an_array_and_back_is_the_value(name: str) -> None:
    x = VALUES[name]
    back = ex.from_numpy(x.to_numpy())
    assert repr(ex.to_py(back)) == repr(ex.to_py(x))
    if "splits" not in name:
        # Arrays in an array do not say how wide the offsets were.
        same(back, x)


def test_structured_arrays_are_records() -> None:
    kinds: Any = [("id", ">i4"), ("place", "f4", (2, 2)), ("user", [("name", "U3"), ("ok", "?")])]
    array = np.array([(1, [[0, 1], [2, 3]], ("ada", True)), (2, [[4, 5], [6, 7]], ("bo", False))], dtype=kinds)
    records = ex.from_numpy(array)
    assert records.to_py()[1] == {"id": 2, "place": [[4.0, 5.0], [6.0, 7.0]], "user": {"name": "bo", "ok": False}}
    assert records["id"].dtype is ex.i32 and records["place"].shape == (2, 2, 2)
    assert records.to_numpy()["place"].tolist() == array["place"].tolist()
    assert ex.from_numpy(array.view(np.recarray)) == records
    assert ex.from_numpy(array.reshape(1, 2)).shape == (1, 2)
    assert ex.from_numpy(array[0]).to_py()["user"] == {"name": "ada", "ok": True}
    assert ex.from_numpy(np.zeros(3, dtype=[])).to_py() == [{}, {}, {}]
    assert ex.from_numpy(array[:0]).spec.field_specs["place"].shape == ex.Shape([0, 2, 2])


def test_masked_arrays_are_masked_values() -> None:
    masked = np.ma.MaskedArray([[1, 2], [3, 4]], [[False, True], [False, False]], dtype="i2")
    value = ex.from_numpy(masked)
    assert value.to_py() == [[1, None], [3, 4]] and value.dtype is ex.i16
    assert value.to_numpy().mask.tolist() == masked.mask.tolist()
    assert ex.from_numpy(np.ma.MaskedArray([1, 2])).to_py() == [1, 2]
    assert ex.from_numpy(np.ma.masked).to_py() is None
    records = ex.constant([{"id": 1, "age": None}, {"id": 2, "age": 3}])
    array = records.to_numpy()
    assert array["age"].dtype == np.int64 and array["age"].mask.tolist() == [True, False]
    same(ex.from_numpy(array), records)
    missing = ex.constant([{"a": 1}, None]).to_numpy()
    assert ex.from_numpy(missing).to_py() == [{"a": 1}, {"a": None}]


@pytest.mark.parametrize(
    ("array", "expect"),
    [
        (np.array(["a", "größe"]), ["a", "größe"]),
        (np.array([b"a", b"bc"]), [b"a", b"bc"]),
        (np.array([b"a\0c"], dtype="V4"), [b"a\0c\0"]),
        (np.array(["a", "b\0"], dtype=np.dtypes.StringDType()), ["a", "b\0"]),
        (np.array(["a", None], dtype=np.dtypes.StringDType(na_object=None)), ["a", None]),
        (np.array([["a", np.nan]], dtype=np.dtypes.StringDType(na_object=np.nan)), [["a", None]]),
        (np.array(["a", None], dtype=object), ["a", None]),
        (np.array([1, None, 3], dtype=object), [1, None, 3]),
        (np.array([{"a": 1}, {"a": 2}], dtype=object), [{"a": 1}, {"a": 2}]),
        (np.array([np.zeros(2), np.zeros(0)], dtype=object), [[0.0, 0.0], []]),
        (np.zeros((0, 2), dtype=object), []),
        (np.zeros((2, 0), dtype="S1"), [[], []]),
        (np.array("größe"), "größe"),
    ],
)
def test_text_and_objects_are_what_they_hold(array: Any, expect: Any) -> None:
    assert ex.to_py(ex.from_numpy(array)) == expect


def test_numbers_are_shared() -> None:
    array = np.arange(6, dtype="f4").reshape(2, 3)
    assert address(ex.from_numpy(array)) == address(array)
    rows = ex.constant([[1, 2], [3]])
    assert np.shares_memory(rows.to_numpy()[0], np.asarray(rows.values))
    inner = np.array([np.zeros(2, "f4"), np.zeros(1, "f4")], dtype=object)
    assert ex.from_numpy(inner).dtype is ex.f32


def test_what_has_no_value_is_refused() -> None:
    with pytest.raises(TypeError, match="Take `.real`"):
        ex.from_numpy(np.zeros(2, complex))
    with pytest.raises(TypeError, match="`constant` takes lists"):
        ex.from_numpy([1, 2])
    with pytest.raises(ValueError, match="lone surrogate"):
        ex.from_numpy(np.array(["b", "a\ud800"], dtype=object))
    with pytest.raises(ValueError, match=r"\[1\]: a string stands beside"):
        ex.from_numpy(np.array([1, "a"], dtype=object))


def test_a_class_of_a_user_is_an_array_of_its_components() -> None:
    class Point(ex.ExtensionType):
        x: ex.Tensor
        y: ex.Tensor

    class Celsius(ex.ExtensionType):
        degrees: ex.Tensor

        def __extenso_tensor__(self) -> Any:
            return self.degrees

    assert Point(x=[1.0], y=[2.0]).to_numpy()["y"].tolist() == [2.0]
    assert Celsius(degrees=[20.0]).to_numpy().tolist() == [20.0]


def test_integers_are_those_of_numpy() -> None:
    for name in ("int64", "uint64"):
        array = np.asarray(ex.tensor([1], ex.as_dtype(name)))
        # NumPy has two dtypes of this width on some machines, which equal each other and differ in their letter.
        assert array.dtype.char == np.dtype(name).char


def test_universal_functions_on_values_are_the_ops() -> None:
    rows, masked = ex.constant([[1.0, 4.0], [], [9.0]]), ex.constant([1.0, None])
    column = np.array([[1.0], [2.0], [3.0]])
    for given, wanted in [
        (np.float64(2) * rows, 2.0 * rows),
        (column + rows, rows + column),
        (column < rows, rows > column),
        (np.sqrt(rows), ex.sqrt(rows)),
        (np.absolute(-rows), rows),
        (np.arctan2(rows, 2.0), ex.atan2(rows, 2.0)),
        (np.power(masked, 2), masked**2),
        (np.add(ex.tensor([1.0, 2.0]), masked), ex.tensor([1.0, 2.0]) + masked),
        (np.sum(rows, axis=1), ex.sum(rows, axis=1)),
        (np.sum(rows), ex.sum(rows)),
        (np.maximum.reduce(rows, axis=1, keepdims=True), ex.max(rows, axis=1, keepdims=True)),
        (np.any(rows > 3.0, axis=1), ex.any(rows > 3.0, axis=1)),
    ]:
        same(given, wanted)
    # A tensor is an array to NumPy.
    assert isinstance(np.sqrt(ex.tensor([4.0])), np.ndarray)


def test_universal_functions_without_an_op_are_refused() -> None:
    rows = ex.constant([[1.0, 4.0], [], [9.0]])
    for call in (
        lambda: np.heaviside(rows, 0.0),
        lambda: np.add(rows, 1.0, out=np.zeros(3)),
        lambda: np.add.accumulate(rows),
        lambda: np.sum(rows, initial=2.0),
    ):
        with pytest.raises(TypeError, match="__array_ufunc__"):
            call()


def test_universal_functions_ask_the_type_of_a_user() -> None:
    class Metres(ex.ExtensionType):
        value: ex.Tensor

    @ex.dispatch_for(ex.multiply, Metres)
    def _(x: object, y: object) -> object:
        (metres, factor) = (x, y) if isinstance(x, Metres) else (y, x)
        assert isinstance(metres, Metres)
        return Metres(ex.multiply(metres.value, factor))

    doubled = np.array([2.0, 3.0]) * Metres(ex.tensor([1.0, 2.0]))
    assert isinstance(doubled, Metres) and doubled.value.tolist() == [2.0, 6.0]


def test_halves_of_one_kind_are_those_of_ml_dtypes_bit_for_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    ml: Any = pytest.importorskip("ml_dtypes", reason="this test needs ml_dtypes")
    every = np.arange(2**16, dtype=np.uint16)
    halves = ex.from_numpy(every.view(ml.bfloat16))
    values = {
        "records": ex.StructTensor([2**16], {"x": halves}),
        "matrices": ex.StructTensor([2**8], {"x": ex.reshape(halves, (2**8, 2**8))}),
        "none": ex.StructTensor([0], {"x": halves[:0]}),
    }
    for records in values.values():
        made = records.to_numpy()["x"]
        assert made.dtype == ml.bfloat16 and made.shape == records["x"].shape
        assert made.view(np.uint16).ravel().tolist() == every[: made.size].tolist()
        assert ex.spec_of(ex.from_numpy(records.to_numpy())) == ex.spec_of(records)
    assert ex.MaskedTensor(halves[:2], ex.tensor([True, False])).to_numpy().mask.tolist() == [False, True]
    assert ex.RaggedTensor.from_row_lengths(halves[:2], [0, 2]).to_numpy()[1].dtype == ml.bfloat16
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ex.DTypeError, match="^to_numpy: found bf16, which is a dtype of NumPy where ml_dtypes is installed"):
        values["records"].to_numpy()


def test_awkward_has_no_halves_of_that_kind() -> None:
    pytest.importorskip("awkward", reason="this test needs awkward")
    with pytest.raises(ex.DTypeError, match="^to_awkward: found a tensor of bf16"):
        ex.StructTensor([1], {"x": ex.tensor([1.5], "bf16")}).to_awkward()


def test_no_object_below_a_mask_has_a_say() -> None:
    array = np.ma.masked_array(np.array(["a", 5, None], dtype=object), mask=[0, 1, 0])
    assert ex.to_py(ex.from_numpy(array)) == ["a", None, None]


def test_masked_rows_of_masked_records_come_back_as_these() -> None:
    for value in (
        [[{"k": 1, "v": None}], None],
        [[{"k": "a", "v": None}], None, [{"k": "b", "v": 3}], []],
        [None, [[{"k": 1, "v": None}], None]],
    ):
        x = ex.constant(value)
        assert ex.from_numpy(x.to_numpy()).to_py() == value, value
    nothing = ex.StructTensor([2], {"s": ex.mask(ex.zeros([2, 0], "i32"), [True, False])})
    assert ex.from_numpy(nothing.to_numpy()).field_value(("s",)).shape == (2, 0)


def test_objects_that_are_times_lose_nothing() -> None:
    pd: Any = pytest.importorskip("pandas", reason="this test needs pandas")
    noon, zone = datetime.datetime(2020, 1, 1, 12), datetime.timezone(datetime.timedelta(hours=1))
    for items in ([pd.Timestamp(1), None], [pd.Timestamp(1), noon], [pd.Timedelta(1), datetime.timedelta(0)], [pd.Timedelta("1s")]):
        same(ex.from_numpy(np.array(items, dtype=object)), ex.constant(items))
    for items, text in (
        ([noon.date(), noon], "dates stand beside points in time"),
        ([noon, noon.replace(tzinfo=zone)], "points in time with a zone stand beside ones without"),
        ([datetime.time(1, tzinfo=zone), None], "a time of day has a zone"),
    ):
        with pytest.raises(ex.DTypeError, match=f"^from_numpy: found objects of .*{text}"):
            ex.from_numpy(np.array(items, dtype=object))
        with pytest.raises(ex.Error):
            ex.constant(items)
