"""Functions of lists: on random nested lists they are a reference on each list alone, eagerly and traced."""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Callable
from typing import Any

import extenso as ex
import pytest

Lists = Any
PerList = Callable[[list[int]], Any]


def nested(rng: random.Random, depth: int, top: int = 6) -> Lists:
    """Returns random nested lists of integers, of which many are equal."""
    if depth == 0:
        return rng.randrange(4)
    return [nested(rng, depth - 1) for _ in range(rng.randrange(top))]


def ragged(items: Lists, depth: int) -> Any:
    """Returns the lists with rows in every axis but the first."""
    lengths = []
    for _ in range(depth - 1):
        lengths.append(ex.tensor([len(item) for item in items], dtype=ex.i64))
        items = [inner for item in items for inner in item]
    flat = ex.tensor(items, dtype=ex.i64)
    return ex.RaggedTensor.from_nested_row_lengths(flat, lengths) if lengths else flat


def innermost(items: Lists, depth: int, f: PerList) -> Lists:
    return f(items) if depth == 1 else [innermost(item, depth - 1, f) for item in items]


def runs(items: list[int]) -> list[int]:
    return [len(list(group)) for _, group in itertools.groupby(items)]


def counts(items: list[int]) -> list[int]:
    return [items.count(item) for item in sorted(set(items))]


def turned(items: list[int], by: int) -> list[int]:
    return [items[(i - by) % len(items)] for i in range(len(items))]


def slid(items: list[int], size: int, stride: int) -> list[list[int]]:
    return [items[i : i + size] for i in range(0, len(items) - size + 1, stride)]


def grouped(items: list[int]) -> list[list[int]]:
    return [[x for x in items if x % 3 == key] for key in sorted({x % 3 for x in items})]


def padded(items: list[int]) -> list[int | None]:
    return items + [None] * (3 - len(items))


CASES: dict[str, tuple[Callable[[Any], Any], PerList]] = {
    "first": (lambda x: ex.first(x), lambda r: r[0] if r else None),
    "last": (lambda x: ex.last(x, default=-1), lambda r: r[-1] if r else -1),
    "nth": (lambda x: ex.nth(x, 2), lambda r: r[2] if len(r) > 2 else None),
    "nth from the end": (lambda x: ex.nth(x, -2, default=9), lambda r: r[-2] if len(r) > 1 else 9),
    "head": (lambda x: ex.head(x, 2), lambda r: r[:2]),
    "tail": (lambda x: ex.tail(x, 2), lambda r: r[-2:]),
    "pad_to": (lambda x: ex.pad_to(x, 3), padded),
    "pad_to a value": (lambda x: ex.pad_to(x, 3, 7, crop=True), lambda r: (r + [7] * 3)[:3]),
    "run_lengths": (lambda x: ex.run_lengths(x), runs),
    "unique": (lambda x: ex.unique(x), lambda r: sorted(set(r))),
    "unique_with_counts": (lambda x: ex.unique_with_counts(x)[1], counts),
    "unique_with_inverse": (lambda x: ex.unique_with_inverse(x)[1], lambda r: [sorted(set(r)).index(x) for x in r]),
    "group_by": (lambda x: ex.group_by(x, ex.remainder(x, 3), axis=-1)[1], grouped),
    "isin": (lambda x: ex.isin(x, ex.head(x, 1), axis=-1), lambda r: [x in r[:1] for x in r]),
    "isin all": (lambda x: ex.isin(x, [1, 3]), lambda r: [x in (1, 3) for x in r]),
    "union": (lambda x: ex.union(ex.head(x, 2), ex.tail(x, 2)), lambda r: sorted({*r[:2], *r[-2:]})),
    "intersection": (
        lambda x: ex.intersection(ex.head(x, 2), ex.tail(x, 2)),
        lambda r: sorted(set(r[:2]) & set(r[-2:])),
    ),
    "difference": (lambda x: ex.difference(x, ex.head(x, 1)), lambda r: sorted(set(r) - set(r[:1]))),
    "searchsorted": (
        lambda x: ex.searchsorted(ex.sort(ex.tail(x, 3)), x),
        lambda r: [bisect.bisect_left(sorted(r[-3:]), x) for x in r],
    ),
    "searchsorted right": (
        lambda x: ex.searchsorted([0, 1, 1, 3], x, side="right"),
        lambda r: [bisect.bisect_right([0, 1, 1, 3], x) for x in r],
    ),
    "windows": (lambda x: ex.windows(x, 2), lambda r: slid(r, 2, 1)),
    "windows apart": (lambda x: ex.windows(x, 3, stride=2), lambda r: slid(r, 3, 2)),
    "combinations": (lambda x: ex.combinations(x, 2), lambda r: [list(t) for t in itertools.combinations(r, 2)]),
    "combinations again": (
        lambda x: ex.combinations(x, 2, replacement=True),
        lambda r: [list(t) for t in itertools.combinations_with_replacement(r, 2)],
    ),
    "cartesian": (
        lambda x: ex.cartesian((x, ex.head(x, 2), x))[1],
        lambda r: [t[1] for t in itertools.product(r, r[:2], r)],
    ),
    "roll": (lambda x: ex.roll(x, 2, axis=-1), lambda r: turned(r, 2)),
    "roll back": (lambda x: ex.roll(x, -1, axis=-1), lambda r: turned(r, -1)),
    "flip": (lambda x: ex.flip(x, axis=-1), lambda r: r[::-1]),
    "repeat": (lambda x: ex.repeat(x, 3, axis=-1), lambda r: [x for x in r for _ in range(3)]),
    "repeat by counts": (lambda x: ex.repeat(x, x, axis=-1), lambda r: [x for x in r for _ in range(x)]),
    "diff": (lambda x: ex.diff(x), lambda r: [b - a for a, b in itertools.pairwise(r)]),
    "shift": (lambda x: ex.shift(x, 2, 9), lambda r: ([9, 9] + r)[: len(r)]),
    "cumulative_sum": (lambda x: ex.cumulative_sum(x), lambda r: list(itertools.accumulate(r))),
    "cumulative_max": (lambda x: ex.cumulative_max(x), lambda r: list(itertools.accumulate(r, max))),
    "cumulative_min": (
        lambda x: ex.cumulative_min(x, reverse=True),
        lambda r: list(itertools.accumulate(r[::-1], min))[::-1],
    ),
    "sort": (lambda x: ex.sort(x, descending=True), lambda r: sorted(r, reverse=True)),
    "argsort": (lambda x: ex.argsort(x), lambda r: sorted(range(len(r)), key=lambda i: r[i])),
    "top_k": (lambda x: ex.top_k(ex.concat((x, x), axis=-1), 0)[0], lambda r: []),
}


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("name", CASES)
def test_a_function_of_lists_is_its_reference_on_each_list(name: str, depth: int) -> None:
    f, reference = CASES[name]
    traced = ex.function(f)
    for seed in range(12):
        items = nested(random.Random(seed), depth)
        x = ragged(items, depth)
        want = innermost(items, depth, reference)
        eager = f(x)
        assert ex.to_py(eager) == want, f"{name} of {items}"
        if seed < 4:
            assert ex.to_py(traced(x)) == want, f"traced {name} of {items}"


def columns(items: Lists, f: PerList) -> Lists:
    """Returns the rows with each column as the function gives it, of one length."""
    out = [list(row) for row in items]
    for column in range(max(map(len, items), default=0)):
        rows = [i for i, row in enumerate(items) if len(row) > column]
        for i, value in zip(rows, f([items[i][column] for i in rows]), strict=True):
            out[i][column] = value
    return out


ACROSS: dict[str, tuple[Callable[[Any], Any], PerList]] = {
    "sort": (lambda x: ex.sort(x, axis=0), sorted),
    "cumulative_max": (lambda x: ex.cumulative_max(x, axis=0), lambda c: list(itertools.accumulate(c, max))),
    "cumulative_sum": (lambda x: ex.cumulative_sum(x, axis=0), lambda c: list(itertools.accumulate(c))),
    "shift": (lambda x: ex.shift(x, 1, 9, axis=0), lambda c: [9, *c[:-1]]),
}


@pytest.mark.parametrize("name", ACROSS)
def test_along_an_axis_with_rows_inside_a_line_is_a_column(name: str) -> None:
    f, reference = ACROSS[name]
    for seed in range(20):
        items = nested(random.Random(seed), 2)
        x = ragged(items, 2)
        assert ex.to_py(f(x)) == columns(items, reference), f"{name} of {items}"
        assert ex.to_py(ex.function(f)(x)) == columns(items, reference)
        # The same with one list around.
        deep = ragged([items], 3)
        assert ex.to_py(ex.sort(deep, axis=1)) == [columns(items, sorted)]


def test_whole_rows_are_elements_of_the_outermost_list() -> None:
    x = ex.constant([[1, 2], [], [3]])
    assert ex.to_py(ex.head(x, 2, axis=0)) == [[1, 2], []]
    assert ex.to_py(ex.first(x, axis=0)) == [1, 2]
    assert ex.to_py(ex.nth(x, 7, axis=0)) is None
    assert ex.to_py(ex.windows(x, 2, axis=0)) == [[[1, 2], []], [[], [3]]]
    assert ex.to_py(ex.combinations(x, 2, axis=0)) == [[[1, 2], []], [[1, 2], [3]], [[], [3]]]
    assert ex.to_py(ex.pad_to(x, 4, axis=0)) == [[1, 2], [], [3], None]
    keys, groups = ex.group_by(x, ["b", "a", "b"])
    assert (ex.to_py(keys), ex.to_py(groups)) == (["a", "b"], [[[]], [[1, 2], [3]]])
    assert ex.to_py(ex.diff(ex.constant([[5, 4], [], [3, 1, 2]]), axis=0)) == [[-2, -3]]
    x = ex.constant([[1, 9], [5], [3, 4]])
    values, rows = ex.top_k(x, 2, axis=0)
    assert (ex.to_py(values), ex.to_py(rows)) == ([[5, 9], [3, 4]], [[1, 0], [2, 2]])
    assert ex.to_py(ex.take_along_axis(x, rows, axis=0)) == ex.to_py(values)


def test_parts_of_lists_come_together_again() -> None:
    x = ex.constant([[1, 2, 3, 4], [], [5, 6]])
    parts = ex.split(x, 2, axis=1)
    assert [ex.to_py(part) for part in parts] == [[[1, 2], [], [5]], [[3, 4], [], [6]]]
    assert ex.to_py(ex.concat(parts, axis=1)) == ex.to_py(x)
    sized = ex.split(ex.constant([[[1, 2, 3]], [[4, 5, 6], [7, 8, 9]], []]), [1, 2], axis=-1)
    assert [ex.to_py(part) for part in sized] == [[[[1]], [[4], [7]], []], [[[2, 3]], [[5, 6], [8, 9]], []]]
    with pytest.raises(ex.Error, match="row 0"):
        ex.split(x, 3, axis=1)
    with pytest.raises(ex.Error, match="row 0"):
        ex.split(x, [1, 1], axis=1)
    with pytest.raises(ex.Error, match="-1"):
        ex.split(x, [-1, 1], axis=1)
    with pytest.raises(ex.Error, match="parts"):
        ex.split(x, 2**40, axis=1)


def test_products_by_a_matrix_for_each_row_have_gradients() -> None:
    x = ex.constant([[[1.0, 2.0], [3.0, 4.0]], [], [[5.0, 6.0]]])
    y = ex.tensor([[[1.0], [2.0]], [[7.0], [7.0]], [[3.0], [4.0]]])
    got = ex.grad(lambda x, y: ex.sum(ex.matmul(x, y)))
    assert ex.to_py(got(x, y)) == [[[1.0, 2.0], [1.0, 2.0]], [], [[3.0, 4.0]]]


def test_records_are_elements_of_lists() -> None:
    x = ex.constant([[{"id": 1, "tags": ["a"]}, {"id": 2, "tags": []}], [], [{"id": 3, "tags": ["b", "c"]}]])
    assert ex.to_py(ex.first(x)) == [{"id": 1, "tags": ["a"]}, None, {"id": 3, "tags": ["b", "c"]}]
    assert ex.to_py(ex.tail(x, 1)) == [[{"id": 2, "tags": []}], [], [{"id": 3, "tags": ["b", "c"]}]]
    keys, groups = ex.group_by(ex.flatten(x, axis=1), ["u", "v", "u"])
    assert ex.to_py(keys) == ["u", "v"]
    assert [[record["id"] for record in group] for group in ex.to_py(groups)] == [[1, 3], [2]]
    assert ex.to_py(ex.pad_to(x, 1))[1] == [None]


def test_what_is_missing_is_one_element_more() -> None:
    x = ex.constant([[3, None, 3], [None], []])
    assert ex.to_py(ex.unique(x)) == [[3, None], [None], []]
    assert ex.to_py(ex.unique_with_counts(x)[1]) == [[2, 1], [1], []]
    assert ex.to_py(ex.first(x, default=0)) == [3, None, 0]
    assert ex.to_py(ex.pad_to(x, 2, 8)) == [[3, None, 3], [None, 8], [8, 8]]
    assert ex.to_py(ex.windows(x, 2)) == [[[3, None], [None, 3]], [], []]
    assert ex.to_py(ex.combinations(x, 2)) == [[[3, None], [3, 3], [None, 3]], [], []]


def test_gradients_go_to_the_elements_that_were_picked() -> None:
    x = ex.constant([[1.0, 3.0, 2.0], [], [5.0]])
    picked = ex.grad(lambda x: ex.sum(ex.last(x, default=0.0)))(x)
    assert ex.to_py(picked) == [[0.0, 0.0, 1.0], [], [1.0]]
    running = ex.grad(lambda x: ex.sum(ex.cumulative_max(x)))(x)
    assert ex.to_py(running) == [[1.0, 2.0, 0.0], [], [1.0]]
    slid = ex.grad(lambda x: ex.sum(ex.windows(x, 2)))(x)
    assert ex.to_py(slid) == [[1.0, 2.0, 1.0], [], [0.0]]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ex.pad_to(x, 2**62),
        lambda x: ex.repeat(x, 2**61, axis=1),
        lambda x: ex.tile(x, (1, 2**61)),
        lambda x: ex.ranges([0, 0], [2**62, 2**62]),
        lambda x: ex.combinations(x, 2**40),
        lambda x: ex.diff(x, n=2**40),
        lambda x: ex.head(x, -(2**63)),
    ],
)
def test_a_number_alone_does_not_take_the_memory(call: Callable[[Any], Any]) -> None:
    with pytest.raises(ex.Error):
        call(ex.constant([[1, 2, 3], [], [4]]))


def test_sizes_that_multiply_are_proven_first() -> None:
    many = ex.arange(3_000_000)
    with pytest.raises(ex.Error):
        ex.cartesian((many, many, many))
    with pytest.raises(ex.Error):
        ex.combinations(many, 3)


def test_quantiles_over_several_axes() -> None:
    x = ex.constant([[[1.0, 2.0], [3.0]], [], [[4.0], [], [5.0, 6.0, 7.0]], [[None], None, [8.0]]])
    for call in (ex.median, ex.function(ex.median)):
        assert str(call(x, axis=(1, 2)).to_py()) == "[2.0, nan, 5.5, 8.0]"
        assert call(x, axis=(0, 1)).to_py() == [4.0, 4.0, 7.0]
    assert str(ex.quantile(x, [0.5, 0.25], axis=(1, 2), keepdims=True).to_py()) == (
        "[[[[2.0]], [[nan]], [[5.5]], [[8.0]]], [[[1.5]], [[nan]], [[4.75]], [[8.0]]]]"
    )
    assert ex.median(x, axis=(0, 2)).to_py() == [2.0, 3.0, 6.5]
    assert ex.function(ex.median)(x, axis=(0, 2)).to_py() == [2.0, 3.0, 6.5]
    # An empty row has as many columns of one size as others, which rows of columns would lose.
    pairs = ex.RaggedTensor.from_row_lengths(ex.ones((2, 2, 2)), [0, 2])
    with pytest.raises(ex.Error, match="median: an axis of one size stands between the axes"):
        ex.median(pairs, axis=(1, 3))


def test_vectors_of_any_size_are_distinct_as_a_whole() -> None:
    pick = random.Random(4)
    for size in (1, 2, 3, 5, 8, 13):
        rows = [[pick.randrange(2) for _ in range(size)] for _ in range(20)]
        distinct = sorted(map(list, {tuple(row) for row in rows}))
        for call in (ex.unique, ex.function(ex.unique)):
            assert call(ex.tensor(rows), axis=0).tolist() == distinct
        assert ex.unique_with_inverse(ex.tensor(rows), axis=0)[1].tolist() == [distinct.index(row) for row in rows]
    assert ex.unique(ex.zeros((0, 2**46)), axis=0).shape[0] == 0


def test_the_largest_by_a_number_that_is_data() -> None:
    dense, rows = ex.tensor([[3, 1, 2], [4, 6, 5]]), ex.constant([[1, 9], [5], [3, 4]])
    for x, axis, k in ((dense, 0, 1), (dense, 1, 2), (dense, -1, 0), (rows, 0, 2), (rows, 1, 2), (rows[0], 0, 1)):
        traced = ex.function(lambda x, k, axis=axis: ex.top_k(x, k, axis=axis))
        for one, other in zip(ex.top_k(x, k, axis=axis), traced(x, ex.tensor(k)), strict=True):
            assert ex.to_py(one) == ex.to_py(other)
    for x, axis in ((dense, 0), (dense, 1), (rows[0], 0)):
        traced = ex.function(lambda x, k, axis=axis: ex.top_k(x, k, axis=axis))
        with pytest.raises(ex.Error, match="more than the elements"):
            traced(x, ex.tensor(4))
        with pytest.raises(ex.Error, match="k is negative"):
            traced(x, ex.tensor(-1))
        with pytest.raises(ex.Error, match="k is 4"):
            ex.top_k(x, 4, axis=axis)
    rolled = ex.function(lambda x, by: ex.roll(x, by))
    assert ex.to_py(rolled(rows, ex.tensor(1))) == ex.to_py(ex.roll(rows, 1)) == [[4, 1], [9], [5, 3]]


def test_a_choice_does_not_ask_whether_two_masks_are_one() -> None:
    values, there, chosen = ex.tensor([[1, 2], [3, 4]]), ex.tensor([True, False]), ex.tensor([[True, False], [True, True]])
    x, same = ex.mask(values, there), ex.mask(values, ex.tensor([True, False]))
    wanted = [[1, 2], [None, None]]
    assert ex.to_py(ex.where(chosen, x, x)) == ex.to_py(ex.where(chosen, x, same)) == wanted
    assert ex.to_py(ex.function(ex.where)(chosen, x, x)) == wanted


def test_keys_of_one_size_that_may_be_missing_group_rows() -> None:
    keys = ex.mask(ex.constant([[0, 0], [1, 1], [1, 0]]), [True, False, True])
    distinct, groups = ex.group_by(ex.constant([[1, 2], [], [3, 4]]), keys, axis=1)
    assert ex.to_py(distinct) == [[0], None, [0, 1]] and ex.to_py(groups) == [[[1, 2]], None, [[4], [3]]]


def test_a_default_stands_for_a_list_that_may_be_missing() -> None:
    lists = ex.constant([[1, 2], None, [3]])
    assert ex.to_py(ex.nth(lists, 5, axis=0, default=0)) == [] and ex.to_py(ex.nth(lists, 1, axis=0, default=0)) is None
