"""Arrow in and out through the C interface: the same addresses."""

import extenso as ex
import pyarrow as pa
import pytest


def _sample() -> pa.Array:
    item = pa.struct([("name", pa.string()), ("amount", pa.float32())])
    rows = [
        [{"name": "a", "amount": 1.0}, None, {"name": None, "amount": None}],
        None,
        [],
        [{"name": "größe", "amount": 2.5}],
        [None, {"name": "", "amount": 4.0}],
    ]
    return pa.array(rows * 9, pa.list_(item))


def _addresses(array: pa.Array) -> "list[int | None]":
    return [b.address if b is not None else None for b in array.buffers()]


def test_arrow_round_trips_without_copies() -> None:
    array = _sample()
    value = ex.from_arrow(array)
    assert isinstance(value, ex.MaskedTensor) and isinstance(value.values, ex.RaggedTensor)
    out = pa.array(ex.to_arrow(value))
    assert out.equals(array)
    assert _addresses(out) == _addresses(array)


def _round_trip(array: pa.Array) -> pa.Array:
    out = pa.array(ex.to_arrow(ex.from_arrow(array)))
    out.validate(full=True)
    assert out.to_pylist() == array.to_pylist()
    return out


@pytest.mark.parametrize("start, length", [(8, 20), (3, 7), (1, 2), (13, 32)])
def test_a_slice_leaves_at_the_addresses_it_came_at(start: int, length: int) -> None:
    array = _sample().slice(start, length)
    assert array.null_count > 0
    out = _round_trip(array)
    assert _addresses(out) == _addresses(array) and out.offset == array.offset == start


@pytest.mark.parametrize("start, length", [(0, 1), (5, 0), (7, 2)])
def test_validity_that_hides_nothing_is_left_behind(start: int, length: int) -> None:
    array = _sample().slice(start, length)
    assert array.null_count == 0
    validity, offsets, *below = _addresses(array)
    assert validity is not None and offsets is not None
    assert _addresses(_round_trip(array)) == [None, offsets + 4 * start, *below]


@pytest.mark.parametrize("start", [0, 1, 5, 8, 11])
@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, None, 3, 4] * 8, pa.int16()),
        pa.array([True, None, False, True] * 8),
        pa.array(["a", None, "", "größe"] * 8, pa.large_string()),
        pa.FixedSizeListArray.from_arrays(pa.array(range(64)), 2, mask=pa.array([False, True, False, False] * 8)),
        pa.array([{"x": 1, "y": {"z": None}}, None, {"x": None, "y": {"z": "b"}}, {"x": 2, "y": None}] * 8),
        pa.array([{"x": [True, None]}, None, {"x": None}, {"x": []}] * 8),
    ],
    ids=lambda array: str(array.type),
)
def test_slices_of_every_layout_keep_their_addresses(array: pa.Array, start: int) -> None:
    sliced = array.slice(start, 16)
    assert _addresses(_round_trip(sliced)) == _addresses(sliced)
    # A slice of a slice that both sides cut.
    again = sliced.slice(2, 9)
    assert _addresses(_round_trip(again)) == _addresses(again)


def test_what_has_no_value_is_named() -> None:
    with pytest.raises(TypeError, match="__arrow_c_array__"):
        ex.from_arrow([1, 2])
    with pytest.raises(ValueError, match="scalar"):
        ex.to_arrow(ex.tensor(1.0))


def test_structs_and_lists_of_python() -> None:
    rows = [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": []}]
    records = ex.constant(rows)
    assert records.field_names() == ["id", "tags"] and ex.to_py(records) == rows
    assert ex.to_py(records["tags"]) == [["a", "b"], []]
    assert ex.to_py(ex.sum(ex.constant([[1, 2], [], [4]]), axis=1)) == [3, 0, 4]
    assert ex.to_py(ex.constant([[1, None], [3]])) == [[1, None], [3]]


def test_a_python_class_refines_a_rust_type_and_comes_first() -> None:
    class Noted(ex.MaskedTensor):
        __extenso_name__ = "tests.arrow/Noted"
        note: str = "n"

    @ex.dispatch_for(ex.add, Noted)
    def _(x: object, y: object) -> object:
        return "mine" if isinstance(y, Noted) else NotImplemented

    noted = Noted([1, 2], [True, False])
    plain = ex.MaskedTensor([1, 2], [True, True])
    assert ex.add(plain, noted) == "mine"
    # It declines; the handlers of the Rust type answer, and the weak scalar keeps the dtype.
    out = ex.add(Noted(ex.tensor([1, 2], dtype="i8"), [True, False]), 3)
    assert isinstance(out, ex.MaskedTensor) and out.values.dtype == ex.i8 and ex.to_py(out) == [4, None]


def test_a_value_is_a_stream_of_one_array() -> None:
    x = ex.constant([{"a": 1, "b": [1.5]}, {"a": 2, "b": []}])
    assert pa.RecordBatchReader.from_stream(x).read_all().to_pylist() == x.to_py()
    for value in ([[1], [], [2, 3]], ["a", "b"], [1, None], [{"a": None}, None]):
        assert pa.chunked_array(ex.constant(value)).to_pylist() == value
    assert ex.from_arrow(pa.chunked_array(ex.to_arrow([1, 2]))).tolist() == [1, 2]
    assert ex.tensor([1, 2]).__arrow_c_stream__() is not None, "nobody reads it, and it is released"
