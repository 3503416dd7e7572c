"""Tests of missing data and paths against plain Python lists and dicts."""

from __future__ import annotations

import doctest
import random
from collections.abc import Callable
from typing import Any

import extenso as ex
import pyarrow as pa
import pytest

SEEDS = range(40)


def lists(rng: random.Random, depth: int) -> Any:
    """Returns nested lists with `None` anywhere, of one depth, whose first leaf tells the dtype."""
    if depth == 0:
        return None if rng.random() < 0.3 else rng.randrange(10)
    if rng.random() < 0.2:
        return None
    return [lists(rng, depth - 1) for _ in range(rng.randrange(4))]


def whole(rng: random.Random, depth: int) -> Any:
    """Returns lists of which some list and some leaf of the greatest depth is there."""
    first: Any = 1
    for _ in range(depth - 1):
        first = [first]
    return [first, *(lists(rng, depth - 1) for _ in range(rng.randrange(4)))]


def dropped(x: Any, axis: int | None, at: int = 0) -> Any:
    if not isinstance(x, list):
        return x
    kept = x if axis not in (None, at) else [item for item in x if item is not None]
    return [dropped(item, axis, at + 1) for item in kept]


def padded(x: Any, target: int, axis: int, clip: bool) -> Any:
    if x is None:
        return None
    if axis:
        return [padded(item, target, axis - 1, clip) for item in x]
    x = x[:target] if clip else x
    return x + [None] * (target - len(x))


def counted(x: Any) -> int:
    if x is None:
        return 0
    return sum(map(counted, x)) if isinstance(x, list) else 1


def either(x: Any, y: Any) -> Any:
    if x is None:
        return y
    return [either(a, b) for a, b in zip(x, y, strict=True)] if isinstance(x, list) else x


def valid(x: Any) -> Any:
    return [valid(item) for item in x] if isinstance(x, list) else x is not None


def traced(f: Callable[[Any], Any], x: Any) -> Any:
    return ex.to_py(ex.function(f)(x))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_missing_is_left_out_as_of_lists(seed: int) -> None:
    rng = random.Random(seed)
    data = whole(rng, depth := rng.choice([1, 2, 3]))
    x = ex.constant(data)
    assert ex.to_py(ex.drop_none(x)) == dropped(data, None)
    for axis in range(depth):
        assert ex.to_py(ex.drop_none(x, axis)) == dropped(data, axis)
    assert ex.count(x).item() == counted(data)


@pytest.mark.parametrize("seed", SEEDS)
def test_lists_are_filled_up_as_lists_are(seed: int) -> None:
    rng = random.Random(seed)
    data = whole(rng, depth := rng.choice([1, 2, 3]))
    x = ex.constant(data)
    for axis in range(depth):
        target, clip = rng.randrange(4), rng.random() < 0.5
        wanted = padded(data, target, axis, clip)
        assert ex.to_py(ex.pad_none(x, target, axis, clip)) == wanted
        assert traced(lambda x, axis=axis, target=target, clip=clip: ex.pad_none(x, target, axis, clip), x) == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_that_is_there_is_chosen_item_by_item(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.randrange(1, 5)
    x, y = ([1, *(lists(rng, 0) for _ in range(n))] for _ in range(2))
    assert ex.to_py(ex.coalesce(ex.constant(x), ex.constant(y))) == either(x, y)
    assert ex.to_py(ex.coalesce(ex.constant(x), ex.constant(y), 7)) == either(either(x, y), [7] * (n + 1))
    rows = [x, [], y]
    assert ex.to_py(ex.coalesce(ex.constant(rows), 7)) == [either(row, [7] * len(row)) for row in rows]
    assert ex.to_py(ex.is_valid(ex.constant(rows))) == valid(rows)


def users(rng: random.Random) -> list[dict[str, Any]]:
    def doc() -> dict[str, Any]:
        return {"n": rng.randrange(9), "tags": [rng.choice("abc") for _ in range(rng.randrange(3))]}

    first = {"id": 0, "docs": [{"n": 1, "tags": ["a"]}]}
    return [first, *({"id": i, "docs": [doc() for _ in range(rng.randrange(4))]} for i in range(1, rng.randrange(1, 5)))]


@pytest.mark.parametrize("seed", SEEDS)
def test_paths_do_what_a_walk_over_records_does(seed: int) -> None:
    rng = random.Random(seed)
    data = users(rng)
    x, limit = ex.constant(data), rng.randrange(9)
    begin, end = rng.choice([None, -2, 0, 1]), rng.choice([None, -1, 2])
    docs = [user["docs"] for user in data]
    assert x.size("docs").tolist() == [len(d) for d in docs]
    assert x.size().item() == len(data)
    assert x.has("docs").tolist() == [bool(d) for d in docs]
    assert x.size(("docs", "tags")).to_py() == [[len(doc["tags"]) for doc in d] for d in docs]
    assert x.local_index("docs").to_py() == [list(range(len(d))) for d in docs]
    assert x.reroot("docs", "user").to_py() == [{**doc, "user": i} for i, d in enumerate(docs) for doc in d]
    assert x.reroot(("docs", "tags")).to_py() == [tag for d in docs for doc in d for tag in doc["tags"]]
    assert x.project([("docs", "n")]).to_py() == [{"docs": [{"n": doc["n"]} for doc in d]} for d in docs]
    kept = [{**user, "docs": [doc for doc in user["docs"] if doc["n"] > limit]} for user in data]
    assert x.filter("docs", x["docs", "n"] > limit).to_py() == kept
    part = [{**user, "docs": user["docs"][begin:end]} for user in data]
    assert x.slice("docs", begin, end).to_py() == part
    total = [{**user, "total": sum(doc["n"] for doc in user["docs"])} for user in data]
    assert x.apply([("docs", "n")], lambda n: ex.sum(n, axis=1), "total").to_py() == total
    for f, wanted in [
        (lambda x: x.filter("docs", x["docs", "n"] > limit), kept),
        (lambda x: x.slice("docs", begin, end), part),
        (lambda x: x.apply([("docs", "n")], lambda n: ex.sum(n, axis=1), "total"), total),
    ]:
        assert traced(f, x) == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_records_move_as_python_records_do(seed: int) -> None:
    rng = random.Random(seed)
    data = users(rng)
    n, x = len(data), ex.constant(data)
    at = [rng.randrange(-n, n) for _ in range(rng.randrange(4))]
    keep, other = [rng.random() < 0.5 for _ in data], data[::-1]
    by = rng.randrange(-3, 4)
    assert ex.take(x, ex.tensor(at, dtype="i64")).to_py() == [data[i] for i in at]
    assert ex.boolean_mask(x, keep).to_py() == [d for d, k in zip(data, keep, strict=True) if k]
    assert ex.flip(x, axis=0).to_py() == other
    assert ex.roll(x, by, axis=0).to_py() == [data[(i - by) % n] for i in range(n)]
    assert ex.where(keep, x, ex.flip(x, axis=0)).to_py() == [a if k else b for a, b, k in zip(data, other, keep, strict=True)]
    assert ex.concat([x, x]).to_py() == data + data
    assert ex.repeat(x, 2, axis=0).to_py() == [d for d in data for _ in range(2)]
    assert ex.tile(x, (2,)).to_py() == data + data
    assert [part.to_py() for part in ex.unstack(x)] == data
    assert [part.to_py() for part in ex.split(x, (1, n - 1))] == [data[:1], data[1:]]
    assert ex.stack([x, x]).to_py() == [data, data]
    assert ex.expand_dims(x).to_py() == [data]
    assert ex.mask(x, keep).to_py() == [d if k else None for d, k in zip(data, keep, strict=True)]


def test_fields_side_by_side_are_unzipped() -> None:
    fields = {"a": ex.constant([[1, 2], []]), "b": ex.constant([["x", None], []])}
    records = ex.zip(fields)
    assert records.to_py() == [[{"a": 1, "b": "x"}, {"a": 2, "b": None}], []]
    assert {name: field.to_py() for name, field in ex.unzip(records).items()} == {
        name: field.to_py() for name, field in fields.items()
    }
    with pytest.raises(ValueError, match="depth_limit"):
        ex.zip(fields, 0)


def test_an_exception_of_an_applied_function_goes_on() -> None:
    def fails(_: Any) -> Any:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        ex.constant([{"a": 1}]).apply(["a"], fails, "b")


def test_the_docs_of_the_namespace_hold() -> None:
    assert sorted(ex.paths.__all__) == ex.paths.__all__
    results = doctest.testmod(ex.paths)
    assert results.attempted >= 16 and results.failed == 0


@pytest.mark.parametrize("name", ["is_valid", "count", "mask", "coalesce", "drop_none", "pad_none", "zip", "unzip"])
def test_the_examples_of_the_docstrings_hold(name: str) -> None:
    test = doctest.DocTestParser().get_doctest(getattr(ex, name).__doc__, {}, name, None, None)
    results = doctest.DocTestRunner(verbose=False).run(test)
    assert results.attempted == 2 and results.failed == 0


def test_ops_agree_with_awkward() -> None:
    ak = pytest.importorskip("awkward", reason="awkward is not installed, so that nothing is compared with it")
    data = [[1, None, 3], [], [None, 5]]
    x, y = ex.constant(data), ak.Array(data)
    assert ex.to_py(ex.drop_none(x)) == ak.drop_none(y).to_list()
    assert ex.to_py(ex.pad_none(x, 2)) == ak.pad_none(y, 2).to_list()
    assert ex.to_py(ex.pad_none(x, 2, clip=True)) == ak.pad_none(y, 2, clip=True).to_list()
    assert ex.to_py(ex.count(x, axis=1)) == ak.count(y, axis=1).to_list()
    assert ex.to_py(ex.fill_none(x, 0)) == ak.fill_none(y, 0).to_list()
    assert ex.to_py(ex.sort(x)) == ak.sort(y).to_list()


def test_the_first_that_is_there_agrees_with_arrow() -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed, so that nothing is compared with it")
    import pyarrow.compute as pc

    x, y = [1, None, None], [7, 8, None]
    assert ex.to_py(ex.coalesce(ex.constant(x), ex.constant(y))) == pc.coalesce(pa.array(x), pa.array(y)).to_pylist()


def test_a_list_that_is_missing_has_no_tuples() -> None:
    x, y = ex.constant([None, [1, 2], [3], []]), ex.constant([[9], [7, 8], None, [5]])
    for first, second in [(x, y), (y, x)]:
        left, right = ex.cartesian([first, second], axis=1)
        pairs = [None if a is None else list(zip(a, b, strict=True)) for a, b in zip(ex.to_py(left), ex.to_py(right), strict=True)]
        assert [row and sorted(map(sorted, row)) for row in pairs] == [None, [[1, 7], [1, 8], [2, 7], [2, 8]], None, []]
    assert ex.to_py(ex.argcartesian([x, y], axis=1)[0]) == [None, [0, 0, 1, 1], None, []]
    assert ex.to_py(ex.function(lambda x, y: ex.union(x, y, axis=1))(x, y)) == [None, [1, 2, 7, 8], None, [5]]


def pairs(rows: "list[Any]") -> Any:
    """Lists of one size, of which some are missing as a whole, and some of what is in them."""
    return ex.from_arrow(pa.array(rows, pa.list_(pa.int64(), 2)))


def test_a_list_of_one_size_that_is_missing_has_no_length_and_no_elements() -> None:
    x = pairs([[1, 2], None, [None, 3]])
    assert ex.to_py(ex.num(x)) == [2, None, 2]
    assert ex.to_py(ex.local_index(x)) == [[0, 1], None, [0, 1]]
    assert ex.to_py(ex.flatten(x)) == ex.to_py(ex.flatten(x, axis=1)) == [1, 2, None, 3]
    assert ex.to_py(ex.function(ex.flatten)(x)) == [1, 2, None, 3]


def test_what_is_missing_below_what_is_missing_is_filled_too() -> None:
    x = pairs([[None, 1], None])
    assert ex.to_py(ex.fill_none(x, 0)) == ex.to_py(ex.coalesce(x, 0)) == [[0, 1], [0, 0]]
    assert ex.to_py(ex.boolean_mask(pairs([[3, None], [1, 2]]), ex.fill_none(pairs([[3, None], [1, 2]]) > 1, False))) == [3, 2]


@pytest.mark.parametrize("f", [ex.log, ex.sqrt, lambda x: 1.0 / x])
def test_no_slope_depends_on_what_lies_under_what_is_missing(f: Any) -> None:
    def loss(x: Any) -> Any:
        return ex.sum(f(ex.mask(x, x > 0.0)))

    slope = ex.grad(loss)(ex.tensor([1.0, 0.0, 2.0])).tolist()
    assert slope[1] == 0.0 and slope == ex.function(ex.grad(loss))(ex.tensor([1.0, 0.0, 2.0])).tolist()


def test_no_slope_depends_on_rows_that_are_missing() -> None:
    def loss(x: Any) -> Any:
        rows = ex.mask(ex.RaggedTensor.from_row_lengths(x, [2, 1]), ex.tensor([True, False]))
        return ex.sum(ex.softmax(rows, axis=-1) ** 2.0)

    slope = ex.grad(loss)(ex.tensor([1.0, 2.0, 3.0])).tolist()
    assert slope[2] == 0.0 and slope[0] == -slope[1] != 0.0


def sliced(rows: "list[Any]", before: Any) -> Any:
    """Rows whose values begin with others, which are in no row."""
    return ex.from_arrow(pa.array([before, *rows])[1:])


def test_values_outside_every_row_do_not_matter_in_a_traced_function() -> None:
    x = sliced([[1, 2], []], [0])
    for f in (lambda q: ex.floor_divide(10, q), lambda q: ex.remainder(q, q), lambda q: ex.floor_divide(q + 1, q)):
        assert ex.to_py(ex.function(f)(x)) == ex.to_py(f(x))
    deep, plain = sliced([[[1, 2], []], [[3]]], [[9, 9]]), ex.constant([[[1, 2], []], [[3]]])
    for g in (lambda a, b: a + b, lambda a, b: ex.where(a > b, a, b), lambda a, b: a == b):
        assert ex.to_py(ex.function(g)(deep, plain)) == ex.to_py(g(deep, plain))


def test_a_dense_value_of_unknown_sizes_is_flattened() -> None:
    f = ex.function(lambda x: ex.flatten(x, axis=1))
    for shape in ((2, 3, 2), (2, 4, 5), (3, 1, 2)):
        assert f(ex.ones(shape)).shape == (shape[0] * shape[1], shape[2])


def test_lists_inside_rows_that_were_sliced_are_joined() -> None:
    x, y = sliced([[[1]]], [[9, 9]]), sliced([[[5]]], [[8]])
    assert ex.to_py(ex.concat([x, y], axis=-1)) == ex.to_py(ex.function(lambda a, b: ex.concat([a, b], axis=-1))(x, y)) == [[[1, 5]]]


def test_rows_of_records_are_grouped_whatever_their_number() -> None:
    f = ex.function(lambda v, k: ex.group_by(v, k, axis=1)[1])
    for n in (2, 3):
        values = ex.constant([[{"n": 1}, {"n": 2}]] + [[{"n": 3}]] * (n - 1))
        keys = ex.constant([["x", "y"]] + [["x"]] * (n - 1))
        assert ex.to_py(f(values, keys)) == [[[{"n": 1}], [{"n": 2}]]] + [[[{"n": 3}]]] * (n - 1)


def test_a_missing_list_of_a_record_that_is_there_stays_missing_in_updates() -> None:
    x = ex.from_arrow(pa.array([{"a": [1]}, None, {"a": None}]))
    wanted = [{"a": [1], "b": [1]}, None, {"a": None, "b": None}]
    for f in (lambda x: ex.paths.apply(x, ["a"], lambda a: a, "b"), ex.function(lambda x: ex.paths.apply(x, ["a"], lambda a: a, "b"))):
        assert ex.to_py(f(x)) == wanted
    rows = ex.from_arrow(pa.array([[{"a": [1]}, {"a": None}], None, []]))
    assert ex.to_py(ex.paths.apply(rows, ["a"], lambda a: a, "b")) == [
        [{"a": [1], "b": [1]}, {"a": None, "b": None}],
        None,
        [],
    ]


def test_rows_that_may_be_missing_beside_a_condition_of_unknown_size() -> None:
    """A condition of one column chooses rows, any other chooses elements: the results are of two types."""
    x = ex.constant([[1, 2], None])
    f = ex.function(lambda c, x: ex.where(c, x, x))
    column, row, wide = ex.tensor([[False], [True]]), ex.tensor([[False]]), ex.tensor([[True, False], [True, True]])
    assert ex.to_py(f(column, x)) == [[1, 2], None]
    assert ex.to_py(f(row, x[:1])) == [[1, 2]]
    assert ex.to_py(f(wide, x)) == ex.to_py(ex.where(wide, x, x))
    spec = ex.spec_of(x)
    with pytest.raises(ex.Error, match="the size of axis 1 of the condition is not known"):
        ex.function(lambda c, x: ex.where(c, x, x), input_signature=[ex.TensorSpec([None, None], "bool"), spec])(column, x)


def test_rows_that_may_be_missing_are_taken_by_a_matrix_and_in_tuples() -> None:
    x = ex.constant([[1, 2], None, [3]])
    assert ex.to_py(ex.take(x, ex.tensor([[0, 1], [2, 2]]))) == [[[1, 2], None], [[3], [3]]]
    assert ex.to_py(ex.combinations(x, 2, axis=0)) == [[[1, 2], None], [[1, 2], [3]], [None, [3]]]
    assert ex.to_py(ex.windows(x, 2, axis=0)) == [[[1, 2], None], [None, [3]]]


def test_a_value_that_may_be_missing_as_a_whole() -> None:
    x = ex.constant([[[1], [2, 3]], []])
    assert ex.to_py(ex.fill_none(ex.first(x, axis=0), 0)) == [[1], [2, 3]]
    assert ex.to_py(ex.fill_none(ex.nth(x, 2, axis=0), 0)) == []
    assert ex.to_py(ex.sum(ex.nth(x, 0, axis=0))) == 6


def test_one_row_beside_rows_that_may_be_missing_of_unknown_sizes() -> None:
    x, one = ex.constant([[1, 2], None]), ex.RaggedTensor.from_row_lengths([10], [1])
    spec = ex.MaskedTensorSpec(ex.RaggedTensorSpec([None, None], "i64"))
    f = ex.function(lambda x, y: x + y, input_signature=[spec, ex.RaggedTensorSpec([None, None], "i64")])
    assert ex.to_py(f(x, one)) == ex.to_py(x + one) == [[11, 12], None]
    assert ex.to_py(f(x, ex.RaggedTensor.from_row_lengths([10, 20], [1, 1]))) == [[11, 12], None]
    two = ex.RaggedTensor.from_row_lengths([1, 2, 3, 4], [2, 2])
    assert ex.to_py(f(x, two)) == ex.to_py(x + two) == [[2, 4], None]


def test_missing_vectors_of_one_size_and_missing_rows_in_functions_of_positions() -> None:
    x = ex.from_arrow(pa.array([None, [1, 2], [5, 3]], pa.list_(pa.int64(), 2)))
    values, places = ex.top_k(x, 1)
    assert (ex.to_py(values), ex.to_py(places)) == ([None, [2], [5]], [None, [1], [0]])
    rows = ex.constant([[1, 2], None, [3]])
    assert ex.to_py(ex.broadcast_like(ex.max(rows, axis=1, keepdims=True), rows)) == [[2, 2], None, [3]]
    column = ex.constant([[1], [None], [3]])
    assert ex.to_py(ex.broadcast_like(column, ex.constant([[1, 2], [], [3]]))) == [[1, 1], [], [3]]
    assert ex.to_py(ex.roll(ex.constant([[1, None], [2, 3]]), 1)) == [[3, 1], [None, 2]]
    assert ex.to_py(ex.roll(ex.constant([[1, 2, 3], [], [4]]), 1)) == [[4, 1, 2], [], [3]]


def test_positions_that_may_be_missing() -> None:
    there = ex.tensor([True, False])
    x, at = ex.mask(ex.tensor([[1, 2], [3, 4]]), there), ex.mask(ex.tensor([[0], [9]]), there)
    assert ex.to_py(ex.take_along_axis(x, at, axis=1)) == [[1], None]
    assert ex.to_py(ex.take_along_axis(ex.tensor([[1, 2], [3, 4]]), ex.constant([[0, None], [1, 0]]), axis=1)) == [[1, None], [4, 3]]
    loss = ex.sparse_softmax_cross_entropy(ex.constant([[0.0, -1.0], [1.0, 1.0]]), ex.constant([None, 1]))
    assert ex.to_py(ex.is_none(loss)) == [True, False] and abs(ex.to_py(loss)[1] - 0.6931471805599453) < 1e-12
    with pytest.raises(ex.Error, match="a label is negative"):
        ex.sparse_softmax_cross_entropy(ex.constant([[0.0, -1.0], [1.0, 1.0]]), ex.constant([None, -1]))


def test_the_dtype_in_which_two_values_meet() -> None:
    narrow, wide = ex.tensor([300.0, 1.0], dtype="f16"), ex.tensor([1e6, -1e6])
    for f in (ex.covar, ex.corr):
        assert f(narrow, wide).dtype == f(wide, narrow).dtype == ex.f64
        assert f(narrow, wide).tolist() == f(wide, narrow).tolist()
        assert f(narrow, narrow).dtype == ex.f16 and f(narrow, ex.cast(narrow, "bf16")).dtype == ex.f32
    labels = ex.tensor([[0.5, 0.5]])
    assert ex.softmax_cross_entropy(ex.tensor([[1.0, 2.0]], dtype="f16"), labels).dtype == ex.f64
    ones = ex.ones((70_000,), dtype="f16")
    assert ex.softmax(ones)[0].tolist() > 0 and ex.norm(ones).tolist() == 264.5 and ex.covar(ones, ones).tolist() == 0.0


def test_a_list_that_is_missing_in_one_field_is_missing_in_the_records() -> None:
    """Lists are zipped where all fields have them; a field without lists is repeated in those."""
    x = ex.constant([None, [1, 2], [3]])
    wanted = [None, [{"a": 1, "b": 6}, {"a": 2, "b": 7}], [{"a": 3, "b": 8}]]
    zipped = ex.function(lambda x, y: ex.zip({"a": x, "b": y}))
    for both in (lambda x, y: ex.zip({"a": x, "b": y}), zipped):
        assert ex.to_py(both(x, ex.constant([[5], [6, 7], [8]]))) == wanted
        assert ex.to_py(both(x, ex.constant([[5], None, [8]]))) == [None, None, [{"a": 3, "b": 8}]]
        assert ex.to_py(both(x, ex.constant([5, 6, 7]))) == [None, [{"a": 1, "b": 6}, {"a": 2, "b": 6}], [{"a": 3, "b": 7}]]
    with pytest.raises(ex.ShapeError, match="'b'"):
        ex.zip({"a": x, "b": ex.constant([[5], [6], [8]])})
    deeper = ex.zip({"a": ex.constant([[[1], None], []]), "b": ex.constant([[[2], [3]], []])})
    assert ex.to_py(deeper) == [[[{"a": 1, "b": 2}], None], []]


def test_values_that_may_be_missing_have_a_length_and_one_of_them_a_truth() -> None:
    """`len`, iteration and `bool`, as of tensors; what is missing is neither true nor false."""
    x = ex.constant([True, None, False])
    assert len(x) == 3 and [ex.to_py(item) for item in x] == [True, None, False]
    assert bool(x[0]) and not bool(x[2])
    with pytest.raises(ValueError, match="missing element"):
        bool(x[1])
    with pytest.raises(ValueError, match="Many elements"):
        bool(x)
    with pytest.raises(TypeError, match="no length"):
        len(x[0])
    assert len(ex.to_timestamp(ex.constant([1, 2]), "s")) == 2
    halves = ex.function(lambda x: sum(row * len(x) for row in x))
    assert ex.to_py(halves(ex.constant([1, None, 3]))) is None and ex.to_py(halves(ex.tensor([1, 2]))) == 6


def test_rows_that_are_missing_are_passed_over_by_the_largest_elements_of_columns() -> None:
    """As if they were empty, so that nothing that is there is lost."""
    values, places = ex.top_k(ex.constant([None, [3], [5]]), 2, axis=0)
    assert ex.to_py(values) == [[5], [3]] and ex.to_py(places) == [[2], [1]]
    assert ex.to_py(ex.top_k(ex.constant([[[3, 1], None, [2]]]), 2, axis=1)[0]) == [[[3, 1], [2]]]


def test_rows_of_what_has_no_zero_are_padded_with_nothing_or_a_fill() -> None:
    """Times, decimals and records become dense; what was missing stays so."""
    days = ex.to_date(ex.constant([[18000], [], [18001, None]]))
    day = ex.to_py(days)[0][0]
    dense = days.to_tensor()
    assert dense.shape == (3, 2) and ex.to_py(dense) == [[day, None], [None, None], [ex.to_py(days)[2][0], None]]
    filled = ex.to_py(days.to_tensor(ex.to_date(ex.tensor(18000))))
    assert filled == [[day, day], [day, day], [ex.to_py(days)[2][0], None]]
    rows = ex.constant([[{"a": 1}], []])
    assert ex.to_py(rows.to_tensor(shape=(2, 2))) == [[{"a": 1}, None], [None, None]]
    traced = ex.function(lambda x: x.to_tensor())
    assert ex.to_py(traced(rows)) == [[{"a": 1}], [None]]


def test_what_fills_rows_stands_beside_their_elements() -> None:
    x = ex.constant([[1.0, None, 3.0], [], [None]])
    column = ex.tensor([[7.0], [8.0], [9.0]])
    same = ex.constant([[4.0, 5.0, 6.0], [], [9.0]])
    for fill, wanted in [(column, [[1.0, 7.0, 3.0], [], [9.0]]), (same, [[1.0, 5.0, 3.0], [], [9.0]])]:
        assert ex.to_py(ex.fill_none(x, fill)) == wanted
        assert ex.to_py(ex.function(ex.fill_none)(x, fill)) == wanted
    means = ex.function(lambda x: ex.fill_none(x, ex.mean(x, axis=1, keepdims=True)))
    assert ex.to_py(means(x)) == [[1.0, 2.0, 3.0], [], [None]] or ex.to_py(means(x))[:2] == [[1.0, 2.0, 3.0], []]
    with pytest.raises(ex.Error, match="fill_none"):
        ex.fill_none(x, ex.tensor([1.0, 2.0, 3.0]))
    deep = ex.constant([[[1, None], [None]], [[None, 2]]])
    assert ex.to_py(ex.fill_none(deep, ex.tensor([[[7]], [[8]]]))) == [[[1, 7], [7]], [[8, 2]]]
    texts = ex.constant([["a", None], [None]])
    assert ex.to_py(ex.fill_none(texts, ex.tensor([["x"], ["y"]]))) == [["a", "x"], ["y"]]


def test_a_row_is_filled_as_it_is_in_its_batch() -> None:
    spec = ex.infer_spec([{"x": [1.0, None], "d": 1.0}])
    filled = ex.function(lambda r: {"s": ex.sum(ex.fill_none(r["x"], ex.expand_dims(r["d"], -1)), axis=1)})
    concrete = filled.get_concrete_function(spec)
    a, b = {"x": [None, None], "d": 10.0}, {"x": [], "d": 20.0}
    assert ex.to_py(concrete.run([a, b])["s"]) == [20.0, 0.0]
    assert ex.to_py(concrete.run([a])["s"]) + ex.to_py(concrete.run([b])["s"]) == [20.0, 0.0]


def test_records_that_may_be_missing_fill_records_that_are() -> None:
    x = ex.constant([{"a": {"z": "1", "n": None}, "b": {"z": "2", "n": 5}}, {"a": None, "b": None}, {"a": {"z": "0", "n": 7}, "b": None}, {"a": None, "b": {"z": "3", "n": 6}}])
    wanted = [{"z": "1", "n": 5}, None, {"z": "0", "n": 7}, {"z": "3", "n": 6}]
    assert ex.to_py(ex.fill_none(x["a"], x["b"])) == wanted
    assert ex.to_py(ex.function(lambda x: ex.fill_none(x["a"], x["b"]))(x)) == wanted
    assert ex.to_py(ex.fill_none(x["a"], x["a"])) == ex.to_py(x["a"])
    assert ex.to_py(ex.fill_none(x["a"], ex.constant({"z": "?", "n": 0}))) == [{"z": "1", "n": 0}, {"z": "?", "n": 0}, {"z": "0", "n": 7}, {"z": "?", "n": 0}]
    rows = ex.constant([{"l": [{"n": 1}]}, {"l": None}])["l"]
    assert ex.to_py(ex.fill_none(rows, [])) == [[{"n": 1}], []]


def test_a_column_stands_beside_rows_where_they_are_masked_or_replaced() -> None:
    x, column = ex.constant([[1, None], [], [3]]), ex.tensor([[True], [False], [False]])
    assert ex.to_py(ex.mask(x, column)) == ex.to_py(ex.function(ex.mask)(x, column)) == [[1, None], [], [None]]
    assert ex.to_py(ex.coalesce(x, ex.tensor([[7], [8], [9]]))) == [[1, 7], [], [3]]
    assert ex.to_py(ex.mask(x, True)) == ex.to_py(x) and ex.to_py(ex.mask(x, False)) == [[None, None], [], [None]]
