"""Tests of DLPack: memory is shared both ways, given back once, and never written by who was told not to."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import extenso as ex
import numpy as np
import pytest
from interop_values import NUMBERS, address


@pytest.mark.parametrize("dtype", NUMBERS)
def test_zero_copy_means_the_same_address(dtype: str) -> None:
    x = ex.tensor([[0, 1, 2], [3, 4, 5]], dtype)
    array = np.from_dlpack(x)
    assert array.tolist() == x.tolist() and address(array) == address(x)
    assert not array.flags.writeable
    source = np.arange(5, dtype=array.dtype)
    back = ex.from_dlpack(source)
    assert back.dtype is x.dtype and address(back) == address(source)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12).reshape(3, 4)[:, ::2],
        np.arange(12).reshape(3, 4).T,
        np.arange(5)[::-1],
        np.broadcast_to(np.int8(7), (2, 3)),
        np.arange(6).reshape(2, 1, 3)[:, :, 1:],
        np.array(3),
        np.zeros((0, 3)),
        np.zeros((2, 0, 3), dtype="f4"),
        np.array([True, False, True])[::-1],
    ],
)
def test_arrays_of_any_layout_come_in(array: Any) -> None:
    tensor = ex.from_dlpack(array)
    assert tensor.shape == array.shape and tensor.tolist() == array.tolist()


def test_memory_lives_as_long_as_its_last_reader() -> None:
    array = np.from_dlpack(ex.tensor([1.0, 2.0]) + 1.0)
    gc.collect()
    assert array.tolist() == [2.0, 3.0]

    class Owner(np.ndarray):  # type: ignore[type-arg]
        """An array that a weak reference can point to."""

    source = np.arange(1000.0).view(Owner)
    gone = weakref.ref(source)
    tensor = ex.from_dlpack(source)
    inner = tensor[10:12]
    del source, tensor
    gc.collect()
    assert gone() is not None and inner.tolist() == [10.0, 11.0]
    del inner
    gc.collect()
    assert gone() is None


def test_a_capsule_is_used_once() -> None:
    capsule = ex.tensor([1, 2]).__dlpack__(max_version=(1, 0))
    assert ex.from_dlpack(capsule).tolist() == [1, 2]
    with pytest.raises(ValueError, match="used once"):
        ex.from_dlpack(capsule)
    # One that nobody takes is given back by Python.
    del capsule
    ex.tensor([1, 2]).__dlpack__()


def test_old_consumers_get_a_copy_unless_they_forbid_it() -> None:
    x = ex.tensor([1.0, 2.0])
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 3)))
    assert address(ex.from_dlpack(x.__dlpack__())) != address(x)
    assert address(ex.from_dlpack(x.__dlpack__(copy=False))) == address(x)
    assert address(ex.from_dlpack(x.__dlpack__(max_version=(1, 0), copy=True))) != address(x)
    written = np.from_dlpack(x, copy=True)
    written[0] = 5.0
    assert x.tolist() == [1.0, 2.0]


def test_copies_are_as_asked() -> None:
    source = np.arange(4)
    assert address(ex.from_dlpack(source, copy=True)) != address(source)
    assert address(ex.from_dlpack(source, device="cpu", copy=False)) == address(source)
    for array in (source[::2], np.array([True])):
        with pytest.raises(ValueError, match="cannot be shared"):
            ex.from_dlpack(array, copy=False)


class Elsewhere:
    """An array of another device."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("nobody asks")


class Old:
    """An array of a library from before versions."""

    def __dlpack__(self, stream: Any = None) -> Any:
        return ex.tensor([1, 2]).__dlpack__()


def test_what_is_no_array_of_this_memory_is_refused() -> None:
    with pytest.raises(TypeError, match="found a value of type list"):
        ex.from_dlpack([1])
    with pytest.raises(ValueError, match="Copy the array to the CPU"):
        ex.from_dlpack(Elsewhere())
    with pytest.raises(TypeError, match="element type"):
        ex.from_dlpack(np.zeros(2, complex))
    with pytest.raises(ValueError, match="that memory can hold"):
        ex.from_dlpack(np.broadcast_to(np.int8(1), (2**45,)))
    with pytest.raises(ValueError, match="'cpu', the only one"):
        ex.from_dlpack(np.zeros(2), device="cuda")


def test_old_arrays_and_any_array_with_dlpack_are_tensors() -> None:
    assert ex.from_dlpack(Old()).tolist() == [1, 2]
    assert ex.tensor(Old()).tolist() == [1, 2]
    assert (ex.tensor([1, 1]) + Old()).tolist() == [2, 3]


class Brain:
    """An array of a dtype that NumPy does not have."""

    def __array__(self, **_: Any) -> Any:
        raise TypeError("no such dtype")

    def __dlpack__(self, **options: Any) -> Any:
        return ex.tensor([1.5], "bf16").__dlpack__(**options)


def test_dlpack_is_asked_where_numpy_has_no_dtype() -> None:
    made = ex.tensor(Brain())
    assert made.dtype is ex.bf16 and made.tolist() == [1.5]


def test_what_a_tensor_cannot_offer_is_refused() -> None:
    x = ex.tensor([1.0])
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="DLPack has no string"):
        ex.tensor(["a"]).__dlpack__()
    with pytest.raises(BufferError, match="Wanted: \\(1, 0\\), the CPU"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="bits here and bytes"):
        ex.tensor([True]).__dlpack__(copy=False)
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=1)
    assert np.from_dlpack(ex.tensor([[True], [False]])).tolist() == [[True], [False]]


def test_a_symbol_has_no_memory() -> None:
    def body(x: Any) -> Any:
        with pytest.raises(ex.Error):
            x.__dlpack__()
        return x

    ex.function(body)(ex.tensor([1.0]))


def test_what_an_array_does_not_give_away_is_not_read_from_its_elements() -> None:
    class WithGradients:
        def __array__(self, *_: object) -> object:
            raise RuntimeError("detach it first")

        def __dlpack__(self, **_: object) -> object:
            raise BufferError("detach it first")

        def tolist(self) -> "list[float]":
            return [1.0]

    for made in (ex.constant, ex.tensor, ex.from_dlpack):
        with pytest.raises(BufferError, match="detach it first"):
            made(WithGradients())


def test_a_dtype_that_capsules_do_not_have_is_not_asked_for() -> None:
    class Strings:
        class dtype:
            name = "string"

        def __dlpack__(self, **_: object) -> object:
            raise AssertionError("a library may end the process here")

    with pytest.raises(ex.DTypeError, match="from_dlpack: the array is of string"):
        ex.from_dlpack(Strings())
