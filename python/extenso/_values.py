"""What rows and masked values have alike in Python: keys, shape, dtype, spec and plain Python data."""

from extenso._core import DType, _dtype_of, _index, _shape_of, _shown, _size, _to_arrow, spec_of, to_arrow, to_py

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Composite:
    """The members of the classes of shipped types that are one value made of several tensors."""

    __slots__ = ()

    @property
    def spec(self) -> "Any":
        """The spec."""
        return spec_of(self)

    @property
    def shape(self) -> "tuple[int | None, ...]":
        """The sizes of the axes; `None` for a ragged axis, and where a symbol's is not known, as for a `Tensor`."""
        dims = _shape_of(self).dims
        if dims is None:
            raise ValueError("The rank is not known while the function is traced. Give an input spec with a rank.")
        # The outer axis is not ragged: it has a size, which only a trace for several sizes does not know.
        return (_size(dims[0]), *dims[1:]) if dims else dims

    @property
    def ndim(self) -> int:
        """The number of axes, ragged ones included."""
        return len(self.shape)

    @property
    def dtype(self) -> "DType | None":
        """The dtype of the elements; `None` where they are records."""
        return _dtype_of(self)

    def to_py(self) -> "Any":
        """Returns the elements in nested lists; a missing one is `None`."""
        return to_py(self)

    def tolist(self) -> "Any":
        """Returns the elements in nested lists, as `to_py` does."""
        return to_py(self)

    def item(self) -> "Any":
        """Returns the only element; `None` if it is missing."""
        if self.ndim > 0:
            raise ValueError("Many elements are not one item. Use `to_py` for all of them.")
        return to_py(self)

    def __float__(self) -> float:
        """The only element as a float; what is missing has none."""
        return float(self._number())

    def __int__(self) -> int:
        """The only element as an int; what is missing has none."""
        return int(self._number())

    def _number(self) -> "Any":
        one = self.item()
        if one is None:
            raise ValueError("A missing element is no number. Use `fill_none` before.")
        return one

    def __array__(self, dtype: "Any" = None, copy: "bool | None" = None) -> "Any":
        """Returns the array of NumPy that says the same: floats that are missing are NaN, and rows of one length an axis.

        Other missing elements are `None` among objects. Rows of several lengths are an error, where `to_numpy` gives an array of arrays.
        """
        from extenso._interop.numpy import array_of

        return array_of(self, dtype, copy)

    def to_arrow(self) -> "Any":
        """Returns the array of Arrow that shares the buffers: one of pyarrow if that is installed."""
        return _to_arrow(self)

    def __arrow_c_array__(self, requested_schema: "Any" = None) -> "tuple[Any, Any]":
        """Returns the C interface of Arrow: a schema and an array in capsules."""
        return to_arrow(self).__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: "Any" = None) -> "Any":
        """Returns the C interface of Arrow: a stream of one array in a capsule."""
        return to_arrow(self).__arrow_c_stream__(requested_schema)

    def __getitem__(self, key: "Any") -> "Any":
        """Returns what a key chooses: positions, slices, `...`, `None`, integers, masks, and names of fields among them.

        A slice along a ragged axis slices each row for itself. A single position there is an error, since no position is in
        every row; integers with the rows of the value choose positions of each row.
        """
        return _index(self, key)

    def __bool__(self) -> bool:
        """The truth of one boolean or number that is there; refuses to answer for many elements."""
        if self.ndim > 0:
            raise ValueError("Many elements have no truth value. Use `any` or `all`, or `is_none` for missing ones.")
        one = to_py(self)
        if one is None:
            raise ValueError("A missing element has no truth value. Use `fill_none` before.")
        if not isinstance(one, bool | int | float):
            raise ValueError(f"An element of type {type(one).__name__} has no truth value. Compare it with another.")
        return bool(one)

    def __len__(self) -> int:
        """Returns the size of the outer axis."""
        if self.ndim == 0:
            raise TypeError("One element has no length.")
        dims = _shape_of(self).dims
        if not dims or dims[0] is None:
            raise ValueError("The size is not known while the function is traced. Give an input spec with it.")
        size: int = dims[0]
        return size

    def __iter__(self) -> "Iterator[Any]":
        """Yields the elements along the outer axis."""
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        """Shows the elements, the first of very many; a symbol and a class with more fields show their fields."""
        shown = _shown(self) if "__extenso_rust__" in type(self).__dict__ else None
        return super().__repr__() if shown is None else f"{type(self).__name__}({shown})"

    def __copy__(self) -> "Any":
        # Values are immutable, so that a copy is the value.
        return self

    def __deepcopy__(self, memo: object) -> "Any":
        return self
