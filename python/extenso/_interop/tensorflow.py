"""Values as TensorFlow's tensors, ragged tensors, sparse tensors and structured tensors."""

import re
from typing import Any

from extenso._core import InvalidValueError, StructTensor, Tensor, cast
from extenso._interop.peers import parts_of, peer
from extenso._types import RaggedTensor

# The names that fields of a StructuredTensor have.
_NAME = re.compile("[a-zA-Z][a-zA-Z0-9_]*")


def to_tensorflow(x: Any, layout: "str | None" = None) -> Any:
    """Returns what a value is to TensorFlow: see `Tensor.to_tensorflow`."""
    tf = peer("tensorflow", "to_tensorflow")
    if layout not in (None, "sparse"):
        raise InvalidValueError(f"to_tensorflow: found the layout {layout!r}.\nWanted: 'sparse', or None.")
    return _Peer(tf, layout == "sparse").converted(x)


class _Peer:
    def __init__(self, tf: Any, sparse: bool) -> None:
        self.tf = tf
        self.sparse = sparse

    def converted(self, x: Any) -> Any:
        structured = getattr(self.tf.experimental, "StructuredTensor", None)
        if structured is not None and not self.sparse:
            if isinstance(x, StructTensor) and (fields := self._fields(x)) is not None:
                return structured.from_fields(fields, shape=list(x.shape))
            if isinstance(x, RaggedTensor) and isinstance(x.flat_values, StructTensor):
                if (fields := self._fields(x)) is not None:
                    return structured.from_fields(fields, shape=[len(x), *[None] * x.ragged_rank])
        return parts_of(x, "to_tensorflow", self._dense, self._rows)

    def _fields(self, x: Any) -> "dict[str, Any] | None":
        """The fields as TensorFlow has them, if all of them can stand in a StructuredTensor."""
        records = x if isinstance(x, StructTensor) else x.flat_values
        names = records.field_names()
        fields = {name: self.converted(x[name]) for name in names}
        named = all(map(_NAME.fullmatch, names)) and (names or isinstance(x, StructTensor))
        return fields if named and not any(isinstance(field, dict) for field in fields.values()) else None

    def _dense(self, tensor: Tensor) -> Any:
        if tensor.dtype.name == "bf16":
            made = self.tf.cast(self.tf.convert_to_tensor(cast(tensor, "f32").to_numpy()), self.tf.bfloat16)
        else:
            made = self.tf.convert_to_tensor(tensor.to_numpy(), self._dtype(tensor))
        return self._sparse(made) if self.sparse and tensor.shape else made

    def _sparse(self, dense: Any) -> Any:
        if not dense.dtype.is_floating:
            return self.tf.sparse.from_dense(dense)
        # TensorFlow itself drops -0.0, which has bits that are no zero.
        bits = self.tf.bitcast(dense, {2: self.tf.int16, 4: self.tf.int32, 8: self.tf.int64}[dense.dtype.size])
        there = self.tf.where(bits != 0)
        return self.tf.SparseTensor(there, self.tf.gather_nd(dense, there), self.tf.shape(dense, self.tf.int64))

    def _dtype(self, tensor: Tensor) -> Any:
        # An array of objects without elements does not say that they would be text.
        return self.tf.string if tensor.dtype.name in ("string", "bytes") else None

    def _rows(self, ragged: RaggedTensor) -> Any:
        plain = _Peer(self.tf, False)
        flat: Any = ragged.flat_values
        splits = [plain._dense(cast(splits, "i64")) for splits in ragged.nested_row_splits]
        made = self.tf.RaggedTensor.from_nested_row_splits(plain._dense(flat), splits, validate=False)
        return made.to_sparse() if self.sparse else made
