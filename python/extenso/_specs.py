"""The spec classes of the types that are written in Rust, by what a user says of them. Imported with the types."""

from extenso._core import (
    DType,
    ExtensionTypeSpec,
    Shape,
    TensorSpec,
    TypeSpec,
    _dtype_of,
    _masked_spec,
    _ragged_spec,
    _shape_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ClassVar


class RaggedTensorSpec(ExtensionTypeSpec):
    """The spec of rows: `RaggedTensorSpec([2, None, 3], "f32", 1)` has two rows of vectors of size 3.

    Partitions cut axes 1 to `ragged_rank`: into rows of any lengths where the size is `None`, otherwise into rows of one length. Without
    `ragged_rank` these are all axes behind the first that `flat_values_spec` does not have.
    `flat_values_spec` is the spec of all values in one vector, such as records, and stands in the place of a dtype.
    """

    value_type: "ClassVar[type]"

    def __init__(
        self,
        shape: "Shape | Sequence[int | None] | None" = None,
        dtype: "DType | str | None" = None,
        ragged_rank: "int | None" = None,
        row_splits_dtype: "DType | str" = "i64",
        *,
        flat_values_spec: "TypeSpec | None" = None,
    ) -> None:
        if (dtype is None) == (flat_values_spec is None):
            raise TypeError("RaggedTensorSpec: found a dtype and a flat_values_spec, or neither. Wanted: one of the two.")
        known = Shape(shape) if shape is not None and not isinstance(shape, Shape) else shape
        if ragged_rank is None:
            rank = known.rank if known is not None else None
            inner = 1 if flat_values_spec is None else _shape_of(flat_values_spec).rank
            ragged_rank = 1 if rank is None or inner is None else rank - inner
        flat = dtype if flat_values_spec is None else flat_values_spec
        values, partition = _ragged_spec(known, flat, ragged_rank, row_splits_dtype)
        super().__init__(values, partition)

    @property
    def shape(self) -> Shape:
        """The shape; the sizes of ragged axes are not known."""
        return _shape_of(self)

    @property
    def dtype(self) -> "DType | None":
        """The dtype of the elements; `None` for rows of records."""
        return _dtype_of(self)

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        inner: TypeSpec = self.values
        return 1 + (inner.ragged_rank if isinstance(inner, RaggedTensorSpec) else 0)

    @property
    def row_splits_dtype(self) -> DType:
        """The width of the row splits of the outer rows."""
        dtype: DType = self.partition.dtype
        return dtype

    @property
    def flat_values_spec(self) -> TypeSpec:
        """The spec of all values in one vector."""
        inner: TypeSpec = self.values
        return inner.flat_values_spec if isinstance(inner, RaggedTensorSpec) else inner

    def __repr__(self) -> str:
        """Shows the call that makes the spec, or its components where no call does, as with a known number of values."""
        flat, rank = self.flat_values_spec, self.ragged_rank
        if isinstance(flat, TensorSpec):
            usual = self.shape.rank is not None and rank == self.shape.rank - 1
            same = _makes(self, lambda: RaggedTensorSpec(self.shape, flat.dtype, rank))
            text = f"{_sizes(self.shape)}, '{flat.dtype.name}'" + ("" if usual else f", {rank}")
        else:
            same = _makes(self, lambda: RaggedTensorSpec(self.shape, flat_values_spec=flat, ragged_rank=rank))
            usual = _makes(self, lambda: RaggedTensorSpec(self.shape, flat_values_spec=flat))
            text = f"{_sizes(self.shape)}, flat_values_spec={flat!r}" + ("" if usual else f", ragged_rank={rank}")
        return f"RaggedTensorSpec({text})" if same else super().__repr__()

    @classmethod
    def deserialize(cls, data: "tuple[TypeSpec, TypeSpec]") -> "RaggedTensorSpec":
        """Returns the spec of what `serialize` gave."""
        return _of_fields(cls, data)

    def __reduce__(self) -> "tuple[Callable[..., Any], tuple[Any, ...]]":
        # The parts by themselves would not say which of their sizes are one.
        again = (self.shape, self.flat_values_spec, self.ragged_rank, self.row_splits_dtype)
        return (_of_shape, again) if _makes(self, lambda: _of_shape(*again)) else super().__reduce__()


class MaskedTensorSpec(ExtensionTypeSpec):
    """The spec of masked values: `MaskedTensorSpec(TensorSpec([None], "i64"))`.

    Without `mask`, each element has its own bit, and of rows or records each outer one.
    """

    value_type: "ClassVar[type]"

    def __init__(self, values: TypeSpec, mask: "TypeSpec | None" = None) -> None:
        if mask is None:
            values, mask = _masked_spec(values)
        super().__init__(values, mask)

    @property
    def shape(self) -> Shape:
        """The shape of the values."""
        return _shape_of(self)

    @property
    def dtype(self) -> "DType | None":
        """The dtype of the values; `None` for records."""
        return _dtype_of(self)

    def __repr__(self) -> str:
        """Shows the call that makes the spec, with the mask where it is not the usual one."""
        usual = _makes(self, lambda: MaskedTensorSpec(self.values))
        return f"MaskedTensorSpec({self.values!r})" if usual else super().__repr__()

    def __reduce__(self) -> "tuple[Callable[..., Any], tuple[Any, ...]]":
        usual = _makes(self, lambda: MaskedTensorSpec(self.values))
        return (MaskedTensorSpec, (self.values,)) if usual else super().__reduce__()


def _makes(spec: TypeSpec, made: "Callable[[], TypeSpec]") -> bool:
    """Whether a call makes this spec; there may be none that does."""
    try:
        return made() == spec
    except (ValueError, TypeError):
        return False


def _sizes(shape: Shape) -> str:
    return str(None if shape.dims is None else list(shape.dims))


def _of_shape(shape: Shape, flat: TypeSpec, ragged_rank: int, row_splits_dtype: DType) -> RaggedTensorSpec:
    if isinstance(flat, TensorSpec):
        return RaggedTensorSpec(shape, flat.dtype, ragged_rank, row_splits_dtype)
    return RaggedTensorSpec(shape, None, ragged_rank, row_splits_dtype, flat_values_spec=flat)


def _of_fields(cls: "type[RaggedTensorSpec]", fields: "tuple[TypeSpec, TypeSpec]") -> "RaggedTensorSpec":
    spec = cls.__new__(cls)
    ExtensionTypeSpec.__init__(spec, *fields)
    return spec
