"""TensorFlow's names."""

from __future__ import annotations

from typing import Any

import extenso as ex
import pytest
from extenso import _core, tf


def test_every_name_leads_to_a_function() -> None:
    """Checks the names of the declarations and those of the module."""
    for name, ours in tf._NAMES.items():
        assert _named(name) is getattr(ex, ours), name
        assert callable(_named(name)) or isinstance(_named(name), ex.DType), name
        assert name not in tf._DIFFERENT
    assert set(_core.op_tf_names()) <= set(tf._NAMES.items())


def _named(name: str) -> Any:
    found: Any = tf
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_a_name_is_the_function_of_the_declaration() -> None:
    """Checks some names, with a namespace and without."""
    assert ex.tf.reduce_max is ex.max
    assert ex.tf.strings.join is ex.string_join
    assert ex.tf.nn.softmax is ex.softmax
    assert {"lower", "split", "join"} <= set(dir(ex.tf.strings))
    assert {"strings", "nn", "reduce_sum"} <= set(dir(ex.tf))


def test_an_unknown_name_says_where_to_look() -> None:
    """Checks names of the module and of a namespace in it."""
    with pytest.raises(AttributeError, match="'sum'.*'extenso'"):
        ex.tf.sum
    with pytest.raises(AttributeError, match="strings.nothing"):
        ex.tf.strings.nothing


def test_what_is_called_alike_and_means_something_else_is_left_out() -> None:
    """Checks that errors say what to write, and that no such name is listed."""
    for name, why in tf._DIFFERENT.items():
        with pytest.raises(AttributeError) as caught:
            _named(name)
        assert why in str(caught.value)
    assert not set(tf._DIFFERENT) & set(dir(ex.tf))
    x = [[1, 3, 2], [5, 4, 6]]
    assert ex.to_py(ex.argmax(x, axis=0)) == [1, 1, 1]
    assert ex.to_py(ex.segment_sum([1, 2, 3], ex.partition_from_rowids([0, 0, 1]))) == [3, 3]
    assert ex.to_py(ex.pad([1, 2], 0, [[1, 0]])) == [0, 1, 2]
    assert ex.to_py(ex.leaky_relu([-1.0], slope=0.2)) == [-0.2]


SIGMOID_OF_1 = 0.7310585786300049
# Calls as TensorFlow's manual has them, and what they give there.
CALLS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("abs", ([-2.25, 3.25],), [2.25, 3.25]),
    ("argsort", ([1, 10, 26.9, 2.8, 166.32, 62.3],), [0, 3, 1, 2, 5, 4]),
    ("atan2", ([0.0], [1.0]), [0.0]),
    ("batch_gather", ([[1, 2], [3, 4]], [[1], [0]]), [[2], [3]]),
    ("bitwise.bitwise_and", ([5, 3], [4, 6]), [4, 2]),
    ("bitwise.invert", ([0, 1],), [-1, -2]),
    ("bitwise.left_shift", ([1, 3], [2, 1]), [4, 6]),
    ("bitwise.right_shift", ([8, -8], [1, 1]), [4, -4]),
    ("boolean_mask", ([0, 1, 2, 3], [True, False, True, False]), [0, 2]),
    ("boolean_mask", ([[1, 2], [3, 4], [5, 6]], [True, False, True]), [[1, 2], [5, 6]]),
    ("boolean_mask", ([[1, 2], [3, 4]], [[True, False], [True, True]]), [1, 3, 4]),
    ("broadcast_to", ([1, 2, 3], [2, 3]), [[1, 2, 3], [1, 2, 3]]),
    ("cast", ([1.8, -2.2], ex.tf.int32), [1, -2]),
    ("concat", ([[[1, 2]], [[3, 4]]], 0), [[1, 2], [3, 4]]),
    ("cond", (True, lambda: ex.tensor(1), lambda: ex.tensor(2)), 1),
    ("constant", ([1, 2], ex.tf.float32), [1.0, 2.0]),
    ("convert_to_tensor", ([[1.0]],), [[1.0]]),
    ("eye", (2, 3), [[1, 0, 0], [0, 1, 0]]),
    ("fill", ([2, 3], 9), [[9, 9, 9], [9, 9, 9]]),
    ("floordiv", ([-7, 7], [2, 2]), [-4, 3]),
    ("identity", ([1, 2],), [1, 2]),
    ("linalg.cross", ([1, 0, 0], [0, 1, 0]), [0, 0, 1]),
    ("linalg.norm", ([3.0, 4.0],), 5.0),
    ("linspace", (10.0, 12.0, 3), [10.0, 11.0, 12.0]),
    ("matmul", ([[1, 2, 3], [4, 5, 6]], [[7, 8], [9, 10], [11, 12]]), [[58, 64], [139, 154]]),
    ("math.bincount", ([1, 1, 2, 3, 2, 4, 4, 5],), [0, 2, 2, 1, 2, 1]),
    ("math.count_nonzero", ([[0, 1, 0], [1, 1, 0]], 0), [1, 2, 0]),
    ("math.divide_no_nan", ([1.0, 0.0], [0.0, 2.0]), [0.0, 0.0]),
    ("math.l2_normalize", ([3.0, 4.0],), [0.6, 0.8]),
    ("math.mod", ([-7], [3]), [2]),
    ("math.rint", ([-1.7, -1.5, -0.2, 0.2, 1.5, 1.7, 2.5],), [-2.0, -2.0, -0.0, 0.0, 2.0, 2.0, 2.0]),
    ("math.xlogy", ([0.0, 1.0], [0.0, 1.0]), [0.0, 0.0]),
    ("meshgrid", ([1, 2, 3], [4, 5]), [[[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]]]),
    ("nn.avg_pool1d", ([[[1.0], [2.0], [3.0]]], 2, 2, "SAME"), [[[1.5], [3.0]]]),
    ("nn.conv1d", ([[[1.0], [2.0], [3.0]]], [[[1.0]], [[10.0]]], 1, "SAME"), [[[21.0], [32.0], [3.0]]]),
    ("nn.conv1d", ([[[1.0], [2.0], [3.0]]], [[[1.0]], [[10.0]]], 1, "VALID"), [[[21.0], [32.0]]]),
    ("nn.embedding_lookup", ([[1.0, 2.0], [3.0, 4.0]], [1, 0]), [[3.0, 4.0], [1.0, 2.0]]),
    ("nn.embedding_lookup_sparse", ([[1.0, 2.0], [3.0, 4.0]], ex.constant([[0, 1], [1]]), None), [[2.0, 3.0], [3.0, 4.0]]),
    ("nn.max_pool1d", ([[[1.0], [3.0], [2.0], [4.0]]], 2, 2, "VALID"), [[[3.0], [4.0]]]),
    ("nn.relu6", ([-1.0, 3.0, 9.0],), [0.0, 3.0, 6.0]),
    ("nn.sigmoid", ([0.0, 1.0],), [0.5, SIGMOID_OF_1]),
    ("nn.swish", ([1.0],), [SIGMOID_OF_1]),
    ("nn.top_k", ([1, 2, 98, 1, 1, 99, 3], 2), [[99, 98], [5, 2]]),
    ("norm", ([[3.0, 0.0], [0.0, 4.0]],), 5.0),
    ("pow", ([2, 2], [8, 16]), [256, 65536]),
    ("rank", ([[1, 1], [2, 2]],), 2),
    ("repeat", (["a", "b", "c"], [3, 0, 2]), ["a", "a", "a", "c", "c"]),
    ("repeat", ([[1, 2], [3, 4]], [2, 3], 0), [[1, 2], [1, 2], [3, 4], [3, 4], [3, 4]]),
    ("repeat", ([[1, 2], [3, 4]], 2), [1, 1, 2, 2, 3, 3, 4, 4]),
    ("reshape", ([[1, 2, 3], [4, 5, 6]], [-1]), [1, 2, 3, 4, 5, 6]),
    ("reverse", ([[1, 2], [3, 4]], [0, 1]), [[4, 3], [2, 1]]),
    ("roll", ([0, 1, 2, 3, 4], 2, 0), [3, 4, 0, 1, 2]),
    ("roll", ([[0, 1, 2], [3, 4, 5]], [1, -2], [0, 1]), [[5, 3, 4], [2, 0, 1]]),
    ("round", ([0.9, 2.5, 2.3, 1.5, -4.5],), [1.0, 2.0, 2.0, 2.0, -4.0]),
    ("sequence_mask", ([1, 3, 2], 4), [[True, False, False, False], [True, True, True, False], [True, True, False, False]]),
    ("shape", ([[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]]],), [2, 2, 3]),
    ("size", ([[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]]],), 12),
    ("sort", ([1, 10, 26.9, 2.8],), [1, 2.8, 10, 26.9]),
    ("split", ([1, 2, 3, 4, 5, 6], [1, 3, 2]), [[1], [2, 3, 4], [5, 6]]),
    ("split", ([1, 2, 3, 4, 5, 6], 3), [[1, 2], [3, 4], [5, 6]]),
    ("squeeze", ([[[1], [2]]], [0, 2]), [1, 2]),
    ("tensordot", ([[1, 2], [3, 4]], [[5, 6], [7, 8]], 1), [[19, 22], [43, 50]]),
    ("truediv", ([1.0], [4.0]), [0.25]),
    ("zeros_like", ([[1, 2]], ex.tf.float32), [[0.0, 0.0]]),
]


@pytest.mark.parametrize(("name", "args", "wanted"), CALLS, ids=[name for name, _, _ in CALLS])
def test_names_give_what_tensorflow_gives(name: str, args: tuple[Any, ...], wanted: Any) -> None:
    """Checks calls with TensorFlow's order of arguments against its results."""
    made = _named(name)(*args)
    parts = [ex.to_py(part) for part in made] if isinstance(made, list | tuple) else ex.to_py(made)
    assert ex.to_py(ex.all(ex.isclose(ex.tensor(parts), ex.tensor(wanted), 1e-12))) if _floats(parts) else parts == wanted


def _floats(x: Any) -> bool:
    return _floats(x[0]) if isinstance(x, list) and x else isinstance(x, float)
