"""Functions of networks, and random numbers."""

import doctest
import itertools
import math
from collections import Counter

import extenso as ex
import numpy as np
import pytest
from extenso import random


def convolved(x: np.ndarray, weights: np.ndarray, stride: int, dilation: int, padding: str, groups: int) -> np.ndarray:
    """Returns the convolution of one sequence, window by window."""
    width, inputs, filters = weights.shape
    reach, length = (width - 1) * dilation, len(x)
    before = after = 0
    if padding == "causal":
        before = reach
    if padding == "same":
        missing = max((math.ceil(length / stride) - 1) * stride + reach + 1 - length, 0)
        before, after = missing // 2, missing - missing // 2
    x = np.pad(x, ((before, after), (0, 0)))
    count = max((len(x) - reach - 1) // stride + 1, 0)
    out = np.zeros((count, filters))
    for window, f in itertools.product(range(count), range(filters)):
        group = f // (filters // groups)
        for place, channel in itertools.product(range(width), range(inputs)):
            value = x[window * stride + place * dilation, group * inputs + channel]
            out[window, f] += value * weights[place, channel, f]
    return out


@pytest.mark.parametrize("seed", range(60))
def test_conv1d_is_a_sum_over_windows(seed: int) -> None:
    draw = np.random.default_rng(seed)
    groups = int(draw.choice([1, 1, 2, 3]))
    width, inputs, filters = int(draw.integers(1, 5)), int(draw.integers(1, 4)), groups * int(draw.integers(1, 3))
    x = draw.integers(-4, 5, (2, int(draw.integers(1, 12)), groups * inputs)).astype(np.float64)
    weights = draw.integers(-4, 5, (width, inputs, filters)).astype(np.float64)
    stride, dilation = int(draw.integers(1, 4)), int(draw.integers(1, 4))
    for padding in ("valid", "same", "causal"):
        want = np.stack([convolved(row, weights, stride, dilation, padding, groups) for row in x])
        got = ex.conv1d(x, weights, stride, padding, dilation, groups)
        assert tuple(got.shape) == want.shape
        np.testing.assert_array_equal(np.asarray(got) + 0.0, want + 0.0)


def test_activations_work_on_rows_and_have_gradients() -> None:
    rows = ex.constant([[1.0, -2.0], [], [0.5]])
    assert ex.to_py(ex.relu6(rows)) == [[1.0, 0.0], [], [0.5]]
    slope = ex.grad(lambda x: ex.sum(ex.hard_tanh(x)))(ex.tensor([0.5, 2.0]))
    assert slope.tolist() == [1.0, 0.0]
    for name in ("gelu", "silu", "selu", "mish", "softplus", "erf"):
        x = np.linspace(-3, 3, 25)
        f = getattr(ex, name)
        wide = np.asarray(f(x))
        narrow = np.asarray(ex.cast(f(ex.cast(x, "bf16")), "f64"))
        np.testing.assert_allclose(narrow, np.asarray(f(np.asarray(ex.cast(ex.cast(x, "bf16"), "f64")))), rtol=2**-8)
        assert wide.dtype == np.float64


def test_layer_norm_has_scale_and_bias() -> None:
    x = np.random.default_rng(0).normal(size=(3, 4))
    scale, bias = np.arange(4.0), np.ones(4)
    want = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias
    np.testing.assert_allclose(np.asarray(ex.layer_norm(x, scale, bias)), want, rtol=1e-12)
    plain = np.asarray(ex.layer_norm(x))
    np.testing.assert_array_equal(np.asarray(ex.layer_norm(x, bias=bias)), plain + bias)


def test_the_namespace_is_complete_and_its_examples_hold() -> None:
    assert sorted(random.__all__) == random.__all__
    assert ex.random is random
    assert random.normal is ex.random_normal
    results = doctest.testmod(random)
    assert results.failed == 0 and results.attempted > 3


def test_keys_are_values_that_are_traced() -> None:
    @ex.function
    def noisy(x: ex.Tensor, key: ex.Tensor) -> ex.Tensor:
        return ex.add(x, random.normal(key, (3,)))

    x, key = ex.zeros(3), random.key(7)
    assert noisy(x, key).tolist() == random.normal(7, 3).tolist()
    other = random.fold_in(key, 1)
    assert noisy(x, other).tolist() == random.normal(other, 3).tolist() != noisy(x, key).tolist()
    with pytest.raises(ex.Error, match="random_key: the seed is -1"):
        random.key(-1)


def test_draws_are_distinct_where_they_should_be() -> None:
    keys = random.split(3, 100)
    assert len({tuple(key) for key in keys.tolist()}) == 100
    assert sorted(random.permutation(5, 1000).tolist()) == list(range(1000))
    assert random.permutation(5, 1000).tolist() != list(range(1000))
    x = np.arange(50).reshape(25, 2)
    shuffled = np.asarray(random.shuffle(1, x))
    assert sorted(map(tuple, shuffled)) == sorted(map(tuple, x))
    chosen = random.choice(1, x, (3, 4), replace=False)
    assert tuple(chosen.shape) == (3, 4, 2)
    assert len({tuple(row) for row in np.asarray(chosen).reshape(12, 2)}) == 12
    with pytest.raises(ex.Error, match="random_choice: 30 elements are to be drawn of 25"):
        random.choice(1, x, 30, replace=False)


def test_a_choice_does_not_need_the_size_while_tracing() -> None:
    def drawn(x: ex.Tensor) -> "tuple[object, ...]":
        weights = ex.cast(ex.greater(x, 2), "f64")
        return (
            random.choice(1, x, (2, 3)),
            random.choice(2, x, 4, replace=False),
            random.choice(3, x, 5, p=weights),
            random.choice(4, x, 2, replace=False, p=weights),
        )

    traced = ex.function(drawn, input_signature=[ex.TensorSpec([None], "i64")])
    for n in (5, 9):
        x = ex.tensor(list(range(n)))
        assert [y.tolist() for y in traced(x)] == [y.tolist() for y in drawn(x)]
    with pytest.raises(ex.Error, match="drawn.*2 elements"):
        traced(ex.tensor([7, 8]))


def test_draws_follow_their_weights() -> None:
    weights = [0.1, 0.0, 0.6, 0.3]
    by_weight = Counter(random.choice(1, [0, 1, 2, 3], 20_000, p=weights).tolist())
    logits = np.tile(np.log(np.array(weights) + 1e-300), (20_000, 1))
    by_logits = Counter(random.categorical(2, logits).tolist())
    for counts in (by_weight, by_logits):
        assert all(abs(counts[i] / 20_000 - weight) < 0.02 for i, weight in enumerate(weights)), counts
    assert sorted(random.choice(3, [7, 8, 9], 2, False, [0.5, 0.5, 0.0]).tolist()) == [7, 8]
    trials = random.bernoulli(4, 0.25, 20_000)
    assert abs(np.asarray(ex.cast(trials, "f64")).mean() - 0.25) < 0.02


def test_dropout_keeps_the_mean_of_rows_and_what_is_missing() -> None:
    x = ex.ones(10_000)
    kept = np.asarray(ex.dropout(x, 0.25, 3))
    assert set(kept) == {0.0, 4 / 3} and abs(kept.mean() - 1) < 0.05
    rows = ex.dropout(ex.constant([[1.0, 1.0], [], [1.0, None]]), 0.5, 1)
    assert [len(row) for row in ex.to_py(rows)] == [2, 0, 2] and ex.to_py(rows)[2][1] is None


def test_losses_have_slopes_where_what_they_are_of_is_zero() -> None:
    def slope(x: float, label: float) -> float:
        loss = ex.grad(lambda x: ex.sum(ex.sigmoid_cross_entropy(x, ex.tensor([label]))))
        return float(loss(ex.tensor([x])).tolist()[0])

    assert [slope(0.0, label) for label in (0.0, 1.0)] == [0.5, -0.5]
    logits = ex.tensor([0.5, -1.25])
    of_labels = ex.grad(lambda labels: ex.sum(ex.softmax_cross_entropy(logits, labels)))
    assert of_labels(ex.tensor([0.0, 1.0])).tolist() == pytest.approx((-ex.log_softmax(logits)).tolist())
    endless = ex.tensor([0.0, float("-inf")])
    both = ex.grad(lambda x, y: ex.sum(ex.softmax_cross_entropy(x, y)), argnums=(0, 1))
    assert all(g.tolist() == [0.0, 0.0] for g in both(endless, ex.tensor([1.0, 0.0])))
