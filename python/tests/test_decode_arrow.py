"""Files of Arrow as values: written by pyarrow, read eagerly and in a traced function."""

from __future__ import annotations

import io

import pytest

import extenso as ex

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.ipc")

EVENT = ex.StructTensorSpec([None], {"item": ex.TensorSpec([None], "i64"), "tags": ex.RaggedTensorSpec([None, None], "string")})
ROWS = [{"item": 7, "tags": ["a", "b"]}, {"item": 8, "tags": []}]


def file_of(rows: list[dict[str, object]], stream: bool = False) -> bytes:
    schema = pa.schema([("item", pa.int32()), ("tags", pa.list_(pa.string())), ("more", pa.float64())])
    table = pa.Table.from_pylist(rows, schema=schema)
    out = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(out, schema) as writer:
        for batch in table.to_batches(max_chunksize=1):
            writer.write_batch(batch)
    return out.getvalue()


def decode(x: object) -> object:
    return ex.decode_arrow(x, EVENT)


@pytest.mark.parametrize("stream", [False, True])
def test_a_file_is_its_records_and_files_are_rows_of_them(stream: bool) -> None:
    two, none, one = file_of(ROWS, stream), file_of([], stream), file_of(ROWS[1:], stream)
    for read in (decode, ex.function(decode)):
        assert ex.to_py(read(ex.tensor(two))) == ROWS
        assert ex.to_py(read(ex.tensor([two, none, one]))) == [ROWS, [], ROWS[1:]]
        assert ex.to_py(read(ex.constant([[two], [], [none, one]]))) == [[ROWS], [], [[], ROWS[1:]]]
        assert ex.to_py(read(ex.constant([two, None]))) == [ROWS, None]
    assert ex.to_py(decode([])) == []


def test_a_function_needs_the_columns_that_it_uses() -> None:
    items = ex.function(lambda x: ex.decode_arrow(x, EVENT)["item"])
    table = pa.table({"item": [1, 2]})
    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    assert ex.to_py(items(ex.tensor([out.getvalue()]))) == [[1, 2]]
    with pytest.raises(ex.Error, match="'tags'"):
        decode(out.getvalue())


def test_what_is_no_file_is_named() -> None:
    with pytest.raises(ex.Error, match="decode_arrow: row 1"):
        decode([file_of(ROWS), file_of(ROWS)[:-20]])
    with pytest.raises(ex.Error, match="Wanted: strings or bytes"):
        decode([1])
