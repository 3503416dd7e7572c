"""Tests of tensors: making them, reading them, indexing, errors, pickling."""

from __future__ import annotations

import operator
import pickle
from typing import Any

import extenso as ex
import pytest


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (3, ex.i64, ()),
        (2.5, ex.f64, ()),
        (True, ex.bool, ()),
        ("größe", ex.string, ()),
        (b"\xff", ex.bytes, ()),
        ([], ex.f64, (0,)),
        ([[], []], ex.f64, (2, 0)),
        ([1, 2.5], ex.f64, (2,)),
        (((1, 2), [3, 4]), ex.i64, (2, 2)),
        ([[True], [False]], ex.bool, (2, 1)),
        (["a", "", "ß"], ex.string, (3,)),
        ([b"a", b""], ex.bytes, (2,)),
        ([2**63], ex.u64, (1,)),
        ([[2**64 - 1], [0]], ex.u64, (2, 1)),
        ([2**63, -1], None, None),
    ],
)
def test_literals_have_numpys_default_dtypes(value: object, dtype: ex.DType | None, shape: tuple[int, ...] | None) -> None:
    if dtype is None:
        with pytest.raises(ex.Error, match="does not fit"):
            ex.tensor(value)
        return
    tensor = ex.tensor(value)
    assert (tensor.dtype, tensor.shape) == (dtype, shape)
    plain = [list(row) for row in value] if isinstance(value, tuple) else value
    assert tensor.tolist() == plain


@pytest.mark.parametrize("name", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"])
def test_a_dtype_decides(name: str) -> None:
    tensor = ex.tensor([[1, 2], [3, 4]], dtype=name)
    assert str(tensor.dtype) == name
    assert tensor.tolist() == [[1, 2], [3, 4]]
    assert ex.tensor(7, dtype=name).item() == 7


@pytest.mark.parametrize(
    ("value", "dtype", "texts"),
    [
        ([300], "i8", ["300", "i8"]),
        ([-1], "u8", ["-1", "u8"]),
        ([1.5], "i32", ["1.5", "i32"]),
        (["a"], "f32", ['"a"', "f32"]),
        ([True], "i32", ["True", "i32"]),
        ([1, "a"], None, ["[1]", "string", "i64"]),
        ([[1], [2, 3]], None, ["[1]", "constant"]),
        ([1, [2]], None, ["[1]", "depth"]),
        ([None], None, ["NoneType"]),
        ({}, None, ["dict"]),
        (2**64, None, ["64 bits"]),
    ],
)
def test_what_makes_no_tensor_is_an_error_with_its_place(value: object, dtype: str | None, texts: list[str]) -> None:
    with pytest.raises(ex.Error) as caught:
        ex.tensor(value, dtype)
    assert all(text in str(caught.value) for text in texts), str(caught.value)


def test_deep_nesting_is_an_error() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ex.Error, match="nested deeper"):
        ex.tensor(value)


def test_lists_of_tensors_are_stacked() -> None:
    row = ex.tensor([1, 2])
    assert ex.tensor([row, row + 1]).tolist() == [[1, 2], [2, 3]]
    assert ex.tensor([[row], [row]]).shape == (2, 1, 2)
    assert ex.tensor([ex.tensor(1.5, "f32"), 2]).dtype is ex.f32


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv]


@pytest.mark.parametrize("op", OPERATORS)
def test_operators_are_those_of_numbers(op: Any) -> None:
    x, y = [7.0, -7.0, 0.5], [2.0, 2.0, 4.0]
    expect = [op(a, b) for a, b in zip(x, y, strict=True)]
    assert op(ex.tensor(x), ex.tensor(y)).tolist() == expect
    assert op(ex.tensor(x), y).tolist() == expect
    assert op(x, ex.tensor(y)).tolist() == expect
    assert op(7.0, ex.tensor(y)).tolist() == [op(7.0, b) for b in y]


@pytest.mark.parametrize("op", [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge])
def test_comparisons_are_those_of_numbers(op: Any) -> None:
    x, y = [1, 2, 3], [2, 2, 2]
    expect = [op(a, b) for a, b in zip(x, y, strict=True)]
    assert op(ex.tensor(x), ex.tensor(y)).tolist() == expect
    assert op(ex.tensor(x), 2).tolist() == expect
    assert op(2, ex.tensor(x)).tolist() == [op(2, a) for a in x]


def test_the_other_operators() -> None:
    x = ex.tensor([[1.0, -2.0], [3.0, 4.0]])
    assert (-x).tolist() == [[-1.0, 2.0], [-3.0, -4.0]]
    assert abs(x).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert (x @ [1.0, 1.0]).tolist() == [-1.0, 7.0]
    assert ([1.0, 1.0] @ x).tolist() == [4.0, 2.0]
    assert x.T.tolist() == [[1.0, 3.0], [-2.0, 4.0]]
    mask = x > 0.0
    assert (mask & ~mask).tolist() == [[False, False], [False, False]]
    assert (mask | True).tolist() == [[True, True], [True, True]]


def test_python_numbers_are_weak() -> None:
    assert (ex.tensor([1], "i8") + 3).dtype is ex.i8
    assert (2 * ex.tensor([1.0], "f32")).dtype is ex.f32
    with pytest.raises(TypeError, match="1.5 does not fit dtype i8"):
        ex.tensor([1], "i8") + 1.5
    with pytest.raises(ex.Error, match="300 does not fit dtype i8"):
        ex.tensor([1], "i8") + 300


def test_what_no_op_takes_is_left_to_python() -> None:
    class Other:
        def __radd__(self, other: object) -> str:
            return "mine"

    assert ex.tensor([1]) + Other() == "mine"
    with pytest.raises(TypeError, match="unsupported operand"):
        ex.tensor([1]) + object()
    assert (ex.tensor([1]) == object()) is False


SOURCE = [[[100 * i + 10 * j + k for k in range(4)] for j in range(3)] for i in range(2)]
KEYS: list[Any] = [
    0,
    -1,
    (1, 2),
    (1, 2, 3),
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    (slice(None), slice(0, 3, 2)),
    (slice(None), slice(None), slice(-3, -1)),
    (slice(5, 2), slice(None, None, -2)),
    ...,
    (..., 0),
    (0, ..., -1),
    None,
    (None, 0, None),
    (slice(None), None, 1),
    (..., None),
    [1, 0, 0],
    (slice(None), [[2, 0], [1, 1]]),
    (0, [2, 1]),
    ([0, 1], slice(None), 2),
    (slice(10**30), slice(-(10**30), None)),
    [True, False],
    (slice(None), [True, False, True]),
    ([False, True], slice(None), 2),
    (0, [[True, False, True, False]] * 3),
    (..., [False, True, True, False]),
    [[True, False, True], [False, False, True]],
]


@pytest.mark.parametrize("key", KEYS)
def test_indexing_is_numpys(key: Any) -> None:
    numpy = pytest.importorskip("numpy")
    expect = numpy.array(SOURCE)[key]
    found = ex.tensor(SOURCE)[key]
    assert found.shape == expect.shape
    assert found.tolist() == expect.tolist()


@pytest.mark.parametrize(
    ("key", "exception", "text"),
    [
        (2, IndexError, "index 2 is out of range for axis 0 of size 2"),
        ((0, -4), IndexError, "index -4 is out of range for axis 1 of size 3"),
        ((0, 0, 0, 0), IndexError, "about 4 axes, and the value has 3"),
        ((..., ...), IndexError, "two ellipses"),
        (slice(None, None, 0), ValueError, "step"),
        (slice(0.5), TypeError, "float in a slice"),
        (0.5, TypeError, "indices of f64"),
        (True, TypeError, "boolean"),
        ([True], IndexError, "mask"),
        ("a", KeyError, "leads nowhere"),
        ([5], IndexError, "5"),
        (([0], slice(None), [0]), ValueError, "second tensor(.|\n)*at most one"),
    ],
)
def test_keys_that_select_nothing_are_errors(key: Any, exception: type[Exception], text: str) -> None:
    with pytest.raises(exception, match=text) as caught:
        ex.tensor(SOURCE)[key]
    assert isinstance(caught.value, ex.Error)


def test_iteration_is_over_the_outer_axis() -> None:
    tensor = ex.tensor(SOURCE)
    assert len(tensor) == 2
    assert [row.tolist() for row in tensor] == SOURCE
    iterator = iter(tensor)
    assert len(list(iterator)) == 2
    assert list(iterator) == []
    with pytest.raises(ex.Error, match="0-d"):
        iter(ex.tensor(1))
    with pytest.raises(ex.Error, match="0-d"):
        len(ex.tensor(1))


def test_one_element_is_a_python_number() -> None:
    assert int(ex.tensor([[3]])) == 3
    assert float(ex.tensor(2)) == 2.0
    assert operator.index(ex.tensor(2, "u8")) == 2
    assert [10, 20, 30][ex.tensor(1)] == 20
    assert bool(ex.tensor([0.0])) is False
    assert bool(ex.tensor("a")) is True
    assert ex.tensor(b"a").item() == b"a"
    for use in (bool, int, float):
        with pytest.raises(ValueError, match="2 elements"):
            use(ex.tensor([1, 2]))
    with pytest.raises(TypeError, match="an integer"):
        operator.index(ex.tensor(1.0))
    with pytest.raises(TypeError, match="a number"):
        float(ex.tensor("1"))


def test_tensors_are_immutable_and_not_hashable() -> None:
    tensor = ex.tensor([1])
    with pytest.raises(AttributeError):
        tensor.dtype = ex.f32  # type: ignore[misc]
    with pytest.raises(TypeError):
        tensor[0] = 1  # type: ignore[index]
    with pytest.raises(TypeError, match="unhashable"):
        hash(tensor)


@pytest.mark.parametrize(
    "value",
    [
        ex.tensor([[1.5, float("inf")]], "f32"),
        ex.tensor([1, 2], "bf16"),
        ex.tensor([True] * 13)[3:],
        ex.tensor(["a", "größe", ""])[1:],
        ex.tensor([b"\x00\xff"]),
        ex.tensor([[], []]),
        ex.tensor(5),
    ],
)
def test_pickle_gives_back_an_equal_tensor(value: ex.Tensor) -> None:
    back = pickle.loads(pickle.dumps(value))
    assert (back.dtype, back.shape, back.tolist()) == (value.dtype, value.shape, value.tolist())


@pytest.mark.parametrize(
    "args",
    [
        ("f32", [2], b"123", None),
        ("f32", [2**40, 2**40], b"", None),
        ("bool", [9], b"\x00", None),
        ("string", [1], b"\xff", b"\0" * 8 + b"\1" + b"\0" * 7),
        ("string", [1], b"a", b"\0" * 15),
        ("string", [1], b"a", b"\2" + b"\0" * 15),
        ("f32", [1], b"1234", b"\0" * 8),
        ("nothing", [], b"", None),
    ],
)
def test_malformed_pickles_are_errors(args: tuple[Any, ...]) -> None:
    with pytest.raises(ex.Error):
        ex._core._tensor_from_bytes(*args)


def test_constants_pickle_to_themselves() -> None:
    for constant in (ex.f32, ex.string, ex.reduction, ex.add, ex.where):
        assert pickle.loads(pickle.dumps(constant)) in (constant,)
    assert pickle.loads(pickle.dumps(ex.f32)) is ex.f32


def test_dtypes_are_named_by_many() -> None:
    for name in ("f32", "float32", ex.f32):
        assert ex.as_dtype(name) is ex.f32
    assert [ex.as_dtype(builtin) for builtin in (bool, int, float, str, bytes)] == [
        ex.bool,
        ex.i64,
        ex.f64,
        ex.string,
        ex.bytes,
    ]
    with pytest.raises(ex.Error, match="dtype"):
        ex.as_dtype("complex64")
    with pytest.raises(TypeError, match="dtype"):
        ex.as_dtype(3)


def test_variables_hold_what_is_assigned() -> None:
    variable = ex.Variable("w", [1.0, 2.0], dtype="f32")
    assert (variable.name, variable.dtype) == ("w", ex.f32)
    assert ex.add(variable, 1).tolist() == [2.0, 3.0]
    assert variable.assign([3, 4]).tolist() == [3.0, 4.0]
    assert variable.read().tolist() == [3.0, 4.0]
    with pytest.raises(ex.Error, match=r"(?s)'w'.*f32\[2\]"):
        variable.assign([1.0])
    with pytest.raises(ex.Error, match="w"):
        pickle.dumps(variable)


def test_partitions_are_proven() -> None:
    partition = ex.RowPartition.from_row_splits([0, 2, 2, 5])
    assert (partition.nrows, partition.nvalues, len(partition)) == (3, 5, 3)
    assert partition == ex.RowPartition.from_row_lengths([2, 0, 3])
    assert partition.row_lengths().tolist() == [2, 0, 3]
    assert partition.value_rowids().tolist() == [0, 0, 2, 2, 2]
    assert pickle.loads(pickle.dumps(partition)) == partition
    for splits in ([], [1, 2], [0, 3, 2], [0.0, 1.0], [[0, 1]], [-1, 0]):
        with pytest.raises(ex.Error):
            ex.RowPartition.from_row_splits(splits)
    with pytest.raises(ex.Error, match="-1"):
        ex.RowPartition.from_row_lengths([1, -1])


def test_conversions_by_protocol_and_by_registration() -> None:
    class Protocol:
        def __extenso_tensor__(self) -> ex.Tensor:
            return ex.tensor([1, 2])

    class Foreign:
        pass

    class Child(Foreign):
        pass

    class Wrong:
        def __extenso_tensor__(self) -> int:
            return 1

    assert (ex.tensor([1, 1]) + Protocol()).tolist() == [2, 3]
    with pytest.raises(ex.Error, match="Foreign"):
        ex.tensor(Foreign())
    ex.register_tensor_conversion_function(Foreign, lambda foreign: ex.tensor([5]))
    assert ex.asarray(Child(), "f32").tolist() == [5.0]
    with pytest.raises(ex.Error, match="`__extenso_tensor__` returned a int"):
        ex.tensor(Wrong())
