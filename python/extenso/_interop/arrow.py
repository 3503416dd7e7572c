"""Arrays of pyarrow, where a conversion goes through them."""

from typing import Any

from extenso._core import to_arrow
from extenso._interop.peers import peer


def array_of(x: Any, conversion: str) -> Any:
    """Returns the array of pyarrow that shares the memory of a value."""
    return peer("pyarrow", conversion).array(to_arrow(x))
