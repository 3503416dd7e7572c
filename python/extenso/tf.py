"""TensorFlow's names: `ex.tf.reduce_sum(x, axis=1)` is `ex.sum(x, axis=1)`, and `ex.tf.strings.lower(x)` is `ex.lower(x)`.

A name leads to the function that does the same. Its arguments are that function's own, which are NumPy's where NumPy has it.

>>> import extenso as ex
>>> ex.to_py(ex.tf.reduce_sum([[1, 2], [3, 4]], axis=1)), ex.to_py(ex.tf.strings.lower(["A"]))
([3, 7], ['a'])
>>> ex.tf.math.cumsum is ex.cumulative_sum
True
"""

from typing import Any

import extenso
from extenso import _core

# What ops are called there stands in their declarations; these are functions that are no ops, and second names.
_OTHERS = {
    "clip_by_value": "clip",
    "concat": "concat",
    "einsum": "einsum",
    "expand_dims": "expand_dims",
    "gather_nd": "gather_nd",
    "io.parse_example": "parse_examples",
    "linalg.matmul": "matmul",
    "math.cumprod": "cumulative_prod",
    "math.cumsum": "cumulative_sum",
    "math.reduce_logsumexp": "logsumexp",
    "math.reduce_std": "std",
    "math.reduce_variance": "var",
    "math.top_k": "top_k",
    "math.unsorted_segment_max": "unsorted_segment_max",
    "math.unsorted_segment_mean": "unsorted_segment_mean",
    "math.unsorted_segment_min": "unsorted_segment_min",
    "math.unsorted_segment_prod": "unsorted_segment_prod",
    "math.unsorted_segment_sum": "unsorted_segment_sum",
    "nn.gelu": "gelu",
    "nn.log_softmax": "log_softmax",
    "nn.relu": "relu",
    "nn.softmax": "softmax",
    "one_hot": "one_hot",
    "ragged.boolean_mask": "boolean_mask",
    "ragged.constant": "constant",
    "ragged.cross": "cross",
    "ragged.cross_hashed": "cross_hashed",
    "ragged.range": "ranges",
    "ragged.stack": "stack",
    "range": "arange",
    "reduce_logsumexp": "logsumexp",
    "reduce_mean": "mean",
    "scatter_nd": "scatter_nd",
    "searchsorted": "searchsorted",
    "stack": "stack",
    "strings.bytes_split": "string_characters",
    "strings.format": "string_format",
    "strings.ngrams": "string_ngrams",
    "strings.split": "string_split",
    "strings.unicode_decode": "unicode_decode",
    "strings.unicode_decode_with_offsets": "unicode_decode_with_offsets",
    "strings.unicode_encode": "unicode_encode",
    "strings.unicode_script": "unicode_script",
    "strings.unicode_split": "string_characters",
    "strings.unicode_split_with_offsets": "unicode_split_with_offsets",
    "strings.unicode_transcode": "unicode_transcode",
    "strings.unsorted_segment_join": "unsorted_segment_join",
    "tensor_scatter_nd_add": "scatter_nd_add",
    "tensor_scatter_nd_update": "scatter_nd_update",
    "tile": "tile",
    "transpose": "transpose",
    "unstack": "unstack",
    "where": "where",
}
_NAMES: "dict[str, str]" = dict(_core.op_tf_names()) | _OTHERS


class _Namespace:
    """The names that begin with a prefix."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        return _named(self._prefix + name)

    def __dir__(self) -> "list[str]":
        return _below(self._prefix)


def _below(prefix: str) -> "list[str]":
    """Returns the names behind a prefix, up to the next dot."""
    return sorted({name.removeprefix(prefix).split(".")[0] for name in _NAMES if name.startswith(prefix)})


def _named(name: str) -> Any:
    if name in _NAMES:
        return getattr(extenso, _NAMES[name])
    if any(known.startswith(f"{name}.") for known in _NAMES):
        return _Namespace(f"{name}.")
    raise AttributeError(f"module 'extenso.tf' has no attribute '{name}'; what is called as in NumPy stands in 'extenso'")


def __getattr__(name: str) -> Any:
    return _named(name)


def __dir__() -> "list[str]":
    return _below("")
