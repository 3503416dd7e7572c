"""Operators: each is the op of its name, on tensors, rows, missing values, fields and symbols, from either side."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import extenso as ex

BINARY: list[tuple[Callable[[Any, Any], Any], Any, Any]] = [
    (operator.add, 7, 3),
    (operator.sub, 7, 3),
    (operator.mul, 7, 3),
    (operator.truediv, 7.0, 2.0),
    (operator.floordiv, -7, 3),
    (operator.mod, -7, 3),
    (operator.mod, 7.5, -2.0),
    (operator.pow, 2, 5),
    (operator.pow, 2.0, 0.5),
    (operator.and_, 6, 3),
    (operator.or_, 6, 3),
    (operator.xor, 6, 3),
    (operator.and_, True, False),
    (operator.or_, True, False),
    (operator.xor, True, True),
    (operator.lt, 2, 3),
    (operator.le, 3, 3),
    (operator.gt, 2, 3),
    (operator.ge, 2, 3),
]
UNARY: list[tuple[Callable[[Any], Any], Any]] = [
    (operator.neg, 3),
    (abs, -3.5),
    (operator.invert, 5),
    (operator.invert, True),
]


@pytest.mark.parametrize(("op", "x", "y"), BINARY)
def test_a_binary_operator_is_numpys_from_either_side(op: Callable[[Any, Any], Any], x: Any, y: Any) -> None:
    wanted = op(np.array([x, x]), np.array([y, y])).tolist()
    tensor, other = ex.constant([x, x]), ex.constant([y, y])
    assert ex.to_py(op(tensor, other)) == wanted
    assert ex.to_py(op(tensor, y)) == wanted
    assert ex.to_py(op(x, other)) == wanted


@pytest.mark.parametrize(("op", "x", "y"), BINARY)
def test_a_binary_operator_works_on_rows_and_missing_values(op: Callable[[Any, Any], Any], x: Any, y: Any) -> None:
    one = op(np.array([x]), np.array([y])).tolist()[0]
    rows, masked = ex.constant([[x, x], [], [x]]), ex.constant([x, None])
    assert ex.to_py(op(rows, y)) == [[one, one], [], [one]]
    assert ex.to_py(op(rows, ex.constant([[y, y], [], [y]]))) == [[one, one], [], [one]]
    assert ex.to_py(op(x, ex.constant([[y, y], [], [y]]))) == [[one, one], [], [one]]
    assert ex.to_py(op(masked, y)) == [one, None]
    assert ex.to_py(op(x, ex.constant([y, None]))) == [one, None]
    assert ex.to_py(op(ex.constant([[x, None], []]), y)) == [[one, None], []]


@pytest.mark.parametrize(("op", "x", "y"), BINARY)
def test_a_binary_operator_works_on_fields_and_symbols(op: Callable[[Any, Any], Any], x: Any, y: Any) -> None:
    one = op(np.array([x]), np.array([y])).tolist()[0]
    records = ex.constant([{"x": x, "y": [y]}, {"x": x, "y": [y, y]}])
    assert ex.to_py(op(records["x"], y)) == [one, one]
    assert ex.to_py(op(x, records["y"])) == [[one], [one, one]]
    traced = ex.function(lambda a, b: (op(a, b), op(a, y), op(x, b)))
    results = traced(ex.constant([x]), ex.constant([y]))
    assert [ex.to_py(result) for result in results] == [[one]] * 3


@pytest.mark.parametrize(("op", "x"), UNARY)
def test_a_unary_operator_is_numpys(op: Callable[[Any], Any], x: Any) -> None:
    one = op(np.array([x])).tolist()[0]
    assert ex.to_py(op(ex.constant([x]))) == [one]
    assert ex.to_py(op(ex.constant([[x], []]))) == [[one], []]
    assert ex.to_py(op(ex.constant([x, None]))) == [one, None]
    assert ex.to_py(op(ex.constant([{"x": x}])["x"])) == [one]
    assert ex.to_py(ex.function(op)(ex.constant([x]))) == [one]


@pytest.mark.parametrize("op", [operator.floordiv, operator.mod])
def test_an_integer_divided_by_zero_is_an_error_that_names_the_position(op: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(ValueError, match=r"divided by zero.*\[1\]"):
        op(ex.constant([1, 2]), ex.constant([1, 0]))
    with pytest.raises(ValueError, match="divided by zero"):
        op(ex.constant([[1], [2, 3]]), 0)
    assert ex.to_py(op(ex.constant([4, 5]), ex.constant([2, None])))[1] is None


def test_an_operand_that_no_op_takes_is_left_to_the_other_side() -> None:
    for op in (operator.mod, operator.pow, operator.xor):
        with pytest.raises(TypeError):
            op(ex.constant([1]), object())
        with pytest.raises(TypeError):
            op(object(), ex.constant([1]))
    with pytest.raises(TypeError):
        pow(ex.constant([2]), 2, 3)


def test_bits_of_floats_are_an_error_that_says_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"(?s)bitwise_and.*f64.*greater"):
        ex.constant([1.0]) & ex.constant([2.0])


def test_a_number_as_an_index_is_no_element() -> None:
    assert ex.to_py(ex.take(ex.constant(["a", "b", "c"]), 2)) == "c"
    assert ex.to_py(ex.take(ex.constant(["a", "b", "c"]), np.int32(1))) == "b"


def test_one_vector_for_each_row_times_rows_of_vectors() -> None:
    users, raters = ex.constant([[1.0, 2.0], [3.0]]), ex.constant([[[1.0, 1.0], [2.0, 2.0]], [[5.0]]])
    scores = ex.sum(ex.expand_dims(users, 1) * raters, axis=-1)
    assert ex.to_py(scores) == [[3.0, 6.0], [15.0]]


def test_divmod_is_the_quotient_and_the_remainder() -> None:
    for x in (ex.constant([7, -7]), ex.constant([[7], [], [-7]]), ex.constant([7, None])):
        quotient, rest = divmod(x, 3)
        assert (quotient.to_py(), rest.to_py()) == ((x // 3).to_py(), (x % 3).to_py())
    assert [part.to_py() for part in divmod(7, ex.constant([2, 3]))] == [[3, 2], [1, 1]]
    with pytest.raises(TypeError):
        divmod(ex.constant([1]), object())


def test_round_takes_digits() -> None:
    assert round(ex.constant([0.5, 1.5])).to_py() == [0.0, 2.0]
    assert round(ex.constant([[1.256], [], [2.5]]), 1).to_py() == [[1.3], [], [2.5]]
    numbers = np.array([1.2549, -2.5, 1e17, 0.045])
    for digits in (-3, -1, 1, 2, 3):
        assert round(ex.constant(numbers), digits).to_py() == np.round(numbers, digits).tolist()
        integers = np.array([1250, -1350, 5, 15, 2**40 + 1])
        assert round(ex.constant(integers), digits).to_py() == np.round(integers, digits).tolist()


def test_one_element_has_a_format() -> None:
    assert f"{ex.constant(3.14159):.2f}" == "3.14"
    assert f"{ex.constant([7, 8])[0]:05d}" == "00007"
    assert f"{ex.constant([7, None])[0]:d}" == "7"
    rows = ex.constant([[1], []])
    assert f"{rows}" == str(rows)
    with pytest.raises(ValueError, match=r"format: the format '\.2f' is given for a value of shape \[2\]"):
        f"{ex.constant([1.0, 2.0]):.2f}"


def test_in_asks_whether_any_element_is_equal() -> None:
    rows, masked = ex.constant([[1, 2], [], [3]]), ex.constant([1, None])
    assert 3 in rows and 9 not in rows
    assert 1 in masked and 2 not in masked and None in masked
    assert 2 in ex.constant([[1, 2], [3, 4]]) and 5 not in ex.constant([[1, 2], [3, 4]])
    assert "a" in ex.constant(["b", "a"]) and None not in rows
    records = ex.constant([{"a": 1}])
    assert "a" in records and "b" not in records
    with pytest.raises(TypeError, match="in: found a value of type int"):
        1 in records  # noqa: B015


def test_values_have_a_number_of_axes() -> None:
    assert ex.constant([[1], []]).ndim == 2
    assert ex.constant([1, None]).ndim == 1
    assert ex.constant([{"a": 1}]).ndim == 1
    assert ex.DurationTensor(ex.constant([[1, 2]]), "s").ndim == 2
    assert ex.Variable("v", [1.0]).ndim == 1


def test_floor_quotients_and_rests_make_up_the_dividend() -> None:
    x, y = ex.tensor([6.0, 1.0, -6.0, 7.0, -0.0]), ex.tensor([0.1, 0.001, 0.1, 1.0, 1.0])
    assert (x // y).tolist() == [a // b for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    rng = np.random.default_rng(5)
    for dtype in (np.float64, np.float32):
        a, b = np.round(rng.normal(size=(2, 4000)) * 10, 1).astype(dtype)
        b[b == 0] = 1
        assert np.array_equal(np.asarray(ex.tensor(a) // ex.tensor(b)), a // b)


def test_a_truth_value_beside_indices_is_refused() -> None:
    x, there = ex.zeros([2, 3, 4]), ex.tensor(True)
    for key in ((there, [0, 1]), (there, [0, 1], [1, 2])):
        with pytest.raises(ex.Error, match="a second tensor stands in the key"):
            x[key]


def test_all_elements_roll_by_a_shift_that_is_data() -> None:
    roll = ex.function(lambda x, by: ex.roll(x, by))
    assert roll(ex.tensor([[1, 2], [3, 4]]), ex.tensor(1)).tolist() == [[4, 1], [2, 3]]
    assert roll(ex.tensor([1, 2, 3]), ex.tensor(1)).tolist() == [3, 1, 2]
