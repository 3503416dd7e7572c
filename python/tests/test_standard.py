"""The Python Array API standard: what the module and its tensors offer of it beside the ops that conformance cases call."""

import math
from collections.abc import Callable

import extenso as ex
import numpy as np
import pytest

BINARY = ["atan2", "logaddexp", "hypot", "copysign", "nextafter"]
UNARY = ["tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "log2", "log10", "signbit"]


def test_a_tensor_knows_its_namespace() -> None:
    x = ex.tensor([1.0])
    assert x.__array_namespace__() is ex
    assert x.__array_namespace__(api_version="2023.12") is ex
    assert ex.__array_api_version__ == "2024.12"
    with pytest.raises(ex.Error, match=r"(?s)2099\.1.*Wanted: '2024\.12'"):
        x.__array_namespace__(api_version="2099.1")


def test_dtypes_have_the_names_of_the_standard() -> None:
    assert ex.float32 is ex.f32
    assert ex.uint8 is ex.u8
    assert ex.tensor([1], dtype=ex.int16).dtype == ex.i16
    assert (ex.e, ex.pi, ex.inf, ex.newaxis) == (math.e, math.pi, math.inf, None)
    assert math.isnan(ex.nan)


def test_the_namespace_says_what_it_has() -> None:
    info = ex.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}
    assert info.default_dtypes() == {"real floating": ex.f64, "integral": ex.i64, "indexing": ex.i64}
    assert list(info.dtypes(kind=("bool", "unsigned integer"))) == ["bool", "uint8", "uint16", "uint32", "uint64"]
    assert info.dtypes(kind="complex floating") == {}
    assert info.devices() == [info.default_device()] == ["cpu"]


def test_there_is_one_device() -> None:
    x = ex.zeros(2, device="cpu")
    assert x.device == "cpu"
    assert x.to_device("cpu") is x
    for call in (lambda: ex.zeros(2, device="gpu"), lambda: x.to_device("gpu"), lambda: ex.zeros_like(x, device="gpu")):
        with pytest.raises(ex.Error, match="(?s)gpu.*Wanted: 'cpu'"):
            call()


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_floats_are_those_of_numpy(name: str) -> None:
    theirs = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
    numbers = np.array([0.0, -0.0, 0.25, -0.75, 1.0, 3.5, 1e-9, -1e30, math.inf, -math.inf])
    for dtype in (np.float32, np.float64):
        x = numbers.astype(dtype)
        with np.errstate(all="ignore"):
            wanted = getattr(np, theirs.get(name, name))(x)
        np.testing.assert_allclose(np.asarray(getattr(ex, name)(x)), wanted, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_floats_are_those_of_numpy(name: str) -> None:
    numbers = [0.0, -0.0, 0.25, -0.75, 1.0, 700.0, math.inf, -math.inf, math.nan]
    for dtype in (np.float32, np.float64):
        x, y = (grid.ravel().astype(dtype) for grid in np.meshgrid(numbers, numbers))
        with np.errstate(all="ignore"):
            wanted = getattr(np, {"atan2": "arctan2"}.get(name, name))(x, y)
        np.testing.assert_allclose(np.asarray(getattr(ex, name)(x, y)), wanted, rtol=4 * np.finfo(dtype).eps)


def test_limits_are_those_of_numpy() -> None:
    for name in ("float32", "float64"):
        ours, theirs = ex.finfo(getattr(ex, name)), np.finfo(name)
        pairs = [(getattr(ours, key), float(getattr(theirs, key))) for key in ("eps", "max", "min", "smallest_normal")]
        assert all(a == b for a, b in pairs)
        assert (ours.bits, ours.dtype) == (theirs.bits, getattr(ex, name))
    for name in ("int8", "uint16", "int64", "uint64"):
        ints, limits = ex.iinfo(getattr(ex, name)), np.iinfo(name)
        assert (ints.bits, ints.min, ints.max) == (limits.bits, limits.min, limits.max)
    assert ex.finfo(ex.tensor([1.0])).bits == 64


def test_result_type_says_which_dtype_to_cast_to() -> None:
    assert ex.result_type(ex.int8, ex.uint8, ex.int16) == ex.int16
    assert ex.result_type(ex.tensor([1.0], dtype="f32"), 1, ex.float64) == ex.float64
    assert ex.result_type(1.5, ex.float32) == ex.float32
    assert ex.result_type("i8", "i32") == ex.int32
    with pytest.raises(ex.Error, match="i64 and f32 have no dtype in common"):
        ex.result_type(ex.int64, ex.float32)
    with pytest.raises(ex.Error, match="a float stands beside i64"):
        ex.result_type(ex.int64, 1.5)
    with pytest.raises(ex.Error, match="no dtype is given"):
        ex.result_type(1)


def test_dtypes_are_of_kinds() -> None:
    assert ex.isdtype(ex.uint8, ("bool", "integral"))
    assert ex.isdtype(ex.float32, ex.float32)
    assert not ex.isdtype(ex.float32, "complex floating")
    assert ex.can_cast(ex.tensor([1], dtype="u8"), ex.int16)
    with pytest.raises(ex.Error, match="'whole' is no kind"):
        ex.isdtype(ex.float32, "whole")


def test_a_fold_in_a_dtype_is_of_that_dtype() -> None:
    x = ex.tensor([100, 100], dtype="i8")
    assert ex.sum(x).dtype == ex.i64
    assert (ex.sum(x, dtype="i8").item(), ex.sum(x, dtype="i8").dtype) == (-56, ex.i8)
    assert ex.prod(x, dtype=ex.float32).item() == 10000.0
    assert ex.cumulative_sum(x, dtype="i32", include_initial=True).tolist() == [0, 100, 200]
    assert ex.cumulative_prod([[2, 3]], axis=1, include_initial=True).tolist() == [[1, 2, 6]]
    assert ex.cumulative_sum([1, 2], axis=0, reverse=True, include_initial=True).tolist() == [3, 2, 0]
    assert ex.cumulative_sum(ex.zeros((2, 0)), axis=1, include_initial=True).tolist() == [[0.0], [0.0]]


def test_keywords_of_the_standard_beside_attributes() -> None:
    x = ex.tensor([3, 1, 2])
    assert ex.sort(x, stable=False).tolist() == [1, 2, 3]
    assert ex.argsort(x, stable=True, descending=True).tolist() == [0, 2, 1]
    assert ex.searchsorted(x, [2, 4], sorter=ex.argsort(x)).tolist() == [1, 3]
    assert ex.reshape(x, (3, 1), copy=True).shape == (3, 1)
    assert ex.zeros_like(x, dtype=ex.float32).dtype == ex.float32
    assert ex.ones_like(x, dtype=bool, device="cpu").tolist() == [True] * 3
    assert ex.squeeze([[1, 2]], axis=0).tolist() == [1, 2]
    assert ex.concat([[[1], [2]], [3]], axis=None).tolist() == [1, 2, 3]
    assert ex.take([[1, 2], [3, 4]], [3], axis=None).tolist() == [4]
    with pytest.raises(ex.Error, match="stable"):
        ex.max(x, stable=True)  # type: ignore[call-arg]


def test_values_made_after_others() -> None:
    x = ex.tensor([[1, 2]])
    assert ex.full_like(x, 7, dtype="f32").tolist() == [[7.0, 7.0]]
    assert ex.empty_like(x, dtype="bool").dtype == ex.bool
    assert ex.empty((2, 0)).shape == (2, 0)
    assert ex.astype(x, "f64", copy=False).dtype == ex.f64
    assert ex.eye(2, k=1).tolist() == [[0.0, 1.0], [0.0, 0.0]]
    assert [y.tolist() for y in ex.meshgrid([1, 2], [3, 4, 5])] == [[[1, 2]] * 3, [[3, 3], [4, 4], [5, 5]]]
    assert [y.shape for y in ex.broadcast_arrays(x, [[0.5], [1.5]], 3)] == [(2, 2)] * 3
    assert ex.meshgrid() == []
    with pytest.raises(ex.Error, match="indexing is 'yx'"):
        ex.meshgrid([1], indexing="yx")  # type: ignore[arg-type]
    with pytest.raises(ex.Error, match="broadcast_arrays"):
        ex.broadcast_arrays([1, 2], [1, 2, 3])


def test_distinct_elements_and_where_they_stand() -> None:
    x = [[5, 3], [5, 9]]
    found = ex.unique_all(x)
    assert [ex.to_py(part) for part in found] == [[3, 5, 9], [1, 0, 3], [[1, 0], [1, 2]], [1, 2, 1]]
    assert ex.unique_counts(x).counts.tolist() == [1, 2, 1]
    values, inverse = ex.unique_inverse(x)
    assert ex.take(values, inverse).tolist() == x
    assert [part.tolist() for part in ex.unique_all(ex.zeros((0, 2)))] == [[], [], [], []]
    with pytest.raises(ex.Error, match="unique_all"):
        ex.unique_all(ex.constant([[1], []]))


def test_operators_shift_and_rebind() -> None:
    x = ex.tensor([1, -5])
    assert (x << 2).tolist() == [4, -20]
    assert (x >> 1).tolist() == [0, -3]
    assert (1 << ex.tensor([3])).tolist() == [8]
    assert (+x).tolist() == [1, -5]
    y = x
    y += 1
    y <<= 1
    assert (x.tolist(), y.tolist()) == ([1, -5], [4, -8])
    assert ex.tensor([[[1, 2]]]).mT.shape == (1, 2, 1)
    assert complex(ex.tensor(1.5)) == 1.5 + 0j


def test_a_tensor_cannot_be_changed() -> None:
    x = ex.tensor([1, 2])
    with pytest.raises(TypeError, match="(?s)cannot be changed.*where"):
        x[0] = 5


def test_asarray_copies_when_it_must() -> None:
    numbers = np.arange(3.0)
    own = ex.asarray(numbers, copy=True)
    shared = ex.asarray(numbers, copy=False)
    numbers[0] = 7.0
    assert (own.tolist(), shared.tolist()) == ([0.0, 1.0, 2.0], [7.0, 1.0, 2.0])
    assert ex.asarray(own, copy=False) is not None
    for call in (lambda: ex.asarray([1], copy=False), lambda: ex.asarray(numbers, dtype="f32", copy=False)):
        with pytest.raises(ex.Error, match="without a copy"):
            call()


@pytest.mark.parametrize(
    ("f", "at"),
    [
        (ex.tan, 0.5),
        (ex.asin, 0.5),
        (ex.acos, 0.5),
        (ex.atan, -2.0),
        (ex.sinh, 0.5),
        (ex.cosh, 0.5),
        (ex.asinh, -2.0),
        (ex.acosh, 2.0),
        (ex.atanh, 0.5),
        (ex.log2, 3.0),
        (ex.log10, 3.0),
        (lambda x: ex.hypot(x, 2.0), 1.0),
        (lambda x: ex.atan2(x, 2.0), 1.0),
        (lambda x: ex.atan2(2.0, x), 1.0),
        (lambda x: ex.logaddexp(x, 2.0), 1.0),
        (lambda x: ex.copysign(x, -1.0), 3.0),
        (lambda x: ex.var(ex.stack([x, ex.tensor(4.0)])), 1.0),
        (lambda x: ex.std(ex.stack([x, ex.tensor(4.0)]), correction=1), 1.0),
        (lambda x: ex.sum(ex.diff(ex.stack([x * x, x]))), 3.0),
    ],
)
def test_gradients_are_finite_differences(f: "Callable[[ex.Tensor], ex.Tensor]", at: float) -> None:
    x, h = ex.tensor(at), 1e-6
    wanted = (f(x + h) - f(x - h)).item() / (2 * h)
    assert ex.grad(f)(x).item() == pytest.approx(wanted, rel=1e-6)


QS = (0.0, 0.1, 0.25, 0.5, 2 / 3, 0.9, 1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_quantiles_are_those_of_numpy(dtype: type) -> None:
    rng = np.random.default_rng(5)
    floats = np.dtype(dtype).kind == "f"
    near = 8 * float(np.finfo(dtype if floats else np.float64).eps)
    for shape in [(1,), (2,), (7,), (4, 5), (3, 1, 6)]:
        x = (rng.normal(size=shape) if floats else rng.integers(0, 50, shape)).astype(dtype)
        for axis in [None, *range(-len(shape), len(shape))]:
            for keepdims in (False, True):
                for q in (*QS, QS, ()):
                    wanted = np.quantile(x, q, axis=axis, keepdims=keepdims)
                    found = np.asarray(ex.quantile(x, np.array(q, np.float64), axis=axis, keepdims=keepdims))
                    assert found.dtype == (dtype if floats else np.float64)
                    assert found.shape == wanted.shape
                    np.testing.assert_allclose(found, wanted, rtol=near, atol=near)
                wanted = np.median(x, axis=axis, keepdims=keepdims)
                found = np.asarray(ex.median(x, axis=axis, keepdims=keepdims))
                np.testing.assert_allclose(found, wanted, rtol=near, atol=near)


def test_quantiles_of_what_has_a_nan_or_nothing_are_nan() -> None:
    x = np.array([[1.0, math.nan, 0.0], [3.0, 1.0, 2.0]])
    np.testing.assert_array_equal(np.asarray(ex.median(x, axis=1)), np.median(x, axis=1))
    np.testing.assert_array_equal(np.asarray(ex.quantile(x, [0.0, 1.0], axis=0)), np.quantile(x, [0.0, 1.0], axis=0))
    assert ex.to_py(ex.median(np.zeros((2, 0)), axis=1)) == pytest.approx([math.nan] * 2, nan_ok=True)
    rows = [[4.0, 1.0, 2.0], [], [3.0], [math.nan, 1.0]]
    wanted = [np.median(row) if row else math.nan for row in rows]
    assert ex.to_py(ex.median(ex.constant(rows), axis=1)) == pytest.approx(wanted, nan_ok=True)


def test_counts_of_small_integers_are_those_of_numpy() -> None:
    rng = np.random.default_rng(6)
    for n in (0, 1, 1000, 300_000):
        x = rng.integers(0, 40, n)
        weights = rng.normal(size=n)
        for least in (0, 7, 100):
            np.testing.assert_array_equal(np.asarray(ex.bincount(x, minlength=least)), np.bincount(x, minlength=least))
            found = np.asarray(ex.bincount(x, weights, least))
            np.testing.assert_allclose(found, np.bincount(x, weights, least), rtol=1e-12, atol=1e-12)
    with pytest.raises(ex.Error, match=r"(?s)\[2\] is -1.*Wanted: integers from 0"):
        ex.bincount([0, 1, -1])
    with pytest.raises(ex.Error, match="weights have shape"):
        ex.bincount([0, 1], [1.0])
