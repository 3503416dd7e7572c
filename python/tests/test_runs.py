"""Functions over Arrow files and streams: from bytes, paths and file objects, as a value and into files."""

import gzip
import io
import json
import os
import pathlib
import subprocess
import sys
import threading
from typing import Any

import extenso as ex
import pyarrow as pa
import pytest

ROWS = [{"id": 1, "items": [{"price": 2.5}, {"price": 1.5}]}, {"id": 2, "items": []}, {"id": 3, "items": [{"price": 4.0}]}]
TOTALS = [4.0, 0.0, 4.0]


@pytest.fixture(name="totals")
def _totals() -> Any:
    total = ex.function(lambda rows: {"total": ex.sum(rows["items", "price"], axis=1)}, name="total")
    return total.get_concrete_function(ex.infer_spec(ROWS))


def _written(stream: bool, rows: "list[dict[str, Any]]" = ROWS) -> bytes:
    out = io.BytesIO()
    table = pa.Table.from_pylist(rows)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return out.getvalue()


@pytest.mark.parametrize("stream", [False, True])
def test_every_kind_of_source_gives_the_same(totals: Any, stream: bool, tmp_path: pathlib.Path) -> None:
    data = _written(stream)
    path = tmp_path / ("rows.arrows" if stream else "rows.arrow")
    path.write_bytes(data)
    assert ex.to_py(ex.read_arrow(gzip.compress(data))) == ex.to_py(ex.read_arrow(path)) == ROWS
    for make in (lambda: data, lambda: path, lambda: io.BytesIO(data), lambda: gzip.compress(data)):
        assert totals.run(make())["total"].tolist() == TOTALS
        totals.run(make(), target=tmp_path / "out.csv")
        assert ex.to_py(ex.read_csv(tmp_path / "out.csv")) == [{"total": total} for total in TOTALS]
    for name in ("out.arrow", "out.arrows"):
        totals.run(path, target=tmp_path / name)
        assert ex.to_py(ex.read_arrow(tmp_path / name)) == [{"total": total} for total in TOTALS]


@pytest.mark.parametrize("stream", [False, True])
def test_what_is_cut_short_or_does_not_fit_raises(totals: Any, stream: bool, tmp_path: pathlib.Path) -> None:
    data = _written(stream)
    odd = _written(stream, [{"items": [{"price": "free"}]}])
    for source, wanted in ((data[: len(data) // 2], "malformed"), (odd, r"items\[\*\].price")):
        with pytest.raises(ex.Error, match=wanted):
            totals.run(source)
        with pytest.raises(ex.Error, match=wanted):
            totals.run(source, target=tmp_path / "out.ndjson")
        assert not (tmp_path / "out.ndjson").exists()


LINES = b'{"items": [{"price": 2.5}]}\n{"items": [{"price": "free"}]}\n{"items": []}\n'


def test_the_format_of_a_source_may_be_said(totals: Any, tmp_path: pathlib.Path) -> None:
    double = ex.function(lambda rows: rows["x"] * 2, name="double")
    f = double.get_concrete_function(ex.infer_spec([{"x": 1}]))
    data = b"x\n1\n2\n"
    (tmp_path / "rows.txt").write_bytes(data)
    for source in (data, tmp_path / "rows.txt", io.BytesIO(data)):
        assert f.run(source, format="csv").tolist() == [2, 4]
    # What is said counts more than what the first bytes and the name say.
    with pytest.raises(ex.DataError):
        totals.run(_written(stream=True), format="json")
    with pytest.raises(ex.InvalidValueError, match="one of json, parquet, avro, csv"):
        f.run(data, format="xml")  # type: ignore[call-overload]
    with pytest.raises(ex.InvalidValueError, match="records already"):
        f.run([{"x": 1}], format="json")
    with pytest.raises(ex.InvalidValueError, match="two different things"):
        f.run(data, format="csv", descriptor="message M { optional int64 x = 1; }", message="M", framing="tfrecord")


@pytest.mark.parametrize("name", ["json", "csv", "parquet", "arrow", "arrows"])
def test_the_format_of_a_target_may_be_said_and_it_may_be_a_file_object(totals: Any, name: Any, tmp_path: pathlib.Path) -> None:
    sink = io.BytesIO()
    assert totals.run(ROWS, target=sink, target_format=name) is None
    totals.run(ROWS, target=tmp_path / "out", target_format=name)
    assert sink.getvalue() == (tmp_path / "out").read_bytes() != b""
    back = ex.function(lambda rows: rows["total"], name="back").get_concrete_function(ex.infer_spec([{"total": 0.5}]))
    assert back.run(sink.getvalue(), format=name).tolist() == TOTALS


def test_what_a_file_object_raises_comes_out(totals: Any) -> None:
    class Full(io.RawIOBase):
        def write(self, data: Any) -> int:
            raise RuntimeError(f"no room for {len(data)} bytes")

    with pytest.raises(RuntimeError, match="no room"):
        totals.run(ROWS, target=Full())
    with pytest.raises(ex.DTypeError, match="open for bytes"):
        totals.run(ROWS, target=7)
    with pytest.raises(ex.MissingNameError, match="`target`"):
        totals.run(ROWS, target_format="csv")


@pytest.mark.parametrize("into_file", [False, True])
def test_bad_rows_go_into_a_file_of_their_own(totals: Any, into_file: bool, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "bad.ndjson"
    target: dict[str, Any] = {"target": tmp_path / "out.ndjson"} if into_file else {}
    totals.run(LINES, on_error="skip", bad_rows=path, **target)
    told = ex.to_py(ex.read_json(path))
    assert [(bad["row"], bad["byte"], bad["path"]) for bad in told] == [(1, 49, "items[0].price")]
    assert "free" in told[0]["error"]


def test_a_callback_is_told_of_each_block_and_may_end_the_run(totals: Any, tmp_path: pathlib.Path) -> None:
    data = _written(stream=True)
    told: list[Any] = []
    totals.run(data, target=tmp_path / "out.ndjson", progress=told.append)
    assert [(done.rows, done.bad, done.size) for done in told] == [(2, 0, len(data)), (3, 0, len(data))]
    assert 0 < told[0].bytes < told[1].bytes <= len(data)

    def stop(done: ex.Progress) -> None:
        raise KeyError(done.rows)

    (tmp_path / "out.ndjson").unlink()
    with pytest.raises(KeyError):
        totals.run(data, target=tmp_path / "out.ndjson", progress=stop)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ex.MissingNameError, match="`target`"):
        totals.run(data, progress=told.append)
    with pytest.raises(ex.DTypeError, match="a function of one argument"):
        totals.run(data, target=tmp_path / "out.ndjson", progress=7)


def test_progress_ends_with_what_was_done(totals: Any, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    totals.run(LINES, target=tmp_path / "out.ndjson", on_error="skip", progress=True)
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith(f"1 of 3 rows did not fit.\n3 rows, {len(LINES)} bytes, ")
    totals.run(LINES, target=tmp_path / "out.ndjson", on_error="skip", progress=False)
    assert capsys.readouterr().err == ""


def test_the_name_of_a_target_says_what_stands_between_cells_and_packs_nothing(tmp_path: pathlib.Path) -> None:
    integers = ex.TensorSpec([None], "i64")
    spec = ex.StructTensorSpec([None], {"a": integers, "b": integers})
    both = ex.function(lambda r: {"a": r["a"], "b": r["b"]}, name="both").get_concrete_function(spec)
    source = tmp_path / "x.tsv"
    source.write_text("a\tb\n1\t2\n")
    both.run(source, target=tmp_path / "y.tsv")
    both.run(source, target=tmp_path / "y.csv")
    assert (tmp_path / "y.tsv").read_text() == "a\tb\n1\t2\n"
    assert (tmp_path / "y.csv").read_text() == "a,b\n1,2\n"
    with pytest.raises(ex.InvalidValueError, match="is the name of a packed file"):
        both.run(source, target=tmp_path / "y.csv.gz")
    assert not (tmp_path / "y.csv.gz").exists()


def test_a_function_with_an_input_signature_runs_over_records() -> None:
    def total(rows: Any) -> Any:
        return {"total": ex.sum(rows["items", "price"], axis=1)}

    f = ex.function(total, input_signature=[ex.infer_spec(ROWS)])
    assert f.run(ROWS)["total"].tolist() == f.run(_written(True), on_error="raise")["total"].tolist() == TOTALS
    with pytest.raises(TypeError, match="sauce"):
        f.run(ROWS, sauce=1)


def _stored(path: pathlib.Path) -> "dict[str, Any]":
    """The rows in each format: their source, and what else `run` is told."""
    value, item = ex.constant(ROWS), 'syntax = "proto3"; message Item { double price = 1; } message Row { int64 id = 1; repeated Item items = 2; }'
    message = {"descriptor": item, "message": "Row"}
    ex.write_parquet(value, path / "rows.parquet")
    return {
        "objects": (lambda: ROWS, {}),
        "json": (lambda: ex.write_json(value), {}),
        "lines": (lambda: io.BytesIO(ex.write_json(value)), {}),
        "parquet": (lambda: path / "rows.parquet", {}),
        "parquet in a file object": (lambda: io.BytesIO(ex.write_parquet(value)), {}),
        "avro": (lambda: ex.write_avro(value), {}),
        "arrow": (lambda: _written(False), {}),
        "stream": (lambda: gzip.compress(_written(True)), {}),
        "messages": (lambda: ex.write_proto(value, **message), message),
        "list of messages": (lambda: ex.encode_proto(value, **message), message),
        "JSON of messages": (lambda: ex.write_json(value, **message), {**message, "format": "json"}),
    }


def test_a_function_that_was_not_traced_runs_over_every_format(tmp_path: pathlib.Path) -> None:
    for name, (source, said) in _stored(tmp_path).items():
        of_records = ex.function(lambda rows: ex.sum(rows["items", "price"], axis=1) + ex.cast(rows["id"], "f64"), name="of_records")
        of_fields = ex.function(lambda items, id: ex.sum(items["price"], axis=1) + ex.cast(id, "f64"), name="of_fields")
        for f in (of_records, of_fields):
            assert f.run(source(), **said).tolist() == [5.0, 2.0, 7.0], name
            f.run(source(), target=tmp_path / "out.parquet", **said)
            assert ex.read_parquet(tmp_path / "out.parquet").to_numpy()["value"].tolist() == [5.0, 2.0, 7.0], name
            assert len(f.traces) == 1, name


def test_the_spec_of_a_source_is_that_of_what_its_reader_gives(tmp_path: pathlib.Path) -> None:
    value = ex.constant([{"id": 1, "note": None, "tags": ["a", "b"]}, {"id": 2, "note": "x", "tags": []}])
    ex.write_parquet(value, tmp_path / "rows.parquet")
    ex.write_csv({"id": [1, 2], "note": [None, "x"]}, tmp_path / "rows.tsv")
    for source, read in (
        (tmp_path / "rows.parquet", ex.read_parquet),
        (ex.write_avro(value), ex.read_avro),
        (ex.write_arrow(value), ex.read_arrow),
        (ex.write_json(value), ex.read_json),
        (tmp_path / "rows.tsv", ex.read_csv),
    ):
        spec = ex.infer_spec(source)
        assert spec.shape == (None,) if isinstance(spec.shape, tuple) else True
        assert ex.to_py(read(source, spec)) == ex.to_py(read(source))
        assert {name: type(field) for name, field in spec.field_specs.items()} == {
            name: type(field) for name, field in ex.spec_of(read(source)).field_specs.items()
        }
        assert list(ex.infer_spec(source, paths=["id"]).field_specs) == ["id"]
    assert ex.infer_spec(b'{"data": [{"a": 1}]}', items="data") == ex.infer_spec([{"a": 1}])


def test_what_a_function_takes_and_records_lack_is_told() -> None:
    with pytest.raises(ex.MissingNameError, match="no field 'price', which the function takes") as raised:
        ex.function(lambda price, id, tax=1: price).run(b'{"cost": 1}')
    assert "cost" in str(raised.value)
    assert ex.function(lambda rows, share=2: rows["cost"] * share).run(b'{"cost": 1}').tolist() == [2]
    assert ex.function(lambda cost, id, share=2: cost * share).run(b'{"cost": 1, "id": 3}').tolist() == [2]
    assert ex.function(lambda cost, id, share=2: cost * share).run(b'{"cost": 1, "id": 3, "share": 5}').tolist() == [5]
    with pytest.raises(ex.InvalidValueError, match="has no format"):
        ex.infer_spec([{"a": 1}], format="csv")
    with pytest.raises(ex.InvalidValueError, match="format"):
        ex.infer_spec(b"a", format="cvs")
    with pytest.raises(ex.MissingNameError, match="nothing says of which"):
        ex.infer_spec(b"\x03\x08\x01\x10", format="protobuf")
    with pytest.raises(ex.InvalidValueError, match="^run: function '<lambda>' has no parameter with a name"):
        ex.function(lambda *rows: rows).run(b'{"a": 1}')
    with pytest.raises(ex.FileError, match="A string is a path"):
        ex.infer_spec('{"a": 1}')
    with pytest.raises(ex.FileError, match="A string is a path"):
        ex.function(lambda rows: rows).run('{"a": 1}', target=io.BytesIO())


READS_OF_A_PIPE = """
import pathlib, sys, threading
import extenso as ex
pipe, data = map(pathlib.Path, sys.argv[1:])
for read in (ex.read_parquet, lambda pipe: ex.concat(list(ex.read_parquet_blocks(pipe, 1)))):
    writer = threading.Thread(target=lambda: pipe.write_bytes(data.read_bytes()), daemon=True)
    writer.start()
    print(read(pipe).to_py())
    writer.join(10)
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name")
@pytest.mark.parametrize("name", ["rows.json", "rows.csv", "rows.arrows", "rows.parquet"])
def test_a_pipe_is_read_once_whatever_looks_at_it(name: str, tmp_path: pathlib.Path) -> None:
    double = ex.function(lambda rows: {"y": rows["x"] * 2}, name="double")
    rows = ex.constant([{"x": 1}, {"x": 2}])
    written = {"json": ex.write_json, "csv": ex.write_csv, "arrows": ex.write_arrow, "parquet": ex.write_parquet}
    data = written[name.split(".")[1]](rows)
    os.mkfifo(tmp_path / name)

    def piped(read: Any) -> Any:
        writer = threading.Thread(target=(tmp_path / name).write_bytes, args=(data,), daemon=True)
        writer.start()
        result = read(tmp_path / name)
        writer.join(10)
        return result

    assert repr(piped(ex.infer_spec)) == repr(ex.infer_spec(rows.to_py()))
    traced = double.get_concrete_function(ex.infer_spec(rows.to_py()))
    for f in (double, traced):
        assert piped(f.run)["y"].tolist() == [2, 4]
        piped(lambda source, f=f: f.run(source, target=tmp_path / "out.csv"))
        assert (tmp_path / "out.csv").read_bytes() == b"y\n2\n4\n"
    if name == "rows.arrows":
        assert piped(lambda source: ex.read_arrow(source, memory_map=True)).to_py() == rows.to_py()
    if name == "rows.parquet":
        (tmp_path / "data").write_bytes(data)
        # In a process of its own, which can be ended if the pipe is waited for under the lock that its writer wants.
        command = [sys.executable, "-c", READS_OF_A_PIPE, str(tmp_path / name), str(tmp_path / "data")]
        done = subprocess.run(command, timeout=120, capture_output=True, text=True, check=False)
        assert done.stdout == f"{rows.to_py()}\n" * 2, done.stderr


class Amount(ex.ExtensionType):
    """An amount that is not negative."""

    units: ex.Tensor
    note: ex.Tensor

    def __validate_data__(self) -> None:
        if bool(ex.any(self.units < 0)):
            raise ValueError("an amount is negative")


CSV = b"paid.units,paid.note\n1,a\n-3,bc\n"
OWED = [{"paid": {"units": 1, "note": "a"}}, {"paid": {"units": -3, "note": "bc"}}]
SHOP = "syntax = 'proto3'; message Paid { int64 units = 1; string note = 2; } message Row { Paid paid = 1; }"
MESSAGES = [b"\x0a\x05\x08\x01\x12\x01a", b"\x0a\x0f\x08\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01\x12\x02bc"]


def _amounts(both: bool) -> Any:
    spec = ex.infer_spec(OWED)
    of_rows = ex.spec_of(ex.StructTensor(shape=[1], fields={"paid": Amount([1], ["a"])}))
    assert spec != of_rows
    part = lambda rows: {"y": rows["paid"].units + (ex.string_length(rows["paid"].note) if both else 0)}
    return ex.function(part, name="part", reduce_retracing=True).get_concrete_function(of_rows)


@pytest.mark.parametrize("said", ["json", "lines", "list", "csv", "messages", "list of messages", "parquet", "arrow", "avro"])
def test_a_users_type_looks_at_the_data_that_a_run_reads(said: str, tmp_path: pathlib.Path) -> None:
    rows = ex.constant(OWED)
    sources: "dict[str, tuple[Any, dict[str, Any]]]" = {
        "json": (json.dumps(OWED).encode(), {}),
        "lines": (b"\n".join(json.dumps(row).encode() for row in OWED), {}),
        "list": (OWED, {}),
        "csv": (CSV, {"format": "csv"}),
        "messages": (b"".join(bytes([len(m)]) + m for m in MESSAGES), {"descriptor": SHOP, "message": "Row"}),
        "list of messages": (MESSAGES, {"descriptor": SHOP, "message": "Row"}),
        "parquet": (ex.write_parquet(rows), {}),
        "arrow": (ex.write_arrow(rows), {}),
        "avro": (ex.write_avro(rows), {}),
    }
    source, keywords = sources[said]
    run = _amounts(both=True).run
    for target in ({}, {"target": tmp_path / "out.csv"}):
        with pytest.raises((ValueError, ex.Error), match="an amount is negative") as caught:
            run(source, **keywords, **target)
        if said in ("json", "lines", "list", "csv", "messages", "list of messages"):
            assert type(caught.value) is ValueError
            assert "Found in 'paid' of the records." in caught.value.__notes__
            assert "Found in row 1 of the records." in caught.value.__notes__
            # A value of which a part is needed is looked at whole.
            with pytest.raises(ValueError, match="an amount is negative"):
                _amounts(both=False).run(source, **keywords)
    assert not (tmp_path / "out.csv").exists()


class Positive(ex.ExtensionType):
    """A number above zero."""

    v: ex.Tensor

    def __validate_data__(self) -> None:
        if bool(ex.any(self.v <= 0.0)):
            raise ValueError("not positive")


def test_a_users_type_does_not_look_at_what_stands_under_a_missing_record() -> None:
    """The zero there is the reader's, and no data; where it is known what is there, that is looked at."""
    there = ex.mask(ex.StructTensor([2], {"p": Positive([1.0, 2.0])}), [True, False])
    spec = ex.spec_of(ex.StructTensor([2], {"r": there}))
    f = ex.function(lambda rows: {"v": rows["r"].values["p"].v}).get_concrete_function(spec)
    lines = b'{"r":{"p":{"v":1.0}}}\n{"r":null}\n'
    table = ex.write_parquet(ex.read_json(lines))
    for read in (f.run(lines)["v"], f.run(table)["v"], ex.read_json(lines, spec)["r"].values["p"].v):
        assert read.tolist()[0] == 1.0
    assert ex.read_parquet(table, spec)["r"].mask.tolist() == [True, False]
    bad = ex.write_parquet(ex.read_json(b'{"r":{"p":{"v":-1.0}}}\n{"r":null}\n'))
    with pytest.raises(ValueError, match="not positive"):
        ex.read_parquet(bad, spec)


RUN_OF_MUCH = """
import sys
import extenso as ex

def held():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

class Rows:
    def __init__(self, first, row, count):
        self.parts = [first, *[row * 10_000] * count]
        self.parts.reverse()
    def read(self, size):
        return self.parts.pop() if self.parts else b""

class Nowhere:
    def write(self, data):
        return len(data)

first, row = (b"x,y,note\\n", b"1.5,20,some words of a row\\n") if sys.argv[1] == "csv" else (b"[", b'{"x": 1.5, "y": 20, "note": "some words"},\\n')
part = ex.function(lambda rows: {"x": rows["x"] * 2.0, "y": rows["y"] + 1, "note": rows["note"]})
f = part.get_concrete_function(ex.infer_spec([{"x": 1.5, "y": 20, "note": "a"}]))
seen = []
rows = Rows(first, row, 480)
if sys.argv[1] == "json":
    rows.parts.insert(0, b'{"x": 1, "y": 1, "note": ""}]')
f.run(rows, format=sys.argv[1], target=Nowhere(), target_format=sys.argv[2], progress=lambda done: seen.append(held()))
print(len(seen), max(seen[: len(seen) // 4]), max(seen))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="how much memory a process has is read of /proc")
@pytest.mark.parametrize("source", ["csv", "json"])
@pytest.mark.parametrize("target", ["parquet", "csv"])
def test_memory_does_not_grow_with_what_is_run_over(source: str, target: str) -> None:
    command = [sys.executable, "-c", RUN_OF_MUCH, source, target]
    done = subprocess.run(command, timeout=300, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    blocks, early, most = map(int, done.stdout.split())
    # In KB: a block of 8 MB is held a few times over, however many there are.
    assert blocks > 10 and most - early < 40_000, done.stdout


def test_bad_rows_go_into_a_file_of_their_own(tmp_path: pathlib.Path) -> None:
    """Neither over the source, which would be lost before it is read, nor over the target."""
    source, target = tmp_path / "in.ndjson", tmp_path / "out.ndjson"
    source.write_bytes(b'{"x":1}\n{"x":"a"}\n')
    spec = ex.StructTensorSpec([None], {"x": ex.TensorSpec([None], "i64")})
    f = ex.function(lambda rows: {"y": rows["x"] + 1}).get_concrete_function(spec)
    (tmp_path / "link.ndjson").symlink_to(source)
    for beside in (source, target, tmp_path / "link.ndjson", tmp_path / "." / "in.ndjson"):
        with pytest.raises(ValueError, match="bad_rows.*by the run itself"):
            f.run(source, target=target, on_error="skip", bad_rows=beside)
    with pytest.raises(ValueError, match="bad_rows.*by the run itself"):
        f.run(str(source), on_error="skip", bad_rows=str(source))
    assert source.read_bytes() == b'{"x":1}\n{"x":"a"}\n' and not target.exists()
    f.run(source, target=target, on_error="skip", bad_rows=tmp_path / "bad.ndjson")
    assert target.read_bytes() == b'{"y":2}\n' and b'"row":1' in (tmp_path / "bad.ndjson").read_bytes()


def _holders(rows: "list[dict[str, Any]]" = ROWS) -> "dict[str, Any]":
    """The rows as other libraries hold them, each to be read once."""
    table = pa.Table.from_pylist(rows)
    batches = table.to_batches(max_chunksize=2)
    return {
        "table": table,
        "sliced": pa.concat_tables([table, table])[len(rows) :],
        "batches": pa.Table.from_batches(batches),
        "batch": table.to_batches()[0],
        "array": table.to_struct_array().combine_chunks(),
        "reader": pa.RecordBatchReader.from_batches(table.schema, iter(batches)),
        "value": ex.from_arrow(table),
    }


@pytest.mark.parametrize("holder", list(_holders()))
def test_what_other_libraries_hold_is_run_over(totals: Any, holder: str, tmp_path: pathlib.Path) -> None:
    assert totals.run(_holders()[holder])["total"].tolist() == TOTALS
    untraced = ex.function(lambda rows: ex.sum(rows["items", "price"], axis=1))
    assert untraced.run(_holders()[holder]).tolist() == TOTALS
    totals.run(_holders()[holder], target=tmp_path / "out.csv")
    assert ex.to_py(ex.read_csv(tmp_path / "out.csv")) == [{"total": total} for total in TOTALS]
    untraced.run(_holders()[holder], target=tmp_path / "out.csv")
    assert ex.infer_spec(_holders()[holder]) == ex.infer_spec(pa.Table.from_pylist(ROWS))


def test_rows_of_other_libraries_are_read_in_pieces_and_only_where_they_are_needed(totals: Any, tmp_path: pathlib.Path) -> None:
    count = 150_000
    table = pa.table({"id": pa.array(range(count)), "odd": pa.nulls(count, pa.month_day_nano_interval())})
    seen: list[Any] = []
    twice = ex.function(lambda rows: rows["id"] * 2).get_concrete_function(ex.infer_spec(table, paths=["id"]))
    twice.run(table, target=tmp_path / "out.parquet", progress=lambda done: seen.append(done.rows))
    assert seen == [65536, 131072, count]
    assert ex.read_parquet(tmp_path / "out.parquet")["value"].tolist() == list(range(0, 2 * count, 2))
    assert twice.run(table[:0]).shape == (0,)
    numbers = ex.function(lambda x: x + 1)
    assert numbers.run(pa.chunked_array([[1, 2], [3]])).tolist() == [2, 3, 4]
    value, bad = twice.run(pa.table({"id": [1, None, 3]}), on_error="skip")
    assert (value.tolist(), bad.rows) == ([2, 6], [1])
    with pytest.raises(ex.Error, match="items"):
        totals.run(table)
    with pytest.raises(ex.InvalidValueError, match="has no format"):
        totals.run(table, format="csv")
    with pytest.raises(ex.InvalidValueError, match="items"):
        ex.infer_spec(table, items="rows")


def test_a_stream_that_fails_is_an_error_and_leaves_no_file(totals: Any, tmp_path: pathlib.Path) -> None:
    table = pa.Table.from_pylist(ROWS)

    def batches() -> Any:
        yield table.to_batches()[0]
        raise RuntimeError("the line is cut")

    def broken() -> Any:
        return pa.RecordBatchReader.from_batches(table.schema, batches())

    with pytest.raises(ex.DataError, match="the line is cut"):
        totals.run(broken())
    with pytest.raises(ex.DataError, match="the line is cut"):
        totals.run(broken(), target=tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_the_order_of_categories_is_seen_without_reading_all(tmp_path: pathlib.Path) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), ["low", "high"], ordered=True)
    table = pa.table({"level": words})
    with pa.ipc.new_file(tmp_path / "rows.arrow", table.schema) as file:
        file.write_table(table)
    for source in (table, tmp_path / "rows.arrow"):
        spec = ex.infer_spec(source)
        assert ex.read_arrow(source, spec)["level"].ordered
        assert spec == ex.infer_spec(table) and "ordered=True" in str(spec) and "'i8'" in str(spec)


def test_a_function_that_was_traced_for_a_number_of_rows_runs_over_as_many(tmp_path: pathlib.Path) -> None:
    """Of others it would give what it computed with that number: a mean that divides by it, rows that are left out."""
    for body in (lambda x: x - ex.mean(x), lambda x: ex.stack([x[i] for i in range(x.shape[0])])):
        known = ex.function(body, name="f").get_concrete_function(ex.tensor([1.0, 2.0]))
        path = tmp_path / "f.exo"
        ex.save(known, path)
        for f in (known, ex.load(path)):
            assert f.run(b"4.0\n6.0\n").tolist() == f([4.0, 6.0]).tolist()
            for run in (f.run, lambda rows: f.run(rows, target=io.BytesIO(), target_format="json")):
                with pytest.raises(ex.ShapeError, match=r"function 'f': 'x': f64\[3\] came.\n.*f64\[2\].*None"):
                    run(b"1.0\n2.0\n6.0\n")
    free = ex.function(lambda x: x - ex.mean(x)).get_concrete_function(ex.TensorSpec([None], "f64"))
    assert free.run(b"1.0\n2.0\n6.0\n").tolist() == [-2.0, -1.0, 3.0]


@pytest.mark.parametrize("end", ["json", "parquet", "csv", "avro", "arrow"])
def test_a_constant_among_results_is_no_column(tmp_path: pathlib.Path, end: str) -> None:
    f = ex.function(lambda r: {"a": r["x"], "model": "v1"}).get_concrete_function(ex.infer_spec([{"x": 1}]))
    assert f.run([{"x": 1}])["model"] == "v1"
    with pytest.raises(ex.Error, match="'model'.*v1.*no row holds it(.|\n)*broadcast_like"):
        f.run([{"x": 1}], target=str(tmp_path / f"rows.{end}"))
    nothing = ex.function(lambda r: {"a": r["x"], "model": None}).get_concrete_function(ex.infer_spec([{"x": 1}]))
    nothing.run([{"x": 1}], target=str(tmp_path / f"rows.{end}"))
    named = ex.function(lambda r: {"a": r["x"], "model": ex.broadcast_like("v1", r["x"])})
    named = named.get_concrete_function(ex.infer_spec([{"x": 1}]))
    assert named.run_ndjson(b'{"x": 1}') == b'{"a":1,"model":"v1"}\n'


def test_words_of_no_category_are_looked_at_by_a_traced_function() -> None:
    words = ex.CategoricalTensor.Spec(ex.TensorSpec([None], "i32"), ex.TensorSpec([None], "string"), False)
    spec = ex.StructTensorSpec([None], {"t": ex.RaggedTensorSpec([None, None], flat_values_spec=words)})
    for f, wanted in [(ex.upper, ["A", None]), (ex.string_length, [1, None]), (lambda x: ex.isin(x, ["a"]), [True, None])]:

        def of_first(r: Any, f: Any = f) -> Any:
            return f(ex.first(r["t"]))

        g = ex.function(lambda r: of_first(r)).get_concrete_function(spec)
        assert ex.to_py(g.run([{"t": ["a"]}, {"t": []}])) == wanted
        assert ex.to_py(g.run([{"t": []}])) == [None]

