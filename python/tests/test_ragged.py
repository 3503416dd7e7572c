"""Ragged tensors from Python: rows in and out, keys, broadcasting, reductions, traced and eager."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import extenso as ex
import numpy as np
import pytest

Ragged = ex.RaggedTensor
LETTERS = ["a", "b", "c", "d", "e", "f", "g", "h"]
ROWS = [["a", "b", "c", "d"], [], ["e", "f", "g"], ["h"], []]
R = [["a", "b"], ["c", "d", "e"], ["f"], [], ["g"]]
NESTED = [[[1, 2], [3]], [], [[4], [], [5, 6]]]


def both(f: Callable[..., Any], *args: Any) -> Any:
    """Returns what the function gives, the same eagerly and traced, as Python lists."""
    eager = f(*args)
    traced = ex.function(f)(*args)
    assert type(eager) is type(traced)
    assert show(eager) == show(traced)
    return ex.to_py(eager)


def show(value: Any) -> str:
    return repr(ex.to_py(value))


def lists(rng: random.Random, depth: int) -> Any:
    """Returns random nested lists of integers."""
    if depth == 0:
        return rng.randrange(100)
    return [lists(rng, depth - 1) for _ in range(rng.randrange(4))]


def test_fields_of_a_result_are_made_once_and_a_value_is_made_once() -> None:
    rows = ex.constant([[1, 2], []]) + 1
    assert rows.values is rows.values and rows.partition is rows.partition
    assert repr(rows) == repr(Ragged(rows.values, rows.partition)) == "RaggedTensor([[2, 3], []], i64[2, ?])"
    with pytest.raises(ValueError, match="made already"):
        rows.__init__(rows.values, rows.partition)  # type: ignore[misc]
    with pytest.raises(ValueError, match="no fields yet"):
        Ragged.__new__(Ragged).values


def test_rows_that_are_shared_are_neither_compared_nor_moved() -> None:
    rows = ex.constant([[1, 2], [], [3]])
    more = rows * 2 + rows
    assert more.partition.row_splits().tolist() == [0, 2, 2, 3] and more.to_py() == [[3, 6], [], [9]]
    assert (rows + ex.tensor(1)).to_py() == [[2, 3], [], [4]]
    deep = Ragged(ex.tensor([[1, 2], [3, 4], [5, 6]]), rows.partition)
    assert (deep + rows[:, :, None]).to_py() == [[[2, 3], [5, 6]], [], [[8, 9]]]



def ragged(items: Any, depth: int) -> ex.RaggedTensor:
    """Returns the lists with rows in every axis, whatever their lengths."""
    lengths = []
    for _ in range(depth - 1):
        lengths.append(ex.tensor([len(item) for item in items], dtype=ex.i64))
        items = [inner for item in items for inner in item]
    return Ragged.from_nested_row_lengths(ex.tensor(items, dtype=ex.i64), lengths)


class TestRowsInAndOut:
    def test_factories_agree(self) -> None:
        made = [
            Ragged.from_row_splits(LETTERS, [0, 4, 4, 7, 8, 8]),
            Ragged.from_row_lengths(LETTERS, [4, 0, 3, 1, 0]),
            Ragged.from_value_rowids(LETTERS, [0, 0, 0, 0, 2, 2, 2, 3], nrows=5),
            Ragged.from_row_starts(LETTERS, [0, 4, 4, 7, 8]),
            Ragged.from_row_limits(LETTERS, [4, 4, 7, 8, 8]),
            Ragged.from_nested_row_splits(LETTERS, [[0, 4, 4, 7, 8, 8]]),
            Ragged.from_nested_row_lengths(LETTERS, [[4, 0, 3, 1, 0]]),
        ]
        for x in made:
            assert x.to_py() == ROWS
            assert x.row_splits.tolist() == [0, 4, 4, 7, 8, 8]
        x = Ragged.from_value_rowids(list(range(7)), [0, 0, 2, 2, 2, 3, 4], nrows=7)
        assert x.row_splits.tolist() == [0, 2, 2, 5, 6, 7, 7, 7]
        assert Ragged.from_uniform_row_length([1, 2, 3, 4], 2).to_py() == [[1, 2], [3, 4]]
        assert Ragged.from_uniform_row_length(ex.tensor([], dtype=ex.i64), 0, nrows=2).to_py() == [[], []]

    def test_what_was_written_is_read_back(self) -> None:
        x = Ragged.from_nested_row_splits([1, 2, 3, 4], [[0, 2, 2, 3], [0, 1, 3, 4]])
        assert x.to_py() == [[[1], [2, 3]], [], [[4]]]
        assert [splits.tolist() for splits in x.nested_row_splits] == [[0, 2, 2, 3], [0, 1, 3, 4]]
        assert x.flat_values.tolist() == [1, 2, 3, 4]  # type: ignore[union-attr]
        assert (x.ragged_rank, x.rank, len(x), x.nrows().item()) == (2, 3, 3, 3)
        assert x.row_lengths().tolist() == [2, 0, 1]
        assert ex.to_py(x.row_lengths(axis=2)) == [[1, 2], [], [1]]
        assert x.value_rowids().tolist() == [0, 0, 2]
        assert x.bounding_shape().tolist() == [3, 2, 2]
        assert [ex.to_py(row) for row in x] == x.to_py()

    def test_a_slice_reads_as_if_made_anew(self) -> None:
        x = ragged(NESTED, 3)[1:]
        assert x.flat_values.tolist() == [4, 5, 6]
        assert [splits.tolist() for splits in x.nested_row_splits] == [[0, 0, 3], [0, 1, 1, 3]]
        assert Ragged.from_nested_row_splits(x.flat_values, x.nested_row_splits).to_py() == x.to_py()

    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda v: Ragged.from_row_splits(v, []), "empty"),
            (lambda v: Ragged.from_row_splits(v, [2, 3]), "first"),
            (lambda v: Ragged.from_row_splits(v, [0, 3, 2, 3]), "decrease"),
            (lambda v: Ragged.from_row_splits(v, [0, 9]), "9"),
            (lambda v: Ragged.from_row_splits(v, [[0, 3]]), "rank"),
            (lambda v: Ragged.from_row_splits(v, [0.0, 3.0]), "f64"),
            (lambda v: Ragged.from_row_splits(v, [0, 2**63]), ""),
            (lambda v: Ragged.from_value_rowids(v, [0, 2, 1]), "decrease"),
            (lambda v: Ragged.from_value_rowids(v, [-1, 0, 1]), "negative"),
            (lambda v: Ragged.from_value_rowids(v, [0, 0, 2**62]), "nrows"),
            (lambda v: Ragged.from_value_rowids(v, [0, 1, 2], nrows=2), "range for 2 rows"),
            (lambda v: Ragged.from_value_rowids(v, [0, 1, 2], nrows=-1), "nrows is -1"),
            (lambda v: Ragged.from_value_rowids(v, [0, 1]), "2"),
            (lambda v: Ragged.from_row_starts(v, [1, 2]), "first"),
            (lambda v: Ragged.from_row_limits(v, [2]), "2"),
            (lambda v: Ragged.from_row_lengths(v, [1, 1]), "3"),
            (lambda v: Ragged.from_uniform_row_length(v, 2), "3 values"),
            (lambda v: Ragged.from_uniform_row_length(v, 0, nrows=2**62), "memory"),
            (lambda v: Ragged.from_uniform_row_length(v, 1.5), "integer"),  # type: ignore[arg-type]
            (lambda v: Ragged.from_nested_row_splits(v, []), "empty"),
            (lambda v: Ragged.from_tensor([v], ragged_rank=8968073515812833920), "ragged_rank"),
            (lambda v: Ragged.from_tensor([v], ragged_rank=-1), "ragged_rank is -1"),
            (lambda v: Ragged.from_tensor([v], lengths=[4]), "row 0"),
            (lambda v: Ragged.from_tensor([v], lengths=[1], padding=0), "at most one"),
            (lambda v: ex.constant([1, [2]]), "[1]"),
        ],
    )
    def test_malformed_rows_are_errors(self, make: Callable[[Any], object], words: str) -> None:
        with pytest.raises(ex.Error) as raised:
            make([1, 2, 3])
        assert words in str(raised.value)

    def test_dense_and_back(self) -> None:
        x = ex.constant([[0, 1, 2], [], [3]])
        assert x.to_tensor(5).tolist() == [[0, 1, 2], [5, 5, 5], [3, 5, 5]]
        assert x.to_tensor().tolist() == [[0, 1, 2], [0, 0, 0], [3, 0, 0]]
        assert x.to_tensor(5, shape=(4, 2)).tolist() == [[0, 1], [5, 5], [3, 5], [5, 5]]
        assert x.to_tensor(5, shape=(None, 1)).tolist() == [[0], [5], [3]]
        empty = Ragged.from_row_lengths(ex.tensor([], dtype=ex.f32), [0, 0]).to_tensor()
        assert tuple(empty.shape) == (2, 0)
        dense = [[5, 7, 0], [0, 3, 0], [6, 0, 0]]
        assert Ragged.from_tensor(dense).to_py() == dense
        assert Ragged.from_tensor(dense, lengths=[1, 0, 3]).to_py() == [[5], [], [6, 0, 0]]
        assert Ragged.from_tensor(dense, padding=0).to_py() == [[5, 7], [0, 3], [6]]
        assert both(lambda x: x.to_tensor(5), x) == [[0, 1, 2], [5, 5, 5], [3, 5, 5]]
        with pytest.raises(ex.Error, match="5.5"):
            x.to_tensor(5.5)


class TestKeys:
    def test_the_grid_of_slices_is_pythons(self) -> None:
        x = ex.constant(R)
        bounds = [None, *range(-6, 7)]
        for start, stop, step in itertools.product(bounds, bounds, [None, -3, -2, -1, 1, 2, 3]):
            key = slice(start, stop, step)
            assert x[key].to_py() == R[key], key
            assert x[:, key].to_py() == [row[key] for row in R], key
            assert x[..., key].to_py() == [row[key] for row in R], key

    def test_slices_of_both_axes_are_pythons(self) -> None:
        rng = random.Random(1)
        bounds = [None, *range(-5, 6)]
        for _ in range(300):
            items = lists(rng, 3)
            x = ragged(items, 3)
            keys = [slice(rng.choice(bounds), rng.choice(bounds), rng.choice([None, -2, -1, 1, 2])) for _ in range(3)]
            wanted = [[inner[keys[2]] for inner in row[keys[1]]] for row in items[keys[0]]]
            assert x[tuple(keys)].to_py() == wanted, (items, keys)

    def test_traced_slices_are_eager_slices(self) -> None:
        x = ex.constant(R)
        for key in [slice(1, 3), slice(None, None, -1), slice(-2, None), slice(5, 0, -2), slice(0, 0)]:
            assert both(lambda x: x[key], x) == R[key]
            assert both(lambda x: x[:, key], x) == [row[key] for row in R]

    @pytest.mark.parametrize(
        ("key", "wanted"),
        [
            (1, ["c", "d", "e"]),
            (-1, ["g"]),
            ((..., 2, 0), "f"),
            ((1, -1), "e"),
            ((1, slice(1, None)), ["d", "e"]),
            (..., R),
            ((), R),
            (None, [R]),
            ((slice(None), None), [[row] for row in R]),
            ((..., None), [[[item] for item in row] for row in R]),
            ([2, 0, -1], [["f"], ["a", "b"], ["g"]]),
            ([[2, 0], [4, 4]], [[["f"], ["a", "b"]], [["g"], ["g"]]]),
            ([True, False, True, True, False], [["a", "b"], ["f"], []]),
            ([[True, False], [False, True, True], [False], [], [True]], [["a"], ["d", "e"], [], [], ["g"]]),
        ],
    )
    def test_keys_select_what_they_say(self, key: Any, wanted: Any) -> None:
        assert both(lambda x: x[key], ex.constant(R)) == wanted

    def test_uniform_inner_axes_are_indexed_as_arrays(self) -> None:
        x = ex.constant([[[1, 2]], [], [[3, 4], [5, 6]]])
        assert both(lambda x: x[..., 0], x) == [[1], [], [3, 5]]
        assert both(lambda x: x[:, :, -1], x) == [[2], [], [4, 6]]
        assert both(lambda x: x[:, :, [1, 0]], x) == [[[2, 1]], [], [[4, 3], [6, 5]]]
        assert both(lambda x: x[2, 1, 0], x) == 5

    @pytest.mark.parametrize(
        ("key", "kind", "words"),
        [
            ((slice(None), 0), IndexError, "axis 1 is ragged"),
            (5, IndexError, "out of range"),
            (-6, IndexError, "out of range"),
            ((2, 1), IndexError, "out of range"),
            (0.5, TypeError, "f64"),
            ("a", KeyError, "leads nowhere"),
            (True, TypeError, "boolean"),
            ((0, 0, 0), IndexError, "3 axes"),
            ((..., ...), IndexError, "two ellipses"),
            (slice(None, None, 0), ValueError, "step"),
            ([True], IndexError, "mask"),
        ],
    )
    def test_bad_keys_are_errors(self, key: Any, kind: type[Exception], words: str) -> None:
        x = ex.constant(R)
        with pytest.raises(kind, match=words):
            x[key]
        with pytest.raises(kind, match=words):
            ex.function(lambda x: x[key])(x)


class TestBroadcasting:
    @pytest.mark.parametrize(
        ("x", "y", "wanted"),
        [
            ([[1, 2, 3], [], [4, 5]], [[10], [20], [30]], [[11, 12, 13], [], [34, 35]]),
            ([[1, 2], [], [3]], 10, [[11, 12], [], [13]]),
            ([[1, 2], [], [3]], [10], [[11, 12], [], [13]]),
            ([[[1, 2], [3]], [], [[4]]], [[[10]], [[20]], [[30]]], [[[11, 12], [13]], [], [[34]]]),
            ([[[1, 2]], [], [[3, 4], [5, 6]]], [10, 20], [[[11, 22]], [], [[13, 24], [15, 26]]]),
            ([[[1, 2], [3]]], [[1, 2], [3]], [[[2, 4], [6]]]),
        ],
    )
    def test_add_is_row_by_row_add(self, x: Any, y: Any, wanted: Any) -> None:
        y = ex.constant(y)
        assert both(lambda x, y: x + y, ex.constant(x), y) == wanted
        assert both(lambda x, y: y + x, ex.constant(x), y) == wanted

    def test_one_ragged_row_is_repeated(self) -> None:
        x = Ragged.from_row_lengths([1, 2, 3], [3])
        wanted = [[11, 12, 13], [21, 22, 23], [31, 32, 33]]
        assert both(lambda x, y: x + y, x, ex.constant([[10], [20], [30]])) == wanted

    def test_rows_that_differ_are_errors(self) -> None:
        x = ex.constant([[1, 2], [3]])
        for y in ([[1], [2, 3]], [10, 20], [[1], [2], [3]]):
            with pytest.raises(ex.Error, match="add"):
                x + ex.constant(y)

    def test_values_are_broadcast_to_rows(self) -> None:
        rows = ex.constant([[0, 0, 0], [], [0, 0]])
        column = ex.constant([[10], [20], [30]])
        assert both(lambda x, rows: ex.broadcast_like(x, rows), column, rows) == [[10, 10, 10], [], [30, 30]]
        assert ex.to_py(ex.broadcast_like(10, rows)) == [[10, 10, 10], [], [10, 10]]

    def test_shared_partitions_are_not_compared(self) -> None:
        x = ex.constant([[1, 2], [], [3]])
        assert (x * 2 + x).partition == x.partition
        f = ex.function(lambda x: x * 2 + x + 1)
        assert f(x).to_py() == [[4, 7], [], [10]]
        assert "align_rows" not in str(f.get_concrete_function(x).graph)


class TestFolds:
    def test_folds_of_every_set_of_axes_are_those_of_lists(self) -> None:
        rng = random.Random(2)
        for depth in (2, 3):
            sets = [axes for n in range(1, depth + 1) for axes in itertools.combinations(range(depth), n)]
            for _ in range(25):
                items = lists(rng, depth)
                x = ragged(items, depth)
                for axes in sets:
                    assert ex.to_py(ex.sum(x, axis=axes)) == fold(items, axes, depth), (items, axes)

    def test_traced_folds_are_eager_folds(self) -> None:
        x = ragged(NESTED, 3)
        for axes in [0, 1, 2, (0, 1), (1, 2), (0, 2), None]:
            for keepdims in (False, True):
                both(lambda x: ex.sum(x, axis=axes, keepdims=keepdims), x)
                both(lambda x: ex.max(x, axis=axes, keepdims=keepdims), x)

    def test_an_empty_row_gives_the_identity(self) -> None:
        x = ex.constant([[1.0, 2.0], [], [4.0]])
        assert ex.sum(x, axis=1).tolist() == [3.0, 0.0, 4.0]
        assert ex.prod(x, axis=1).tolist() == [2.0, 1.0, 4.0]
        assert ex.max(x, axis=1).tolist() == [2.0, -math.inf, 4.0]
        assert ex.min(x, axis=1).tolist() == [1.0, math.inf, 4.0]
        assert math.isnan(ex.mean(x, axis=1).tolist()[1])
        assert ex.mean(ex.constant([[3, 1, 4], [1, 5], [9], [2, 6]]), axis=0).tolist() == [3.75, 4.0, 4.0]
        small = ex.cast(ex.constant([[1, 2], []]), "i8")
        assert ex.max(small, axis=1).tolist() == [2, -128]
        assert ex.min(small, axis=1).tolist() == [1, 127]

    def test_gradients_flow_through_rows(self) -> None:
        def loss(values: Any, counts: Any) -> Any:
            x = Ragged.from_row_lengths(values, counts)
            picked = x[:, ::-1][1:]
            return ex.sum(ex.sum(picked * picked, axis=0) * 2.0) + ex.sum(x.to_tensor(0.0, shape=(None, 1)))

        values, counts = ex.tensor([1.0, 2.0, 3.0, 4.0]), ex.tensor([1, 2, 1])
        gradient = ex.grad(loss)(values, counts)
        assert gradient.tolist() == [1.0, 9.0, 12.0, 17.0]

    @pytest.mark.parametrize(
        ("loss", "wanted"),
        [
            (lambda x: ex.sum(ex.max(x, axis=0)), [[0.0, 1.0], [1.0]]),
            (lambda x: ex.sum(ex.mean(x, axis=1)), [[0.5, 0.5], [1.0]]),
            (lambda x: ex.sum(ex.concat([x, x * 2.0], axis=0) * 3.0), [[9.0, 9.0], [9.0]]),
            (lambda x: ex.sum(ex.concat([x, x * 2.0], axis=1)), [[3.0, 3.0], [3.0]]),
            (lambda x: ex.sum(ex.stack([x, x * 2.0])), [[3.0, 3.0], [3.0]]),
            (lambda x: ex.sum(x + ex.tensor([[1.0], [2.0]]) * x), [[2.0, 2.0], [3.0]]),
            (lambda x: ex.sum(x.to_tensor(0.0) * 2.0), [[2.0, 2.0], [2.0]]),
            (lambda x: ex.sum(x[x > 1.5] * 2.0), [[0.0, 2.0], [2.0]]),
        ],
    )
    def test_gradients_of_rows_are_rows(self, loss: Callable[[Any], Any], wanted: Any) -> None:
        assert ex.grad(loss)(ex.constant([[1.0, 2.0], [3.0]])).to_py() == wanted


def fold(items: Any, axes: tuple[int, ...], depth: int) -> Any:
    """Returns nested lists summed over axes; lists are aligned on the left."""
    for axis in sorted(axes, reverse=True):
        items = fold_one(items, axis, depth)
        depth -= 1
    return items


def fold_one(items: Any, axis: int, depth: int) -> Any:
    if axis > 0:
        return [fold_one(item, axis - 1, depth - 1) for item in items]
    return add_up(items, depth)


def add_up(items: list[Any], depth: int) -> Any:
    if depth == 1:
        return sum(items)
    longest = max((len(item) for item in items), default=0)
    return [add_up([item[i] for item in items if len(item) > i], depth - 1) for i in range(longest)]


class TestLevels:
    def test_levels_are_counted_numbered_removed_and_added(self) -> None:
        x = ragged(NESTED, 3)
        assert both(lambda x: ex.num(x, axis=2), x) == [[2, 1], [], [1, 0, 2]]
        assert both(lambda x: ex.local_index(x), x) == [[[0, 1], [0]], [], [[0], [], [0, 1]]]
        assert both(lambda x: ex.flatten(x, axis=1), x) == [[1, 2], [3], [4], [], [5, 6]]
        assert both(lambda x: ex.flatten(x, axis=2), x) == [[1, 2, 3], [], [4, 5, 6]]
        assert both(lambda x: ex.flatten(x), x) == [1, 2, 3, 4, 5, 6]
        assert ex.unflatten([1, 2, 3], [2, 0, 1]).to_py() == [[1, 2], [], [3]]
        assert ex.unflatten([1, 2, 3, 4], 2).to_py() == [[1, 2], [3, 4]]
        with pytest.raises(ex.Error, match="add up to 2"):
            ex.unflatten([1, 2, 3], [2, 0])

    def test_values_are_joined_and_stacked(self) -> None:
        x, y = ex.constant([[1, 2], [3], []]), ex.constant([[4], [5, 6], [7]])
        assert both(lambda x, y: ex.concat([x, y], axis=0), x, y) == [[1, 2], [3], [], [4], [5, 6], [7]]
        assert both(lambda x, y: ex.concat([x, y], axis=1), x, y) == [[1, 2, 4], [3, 5, 6], [7]]
        assert both(lambda x, y: ex.stack([x, y]), x, y) == [[[1, 2], [3], []], [[4], [5, 6], [7]]]
        assert both(lambda x, y: ex.stack([x, y], axis=1), x, y) == [[[1, 2], [4]], [[3], [5, 6]], [[], [7]]]

    def test_masks_pick_rows_or_keep_them(self) -> None:
        x = ex.constant([[1, 2, 3], [4], [5, 6]])
        assert both(lambda x, mask: ex.boolean_mask(x, mask), x, ex.constant([True, False, True])) == [[1, 2, 3], [5, 6]]
        assert both(lambda x: x[x > 2], x) == [[3], [4], [5, 6]]
        assert both(lambda x: x[ex.sum(x, axis=1) > 5], x) == [[1, 2, 3], [5, 6]]


def test_rows_whose_number_is_not_known_fall_into_parts() -> None:
    parts = ex.function(lambda x: (ex.split(x, 2, axis=0), ex.split(x, [1, 1], axis=0)))
    traced = parts.get_concrete_function(ex.RaggedTensorSpec([None, None], "i64"))
    for part in traced(ex.constant([[1], [2, 3]])):
        assert [piece.to_py() for piece in part] == [[[1]], [[2, 3]]]
    with pytest.raises(ex.Error):
        traced(ex.constant([[1], [2, 3], []]))


def _even() -> Any:
    return Ragged.from_uniform_row_length(ex.constant([[1, 2], [], [3], [4, 5, 6]]), 2)


MOVES: "list[tuple[Callable[[Any], Any], Any, tuple[int | None, ...]]]" = [
    (lambda x: ex.permute_dims(x, (1, 0, 2)), [[[1, 2], [3]], [[], [4, 5, 6]]], (2, 2, None)),
    (lambda x: ex.split(x, 2, axis=1)[1], [[[]], [[4, 5, 6]]], (2, 1, None)),
    (lambda x: ex.split(x, [1, 1, 0], axis=1)[2], [[], []], (2, 0, None)),
    (lambda x: ex.unstack(x, axis=1)[1], [[], [4, 5, 6]], (2, None)),
    (lambda x: ex.stack([x, x], axis=1), [[[[1, 2], []]] * 2, [[[3], [4, 5, 6]]] * 2], (2, 2, 2, None)),
    (lambda x: ex.expand_dims(x, 1), [[[[1, 2], []]], [[[3], [4, 5, 6]]]], (2, 1, 2, None)),
    (lambda x: ex.repeat(x, 2, axis=1), [[[1, 2], [1, 2], [], []], [[3], [3], [4, 5, 6], [4, 5, 6]]], (2, 4, None)),
    (lambda x: ex.tile(x, (1, 2, 1)), [[[1, 2], [], [1, 2], []], [[3], [4, 5, 6], [3], [4, 5, 6]]], (2, 4, None)),
]


@pytest.mark.parametrize("i", range(len(MOVES)))
def test_an_axis_of_one_size_moves_as_one_and_keeps_its_size(i: int) -> None:
    """In calls and in traces of any number of rows, which know the size too."""
    f, wanted, shape = MOVES[i]
    found = f(_even())
    assert (found.to_py(), found.shape) == (wanted, shape)
    spec = ex.RaggedTensorSpec([None, 2, None], "i64")
    shapes = []

    @ex.function(input_signature=[spec])
    def traced(x: Any) -> Any:
        made = f(x)
        shapes.append(made.shape)
        return made

    assert traced(_even()).to_py() == wanted
    # The number of rows, which is not known, became the size of the second axis.
    assert shapes[0][1:] == ((None, None) if i == 0 else shape[1:])


def test_rows_of_one_length_keep_it_beside_others_in_graphs() -> None:
    rows = ex.RaggedTensor.from_row_lengths(ex.RaggedTensor.from_uniform_row_length(ex.constant([[1.0], [2.0, 3.0]]), 2), [1, 0])
    summed = lambda x, y: ex.sum(x + y, axis=1)
    found = ex.function(summed)(rows, rows)
    assert ex.to_py(found) == ex.to_py(summed(rows, rows)) == [[[2.0], [4.0, 6.0]], [[], []]]
    flat = ex.function(lambda x: ex.flatten(x, axis=1))
    assert [flat(ex.zeros((n, 1, 0))).shape for n in (1, 2)] == [(1, 0), (2, 0)]
    inner = ex.function(lambda x: ex.flatten(x, axis=2))
    for shape in [(1, 1, 3, 0), (2, 1, 3, 0), (2, 2, 3, 0), (2, 2, 4, 0)]:
        assert inner(ex.zeros(shape)).shape == (shape[0], shape[1] * shape[2], 0)


def test_what_is_drawn_for_rows_does_not_depend_on_what_lies_under_missing_ones() -> None:
    empty = ex.constant([[0.1, 0.2], None, [0.4, 0.5]])
    full = ex.mask([[0.1, 0.2], [0.3], [0.4, 0.5]], [True, False, True])
    draws = [
        lambda x: ex.random_shuffle(0, x, axis=1),
        lambda x: ex.random_shuffle(0, ex.stack([x]), axis=2),
        lambda x: ex.dropout(x, 0.5, 3),
        lambda x: ex.random_categorical(3, x),
        lambda x: ex.random_bernoulli(3, x),
    ]
    for drawn in draws:
        assert ex.to_py(drawn(full)) == ex.to_py(drawn(empty)) == ex.to_py(ex.function(drawn)(full))


def test_rows_do_not_follow_the_array_that_they_were_made_of() -> None:
    splits = np.array([0, 2, 4])
    rows = ex.RaggedTensor.from_row_splits([1.0, 2.0, 3.0, 4.0], splits)
    partition = ex.RowPartition.from_row_splits(splits)
    records = ex.StructTensor.from_row_splits(ex.StructTensor([4], {"x": [1, 2, 3, 4]}), splits)
    splits[:] = [0, 9, 4]
    assert ex.to_py(rows) == [[1.0, 2.0], [3.0, 4.0]]
    assert partition.row_lengths().tolist() == [2, 2]
    assert ex.to_py(records["x"]) == [[1, 2], [3, 4]]


def test_top_k_of_a_short_axis_is_refused_when_the_graph_runs() -> None:
    f = ex.function(lambda x: ex.top_k(x, 3, axis=0)[0])
    assert f(ex.ones((5, 2))).shape == (3, 2)
    assert f(ex.ones((4, 2))).shape == (3, 2)
    with pytest.raises(ex.Error, match="k is 3, and the axis has fewer elements"):
        f(ex.ones((1, 2)))


def test_what_memory_does_not_hold_is_an_error_of_rows_of_anything() -> None:
    for item in ({"a": 1}, None, 1, "a"):
        rows = ex.repeat(ex.constant([[item], []]), 10**6, axis=1)
        with pytest.raises(ex.OutOfMemoryError):
            ex.take(rows, ex.zeros(10**7, "i64"))


def rows_by(splits: "list[int]", dtype: str) -> ex.RaggedTensor:
    return ex.RaggedTensor.from_row_splits(ex.arange(splits[-1]), np.array(splits, dtype))


BESIDE: "dict[str, tuple[Any, str]]" = {
    "rows of 32 bits": (rows_by([0, 2, 4], "int32"), "i32"),
    "rows of 64 bits": (rows_by([0, 2, 4], "int64"), "i64"),
    "columns of 32 bits": (rows_by([0, 1, 2], "int32"), "i32"),
    "columns of 64 bits": (rows_by([0, 1, 2], "int64"), "i64"),
    "a row": (ex.tensor([1, 2]), "i32"),
    "a matrix": (ex.tensor([[1, 2], [3, 4]]), "i32"),
    "a column": (ex.tensor([[1], [2]]), "i32"),
    "a number": (ex.tensor(1), "i32"),
}


@pytest.mark.parametrize("beside", list(BESIDE))
def test_a_call_and_a_trace_give_row_splits_of_one_width(beside: str) -> None:
    narrow, (other, wanted) = rows_by([0, 2, 4], "int32"), BESIDE[beside]
    for f in (lambda x, y: x + y, lambda x, y: y + x, lambda x, y: ex.where(x > 1, x, y), lambda x, y: ex.clip(x, y, y)):
        called, traced = f(narrow, other), ex.function(f)(narrow, other)
        assert ex.to_py(called) == ex.to_py(traced)
        assert [str(ex.row_splits(x).dtype) for x in (called, traced)] == [wanted, wanted]
    # Sizes that no trace knows.
    free = [ex.RaggedTensorSpec([None, None], "i64", row_splits_dtype="i32"), ex.spec_of(other)]
    if isinstance(other, ex.Tensor):
        free[1] = ex.TensorSpec([None] * other.ndim, "i64")
    traced = ex.function(lambda x, y: x + y).get_concrete_function(*free)(narrow, other)
    assert ex.to_py(traced) == ex.to_py(narrow + other)
    assert str(ex.row_splits(traced).dtype) == wanted
