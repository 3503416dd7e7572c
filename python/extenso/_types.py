"""The Python classes of the extension types that are written in Rust. Imported when one of them is first met."""

from extenso._core import ExtensionType, RowPartition, StructTensor, Tensor, _ragged_from_row_splits
from extenso._specs import MaskedTensorSpec, RaggedTensorSpec
from extenso._values import Composite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class MaskedTensor(Composite, ExtensionType):
    """Values of which some are missing: `mask` is true where a value is present."""

    __extenso_rust__ = "extenso/MaskedTensor"
    __extenso_paths__ = {"values": "", "mask": "@mask"}
    Spec = MaskedTensorSpec

    values: Tensor | ExtensionType | StructTensor
    mask: Tensor

    def to_numpy(self) -> "Any":
        """Returns a masked array of NumPy: its mask is true where a value is missing.

        Values that are no tensor have no array: take their fields or rows first.
        """
        import numpy as np

        values, mask = np.asarray(self.values), np.asarray(self.mask)
        missing = ~mask.reshape(mask.shape + (1,) * (values.ndim - mask.ndim))
        return np.ma.MaskedArray(values, np.broadcast_to(missing, values.shape))


class RaggedTensor(Composite, ExtensionType):
    """Rows of different lengths: `partition` says how `values` are cut into rows."""

    __extenso_rust__ = "extenso/RaggedTensor"
    __extenso_paths__ = {"values": "[*]", "partition": "@row_splits"}
    Spec = RaggedTensorSpec

    values: Tensor | ExtensionType | StructTensor
    partition: RowPartition

    @staticmethod
    def from_row_splits(values: object, row_splits: object) -> "RaggedTensor":
        """Cuts `values` into rows: row i is `values[row_splits[i]:row_splits[i + 1]]`.

        Splits are i32 or i64, one more than rows, begin at 0 and never decrease; otherwise an error says where.
        """
        ragged: RaggedTensor = _ragged_from_row_splits(values, row_splits)
        return ragged


MaskedTensorSpec.value_type = MaskedTensor
RaggedTensorSpec.value_type = RaggedTensor
