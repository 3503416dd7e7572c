"""Keys: what `x[key]` chooses of nested values is what loops over lists choose, on data and traced."""

import random
from collections.abc import Callable
from typing import Any

import extenso as ex
import pytest

BOUNDS = [None, *range(-4, 5)]


def nested(rng: random.Random, depth: int) -> Any:
    return [nested(rng, depth - 1) for _ in range(rng.randrange(4))] if depth else rng.randrange(100)


def rows(items: Any, depth: int) -> Any:
    """Returns lists as rows in every axis but the first, whatever their lengths."""
    if depth == 1:
        return ex.tensor(items, dtype="i64")
    flat = [item for row in items for item in row]
    return ex.RaggedTensor.from_row_lengths(rows(flat, depth - 1), ex.tensor([len(row) for row in items], dtype="i64"))


def traced(x: Any, key: Any) -> Any:
    return ex.to_py(ex.function(lambda x: x[key])(x))


def at_depth(items: Any, depth: int, f: Callable[[Any], Any]) -> Any:
    return [at_depth(item, depth - 1, f) for item in items] if depth else f(items)


def random_slice(rng: random.Random) -> slice:
    return slice(rng.choice(BOUNDS), rng.choice(BOUNDS), rng.choice([None, -2, -1, 1, 2]))


def random_key(rng: random.Random, items: Any, depth: int) -> tuple[tuple[Any, ...], Any]:
    """Returns a key and what it chooses of lists that are rows in every axis but the first."""
    key: list[Any] = []
    wanted, axis, tensor = items, 0, False
    for place in range(depth):
        kind = rng.choice(["slice", "slice", "slice", "at", "pick", "rows", "none"])
        if kind == "none":
            key.append(None)
            wanted, axis, kind = at_depth(wanted, axis, lambda part: [part]), axis + 1, "slice"
        outer = all(isinstance(part, int) for part in key)
        if kind == "at" and outer and wanted:
            i = rng.randrange(-len(wanted), len(wanted))
            key.append(i)
            wanted = wanted[i]
        elif kind == "pick" and outer and not tensor and wanted and place == len(key):
            picked = [rng.randrange(-len(wanted), len(wanted)) for _ in range(rng.randrange(4))]
            key.append(rng.choice([picked, ex.tensor(picked, dtype="i64")]))
            wanted, axis, tensor = [wanted[i] for i in picked], axis + 1, True
        elif kind == "rows" and axis == 1 and key == [slice(None)]:
            picked = [[rng.randrange(-len(r), len(r)) for _ in range(rng.randrange(3) if r else 0)] for r in wanted]
            key.append(rows(picked, 2))
            wanted, axis, tensor = [[row[i] for i in at] for row, at in zip(wanted, picked)], axis + 1, True
        else:
            part = slice(None) if rng.random() < 0.4 else random_slice(rng)
            key.append(part)
            wanted, axis = at_depth(wanted, axis, lambda items, part=part: items[part]), axis + 1
    return tuple(key), wanted


@pytest.mark.parametrize("seed", range(4))
def test_a_key_chooses_what_loops_choose(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(150):
        depth = rng.randrange(1, 5)
        items = nested(rng, depth)
        x = rows(items, depth)
        key, wanted = random_key(rng, items, depth)
        assert ex.to_py(x[key]) == wanted, (items, key)
        if rng.random() < 0.1:
            assert traced(x, key) == wanted, (items, key)


def test_a_name_is_chosen_before_places() -> None:
    data = [{"id": 7, "docs": [{"n": 1, "tags": ["a"]}, {"n": 2, "tags": []}]}, {"id": 8, "docs": []}]
    x = ex.constant(data)
    for key in [("docs", slice(None), slice(None, 1), "n"), (slice(None), ("docs", "n"), slice(None, 1)), ("docs", "n", ..., slice(1))]:
        assert ex.to_py(x[key]) == [[1], []]
        assert traced(x, key) == [[1], []]
    assert ex.to_py(x["docs", 0, -1, "n"]) == 2
    assert ex.to_py(x["docs", :, [[1, 0], []], "n"]) == [[2, 1], []]


MATRIX = [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    "key",
    [
        [True, False],
        (slice(None), [False, True, True]),
        [[True, False, True], [False, True, False]],
        (None, slice(None), [True, False, False]),
        (0, [True, False, True]),
    ],
)
def test_masks_of_tensors_are_numpys(key: Any) -> None:
    numpy = pytest.importorskip("numpy")
    expect = numpy.array(MATRIX)[key]
    for found in (ex.tensor(MATRIX)[key], ex.function(lambda x: x[key])(ex.tensor(MATRIX))):
        assert found.shape == expect.shape
        assert found.tolist() == expect.tolist()


def test_values_of_numpy_and_symbols_are_positions() -> None:
    numpy = pytest.importorskip("numpy")
    x = ex.tensor(MATRIX)
    assert x[numpy.int64(1)].tolist() == MATRIX[1]
    assert x[:, numpy.array([2, 0])].tolist() == [[3, 1], [6, 4]]
    assert x[numpy.array(MATRIX) > 2].tolist() == [3, 4, 5, 6]
    assert x[x > 2].tolist() == [3, 4, 5, 6]
    assert ex.function(lambda x, i: x[i, 0])(x, ex.tensor(1)).tolist() == 4
    r = ex.constant([[1, 5], [7, 2, 3]])
    assert r[r > 2].to_py() == [[5], [7, 3]]


def test_a_slice_shares_memory() -> None:
    numpy = pytest.importorskip("numpy")
    x = numpy.arange(12.0).reshape(4, 3)
    assert numpy.shares_memory(numpy.asarray(ex.tensor(x)[1:3]), x)
    assert numpy.shares_memory(numpy.asarray(ex.tensor(x)[1]), x)
    r = ex.RaggedTensor.from_row_lengths(x, [1, 2, 1])
    assert numpy.shares_memory(numpy.asarray(r[1:].values), x)
    assert numpy.shares_memory(numpy.asarray(r[1]), x)


@pytest.mark.parametrize(
    ("key", "exception", "text"),
    [
        ((0, object()), TypeError, "index: part 2 of the key: found a value of type object"),
        ((0, slice(0.5)), TypeError, "part 2 of the key: found a value of type float in a slice"),
        ((slice(None), True), TypeError, "part 2 of the key: found a boolean"),
        ((0, 3), IndexError, "part 2 of the key: index 3 is out of range for axis 1 of size 3"),
        ((0, "a"), KeyError, "part 2 of the key: 'a' leads nowhere"),
        ((0, [0.5]), TypeError, "part 2 of the key: found indices of f64"),
        ([["a"]], TypeError, "found indices of string"),
    ],
)
def test_errors_name_the_part_of_the_key(key: Any, exception: type[Exception], text: str) -> None:
    with pytest.raises(exception, match=text):
        ex.tensor(MATRIX)[key]


def test_a_mask_of_nothing_chooses_nothing_and_one_of_other_sizes_is_an_index_error() -> None:
    """The rule of the Array API standard: an axis of the mask has the size of the array's, or 0."""
    x, none = ex.ones((2, 3)), ex.zeros((0,), dtype="bool")
    assert x[none].shape == (0, 3) and x[:, none].shape == (2, 0)
    assert ex.function(lambda x: x[none])(x).shape == (0, 3)
    with pytest.raises(IndexError, match="axis 1, which has 3"):
        x[:, ex.zeros((2,), dtype="bool")]
