"""JSON in and out: inferred specs, parts of records, policies, blocks, files; against `json` and pyarrow."""

import datetime
import decimal
import doctest
import gzip
import inspect
import io
import json
import pathlib
import random
import re
import uuid
from typing import Any

import extenso as ex
import numpy as np
import pyarrow as pa
import pyarrow.json
import pytest

ROWS: "list[dict[str, object]]" = [
    {"id": 9007199254740993, "tags": ["a", "b"], "user": {"age": 3, "name": "ß"}, "score": 0.5},
    {"id": 2, "tags": [], "user": None, "score": 1},
    {"id": -3, "tags": ["\x00\"\\"], "user": {"age": None, "name": ""}},
]


def _ndjson(rows: "list[dict[str, object]]") -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _full(rows: "list[dict[str, object]]") -> "list[dict[str, object]]":
    """The rows with None for what they lack."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def test_every_kind_of_source_gives_the_same(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rows.ndjson"
    path.write_bytes(_ndjson(ROWS))
    text = path.read_text()
    sources = [path, str(path), path.read_bytes(), bytearray(path.read_bytes()), ROWS, tuple(ROWS)]
    sources += [io.BytesIO(path.read_bytes()), io.StringIO(text), json.dumps(ROWS).encode()]
    for source in sources:
        assert ex.to_py(ex.read_json(source)) == _full(ROWS)
    with open(path, "rb") as file:
        assert ex.to_py(ex.read_json(file)) == _full(ROWS)
    with gzip.open(tmp_path / "rows.ndjson.gz", "wb") as packed:
        packed.write(path.read_bytes())
    with gzip.open(tmp_path / "rows.ndjson.gz") as file:
        assert ex.to_py(ex.read_json(file)) == _full(ROWS)
    with gzip.open(tmp_path / "rows.ndjson.gz") as file:
        assert [n for b in ex.read_json_blocks(file, 2, ex.infer_spec(ROWS)) for n in b["id"].tolist()] == [
            row["id"] for row in ROWS
        ]
    assert ex.infer_spec(path) == ex.infer_spec(ROWS)
    packed_path = tmp_path / "rows.ndjson.gz"
    for source in [packed_path, packed_path.read_bytes(), io.BytesIO(packed_path.read_bytes())]:
        assert ex.to_py(ex.read_json(source)) == _full(ROWS)
    assert ex.infer_spec(packed_path) == ex.infer_spec(ROWS)
    blocks = ex.read_json_blocks(packed_path, 2, ex.infer_spec(ROWS))
    assert [row for block in blocks for row in ex.to_py(block)] == _full(ROWS)
    with pytest.raises(ex.DataError, match="the gzip data is malformed"):
        ex.read_json(packed_path.read_bytes()[:-9])
    bomb = gzip.compress(b" " * (80 << 20))
    with pytest.raises(ex.DataError, match="at most 200 times as many, or 64 MB"):
        ex.read_json(bomb)
    with pytest.raises(ex.FileError, match="missing.ndjson"):
        ex.read_json(tmp_path / "missing.ndjson")
    with pytest.raises(ex.FileError, match=r"source\.encode\(\)"):
        ex.read_json('{"id": 1}')
    with pytest.raises(TypeError, match="found a value of type int"):
        ex.read_json(5)


@pytest.mark.parametrize("name", ["infer_spec", "read_json", "read_json_blocks", "write_json"])
def test_the_examples_of_the_docstrings_hold(name: str) -> None:
    text = inspect.getdoc(getattr(ex, name)) or ""
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert test.examples and doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_numbers_are_exact() -> None:
    for value, dtype in [(2**63 - 1, ex.i64), (-(2**63), ex.i64), (2**64 - 1, ex.u64), (0.1, ex.f64)]:
        for source in ([{"x": value}], _ndjson([{"x": value}])):
            x = ex.read_json(source)["x"]
            assert x.dtype == dtype and x.tolist() == [value]
    with pytest.raises(ex.DataError, match="neither i64 nor u64"):
        ex.read_json([{"x": 2**64}])
    assert ex.read_json([{"x": np.float32(0.5), "y": np.arange(2), "z": np.bool_(True)}])["y"].values.tolist() == [0, 1]


def test_what_json_has_not_is_named_with_its_path() -> None:
    for row, text in [
        ({"a": [b"x"]}, r"row \[0\].a\[0\]: found a value of type bytes.*"),
        ({"a": {1: 2}}, "key of type int"),
        ({"a": "\ud800"}, "lone surrogate"),
        ({"a": object()}, "found a value of type object"),
    ]:
        with pytest.raises(ex.Error, match=text):
            ex.read_json([row])
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ex.Error, match="nests deeper"):
        ex.infer_spec([{"a": deep}])
    with pytest.raises(ex.DataError, match="too deep"):
        ex.infer_spec(b'{"a":' + b"[" * 100_000)


def test_contradictions_name_both_rows_and_samples_say_what_to_do() -> None:
    with pytest.raises(ex.DataError, match=r"row 1, byte 18, 'a\[0\]': .*\nWanted: a number, as in row 0"):
        ex.infer_spec(b'{"a": [1]}\n{"a": ["x"]}\n')
    with pytest.raises(ex.DataError, match=r"row 1, byte \d+, 'a'.*\n.*first 1 records. Raise `sample`"):
        ex.read_json([{"a": 1}, {"a": 0.5}], sample=1)
    assert ex.to_py(ex.read_json([{"a": 1}, {"a": 2, "b": 3}], sample=1)) == [{"a": 1}, {"a": 2}]


def test_paths_are_all_that_is_read() -> None:
    rows = b'{"id": 1, "x": 1, "l": [{"p": 2, "q": 1}]}\n{"x": "a", "l": [{"q": [], "p": 3}], "id": 2}\n'
    part = ex.read_json(rows, paths=["l[*].p", "id"])
    assert part.field_names() == ["id", "l"] and ex.to_py(part["l"]) == [[{"p": 2}], [{"p": 3}]]
    with pytest.raises(ex.DataError, match="'x': the string"):
        ex.read_json(rows, paths=["x"])
    with pytest.raises(KeyError, match="no 'y'"):
        ex.read_json(rows, paths=["id", "y"])
    spec = ex.infer_spec(rows, paths=["id"])
    assert ex.to_py(ex.read_json(rows, spec)) == [{"id": 1}, {"id": 2}]


@pytest.mark.parametrize("on_error", ["skip", "default"])
def test_bad_rows_come_back_beside_the_value(on_error: str) -> None:
    rows = b'{"a": 1}\n{"a": "x"}\n{"a":\n{"a": 4}\n'
    value, bad = ex.read_json(rows, on_error=on_error)
    assert len(bad) == 2 and bad.rows == [1, 2]
    first = bad.first[0]
    assert (first.row, first.offset, first.path) == (1, 15, "a") and "the string" in first.message
    skip = on_error == "skip"
    assert value["a"].tolist() == ([1, 4] if skip else [1, 0, 0, 4])
    assert bad.defaulted.tolist() == ([] if skip else [False, True, True, False])
    with pytest.raises(ValueError, match="'raise', 'skip' or 'default'"):
        ex.read_json(rows, on_error="ignore")


def test_a_function_runs_on_records_and_reports_bad_rows(tmp_path: pathlib.Path) -> None:
    @ex.function
    def f(r: ex.StructTensor) -> "dict[str, object]":
        return {"n": ex.row_lengths(r["tags"].partition), "twice": r["id"] * 2}

    rows = [{"id": 1, "tags": ["a"], "x": 1}, {"id": 2, "tags": [], "x": 2}]
    concrete = f.get_concrete_function(ex.infer_spec(rows))
    ex.save(concrete, tmp_path / "f.exo")
    for runner in (concrete, ex.load(tmp_path / "f.exo").f):
        out = runner.run([{**row, "x": "not needed"} for row in rows])
        assert {k: v.tolist() for k, v in out.items()} == {"n": [1, 0], "twice": [2, 4]}
        out, bad = runner.run(_ndjson(rows) + b'{"id": 3}\n', on_error="skip")
        assert out["twice"].tolist() == [2, 4] and bad.rows == [2] and bad.first[0].path == "tags"
        with pytest.raises(ex.DataError, match="row 2, byte .*'tags': the field is missing"):
            runner.run(_ndjson(rows) + b'{"id": 3}\n')


def test_errors_of_blocks_name_the_function_and_the_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rows.ndjson"
    path.write_bytes(b'{"i": 1}\n{"i": "x"}\n')
    blocks = ex.read_json_blocks(path, 1, ex.infer_spec([{"i": 1}]))
    assert next(blocks)["i"].tolist() == [1]
    with pytest.raises(ex.DataError, match=rf"^read_json_blocks: {re.escape(str(path))}: row 1, byte \d+, 'i'"):
        next(blocks)
    with pytest.raises(ex.InvalidValueError, match="^read_json_blocks: .*rows: the blocks have 0 rows"):
        ex.read_json_blocks(path, 0)


def test_blocks_read_a_file_object_piece_by_piece(tmp_path: pathlib.Path) -> None:
    class Counted(io.BytesIO):
        read_bytes = 0

        def read(self, n: "int | None" = -1, /) -> bytes:
            data = super().read(n)
            self.read_bytes += len(data)
            return data

    rows = [{"i": i, "text": "x" * 1000} for i in range(1000)]
    file = Counted(_ndjson(rows))
    blocks = ex.read_json_blocks(file, 10)
    assert next(blocks)["i"].tolist() == list(range(10)) and file.read_bytes < 200_000
    assert [i for block in blocks for i in block["i"].tolist()] == list(range(10, 1000))
    path = tmp_path / "rows.ndjson"
    path.write_bytes(_ndjson(rows))
    assert [len(b["i"]) for b in ex.read_json_blocks(path, 600, paths=["i"])] == [600, 400]
    value, bad = next(ex.read_json_blocks([{"a": 1}, {"a": []}], on_error="skip"))
    assert value["a"].tolist() == [1] and bad.rows == [1]

    class Broken:
        def read(self, _n: int = -1) -> bytes:
            raise OSError("the cable is out")

    with pytest.raises(OSError, match="the cable is out"):
        next(ex.read_json_blocks(Broken()))
    with pytest.raises(OSError, match="the cable is out"):
        ex.read_json(Broken())


def test_python_floats_that_are_no_numbers_are_floats() -> None:
    nan, inf = float("nan"), float("inf")
    for rows in ([{"a": nan}], [{"a": -inf}, {"a": None}], [{"a": [inf, nan]}, {"a": []}], [{"a": nan}, {"a": 1}]):
        spec = ex.infer_spec(rows)
        assert "f64" in repr(spec) and "string" not in repr(spec)
        value = ex.read_json(rows)
        assert ex.write_json(value) == ex.write_json(ex.constant(rows))
        (block,) = ex.read_json_blocks(rows)
        assert ex.write_json(block) == ex.write_json(value)
    assert ex.to_py(ex.read_json([{"a": "NaN", "b": nan}], paths=["a"])) == [{"a": "NaN"}]
    assert ex.to_py(ex.read_json([{"a": "NaN"}])) == [{"a": "NaN"}]
    with pytest.raises(ex.DataError, match="row 1"):
        ex.read_json([{"a": inf}, {"a": "x"}])


def test_rows_that_are_python_data_hold_arrays_and_numbers_of_numpy() -> None:
    rows = [{"id": 1, "v": np.array([1.0, 2.0])}, {"id": np.int64(2), "v": np.array([3.0])}]
    assert ex.write_json(rows) == b'{"id":1,"v":[1.0,2.0]}\n{"id":2,"v":[3.0]}\n'
    assert ex.read_parquet(ex.write_parquet(rows)).to_py() == [{"id": 1, "v": [1.0, 2.0]}, {"id": 2, "v": [3.0]}]
    # Values are a nest as ever.
    assert ex.write_json({"a": [ex.tensor([1, 2])]}) == ex.write_json({"a": {"0": ex.tensor([1, 2])}})


def test_what_is_written_is_read(tmp_path: pathlib.Path) -> None:
    value = ex.read_json([{**row, "f": f} for row, f in zip(ROWS, [0.1, float("nan"), float("-inf")], strict=True)])
    path = tmp_path / "out.ndjson"
    assert ex.write_json(value, path) is None
    assert path.read_bytes() == ex.write_json(value)
    assert ex.write_json(ex.read_json(path)) == ex.write_json(value)
    assert [p.name for p in tmp_path.iterdir()] == ["out.ndjson"]
    with pytest.raises(ex.FileError):
        ex.write_json(value, tmp_path / "no" / "such")
    with pytest.raises(ex.ShapeError, match="'b' has 1 rows, and 'a' has 2"):
        ex.write_json({"a": ex.tensor([1, 2]), "b": ex.tensor(["x"])})


def _random(rng: random.Random, depth: int, kind: "random.Random") -> object:
    """A value of the kind that `kind` is seeded for; lists and records hold values of kinds of their own."""
    seed = kind.randrange(6 if depth < 4 else 4)
    if rng.random() < 0.1:
        return None
    if seed == 0:
        return rng.randrange(-(2**63), 2**63)
    if seed == 1:
        return rng.choice([rng.uniform(-1e6, 1e6), 10 ** rng.uniform(-300, 300), float(rng.randrange(9))])
    if seed == 2:
        return rng.random() < 0.5
    if seed == 3:
        return "".join(rng.choice('aß\U0001f600"\\\n\x01 ') for _ in range(rng.randrange(5)))
    inner = kind.randrange(2**30)
    if seed == 4:
        return [_random(rng, depth + 1, random.Random(inner)) for _ in range(rng.randrange(4))]
    names = [f"f{i}" for i in range(1 + inner % 4)]
    return {n: _random(rng, depth + 1, random.Random(f"{inner}{n}")) for n in names if rng.random() < 0.9}


def _pruned(value: object) -> object:
    """The value without fields that are absent, null or hold no field themselves; booleans differ from numbers."""
    if isinstance(value, dict):
        fields = ((name, _pruned(field)) for name, field in value.items())
        return {name: field for name, field in fields if field not in (None, {})}
    if isinstance(value, list):
        return [_pruned(item) for item in value]
    return str(value) if isinstance(value, bool) else value


def _has_null_item(value: object) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return isinstance(value, list) and None in value or any(map(_has_null_item, items))


@pytest.mark.parametrize("seed", range(150))
def test_records_are_read_as_json_and_pyarrow_read_them(seed: int) -> None:
    rng = random.Random(seed)
    fields = {f"k{i}": rng.randrange(2**30) for i in range(4)}
    rows = [
        {"id": i, **{k: _random(rng, 0, random.Random(s)) for k, s in fields.items() if rng.random() < 0.9}}
        for i in range(rng.randrange(1, 12))
    ]
    try:
        value = ex.read_json(_ndjson(rows))
    except ex.InvalidValueError as error:
        assert "no field of the records" in str(error)
        return
    come = [json.loads(line) for line in ex.write_json(value).splitlines()]

    assert _pruned(come) == _pruned(rows)
    if _has_null_item(rows):
        return  # pyarrow gives malformed lists where items are null.
    try:
        table = pyarrow.json.read_json(pa.BufferReader(_ndjson(rows)))
    except pa.ArrowInvalid:
        return  # It has no dtype for integers beside floats that do not fit.
    assert _pruned(come) == _pruned(table.to_pylist())


def test_records_are_the_array_that_a_path_leads_to(tmp_path: pathlib.Path) -> None:
    records = [{"id": i, "tags": ["a"] * (i % 3)} for i in range(10)]
    text = json.dumps({"status": "ok", "data": {"pages": [{"rows": records}], "n": 10}}).encode()
    path = tmp_path / "page.json"
    path.write_bytes(gzip.compress(text))
    spec = ex.infer_spec(records)
    for source in [lambda: text, lambda: path, lambda: io.BytesIO(text)]:
        assert ex.to_py(ex.read_json(source(), items="data.pages[0].rows")) == records
        assert ex.to_py(ex.read_json(source(), spec, items="data.pages[0].rows")) == records
    assert ex.to_py(ex.read_json(text, items="data.pages[0].rows", paths=["id"])) == [{"id": i} for i in range(10)]
    for items, wanted in [("data.rows", "there is no 'data.rows'"), ("data.n", "an array of records"), ("data[*]", "fields and places")]:
        with pytest.raises(ex.Error, match=wanted):
            ex.read_json(text, items=items)


def test_records_without_fields_are_counted_by_the_data(tmp_path):
    rows = [{"id": 1, "e": {}, "l": [{}, {}], "o": None}, {"id": 2, "e": {}, "l": [], "o": {}}]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    x = ex.read_json(path)
    assert x.to_py() == rows
    assert ex.from_arrow(x.to_arrow(), spec=x.spec).to_py() == rows
    assert ex.concat([x, x[1:]]).to_py() == rows + rows[1:]
    for name, write, read in [("a.arrow", ex.write_arrow, ex.read_arrow), ("a.avro", ex.write_avro, ex.read_avro)]:
        write(x, tmp_path / name)
        assert read(tmp_path / name).to_py() == rows
    with pytest.raises(ex.DTypeError, match="records without fields"):
        ex.write_parquet(x, tmp_path / "a.parquet")

    @ex.function
    def f(r):
        kept = r["e"][r["id"] > 1]
        return {"kept": kept, "first": r["l"][:, :1], "pairs": ex.reshape(ex.concat([r["e"], r["e"]]), [-1, 2])}

    expect = {"kept": [{}], "first": [[{}], []], "pairs": [[{}, {}], [{}, {}]]}
    assert {name: value.to_py() for name, value in f(x).items()} == expect
    ex.save(f, tmp_path / "f.exo")
    assert {name: value.to_py() for name, value in ex.load(tmp_path / "f.exo")(x).items()} == expect

    @ex.function
    def parts(r):
        return {"e": r["e"], "l": r["l"], "missing": ex.is_none(r["o"])}

    parts(x)
    ex.save(parts, tmp_path / "parts.exo")
    ran = ex.load(tmp_path / "parts.exo").run(tmp_path / "a.arrow")
    wanted = {"e": [{}, {}], "l": [[{}, {}], []], "missing": [True, False]}
    assert {name: value.to_py() for name, value in ran.items()} == wanted
    path.write_text('{"id": 1, "e": 5, "l": [], "o": null}')
    with pytest.raises(ex.DataError, match="'e': the number 5 came"):
        ex.read_json(path, spec=x.spec)


def test_messages_without_fields_are_there(tmp_path):
    text = 'syntax="proto3"; message E {} message M { E e = 1; repeated E l = 2; map<string, E> m = 3; }'
    messages = [b"\x0a\x00\x12\x00\x12\x00", b"", b"\x1a\x03\x0a\x01a"]
    x = ex.parse_proto(ex.constant(messages), text, "M")
    entry = [{"key": "a", "value": {}}]
    expect = [{"e": [{}], "l": [{}, {}], "m": []}, {"e": [], "l": [], "m": []}, {"e": [], "l": [], "m": entry}]
    assert x.to_py() == expect
    assert ex.encode_proto(x, text, "M").to_py() == [messages[0], b"", messages[2]]


@pytest.mark.parametrize("path", ["z", "at.z", "at.x.z", "a[*]"])
def test_a_path_to_no_field_is_named_where_the_spec_is_inferred(path: str) -> None:
    with pytest.raises(ex.MissingNameError, match="there is no|the path goes on"):
        ex.read_json(b'{"a": 1, "at": {"x": 1}}', paths=[path])


@pytest.mark.parametrize("rows", [[[{"a": 1}]], [[]], [[{"a": 1}], [{"a": 2}]], [({"a": 1},)]])
def test_a_list_is_no_record(rows: list[Any]) -> None:
    f = ex.function(lambda r: r["a"]).get_concrete_function(ex.infer_spec([{"a": 1}]))
    with pytest.raises(ex.DataError, match="row 0: a value of type (list|tuple) came"):
        f.run(rows)


@pytest.mark.parametrize("start", [b"\xef", b"\xef\xbb", b"\xef\xbb\xbf{}", b"x"])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_rows_of_blocks_have_the_numbers_of_the_whole(start: bytes, rows: int) -> None:
    text, spec = start + b"\nx\n{}\n\nx", ex.StructTensorSpec([None], {})
    whole = ex.read_json(text, spec, on_error="skip")[1].rows
    assert [row for _, bad in ex.read_json_blocks(text, rows, spec=spec, on_error="skip") for row in bad.rows] == whole


def test_times_decimals_and_identifiers_among_objects_are_those_of_constant(tmp_path: pathlib.Path) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=1))
    rows: list[dict[str, Any]] = [
        {
            "t": datetime.datetime(2020, 1, 2, 3, 4, 5, 678),
            "z": datetime.datetime(2020, 1, 2, tzinfo=zone),
            "d": datetime.date(2020, 1, 2),
            "h": datetime.time(1, 2),
            "e": datetime.timedelta(days=-1, microseconds=3),
            "p": decimal.Decimal("1.10"),
            "u": uuid.UUID(int=5),
            "n": np.datetime64("2020-01-02T03:04:05", "s"),
            "l": [{"d": datetime.date(1, 1, 1), "x": 1.0}, {"d": None, "x": 2.5}],
        }
    ]
    value = ex.constant(rows)
    spec, f = ex.spec_of(value), ex.function(lambda r: r, input_signature=[ex.spec_of(value)])
    for read in (ex.read_json(rows, spec), f.run(rows), next(iter(ex.read_json_blocks(rows, spec=spec)))):
        assert ex.to_py(read) == ex.to_py(value)
        assert ex.to_py(read["t"]) == ["2020-01-02T03:04:05.000678"]
    f.run(rows, target=tmp_path / "out.parquet")
    assert ex.to_py(ex.read_parquet(tmp_path / "out.parquet")) == ex.to_py(value)
    odd = [{"d": datetime.date(2020, 1, 2)}, {"d": 7}, {"d": np.datetime64("NaT")}, {"d": np.datetime64("NaT", "s")}]
    records, bad = ex.read_json(odd, ex.spec_of(ex.constant([{"d": datetime.date(1, 1, 1)}, {"d": None}])), on_error="skip")
    assert (ex.to_py(records), bad.rows) == ([{"d": "2020-01-02"}, {"d": None}, {"d": None}], [1])
    for inferred in (ex.infer_spec, ex.read_json):
        with pytest.raises(ex.Error, match=r"times, decimals or identifiers.*\n.*a spec.*spec_of"):
            inferred(rows)
    with pytest.raises(ex.Error, match=r"row \[1\].p: found NaN"):
        ex.read_json([{"p": decimal.Decimal(1)}, {"p": decimal.Decimal("NaN")}])


def test_decimals_are_strings_by_option() -> None:
    rows = b'{"p": 1.10, "n": 1, "l": [1e3, 2]}\n{"p": 2, "n": 12, "l": [null]}\n{"p": null, "n": 3, "l": []}\n'
    wanted = [{"p": "1.10", "n": 1, "l": ["1e3", "2"]}, {"p": "2", "n": 12, "l": [None]}, {"p": None, "n": 3, "l": []}]
    assert ex.read_json(rows, decimals="string").to_py() == wanted
    array = b"[" + rows.strip().replace(b"\n", b",") + b"]"
    assert ex.read_json(array, decimals="string").to_py() == wanted
    blocks = list(ex.read_json_blocks(rows, 3, decimals="string"))
    assert [row["p"] for block in blocks for row in block.to_py()] == ["1.10", "2", None]
    assert ex.read_json(b'{"x": 123456789012345678901234567890}', decimals="string").to_py() == [{"x": "123456789012345678901234567890"}]
    spec = ex.StructTensorSpec([None], {"x": ex.TensorSpec([None], "string")})
    assert ex.read_json(b'{"x": 0.10}\n{"x": "a"}', spec, decimals="string").to_py() == [{"x": "0.10"}, {"x": "a"}]
    with pytest.raises(ex.Error, match="the number 0.10 came"):
        ex.read_json(b'{"x": 0.10}', spec)
    with pytest.raises(ex.Error, match="decimals: found 'text'"):
        ex.read_json(b"{}", decimals="text")  # type: ignore[call-overload]
    assert ex.read_json(rows).to_py()[0]["p"] == 1.1
