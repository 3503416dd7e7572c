"""Rows that are missing, and axes of which a graph does not know the size, in what takes several of them."""

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import extenso as ex


def times(x: Any) -> Any:
    return ex.to_timestamp(x, "s")


def durations(x: Any) -> Any:
    return ex.to_duration(x, "s")


def decimals(x: Any) -> Any:
    return ex.to_decimal(x, 9, 2)


def quartile(x: Any, axis: int) -> Any:
    return ex.quantile(x, 0.25, axis)


@pytest.mark.parametrize(
    ("of", "kind"),
    [(of, kind) for of in (ex.mean, ex.median, quartile, ex.std) for kind in (times, durations)] + [(ex.mean, decimals)],
)
def test_statistics_of_nothing_are_missing_in_rows_and_errors_elsewhere(of: "Callable[..., Any]", kind: "Callable[[Any], Any]") -> None:
    x = kind(ex.tensor([[3, 1], [5, 2], [9, 9]]))
    f = ex.function(lambda x: of(x, 0))
    # The second call makes a trace of an unknown size, which the others run.
    for n in (3, 2, 1):
        assert str(ex.spec_of(f(x[:n]))) == str(ex.spec_of(of(x[:n], 0))), n
        assert ex.to_py(f(x[:n])) == ex.to_py(of(x[:n], 0)), n
    for found in (f, lambda x: of(x, 0)):
        with pytest.raises(ex.InvalidValueError, match="the axis has no element"):
            found(x[:0])
    rows = kind(ex.constant([[3, 1], []]))
    for found in (ex.function(lambda x: of(x, 1)), lambda x: of(x, 1)):
        assert ex.to_py(found(rows))[1] is None


def test_one_row_that_may_be_missing_is_grouped_and_compared() -> None:
    x = ex.MaskedTensor(ex.tensor([[1, 1]]), [True])
    keys, groups = ex.group_by(x, x, 1)
    assert (ex.to_py(keys), ex.to_py(groups)) == ([[1]], [[[1, 1]]])
    assert ex.to_py(ex.isin(x, x[:, :0], axis=1)) == [[False, False]]


def test_pairs_of_lists_of_different_numbers_of_which_some_are_missing() -> None:
    x, y = ex.constant([[1], None]), ex.constant([[1], None, [3]])
    for f in (ex.cartesian, ex.function(ex.cartesian)):
        first, second = f((x, y), axis=0)
        assert ex.to_py(first) == [[1], [1], [1], None, None, None]
        assert ex.to_py(second) == [[1], None, [3], [1], None, [3]]


def test_rows_of_no_element_pair_in_graphs_of_unknown_sizes() -> None:
    def masked(rows: "list[Any]") -> Any:
        return ex.MaskedTensor(ex.tensor(rows), ex.tensor([[[True]]] * len(rows)))

    f = ex.function(lambda x: ex.cartesian((x, ex.head(x, 0, -1)), -1))
    for rows in ([[[0]], [[5]], [[2]]], [[[0]]]):
        x = masked(rows)
        first, second = f(x)
        assert ex.to_py(first) == ex.to_py(second) == [[[]]] * len(rows)


def test_rows_of_a_union_are_filled_up_and_cut() -> None:
    u = pa.UnionArray.from_dense(
        pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()), [pa.array([1, 2]), pa.array(["a"])]
    )
    rows = ex.unflatten(ex.from_arrow(u), [2, 1])
    assert ex.to_py(ex.pad_none(rows, 2, clip=True)) == [[1, "a"], [2, None]]
    assert ex.to_py(ex.pad_none(rows, 1, clip=True)) == [[1], [2]]


def test_masks_over_masks_are_one_where_they_say_it_of_the_same_axes() -> None:
    x = ex.MaskedTensor(ex.constant([1, None]), [True, True])
    assert ex.to_py(ex.coalesce(x, x)) == [1, None]
    assert ex.spec_of(ex.mask(ex.constant([1, None]), [True, True])) == ex.spec_of(ex.constant([1, None]))
    # The mask of the rows is the outer one, whichever was put around the other.
    rows = ex.MaskedTensor(ex.tensor([[1, 2], [3, 4]]), [True, False])
    both = ex.mask(rows, [[True, False], [True, True]])
    assert ex.to_py(both) == [[1, None], None] and both.mask.tolist() == [True, False]


def test_arrays_of_numpy_that_say_what_is_missing_keep_saying_it() -> None:
    np = pytest.importorskip("numpy")
    x = np.ma.masked_array([1.0, 100.0], [0, 1])
    assert ex.to_py(ex.sum(x)) == ex.to_py(ex.function(lambda x: ex.sum(x))(x)) == 1.0
    assert ex.to_py(ex.tensor([1.0, 1.0]) + x) == [2.0, None]
    assert ex.sum(np.ma.masked_array([1.0, 2.0])).tolist() == 3.0
    with pytest.raises(ex.InvalidValueError, match="constant"):
        ex.tensor(x)


def test_a_list_that_may_be_missing_is_a_field() -> None:
    tags = ex.constant([{"tags": ["a", "b"]}, {"tags": None}])[0]["tags"]
    records = ex.zip({"tag": tags, "n": [1, 2]})
    assert ex.to_py(records) == [{"tag": "a", "n": 1}, {"tag": "b", "n": 2}]
    assert ex.to_py(ex.concat([records, records])) == ex.to_py(records) * 2
    assert ex.encode_json(records).tolist() == ['{"tag":"a","n":1}', '{"tag":"b","n":2}']
    assert ex.to_py(ex.group_by(tags, ex.tensor([1, 2]))[1]) == [["a"], ["b"]]
    assert ex.to_py(ex.transpose(ex.constant([[3.0], None])[1])) is None


def test_steps_between_whole_numbers_are_those_of_numpy() -> None:
    assert ex.linspace(-10, 0, 4, dtype="i64").tolist() == [-10, -7, -4, 0]


def test_what_lies_under_a_missing_number_moves_no_bits() -> None:
    by = ex.MaskedTensor(ex.tensor([1, -1]), ex.tensor([True, False]))
    assert ex.to_py(ex.constant([1, 2]) << by) == [2, None] and ex.to_py(ex.constant([4, 2]) >> by) == [2, None]


def test_a_field_that_is_missing_by_rows_is_read() -> None:
    rows = ex.MaskedTensor(ex.tensor([[1, 2], [3, 4]]), ex.tensor([True, False]))
    assert ex.to_py(ex.zip({"p": rows})) == [[{"p": 1}, {"p": 2}], None]


def test_what_lies_under_missing_rows_fails_in_nothing() -> None:
    there = [True, False, True]
    x = ex.mask([[1.0, 2.0], [3.0], [4.0, 5.0]], there)
    for parts in (lambda x: ex.split(x, 2, axis=1), lambda x: ex.split(x, [1, 1], axis=1)):
        for split in (parts, ex.function(parts)):
            assert [ex.to_py(part) for part in split(x)] == [[[1.0], None, [4.0]], [[2.0], None, [5.0]]]
    with pytest.raises(ex.ShapeError, match=r"split: row 0 has 2 values in one partition and 3"):
        ex.split(x, [3, 0], axis=1)
    table = ex.tensor([[1.0, 2.0], [3.0, 4.0]])
    ids, weights = ex.mask([[0], [55], [1, 0]], there), ex.mask([[0.5], [9.0], [1.0, 2.0]], there)
    for look in (ex.embedding_lookup, ex.function(ex.embedding_lookup)):
        assert ex.to_py(look(table, ids, combiner="sum")) == [[1.0, 2.0], None, [4.0, 6.0]]
        assert ex.to_py(look(table, ids, weights, combiner="sum")) == [[0.5, 1.0], None, [5.0, 8.0]]
    late = ex.mask(ex.TimestampTensor(ex.tensor([1, 2**62]), "s"), [True, False])
    soon = ex.to_py(ex.TimestampTensor(ex.tensor(10**9), "ns"))
    for cast in (ex.cast_unit, ex.function(ex.cast_unit)):
        assert ex.to_py(cast(late, "ns")) == [soon, None]
        with pytest.raises(ex.InvalidValueError, match="does not fit 64 bits"):
            cast(late.values, "ns")


def test_a_row_that_is_missing_has_no_elements() -> None:
    x = ex.mask([[1.0, 2.0], [3.0], [4.0]], [True, False, True])
    assert ex.size(x).item() == 3
    assert ex.to_py(ex.full_like(x, 2)) == [[2.0, 2.0], [], [2.0]]
    late = ex.mask(ex.TimestampTensor(ex.tensor([1, 2**62]), "s"), [True, False])
    assert ex.to_py(ex.to_date(late))[1] is None
    assert ex.to_py(ex.to_date(ex.mask([1, 2**40], [True, False])))[1] is None


def test_where_reads_a_size_that_is_not_known_while_tracing() -> None:
    rows = ex.mask(ex.constant([[1, 2, 3], [], [4, 5, 6]]), [True, False, True])
    signature = [ex.MaskedTensorSpec(ex.RaggedTensorSpec([None, None], "i64")), ex.TensorSpec([None], "i64")]
    least = lambda x, most: ex.where(ex.less(x, most), x, most)
    for call in (least, ex.function(least, signature)):
        assert ex.to_py(call(rows, ex.tensor([2, 3, 9]))) == [[1, 2, 3], None, [2, 3, 6]]
        assert ex.to_py(call(rows, ex.tensor([4]))) == [[1, 2, 3], None, [4, 4, 4]]


def test_one_row_that_may_be_missing_is_repeated_while_tracing_too() -> None:
    signature = [ex.RaggedTensorSpec([None, None], "i64"), ex.MaskedTensorSpec(ex.RaggedTensorSpec([None, None], "i64"))]
    rows, one = ex.constant([[1, 2, 3], [4], [5, 6]]), ex.constant([[2], None])[:1]
    for times in (ex.multiply, ex.function(lambda x, y: x * y, signature)):
        assert ex.to_py(times(rows, one)) == [[2, 4, 6], [8], [10, 12]]


HIDDEN = [[[1, 2], [7]], [[3, 4, 5]], [[6]]]
OF_NUMBERS = [[1, 2], [3], [4]]
ROWS_BESIDE: "list[tuple[str, Callable[..., Any], list[Any]]]" = [
    ("split", lambda x: ex.split(x, 2, axis=2)[0], [[[[1, 2], [7, 8]], [[3, 4, 5]], [[6, 6]]]]),
    ("nth", lambda x, at: ex.nth(x, at, axis=2), [HIDDEN, [[0, 0], [5], [0]]]),
    ("head", lambda x, n: ex.head(x, n, axis=2), [HIDDEN, [[0, 1], [-1, 3], [0]]]),
    ("tail", lambda x, n: ex.tail(x, n, axis=2), [HIDDEN, [[0, 1], [-1, 3], [0]]]),
    ("pad_to", lambda x, n: ex.pad_to(x, n, 0, axis=2), [HIDDEN, [[3, 1], [-1, 3], [0]]]),
    ("repeat", lambda x, n: ex.repeat(x, n, axis=2), [HIDDEN, [[[1, 2], [0]], [[1, -1]], [[3]]]]),
    ("repeat rows", lambda x, n: ex.repeat(x, n, axis=1), [HIDDEN, [[1, 2], [-1, 4], [3]]]),
    ("isin", lambda x, y: ex.isin(x, y, axis=2), [HIDDEN, [[[1, 9], [0]], [[1, 1], [3]], [[3]]]]),
    ("searchsorted", lambda x, y: ex.searchsorted(x, y), [HIDDEN, [[[1, 9], [0]], [[1, 1], [3]], [[3]]]]),
    ("searchsorted rows", lambda x, y: ex.searchsorted(x, y), [OF_NUMBERS, [[1, 9], [1, 1], [4]]]),
    ("take_per_row", lambda x, at: ex.take_per_row(x, at, axis=2), [HIDDEN, [[[1, 0], [0]], [[9, 1], [3]], [[0]]]]),
    ("take_along_axis", lambda x, at: ex.take_along_axis(x, at, axis=1), [OF_NUMBERS, [[1, 0], [9, 1], [0]]]),
    ("union", lambda x, y: ex.union(x, y, axis=2), [HIDDEN, [[[1, 9], [0]], [[1, 1], [2]], [[3]]]]),
    ("concat", lambda x, y: ex.concat([x, y], axis=2), [HIDDEN, [[[1], [2]], [[1, 1], [1]], [[3]]]]),
    ("add", lambda x, y: x + y, [HIDDEN, [[[1, 2], [2]], [[1, 1]], [[3]]]]),
    ("where", lambda x, y: ex.where(x > 1, x, y), [HIDDEN, [[[1, 2], [2]], [[1, 1]], [[3]]]]),
    ("cross", lambda x, y: ex.cross([x, y]), [[["a", "b"], ["c"], ["d"]], [["x"], ["y", "z"], ["w"]]]),
    ("cross_hashed", lambda x, y: ex.cross_hashed([x, y], 9), [[["a", "b"], ["c"], ["d"]], [["x"], ["y", "z"], ["w"]]]),
    ("matmul", ex.matmul, [[[[1.0, 2.0]], [[3.0, 4.0, 5.0]], [[1.0, 2.0]]], [[[1.0], [2.0]], [[1.0]], [[2.0], [1.0]]]]),
    (
        "embedding_lookup",
        lambda ids, weights: ex.embedding_lookup(ex.constant([[1.0], [2.0], [3.0]]), ids, weights),
        [[[1, 2], [7], [0]], [[1.0, 3.0], [1.0, 1.0], [2.0]]],
    ),
]


@pytest.mark.parametrize(("f", "given"), [of[1:] for of in ROWS_BESIDE], ids=[of[0] for of in ROWS_BESIDE])
def test_what_has_rows_beside_it_has_them_missing_alike(f: "Callable[..., Any]", given: "list[Any]") -> None:
    there = [True, False, True]
    hidden = [ex.mask(rows, there) for rows in given]
    empty = [ex.mask([row if keep else [] for row, keep in zip(rows, there, strict=True)], there) for rows in given]
    alone = ex.to_py(f(*(ex.drop_none(rows, axis=0) for rows in hidden)))
    wanted = [alone[0], None, alone[1]]
    for args in (hidden, empty, [hidden[0], *empty[1:]], [empty[0], *hidden[1:]]):
        assert ex.to_py(f(*args)) == wanted
        assert ex.to_py(ex.function(f)(*args)) == wanted


def test_one_row_that_is_missing_is_missing_beside_each_of_several() -> None:
    rows, none = ex.constant([[1.0, 2.0], [3.0], [4.0, 5.0]]), ex.mask([[1.0, 2.0], [3.0]], [False, True])[:1]
    cases: list[tuple[Callable[..., Any], Any]] = [
        (lambda x, y: x * y, [None, None, None]),
        (lambda x, y: y - x, [None, None, None]),
        (lambda x, y: ex.where(x > 1, x, y), [[None, 2.0], [3.0], [4.0, 5.0]]),
    ]
    for f, wanted in cases:
        assert ex.to_py(f(rows, none)) == wanted
        assert ex.to_py(ex.function(f)(rows, none)) == wanted
        g = ex.function(f)
        # The second call makes a trace of an unknown size, which the third runs.
        for n in (3, 2, 3):
            assert ex.to_py(g(rows[:n], none)) == wanted[:n]


def test_a_weight_row_and_a_label_that_are_missing() -> None:
    ids, weights = ex.constant([[0, 1], [2], [1]]), ex.constant([[1.0, 0.5], None, [2.0]])
    assert ex.to_py(ex.embedding_lookup(ex.constant([[1.0], [2.0], [3.0]]), ids, weights, "sum")) == [[2.0], None, [4.0]]
    loss = ex.sparse_softmax_cross_entropy(ex.constant([[0.0, 0.0], [1.0], []]), ex.constant([1, 0, None]))
    assert ex.to_py(loss) == [pytest.approx(0.6931471805599453), 0.0, None]


def test_membership_and_places_along_an_inner_axis_of_vectors() -> None:
    x = ex.constant([[[1, 2], [3, 1]], [[1, 1], [2, 3]]])
    assert ex.to_py(ex.isin(x, ex.constant([[[3, 1]], [[1, 2]]]), axis=1)) == [[False, True], [False, False]]
    values, places = ex.unique_with_inverse(x, axis=1)
    assert (ex.to_py(values), ex.to_py(places)) == ([[[1, 2], [3, 1]], [[1, 1], [2, 3]]], [[0, 1], [0, 1]])


def test_what_lies_under_an_element_that_is_missing_tells_no_vectors_apart() -> None:
    for hidden in (3, 0):
        x = ex.mask(ex.mask(ex.tensor([[3], [hidden]]), ex.tensor([[True], [False]])), [True, True])
        for f, wanted in (
            (lambda x: ex.unique(x, axis=0), [[3], [None]]),
            (lambda x: ex.unique_with_counts(x, axis=0), [[[3], [None]], [1, 1]]),
            (lambda x: ex.unique_with_inverse(x, axis=0), [[[3], [None]], [0, 1]]),
            (lambda x: ex.run_lengths(x, axis=0), [1, 1]),
            (lambda x: ex.group_by(ex.tensor([1, 2]), x), [[[3], [None]], [[1], [2]]]),
        ):
            for g in (f, ex.function(f)):
                made = g(x)
                assert (ex.to_py(made) if not isinstance(made, tuple) else [ex.to_py(part) for part in made]) == wanted


def test_vectors_that_are_missing_as_a_whole_are_one_key() -> None:
    x = ex.mask(ex.tensor([[1, 2], [3, 4], [1, 2], [5, 5]]), [True, False, True, False])
    assert ex.to_py(ex.unique(x, axis=0)) == [[1, 2], None]
    assert ex.to_py(ex.union(x, x, axis=0)) == [[1, 2], None]
    assert ex.to_py(ex.difference(x, x[1:2], axis=0)) == [[1, 2]]
    values, counts = ex.unique_with_counts(x, axis=0)
    assert (ex.to_py(values), ex.to_py(counts)) == ([[1, 2], None], [2, 2])
    column = ex.mask(ex.tensor([[[1], [2]]]), ex.tensor([[True, False]]))
    assert ex.to_py(ex.repeat(column, 2, axis=1)) == [[[1], [1], None, None]]
    assert ex.to_py(ex.repeat(column, [1, 2], axis=1)) == [[[1], None, None]]
    hot = ex.multi_hot(ex.mask(ex.tensor([[[1, 2], [3, 0]]]), ex.tensor([[True, False]])), 3)
    assert ex.to_py(hot) == [[[0.0, 1.0, 1.0], None]]


def test_a_batch_without_rows_meets_masked_columns() -> None:
    rows = ex.RaggedTensor.from_uniform_row_length(ex.RaggedTensor.from_row_lengths(ex.zeros([0], dtype="i64"), ex.zeros([0], dtype="i64")), 2, 0)
    none = ex.mask(rows, ex.zeros([0], dtype="bool"))
    column = ex.mask(ex.tensor([[4], [5]]), ex.tensor([[True], [True]]))
    for f in (lambda x, y: x + y, lambda x, y: ex.maximum(y, x)):
        assert ex.to_py(f(none, column)) == ex.to_py(ex.function(f)(none, column)) == []


def test_a_dense_row_that_is_missing_is_missing_beside_rows() -> None:
    column = ex.mask(ex.tensor([[10], [20]]), [False, True])
    rows = ex.RaggedTensor.from_row_lengths([1, 2], [2, 0])
    for f in (lambda x, y: x + y, lambda x, y: y * x, ex.maximum, lambda x, y: ex.where(x < y, x, y)):
        assert ex.to_py(f(rows, column)) == ex.to_py(ex.function(f)(rows, column)) == [None, []]
        assert ex.to_py(f(column, rows)) == ex.to_py(ex.function(f)(column, rows)) == [None, []]
    elements = ex.mask(ex.tensor([[10], [20]]), [[False], [True]])
    assert ex.to_py(rows + elements) == [[None, None], []]


def test_a_row_of_masked_rows_that_is_missing_is_missing_traced_too() -> None:
    multiply = lambda x, y: x * y
    for lengths in ([1, 1], [0, 2]):
        rows = ex.mask(ex.RaggedTensor.from_row_lengths(ex.ones([2, 3], "i64"), lengths), [True, True])
        inner = ex.mask(ex.tensor([[[1, 2, 3]], [[4, 5, 6]]]), [[True], [True]])
        beside = ex.mask(inner, [False, True])
        wanted = ex.to_py(multiply(rows, beside))
        assert wanted[0] is None and wanted[1] == [[4, 5, 6]] * lengths[1]
        assert ex.to_py(ex.function(multiply)(rows, beside)) == wanted


EMPTY_LISTS: "dict[str, Any]" = {
    "unique": lambda x: ex.unique(x, axis=1),
    "unique of elements": lambda x: ex.unique(x, axis=2),
    "run_lengths": lambda x: ex.run_lengths(x, axis=1),
    "pad_to": lambda x: ex.pad_to(x, 2, 7, axis=2),
    "nth": lambda x: ex.nth(x, 1, axis=1),
    "cartesian": lambda x: ex.cartesian((x, x), axis=1)[0],
    "combinations": lambda x: ex.combinations(x, 1, axis=1),
    "union": lambda x: ex.union(x, ex.flip(x, axis=1), axis=1),
    "flatten": lambda x: ex.flatten(x, axis=1),
    "group_by": lambda x: ex.group_by(x, x, axis=1)[0],
}


@pytest.mark.parametrize("name", EMPTY_LISTS)
def test_lists_without_elements_stay_missing_for_any_number_of_rows(name: str) -> None:
    op = EMPTY_LISTS[name]
    rows = lambda n: ex.mask(ex.zeros([n, 2, 0], "i64"), ex.tensor([[True, False]] * n))
    traced = ex.function(op)
    for n in (1, 3, 2):
        assert ex.to_py(traced(rows(n))) == ex.to_py(op(rows(n))) == (ex.to_py(op(rows(1))) * n)


@pytest.mark.parametrize("sizes", [[0, 0], [3, 0], [0, 2]])
def test_axes_without_elements_are_joined_and_filled_for_any_number_of_rows(sizes: "list[int]") -> None:
    for op in (lambda x: ex.flatten(x, axis=2), lambda x: ex.pad_none(x, 2, axis=1), lambda x: ex.nan_to_none(ex.median(x, axis=1, keepdims=True))):
        traced = ex.function(op)
        for n in (1, 4, 2):
            zeros = ex.zeros([n, *sizes])
            assert ex.to_py(traced(zeros)) == ex.to_py(op(zeros))


def test_lists_that_are_missing_in_dense_axes_are_left_alone() -> None:
    mask = [[True, False]]
    numbers = ex.mask(ex.tensor([[[1.0, 2.0], [3.0, 4.0]]]), mask)
    elements = ex.mask(ex.mask(ex.tensor([[[1.0, 2.0], [3.0, 4.0]]]), [[[True, False], [True, True]]]), mask)
    assert ex.to_py(ex.singletons(numbers, axis=2)) == [[[[1.0], [2.0]], None]]
    assert ex.to_py(ex.singletons(elements, axis=2)) == [[[[1.0], []], None]]
    assert ex.to_py(ex.median(elements, axis=2)) == ex.to_py(ex.quantile(elements, 0.5, axis=2)) == [[1.0, None]]
    assert ex.to_py(ex.string_ngrams(ex.mask(ex.tensor([[["a", "b"], ["c", "d"]]]), mask), 2)) == [[["a b"], None]]


def test_a_vector_beyond_the_last_is_missing_and_not_its_elements() -> None:
    rows = ex.mask(ex.tensor([[1, 2]]), [[True, False]])
    assert ex.to_py(ex.nth(rows, 5, axis=0)) is None
    assert ex.to_py(ex.pad_to(rows, 2, axis=0)) == ex.to_py(ex.pad_none(rows, 2, axis=0)) == [[1, None], None]
    assert ex.to_py(ex.nth(rows[None], 3, axis=1)) == [None]


def test_elements_of_no_vocabulary_are_missing() -> None:
    none = ex.from_arrow(pa.array([], pa.dictionary(pa.int8(), pa.string())))
    assert ex.to_py(ex.pad_none(none, 2, axis=0)) == ex.to_py(ex.pad_to(none, 2, axis=0)) == [None, None]
    assert ex.to_py(ex.first(ex.RaggedTensor.from_row_lengths(none, [0, 0]))) == [None, None]


def test_what_may_be_missing_and_must_not_is_told_alike() -> None:
    rows = ex.constant([[1.0, None], None])
    for wrong in (lambda: rows[rows > 0.0], lambda: rows[:1].values[rows[:1].values > 0.0]):
        with pytest.raises(ex.InvalidValueError, match="may be missing|are missing"):
            wrong()
    with pytest.raises(ex.InvalidValueError, match="some of the keys may be missing"):
        ex.lookup(ex.tensor(["a"]), ex.constant(["a", None]))


def test_indices_that_are_all_missing_take_from_an_empty_table() -> None:
    indices = ex.constant([None, None], ex.MaskedTensorSpec(ex.TensorSpec([None], "i64")))
    for table in (ex.tensor([], "f64"), ex.zeros([0, 2]), ex.constant([{"a": 1}])[:0], ex.constant([[1]])[:0]):
        assert ex.to_py(ex.take(table, indices)) == [None, None]
        with pytest.raises(ex.OutOfRangeError):
            ex.take(table, ex.constant([0, None]))


#: Lists of two numbers, dense and ragged, of which some are missing as a whole.
def _pairs(rows: "list[Any]", *, dense: bool) -> Any:
    return ex.from_arrow(pa.array(rows, pa.list_(pa.float64(), 2) if dense else pa.list_(pa.float64())))


WHOLE, SOME, OTHERS = [[1.0, 2.0], [3.0, 4.0]], [None, [3.0, 9.0]], [[3.0, None], None]
OF_TWO_LISTS: "dict[str, Any]" = {
    "union": ex.union,
    "intersection": ex.intersection,
    "difference": ex.difference,
    "isin": lambda x, y: ex.isin(x, y, axis=-1),
    "cartesian": lambda x, y: ex.cartesian([x, y]),
    "argcartesian": lambda x, y: ex.argcartesian([x, y]),
    "concat": lambda x, y: ex.concat([x, y], axis=1),
    "stack": lambda x, y: ex.stack([x, y], axis=-1),
    "zip": lambda x, y: ex.zip({"x": x, "y": y}),
    "lexsort": lambda x, y: ex.lexsort((x, y)),
    "linear_scan": ex.linear_scan,
    "coalesce": lambda x, y: ex.coalesce(x, y),
    "where": lambda x, y: ex.where(ex.tensor([[True], [False]]), x, y),
    "inverse": lambda x, y: ex.unique_with_inverse(ex.concat([x, y], axis=1)),
    "shift": lambda x, y: (ex.shift(x, 1), ex.shift(y, -1, 0.0)),
    "outer": lambda x, y: [
        f(z) for z in (x, y) for f in (
            lambda z: ex.sort(z, axis=0),
            lambda z: ex.argsort(z, axis=0),
            lambda z: ex.take_along_axis(z, ex.argsort(z, axis=0), axis=0),
            lambda z: ex.shift(z, 1, 0.0, axis=0),
            lambda z: ex.shift(z, -1, axis=0),
            lambda z: ex.cumulative_sum(z, axis=0),
        )
    ],
    "kept": lambda x, y: [f(z, axis=-1, keepdims=True) for f in (ex.sum, ex.max, ex.mean, ex.argmax) for z in (x, y)],
}


@pytest.mark.parametrize("f", OF_TWO_LISTS.values(), ids=OF_TWO_LISTS)
def test_a_missing_list_is_one_whatever_the_layout_of_lists(f: Any) -> None:
    for x, y in itertools.product([WHOLE, SOME, OTHERS], repeat=2):
        if f in (ex.linear_scan, OF_TWO_LISTS["isin"]) and OTHERS in (x, y):
            continue
        wanted = ex.to_py(f(_pairs(x, dense=False), _pairs(y, dense=False)))
        for layout in itertools.product([True, False], repeat=2):
            args = [_pairs(rows, dense=dense) for rows, dense in zip((x, y), layout)]
            assert ex.to_py(f(*args)) == wanted, (x, y, layout)
            assert ex.to_py(ex.function(f)(*args)) == wanted, (x, y, layout)


def test_lists_in_lists_keep_what_is_missing_at_each_level() -> None:
    kind = pa.list_(pa.list_(pa.float64(), 2), 2)
    x = ex.from_arrow(pa.array([None, [[1.0, 2.0], None]], kind))
    for fold in (ex.sum, ex.max, ex.mean, ex.count, ex.median):
        folded = ex.to_py(fold(x, axis=-1))
        assert ex.to_py(fold(x, axis=-1, keepdims=True)) == [None, [[folded[1][0]], None]]
    y = ex.from_arrow(pa.array([[[1.0, 2.0], None], [[3.0, 3.0], [4.0, 4.0]]], kind))
    assert ex.to_py(ex.isin(y, y, axis=-1)) == [[[True, True], None], [[True, True], [True, True]]]
    assert ex.to_py(ex.unique_with_inverse(y)[1]) == [[[0, 1], None], [[0, 0], [0, 0]]]
    for rows in ([[[1.0, 3.0], None], None], [None, [[2.0, 1.0], [0.0, 0.0]]]):
        dense, deep = ex.from_arrow(pa.array(rows, kind)), ex.from_arrow(pa.array(rows, pa.list_(pa.list_(pa.float64()))))
        for f in (lambda x, y: ex.isin(x, y, axis=-1), lambda x, y: ex.lexsort((x, y)), ex.linear_scan, ex.union):
            wanted = ex.to_py(f(deep, deep))
            for pair in itertools.product((dense, deep), repeat=2):
                assert ex.to_py(f(*pair)) == ex.to_py(ex.function(f)(*pair)) == wanted, (f, pair)
    z = ex.from_arrow(pa.array([[[1.5, None], None], [[None, None], [3.0, 3.0]]], kind))
    assert ex.to_py(ex.drop_none(z, axis=2)) == [[[1.5], None], [[], [3.0, 3.0]]]
    rows = ex.constant([[[1.0], None], [[2.0, 3.0]]])

    def taken(x: Any) -> Any:
        return ex.take_along_axis(x, ex.argsort(x, axis=1), axis=1)

    assert ex.to_py(taken(rows)) == ex.to_py(ex.function(taken)(rows)) == ex.to_py(ex.sort(rows, axis=1))
    few = ex.constant([[3.0], None, [1.0, 2.0]])
    assert ex.to_py(ex.take_along_axis(few, ex.argsort(few, axis=0), axis=0)) == ex.to_py(ex.sort(few, axis=0))
    dense, ragged = ex.constant([[[1.0, None]], [[3.0, 4.0]]]), ex.constant([[[1.0, 2.0]], [None]])
    assert ex.to_py(ex.concat([dense, ragged])) == [[[1.0, None]], [[3.0, 4.0]], [[1.0, 2.0]], [None]]
    with pytest.raises(ex.DTypeError, match="fill_none"):
        ex.fill_none(ex.constant([None, [3.0]]), "x")


def test_what_is_missing_in_a_child_of_a_union_is_missing() -> None:
    x = ex.UnionTensor([0, 1, 0, 1], {"n": ex.constant([7, None]), "t": ["a", "b"]}, offsets=[0, 0, 1, 1])
    laws: "dict[Any, Any]" = {
        ex.is_none: [False, False, True, False],
        ex.is_valid: [True, True, False, True],
        ex.drop_none: [7, "a", "b"],
        ex.singletons: [[7], ["a"], [], ["b"]],
        ex.count: 3,
    }
    for f, wanted in laws.items():
        assert ex.to_py(f(x)) == ex.to_py(ex.function(f)(x)) == wanted
    assert ex.to_py(ex.fill_none(x, 0)) == [7, "a", 0, "b"]
    assert ex.to_py(ex.coalesce(x, x[::-1])) == [7, "a", "a", "b"]
    rows = ex.unflatten(x, [2, 2])
    assert ex.to_py(ex.is_none(rows)) == [[False, False], [True, False]] and ex.to_py(ex.drop_none(rows)) == [[7, "a"], ["b"]]
    assert ex.to_py(ex.is_none(ex.mask(x, [True, False, True, True]))) == [False, True, True, False]
    assert rows.dtype is None and rows.to_pandas().tolist() == [[7, "a"], [None, "b"]]
    assert ex.to_py(ex.function(lambda x: ex.arange(len(x)) * x.ndim)(x)) == [0, 1, 2, 3]
    assert pickle.loads(pickle.dumps(x)).to_py() == x.to_py() and pickle.loads(pickle.dumps(x.spec)) == x.spec
    for odd in (lambda: bool(x), lambda: len(x[0]), lambda: x[0].to_pandas(), lambda: ex.UnionTensor([0], 3)):
        with pytest.raises(ex.Error):
            odd()


def test_records_are_looked_for_among_records() -> None:
    x = ex.constant([{"a": 1, "b": "x"}, {"a": 2, "b": "x"}])
    assert ex.to_py(ex.isin(x, x[:1])) == ex.to_py(ex.isin(x, x[:1], axis=0)) == [True, False]
    with pytest.raises(ex.DispatchError, match="argmax: the elements have no order"):
        ex.argmax(ex.mask(x, [True, False]))
