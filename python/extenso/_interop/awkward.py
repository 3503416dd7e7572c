"""Awkward Arrays as values and back, layout by layout: offsets and numbers are shared where they lie in order."""

from typing import Any

import numpy as np

from extenso._core import (
    DataError,
    DTypeError,
    InvalidValueError,
    RowPartition,
    StructTensor,
    Tensor,
    UnionTensor,
    _text_of,
    _text_parts,
    cast,
    expand_dims,
    from_arrow,
    reshape,
    tensor,
    to_arrow,
)
from extenso._interop import meanings
from extenso._interop.numpy import of_array
from extenso._interop.peers import components_of, peer, records_of, refuse_scalar, refused, rows_of
from extenso._types import (
    Bool8Tensor,
    CategoricalTensor,
    DateTensor,
    DecimalTensor,
    DurationTensor,
    FixedBytesTensor,
    IntervalTensor,
    JsonTensor,
    MaskedTensor,
    RaggedTensor,
    TimestampTensor,
    TimeTensor,
)

_TEXT = {"string": "string", "bytestring": "bytes"}


def from_awkward(x: Any) -> Any:
    """Returns the value of an Awkward Array or record.

    Lists become rows and lists of one length a dense axis, records and tuples records, options of every kind masked
    values. Offsets from 0 and packed numbers share the memory of the array.

    >>> import extenso as ex, awkward as ak
    >>> ex.from_awkward(ak.Array([{"x": [1, 2]}, {"x": []}]))["x"].to_py()
    [[1, 2], []]
    """
    ak = peer("awkward", "from_awkward")
    if isinstance(x, ak.Record):
        # One record is row `at` of an array of records.
        layout = x.layout
        return _value(ak, layout.array[layout.at : layout.at + 1])[0]
    if not isinstance(x, ak.Array):
        raise refused("from_awkward", x, "an Array or a Record of Awkward", "`constant` takes lists and dicts.")
    return _value(ak, ak.to_layout(ak.to_backend(x, "cpu")))


def _value(ak: Any, layout: Any) -> Any:
    kinds = ak.contents
    text = _TEXT.get(layout.parameter("__array__"))
    if text is not None:
        return _text(layout, text)
    if layout.is_unknown:
        return tensor(np.zeros(0))
    if layout.is_numpy:
        return of_array(layout.data, "from_awkward")
    if layout.is_regular:
        return _regular(layout, _value(ak, layout.content[: layout.length * layout.size]))
    if layout.is_list:
        return _lists(layout, lambda content: _value(ak, content))
    if layout.is_option:
        return _option(ak, layout)
    if layout.is_record:
        return StructTensor([layout.length], _fields(ak, layout))
    if isinstance(layout, kinds.IndexedArray):
        if layout.parameter("__array__") != "categorical":
            return _value(ak, layout.project())
        return CategoricalTensor(tensor(np.asarray(layout.index, dtype=np.int64)), _value(ak, layout.content))
    return _union(ak, layout)


def _fields(ak: Any, layout: Any) -> "dict[str, Any]":
    names = layout.fields
    if len(set(names)) < len(names):
        # Only one of them could be asked for by its name.
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InvalidValueError(f"from_awkward: two fields of records are named '{twice}'. Rename one of them.")
    return {name: _value(ak, layout.content(name)) for name in names}


def _text(layout: Any, dtype: str) -> Tensor:
    if layout.is_regular:
        offsets = np.arange(layout.length + 1, dtype=np.int64) * layout.size
        content = layout.content
    else:
        offsets, content = _offsets(layout)
    data = np.ascontiguousarray(content.to_NumpyArray(np.uint8).data) if not content.is_numpy else content.data
    try:
        return _text_of(dtype, [layout.length], offsets, np.ascontiguousarray(data, dtype=np.uint8))
    except DataError as cause:
        raise DataError(f"from_awkward: {cause}") from None


def _regular(layout: Any, values: Any) -> Any:
    if _is_dense(values):
        return reshape(values, (layout.length, layout.size, *values.shape[1:]))
    return RaggedTensor.from_uniform_row_length(values, layout.size, layout.length)


def _is_dense(x: Any) -> bool:
    """Whether no axis of a value is ragged, so that its outer axis can be two."""
    if isinstance(x, StructTensor):
        return all(_is_dense(x.field_value((name,))) for name in x.field_names())
    return _is_dense(x.values) if isinstance(x, MaskedTensor) else not isinstance(x, RaggedTensor | UnionTensor)


def _offsets(layout: Any) -> "tuple[Any, Any]":
    """The offsets of lists and the content that they are about, from 0."""
    if not hasattr(layout, "offsets"):
        layout = layout.to_ListOffsetArray64(True)
    offsets = np.asarray(layout.offsets)
    if offsets.dtype == np.uint32:
        offsets = offsets.astype(np.int64)
    first, last = int(offsets[0]), int(offsets[-1])
    if first < 0:
        raise InvalidValueError(f"from_awkward: the first offset of lists is {first}.\nWanted: one that is not negative.")
    return (offsets - first if first else offsets), layout.content[first:last]


def _lists(layout: Any, value: Any) -> RaggedTensor:
    offsets, content = _offsets(layout)
    return RaggedTensor.from_row_splits(value(content), tensor(offsets))


def _option(ak: Any, layout: Any) -> Any:
    if layout.parameter("__array__") == "categorical" and isinstance(layout, ak.contents.IndexedOptionArray):
        return _categories(ak, layout)
    if isinstance(layout, ak.contents.UnmaskedArray):
        mask, content = np.ones(layout.length, dtype=bool), layout.content
    elif isinstance(layout, ak.contents.IndexedOptionArray):
        mask, content = _chosen(ak, layout)
    else:
        mask, content = layout.mask_as_bool(valid_when=True)[: layout.length], layout.content[: layout.length]
    values, there = _value(ak, content), np.asarray(mask, dtype=bool)
    if isinstance(values, MaskedTensor) and values.mask.shape == there.shape:
        # A `NaT` is missing by itself, and options are not in options.
        return MaskedTensor(values.values, tensor(there & np.asarray(values.mask)))
    return MaskedTensor(values, tensor(there))


def _categories(ak: Any, layout: Any) -> MaskedTensor:
    """Categories of which some are missing."""
    index = np.asarray(layout.index, dtype=np.int64)
    categories = _value(ak, layout.content if layout.content.length else _any(ak, layout.content))
    return MaskedTensor(CategoricalTensor(tensor(np.maximum(index, 0)), categories), tensor(index >= 0))


def _any(ak: Any, content: Any) -> Any:
    """A content of one item, whatever it is, in the place of none."""
    return ak.transform(_known, content, highlevel=False).form.length_one_array(highlevel=False)


def _chosen(ak: Any, layout: Any) -> "tuple[Any, Any]":
    """The mask of an indexed option, and its content with any item where one is missing."""
    index = np.asarray(layout.index)
    content = layout.content
    if content.length == 0:
        # Nothing can be chosen: what stands below missing items has to be made.
        content = _any(ak, content)
    if len(index) == 0:
        return np.ones(0, dtype=bool), layout.content[:0]
    chosen = ak.contents.IndexedArray(ak.index.Index64(np.maximum(index, 0)), content).project()
    return index >= 0, chosen


def _known(layout: Any, **_options: object) -> Any:
    """Numbers in the place of what has no type."""
    return layout.to_NumpyArray(np.float64) if layout.is_unknown else None


def _union(ak: Any, layout: Any) -> Any:
    """The union of the contents, of each the items that are in it, which Arrow puts together."""
    pa = peer("pyarrow", "from_awkward")
    tags = np.asarray(layout.tags, dtype=np.int8)
    index, offsets = np.asarray(layout.index)[: len(tags)], np.zeros(len(tags), dtype=np.int32)
    children = []
    for tag, content in enumerate(layout.contents):
        there = tags == tag
        chosen = content[index[there].astype(np.int64)]
        offsets[there] = np.arange(chosen.length, dtype=np.int32)
        children.append(pa.array(to_arrow(_value(ak, chosen))))
    return from_arrow(pa.UnionArray.from_dense(pa.array(tags), pa.array(offsets), children))


def to_awkward(x: Any) -> Any:
    """Returns the Awkward Array of a value, which shares offsets and numbers; one record becomes a Record.

    Rows become lists, dense axes lists of one length, records records, masked values options.
    """
    ak = peer("awkward", "to_awkward")
    meanings.refuse_least(x, "to_awkward")
    x = records_of(x)
    if isinstance(x, StructTensor) and x.rank == 0:
        return ak.Array(_layout(ak, expand_dims(x, 0)))[0]
    return ak.Array(_layout(ak, x))


def _layout(ak: Any, x: Any) -> Any:
    refuse_scalar(x, "to_awkward")
    if isinstance(x, Tensor):
        return _of_tensor(ak, x)
    if isinstance(x, RaggedTensor):
        splits, values = rows_of(x)
        return ak.contents.ListOffsetArray(ak.index.Index(splits.to_numpy()), _layout(ak, values))
    if isinstance(x, StructTensor):
        return _below(ak, x, x.shape, lambda flat, n: _of_records(ak, flat, n))
    if isinstance(x, MaskedTensor):
        return _below(ak, x, x.mask.shape, lambda flat, n: _of_masked(ak, flat))
    if isinstance(x, RowPartition):
        raise refused("to_awkward", x, "rows, which have values")
    if components_of(x):
        return _layout(ak, records_of(x))
    if isinstance(x, TimestampTensor | DateTensor | DurationTensor):
        # Awkward reads sizes of NumPy's arrays from their elements, of which there are none beside a size of 0.
        return _below(ak, x, x.shape, lambda flat, _: ak.to_layout(ak.from_numpy(meanings.to_numpy(flat))))
    if isinstance(x, TimeTensor):
        # There are no times of a day: they are how long after midnight.
        return _layout(ak, DurationTensor(cast(x.values, "i64"), x.unit))
    if isinstance(x, Bool8Tensor | JsonTensor):
        return _of_tensor(ak, tensor(x))
    if isinstance(x, FixedBytesTensor):
        return _below(ak, x, x.cells.shape[:-1], lambda flat, n: _of_cells(ak, flat.cells.to_numpy(), n))
    if isinstance(x, DecimalTensor | IntervalTensor):
        raise refused("to_awkward", x, "a value of a type that Awkward has", "Cast decimals to f64, or take the parts.")
    if isinstance(x, CategoricalTensor):
        return _below(ak, x, x.codes.shape, lambda flat, n: _of_categories(ak, flat))
    if isinstance(x, UnionTensor):
        return _of_union(ak, x)
    pa = peer("pyarrow", "to_awkward")
    return ak.to_layout(ak.from_arrow(pa.array(to_arrow(x))))


def _of_union(ak: Any, x: UnionTensor) -> Any:
    parts, ids = x.components, x.child_ids()
    tags = np.asarray(x.tags)
    places = np.zeros(tags.shape, dtype=np.int8)
    for place, child in enumerate(ids):
        places[tags == child] = place
    # Without offsets, an element stands at its own place in its child.
    index = np.asarray(parts["@offsets"]) if "@offsets" in parts else np.arange(len(tags), dtype=np.int64)
    contents = [_layout(ak, parts[f"[{place}]"]) for place in range(len(ids))]
    return _union_of(ak, places, index.astype(np.int64), contents)


def _union_of(ak: Any, tags: Any, index: Any, contents: "list[Any]") -> Any:
    """A union of contents none of which is a union, and all of which are options if one is: so Awkward wants them.

    Its own `simplified` would also merge contents, and make floats of integers beside floats.
    """
    tags, index, contents = _without_unions(tags, index, contents)
    if len(contents) == 1:
        return contents[0][index]
    if any(content.is_option for content in contents):
        contents = [_as_option(ak, content) for content in contents]
    return ak.contents.UnionArray(ak.index.Index8(tags), ak.index.Index64(index), contents)


def _without_unions(tags: Any, index: Any, contents: "list[Any]") -> "tuple[Any, Any, list[Any]]":
    """The contents of unions in the place of these."""
    flat: list[Any] = []
    flat_tags, flat_index = np.zeros(len(tags), dtype=np.int64), index.copy()
    for tag, content in enumerate(contents):
        there = tags == tag
        flat_tags[there] = len(flat)
        if content.is_union:
            flat_tags[there] += np.asarray(content.tags)[index[there]]
            flat_index[there] = np.asarray(content.index)[index[there]]
        flat.extend(content.contents if content.is_union else [content])
    if len(flat) > 128:
        raise InvalidValueError(f"to_awkward: found a union of {len(flat)} types.\nWanted: at most 128, as Awkward has.")
    return flat_tags.astype(np.int8), flat_index, flat


def _as_option(ak: Any, content: Any) -> Any:
    if content.is_option:
        return content
    return content.to_IndexedOptionArray64() if content.is_indexed else ak.contents.UnmaskedArray(content)


def _below(ak: Any, x: Any, shape: Any, made: Any) -> Any:
    """The layout of a value whose outer axes are dense: that of its elements in one vector, in lists of one length."""
    count = int(np.prod(shape, dtype=np.int64))
    flat = x if len(shape) == 1 else reshape(x, (count, *x.shape[len(shape) :]))
    layout = made(flat, count)
    for axis in range(len(shape) - 1, 0, -1):
        outer = int(np.prod(shape[:axis], dtype=np.int64))
        layout = ak.contents.RegularArray(layout, shape[axis], zeros_length=outer)
    return layout


def _of_tensor(ak: Any, x: Tensor) -> Any:
    if x.dtype.name == "bf16":
        raise DTypeError("to_awkward: found a tensor of bf16, which Awkward has not.\nWanted: another dtype. Use `cast(x, 'f32')`.")
    text = {"string": ("string", "char"), "bytes": ("bytestring", "byte")}.get(x.dtype.name)
    if text is None:
        # Awkward reads sizes of NumPy's arrays from their elements, of which there are none beside a size of 0.
        return _below(ak, x, x.shape, lambda flat, _: ak.to_layout(ak.from_numpy(flat.to_numpy())))

    def made(flat: Tensor, count: int) -> Any:
        offsets, data = (part.to_numpy() for part in _text_parts(flat))
        content = ak.contents.NumpyArray(data, parameters={"__array__": text[1]})
        return ak.contents.ListOffsetArray(ak.index.Index(offsets), content, parameters={"__array__": text[0]})

    return _below(ak, x, x.shape, made)


def _of_records(ak: Any, records: StructTensor, count: int) -> Any:
    names = records.field_names()
    fields = [_layout(ak, records.field_value((name,))) for name in names]
    return ak.contents.RecordArray(fields, names, length=count)


def _of_categories(ak: Any, x: CategoricalTensor) -> Any:
    index = ak.index.Index64(cast(x.codes, "i64").to_numpy())
    # Categories of which one is missing make the whole an option.
    made = ak.contents.IndexedArray.simplified
    return made(index, _layout(ak, x.categories), parameters={"__array__": "categorical"})


def _of_cells(ak: Any, cells: Any, count: int) -> Any:
    content = ak.contents.NumpyArray(cells.reshape(-1), parameters={"__array__": "byte"})
    return ak.contents.RegularArray(content, cells.shape[-1], zeros_length=count, parameters={"__array__": "bytestring"})


def _of_masked(ak: Any, x: MaskedTensor) -> Any:
    mask, content = x.mask.to_numpy(), _layout(ak, x.values)
    if content.is_union:
        return _missing_in(ak, content, mask)
    # A content that has an index, as that of categories, becomes an option with an index.
    return ak.contents.ByteMaskedArray.simplified(ak.index.Index8(mask.view(np.int8)), content, valid_when=True)


def _missing_in(ak: Any, union: Any, mask: Any) -> Any:
    """A union of which some elements are missing: each is the last one of the first content, which is none."""
    first, *others = union.contents
    index = ak.index.Index64(np.append(np.arange(first.length), -1))
    option = ak.contents.IndexedOptionArray.simplified(index, first)
    tags, places = (np.asarray(part)[: len(mask)] for part in (union.tags, union.index))
    return _union_of(ak, np.where(mask, tags, 0), np.where(mask, places, first.length), [option, *others])
