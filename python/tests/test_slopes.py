"""What missing lists, zeros and traced numbers give: values eager and traced, and their slopes."""

import math
from typing import Any

import extenso as ex
import pytest


def test_numbers_that_are_traced_say_which_quantiles_and_how_long_lists_are() -> None:
    @ex.function
    def quantiles(x: Any, q: Any) -> Any:
        return ex.quantile(x, q, axis=1)

    rows, several = ex.constant([[1.0, 2.0], [], [3.0]]), ex.tensor([0.25, 0.5])
    assert ex.to_py(ex.fill_none(ex.nan_to_none(quantiles(rows, several)), 0)) == [[1.25, 0, 3.0], [1.5, 0, 3.0]]
    assert ex.to_py(ex.fill_none(ex.nan_to_none(quantiles(rows, ex.tensor(0.5))), 0)) == [1.5, 0, 3.0]
    with pytest.raises(ex.InvalidValueError, match=r"q\[1\] is 1.5"):
        quantiles(rows, ex.tensor([0.0, 1.5]))
    lists = ex.function(ex.unflatten)
    assert ex.to_py(lists(ex.tensor([1, 2, 3, 4]), ex.tensor(2))) == [[1, 2], [3, 4]]
    for length in [3, 0, -1]:
        with pytest.raises(ex.Error):
            lists(ex.tensor([1, 2, 3, 4]), ex.tensor(length))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "median", "logsumexp"])
@pytest.mark.parametrize("x", [
    ex.constant([[1.0, 2.0], None, [3.0]]), ex.mask([[1.0, 2.0], [5.0, float("nan")], [3.0, 4.0]], [True, False, True])
])
def test_a_missing_list_has_no_reduction_and_no_gradient(name: str, x: Any) -> None:
    def reduced(x: Any) -> Any:
        return getattr(ex, name)(x, axis=1)

    found = ex.to_py(reduced(x))
    assert found == ex.to_py(ex.function(reduced)(x))
    assert [value is None for value in found] == [False, True, False]
    slopes = ex.to_py(ex.grad(lambda x: ex.sum(reduced(x)))(x))
    assert slopes[1] is None
    assert all(math.isfinite(slope) for row in slopes if row is not None for slope in row)


def test_slopes_at_a_vector_of_zeros_are_finite() -> None:
    zeros, y = ex.tensor([0.0, 0.0]), ex.tensor([3.0, 4.0])
    assert ex.grad(lambda x: ex.cosine_similarity(x, y, epsilon=0.5))(zeros).tolist() == [6.0, 8.0]
    assert ex.grad(lambda x: ex.cosine_similarity(x, x))(zeros).tolist() == [0.0, 0.0]


def test_the_gradient_of_digamma_is_trigamma() -> None:
    x = ex.tensor([1.0, 2.5, -0.5])
    assert ex.grad(lambda x: ex.sum(ex.digamma(x)))(x).tolist() == ex.trigamma(x).tolist()


def test_gradients_count_arguments_from_the_end_too() -> None:
    product = lambda x, y: x * y
    assert ex.grad(product, -1)(2.0, 3.0).item() == 2.0
    assert [dx.item() for dx in ex.grad(product, (-2, 1))(2.0, 3.0)] == [3.0, 2.0]
    with pytest.raises(ex.OutOfRangeError, match="no argument -3.*\n.*from -2 to 1"):
        ex.grad(product, -3)(2.0, 3.0)
    with pytest.raises(ex.InvalidValueError, match="argument -1 twice"):
        ex.grad(product, (1, -1))(2.0, 3.0)
    with pytest.raises(ex.DTypeError, match="names True"):
        ex.grad(product, True)


@pytest.mark.parametrize("name", [
    "divide", "log", "sqrt", "rsqrt", "reciprocal", "pow", "hypot", "atan2", "asin", "acosh", "atanh", "erfinv", "tanh", "gelu",
    "xlogy", "log1p", "cbrt", "squared_difference", "divide_no_nan", "logaddexp", "tan", "multiply",
])  # fmt: skip
@pytest.mark.parametrize("below", [0.0, 1.0, -1.0, float("nan"), float("inf")])
def test_what_lies_under_a_missing_number_has_no_slope(name: str, below: float) -> None:
    binary = name in {"divide", "pow", "hypot", "atan2", "xlogy", "squared_difference", "divide_no_nan", "logaddexp", "multiply"}

    def loss(x: Any, w: Any) -> Any:
        y = getattr(ex, name)(*([x, x * w] if binary else [x * w]))
        return ex.sum(y * w)

    of = ex.grad(loss, (0, 1))
    there, w = (2.0 if name == "acosh" else 0.5), ex.tensor(1.0)
    dx, dw = of(ex.mask([there, below], [True, False]), w)
    alone, dw_alone = of(ex.tensor([there]), w)
    assert ex.to_py(dx) == [*alone.tolist(), None]
    assert dw.tolist() == dw_alone.tolist()


def test_what_where_did_not_pick_has_no_slope() -> None:
    x = ex.tensor([0.0, -1.0, 4.0])
    root = lambda x: ex.sum(ex.where(x > 0, ex.sqrt(x), x))
    assert ex.grad(root)(x).tolist() == [1.0, 1.0, 0.25]
    assert ex.grad(lambda x: ex.sum(ex.grad(root)(x)))(x).tolist() == [0.0, 0.0, -0.03125]


def test_a_slope_of_zero_has_a_slope() -> None:
    well = lambda x: (x * x - 1.0) ** 2
    assert ex.grad(well)(ex.tensor(1.0)).item() == 0.0
    assert ex.grad(lambda x: ex.grad(well)(x))(ex.tensor(1.0)).item() == 8.0


NOT_PICKED = {
    "max": lambda x: ex.max(x, axis=1),
    "min": lambda x: ex.min(x, axis=1),
    "prod": lambda x: ex.prod(x, axis=1),
    "norm": lambda x: ex.norm(x, ord=math.inf, axis=1),
    "logsumexp": lambda x: ex.logsumexp(x, axis=1),
    "softmax": lambda x: ex.max(ex.softmax(x, axis=1), axis=1),
    "log_softmax": lambda x: ex.sum(ex.log_softmax(x, axis=1), axis=1),
    "cumulative_prod": lambda x: ex.sum(ex.cumulative_prod(x, axis=1), axis=1),
    "cumulative_max": lambda x: ex.sum(ex.cumulative_max(x, axis=1), axis=1),
}


@pytest.mark.parametrize("name", NOT_PICKED)
@pytest.mark.parametrize("below", [math.nan, math.inf, -math.inf])
def test_of_a_row_that_is_not_picked_no_element_has_a_slope(name: str, below: float) -> None:
    dense = ex.tensor([[below, 1.0], [0.3, 0.8]])
    for x in (dense, ex.RaggedTensor.from_row_lengths(ex.reshape(dense, [4]), [2, 2])):
        picked = ex.grad(lambda x: ex.sum(ex.where([True, False], 0.0, NOT_PICKED[name](x))))
        masked = ex.grad(lambda x: ex.sum(ex.mask(NOT_PICKED[name](x), [False, True])))
        alone = ex.grad(lambda x: ex.sum(NOT_PICKED[name](x)))(dense[1:])
        assert ex.to_py(picked(x)) == ex.to_py(masked(x)) == [[0.0, 0.0], *alone.tolist()]


@pytest.mark.parametrize("behind", [math.nan, math.inf])
def test_what_stands_behind_all_that_matters_has_no_slope(behind: float) -> None:
    second = lambda fold: ex.grad(lambda x: fold(x)[1])
    assert second(ex.cumulative_prod)(ex.tensor([2.0, 3.0, behind])).tolist() == [3.0, 2.0, 0.0]
    back = lambda x: ex.cumulative_prod(x, reverse=True)
    assert second(back)(ex.tensor([behind, 2.0, 3.0])).tolist() == [0.0, 3.0, 2.0]
    both = ex.grad(lambda x, link: ex.linear_scan(x, link)[1], (0, 1))
    dx, dlink = both(ex.tensor([1.0, 2.0, behind]), ex.tensor([1.0, 0.5, behind]))
    assert (dx.tolist(), dlink.tolist()) == ([0.5, 1.0, 0.0], [0.0, 1.0, 0.0])
    both = ex.grad(lambda x, link: ex.linear_scan(x, link, reverse=True)[1], (0, 1))
    dx, dlink = both(ex.tensor([behind, 2.0, 3.0]), ex.tensor([behind, behind, 0.5]))
    assert (dx.tolist(), dlink.tolist()) == ([0.0, 1.0, 0.5], [0.0, 0.0, 3.0])


def test_a_quotient_that_is_not_picked_has_no_slope() -> None:
    by = ex.tensor([math.nan, 2.0])
    square = lambda x: ex.square(ex.divide_no_nan(x, by))
    assert ex.grad(lambda x: ex.sum(ex.where(ex.isnan(by), 0.0, square(x))))(ex.tensor([1.0, 2.0])).tolist() == [0.0, 1.0]


def test_what_has_no_direction_has_no_slope() -> None:
    for order in (2.0, 3.0, 1.5):
        norms = lambda x, order=order: ex.sum(ex.norm(x, order, axis=1))
        point, line = ex.grad(norms)(ex.tensor([[0.0, 0.0], [0.0, 4.0]])).tolist()
        assert point == [0.0, 0.0] and line == pytest.approx([0.0, 1.0])
    legs = ex.grad(lambda x: ex.sum(ex.hypot(x, 0.0)))
    assert legs(ex.tensor([0.0, 1e-310, -2.0])).tolist() == [0.0, 1.0, -1.0]
    assert legs(ex.tensor([1e-5], dtype="f16")).tolist() == [1.0]


def test_a_point_has_the_slope_of_a_line_beside_it() -> None:
    slopes = ex.grad(lambda x: ex.sum(ex.interp(x, ex.tensor([0.0, 1.0, 2.0]), ex.tensor([0.0, 2.0, 6.0]))))
    assert slopes(ex.tensor([0.0, 0.5, 1.0])).tolist() == [2.0, 2.0, 4.0]


def test_halves_spread_as_wider_floats_do_in_rows() -> None:
    x = ex.tensor([0.0, 1000.0], dtype="f16")
    rows = ex.RaggedTensor.from_row_lengths(x, [2])
    assert ex.std(x).tolist() == 500.0 and ex.to_py(ex.std(rows, axis=1)) == [500.0]
    assert ex.std(rows).dtype == ex.f16 and ex.std(ex.mask(x, [True, True])).tolist() == 500.0


def test_a_condition_is_one_boolean_in_calls_too() -> None:
    def chosen(condition: Any) -> Any:
        return ex.cond(condition, lambda: ex.tensor(1.0), lambda: ex.tensor(2.0))

    for call in (chosen, ex.function(chosen)):
        with pytest.raises(ex.Error, match="Wanted: one boolean"):
            call(ex.tensor([True]))


@pytest.mark.parametrize("axis", [None, 0])
@pytest.mark.parametrize("x", [[1.0, 2.0, 2.0, 5.0], [2.0, 2.0], [0.0, 0.0], [-0.0, -0.0], [7.0, 2.0, 2.0, -1.0]])
def test_both_middle_elements_have_the_slope_of_a_median_where_they_are_equal(x: "list[float]", axis: "int | None") -> None:
    middle = sorted(x)[len(x) // 2]
    wanted = [0.5 if value == middle else 0.0 for value in x]
    for f in (lambda x: ex.median(x, axis=axis), lambda x: ex.quantile(x, 0.5, axis=axis)):
        assert f(ex.tensor(x)).item() == middle and math.copysign(1, f(ex.tensor(x)).item()) == math.copysign(1, middle)
        assert ex.grad(f)(ex.tensor(x)).to_py() == wanted
    in_rows = ex.grad(lambda x: ex.sum(ex.median(x, axis=1)))(ex.constant([x, [1.0]]))
    assert ex.to_py(in_rows) == [wanted, [1.0]]


@pytest.mark.parametrize(("dtype", "far"), [("f16", 300.0), ("f16", 65504.0), ("bf16", 1e20), ("f32", 1e20), ("f64", 1e155), ("f64", 1e308)])
def test_the_slope_of_an_activation_is_a_number_however_far_its_argument_is(dtype: str, far: float) -> None:
    x = ex.tensor([far, -far, 0.0], dtype)
    for approximate in (True, False):
        slopes = ex.grad(lambda x: ex.sum(ex.gelu(x, approximate=approximate)))(x)
        assert ex.cast(slopes, "f64").to_py() == [1.0, 0.0, 0.5]
