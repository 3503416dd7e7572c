"""Products against NumPy."""

import itertools
import random

import extenso as ex
import numpy as np
import pytest

SIZES = {"a": 2, "b": 3, "c": 4, "d": 1, "e": 5}


def operands(terms: "list[str]", seed: int) -> "list[np.ndarray]":
    numbers = np.random.default_rng(seed)
    return [numbers.integers(-3, 4, [SIZES[letter] for letter in term]).astype(np.float64) for term in terms]


def drawn(seed: int) -> "tuple[list[str], str | None]":
    """Returns subscripts of operands, with letters that stand twice among them, and those of a result or none."""
    choose = random.Random(seed)
    terms = ["".join(choose.choices("abcde", k=choose.randint(0, 4))) for _ in range(choose.randint(1, 3))]
    letters = sorted(set("".join(terms)))
    out = "".join(choose.sample(letters, choose.randint(0, len(letters))))
    return terms, choose.choice([out, None])


@pytest.mark.parametrize("seed", range(300))
def test_einsum_is_that_of_numpy(seed: int) -> None:
    terms, out = drawn(seed)
    subscripts = ",".join(terms) + ("" if out is None else f"->{out}")
    arrays = operands(terms, seed)
    got = ex.einsum(subscripts, *(ex.tensor(array) for array in arrays))
    # Whole numbers are exact in every order of summation.
    np.testing.assert_array_equal(np.asarray(got) + 0.0, np.einsum(subscripts, *arrays), subscripts)


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("...a,ab->...b", [(5, 4, 2), (2, 3)]),
        ("...a,...a->...", [(4, 2), (3, 1, 2)]),
        ("a...,a...", [(2, 3, 4), (2, 3, 1)]),
        ("...ab,...bc", [(2, 1, 2, 3), (5, 3, 4)]),
        ("a...b->b...a", [(2, 3, 4, 5)]),
        ("...aa->a...", [(3, 2, 2)]),
        ("...,...", [(), (2, 3)]),
        ("ab,ab", [(1, 3), (2, 3)]),
        ("Ab,bA", [(2, 3), (3, 2)]),
        ("bA", [(2, 3)]),
        (" a b , b -> a", [(2, 3), (3,)]),
        ("ab,cb,ad->cd", [(2, 3), (4, 3), (2, 5)]),
        ("ab->ba", [(0, 3)]),
        ("ab,bc->ac", [(2, 0), (0, 3)]),
    ],
)
def test_every_form_is_read_as_numpy_reads_it(subscripts: str, shapes: "list[tuple[int, ...]]") -> None:
    numbers = np.random.default_rng(3)
    arrays = [numbers.integers(-3, 4, shape) for shape in shapes]
    got = ex.einsum(subscripts, *(ex.tensor(array) for array in arrays))
    want = np.einsum(subscripts, *arrays)
    assert tuple(got.shape) == want.shape
    np.testing.assert_array_equal(np.asarray(got), want)


def test_tensordot_is_that_of_numpy() -> None:
    numbers = np.random.default_rng(4)
    x, y = numbers.integers(-3, 4, (2, 3, 4)), numbers.integers(-3, 4, (4, 3, 2))
    for axes in (0, 1, ((1,), (1,)), ((2, 1), (0, 1)), ((0, 1, 2), (2, 1, 0)), (-1, 0)):
        np.testing.assert_array_equal(np.asarray(ex.tensordot(x, y, axes)), np.tensordot(x, y, axes))
    with pytest.raises(ex.Error, match="as many of both"):
        ex.tensordot(x, y, ((0, 1), (2,)))


def test_diagonals_and_norms_are_those_of_numpy() -> None:
    x = np.random.default_rng(5).normal(size=(3, 4, 5))
    for offset, (first, second) in itertools.product((-4, -1, 0, 2, 9), itertools.permutations(range(3), 2)):
        got = np.asarray(ex.diagonal(x, offset, first, second))
        np.testing.assert_array_equal(got, np.diagonal(x, offset, first, second))
    for order in (0.0, 1.0, 2.0, 3.5, -2.0, float("inf"), float("-inf")):
        got = np.asarray(ex.norm(x, order, axis=1))
        np.testing.assert_allclose(got, np.linalg.norm(x, order, axis=1), rtol=1e-13)
    crossed = ex.cross_product(x[:, :3], x[:, 1:], axis=1)
    np.testing.assert_allclose(np.asarray(crossed), np.cross(x[:, :3], x[:, 1:], axis=1), rtol=1e-13)


def test_einsum_is_traced_with_rows_of_unknown_number() -> None:
    weights = np.arange(12.0).reshape(3, 4)

    @ex.function
    def project(x: ex.Tensor) -> ex.Tensor:
        return ex.einsum("...i,ij->...j", x, weights)

    for rows in (1, 2, 7):
        x = np.ones((rows, 3))
        np.testing.assert_array_equal(np.asarray(project(x)), x @ weights)
