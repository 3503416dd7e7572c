"""TensorFlow's names: `ex.tf.reduce_sum(x, axis=1)` is `ex.sum(x, axis=1)`, and `ex.tf.strings.lower(x)` is `ex.lower(x)`.

A name leads to the function that does the same, which often has that name itself. Its arguments are that function's own, which
are NumPy's where NumPy has it: `cumsum` runs along the last axis where none is given, `matmul` takes `transpose_y`, and numbers
are i64 and f64 where no dtype is given.

>>> import extenso as ex
>>> ex.to_py(ex.tf.reduce_sum([[1, 2], [3, 4]], axis=1)), ex.to_py(ex.tf.strings.lower(["A"]))
([3, 7], ['a'])
>>> ex.tf.math.cumsum is ex.cumulative_sum, ex.tf.squeeze is ex.squeeze
(True, True)

Names by which the two mean different things are left out, and the error says what to write: `argmax` and `argmin` (without an
axis), `as_string`, `pad`, `slice` (the order of arguments), `unique` and `unique_with_counts` (the order of elements), `segment_sum` and its
kin (partitions, not ids), `fingerprint`, `Variable`, `register_tensor_conversion_function`; of `nn` also `batch_normalization`,
`dropout`, `leaky_relu` and the cross entropies; of `strings` also `bytes_split`, `format`, `length`, `reduce_join`, `substr` and
`unicode_script`.

>>> ex.tf.argmax
Traceback (most recent call last):
    ...
AttributeError: 'extenso.tf' has no 'argmax': without an axis TensorFlow's is along axis 0. Write `ex.argmax(x, axis=0)`.
"""

from typing import Any

import extenso
from extenso import _core

# Names that are the same in both, by what stands before them.
_SAME = {
    "": """
        RaggedTensor RaggedTensorSpec Tensor TensorSpec TypeSpec abs acos acosh add argsort as_dtype asin asinh atan
        atan2 atanh bool boolean_mask broadcast_to cast ceil cond cos cosh divide equal exp eye float32 float64 floor function
        greater greater_equal identity int16 int32 int64 int8 less less_equal linspace logical_and logical_not logical_or matmul
        maximum meshgrid minimum multiply negative norm not_equal ones ones_like pow print rank repeat reshape roll round
        sequence_mask shape sigmoid sign sin sinh size sort split sqrt square squeeze stop_gradient string subtract tan tanh
        tensordot uint16 uint32 uint64 uint8 zeros zeros_like
    """,
    "bitwise.": "bitwise_and bitwise_or bitwise_xor",
    "dtypes.": "as_dtype cast",
    "experimental.": "BatchableExtensionType ExtensionType",
    "linalg.": "einsum eye matrix_transpose norm tensordot",
    "math.": """
        abs acos acosh add asin asinh atan atan2 atanh bincount ceil cos cosh count_nonzero digamma divide divide_no_nan equal
        erf erfc erfinv exp expm1 floor greater greater_equal l2_normalize less less_equal lgamma log log1p log_sigmoid
        log_softmax logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal pow
        reciprocal round rsqrt sigmoid sign sin sinh softmax softplus softsign sqrt square squared_difference subtract tan tanh
        xlog1py xlogy
    """,
    "nn.": "avg_pool1d conv1d elu l2_normalize max_pool1d relu6 selu sigmoid silu softplus softsign tanh top_k",
}

# What ops are called there stands in their declarations; these are functions that are no ops, and second names.
_OTHERS = {
    "batch_gather": "take_per_row",
    "bfloat16": "bf16",
    "bitwise.invert": "bitwise_invert",
    "bitwise.left_shift": "bitwise_left_shift",
    "bitwise.right_shift": "bitwise_right_shift",
    "clip_by_value": "clip",
    "concat": "concat",
    "constant": "tensor",
    "convert_to_tensor": "tensor",
    "double": "f64",
    "einsum": "einsum",
    "expand_dims": "expand_dims",
    "fill": "full",
    "float16": "f16",
    "gather_nd": "gather_nd",
    "half": "f16",
    "io.parse_example": "parse_examples",
    "io.parse_single_example": "parse_examples",
    "linalg.cross": "cross_product",
    "linalg.matmul": "matmul",
    "math.cumprod": "cumulative_prod",
    "math.cumsum": "cumulative_sum",
    "math.floordiv": "floor_divide",
    "math.floormod": "remainder",
    "math.is_finite": "isfinite",
    "math.is_inf": "isinf",
    "math.is_nan": "isnan",
    "math.mod": "remainder",
    "math.reduce_all": "all",
    "math.reduce_any": "any",
    "math.reduce_logsumexp": "logsumexp",
    "math.reduce_max": "max",
    "math.reduce_mean": "mean",
    "math.reduce_min": "min",
    "math.reduce_prod": "prod",
    "math.reduce_std": "std",
    "math.reduce_sum": "sum",
    "math.reduce_variance": "var",
    "math.rint": "round",
    "math.top_k": "top_k",
    "math.truediv": "divide",
    "math.unsorted_segment_max": "unsorted_segment_max",
    "math.unsorted_segment_mean": "unsorted_segment_mean",
    "math.unsorted_segment_min": "unsorted_segment_min",
    "math.unsorted_segment_prod": "unsorted_segment_prod",
    "math.unsorted_segment_sum": "unsorted_segment_sum",
    "nn.embedding_lookup": "take",
    "nn.embedding_lookup_sparse": "embedding_lookup",
    "nn.gelu": "gelu",
    "nn.log_softmax": "log_softmax",
    "nn.relu": "relu",
    "nn.softmax": "softmax",
    "nn.swish": "silu",
    "one_hot": "one_hot",
    "ragged.boolean_mask": "boolean_mask",
    "ragged.constant": "constant",
    "ragged.cross": "cross",
    "ragged.cross_hashed": "cross_hashed",
    "ragged.range": "ranges",
    "ragged.stack": "stack",
    "range": "arange",
    "realdiv": "divide",
    "reduce_logsumexp": "logsumexp",
    "reduce_mean": "mean",
    "reverse": "flip",
    "scatter_nd": "scatter_nd",
    "searchsorted": "searchsorted",
    "stack": "stack",
    "strings.ngrams": "string_ngrams",
    "strings.split": "string_split",
    "strings.unicode_decode": "unicode_decode",
    "strings.unicode_decode_with_offsets": "unicode_decode_with_offsets",
    "strings.unicode_encode": "unicode_encode",
    "strings.unicode_split": "string_characters",
    "strings.unicode_split_with_offsets": "unicode_split_with_offsets",
    "strings.unicode_transcode": "unicode_transcode",
    "strings.unsorted_segment_join": "unsorted_segment_join",
    "tensor_scatter_nd_add": "scatter_nd_add",
    "tensor_scatter_nd_update": "scatter_nd_update",
    "tile": "tile",
    "transpose": "transpose",
    "truediv": "divide",
    "unstack": "unstack",
    "where": "where",
}
_NAMES: "dict[str, str]" = dict(_core.op_tf_names()) | _OTHERS
_NAMES |= {prefix + name: name for prefix, names in _SAME.items() for name in names.split()}

# What one finds by these names does something else: why, and what to write.
_ARG = "without an axis TensorFlow's is along axis 0. Write `ex.{0}(x, axis=0)`"
_SEGMENT = "`ex.{0}` takes a partition. Write `ex.{0}(x, ex.partition_from_rowids(ids))`"
_ENTROPY = "`ex.{0}` has the logits first. Write `ex.{0}(logits, labels)`"
_AS_STRING = "TensorFlow's writes six digits behind the point of a float. `ex.as_string(x)` writes the shortest text that is read as it"
_DIFFERENT = {
    "Variable": "a variable has a name first. Write `ex.Variable(name, initial)`",
    "argmax": _ARG.format("argmax"),
    "argmin": _ARG.format("argmin"),
    "as_string": _AS_STRING,
    "fingerprint": "TensorFlow's gives 8 bytes for each element. `ex.fingerprint` gives the number that they spell",
    "math.argmax": _ARG.format("argmax"),
    "math.argmin": _ARG.format("argmin"),
    "nn.batch_normalization": "`ex.batch_norm(x, average, variance, scale, bias)` has the scale before the bias",
    "nn.dropout": "random numbers come from a key. Write `ex.dropout(x, rate, key)`",
    "nn.leaky_relu": "TensorFlow's slope is 0.2 where none is given. Write `ex.leaky_relu(x, slope=0.2)`",
    "nn.sigmoid_cross_entropy_with_logits": _ENTROPY.format("sigmoid_cross_entropy"),
    "nn.softmax_cross_entropy_with_logits": _ENTROPY.format("softmax_cross_entropy"),
    "nn.sparse_softmax_cross_entropy_with_logits": _ENTROPY.format("sparse_softmax_cross_entropy"),
    "pad": "`ex.pad` has the value before the widths. Write `ex.pad(x, 0, paddings)`",
    "register_tensor_conversion_function": "TensorFlow's calls with a dtype and a name, that of `ex` with the value alone",
    "slice": "TensorFlow's takes a begin and a size for every axis. Write `x[begin:end]`, or `ex.slice(x, axis, start, stop)`",
    "strings.as_string": _AS_STRING,
    "strings.bytes_split": "TensorFlow's gives bytes. Write `ex.string_characters(x)` for characters",
    "strings.format": "TensorFlow's puts whole tensors into one text. Write `ex.string_format(template, x)` for a text of each element",
    "strings.length": "TensorFlow's counts bytes where no unit is given. Write `ex.string_length(x, unit='byte')`",
    "strings.reduce_join": "without an axis TensorFlow's joins all strings. Write `ex.reduce_join(x, axis)`",
    "strings.substr": "TensorFlow's counts bytes where no unit is given. Write `ex.substr(x, start, length)` for characters",
    "strings.unicode_script": "TensorFlow's gives the numbers of scripts. `ex.unicode_script` gives their letters",
    "unique": "`ex.unique_with_inverse` gives the elements in increasing order, TensorFlow's as they come",
    "unique_with_counts": "that of `ex` gives the elements in increasing order, TensorFlow's as they come, with their places",
}
_DIFFERENT |= {f"math.segment_{name}": _SEGMENT.format(f"segment_{name}") for name in ("max", "mean", "min", "prod", "sum")}


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
    if name in _DIFFERENT:
        raise AttributeError(f"'extenso.tf' has no '{name}': {_DIFFERENT[name]}.")
    raise AttributeError(f"module 'extenso.tf' has no attribute '{name}'; what is called as in NumPy stands in 'extenso'")


def __getattr__(name: str) -> Any:
    return _named(name)


def __dir__() -> "list[str]":
    return _below("")
