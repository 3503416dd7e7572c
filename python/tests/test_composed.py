"""Functions that are no ops and give several values, or take what cases cannot write."""

from collections.abc import Callable
from typing import Any

import extenso as ex
import numpy as np
import pytest


def test_parts_are_sequences() -> None:
    assert [ex.to_py(part) for part in ex.unstack([[1, 2], [3, 4]], axis=-1)] == [[1, 3], [2, 4]]
    assert [ex.to_py(part) for part in ex.split([1, 2, 3, 4], 2)] == [[1, 2], [3, 4]]
    assert [ex.to_py(part) for part in ex.split([[1, 2, 3]], (1, 2), axis=1)] == [[[1]], [[2, 3]]]
    assert [ex.to_py(at) for at in ex.nonzero([[True, False], [True, True]])] == [[0, 1, 1], [0, 0, 1]]
    assert ex.unstack(ex.zeros((0, 2))) == ()


def test_top_k_gives_values_and_positions() -> None:
    values, indices = ex.top_k([[1.5, 3.5, 3.5], [0.0, -1.0, 2.0]], 2)
    assert (ex.to_py(values), ex.to_py(indices)) == ([[3.5, 3.5], [2.0, 0.0]], [[1, 2], [2, 0]])


def test_arange_counts_from_zero_to_one_number() -> None:
    assert ex.arange(3).tolist() == [0, 1, 2]
    assert ex.arange(3, dtype="u8").dtype == ex.u8
    assert ex.arange(1, 2, 0.5).tolist() == [1.0, 1.5]
    assert ex.arange(stop=-2, start=0, step=-1).tolist() == [0, -1]


def test_dtypes_are_given_by_name_or_object() -> None:
    assert ex.full((2,), 1, dtype=ex.f32).dtype == ex.f32
    assert ex.eye(2, dtype="bool").tolist() == [[True, False], [False, True]]
    assert ex.linspace(0, 1, 2, dtype="f32").dtype == ex.f32
    assert ex.one_hot(1, 2, dtype="i32").tolist() == [0, 1]


def test_top_k_in_a_function_has_a_gradient() -> None:
    def loss(x: ex.Tensor) -> object:
        return ex.sum(ex.top_k(x, 1)[0])

    assert ex.grad(loss)(ex.tensor([1.0, 3.0, 2.0])).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ex.stack(ex.tensor([1, 2])), ["stack", "list or tuple"]),
        (lambda: ex.split([1, 2, 3], 2), ["split", "2 parts"]),
        (lambda: ex.split([1, 2, 3], [1, "a"]), ["sections"]),
        (lambda: ex.arange(300, dtype="u8"), ["arange", "299", "u8"]),
        (lambda: ex.arange([1]), ["arange", "Python number"]),
        (lambda: ex.top_k([1, 2], 3), ["top_k", "3", "2"]),
        (lambda: ex.zeros("a"), ["shape"]),
        (lambda: ex.nonzero(1), ["nonzero", "scalar"]),
        (lambda: ex.unstack(3), ["unstack", "axis"]),
    ],
)
def test_errors_name_the_function_or_the_argument(call: "object", words: "list[str]") -> None:
    with pytest.raises(ex.Error) as raised:
        call()  # type: ignore[operator]
    assert all(word in str(raised.value) for word in words), raised.value


@pytest.mark.parametrize("function", [
    "softmax(x, {})", "first(x, {})", "windows(x, {})", "combinations(x, {})", "one_hot([1], {})", "eye({})", "eye(2, {})",
    "linspace(0, 1, {})", "multi_hot([1], {})", "random_split(0, {})", "tril(x, {})", "string_rsplit(['a'], ' ', {})",
    "infer_spec(b'', {})", "read_csv(b'', sample={})", "read_json(b'', sample={})", "read_json(b'', depth={})",
    "read_json_blocks(b'', {})", "read_parquet_blocks(b'', {})", "proto_spec(b'', 'A', depth={})", "sum(x, {})", "mean(x, axis={})",
    "cumulative_sum(x, {})", "zeros(({},))",
])
def test_an_argument_that_is_no_integer_of_64_bits_is_named(function: str) -> None:
    call: Callable[[object], object] = eval(f"lambda n: ex.{function.format('n')}", {"ex": ex, "x": [1.0]})
    name = function.split("(")[0]
    for n in [2**70, -(2**70), 10**6000]:
        with pytest.raises(ex.InvalidValueError, match=f"(?s)^{name}: (argument|attribute) '.*Wanted: an integer from"):
            call(n)
    for other in [1.5, "a"]:
        with pytest.raises(ex.DTypeError, match=f"(?s)^{name}: (argument|attribute) '.*({type(other).__name__}|{other})"):
            call(other)


@pytest.mark.parametrize("function", [
    "infer_spec(b'', {})", "read_csv(b'', sample={})", "read_json(b'', sample={})", "read_json(b'', depth={})",
    "read_json_blocks(b'', {})", "read_parquet_blocks(b'', {})",
])
def test_a_number_that_may_not_be_negative_is_named(function: str) -> None:
    with pytest.raises(ex.InvalidValueError, match=f"(?s)^{function.split('(')[0]}: argument '.*found -1.*from 0"):
        eval(f"ex.{function.format(-1)}")


@pytest.mark.parametrize("function", [
    "isclose(x, x, rtol={})", "isclose(x, x, equal_nan={})", "nan_to_num(x, posinf={})", "mean(x, keepdims={})",
    "string_split(t, sep={})", "string_ngrams(t, 2, separator={})", "string_ngrams(t, 2, left={})", "regex_groups(t, pattern={})",
    "string_partition(t, sep={})", "unicode_transcode(t, input_encoding={}, output_encoding='utf-8')", "elu(x, alpha={})",
    "layer_norm(x, epsilon={})", "batch_norm(x, x, x, epsilon={})", "conv1d(x, x, padding={})", "einsum(subscripts={})", "norm(x, ord={})",
    "linspace(start={}, stop=1, num=3)", "linspace(0, 1, 3, endpoint={})", "eye(2, k={})", "combinations(x, 2, replacement={})",
    "pad_to(x, 2, crop={})", "quantile(x, 0.5, keepdims={})", "digitize(x, x, right={})", "cross([t, t], separator={})",
    "embedding_lookup([x], [[0]], combiner={})", "embedding_lookup([x], [[0]], max_norm={})", "count(x, keepdims={})",
    "pad_none(x, 2, clip={})", "random_uniform(0, (2,), low={})", "random_normal(0, (2,), stddev={})", "dropout(x, rate={}, key=0)",
    "random_truncated_normal(0, (2,), high={})", "random_choice(0, x, (2,), replace={})", "date_part(x, part={})",
    "to_timestamp([1], unit={})", "to_timestamp([1], 's', zone={})", "to_decimal([1], precision={}, scale=0)", "var(x, correction={})",
    "std(x, keepdims={})", "astype(x, 'f32', copy={})", "read_json(b'', on_error={})", "read_csv(b'', delimiter={})",
    "read_examples(b'', None, sequence={})", "write_json(x, message={})", "read_arrow(b'', memory_map={})", "load(path={})",
    "function(name={})", "infer_spec(b'', format={})", *(
        f"{name}, paths={paths})"
        for name in ("read_json(b''", "read_json_blocks(b''", "read_csv(b''", "read_parquet(b''", "read_parquet_blocks(b''", "read_avro(b''",
                     "read_arrow(b''", "infer_spec(b''", "parse_json(t", "read_proto(b'', '', 'A'", "proto_spec('', 'A'")
        for paths in ("{}", "[{}]")
    ),
])
def test_an_argument_of_another_type_is_named(function: str) -> None:
    call: Callable[[object], object] = eval(f"lambda n: ex.{function.format('n')}", {"ex": ex, "x": [1.0], "t": ["a"]})
    name, argument = function.split("(")[0], function[: function.index("{}")].rstrip("=[").split("(")[-1].split(" ")[-1]
    with pytest.raises(ex.DTypeError, match=f"(?s)^{name}: argument '{argument}': found a value of type object.*Wanted: ") as raised:
        call(object())
    assert isinstance(raised.value, TypeError)


def test_paths_and_row_groups_that_are_none_are_named() -> None:
    for call in (lambda paths: ex.read_json(b"{}", paths=paths), lambda paths: ex.infer_spec(b"{}", paths=paths), lambda paths: ex.read_avro(b"", paths=paths)):
        with pytest.raises(ex.InvalidValueError, match=r"^(read_json|infer_spec|read_avro): argument 'paths': "):
            call(["a..b"])
    for groups in (1, ["a"], [-1], {0}):
        with pytest.raises(ex.DTypeError, match="^read_parquet: argument 'row_groups': found .*\n?Wanted: a list of numbers"):
            ex.read_parquet(b"", row_groups=groups)  # type: ignore[arg-type]


def test_a_symbol_is_no_number_of_elements() -> None:
    with pytest.raises(ex.ScopeError, match="has no data"):
        ex.function(lambda n: ex.eye(n))(ex.tensor(3))


def test_widths_are_numbers_or_pairs() -> None:
    x = ex.tensor([[1, 2]])
    assert ex.pad(x, 0, ((1, 0), (0, 2))).tolist() == ex.pad(x, 0, (1, 0, 0, 2)).tolist() == [[0, 0, 0, 0], [1, 2, 0, 0]]
    assert ex.pad(x, 0, [[1, 0]]).tolist() == ex.pad(x, 0, (1, 0)).tolist() == [[0, 0, 0], [0, 1, 2]]
    for widths in [((1,), (2,)), ((1, 2, 3),), ((1, 2), 3), (1, (2, 3))]:
        with pytest.raises(ex.DTypeError, match="pad: argument 'widths'"):
            ex.pad(x, 0, widths)  # type: ignore[arg-type]


def test_a_shuffle_of_rows_orders_each_by_itself() -> None:
    rows = ex.constant([list(range(20)), [], list(range(20))])
    first, second, third = ex.to_py(ex.random_shuffle(0, rows, axis=1))
    assert sorted(first) == sorted(third) == list(range(20)) and second == []
    assert first != third and first != list(range(20))
    assert ex.to_py(ex.function(lambda x: ex.random_shuffle(0, x, axis=1))(rows)) == [first, second, third]


def test_the_axes_of_tensordot_are_two_lists_in_a_list_too() -> None:
    x, y = ex.reshape(ex.arange(6), (2, 3)), ex.reshape(ex.arange(6), (3, 2))
    assert ex.tensordot(x, y, axes=[[1], [0]]).tolist() == ex.tensordot(x, y, axes=([1], [0])).tolist() == (x @ y).tolist()
    with pytest.raises(ex.Error, match="tensordot: axes: one list"):
        ex.tensordot(x, y, axes=[[1]])


def test_a_tiling_that_no_memory_holds_is_refused_before_any_of_it_is_made() -> None:
    with pytest.raises(ex.Error, match="tile: .*memory"):
        ex.tile(ex.tensor([1.0, 2.0, 3.0]), (2**31, 2**31))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: ex.head(None, 1), "head: argument 'x': found a value of type NoneType"),
        (lambda: ex.first([1], default={}), "first: argument 'default': found a value of type dict"),
        (lambda: ex.softmax({}), "softmax: argument 'x': found a value of type dict"),
        (lambda: ex.layer_norm([1.0], scale=object()), "layer_norm: argument 'scale': found a value of type object"),
        (lambda: ex.coalesce([1], None), r"coalesce: \[1\]: found a value of type NoneType"),
        (lambda: ex.stack([[1], None]), r"stack: \[1\]: found a value of type NoneType"),
        (lambda: ex.cartesian([[1], None]), r"cartesian: \[1\]: found a value of type NoneType"),
        (lambda: ex.zip([[1]]), "zip: found a value of type list"),
        (lambda: ex.zip({"a": None}), "zip: field 'a': found a value of type NoneType"),
        (lambda: ex.round_to([1.0], 1.5), "round_to: argument 'digits'|round_to: digits"),
        (lambda: ex.shape(None), "shape: argument 'x': found a value of type NoneType"),
        (lambda: ex.median([1, "a"]), r"median: argument 'x': \[1\]: found string beside i64"),
    ],
)
def test_what_is_no_value_is_refused_under_the_name_of_the_argument(call: Callable[[], Any], named: str) -> None:
    with pytest.raises(ex.DTypeError, match=named):
        call()


def test_a_value_of_many_elements_is_no_number() -> None:
    rows = ex.constant([[0.1], [0.2, 0.3]])
    with pytest.raises(ex.DTypeError, match="num: argument 'axis': found a value of type Tensor"):
        ex.num(rows, axis=ex.tensor([0, 1]))  # type: ignore[arg-type]
    with pytest.raises(ex.DTypeError, match="leaky_relu: argument 'slope': found a value of type RaggedTensor"):
        ex.leaky_relu(ex.ones(3), slope=rows)
    with pytest.raises(ex.ScopeError, match="data"):
        ex.function(lambda n: ex.num(rows, axis=n))(ex.tensor(1))
    for dtype in ("bogus", 5):
        with pytest.raises(ex.Error, match="cast: argument 'dtype': "):
            ex.cast(rows, dtype)


def test_elements_by_positions_along_several_axes_are_those_of_the_places() -> None:
    rng = np.random.default_rng(3)
    x, at = rng.random((4, 5, 3)), rng.integers(-3, 3, (7, 2, 2))
    found = x[at[..., 0], at[..., 1]]
    free = ex.function(lambda x, at: ex.gather_nd(x, at), [ex.TensorSpec([None, 5, 3], "f64"), ex.TensorSpec([None, 2, 2], "i64")])
    for made in (ex.gather_nd(ex.tensor(x), ex.tensor(at)), free(ex.tensor(x), ex.tensor(at))):
        np.testing.assert_array_equal(np.asarray(made), found)
    by_all = ex.gather_nd(ex.tensor(x), ex.tensor(np.array([[3, -1, 0]])))
    assert by_all.tolist() == [x[3, 4, 0]]
    for wrong, axis in (([[4, 0]], 4), ([[0, 5]], 5), ([[0, -6]], 5)):
        with pytest.raises(ex.OutOfRangeError, match=f"gather_nd: .*axis of {axis}"):
            ex.gather_nd(ex.tensor(x), ex.tensor(wrong))
