"""Typed, nested, ragged tensors: one function from records to features to predictions."""

from extenso import paths as paths
from extenso import strings as strings
from extenso._core import *

TYPE_CHECKING = False
if TYPE_CHECKING:
    from extenso import dispatch as dispatch
    from extenso import nest as nest
    from extenso import random as random
    from extenso import types as types
    from extenso._specs import MaskedTensorSpec as MaskedTensorSpec
    from extenso._specs import RaggedTensorSpec as RaggedTensorSpec
    from extenso._types import MaskedTensor as MaskedTensor
    from extenso._types import RaggedTensor as RaggedTensor

_TYPES = ("MaskedTensor", "MaskedTensorSpec", "RaggedTensor", "RaggedTensorSpec")


def __getattr__(name: str) -> object:
    """Makes the classes of the types that are written in Rust, and the namespaces, when one is first asked for."""
    if name in _TYPES:
        from extenso import _types

        cls: object = getattr(_types, name)
        globals()[name] = cls
        return cls
    if name in ("dispatch", "nest", "random", "types"):
        # The import puts the module here, so that this is asked once.
        return __import__(f"extenso.{name}", fromlist=[name])
    raise AttributeError(f"module 'extenso' has no attribute '{name}'")
