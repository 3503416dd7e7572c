"""The Python classes of the extension types that are written in Rust. Imported when one of them is first met."""

from collections.abc import Iterator, Sequence
from typing import Any

from extenso._core import (
    ExtensionType,
    RowPartition,
    StructTensor,
    Tensor,
    _Meanings,
    _Rows,
    constant,
    date_part,
    decimal_to_string,
    num,
    row_splits,
    tensor,
    value_rowids,
)
from extenso._records import Records
from extenso._specs import MaskedTensorSpec, RaggedTensorSpec
from extenso._values import Composite


class BatchableExtensionType(Composite, ExtensionType):
    """The base of types whose values are many of a kind: what moves elements moves those of each component.

    Each component has the axes of the value in front, which is an error where they differ; the one with the fewest axes has no others.
    Keys, `take`, `concat`, `where`, `reshape` and whatever else computes nothing need no handler, also where a value stands in rows or
    records. Two values of one type with other static data do not meet.

    >>> import extenso as ex
    >>> class Box(ex.BatchableExtensionType):
    ...     corner: ex.Tensor
    ...     score: ex.Tensor
    >>> boxes = Box([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0.5, 0.1, 0.9])
    >>> len(boxes), boxes[::2]
    (3, Box(corner=Tensor([[0.0, 0.0], [2.0, 2.0]], f64[2, 2]), score=Tensor([0.5, 0.9], f64[2])))
    >>> ex.boolean_mask(boxes, boxes.score > 0.3).score.tolist()
    [0.5, 0.9]
    """

    __extenso_rust__ = "extenso/Batchable"


class MaskedTensor(Records, Composite, ExtensionType):
    """Values of which some are missing: `mask` is true where a value is present. Masked records have the methods of records."""

    __extenso_rust__ = "extenso/MaskedTensor"
    __extenso_paths__ = {"values": "", "mask": "@mask"}
    Spec = MaskedTensorSpec

    values: Tensor | ExtensionType | StructTensor
    mask: Tensor

    def to_tensor(self, default_value: object = None, shape: "Sequence[int | None] | None" = None) -> "MaskedTensor":
        """Returns rows as a dense masked tensor; what is missing stays missing. The arguments are those of `RaggedTensor.to_tensor`.

        >>> import extenso as ex
        >>> ex.constant([[1, 2], None, [3]]).to_tensor().to_py()
        [[1, 2], None, [3, 0]]
        """
        dense: MaskedTensor = _Rows.to_tensor(self, default_value, shape)
        return dense

    def to_numpy(self) -> "Any":
        """Returns a masked array of NumPy: its mask is true where a value is missing.

        Below a missing record, each of its fields is masked.
        """
        from extenso._interop.numpy import to_numpy

        return to_numpy(self)


class RaggedTensor(Records, Composite, ExtensionType):
    """Rows of different lengths: `partition` says how `values` are cut into rows. Rows of records have the methods of records.

    >>> import extenso as ex
    >>> rows = ex.RaggedTensor.from_row_lengths(["a", "b", "c"], [2, 0, 1])
    >>> rows.to_py()
    [['a', 'b'], [], ['c']]
    >>> rows[:, ::-1].to_py()
    [['b', 'a'], [], ['c']]
    """

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
        ragged: RaggedTensor = _Rows.from_row_splits(values, row_splits)
        return ragged

    @staticmethod
    def from_row_lengths(values: object, row_lengths: object) -> "RaggedTensor":
        """Cuts `values` into rows of these lengths, which add up to the number of values."""
        ragged: RaggedTensor = _Rows.from_row_lengths(values, row_lengths)
        return ragged

    @staticmethod
    def from_value_rowids(values: object, value_rowids: object, nrows: int | None = None) -> "RaggedTensor":
        """Makes the rows that say for each value which row it is in; ids start at 0 and never decrease.

        Without `nrows`, the last id is that of the last row.
        """
        ragged: RaggedTensor = _Rows.from_value_rowids(values, value_rowids, nrows)
        return ragged

    @staticmethod
    def from_row_starts(values: object, row_starts: object) -> "RaggedTensor":
        """Makes the rows that begin at these places; the first at 0, and the last ends with the values."""
        ragged: RaggedTensor = _Rows.from_row_starts(values, row_starts)
        return ragged

    @staticmethod
    def from_row_limits(values: object, row_limits: object) -> "RaggedTensor":
        """Makes the rows that end before these places; the last with the values."""
        ragged: RaggedTensor = _Rows.from_row_limits(values, row_limits)
        return ragged

    @staticmethod
    def from_uniform_row_length(values: object, uniform_row_length: int, nrows: int | None = None) -> "RaggedTensor":
        """Cuts `values` into rows of one length; `nrows` says how many there are of length 0."""
        ragged: RaggedTensor = _Rows.from_uniform_row_length(values, uniform_row_length, nrows)
        return ragged

    @staticmethod
    def from_nested_row_splits(flat_values: object, nested_row_splits: Sequence[object]) -> "RaggedTensor":
        """Makes rows of rows by the splits of each ragged axis, the outermost first."""
        ragged: RaggedTensor = _Rows.from_nested_row_splits(flat_values, nested_row_splits)
        return ragged

    @staticmethod
    def from_nested_row_lengths(flat_values: object, nested_row_lengths: Sequence[object]) -> "RaggedTensor":
        """Makes rows of rows by the lengths along each ragged axis, the outermost first."""
        ragged: RaggedTensor = _Rows.from_nested_row_lengths(flat_values, nested_row_lengths)
        return ragged

    @staticmethod
    def from_tensor(
        tensor: object, lengths: object = None, padding: object = None, ragged_rank: int | None = None
    ) -> "RaggedTensor":
        """Makes rows of a dense tensor, `ragged_rank` of whose axes behind the first become ragged: one if nothing is said.

        With `lengths`, row i is the first `lengths[i]` elements; a list of vectors has those of several axes. With `padding`,
        rows lose the elements at their ends that equal it.
        """
        ragged: RaggedTensor = _Rows.from_tensor(tensor, lengths, padding, ragged_rank)
        return ragged

    def to_numpy(self) -> "Any":
        """Returns a NumPy array of objects: for each row an array, which shares the memory of the values."""
        from extenso._interop.numpy import to_numpy

        return to_numpy(self)

    @property
    def flat_values(self) -> "Tensor | ExtensionType | StructTensor":
        """The values below every ragged axis that are in rows."""
        values: Tensor | ExtensionType | StructTensor = _Rows.flat_values(self)
        return values

    @property
    def row_splits(self) -> Tensor:
        """Where the rows begin and end among the values that are in rows: one more than rows, from 0."""
        splits: Tensor = row_splits(self)
        return splits

    @property
    def nested_row_splits(self) -> "tuple[Tensor, ...]":
        """The row splits of each ragged axis, the outermost first."""
        splits: tuple[Tensor, ...] = _Rows.nested_row_splits(self)
        return splits

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return _Rows.ragged_rank(self)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return _Rows.rank(self)

    def row_lengths(self, axis: int = 1) -> Any:
        """Returns the number of elements of each list along `axis`, which is not 0."""
        return num(self, axis)

    def value_rowids(self) -> Tensor:
        """Returns for each value the row that it is in."""
        ids: Tensor = value_rowids(self)
        return ids

    def nrows(self) -> Tensor:
        """Returns the number of rows, as a tensor: it may not be known while tracing."""
        count: Tensor = num(self, 0)
        return count

    def bounding_shape(self) -> Tensor:
        """Returns the sizes of the smallest dense tensor that holds the rows."""
        sizes: Tensor = _Rows.bounding_shape(self)
        return sizes

    def to_tensor(self, default_value: object = None, shape: "Sequence[int | None] | None" = None) -> Tensor:
        """Returns the rows as a dense tensor, filled up with `default_value`: zero, false or an empty string without it.

        `shape` pads and crops further; `None` stands for a size that stays.
        """
        dense: Tensor = _Rows.to_tensor(self, default_value, shape)
        return dense

    def __len__(self) -> int:
        """Returns the number of rows; not while tracing."""
        return int(self.nrows())

    def __iter__(self) -> "Iterator[Any]":
        """Yields the rows; not while tracing."""
        return (self[i] for i in range(len(self)))

MaskedTensorSpec.value_type = MaskedTensor
RaggedTensorSpec.value_type = RaggedTensor


def _counted(values: object, dtype: str) -> object:
    return values if isinstance(values, Tensor) else tensor(values, dtype)


class _Dated(Composite):
    """The parts of dates and timestamps."""

    __slots__ = ()

    @property
    def year(self) -> "Any":
        """The year."""
        return date_part(self, "year")

    @property
    def month(self) -> "Any":
        """The month, from 1."""
        return date_part(self, "month")

    @property
    def day(self) -> "Any":
        """The day of the month, from 1."""
        return date_part(self, "day")

    @property
    def weekday(self) -> "Any":
        """The day of the week; Monday is 0."""
        return date_part(self, "weekday")


class _Timed(Composite):
    """The parts of times and timestamps."""

    __slots__ = ()

    @property
    def hour(self) -> "Any":
        """The hour of the day."""
        return date_part(self, "hour")

    @property
    def minute(self) -> "Any":
        """The minute of the hour."""
        return date_part(self, "minute")

    @property
    def second(self) -> "Any":
        """The second of the minute."""
        return date_part(self, "second")

    @property
    def nanosecond(self) -> "Any":
        """The nanosecond of the second."""
        return date_part(self, "nanosecond")


class TimestampTensor(_Dated, _Timed, ExtensionType):
    """Points in time: so many units since 1970-01-01T00:00:00, in UTC where there is a zone.

    >>> import extenso as ex
    >>> x = ex.TimestampTensor([0, 951782400], "s", "UTC")
    >>> x.to_py(), x.year.tolist()
    (['1970-01-01T00:00:00Z', '2000-02-29T00:00:00Z'], [1970, 2000])
    >>> (x - x[::-1]).to_py()
    ['-951782400s', '951782400s']
    """

    __extenso_rust__ = "extenso/TimestampTensor"
    __extenso_paths__ = {"values": "", "unit": "unit", "zone": "zone"}

    values: Tensor
    unit: str = "us"
    zone: str | None = None

    def __init__(self, values: object, unit: str = "us", zone: str | None = None) -> None:
        """Takes tensors as they are, and other numbers as i64."""
        super().__init__(_counted(values, "i64"), unit, zone)


class DateTensor(_Dated, ExtensionType):
    """Days of the calendar: so many days (`d`, i32) or milliseconds (`ms`, i64) since 1970-01-01."""

    __extenso_rust__ = "extenso/DateTensor"
    __extenso_paths__ = {"values": "", "unit": "unit"}

    values: Tensor
    unit: str = "d"

    def __init__(self, values: object, unit: str = "d") -> None:
        """Takes tensors as they are, and other numbers in the width of the unit."""
        super().__init__(_counted(values, "i32" if unit == "d" else "i64"), unit)


class TimeTensor(_Timed, ExtensionType):
    """Times of a day: so many units since midnight; `s` and `ms` are i32, `us` and `ns` i64."""

    __extenso_rust__ = "extenso/TimeTensor"
    __extenso_paths__ = {"values": "", "unit": "unit"}

    values: Tensor
    unit: str = "us"

    def __init__(self, values: object, unit: str = "us") -> None:
        """Takes tensors as they are, and other numbers in the width of the unit."""
        super().__init__(_counted(values, "i32" if unit in ("s", "ms") else "i64"), unit)


class DurationTensor(Composite, ExtensionType):
    """Lengths of time: so many units."""

    __extenso_rust__ = "extenso/DurationTensor"
    __extenso_paths__ = {"values": "", "unit": "unit"}

    values: Tensor
    unit: str = "us"

    def __init__(self, values: object, unit: str = "us") -> None:
        """Takes tensors as they are, and other numbers as i64."""
        super().__init__(_counted(values, "i64"), unit)


class IntervalTensor(Composite, ExtensionType):
    """Calendar intervals, each some bytes: `month` (4), `day_time` (8) or `month_day_nano` (16)."""

    __extenso_rust__ = "extenso/IntervalTensor"
    __extenso_paths__ = {"cells": "@cells", "unit": "unit"}

    cells: Tensor
    unit: str

    def part(self, name: str) -> Tensor:
        """Returns one part of each: `months`, `days`, `milliseconds` or `nanoseconds`, as far as the unit has it."""
        part: Tensor = _Meanings.interval_part(self, name)
        return part


class DecimalTensor(Composite, ExtensionType):
    """Decimals: integers of 128 or 256 `bits`, `scale` of whose at most `precision` digits stand behind the point.

    >>> import extenso as ex
    >>> x = ex.DecimalTensor.parse(["1.10", "-0.05"], 10, 2)
    >>> (x + x).to_py(), ex.cast(x, "f64").tolist(), (x < x).tolist()
    (['2.20', '-0.10'], [1.1, -0.05], [False, False])
    """

    __extenso_rust__ = "extenso/DecimalTensor"
    __extenso_paths__ = {"cells": "@cells", "precision": "precision", "scale": "scale", "bits": "bits"}

    cells: Tensor
    precision: int
    scale: int
    bits: int = 128

    @staticmethod
    def parse(texts: Sequence[str], precision: int, scale: int) -> "DecimalTensor":
        """Reads decimal numbers, exactly; text that is none, or has more digits, is an error."""
        decimals: DecimalTensor = _Meanings.decimals(texts, precision, scale)
        return decimals

    def to_strings(self) -> "Any":
        """Returns the decimals as strings."""
        return decimal_to_string(self)


class CategoricalTensor(Composite, ExtensionType):
    """Values by their places in a vocabulary; ops see the values.

    >>> import extenso as ex
    >>> x = ex.CategoricalTensor([1, 0, 1], ["a", "b"])
    >>> x.to_py(), (x == "b").tolist(), ex.upper(x).tolist()
    (['b', 'a', 'b'], [True, False, True], ['B', 'A', 'B'])
    """

    __extenso_rust__ = "extenso/CategoricalTensor"
    __extenso_paths__ = {"codes": "", "categories": "@categories", "ordered": "ordered"}

    codes: Tensor
    categories: Tensor | ExtensionType | StructTensor
    ordered: bool = False

    @staticmethod
    def of(values: object) -> "Any":
        """Returns values by their distinct ones, in the order of how often they come; in rows and with what is missing, as they are.

        >>> import extenso as ex
        >>> ex.CategoricalTensor.of(["b", None, "a", "b"]).to_py()
        ['b', None, 'a', 'b']
        """
        return _Meanings.categorical(constant(values) if isinstance(values, (list, tuple)) else values)

    def decoded(self) -> "Any":
        """Returns the values that the codes mean."""
        return _Meanings.decoded(self)


class FixedBytesTensor(Composite, ExtensionType):
    """Byte strings of one width: the last axis of `cells`; `kind` may say that they are a `uuid`."""

    __extenso_rust__ = "extenso/FixedBytesTensor"
    __extenso_paths__ = {"cells": "@cells", "kind": "kind"}

    cells: Tensor
    kind: str | None = None


class Bool8Tensor(Composite, ExtensionType):
    """Booleans of eight bits each; ops see booleans."""

    __extenso_rust__ = "extenso/Bool8Tensor"
    __extenso_paths__ = {"values": ""}

    values: Tensor


class JsonTensor(Composite, ExtensionType):
    """Texts that are JSON; ops see strings."""

    __extenso_rust__ = "extenso/JsonTensor"
    __extenso_paths__ = {"text": ""}

    text: Tensor
