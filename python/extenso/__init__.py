"""Typed, nested, ragged tensors: one function from records to features to predictions."""

from extenso import strings as strings
from extenso._core import *

TYPE_CHECKING = False
if TYPE_CHECKING:
    from extenso._types import MaskedTensor as MaskedTensor
    from extenso._types import RaggedTensor as RaggedTensor


def __getattr__(name: str) -> object:
    """Makes the classes of the types that are written in Rust when one is first asked for."""
    if name in ("MaskedTensor", "RaggedTensor"):
        from extenso import _types

        cls: object = getattr(_types, name)
        globals()[name] = cls
        return cls
    raise AttributeError(f"module 'extenso' has no attribute '{name}'")
