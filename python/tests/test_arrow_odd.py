"""Arrow arrays as libraries make them: sliced, in chunks, with nulls below nulls; and values with nothing in them."""

import io
import pathlib
import pickle
from decimal import Decimal
from typing import Any

import extenso as ex
import numpy as np
import pyarrow as pa
import pytest

_LISTS = pa.list_(pa.int32(), 2)
_RECORDS = pa.list_(pa.struct([("a", pa.int8())]), 1)


def _tensors(shape: "list[int]", items: "list[Any]", **options: Any) -> pa.Array:
    size = int(np.prod(shape))
    kind = pa.fixed_shape_tensor(pa.int32(), shape, **options)
    return pa.ExtensionArray.from_storage(kind, pa.array(items, pa.list_(pa.int32(), size)))


def _runs(values: pa.Array, ends: "list[int]") -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), values)


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1, 2], None, [3, 4]], _LISTS),
        pa.array([[1, 2], None, [3, None]], _LISTS),
        pa.array([[{"a": 1}], [{"a": None}], None], _RECORDS),
        pa.array([[[1], [2]], [[3], None]], pa.list_(pa.list_(pa.int8(), 1), 2)),
        pa.UnionArray.from_sparse(
            pa.array([0, 1, 0], pa.int8()), [pa.array([{"a": 1}, {"a": 2}, None]), pa.array(["x", "y", "z"])]
        ),
        pa.array([2**64 - 1, 0, None], pa.uint64()),
        pa.array([2**63 - 1, -(2**63), None]),
        pa.array([Decimal("1.5"), None, Decimal("-2")], pa.decimal128(5, 1)),
        pa.array([b"ab", None, b"cd"], pa.binary(2)),
        pa.array(["ab", None, "cde"]),
        pa.array(["ab", None, "cde"], pa.large_string()),
        pa.array([b"ab", b"", b"cde"], pa.binary()),
    ],
    ids=str,
)
def test_slices_and_chunks_are_their_items(array: pa.Array) -> None:
    items = array.to_pylist()
    for sliced in (array, array[1:], array[:2], array[1:2], array[:0], array[1:1], array[3:]):
        assert pa.array(ex.from_arrow(sliced).to_arrow()).to_pylist() == sliced.to_pylist()
    chunks = pa.chunked_array([array[1:], array[:1], array[:0], array[3:], array])
    assert pa.array(ex.from_arrow(chunks).to_arrow()).to_pylist() == items[1:] + items[:1] + items
    rows = pa.ListArray.from_arrays([0, 1, len(array)], array)[1:]
    assert pa.array(ex.from_arrow(rows).to_arrow()).to_pylist() == [items[1:]]
    records = pa.StructArray.from_arrays([array], ["f"])[1:]
    assert [row["f"] for row in pa.array(ex.from_arrow(records).to_arrow()).to_pylist()] == items[1:]


def test_nulls_in_lists_that_are_null_are_seen_by_nobody() -> None:
    value = ex.from_arrow(pa.array([[1, 2], None], _LISTS))
    assert isinstance(value, ex.MaskedTensor) and isinstance(value.values, ex.Tensor)
    assert ex.from_arrow(_tensors([1, 2], [[1, 2], None])).to_py() == [[[1, 2]], None]


def test_tensors_have_the_axes_that_their_metadata_say() -> None:
    array = _tensors([2, 3], [[1, 2, 3, 4, 5, 6]], permutation=[1, 0])
    value = ex.from_arrow(array)
    assert value.to_py() == [[[1, 4], [2, 5], [3, 6]]]
    assert ex.from_arrow(array, spec=value.spec).to_py() == value.to_py()


def test_a_spec_reads_runs_of_records_and_unions_with_nulls() -> None:
    records = pa.array([{"a": [1, None]}, {"a": []}])
    spec = ex.from_arrow(records).spec
    assert ex.from_arrow(_runs(records, [2, 5])[1:4], spec=spec).to_py() == [records.to_pylist()[i] for i in (0, 1, 1)]
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([None, 1]), pa.array(["x", "y"])])
    assert ex.from_arrow(union, spec=ex.spec_of(ex.from_arrow(union))).to_py() == [None, "y"]


def test_a_union_under_a_mask_is_missing_in_its_children() -> None:
    children = [pa.array([1, 2]), pa.array(["x"])]
    for union in (
        pa.UnionArray.from_dense(pa.array([5, 7, 5], pa.int8()), pa.array([0, 0, 1], pa.int32()), children, ["i", "s"], [5, 7]),
        pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()), [pa.array([1, 9, 2]), pa.array(["", "x", ""])]),
    ):
        masked = ex.MaskedTensor(ex.from_arrow(union), [True, False, True])
        array = pa.array(masked.to_arrow())
        assert array.to_pylist() == [1, None, 2]
        assert ex.from_arrow(array).to_py() == [1, None, 2]
        assert ex.from_arrow(union).to_awkward().to_list() == [1, "x", 2]


def test_records_of_several_axes_are_lists_of_one_size() -> None:
    records = ex.constant([[{"a": 1}, {"a": 2}]])
    assert pa.array(records.to_arrow()).to_pylist() == [[{"a": 1}, {"a": 2}]]
    assert ex.read_parquet(ex.write_parquet({"r": records})).to_py() == [{"r": [{"a": 1}, {"a": 2}]}]


_TYPES = pa.table(
    {
        "time": pa.array([1, None], pa.timestamp("us", "UTC")),
        "day": pa.array([1, None], pa.date32()),
        "price": pa.array([Decimal("1.10"), None], pa.decimal128(10, 2)),
        "kind": pa.array(["a", None]).dictionary_encode(),
        "id": pa.array([b"ab", None], pa.binary(2)),
        "spent": pa.array([[1, None], None], pa.list_(pa.duration("s"))),
    }
)


def test_parquet_has_the_times_and_decimals_that_arrow_has() -> None:
    value = ex.from_arrow(_TYPES)
    file = ex.write_parquet(value)
    assert ex.read_parquet(file).to_py() == value.to_py()
    assert ex.read_parquet(file, spec=value.spec).to_py() == value.to_py()
    blocks = list(ex.read_parquet_blocks(file, 1, value.spec))
    assert [row for block in blocks for row in block.to_py()] == value.to_py()


def test_a_spec_says_nothing_of_how_many_rows_there_are() -> None:
    value = ex.from_arrow(_TYPES)
    for read, write in ((ex.read_arrow, ex.write_arrow), (ex.read_parquet, ex.write_parquet)):
        for rows in (value[:0], value[1:], ex.concat([value, value])):
            assert read(write(rows), spec=value.spec).to_py() == rows.to_py()
            assert read(write(rows), spec=value.spec, on_error="skip")[0].to_py() == rows.to_py()


def test_the_number_of_a_bad_row_counts_all_batches() -> None:
    table = pa.Table.from_batches([pa.record_batch({"a": [1, 2]}), pa.record_batch({"a": [3, None]})])
    spec = ex.constant([{"a": 1}]).spec
    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(ex.Error, match="row 3, 'a': null came"):
        ex.read_arrow(out.getvalue(), spec=spec)
    file = ex.write_parquet(table)
    for read, source in ((ex.read_arrow, out.getvalue()), (ex.read_arrow, table), (ex.read_parquet, file)):
        kept, bad = read(source, spec=spec, on_error="skip")
        assert (ex.to_py(kept), bad.rows) == ([{"a": 1}, {"a": 2}, {"a": 3}], [3])
        assert (bad.first[0].row, bad.first[0].path) == (3, "a") and "row 3, 'a'" in bad.first[0].message
        filled, bad = read(source, spec=spec, on_error="default")
        assert (ex.to_py(filled)[3], bad.rows, len(filled)) == ({"a": 0}, [3], 4)


def test_rows_that_do_not_fit_for_other_reasons_than_nulls_are_found() -> None:
    spec = ex.constant([{"a": [1, 2]}]).spec
    table = pa.table({"a": pa.array([[1, 2], [3], [4, 5]])})
    for read, source in ((ex.read_arrow, table), (ex.read_parquet, ex.write_parquet(table))):
        kept, bad = read(source, spec=spec, on_error="skip")
        assert (ex.to_py(kept), bad.rows) == ([{"a": [1, 2]}, {"a": [4, 5]}], [1])
        filled, _ = read(source, spec=spec, on_error="default")
        assert ex.to_py(filled)[1] == {"a": [0, 0]}


def test_writers_take_lists_tables_and_files(tmp_path: pathlib.Path) -> None:
    rows = [{"id": 1, "tags": ["a"]}, {"id": 2, "tags": []}]
    for write, read in (
        (ex.write_json, ex.read_json),
        (ex.write_arrow, ex.read_arrow),
        (ex.write_parquet, ex.read_parquet),
    ):
        for given in (rows, ex.constant(rows), pa.Table.from_pylist(rows), {"id": [1, 2], "tags": [["a"], []]}):
            assert ex.to_py(read(write(given))) == rows
        out = io.BytesIO()
        assert write(rows, out) is None
        path = tmp_path / write.__name__
        assert write(rows, path) is None
        for source in (out.getvalue(), path, str(path), memoryview(out.getvalue()), bytearray(out.getvalue())):
            assert ex.to_py(read(source)) == rows
        with path.open("rb") as file:
            assert ex.to_py(read(file)) == rows
    assert ex.write_json([1, 2]) == b"1\n2\n"


def test_text_of_arrow_is_written_as_json() -> None:
    table = pa.table({"a": ["x", None], "b": [["y"], []], "c": pa.array([{"d": "z"}, None])})
    assert ex.write_json(table) == b'{"a":"x","b":["y"],"c":{"d":"z"}}\n{"a":null,"b":[],"c":null}\n'


def test_elements_of_several_axes_show_their_axes() -> None:
    assert ex.DurationTensor([[1, 2], [3, 4]], "s").to_py() == [["1s", "2s"], ["3s", "4s"]]
    assert ex.reshape(ex.DecimalTensor.parse(["1.1", "2.2"], 5, 1), (2, 1)).to_py() == [["1.1"], ["2.2"]]
    assert ex.FixedBytesTensor(ex.tensor(np.zeros((1, 2, 1), np.uint8))).to_py() == [[b"\0", b"\0"]]
    masked = ex.MaskedTensor(ex.TimestampTensor([[0, 1]], "s"), [[True, False]])
    assert masked.to_py() == [["1970-01-01T00:00:00", None]]


def test_joined_categories_stand_once() -> None:
    joined = ex.concat([ex.CategoricalTensor([1, 0], ["b", "a"]), ex.CategoricalTensor([0, 1], ["a", "c"])])
    assert (joined.categories.to_py(), joined.to_py()) == (["b", "a", "c"], ["a", "b", "a", "c"])


def test_nulls_of_polars_have_no_buffer() -> None:
    pl = pytest.importorskip("polars")
    assert ex.from_arrow(pl.Series([None, None])).to_py() == [None, None]
    assert ex.from_arrow(pl.DataFrame({"a": [[None], []]})).to_py() == [{"a": [None]}, {"a": []}]


def test_a_mapped_file_is_the_memory_of_the_value(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "numbers.arrow"
    rows = ex.constant([{"id": 7, "tags": ["a"]}, {"id": 8, "tags": []}])
    ex.write_arrow(rows, path)
    value = ex.read_arrow(path, memory_map=True)
    assert value.to_py() == rows.to_py()
    maps = pathlib.Path("/proc/self/maps")
    if maps.exists():
        ranges = [line.split()[0].split("-") for line in maps.read_text().splitlines() if line.endswith(str(path))]
        address = np.asarray(value["id"]).ctypes.data
        assert any(int(start, 16) <= address < int(end, 16) for start, end in ranges)
    empty = tmp_path / "empty.arrow"
    empty.touch()
    for odd, error in ((empty, "there is no message"), (tmp_path / "none.arrow", "No such file")):
        with pytest.raises(ex.Error, match=error):
            ex.read_arrow(odd, memory_map=True)


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed_files_are_read_and_written(compression: str) -> None:
    table = pa.table({"a": list(range(5000)), "s": ["x", None] * 2500, "l": [[1, 2], []] * 2500})
    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, max_chunksize=1000)
    value = ex.from_arrow(table)
    assert ex.read_arrow(out.getvalue()).to_py() == value.to_py()
    written = ex.write_arrow(value, compression=compression)
    assert len(written) < len(ex.write_arrow(value)) / 2
    assert pa.ipc.open_file(written).read_all().to_pylist() == table.to_pylist()
    with pytest.raises(ex.Error, match="'lz4', 'zstd' or None"):
        ex.write_arrow(value, compression="gzip")
    # What packs well is read within a bound, and written in batches that are within it.
    assert ex.read_arrow(ex.write_arrow(ex.zeros((30_000_000,), dtype="i64"), compression=compression)).shape == (30_000_000,)


def test_times_and_decimals_are_text_in_json_and_csv() -> None:
    table = _TYPES.drop_columns(["id", "spent"])
    row = {"time": "1970-01-01T00:00:00.000001Z", "day": "1970-01-02", "price": "1.10", "kind": "a"}
    assert ex.read_json(ex.write_json(table)).to_py() == [row, dict.fromkeys(row)]
    assert ex.write_csv(table) == b"time,day,price,kind\n1970-01-01T00:00:00.000001Z,1970-01-02,1.10,a\n,,,\n"
    spent = ex.constant([{"at": 1}]).with_updates({"at": ex.DurationTensor([5], "s")})
    assert ex.write_json({"rows": spent, "uuid": ex.from_arrow(pa.array([bytes(16)], pa.uuid()))}) == (
        b'{"rows":{"at":"5s"},"uuid":"00000000-0000-0000-0000-000000000000"}\n'
    )


def test_bad_records_of_files_are_left_out_or_hold_defaults() -> None:
    file = ex.write_arrow(ex.constant([{"id": 1}, {"id": None}]))
    spec = ex.constant([{"id": 1}]).spec
    rows, bad = ex.decode_arrow([file, file], spec, on_error="skip")
    assert (ex.to_py(rows), bad.tolist()) == ([[{"id": 1}], [{"id": 1}]], [1, 1])
    rows, bad = ex.function(lambda x: ex.decode_arrow(x, spec, on_error="default"))(ex.tensor([file]))
    assert (ex.to_py(rows), bad.to_py()) == ([[{"id": 1}, {"id": 0}]], [[False, True]])
    with pytest.raises(ex.Error, match="row 0: row 1, 'id': null came"):
        ex.decode_arrow(file, spec)


def test_unions_have_a_spec_and_a_shape() -> None:
    union = ex.from_arrow(pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["x", "y"])]))
    assert (union.shape, union.child_ids(), union.spec) == ((2,), [0, 1], ex.spec_of(union))


def test_what_parquet_lacks_is_said() -> None:
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    for value in (ex.from_arrow(union), ex.constant([{}, {}])):
        with pytest.raises(ex.Error, match="write_parquet: column 'a' .* which Parquet does not have"):
            ex.write_parquet({"a": value})


def test_what_other_libraries_lack_is_an_error_and_no_panic() -> None:
    pl = pytest.importorskip("polars")
    for array in (
        pa.array([Decimal("1e40")], pa.decimal256(76, 2)),
        pa.array([Decimal("100")], pa.decimal128(5, -2)),
        pa.array([b""], pa.binary(0)),
    ):
        with pytest.raises(ex.Error, match="to_polars"):
            ex.from_arrow(array).to_polars()
        with pytest.raises(ex.Error, match="to_polars"):
            ex.from_arrow(pa.array([[array[0].as_py()]], pa.list_(array.type))).to_polars()
    with pytest.raises(ex.Error, match="from_polars"):
        ex.from_polars(pl.Series([1], dtype=pl.Int128))
    with pytest.raises(ex.Error, match="between two microseconds"):
        ex.TimeTensor([1], "ns").to_numpy()
    pandas = pytest.importorskip("pandas")
    assert ex.from_pandas(pandas.Series(pandas.arrays.SparseArray([0, 0, 1]))).tolist() == [0, 0, 1]
    with pytest.raises(ex.Error, match="from_pandas"):
        ex.from_pandas(pandas.Series([2**70, 1], dtype=object))
    missing = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.array(["x", None]))
    assert ex.from_arrow(missing).to_pandas().isna().tolist() == [False, True, True]
    assert ex.from_arrow(missing).to_awkward().to_list() == ["x", None, None]


def test_maps_and_tensors_come_back_as_the_type_that_is_asked_for() -> None:
    arrays = [
        pa.array([[("a", 1), ("b", 2)], [], [("c", None)]], pa.map_(pa.string(), pa.int64())),
        pa.array([[("a", 1)], None, [("c", 3)]], pa.map_(pa.string(), pa.int64())),
        pa.array([[[1], [2, 3]], []], pa.list_(pa.large_list(pa.int64()))),
        pa.array([{"m": [("a", [1])], "x": 1}, None], pa.struct([("m", pa.map_(pa.string(), pa.list_(pa.int8()))), ("x", pa.int8())])),
        pa.array([[[("a", 1)], []], []], pa.list_(pa.map_(pa.string(), pa.int64()))),
        pa.array([["a", None], ["longer than twelve bytes"], []], pa.list_(pa.string_view())),
        pa.array([{"s": "a", "b": b"\xff"}, {"s": None, "b": b""}], pa.struct([("s", pa.large_string()), ("b", pa.binary_view())])),
    ]
    for array in arrays:
        for part in (array, array[1:]):
            again = pa.array(ex.from_arrow(part), type=array.type)
            assert (again.type, again.to_pylist()) == (array.type, part.to_pylist())
    for texts in ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"]:
        wanted = getattr(pa, texts)()
        given = ["a", "longer than twelve bytes", ""] if "string" in texts else [b"a", b"\xff" * 20, b""]
        for others in ["", "large_"]:
            own = pa.array(given, getattr(pa, others + texts.removeprefix("large_").removesuffix("_view"))())
            again = pa.array(ex.from_arrow(own), type=wanted)
            assert (again.type, again.to_pylist()) == (wanted, given)
    again = pa.array(ex.from_arrow(arrays[0]), type=arrays[0].type)
    buffers = [[buffer.address for buffer in a.buffers() if buffer and buffer.size] for a in (again, arrays[0])]
    # The validity of the values is all that may differ: what has no null has none.
    assert set(buffers[0]) <= set(buffers[1])
    # Of an array, pyarrow asks for the storage of a registered type; of the columns of a batch, for the type.
    tensors = pa.fixed_shape_tensor(pa.float64(), [2, 3])
    storage = pa.array([[0.0, 1, 2, 3, 4, 5], None], pa.list_(pa.float64(), 6))
    batch = pa.record_batch({"t": pa.ExtensionArray.from_storage(tensors, storage), "m": arrays[0][:2]})
    assert pa.record_batch(ex.from_arrow(batch), schema=batch.schema).equals(batch)
    # Other elements than there are stay as they are.
    for value, asked in [(ex.tensor([1, 2]), pa.int8()), (ex.constant([[1, 2], []]), pa.map_(pa.string(), pa.string()))]:
        kept = pa.Array._import_from_c_capsule(*value.__arrow_c_array__(asked.__arrow_c_schema__()))
        assert kept.equals(pa.array(value))


def test_one_long_run_is_read_and_dense_unions_go_into_rows() -> None:
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([10_000_000], pa.int32()), pa.array([7]))
    table, out = pa.table({"x": runs}), io.BytesIO()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    x = ex.read_arrow(out.getvalue())["x"]
    assert x.shape == (10_000_000,) and x[0].item() == x[-1].item() == 7
    tags, offsets = pa.array([0, 1, 0], pa.int8()), pa.array([1, 0, 0], pa.int32())
    union = ex.from_arrow(pa.UnionArray.from_dense(tags, offsets, [pa.array([1, 2]), pa.array(["a"])], ["n", "s"]))
    assert ex.write_json({"u": union}) == b'{"u":2}\n{"u":"a"}\n{"u":1}\n'
    records = ex.StructTensor([3], {"u": union})
    schema = "syntax = 'proto3'; message E { oneof u { int64 n = 1; string s = 2; } }"
    assert ex.encode_proto(records, schema, "E").tolist() == [b"\x08\x02", b"\x12\x01a", b"\x08\x01"]
    encoded = ex.function(ex.encode_json, name="encoded")
    assert encoded(records).tolist() == ['{"u":2}', '{"u":"a"}', '{"u":1}']


@pytest.mark.parametrize("levels", [65, 3000])
def test_arrays_that_nest_too_deep_are_an_error(levels: int) -> None:
    array: pa.Array = pa.array([1])
    for _ in range(levels):
        array = pa.StructArray.from_arrays([array], ["a"])
    with pytest.raises(ex.DataError, match="from_arrow: the lists and records nest too deep"):
        ex.from_arrow(array)


def test_records_in_lists_of_one_size_whose_own_lists_are_of_size_0() -> None:
    kind = pa.list_(pa.struct([("a", pa.list_(pa.int64(), 0)), ("b", pa.int64())]), 2)
    array = pa.array([[{"a": [], "b": 1}, {"a": [], "b": 2}]] * 3, kind)
    value = ex.from_arrow(array)
    assert value.shape == (3, 2) and pa.array(ex.to_arrow(value)).to_pylist() == array.to_pylist()
    assert ex.to_py(ex.reshape(value, (-1, 3))) == [[{"a": [], "b": n} for n in row] for row in ((1, 2, 1), (2, 1, 2))]
    with pytest.raises(ex.Error, match="reshape"):
        ex.reshape(value, (-1, 4))


def test_bits_that_begin_inside_a_byte_under_a_mask_of_their_own() -> None:
    bits = ex.from_arrow(pa.array([True] * 7 + [False, True] * 6))
    for start in range(8):
        part = bits[start : start + 12 - start % 3]
        masked = ex.mask(part, ex.equal(part, True))
        assert pa.array(masked.to_arrow()).to_pylist() == [True if bit else None for bit in part.tolist()]


def test_lists_of_one_size_may_be_missing_and_so_may_what_is_in_them() -> None:
    """A list that is missing is no list of missing elements, and no zero stands for an element that is missing beside it."""
    rows = [[[1, None], None], [[3, 4], [5, 6]]]
    value = ex.from_arrow(pa.array(rows, pa.list_(pa.list_(pa.int64(), 2), 2)))
    assert value.to_arrow().to_pylist() == rows and ex.to_py(value) == rows
    assert ex.to_py(ex.is_none(value)) == [[item is None for item in row] for row in rows]
    assert ex.to_py(ex.is_none(value, axis=2)) == [[[False, True], None], [[False, False], [False, False]]]
    assert ex.to_py(ex.sum(value, axis=2)) == [[1, None], [7, 11]]
    assert ex.to_py(ex.reshape(value, (8,))) == [1, None, None, None, 3, 4, 5, 6]


@pytest.mark.parametrize("start", range(9))
def test_lists_under_a_mask_over_bits_that_begin_inside_a_byte(start: int) -> None:
    bits = pa.array([True, None, False, True, None] * 8)[start : start + 27]
    pairs = pa.FixedSizeListArray.from_arrays(bits[:20], 2, mask=pa.array([False, True] * 5))
    lists = [pairs, pa.FixedSizeListArray.from_arrays(pairs[:4], 1, mask=pa.array([False, False, True, False]))]
    lists.append(pa.ListArray.from_arrays(pa.array([0, 3, None, 4], pa.int32()), pairs))
    lists.append(pa.StructArray.from_arrays([pairs], ["a"], mask=pa.array([False, False, True] * 3 + [False])))
    for given in lists:
        for part in (given, given[1:]):
            assert pa.array(ex.from_arrow(part).to_arrow()).to_pylist() == part.to_pylist()


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        (pa.list_(pa.list_(pa.large_string()), 2), [[["a"], ["b", "c"]], [[], ["d"]]]),
        (pa.list_(pa.list_(pa.large_string()), 2), [[["a"], None], None, [[], [None]]]),
        (pa.list_(pa.struct({"a": pa.list_(pa.int64())}), 2), [[{"a": [1]}, {"a": []}]]),
        (pa.list_(pa.list_(pa.list_(pa.int8()), 2), 3), [[[[1], []], [[2], []], [[3], []]]]),
        (pa.list_(pa.list_(pa.list_(pa.int8(), 2)), 2), [[[[1, 2]], []], [[], [[3, 4], [5, 6]]]]),
        (pa.list_(pa.list_(pa.large_string()), 0), [[], []]),
    ],
)
def test_lists_of_one_size_over_lists_are_what_they_are(kind: pa.DataType, rows: list[Any], tmp_path: pathlib.Path) -> None:
    given = pa.array(rows, kind)
    value = ex.from_arrow(given)
    assert value.shape[1] == kind.list_size and ex.to_py(value) == rows
    for part, wanted in ((value, rows), (value[1:], rows[1:]), (ex.concat([value, value], axis=0), rows + rows)):
        out = pa.array(part.to_arrow())
        assert out.type == kind and out.to_pylist() == wanted
    table = pa.table({"x": given})
    for write, read, name in ((ex.write_arrow, ex.read_arrow, "x.arrow"), (ex.write_parquet, ex.read_parquet, "x.parquet")):
        write(ex.from_arrow(table), tmp_path / name)
        back = read(tmp_path / name)
        assert ex.to_py(back["x"]) == rows and back["x"].shape[1] == kind.list_size, name


def test_rows_of_one_length_are_known_to_functions_and_kept_by_files(tmp_path: pathlib.Path) -> None:
    pairs = ex.RaggedTensor.from_uniform_row_length(ex.constant([[1], [2, 3], [], [4]]), 2)
    assert pairs.partition.uniform_row_length == 2 and pickle.loads(pickle.dumps(pairs)).shape == (2, 2, None)
    shapes = []

    @ex.function
    def f(x: Any) -> Any:
        shapes.append(x.shape)
        return ex.sum(x[:, -1], axis=-1)

    assert f(pairs).tolist() == [5, 4] and f(pairs[:1]).tolist() == [5]
    assert [shape[1] for shape in shapes] == [2, 2]
    with pytest.raises(ex.Error, match="is ragged"):
        f(ex.constant([[[1], [2, 3]], [[4]]]))
    ex.save(f.get_concrete_function(ex.RaggedTensorSpec([None, 2, None], "i64")), tmp_path / "f.exo")
    loaded = ex.load(tmp_path / "f.exo").f
    assert loaded(pairs).tolist() == [5, 4]
    with pytest.raises(ex.Error):
        loaded(ex.constant([[[1], [2, 3], [4]]]))
    spec = ex.StructTensorSpec([None], {"x": ex.RaggedTensorSpec([None, 2, None], "i64")})
    assert ex.read_json([{"x": [[1], []]}], spec)["x"].shape == (1, 2, None)
    with pytest.raises(ex.Error, match="row 1.*: a list of 1 items came"):
        ex.read_json([{"x": [[1], []]}, {"x": [[1]]}], spec)


def test_files_of_polars_are_run(tmp_path: pathlib.Path) -> None:
    pl = pytest.importorskip("polars")
    names = pl.Series(["x", "a long text of some bytes", None, "x"])
    frame = pl.DataFrame({"n": [1, 2, 3, 4], "name": names, "kind": names.cast(pl.Categorical), "in": [[1], [], None, [2]]})
    f = ex.function(lambda row: ex.zip({"n": row["n"] * 10, "name": ex.fill_none(row["name"], "?"), "kind": row["kind"]}))
    wanted = [{"n": n, "name": name or "?", "kind": name} for n, name in zip([10, 20, 30, 40], names, strict=True)]
    for number, given in enumerate([frame, frame[:0], pl.concat([frame, frame])]):
        for compression in ["uncompressed", "lz4", "zstd"]:
            path = tmp_path / f"{number}-{compression}.arrow"
            given.write_ipc(path, compression=compression, record_batch_size=2)
            rows = len(given)
            assert ex.to_py(f.run(path)) == (wanted * 2)[:rows]
            assert ex.to_py(ex.read_arrow(path, paths=["n"])) == [{"n": n} for n in given["n"]]
    cut = path.read_bytes()[:150]
    (tmp_path / "cut.arrow").write_bytes(cut)
    with pytest.raises(ex.DataError, match="malformed"):
        f.run(tmp_path / "cut.arrow")


def test_texts_and_rows_of_none_of_the_elements_are_read_again() -> None:
    for value in (ex.constant(["abc", "def"])[2:], ex.constant([["p", "q"], ["r"], []])[2:], ex.constant([{"s": "abc"}])[1:]):
        array = value.to_arrow()
        array.validate(full=True)
        assert ex.to_py(ex.from_arrow(array)) == ex.to_py(value)
        assert ex.to_py(ex.from_arrow(value)) == ex.to_py(value)


def test_categories_without_a_word_are_folded_and_written() -> None:
    rows = ex.RaggedTensor.from_row_lengths(ex.CategoricalTensor.of(ex.tensor([], dtype="string")), ex.tensor([0, 0]))
    for fold in (lambda x: ex.max(x, axis=1), lambda x: ex.min(x, axis=1), lambda x: ex.first(x, axis=1)):
        for call in (fold, ex.function(fold)):
            assert call(rows).to_py() == [None, None]
            assert pa.array(call(rows)).to_pylist() == [None, None]
    words, none = ex.CategoricalTensor.of(["b", "a"]), ex.max(rows, axis=1)
    assert ex.where(ex.tensor([True, False]), words, none).to_py() == ["b", None]
    assert ex.concat([words, none]).to_py() == ["b", "a", None, None]


def test_categories_of_two_vocabularies_meet_in_where() -> None:
    there, x, y = ex.tensor([True, False, False]), ex.CategoricalTensor.of(["a", "b", "a"]), ex.CategoricalTensor.of(["c", "b", "b"])
    choose = ex.function(lambda there, x, y: ex.where(there, x, y))
    for call in (ex.where, choose):
        assert call(there, x, y).to_py() == ["a", "b", "b"]
        assert call(there, x, ex.CategoricalTensor.of(["c", None, "b"])).to_py() == ["a", None, "b"]
    assert ex.where(there, x, y).categories.to_py() == ["a", "b", "c"]
    with pytest.raises(ex.InvalidValueError, match="two vocabularies"):
        ex.where(there, ex.CategoricalTensor([0, 1, 0], ["a", "b"], True), ex.CategoricalTensor([0, 1, 0], ["a", "c"], True))


def test_a_mask_of_elements_says_nothing_of_a_list() -> None:
    lists = pa.list_(pa.int64(), 2)
    spec = ex.StructTensorSpec([None], {"c": ex.MaskedTensorSpec(ex.TensorSpec([None, 2], "i64"))})
    table = pa.table({"c": pa.array([[1, None], None, [3, 4]], lists)})
    read, bad = ex.read_arrow(table, spec, on_error="skip")
    assert (read.to_py(), bad.rows) == ([{"c": [1, None]}, {"c": [3, 4]}], [1])
    with pytest.raises(ex.DataError, match="row 1, 'c': null came"):
        ex.from_arrow(table, spec)


def test_what_raises_is_the_first_row_that_does_not_fit_whatever_its_column() -> None:
    of = ex.TensorSpec([None], "i64")
    table = pa.table({"a": [1, 2, None], "b": [None, 1, 2]})
    with pytest.raises(ex.DataError, match="row 0, 'b'"):
        ex.read_arrow(table, ex.StructTensorSpec([None], {"a": of, "b": of}))
    with pytest.raises(ex.DataError, match="row 0"):
        ex.from_arrow(pa.array([[None], [1], None]), ex.RaggedTensorSpec([None, None], "i64"))


def test_a_union_without_rows_whose_child_has_some_is_read_as_a_stream_too() -> None:
    union = pa.UnionArray.from_dense(pa.array([], pa.int8()), pa.array([], pa.int32()), [pa.array([1, 2])])
    for file in (True, False):
        out = io.BytesIO()
        table = pa.table({"c": union})
        with (pa.ipc.new_file if file else pa.ipc.new_stream)(out, table.schema) as writer:
            writer.write_table(table)
        assert ex.read_arrow(out.getvalue(), ex.infer_spec(out.getvalue())).to_py() == []


def test_runs_of_a_type_with_a_name_fit_their_own_spec() -> None:
    flags = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8()))
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 3], pa.int32()), flags)
    value = ex.from_arrow(runs)
    assert ex.from_arrow(runs, ex.spec_of(value)).to_py() == value.to_py() == [True, False, False]


def test_a_field_without_a_name_is_not_written() -> None:
    for write in (ex.write_arrow, ex.write_parquet, ex.write_avro):
        with pytest.raises(ex.InvalidValueError, match="the name of (a field|field 0) is empty"):
            write({"": ex.tensor([1])})


@pytest.mark.parametrize("order", [[1, 0], [0, 1], [2, 0, 1], [1, 2, 0], [2, 1, 0]])
def test_tensors_whose_axes_are_in_another_order_come_back_as_they_were_stored(order: "list[int]") -> None:
    sizes = [2, 3, 4][: len(order)]
    count = int(np.prod(sizes))
    tensors = _tensors(sizes, [list(range(count)), None, list(range(count, 2 * count))], permutation=order)
    for array in (tensors, tensors.slice(1), tensors.drop_null()):
        batch = pa.record_batch({"t": array})
        x = ex.from_arrow(batch)
        assert list(ex.fill_none(x["t"], 0).shape) == [len(array), *(sizes[axis] for axis in order)]
        assert pa.record_batch(x, schema=batch.schema).equals(batch)


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.list_view(pa.int64()), pa.large_list_view(pa.int64())])
def test_lists_of_any_layout_are_axes_where_a_spec_has_one(kind: pa.DataType) -> None:
    pairs = ex.TensorSpec([None, 2], "i64")
    array = pa.array([[1, 2], [3, 4], [5, 6]], kind)
    assert ex.from_arrow(array, pairs).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert ex.from_arrow(array.take(pa.array([2, 0])), pairs).tolist() == [[5, 6], [1, 2]]
    assert ex.from_arrow(_runs(pa.array([[1, 2], [3, 4]]), [1, 3]), pairs).tolist() == [[1, 2], [3, 4], [3, 4]]
    some = ex.MaskedTensorSpec(pairs, ex.TensorSpec([None], "bool"))
    assert ex.to_py(ex.from_arrow(pa.array([[1, 2], None], kind), some)) == [[1, 2], None]
    with pytest.raises(ex.ShapeError, match="row 1"):
        ex.from_arrow(pa.array([[1, 2], [3]], kind), pairs)


@pytest.mark.parametrize("write", [ex.write_arrow, ex.write_parquet, ex.write_avro])
def test_values_that_lack_all_elements_are_read_back_as_what_a_function_wants(write: "Any") -> None:
    rows = [{"l": [{"p": 1}], "x": 1, "s": "a", "d": [1]}, {"l": [], "x": None, "s": None, "d": None}]
    f = ex.function(lambda r: {"n": ex.num(r["l"]), "p": ex.sum(r["l"]["p"], axis=1), "x": r["x"], "s": r["s"], "d": r["d"]}, name="f")
    f = f.get_concrete_function(ex.infer_spec(rows))
    for today in ([{"l": [], "x": None, "s": None, "d": None}], [{"l": [], "x": None, "s": None, "d": None}] * 3):
        n = len(today)
        wanted = {"n": [0] * n, "p": [0] * n, "x": [None] * n, "s": [None] * n, "d": [None] * n}
        source = write(ex.constant(today))
        for found in (f.run(source), f.run(today), f.run(ex.constant(today)), f(ex.constant(today))):
            assert ex.to_py(found) == wanted
    # What is there is of its type, whatever becomes of rows.
    doubles = {"l": [], "x": 1.5, "s": None, "d": None}
    for on_error in ("skip", "default"):
        for others in ([], today, [{**doubles, "x": None}] * 3):
            with pytest.raises(ex.DTypeError, match="Float64"):
                f.run(write(ex.constant([*others, doubles])), on_error=on_error)
    with pytest.raises(ex.DTypeError, match="Float64"):
        f.run(write(ex.constant([{"l": [], "x": 1.5, "s": None, "d": None}])))
    with pytest.raises(ex.DataError, match="null came"):
        ex.from_arrow(pa.array([None, None], pa.float64()), ex.TensorSpec([None], "i64"))


def test_what_avro_says_of_text_and_bytes_counts_where_bytes_are_wanted() -> None:
    def run(of: str, file: bytes) -> "Any":
        spec = ex.StructTensorSpec([None], {"x": ex.TensorSpec([None], of)})
        return ex.function(lambda r: r["x"], name="f").get_concrete_function(spec).run(file).tolist()

    named = ex.from_arrow(pa.table({"x": pa.array([bytes(15) + b"\5"], pa.uuid())}))
    amount = ex.StructTensor([1], {"x": ex.DecimalTensor.parse(["5.00"], 5, 2)})
    for write in (ex.write_arrow, ex.write_parquet, ex.write_avro):
        assert run("bytes", write(named)) == [bytes(15) + b"\5"]
        with pytest.raises(ex.DTypeError, match="Decimal128"):
            run("bytes", write(amount))
    assert run("string", ex.write_avro(named)) == ["00000000-0000-0000-0000-000000000005"]


def test_a_file_that_was_cut_off_is_refused_before_its_first_batch(tmp_path: pathlib.Path) -> None:
    whole, cut = tmp_path / "whole.arrow", tmp_path / "cut.arrow"
    table = pa.table({"a": [1, 2]})
    with pa.ipc.new_file(whole, table.schema) as writer:
        writer.write_table(table)
        writer.write_table(table)
    f = ex.function(lambda r: r["a"], name="f").get_concrete_function(ex.infer_spec(str(whole)))
    assert f.run(str(whole)).tolist() == [1, 2, 1, 2]
    for size in (-1, -7, 40):
        cut.write_bytes(whole.read_bytes()[:size])
        for read in (f.run, ex.infer_spec, ex.read_arrow):
            with pytest.raises(ex.DataError, match="the IPC bytes are malformed: "):
                read(str(cut))
        with pytest.raises(ex.DataError, match="does not end as it begins"):
            ex.infer_spec(str(cut))
