"""Avro: what another reader and writer of it agree with, and what runs do with it."""

import datetime
import decimal
import gzip
import io
import json
import random
import uuid
from pathlib import Path
from typing import Any

import extenso as ex
import numpy as np
import pyarrow as pa
import pytest

SCHEMA = {
    "type": "record",
    "name": "Row",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "flag", "type": "boolean"},
        {"name": "small", "type": "int"},
        {"name": "price", "type": "float"},
        {"name": "exact", "type": "double"},
        {"name": "name", "type": "string"},
        {"name": "raw", "type": "bytes"},
        {"name": "maybe", "type": ["null", "long"]},
        {"name": "other", "type": ["string", "null"]},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "stock", "type": {"type": "map", "values": "int"}},
        {"name": "color", "type": {"type": "enum", "name": "Color", "symbols": ["RED", "GREEN"]}},
        {"name": "again", "type": ["null", "Color"]},
        {"name": "code", "type": {"type": "fixed", "name": "Code", "size": 3}},
        {"name": "user", "type": ["null", {"type": "record", "name": "User", "fields": [{"name": "age", "type": ["null", "int"]}]}]},
        {"name": "items", "type": {"type": "array", "items": {"type": "record", "name": "Item", "fields": [{"name": "sku", "type": "string"}, {"name": "counts", "type": {"type": "array", "items": "long"}}]}}},
        {"name": "either", "type": ["long", "string"]},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
    ],
}


def _rows(seed: int, n: int) -> "list[dict[str, Any]]":
    rng = random.Random(seed)
    text = lambda: rng.choice(["", "a", "ß", "日本" * rng.randrange(40)])
    long = lambda: rng.choice([0, -1, 63, 64, -65, 2**63 - 1, -(2**63), rng.randrange(-(10**6), 10**6)])
    color = lambda: rng.choice(["RED", "GREEN"])
    return [
        {
            "id": long(),
            "flag": rng.random() < 0.5,
            "small": rng.choice([0, -(2**31), 2**31 - 1]),
            "price": float(np.float32(rng.uniform(-1, 1))),
            "exact": rng.uniform(-1, 1),
            "name": text(),
            "raw": bytes(rng.randrange(256) for _ in range(rng.randrange(5))),
            "maybe": rng.choice([None, long()]),
            "other": rng.choice([None, text()]),
            "tags": [text() for _ in range(rng.randrange(4))],
            "stock": {f"k{i}": rng.randrange(100) for i in range(rng.randrange(3))},
            "color": color(),
            "again": rng.choice([None, color()]),
            "code": bytes(rng.randrange(256) for _ in range(3)),
            "user": rng.choice([None, {"age": rng.choice([None, 7])}]),
            "items": [{"sku": text(), "counts": [long() for _ in range(rng.randrange(3))]} for _ in range(rng.randrange(3))],
            "either": rng.choice([long(), text()]),
            "day": datetime.date(2000, 1, 1) + datetime.timedelta(days=rng.randrange(-(10**4), 10**4)),
            "at": datetime.datetime(2001, 2, 3, tzinfo=datetime.timezone.utc) + datetime.timedelta(microseconds=rng.randrange(10**12)),
            "amount": decimal.Decimal(rng.randrange(-(10**11), 10**11)).scaleb(-2),
            "key": uuid.UUID(int=rng.getrandbits(128)),
        }
        for _ in range(n)
    ]


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard"])
@pytest.mark.parametrize(("seed", "n"), [(1, 0), (2, 1), (3, 500)])
def test_files_of_another_writer_give_its_records(codec: str, seed: int, n: int) -> None:
    fastavro = pytest.importorskip("fastavro")
    rows, sink = _rows(seed, n), io.BytesIO()
    fastavro.writer(sink, SCHEMA, rows, codec=codec, sync_interval=1000)
    read = ex.read_avro(sink.getvalue())
    table = pa.RecordBatch.from_struct_array(pa.array(read.to_arrow()))
    for name in ["id", "flag", "small", "price", "exact", "name", "raw", "maybe", "other", "tags", "again", "color", "code", "user", "items", "day", "at", "amount"]:
        assert table.column(name).to_pylist() == [row[name] for row in rows], name
    assert [{e["key"]: e["value"] for e in row} for row in table.column("stock").to_pylist()] == [row["stock"] for row in rows]
    assert table.column("either").to_pylist() == [row["either"] for row in rows]
    assert [uuid.UUID(bytes=v) if isinstance(v, bytes) else v for v in table.column("key").to_pylist()] == [row["key"] for row in rows]


def test_another_reader_gives_the_records_that_were_written() -> None:
    fastavro = pytest.importorskip("fastavro")
    records = [
        {"id": 1, "user": {"name": "a", "age": None}, "items": [{"price": 1.5, "tags": ["x"]}], "score": None},
        {"id": -7, "user": {"name": "ß", "age": 3}, "items": [], "score": 0.25},
    ]
    for codec in ["null", "deflate"]:
        file = ex.write_avro(ex.constant(records), codec=codec)
        assert list(fastavro.reader(io.BytesIO(file))) == records
    at = datetime.datetime(2020, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.timezone.utc)
    columns = {
        "at": pa.array([at, None], pa.timestamp("us", "UTC")),
        "day": pa.array([at.date(), None]),
        "amount": pa.array([decimal.Decimal("-1.05"), None], pa.decimal128(9, 2)),
        "color": pa.array(["RED", None]).dictionary_encode(),
        "list": pa.array([[1, None], None], pa.list_(pa.int16())),
    }
    table = pa.table(columns)
    read = list(fastavro.reader(io.BytesIO(ex.write_avro(table))))
    assert read == table.to_pylist()


def test_files_objects_and_paths(tmp_path: Path) -> None:
    value = ex.constant([{"id": 1, "x": [1.5]}, {"id": 2, "x": []}])
    ex.write_avro(value, tmp_path / "rows.avro")
    with (tmp_path / "more.avro").open("wb") as sink:
        ex.write_avro(value, sink, codec="null")
    for source in [tmp_path / "rows.avro", str(tmp_path / "more.avro"), io.BytesIO(ex.write_avro(value)), bytearray(ex.write_avro(value))]:
        assert ex.to_py(ex.read_avro(source)) == ex.to_py(value)
    with pytest.raises(ValueError, match="codec: found 'lzo'"):
        ex.write_avro(value, codec="lzo")
    with pytest.raises(ex.DataError, match="does not begin with 'Obj'"):
        ex.read_avro(b"PAR1")


def test_runs_read_and_write_avro_block_by_block(tmp_path: Path) -> None:
    records = [{"id": i, "items": [{"price": float(j), "sku": "s" * j} for j in range(i % 4)]} for i in range(5000)]
    value = ex.constant(records)
    f = ex.function(lambda r: {"total": ex.sum(r["items", "price"], axis=1)}, name="total").get_concrete_function(ex.spec_of(value))
    wanted = f(value)["total"].tolist()
    file = ex.write_avro(value)
    (tmp_path / "named.bin").write_bytes(file)
    for source in [file, tmp_path / "named.bin"]:
        assert f.run(io.BytesIO(file))["total"].tolist() == wanted
        assert f.run(source)["total"].tolist() == wanted
        f.run(source, target=tmp_path / "out.avro")
        assert (tmp_path / "out.avro").read_bytes().startswith(b"Obj\x01")
        assert ex.read_avro(tmp_path / "out.avro")["total"].tolist() == wanted
    other = ex.write_avro(ex.constant([{"id": 1, "items": [{"price": "free"}]}]))
    with pytest.raises(ex.DTypeError, match=r"'items\[\*\]\.price' has the Arrow type"):
        f.run(other)
    with pytest.raises(ex.MissingNameError, match=r"there is no column 'items\[\*\]\.price'"):
        f.run(ex.write_avro(ex.constant([{"id": 1, "items": [{"cost": 1.0}]}])))
    counted = ex.function(lambda r: r["items"].row_lengths(), name="count")
    assert counted.get_concrete_function(ex.spec_of(value)).run(file).tolist() == [len(r["items"]) for r in records]


def test_a_packed_file_is_the_file_in_it(tmp_path: Path) -> None:
    records = [{"id": i, "s": "x" * (i % 5)} for i in range(100)]
    file = ex.write_avro(ex.constant(records))
    path = tmp_path / "rows.avro.gz"
    path.write_bytes(gzip.compress(file))
    for source in [file, path, path.read_bytes(), io.BytesIO(path.read_bytes())]:
        assert ex.to_py(ex.read_avro(source)) == records


def _long(n: int) -> bytes:
    """A number that is not negative, as Avro writes it."""
    out, n = b"", n * 2
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def _file_of(of: dict[str, Any], *values: bytes) -> bytes:
    """A file of records of one field `x`, by their bytes."""
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": of}]}).encode()
    body, mark = b"".join(values), b"S" * 16
    head = b"Obj\x01\x02\x16avro.schema" + _long(len(schema)) + schema + b"\0" + mark
    return head + _long(len(values)) + _long(len(body)) + body + mark


def test_a_value_beyond_its_logical_type_is_a_bad_row() -> None:
    digits = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
    read, bad = ex.read_avro(_file_of(digits, b"\x04\x27\x0f", b"\x04\x27\x10", b"\x04\xd8\xf1", b"\x04\xd8\xf0"), on_error="skip")
    assert (read["x"].to_py(), bad.rows) == (["99.99", "-99.99"], [1, 3])
    millis = {"type": "int", "logicalType": "time-millis"}
    read, bad = ex.read_avro(_file_of(millis, b"\x01", b"\0", _long(86_399_999), _long(86_400_000)), on_error="skip")
    assert (read["x"].to_py(), bad.rows) == (["00:00:00", "23:59:59.999"], [0, 3])
    with pytest.raises(ex.DataError, match="row 0, byte .*, 'x': the number -1 came"):
        ex.read_avro(_file_of({"type": "long", "logicalType": "time-micros"}, b"\x01"))
