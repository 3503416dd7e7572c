"""Typed, nested, ragged tensors: one function from records to features to predictions."""

from extenso import paths as paths
from extenso import strings as strings
from extenso import _conversions, _functions
from extenso._core import *

_conversions.attach()
_functions.attach()

TYPE_CHECKING = False
if TYPE_CHECKING:
    from extenso import dispatch as dispatch
    from extenso import nest as nest
    from extenso import random as random
    from extenso import tf as tf
    from extenso import types as types
    from extenso._interop.awkward import from_awkward as from_awkward
    from extenso._interop.numpy import from_numpy as from_numpy
    from extenso._interop.pandas import from_pandas as from_pandas
    from extenso._interop.polars import from_polars as from_polars
    from extenso._specs import MaskedTensorSpec as MaskedTensorSpec
    from extenso._specs import RaggedTensorSpec as RaggedTensorSpec
    from extenso._types import BatchableExtensionType as BatchableExtensionType
    from extenso._types import Bool8Tensor as Bool8Tensor
    from extenso._types import CategoricalTensor as CategoricalTensor
    from extenso._types import DateTensor as DateTensor
    from extenso._types import DecimalTensor as DecimalTensor
    from extenso._types import DurationTensor as DurationTensor
    from extenso._types import FixedBytesTensor as FixedBytesTensor
    from extenso._types import IntervalTensor as IntervalTensor
    from extenso._types import JsonTensor as JsonTensor
    from extenso._types import MaskedTensor as MaskedTensor
    from extenso._types import RaggedTensor as RaggedTensor
    from extenso._types import TimeTensor as TimeTensor
    from extenso._types import TimestampTensor as TimestampTensor

_TYPES = (
    "BatchableExtensionType",
    "MaskedTensor",
    "MaskedTensorSpec",
    "RaggedTensor",
    "RaggedTensorSpec",
    "Bool8Tensor",
    "CategoricalTensor",
    "DateTensor",
    "DecimalTensor",
    "DurationTensor",
    "FixedBytesTensor",
    "IntervalTensor",
    "JsonTensor",
    "TimeTensor",
    "TimestampTensor",
)


def __getattr__(name: str) -> object:
    """Makes what is not needed by everyone when it is first asked for: classes, namespaces, what is made of other libraries."""
    if name in _TYPES:
        from extenso import _types

        cls: object = getattr(_types, name)
        globals()[name] = cls
        return cls
    if name in ("from_awkward", "from_numpy", "from_pandas", "from_polars"):
        library = name.removeprefix("from_")
        function: object = getattr(__import__(f"extenso._interop.{library}", fromlist=[name]), name)
        globals()[name] = function
        return function
    if name in ("dispatch", "nest", "random", "tf", "types"):
        # The import puts the module here, so that this is asked once.
        return __import__(f"extenso.{name}", fromlist=[name])
    raise AttributeError(f"module 'extenso' has no attribute '{name}'")
