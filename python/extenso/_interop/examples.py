"""TensorFlow's feature descriptions: the spec that examples are read by, and the features of what was read.

A description is known by the names of its classes and their module; TensorFlow is not imported.
Invariant: features are made by ops alone, so that they trace. Decodes no message.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from operator import index
from typing import Any, NamedTuple, TypeVar, final

from extenso._core import (
    BadRows,
    DTypeError,
    Error,
    InvalidValueError,
    StructTensor,
    StructTensorSpec,
    TensorSpec,
    TypeSpec,
    cast,
    concat,
    cumulative_sum,
    diff,
    expand_dims,
    fill_none,
    flatten,
    floor_divide,
    last,
    lexsort,
    logical_or,
    minimum,
    num,
    ranges,
    read_examples,
    reshape,
    stack,
    sum,
    take,
    take_along_axis,
    tensor,
    zeros_like,
    zip,
)
from extenso._interop.peers import refused
from extenso._specs import MaskedTensorSpec, RaggedTensorSpec
from extenso._types import MaskedTensor, RaggedTensor

_Part = TypeVar("_Part")


def described(spec: object) -> "Description | None":
    """Returns what a dict of TensorFlow's features describes, or a pair of dicts; `None` of anything else.

    A pair is of sequence examples: the features of the context, and those of each step; one of them may be `None`.
    Errors: a feature that stands in the wrong place, or beside what is none; a dtype that examples do not have; a shape
    with unknown sizes; a default value that does not fit; one stored feature that would be read in two ways.
    """
    if isinstance(spec, Mapping):
        return Description({"": _features(spec, _PLAIN)}) if _has_features(spec) else None
    if not isinstance(spec, tuple | list) or len(spec) != 2 or not any(map(_has_features, spec)):
        return None
    context, lists = (_features(given, place) for given, place in ((spec[0], _CONTEXT), (spec[1], _LISTS)))
    return Description({part: held for part, held in (("context", context), ("feature_lists", lists)) if held})


def read(
    reader: "Callable[..., Any]",
    source: object,
    description: "Description",
    *,
    paths: "Sequence[str] | None" = None,
    sequence: bool = False,
    on_error: str = "raise",
    **options: object,
) -> Any:
    """Returns what `read_examples` or `parse_examples` reads of a source, as the features of a description.

    `paths` lead to features by the names that the description gives them. Where `on_error` lets bad examples pass, the
    result is a pair as the reader's is: the features, and which examples these were, those included whose partitions or
    indices do not fit their values; in a traced function these raise. Errors: a pair of dicts without `sequence=True`,
    or one dict with it.
    """
    if sequence != description.sequence:
        found, wanted = ("a dict", "a pair of dicts") if sequence else ("a pair of dicts", "a dict")
        raise InvalidValueError(
            f"the features: found {found}, and sequence={sequence}.\nWanted: {wanted}, or sequence={not sequence}."
        )
    if paths is not None:
        description = description.only(paths)
    result = reader(source, description.spec, sequence=sequence, on_error=on_error, **options)
    if on_error == "raise":
        return description.finish(result)
    records, bad = result

    def blank() -> Any:
        # No example begins so.
        return reader([b"\xff"], description.spec, sequence=sequence, on_error="default")[0]

    return description.finish_fitting(records, bad, blank if on_error == "default" else None)


@final
class Description:
    """What a dict of features says: how examples are read, and what is made of the records.

    `spec` is that of the records which hold the features as they are stored. `sequence` says whether these are of
    sequence examples: then they and the result have `context` and `feature_lists`; one without features is left out.
    """

    def __init__(self, parts: "dict[str, dict[str, _Feature]]") -> None:
        self._parts = parts
        self.sequence = "" not in parts
        self.spec = _specs_of({part: _stored(features) for part, features in parts.items()})

    def finish(self, records: Any) -> Any:
        """Returns records of the features by their names, of records that were read by `spec`.

        They have the axes of the records, and are missing where a record is. In a traced function only features that
        are used are made. Errors: partitions that do not fit their values, with the row.
        """
        if isinstance(records, RaggedTensor):
            return RaggedTensor(self.finish(records.values), records.partition)
        if isinstance(records, MaskedTensor):
            return MaskedTensor(self.finish(records.values), records.mask)
        if records.rank == 0:
            return self.finish(expand_dims(records, 0))[0]
        made = {part: _finished(features, _part_of(records, part)) for part, features in self._parts.items()}
        return _joined(made, lambda parts: StructTensor([None], parts))

    def finish_fitting(self, records: Any, bad: Any, blank: "Callable[[], Any] | None") -> "tuple[Any, Any]":
        """Returns what `finish` does of the records that fit, and `bad` with the others.

        These hold what is made of the row of defaults that `blank` gives, or are left out without it.
        Errors: those that records without a row have.
        """
        if isinstance(records, RaggedTensor):
            values, bad = self.finish_fitting(records.values, bad.values, blank)
            return tuple(RaggedTensor(part, records.partition) for part in (values, bad))  # type: ignore[return-value]
        if isinstance(records, MaskedTensor):
            values, bad = self.finish_fitting(records.values, bad, blank)
            return MaskedTensor(values, records.mask), bad
        if records.rank == 0:
            values, bad = self.finish_fitting(expand_dims(records, 0), expand_dims(bad, 0), blank)
            return values[0], bad[0]
        try:
            return self.finish(records), bad
        except Error:
            self.finish(records[:0])
        count = records.shape[0]
        misfits = dict(self._misfits(records, 0, count))
        places = [count if row in misfits else row for row in range(count) if blank is not None or row not in misfits]
        rows = records if blank is None else concat([records, blank()], 0)
        finished = self.finish(take(rows, tensor(places, "i64"), 0))
        if not isinstance(bad, BadRows):
            return finished, logical_or(bad, tensor([row in misfits for row in range(count)], "bool"))
        # Rows that are left out already have numbers, too.
        gone = set(bad.rows if blank is None else [])
        numbers = [number for number in range(count + len(gone)) if number not in gone]
        told = [(numbers[row], f"row {numbers[row]}: {error}") for row, error in misfits.items()]
        return finished, bad._with(told, blank is not None)

    def _misfits(self, records: Any, start: int, end: int) -> "Iterator[tuple[int, Error]]":
        """The rows of a range that do not fit, found by halving."""
        try:
            self.finish(records[start:end])
        except Error as error:
            if end - start == 1:
                yield start, error
                return
            middle = (start + end) // 2
            yield from self._misfits(records, start, middle)
            yield from self._misfits(records, middle, end)

    def only(self, paths: "Sequence[str]") -> "Description":
        """Returns the description of the features that paths lead to. Errors: a path that leads to none."""
        # The reader itself says what a path means: it reads no message by features that are called as these are.
        rows = RaggedTensorSpec([None, None], "bytes")
        named = _specs_of({part: dict.fromkeys(features, rows) for part, features in self._parts.items()})
        held = read_examples([], named, paths=paths, sequence=self.sequence)
        parts = [part for part in self._parts if part in ("", *held.field_names())]
        names = {part: _part_of(held, part).field_names() for part in parts}
        return Description({part: {name: self._parts[part][name] for name in names[part]} for part in parts})


class _Feature(NamedTuple):
    """A feature: what it is stored as, by name, and what makes it of the records that hold this."""

    stored: "list[tuple[str, TypeSpec]]"
    finish: "Callable[[Any], Any]"


class _Place(NamedTuple):
    """Where features stand: what errors call it, and which kinds TensorFlow has there."""

    name: str
    kinds: "tuple[str, ...]"


_PLAIN = _Place(
    "example", ("FixedLenFeature", "VarLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature")
)
_CONTEXT = _Place("context", ("FixedLenFeature", "VarLenFeature", "RaggedFeature"))
_LISTS = _Place("feature lists", ("FixedLenSequenceFeature", "VarLenFeature", "RaggedFeature"))

_DTYPES = {"int64": "i64", "float32": "f32", "string": "bytes"}
_SPLITS = {"int32": "i32", "int64": "i64"}


def _has_features(spec: object) -> bool:
    return isinstance(spec, Mapping) and any(map(_is_feature, spec.values()))


def _is_feature(x: object) -> bool:
    return type(x).__name__ in _KINDS and type(x).__module__.startswith("tensorflow")


def _features(given: object, place: _Place) -> "dict[str, _Feature]":
    """The features of a dict, which may be `None`, by their names."""
    if not isinstance(given, Mapping | None):
        raise refused(f"features of the {place.name}", given, "a dict, or None")
    return {name: _feature(name, feature, place) for name, feature in (given or {}).items()}


def _feature(name: str, feature: Any, place: _Place) -> _Feature:
    if type(feature).__name__ not in place.kinds or not _is_feature(feature):
        raise refused(f"feature '{name}' of the {place.name}", feature, f"one of TensorFlow's {', '.join(place.kinds)}")
    with _naming(f"feature '{name}'"):
        return _KINDS[type(feature).__name__](name, feature, place)


@contextmanager
def _naming(name: str) -> "Iterator[None]":
    """Lets errors begin with a name."""
    try:
        yield
    except Error as error:
        raise type(error)(f"{name}: {error}") from None


def _stored(features: "dict[str, _Feature]") -> "dict[str, TypeSpec]":
    """The specs of what features are stored as. Several may be made of one stored feature."""
    stored: dict[str, TypeSpec] = {}
    for name, feature in features.items():
        for key, spec in feature.stored:
            if stored.setdefault(key, spec) != spec:
                raise InvalidValueError(
                    f"feature '{name}': found '{key}' as {spec}, and elsewhere as {stored[key]}.\n"
                    "Wanted: one way to read a stored feature. Read the features in two calls."
                )
    return stored


def _finished(features: "dict[str, _Feature]", records: Any) -> StructTensor:
    made = {}
    for name, feature in features.items():
        with _naming(f"feature '{name}'"):
            made[name] = feature.finish(records)
    return StructTensor([None], made)


def _specs_of(parts: "dict[str, dict[str, TypeSpec]]") -> StructTensorSpec:
    specs = {part: StructTensorSpec([None], fields) for part, fields in parts.items()}
    return _joined(specs, lambda specs: StructTensorSpec([None], specs))


def _joined(parts: "dict[str, _Part]", join: "Callable[[dict[str, _Part]], _Part]") -> _Part:
    """The one part of an example, or those of a sequence example joined."""
    return parts[""] if "" in parts else join(parts)


def _part_of(records: Any, part: str) -> Any:
    return records.field_value((part,)) if part else records


def _fixed_len(name: str, feature: Any, _place: _Place) -> _Feature:
    """A feature of exactly so many values: dense, with the default value where it is missing."""
    dtype, shape = _dtype(feature.dtype), _sizes(feature.shape)
    spec = TensorSpec([None, *shape], dtype)
    if feature.default_value is None:
        return _as_stored(name, spec)
    default = _default(feature.default_value, dtype, shape)
    maybe = MaskedTensorSpec(spec, mask=TensorSpec([None], "bool"))
    return _Feature([(name, maybe)], lambda records: fill_none(records.field_value((name,)), default))


def _var_len(name: str, feature: Any, place: _Place) -> _Feature:
    """A feature of any number of values: rows, which hold what the `SparseTensor` does that TensorFlow makes."""
    return _as_stored(name, _rows(_dtype(feature.dtype), place))


def _fixed_len_sequence(name: str, feature: Any, place: _Place) -> _Feature:
    """A feature of any number of items of one shape: rows.

    They are not padded to the longest, so that the default value is not needed: `to_tensor(default_value)` pads.
    Feature lists that are missing are empty, whatever `allow_missing` says: reading does not tell them from empty ones.
    """
    if place is _PLAIN and not feature.allow_missing:
        raise InvalidValueError(
            "found a FixedLenSequenceFeature with allow_missing=False.\n"
            "Wanted: allow_missing=True, as TensorFlow wants it in examples: a feature that is missing is an empty row."
        )
    shape = [None, None, *_sizes(feature.shape)]
    return _as_stored(name, RaggedTensorSpec(shape, _dtype(feature.dtype), ragged_rank=1))


def _ragged(name: str, feature: Any, place: _Place) -> _Feature:
    """A feature of rows that are cut by partitions, the innermost first; where all of it is missing, an empty row."""
    splits = _dtype(feature.row_splits_dtype, _SPLITS)
    key, cuts = feature.value_key or name, [_cut(partition, splits) for partition in reversed(feature.partitions)]
    stored = [(key, _rows(_dtype(feature.dtype), place, splits))]
    stored += [(cut.key, _rows("i64", place, splits)) for cut in cuts if cut.key is not None]

    def finish(records: Any) -> Any:
        rows = records.field_value((key,))
        for cut in cuts:
            with _naming(cut.name):
                rows = cut.apply(rows, None if cut.key is None else records.field_value((cut.key,)))
        return rows

    def finish_steps(records: Any) -> Any:
        # A step is to its partitions what an example is to those that are in no list.
        steps = zip({key: records.field_value((key,)) for key, _ in stored}, depth_limit=2)
        return RaggedTensor.from_row_lengths(finish(flatten(steps, axis=1)), cast(num(steps, 1), splits))

    return _Feature(stored, finish_steps if cuts and place is _LISTS else finish)


def _sparse(name: str, feature: Any, place: _Place) -> _Feature:
    """A feature of values that stand at indices: rows of records of `indices` and `values`.

    They are in the order of their indices, unless the feature says that they are stored so. The indices are numbers if
    the feature has one index key, and vectors if it has a list of them. `size` is not kept, and bounds no index.
    """
    alone = isinstance(feature.index_key, str)
    keys: list[str] = [feature.index_key] if alone else list(feature.index_key)
    if not keys:
        raise InvalidValueError("found no index_key.\nWanted: the name of a stored feature, or a list of them.")
    stored = [*((key, _rows("i64", place)) for key in keys), (feature.value_key, _rows(_dtype(feature.dtype), place))]

    def finish(records: Any) -> Any:
        values = records.field_value((feature.value_key,))
        indices = [records.field_value((key,)) for key in keys]
        indices = [rows + _zeros(num(rows, 1), num(values, 1)) for rows in indices]
        if not feature.already_sorted:
            order = lexsort(indices[::-1], axis=1)
            *indices, values = (take_along_axis(rows, order, axis=1) for rows in (*indices, values))
        return zip({"indices": indices[0] if alone else stack(indices, axis=2), "values": values}, depth_limit=2)

    return _Feature(stored, finish)


_KINDS: "dict[str, Callable[[str, Any, _Place], _Feature]]" = {
    "FixedLenFeature": _fixed_len,
    "VarLenFeature": _var_len,
    "FixedLenSequenceFeature": _fixed_len_sequence,
    "RaggedFeature": _ragged,
    "SparseFeature": _sparse,
}


def _as_stored(name: str, spec: TypeSpec) -> _Feature:
    return _Feature([(name, spec)], lambda records: records.field_value((name,)))


def _rows(dtype: str, place: _Place, splits: str = "i64") -> TypeSpec:
    return RaggedTensorSpec([None] * (3 if place is _LISTS else 2), dtype, row_splits_dtype=splits)


def _dtype(given: object, known: "Mapping[str, str]" = _DTYPES) -> str:
    """A dtype of TensorFlow or NumPy, by its name, as the one here."""
    name = str(getattr(given, "name", None) or getattr(given, "__name__", given))
    if name not in known:
        raise DTypeError(f"found the dtype {name}.\nWanted: {' or '.join(known)}. Use `cast` on what was read.")
    return known[name]


def _sizes(shape: Any) -> "list[int]":
    try:
        return [index(size) for size in ([shape] if isinstance(shape, int) else shape)]
    except (TypeError, ValueError):
        raise InvalidValueError(
            f"found the shape {shape}.\n"
            "Wanted: known sizes. Any number of values is a VarLenFeature or FixedLenSequenceFeature."
        ) from None


def _default(given: Any, dtype: str, shape: "list[int]") -> Any:
    with _naming("default_value"):
        value = tensor(given.numpy() if hasattr(given, "numpy") else given, dtype)
    if value.size != prod(shape):
        raise InvalidValueError(
            f"default_value: the number of elements is {value.size}.\nWanted: {prod(shape)}, as the shape {shape} has."
        )
    return reshape(value, shape)


class _Cut(NamedTuple):
    """A partition: what errors call it, the feature that it is stored as, if any, and what cuts rows by that."""

    name: str
    key: "str | None"
    apply: "Callable[[Any, Any], Any]"


def _cut(partition: Any, splits: str) -> _Cut:
    kind = type(partition).__name__
    if kind == "UniformRowLength":
        length = index(partition.length)
        if length < 1:
            raise InvalidValueError(f"found a UniformRowLength of {length}.\nWanted: at least 1.")
        return _Cut(f"UniformRowLength of {length}", None, lambda rows, _: _cut_evenly(rows, length, splits))
    if kind not in _LENGTHS:
        raise refused("partitions", partition, f"{', '.join(_LENGTHS)} or UniformRowLength of RaggedFeature")
    lengths, key = _LENGTHS[kind], partition.key
    return _Cut(f"{kind} '{key}'", key, lambda rows, part: _cut_in(rows, lengths(part, num(rows, 1)), splits))


def _cut_in(rows: Any, lengths: Any, splits: str) -> RaggedTensor:
    """Cuts each row into rows of the lengths in the same row of `lengths`."""
    counts = num(lengths, 1) + sum(_zeros(num(rows, 1), sum(lengths, axis=1)), axis=1)
    inner = RaggedTensor.from_row_lengths(flatten(rows, axis=1), flatten(lengths, axis=1))
    # Splits that were checked are narrowed, and not lengths, of which wrong ones might wrap to right ones.
    inner = RaggedTensor.from_row_splits(inner.values, cast(inner.row_splits, splits))
    return RaggedTensor.from_row_lengths(inner, cast(counts, splits))


def _cut_evenly(rows: Any, length: int, splits: str) -> RaggedTensor:
    """Cuts each row into rows of one length: a dense axis where the values are dense, as TensorFlow does."""
    counts = floor_divide(num(rows, 1), length)
    counts = counts + sum(_zeros(num(rows, 1), counts * length), axis=1)
    values = flatten(rows, axis=1)
    if isinstance(values, RaggedTensor):
        inner: Any = RaggedTensor.from_uniform_row_length(values, length)
    else:
        inner = reshape(values, [-1, length, *values.shape[1:]])
    return RaggedTensor.from_row_lengths(inner, cast(counts, splits))


def _zeros(found: Any, wanted: Any) -> Any:
    """Rows of zeros, as many as are found. Errors: other numbers are wanted, with the row.

    They are added to what is made, so that no graph leaves the check out: values would move to the next example.
    """
    # A partition may want more than memory holds; one more than there are is wrong enough.
    rows = zip({"found": ranges(found), "wanted": ranges(minimum(wanted, found + 1))})
    return rows["found"] - rows["wanted"]


def _from_limits(limits: Any, counts: Any) -> Any:
    return diff(limits, axis=1, prepend=expand_dims(zeros_like(counts), 1))


def _from_rowids(ids: Any, _counts: Any) -> Any:
    rows = last(ids, axis=1, default=-1) + 1
    before = expand_dims(cumulative_sum(rows) - rows, 1)
    unique = flatten(ids + before, axis=1)
    return RaggedTensor.from_row_lengths(num(RaggedTensor.from_value_rowids(unique, unique), 1), rows)


# The lengths of the rows that each row is cut into, by what a partition says of these, and how many values the row has.
_LENGTHS: "dict[str, Callable[[Any, Any], Any]]" = {
    "RowSplits": lambda splits, counts: _from_limits(splits[:, 1:], counts),
    "RowLengths": lambda lengths, _: lengths,
    "RowStarts": lambda starts, counts: diff(starts, axis=1, append=expand_dims(counts, 1)),
    "RowLimits": _from_limits,
    "ValueRowIds": _from_rowids,
}
