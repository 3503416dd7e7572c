"""Tests of tensors beside NumPy: memory is shared both ways, and values agree."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import extenso as ex
import numpy as np
import pytest

NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def address(array: Any) -> int:
    found: int = array.__array_interface__["data"][0]
    return found


@pytest.mark.parametrize("dtype", NUMBERS)
def test_zero_copy_means_the_same_address(dtype: str) -> None:
    source = np.arange(12, dtype=dtype).reshape(3, 4)
    tensor = ex.tensor(source)
    back = np.asarray(tensor)
    assert address(back) == address(source)
    assert (back.dtype, back.shape) == (source.dtype, source.shape)
    assert not back.flags.writeable
    assert address(np.asarray(tensor[1:])) == address(source[1:])
    assert ex.as_dtype(source.dtype) is tensor.dtype


def test_memory_lives_as_long_as_its_last_reader() -> None:
    source = np.arange(1000.0)
    view = np.asarray(ex.tensor(source))
    expect = source.copy()
    del source
    np.testing.assert_array_equal(view, expect)
    view = np.asarray(ex.tensor([1.0, 2.0]) + 1.0)
    np.testing.assert_array_equal(view, [2.0, 3.0])


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12).reshape(3, 4)[:, ::2],
        np.arange(12).reshape(3, 4).T,
        np.arange(5)[::-1],
        np.arange(6, dtype=">f4"),
        np.array([True, False, True]),
        np.array(["a", "größe"]),
        np.array(["a", "b"], dtype=object),
        np.array([b"a", b"bc"]),
        np.float32(2.5),
        np.array(3),
        np.zeros((0, 3)),
        np.int8(3),
        np.bool_(True),
    ],
)
def test_arrays_of_any_layout_come_in(array: Any) -> None:
    tensor = ex.tensor(array)
    assert tensor.shape == array.shape
    assert tensor.tolist() == array.tolist()


@pytest.mark.parametrize("dtype", ["?", "i1", "f2", "i4", "f8"])
def test_arrays_of_random_layouts_come_in(dtype: str) -> None:
    rng = np.random.default_rng(7)
    whole = rng.integers(0, 2 if dtype == "?" else 100, (40, 3, 50)).astype(dtype)
    for _ in range(60):
        steps = rng.choice([-3, -2, -1, 1, 2, 3], 3)
        cut = [slice(None if step < 0 else int(rng.integers(0, 3)), None, int(step)) for step in steps]
        array = whole[tuple(cut)].transpose(rng.permutation(3))
        wanted = np.ascontiguousarray(array)
        for made in (ex.tensor(array), ex.from_dlpack(array), ex.constant(array)):
            assert made.to_numpy().dtype == array.dtype and np.array_equal(made.to_numpy(), wanted)
    wide = np.broadcast_to(whole[:, :1, ::2], (3, 40, 5, 25))
    assert np.array_equal(ex.tensor(wide).to_numpy(), wide) and np.array_equal(ex.from_dlpack(wide).to_numpy(), wide)


def test_numpy_scalars_are_not_weak() -> None:
    assert (ex.tensor([1.0], "f32") + np.float32(1)).dtype is ex.f32
    assert (ex.tensor([1.0], "f32") + np.float64(1)).dtype is ex.f64
    with pytest.raises(TypeError, match="i64 and f64"):
        ex.tensor([1]) + np.float64(1)


@pytest.mark.parametrize("array", [np.zeros(2, complex), np.zeros(2, "datetime64[s]")])
def test_dtypes_that_tensors_do_not_have_are_errors(array: Any) -> None:
    with pytest.raises(TypeError, match="complex128|datetime64"):
        ex.tensor(array)


def test_buffers_come_in_without_numpy() -> None:
    memory = bytearray(b"abc")
    tensor = ex.tensor(memoryview(memory))
    assert (tensor.dtype, tensor.tolist()) == (ex.u8, [97, 98, 99])


def test_bool_and_text_go_out_by_copying() -> None:
    assert np.asarray(ex.tensor([[True, False]])).tolist() == [[True, False]]
    out = np.asarray(ex.tensor([["a"], ["b\0"]]))
    assert (out.dtype, out.tolist()) == (np.dtype(object), [["a"], ["b\0"]])
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(ex.tensor([True]), copy=False)
    assert np.asarray(ex.tensor([1, 2]), dtype=np.float32).dtype == np.float32
    assert np.array(ex.tensor([1, 2])).flags.writeable


def test_writable_views_are_refused() -> None:
    with pytest.raises(BufferError, match="no buffer"):
        memoryview(ex.tensor([True]))
    assert memoryview(ex.tensor([1, 2])).readonly
    assert memoryview(ex.tensor([[1, 2]], "i16")).format == "h"


def test_operators_beside_arrays_are_ours() -> None:
    array = np.array([1.0, 2.0])
    tensor = ex.tensor([10.0, 20.0])
    for result in (array + tensor, tensor + array, array * tensor):
        assert isinstance(result, ex.Tensor)
    assert isinstance(np.float64(1.0) + tensor, ex.Tensor)
    assert isinstance(np.add(array, tensor), np.ndarray)
    assert (array < tensor).tolist() == [True, True]


def test_large_work_lets_other_threads_run() -> None:
    import threading

    x = ex.tensor(np.random.default_rng(0).normal(size=(700, 700)))
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(x @ x)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result.tolist() == results[0].tolist() for result in results)


def test_rows_are_arrays_in_an_array() -> None:
    rows = ex.constant([[1.5, 2.5], [], [3.5]])
    arrays = rows.to_numpy()
    assert arrays.dtype == object and [row.tolist() for row in arrays] == rows.to_py()
    assert np.shares_memory(arrays[0], np.asarray(rows.flat_values))
    nested = ex.constant([[[1], []], [], [[2, 3]]])
    assert [[row.tolist() for row in inner] for inner in nested.to_numpy()] == nested.to_py()
    assert [row.tolist() for row in ex.constant([["a", None], []]).to_numpy()] == [["a", None], []]


def test_records_are_structured_arrays() -> None:
    people = ex.constant([{"id": 1, "name": "ada", "age": None, "tags": ["x"]}, {"id": 2, "name": "bo", "age": 3, "tags": []}])
    array = people.to_numpy()
    assert array.shape == (2,) and array["id"].dtype == np.int64 and array["id"].tolist() == [1, 2]
    assert array["name"].tolist() == ["ada", "bo"] and array["age"].tolist() == [None, 3]
    assert [tags.tolist() for tags in array["tags"]] == [["x"], []]
    nested = ex.StructTensor([2], {"at": ex.StructTensor([2], {"xy": [[0.0, 1.0], [2.0, 3.0]]})}).to_numpy()
    assert nested["at"]["xy"].tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert ex.constant({"a": 1}).to_numpy()["a"] == 1


def test_means_of_integers_are_rounded_once() -> None:
    rng = np.random.default_rng(5)
    for dtype in (np.int64, np.uint64, np.int32, np.uint32):
        ends = np.iinfo(dtype)
        for n in (1, 3, 17, 1000, 300_000):
            x = rng.integers(ends.min, ends.max, n, dtype=dtype, endpoint=True)
            wanted = float(Fraction(sum(map(int, x)), n))
            assert ex.mean(ex.tensor(x)).item() == wanted, (dtype, n)
            rows = ex.RaggedTensor.from_row_lengths(ex.tensor(x), [n // 3, 0, n - n // 3])
            last = x[n // 3 :]
            assert ex.mean(rows, axis=1).tolist()[2] == float(Fraction(sum(map(int, last)), len(last)))
            assert ex.function(lambda x: ex.mean(x))(ex.tensor(x)).item() == wanted


def test_distinct_rows_are_those_of_numpy() -> None:
    rng = np.random.default_rng(6)
    for n, k in ((0, 2), (1, 1), (40, 2), (300, 3)):
        x = rng.integers(-2, 2, (n, k))
        values, times = ex.unique_with_counts(ex.tensor(x), axis=0)
        wanted, counts = np.unique(x, axis=0, return_counts=True)
        assert np.array_equal(np.asarray(values), wanted) and np.array_equal(np.asarray(times), counts)
        inverse = np.asarray(ex.unique_with_inverse(ex.tensor(x), axis=0)[1])
        assert np.array_equal(wanted[inverse], x)


def test_elements_are_put_where_numpy_puts_them() -> None:
    rng = np.random.default_rng(7)
    at = rng.integers(0, 4, (50, 2))
    updates = rng.integers(-9, 9, (50, 3))
    sums, last = np.zeros((4, 4, 3), np.int64), np.ones((4, 4, 3), np.int64)
    np.add.at(sums, tuple(at.T), updates)
    for place, update in zip(at, updates):
        last[tuple(place)] = update
    assert np.array_equal(np.asarray(ex.scatter_nd(at, updates, (4, 4, 3))), sums)
    assert np.array_equal(np.asarray(ex.scatter_nd_update(np.ones((4, 4, 3), np.int64), at, updates)), last)
    segments = ex.unsorted_segment_sum(updates, at[:, 0], 4)
    assert np.array_equal(np.asarray(segments), sums.sum(axis=1))


def test_an_array_of_no_texts_is_one_of_texts() -> None:
    for array, dtype in ((np.array([], "U3"), ex.string), (np.zeros((0, 3), "U1"), ex.string), (np.array([], "S1"), ex.bytes)):
        tensor = ex.tensor(array)
        assert (tensor.dtype, tensor.shape) == (dtype, array.shape)
    assert ex.concat([ex.tensor(np.array(["a"])), ex.tensor(np.array([], "U1"))]).tolist() == ["a"]


def test_values_are_arrays_where_an_array_says_the_same() -> None:
    assert np.array_equal(np.asarray(ex.constant([1.0, None])), [1.0, np.nan], equal_nan=True)
    assert np.asarray(ex.constant([1, None])).tolist() == [1, None]
    assert np.asarray(ex.constant([1, None])[:1]).dtype == np.int64
    assert np.asarray(ex.constant([[[1], [2]], [[3], [4]]])).shape == (2, 2, 1)
    assert np.asarray(ex.constant([[], []])).shape == (2, 0)
    assert np.asarray(ex.constant([["a"], [None]])).tolist() == [["a"], [None]]
    assert np.concatenate([ex.constant([1.0, None])[:1], [2.0]]).tolist() == [1.0, 2.0]
    for uneven in ([[1.0], [2.0, 3.0]], [[1.0], None]):
        with pytest.raises(ValueError, match="several lengths"):
            np.asarray(ex.constant(uneven))
    with pytest.raises(ValueError, match="without a copy"):
        np.array(ex.constant([1.0, None]), copy=False)


def test_one_element_that_may_be_missing_is_a_number() -> None:
    there, missing = ex.constant([1.5, None])
    assert (float(there), int(there), there.item(), missing.item()) == (1.5, 1, 1.5, None)
    assert ex.constant([[1], None]).tolist() == [[1], None]
    with pytest.raises(ValueError, match="missing element"):
        float(missing)
    with pytest.raises(ValueError, match="not one item"):
        ex.constant([1, None]).item()
