"""Frames and series of pandas as values and back: numbers by NumPy, everything nested by Arrow."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from extenso._core import (
    DTypeError,
    InvalidValueError,
    MissingNameError,
    ShapeError,
    StructTensor,
    Tensor,
    from_arrow,
    tensor,
)
from extenso._interop.arrow import array_of
from extenso._interop.meanings import refuse_least
from extenso._interop.numpy import of_array
from extenso._interop.objects import exact_array
from extenso._interop.peers import kind_of, peer, records_of, refuse_scalar, refused
from extenso._types import MaskedTensor

# A column's labels from the outermost level on, and its values.
Column = tuple[tuple[str, ...], Any]


def from_pandas(x: Any) -> Any:
    """Returns the records of a DataFrame, or the values of a Series.

    Every column is a field. The levels of the index come first, as fields by their names: `index`, or `level_0` and so
    on, where they have none; the default index, which counts rows from 0, is left out. Columns of several levels become records
    in records. A column of a nullable dtype of numbers is masked, any other one where something is missing; columns of
    objects hold text, lists or dicts. Periods are refused, since they are spans of time; intervals are records of `left` and
    `right`, which do not say which ends are closed. The values of a Series beside a named index are the field of its name,
    `values` without one.

    >>> import extenso as ex, pandas as pd
    >>> ex.from_pandas(pd.DataFrame({"n": [1, 2]}, index=pd.Index(["a", "b"], name="id"))).to_py()
    [{'id': 'a', 'n': 1}, {'id': 'b', 'n': 2}]
    """
    pd = peer("pandas", "from_pandas")
    if isinstance(x, pd.DataFrame):
        columns = [(_labels(label), x.iloc[:, i]) for i, label in enumerate(x.columns)]
        return _records(pd, [*_levels(pd, x.index), *columns], len(x))
    if isinstance(x, pd.Index):
        return from_pandas(x.to_frame(index=False).iloc[:, 0]) if x.nlevels == 1 else _records(pd, _levels(pd, x), len(x))
    if not isinstance(x, pd.Series):
        raise refused("from_pandas", x, "a DataFrame or a Series of pandas")
    levels = _levels(pd, x.index)
    if not levels:
        return _values(pd, x, () if x.name is None else _labels(x.name))
    return _records(pd, [*levels, (("values",) if x.name is None else _labels(x.name), x)], len(x))


def _labels(label: Any) -> "tuple[str, ...]":
    """The labels of a column, outermost first. Levels that a column does not have are empty at its end."""
    labels = [str(part) for part in label] if isinstance(label, tuple) else [str(label)]
    while len(labels) > 1 and labels[-1] == "":
        labels.pop()
    return tuple(labels)


def _levels(pd: Any, index: Any) -> "list[Column]":
    if isinstance(index, pd.RangeIndex) and index.name is None and (index.start, index.step) == (0, 1):
        return []
    many = index.nlevels > 1
    names = [(f"level_{i}" if many else "index") if name is None else name for i, name in enumerate(index.names)]
    return [(_labels(name), index.get_level_values(i).to_series()) for i, name in enumerate(names)]


def _records(pd: Any, columns: "Sequence[Column]", count: int) -> StructTensor:
    tree: dict[str, Any] = {}
    for labels, series in columns:
        at = tree
        for depth, label in enumerate(labels[:-1]):
            at = at.setdefault(label, {})
            if not isinstance(at, dict):
                raise _value_and_record(labels[: depth + 1])
        there = at.get(labels[-1])
        if there is not None:
            raise _value_and_record(labels) if isinstance(there, dict) else _twice(labels)
        at[labels[-1]] = _values(pd, series, labels)
    return _struct(tree, count)


def _twice(labels: "tuple[str, ...]") -> InvalidValueError:
    where = ".".join(labels)
    return InvalidValueError(f"from_pandas: two columns or levels of the index are named '{where}'. Rename one of them.")


def _value_and_record(labels: "tuple[str, ...]") -> InvalidValueError:
    where = ".".join(labels)
    return InvalidValueError(
        f"from_pandas: '{where}' is a column of values, and a level that other columns are below. Rename one of them."
    )


def _struct(tree: "dict[str, Any]", count: int) -> StructTensor:
    fields = {name: _struct(part, count) if isinstance(part, dict) else part for name, part in tree.items()}
    return StructTensor([count], fields)


def _values(pd: Any, series: Any, labels: "tuple[str, ...]") -> Any:
    dtype: Any = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return of_array(series.to_numpy(), "from_pandas")
    if isinstance(dtype, pd.ArrowDtype):
        return from_arrow(series.array.__arrow_array__())
    if isinstance(dtype, pd.PeriodDtype):
        how = "`series.dt.to_timestamp()` gives where each begins, and `index.to_timestamp()` those of an index."
        raise _period(labels, dtype, how)
    words: Any = getattr(dtype, "categories", None)
    if words is not None and isinstance(words.dtype, pd.PeriodDtype):
        how = "`series.cat.rename_categories(series.cat.categories.to_timestamp())` gives where each begins."
        raise _period(labels, words.dtype, how)
    if isinstance(dtype, pd.SparseDtype):
        return _values(pd, pd.Series(series.to_numpy()), labels)
    nullable: Any = getattr(dtype, "numpy_dtype", None)
    if nullable is not None:
        missing = series.isna().to_numpy()
        values = series.to_numpy(dtype=nullable, na_value=nullable.type(0))
        return MaskedTensor(of_array(values, "from_pandas"), tensor(~missing))
    pa = peer("pyarrow", "from_pandas")
    try:
        return from_arrow(_arrow(pd, pa, series))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as cause:
        where = ".".join(labels) or "values"
        error = DTypeError(f"from_pandas: column '{where}' of {dtype} has no value: {cause}")
        raise error from cause


def _period(labels: "tuple[str, ...]", dtype: Any, how: str) -> DTypeError:
    where = ".".join(labels) or "values"
    return DTypeError(f"from_pandas: column '{where}' is of {dtype}, and a period is a span of time.\nWanted: times. {how}")


def _arrow(pd: Any, pa: Any, series: Any) -> Any:
    if series.dtype == object:
        return _objects(pd, pa, series)
    array = pa.array(series, from_pandas=True)
    if isinstance(series.dtype, pd.CategoricalDtype) and series.dtype.categories.dtype == object:
        categories = _objects(pd, pa, series.dtype.categories.to_series())
        return pa.DictionaryArray.from_arrays(array.indices, categories, ordered=series.dtype.ordered)
    return array


def _objects(pd: Any, pa: Any, series: Any) -> Any:
    if pd.api.types.infer_dtype(series) == "mixed":
        # Lists and records, in which NaN is a number: pandas says nothing of it.
        items: Any = np.where(series.isna(), None, series.to_numpy())
        return exact_array(pa, items, items.tolist, from_pandas=False)
    return exact_array(pa, series, series.tolist, from_pandas=True)


def to_pandas(x: Any, index: Any = None) -> Any:
    """Returns the DataFrame of records, and the Series of any other value with an outer axis.

    `index` is a field, or a list of them, that becomes the index in place of a column.
    Numbers and booleans are columns of NumPy, masked ones of pandas' nullable dtypes, strings of its `string`. Records in
    records become columns of several levels; rows, dense axes and bytes become columns of an `ArrowDtype`, which share
    their memory. Several levels of an index are made of their distinct values, of which pandas takes `-0.0` and `0.0` for one.
    """
    pd = peer("pandas", "to_pandas")
    x = records_of(x)
    levels = _named(index)
    if not isinstance(x, StructTensor) or x.rank > 1:
        if levels:
            what = "of more than one axis" if isinstance(x, StructTensor) else f"but a {kind_of(x)}"
            raise MissingNameError(
                f"to_pandas: argument 'index' names '{'.'.join(levels[0])}', and the value is no records, {what}.\n"
                "Wanted: a vector of records, whose fields are columns."
            )
        refuse_scalar(x, "to_pandas")
        return pd.Series(_array(pd, x), copy=False)
    if x.rank == 0:
        raise ShapeError("to_pandas: found one record.\nWanted: a vector of records. Use `expand_dims(x, 0)`.")
    fields = list(_columns(x))
    columns = [column for column in fields if column[0] not in levels]
    frame = pd.DataFrame(
        {i: _array(pd, value) for i, (_, value) in enumerate(columns)}, index=_index(pd, fields, levels, len(x)), copy=False
    )
    depth = max((len(labels) for labels, _ in columns), default=1)
    if depth == 1:
        frame.columns = pd.Index([labels[0] for labels, _ in columns], dtype=object if not columns else None)
    else:
        padded = [labels + ("",) * (depth - len(labels)) for labels, _ in columns]
        frame.columns = pd.MultiIndex.from_tuples(padded)
    return frame


def _named(index: Any) -> "list[tuple[str, ...]]":
    """The labels of the fields that become the index: of a name, a tuple of names, or a list of these."""
    if index is None:
        return []
    several = index if isinstance(index, list) else [index]
    levels = [(level,) if isinstance(level, str) else level for level in several]
    for level in levels:
        if not isinstance(level, tuple) or not level or not all(isinstance(name, str) for name in level):
            raise DTypeError(
                f"to_pandas: argument 'index' has {level!r}.\n"
                "Wanted: the name of a field, a tuple of names for a field of records inside, or a list of these."
            )
    return levels


def _index(pd: Any, fields: "list[Column]", levels: "list[tuple[str, ...]]", count: int) -> Any:
    if not levels:
        return pd.RangeIndex(count)
    known = dict(fields)
    for level in levels:
        if level not in known:
            raise _no_field(level, list(known))
    names = [level[0] if len(level) == 1 else level for level in levels]
    arrays = [_array(pd, known[level]) for level in levels]
    for level, array in zip(levels, arrays, strict=True):
        if array.dtype == np.float16:
            raise DTypeError(
                f"to_pandas: argument 'index' names '{'.'.join(level)}', which is of f16, and pandas has no such index.\n"
                "Wanted: another dtype. Cast the field first: `cast(x, 'f32')`."
            )
    if len(levels) == 1:
        return pd.Index(arrays[0], name=names[0], copy=False)
    return pd.MultiIndex.from_arrays(arrays, names=names)


def _no_field(level: "tuple[str, ...]", known: "list[tuple[str, ...]]") -> MissingNameError:
    inside = [labels for labels in known if labels[: len(level)] == level]
    why = "is records" if inside else "is no field"
    there = ", ".join(repr(labels[0] if len(labels) == 1 else labels) for labels in (inside or known)[:10])
    more = ", ..." if len(inside or known) > 10 else ""
    return MissingNameError(
        f"to_pandas: argument 'index' names '{'.'.join(level)}', which {why}.\nWanted: one of: {there}{more}."
    )


def _columns(records: StructTensor) -> "list[Column]":
    columns: list[Column] = []
    for name in records.field_names():
        value = records.field_value((name,))
        # Records without fields have no column; Arrow keeps how many they are.
        nested = isinstance(value, StructTensor) and value.rank == 1 and bool(value.field_names())
        inner = _columns(value) if nested else [((), value)]
        columns.extend(((name, *labels), column) for labels, column in inner)
    return columns


def _array(pd: Any, x: Any) -> Any:
    masked = isinstance(x, MaskedTensor)
    values = x.values if masked else x
    if isinstance(values, Tensor) and len(values.shape) == 1:
        name = values.dtype.name
        if name == "string":
            return pd.array(_texts(x), dtype="string")
        if name not in ("bytes", "bf16", "variant") and not masked:
            return x.to_numpy()
        if masked and name not in ("bytes", "bf16", "variant", "f16"):
            return _nullable(pd, values.to_numpy(), ~x.mask.to_numpy())
    array = array_of(x, "to_pandas")
    pa = peer("pyarrow", "to_pandas")
    types = pa.types
    if _has_unions(types, array.type):
        # Nothing of pandas holds elements of several types but objects.
        objects = np.empty(len(array), dtype=object)
        for i, item in enumerate(x.to_py()):
            objects[i] = item
        return objects
    if types.is_timestamp(array.type) or types.is_duration(array.type):
        # These are dtypes of pandas itself: datetimes and time deltas.
        refuse_least(x, "to_pandas")
        return _times(pa, array)
    if types.is_dictionary(array.type):
        refuse_least(x, "to_pandas")
        return _categories(pd, pa, array)
    return pd.arrays.ArrowExtensionArray(array)


def _times(pa: Any, array: Any) -> Any:
    try:
        return array.to_pandas().array
    except pa.ArrowException as cause:
        zone = getattr(array.type, "tz", None)
        if zone is None:
            raise
        raise _unknown_zone(zone) from cause


def _categories(pd: Any, pa: Any, array: Any) -> Any:
    try:
        made = array.to_pandas().array
    except (TypeError, ValueError):
        # Categories of pandas are neither missing nor nested.
        return pd.arrays.ArrowExtensionArray(array.dictionary_decode())
    # pyarrow leaves out the zone of categories that are points in time.
    zoned = getattr(array.type.value_type, "tz", None) is not None
    return made.rename_categories(_times(pa, array.dictionary)) if zoned else made


def _has_unions(types: Any, of: Any) -> bool:
    return types.is_union(of) or any(_has_unions(types, of.field(i).type) for i in range(of.num_fields))


def _unknown_zone(zone: str) -> InvalidValueError:
    return InvalidValueError(
        f"to_pandas: found times of the zone '{zone}', which is not known here.\n"
        "Wanted: a zone of the time zone database or an offset. `TimestampTensor(x.values, x.unit, 'UTC')` are the same times."
    )


def _texts(x: Any) -> Any:
    """Strings as pandas takes them fastest: an array of Arrow where there is pyarrow, objects otherwise."""
    try:
        return array_of(x, "to_pandas")
    except ModuleNotFoundError:
        texts = (x.values if isinstance(x, MaskedTensor) else x).to_numpy()
        if isinstance(x, MaskedTensor):
            texts[~x.mask.to_numpy()] = None
        return texts


def _nullable(pd: Any, values: Any, missing: Any) -> Any:
    kinds = {"b": pd.arrays.BooleanArray, "f": pd.arrays.FloatingArray}
    return kinds.get(values.dtype.kind, pd.arrays.IntegerArray)(values, missing)
