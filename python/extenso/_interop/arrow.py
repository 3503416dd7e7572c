"""Arrays of pyarrow, where a library speaks Arrow and a conversion goes through it."""

from typing import Any

from extenso._core import from_arrow, to_arrow
from extenso._interop.peers import peer


def value_of(array: Any) -> Any:
    """Returns the value of an array, chunked array or table of pyarrow, which is joined if it is in several chunks."""
    pa = peer("pyarrow", "from_arrow")
    if isinstance(array, pa.Table):
        array = array.combine_chunks().to_struct_array()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    return from_arrow(array)


def array_of(x: Any, conversion: str) -> Any:
    """Returns the array of pyarrow that shares the memory of a value."""
    return peer("pyarrow", conversion).array(to_arrow(x))
