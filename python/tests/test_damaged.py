"""Bytes that lost a part or say more than they have: no row is lost without a word, and no memory taken that nobody needs."""

import hashlib
import io
import pathlib
import struct
import zipfile
import zlib

import extenso as ex
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def _stream(value: object) -> bytes:
    target = io.BytesIO()
    ex.write_arrow(ex.constant(value), target, stream=True)
    return target.getvalue()


def test_bytes_behind_a_stream_are_no_rows_that_are_left_out() -> None:
    whole = _stream([{"x": 1}, {"x": 2}])
    run = ex.function(lambda rows: rows["x"]).run
    for read in (ex.read_arrow, lambda stream: ex.concat([run(stream)])):
        assert len(read(whole + b"\0" * 100)) == 2, "what is filled up with zeros ends there"
        for behind in (whole, b"more"):
            with pytest.raises(ex.DataError, match="more bytes stand behind it"):
                read(whole + behind)


def test_a_footer_tells_of_all_batches() -> None:
    file = io.BytesIO()
    table = pa.table({"x": [1, 2, 3]})
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    whole = file.getvalue()
    # The list of batches is a length of one, and what says where it stands leads to it.
    for at in range(whole.rindex(b"ARROW1") - 200, whole.rindex(b"ARROW1") - 4):
        damaged = whole[:at] + b"\0" + whole[at + 1 :]
        try:
            assert len(ex.read_arrow(damaged)) == 3, at
        except ex.Error:
            continue


def test_batches_together_hold_no_more_than_is_stated() -> None:
    batch = pa.record_batch({"x": np.zeros(8 << 20, np.int64)})
    file = io.BytesIO()
    with pa.ipc.new_file(file, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        for _ in range(17):
            writer.write(batch)
    with pytest.raises(ex.DataError, match="(?s)batches of .* together hold 1140850688.*1024 MB"):
        ex.read_arrow(file.getvalue())


@pytest.mark.parametrize("encoding", ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
def test_a_page_has_no_more_lengths_than_values(encoding: str) -> None:
    file = io.BytesIO()
    texts = pa.table({"x": ["a", "bc"] * 20})
    pq.write_table(texts, file, compression="none", use_dictionary=False, column_encoding={"x": encoding})
    whole = file.getvalue()
    # 128 integers in a block, of 4 parts, and 40 in all.
    at = whole.rindex(b"\x80\x01\x04\x28")
    damaged = whole[: at + 3] + b"\x80\x80\x80\x80\x80\x08" + whole[at + 9 :]
    for read in (ex.read_parquet, lambda file: list(ex.read_parquet_blocks(file, 10)), ex.infer_spec):
        with pytest.raises(ex.DataError, match="'x'.*274877906944 lengths"):
            read(damaged)


@pytest.mark.parametrize("name", ["rows.ndjson.gz", "rows.csv.zst"])
def test_a_file_that_lost_all_its_bytes_is_not_one_without_rows(name: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / name
    for left in (b"", b"\x1f"):
        path.write_bytes(left)
        for read in (ex.read_json, ex.infer_spec, ex.function(lambda rows: rows["x"]).run):
            with pytest.raises(ex.DataError, match="its name says that it is packed"):
                read(str(path))


def test_decimals_of_a_file_have_the_digits_of_their_type() -> None:
    cells = pa.py_buffer((10**12).to_bytes(16, "little") + bytes(16))
    there = pa.py_buffer(b"\x02")
    for column, fits in [(pa.Array.from_buffers(pa.decimal128(5, 2), 2, [None, cells]), False),
                         (pa.Array.from_buffers(pa.decimal128(5, 2), 2, [there, cells]), True)]:
        table = pa.table({"x": pa.array([[1], [2]]), "y": pa.StructArray.from_arrays([column], ["z"])})
        file = io.BytesIO()
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        if fits:
            assert ex.read_arrow(file.getvalue())["y"].to_py() == [{"z": None}, {"z": "0.00"}]
        else:
            with pytest.raises(ex.DataError, match="column 'y'"):
                ex.read_arrow(file.getvalue())


def test_blank_lines_are_bounded_as_records_are() -> None:
    zstd = pytest.importorskip("backports.zstd")
    packed = zstd.compress(b'{"a": 1}\n' + b"\n" * (70 << 20) + b'{"a": 2}\n')
    with pytest.raises(ex.DataError, match="packed bytes hold"):
        list(ex.read_json_blocks(io.BytesIO(packed), 10))


def test_offsets_of_any_place_and_of_nothing_are_read() -> None:
    table = pa.table({"s": ["a", "bc"], "b": [b"x", None], "l": [["q"], []], "d": pa.array(["u", "v"]).dictionary_encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    at_odd_place = pa.py_buffer(b"\0" + sink.getvalue().to_pybytes()).slice(1)
    assert ex.from_arrow(pa.ipc.open_stream(at_odd_place).read_all()).to_py() == table.to_pylist()
    behind = pa.array(ex.tensor(["a", "b"])[1:])
    assert ex.from_arrow(behind.slice(0, 0)).to_py() == [] and ex.from_arrow(behind).to_py() == ["b"]
    for kind in (pa.list_(pa.int64()), pa.large_list(pa.int64())):
        nothing = pa.Array.from_buffers(kind, 0, [None, None], children=[pa.array([], pa.int64())])
        assert ex.from_arrow(nothing).to_py() == []


def test_a_spec_of_a_saved_function_is_one_of_its_type(tmp_path: pathlib.Path) -> None:
    """Files with other hashes are refused anyway; these are right."""
    words = ex.CategoricalTensor.Spec(ex.TensorSpec([None], "i32"), ex.TensorSpec([None], "string"), False)
    spec = ex.StructTensorSpec([None], {"c": words})
    path = tmp_path / "f.exo"
    ex.save(ex.function(lambda r: {"c": r["c"]}, name="f").get_concrete_function(spec), str(path))
    whole = path.read_bytes()
    parts = zipfile.ZipFile(io.BytesIO(whole))
    graph, manifest = parts.read("graph.pb"), parts.read("manifest.json")
    other = graph.replace(b"@categories", b"@categorieZ")
    assert other != graph
    hashed = manifest.replace(hashlib.sha256(graph).hexdigest().encode(), hashlib.sha256(other).hexdigest().encode())
    for old, new in ((graph, other), (manifest, hashed)):
        sums = (struct.pack("<I", zlib.crc32(part)) for part in (old, new))
        whole = whole.replace(old, new).replace(*sums)
    path.write_bytes(whole)
    with pytest.raises(ex.DataError, match="CategoricalTensor.*is none of its type"):
        ex.load(str(path))
