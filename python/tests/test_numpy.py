"""Tests of tensors beside NumPy: memory is shared both ways, and values agree."""

from __future__ import annotations

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


def test_numpy_scalars_are_not_weak() -> None:
    assert (ex.tensor([1.0], "f32") + np.float32(1)).dtype is ex.f32
    with pytest.raises(TypeError, match="f32 and f64"):
        ex.tensor([1.0], "f32") + np.float64(1)


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
