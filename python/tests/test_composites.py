"""What rows and masked values of the package have alike in Python: operators, comparisons, `repr`, checks."""

import pickle

import numpy as np
import pytest

import extenso as ex

ROWS = [[1.0, 2.0], [3.0]]


@pytest.mark.parametrize(
    ("given", "expect"),
    [
        (lambda x: x**2, [[1.0, 4.0], [9.0]]),
        (lambda x: 2**x, [[2.0, 4.0], [8.0]]),
        (lambda x: x % 2, [[1.0, 0.0], [1.0]]),
        (lambda x: 2 % x, [[0.0, 0.0], [2.0]]),
        (lambda x: x == 3, [[False, False], [True]]),
        (lambda x: x != x, [[False, False], [False]]),
    ],
)
def test_operators_are_elementwise(given, expect) -> None:
    assert given(ex.constant(ROWS)).to_py() == expect
    assert ex.function(given)(ex.constant(ROWS)).to_py() == expect
    assert [ex.to_py(given(ex.tensor(row))) for row in ROWS] == expect


def test_comparisons_leave_out_what_is_missing() -> None:
    assert (ex.constant(["a", None]) == "a").to_py() == [True, None]
    assert (ex.constant([[1, None], []]) != 1).to_py() == [[False, None], []]


def test_comparing_with_what_is_no_value_is_false() -> None:
    assert (ex.constant(ROWS) == None) is False  # noqa: E711
    assert (ex.constant([1, None]) != None) is True  # noqa: E711


@pytest.mark.parametrize("value", [ROWS, [1, None]])
def test_many_elements_have_no_truth_value(value) -> None:
    with pytest.raises(ValueError, match="`any` or `all`"):
        bool(ex.constant(value) == ex.constant(value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (ROWS, "RaggedTensor([[1.0, 2.0], [3.0]], f64[2, ?])"),
        ([1, None], "MaskedTensor([1, None], i64[2])"),
        ([[1, None], []], "RaggedTensor([[1, None], []], i64[2, ?])"),
        ([[{"a": "x"}], []], 'RaggedTensor([[{"a": "x"}], []], [2, ?])'),
    ],
)
def test_repr_shows_values_dtype_and_shape(value, text: str) -> None:
    assert repr(ex.constant(value)) == text


def test_repr_shows_the_first_rows_of_many() -> None:
    text = repr(ex.RaggedTensor.from_row_lengths(ex.arange(100_000), [1] * 100_000))
    assert text.endswith("[19], ...], i64[100000, ?])") and len(text) < 300


def test_repr_of_a_symbol_and_of_more_fields_shows_the_fields() -> None:
    class Measured(ex.RaggedTensor):
        unit: str = "m"

    seen: list[str] = []
    ex.function(lambda x: (seen.append(repr(x)), x)[1])(ex.constant(ROWS))
    assert seen[0].startswith("RaggedTensor(values=")
    assert repr(Measured(ex.tensor([1]), ex.RowPartition.from_row_lengths([1]))).endswith(", unit='m')")


def test_components_are_checked_as_in_rust() -> None:
    with pytest.raises(ValueError, match="axis 0 of the mask has size 3, and of the values 2"):
        ex.MaskedTensor([1, 2], [True, False, True])
    with pytest.raises(TypeError, match="the mask is i64"):
        ex.MaskedTensor([1, 2], [1, 0])
    with pytest.raises(ValueError, match="the partition cuts 9 values"):
        ex.RaggedTensor(ex.tensor([1, 2, 3]), ex.RowPartition.from_row_splits([0, 1, 9]))


def test_a_class_that_refines_a_shipped_one_is_checked_too() -> None:
    class Weighed(ex.MaskedTensor):
        unit: str = "kg"

    with pytest.raises(ValueError, match="axis 0 of the mask has size 1"):
        Weighed([1.0, 2.0], [True])
    assert Weighed([1.0, 2.0], [True, False]).unit == "kg"


def test_a_pickle_is_checked_as_a_constructor_is() -> None:
    make, (cls, _) = ex.constant([1, None]).__reduce__()
    with pytest.raises(ValueError, match="axis 0 of the mask"):
        make(cls, (ex.tensor([1, 2]), ex.tensor([True])))
    assert pickle.loads(pickle.dumps(ex.constant([1, None]))).to_py() == [1, None]


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float16", "float32"])
def test_constant_keeps_the_dtype_and_memory_of_an_array(dtype: str) -> None:
    array = np.arange(6).astype(dtype)
    made = ex.constant(array)
    assert made.to_numpy().dtype == array.dtype and made.to_numpy().ctypes.data == array.ctypes.data
    assert ex.constant(made) is made or ex.constant(made).dtype == made.dtype


def test_constant_of_an_array_with_missing_elements_is_masked() -> None:
    assert ex.constant(np.array(["a", None], dtype=object)).to_py() == ["a", None]
    assert ex.constant(np.ma.MaskedArray([1, 2], [False, True])).to_py() == [1, None]
