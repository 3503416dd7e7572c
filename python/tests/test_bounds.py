"""Ends that are reached: of intervals, of lists, of what memory there is."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import extenso as ex

ENDS = [(0, 1), (-1, 1), (0, 2), (0, 0.5), (0, 1e-7), (1000, 1001), (2.0**24, 2.0**24 + 2), (1, 1.001), (-3.0, -2.5)]


# f16 ends before the large ones.
CASES = [(low, high, dtype) for dtype in ("f16", "bf16", "f32", "f64") for low, high in ENDS if dtype != "f16" or high <= 65504]


@pytest.mark.parametrize(("low", "high", "dtype"), CASES)
def test_uniform_numbers_are_below_their_end(low: float, high: float, dtype: str) -> None:
    found = ex.cast(ex.random_uniform(ex.random_key(3), [20_000], low, high, dtype), "f64").to_py()
    nearest = ex.cast(ex.cast(ex.tensor(float(low)), dtype), "f64").item()
    assert min(found) >= nearest
    assert max(found) < high or nearest >= high


@pytest.mark.parametrize(("low", "high", "dtype"), [(-1e39, 1e39, "f32"), (0, 1e6, "f16"), (math.nan, 1, "f64"), (0, math.inf, "f64")])
def test_ends_that_the_dtype_does_not_have_are_refused(low: float, high: float, dtype: str) -> None:
    with pytest.raises(ex.Error, match="random_uniform: (low|high) is (inf|-inf|nan|NaN)"):
        ex.random_uniform(ex.random_key(3), [2], low, high, dtype)


@pytest.mark.parametrize(("dtype", "most"), [("f32", 3e38), ("f64", 1.7e308)])
def test_uniform_numbers_of_a_width_that_overflows_are_uniform(dtype: str, most: float) -> None:
    x = ex.random_uniform(ex.random_key(1), [50_000], -most, most, dtype)
    parts = np.asarray(ex.cast(x, "f64")) / most
    assert np.all(np.isfinite(parts)) and np.all(np.abs(parts) <= 1)
    counts = np.histogram(parts, bins=10, range=(-1, 1))[0]
    assert np.all(np.abs(counts - 5000) < 5 * math.sqrt(5000))


def union(tags: "list[int]", places: "list[int]", numbers: "list[int]", texts: "list[str]") -> ex.UnionTensor:
    children = [pa.array(numbers, pa.int64()), pa.array(texts, pa.string())]
    return ex.from_arrow(pa.UnionArray.from_dense(pa.array(tags, pa.int8()), pa.array(places, pa.int32()), children, ["x", "y"]))


def test_a_union_whose_first_child_is_empty_is_padded_in_a_trace() -> None:
    padded = ex.function(lambda x: ex.pad_none(x, 3, axis=0))
    cases = [union([0, 1], [0, 0], [1], ["q"]), union([1, 1], [0, 1], [], ["p", "q"]), union([], [], [], [])]
    for x in cases:
        found = padded(x)
        assert ex.to_py(found) == ex.to_py(ex.pad_none(x, 3, axis=0))
        assert ex.to_py(ex.concat([found, found])) == 2 * ex.to_py(found)


@pytest.mark.parametrize("n", [4, 5, 1 << 40])
def test_no_difference_is_left_of_fewer_elements(n: int) -> None:
    x = ex.zeros([2, 4], "f32")
    assert ex.diff(x, n=n).shape == (2, 0)
    assert ex.diff(x, n=n).dtype == ex.diff(x).dtype
    assert ex.function(lambda x: ex.diff(x, n=n))(x).shape == (2, 0)
    assert ex.diff(ex.tensor([1, 4, 9, 16]), n=3).to_py() == [0]


def test_the_median_over_no_axis_is_each_element() -> None:
    x = ex.constant([[1.5, 2.5], [], [3.5]])
    assert ex.median(x, axis=()).to_py() == x.to_py()
    assert ex.quantile(x, [0.5, 1.0], axis=[]).to_py() == [x.to_py(), x.to_py()]
    masked = ex.constant([[1.5, None], [3.5]])
    assert repr(ex.median(masked, axis=())) == repr(ex.median(ex.expand_dims(masked, -1), axis=-1))


@pytest.mark.parametrize("f", [ex.head, ex.tail, ex.top_k])
def test_more_elements_than_can_be_counted_are_all(f: "object") -> None:
    x = ex.constant([[1.5, 2.5], [], [3.5]])
    n = ex.tensor([2**62] * 3)
    wanted = f(x, 5, axis=1)  # type: ignore[operator]
    for call in [f, ex.function(f)]:
        found = call(x, n, axis=1)  # type: ignore[operator]
        assert ex.to_py(found[0] if isinstance(found, tuple) else found) == ex.to_py(wanted[0] if isinstance(wanted, tuple) else wanted)


def test_a_tensor_that_is_no_integer_is_refused_under_the_name_of_the_argument() -> None:
    x = ex.tensor([1.0, 2.0])
    with pytest.raises(ex.Error, match="windows: argument 'size'"):
        ex.windows(x, ex.tensor(1.0))
    with pytest.raises(ex.Error, match="eye: argument 'n_rows'"):
        ex.eye(ex.tensor(1.0))


def test_texts_of_more_bytes_than_there_is_memory_for_are_refused_before_they_are_made() -> None:
    words = ex.constant([["abc"] * 100_000])
    with pytest.raises(ex.OutOfMemoryError):
        ex.string_repeat_each(ex.tensor(["abc"] * 1000), ex.tensor([1 << 40] * 1000))
    assert ex.string_ngrams(words, 2).to_py()[0][:2] == ["abc abc", "abc abc"]


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp", "l2_normalize", "layer_norm", "rms_norm", "elu", "celu", "z_score", "gelu"])
@pytest.mark.parametrize("x", [True, 1, "a"])
def test_what_wants_floats_says_so(name: str, x: "bool | int | str") -> None:
    with pytest.raises(ex.DTypeError, match=rf"^{name}: the op does not take (bool|i64|string)\.\nWanted: floats"):
        getattr(ex, name)(ex.tensor([x, x]))


@pytest.mark.parametrize("rows", [
    [{"ids": [1, 2]}], [{"ids": ["a"]}], [{"ids": [True]}], [{"ids": [{"a": 1}]}], [{"ids": [[1], []]}],
    [{"ids": [1, None]}], [{"ids": [1]}, {"ids": None}], [{"ids": [{"a": None}, {"a": "x"}]}],
])  # fmt: skip
def test_lists_without_items_are_lists_of_what_a_traced_function_wants(rows: "list[object]") -> None:
    x = ex.constant(rows)
    f = ex.function(lambda x: {"same": x, "ids": x["ids"]}).get_concrete_function(ex.infer_spec(rows))
    for empty in [[{"ids": []}], [{"ids": []}, {"ids": []}], []]:
        found = f(ex.constant(empty))
        assert ex.to_py(found) == {"same": empty, "ids": [row["ids"] for row in empty]}
    assert ex.to_py(f(x)["same"]) == rows
    with pytest.raises((TypeError, ValueError)):
        f(ex.constant([{"ids": [0.5]}]))


@pytest.mark.parametrize("call", [
    lambda n: ex.arange(n), lambda n: ex.constant([1])[n], lambda n: ex.take([1], [n]), lambda n: ex.bincount([n]), lambda n: ex.add([1], n),
    lambda n: ex.constant([[1], []]).to_tensor(shape=(n, 2)), lambda n: ex.RaggedTensor.from_uniform_row_length(ex.tensor([1]), n),
])  # fmt: skip
@pytest.mark.parametrize("n", [2**64, -(2**63) - 1, 10**40])
def test_an_integer_beyond_64_bits_is_told_where_it_came(call: "Callable[[int], object]", n: int) -> None:
    with pytest.raises(ex.InvalidValueError, match=r"^(?s:[\w' ]+: .*the integer -?\d+ does not fit 64 bits.*Wanted: an integer from)"):
        call(n)


def test_a_key_is_wanted_for_each_value_of_a_group() -> None:
    with pytest.raises(ex.ShapeError, match="^group_by: there are 2 values and 1 keys"):
        ex.group_by([1, 2], [1])
    with pytest.raises(ex.MissingNameError, match=r"^promote: '\('docs', 'y'\)' to 'z'|^promote: 'docs.y' to 'z': there is no field 'y'"):
        ex.promote(ex.constant([{"docs": [{"x": 1}]}]), ("docs", "y"), "z")


@pytest.mark.parametrize("lists", [pa.array([[9, 1], [4, 0, 2], [7], [4, 5]]), pa.array([[9, 1], [4, 0], [7, 7], [4, 5]], pa.list_(pa.int64(), 2))])
def test_an_axis_from_the_end_is_one_of_a_union_and_not_of_its_children(lists: pa.Array) -> None:
    tags = pa.array([0, 1, 0, 1], pa.int8())
    x = ex.from_arrow(pa.UnionArray.from_sparse(tags, [pa.array([0, 1, 2, 3]), lists], ["n", "r"]))
    whole = [0, lists[1].as_py(), 2, lists[3].as_py()]
    assert x.to_py() == whole
    moves = [
        (lambda x: ex.tail(x, 1), whole[-1:]),
        (lambda x: ex.head(x, 2), whole[:2]),
        (lambda x: ex.flip(x, axis=-1), whole[::-1]),
        (lambda x: ex.split(x, [1, 3], axis=-1)[1], whole[1:]),
        (lambda x: ex.take(x, [3, 1], axis=-1), [whole[3], whole[1]]),
        (lambda x: ex.roll(x, 1, axis=-1), [whole[-1], *whole[:-1]]),
        (lambda x: ex.boolean_mask(x, [True, False, False, True]), [whole[0], whole[3]]),
        (lambda x: x[::-2], whole[::-2]),
        (lambda x: ex.concat([x, x]), whole + whole),
    ]
    for move, wanted in moves:
        assert ex.to_py(move(x)) == ex.to_py(ex.function(move)(x)) == wanted


def test_categories_in_an_order_are_not_read_from_values_that_do_not_say_it() -> None:
    levels = ex.CategoricalTensor([2, 0, 1], ["low", "mid", "high"], ordered=True)
    x = ex.StructTensor([3], {"v": levels})
    for read_values in (
        lambda: ex.read_json(ex.write_json(x), ex.spec_of(x)),
        lambda: ex.read_csv(ex.write_csv(x), ex.spec_of(x)),
        lambda: ex.from_arrow(pa.table({"v": ["high", "low", "mid"]}), ex.spec_of(x)),
    ):
        with pytest.raises(ex.DTypeError, match=r"'v'.*values do not say in which order(?s:.*)ordered=False"):
            read_values()
    for write, read_back in ((ex.write_arrow, ex.read_arrow), (ex.write_parquet, ex.read_parquet), (ex.write_avro, ex.read_avro)):
        back = read_back(write(x), ex.spec_of(x))["v"]
        assert back.ordered and ex.max(back).to_py() == "high"


@pytest.mark.parametrize(("read", "format"), [
    ("to_timestamp", "%H:%M:%S"), ("to_timestamp", "%Y-%m"), ("to_timestamp", "%Y-%m-%d %I:%M"), ("to_date", "%Y-%m"), ("to_time", "%S"),
])  # fmt: skip
def test_a_format_that_says_no_whole_time_is_told_as_such(read: str, format: str) -> None:
    unit = {} if read == "to_date" else {"unit": "s"}
    for on_error in ("raise", "missing"):
        with pytest.raises(ex.InvalidValueError, match=r"format: '%.*' does not say which (timestamp|date|time) it is"):
            getattr(ex, read)(["2024-02"], format=format, on_error=on_error, **unit)


def test_a_quotient_of_durations_does_not_wrap() -> None:
    x = ex.DurationTensor([-(2**63)], "ns")
    for divide in (lambda x: x / -1, lambda x: x // -1, lambda x: x * -1):
        for call in (divide, ex.function(divide)):
            with pytest.raises(ex.InvalidValueError, match="does not fit 64 bits"):
                call(x)
    assert (x / 1).values.tolist() == [-(2**63)]


@pytest.mark.parametrize(("dtype", "weight", "wide"), [("i8", 100, ex.i64), ("u8", 200, ex.u64), ("i32", 2**30, ex.i64)])
def test_integer_weights_are_counted_in_64_bits(dtype: str, weight: int, wide: ex.DType) -> None:
    counted = ex.bincount([0, 0], ex.tensor([weight, weight], dtype))
    assert counted.tolist() == [2 * weight] and counted.dtype == wide
