"""Parquet in and out: projection, row groups, conditions, blocks, policies, files; against pyarrow."""

import datetime
import decimal
import doctest
import inspect
import io
import json
import pathlib
import random
import re

import extenso as ex
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS: "list[dict[str, object]]" = [
    {"id": 9007199254740993, "user": {"name": "ß", "age": 3}, "items": [{"sku": "a", "price": 0.5}, {"sku": "", "price": 2.0}]},
    {"id": -2, "user": {"name": "", "age": None}, "items": []},
    {"id": 3, "user": {"name": "x" * 300, "age": 7}, "items": [{"sku": "b", "price": -1.0}]},
]


def _file(rows: "list[dict[str, object]]", **options: object) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink, **options)
    return sink.getvalue()


def test_every_kind_of_source_gives_the_same(tmp_path: pathlib.Path) -> None:
    file = _file(ROWS)
    path = tmp_path / "rows.parquet"
    path.write_bytes(file)
    with open(path, "rb") as opened:
        for source in [file, bytearray(file), path, str(path), io.BytesIO(file), opened]:
            assert ex.to_py(ex.read_parquet(source)) == ROWS
    for odd in [ROWS, 7, io.StringIO("x")]:
        with pytest.raises(ex.DTypeError, match="source: .*\nWanted: bytes, a path, or a file object"):
            ex.read_parquet(odd)
    with pytest.raises(ex.FileError, match="nothing.parquet"):
        ex.read_parquet(tmp_path / "nothing.parquet")


def test_pyarrow_reads_what_is_written(tmp_path: pathlib.Path) -> None:
    records = ex.constant(ROWS)
    path = tmp_path / "rows.parquet"
    assert ex.write_parquet(records, path) is None
    assert pq.read_table(path).to_pylist() == ROWS
    sink = io.BytesIO()
    ex.write_parquet(records, sink)
    assert sink.getvalue() == path.read_bytes() == ex.write_parquet(records)
    assert pq.read_table(io.BytesIO(ex.write_parquet(ex.tensor([1, 2])))).to_pylist() == [{"value": 1}, {"value": 2}]
    with pytest.raises(ex.DTypeError, match="target: found a value of type int"):
        ex.write_parquet(records, 7)
    with pytest.raises(ex.ShapeError):
        ex.write_parquet({"a": ex.tensor([1]), "b": ex.tensor([1, 2])})


@pytest.mark.parametrize("codec", ["NONE", "SNAPPY", "GZIP", "ZSTD", "LZ4"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_codecs_and_page_versions(codec: str, version: str) -> None:
    rows = ROWS * 400
    for dictionary in [True, False]:
        file = _file(rows, compression=codec, data_page_version=version, use_dictionary=dictionary, row_group_size=500)
        assert ex.to_py(ex.read_parquet(file)) == rows


def test_a_codec_that_is_not_read_is_named() -> None:
    file = _file(ROWS, compression={"id": "BROTLI"})
    with pytest.raises(ex.InvalidValueError, match="column 'id' is packed by Brotli"):
        ex.read_parquet(file)
    assert ex.to_py(ex.read_parquet(file, paths=["user"])) == [{"user": row["user"]} for row in ROWS]
    # Nor are the words of categories looked at before.
    words = pa.table({"c": pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["a", "b"]))})
    sink = io.BytesIO()
    pq.write_table(words, sink, compression="brotli")
    with pytest.raises(ex.InvalidValueError, match="column 'c' is packed by Brotli"):
        ex.read_parquet(sink.getvalue())


def test_a_part_of_a_map_is_read() -> None:
    table = pa.table({"m": pa.array([[("k", 1), ("l", None)], []], pa.map_(pa.string(), pa.int64())), "id": [7, 8]})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    whole = ex.read_parquet(sink.getvalue())
    for part in [
        lambda r: r["m", "value"],
        lambda r: r["m", "key"],
        lambda r: ex.num(r["m"]),
        lambda r: {"n": ex.num(r["m"]), "i": r["id"]},
    ]:
        f = ex.function(part, name="part").get_concrete_function(whole)
        assert ex.write_json(f.run(sink.getvalue())) == ex.write_json(part(whole))
    read = ex.read_parquet(sink.getvalue(), paths=["m[*].value"])
    assert ex.to_py(read) == [{"m": [{"value": 1}, {"value": None}]}, {"m": []}]


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_times_are_times_to_others_and_what_they_were_to_us(batch: int) -> None:
    day = 86_400_000
    types = [
        (pa.timestamp("s", "UTC"), [-1, None, 1_700_000_000], pa.timestamp("ms", "UTC")),
        (pa.time32("s"), [0, 86_399, None], pa.time32("ms")),
        (pa.date64(), [0, -day, 20_000 * day], pa.date32()),
        (pa.list_(pa.timestamp("s")), [[1], [], [2, None]], pa.list_(pa.timestamp("ms"))),
        (pa.timestamp("ns"), [1, None, 3], pa.timestamp("ns")),
    ]
    columns = [pa.array(values, pa.list_(pa.int64()) if pa.types.is_list(t) else None).cast(t) for t, values, _ in types[3:]]
    columns = [pa.array(values, t) for t, values, _ in types[:3]] + columns
    table = pa.table({f"c{i}": column for i, column in enumerate(columns)})
    file = ex.write_parquet(table)
    theirs = pq.read_table(io.BytesIO(file))
    for i, (given, _, stored) in enumerate(types):
        assert str(theirs.schema.field(i).type).replace("element", "item") == str(stored)
        assert theirs.column(i).cast(given).to_pylist() == table.column(i).to_pylist()
    wanted = ex.to_py(ex.from_arrow(table))
    assert ex.to_py(ex.read_parquet(file)) == wanted
    blocks = [row for block in ex.read_parquet_blocks(file, batch) for row in ex.to_py(block)]
    assert blocks == wanted
    assert pa.table(ex.read_parquet(file)).schema.types == pa.table(ex.from_arrow(table)).schema.types


def test_only_what_is_asked_for_is_read(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    read = ex.read_parquet(path, paths=["items[*].price", "user.name"])
    assert ex.to_py(read) == [
        {"user": {"name": row["user"]["name"]}, "items": [{"price": i["price"]} for i in row["items"]]} for row in ROWS
    ]
    for paths, wanted in [(["nothing"], "there is no 'nothing'"), (["items.price"], "'items' is a list"), ([], "is empty")]:
        with pytest.raises(ex.Error, match=wanted):
            ex.read_parquet(path, paths=paths)
    # A column that nobody asks for may be broken.
    broken = bytearray(path.read_bytes())
    chunk = pq.read_metadata(path).row_group(0).column(0)
    assert chunk.path_in_schema == "id"
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    broken[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    assert ex.to_py(ex.read_parquet(broken, paths=["user"])) == [{"user": row["user"]} for row in ROWS]
    with pytest.raises(ex.DataError, match="column 'id'"):
        ex.read_parquet(broken)


def test_schemas_drift() -> None:
    table = pa.table({"id": pa.array([1, 2], pa.int16()), "x": pa.array([0.5, None], pa.float32()), "new": ["a", "b"]})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    vector = lambda dtype: ex.TensorSpec([None], dtype)
    spec = ex.infer_spec([{"id": 1, "x": 0.5, "gone": "a"}, {"id": 1}])
    read = ex.read_parquet(sink.getvalue(), spec)
    assert read["id"].dtype == ex.int64
    assert ex.to_py(read) == [{"id": 1, "x": 0.5, "gone": None}, {"id": 2, "x": None, "gone": None}]
    assert ex.to_py(ex.read_parquet(sink.getvalue(), spec, ["id"])) == [{"id": 1}, {"id": 2}]
    plain = ex.StructTensorSpec([None], {"x": vector("f64")})
    with pytest.raises(ex.Error, match=r"(?s)row 1.*'x'|'x'.*row 1"):
        ex.read_parquet(sink.getvalue(), plain)
    kept, bad = ex.read_parquet(sink.getvalue(), plain, on_error="skip")
    assert (ex.to_py(kept), bad.rows) == ([{"x": 0.5}], [1])
    filled, bad = ex.read_parquet(sink.getvalue(), plain, on_error="default")
    assert (ex.to_py(filled), bad.defaulted.tolist()) == ([{"x": 0.5}, {"x": 0.0}], [False, True])
    with pytest.raises(ex.Error, match="(?s)new.*i64"):
        ex.read_parquet(sink.getvalue(), ex.StructTensorSpec([None], {"new": vector("i64")}))
    with pytest.raises(ex.Error, match="other"):
        ex.read_parquet(sink.getvalue(), ex.StructTensorSpec([None], {"other": vector("i64")}))


def test_row_groups_are_chosen_and_pruned() -> None:
    file = _file([{"day": i // 10, "x": i, "s": f"k{i // 10}"} for i in range(40)], row_group_size=10)
    first = lambda **options: [row["x"] for row in ex.to_py(ex.read_parquet(file, **options))][::10]
    assert first(row_groups=[3, 1]) == [30, 10]
    assert first(prune=("day", ">=", 2)) == [20, 30]
    assert first(prune=[("day", ">=", 1), ("s", "!=", "k2")]) == [10, 30]
    assert first(prune=("x", "<", 10), paths=["x"]) == [0]
    assert first(prune=("x", ">", 1000)) == []
    for options, wanted in [
        ({"row_groups": [4]}, "row group 4 is asked for, and the file has 4"),
        ({"row_groups": "0"}, "argument 'row_groups': found 0"),
        ({"prune": ("x", "=", 1)}, "found '='"),
        ({"prune": ("y", "==", 1)}, "there is no column 'y'"),
        ({"prune": ("x", "==", "a")}, "column 'x' is Int64"),
        ({"prune": "x > 1"}, "a tuple of a path, a comparison and a value"),
    ]:
        with pytest.raises(ex.Error, match=wanted):
            ex.read_parquet(file, **options)


def test_row_groups_are_pruned_by_dates_times_and_decimals() -> None:
    day = lambda i: datetime.date(2020, 1, 1 + i // 10)
    at = lambda i: datetime.datetime(2020, 1, 1, i // 10, tzinfo=datetime.timezone.utc)
    price = lambda i: decimal.Decimal(i // 10) / 4
    columns = {
        "x": pa.array(range(40)),
        "day": pa.array([day(i) for i in range(40)]),
        "at": pa.array([at(i) for i in range(40)]),
        "local": pa.array([at(i).replace(tzinfo=None) for i in range(40)]),
        "clock": pa.array([at(i).time() for i in range(40)]),
        "price": pa.array([price(i) for i in range(40)], pa.decimal128(10, 2)),
        "wide": pa.array([price(i) for i in range(40)], pa.decimal128(30, 4)),
    }
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, row_group_size=10)
    first = lambda *prune: [row["x"] for row in ex.to_py(ex.read_parquet(sink.getvalue(), paths=["x"], prune=prune))][::10]
    assert first("day", "==", datetime.date(2020, 1, 3)) == first("day", "==", "2020-01-03") == [20]
    assert first("at", ">=", at(20)) == first("at", ">=", "2020-01-01T03:00:00+01:00") == [20, 30]
    assert first("local", "<", at(20).replace(tzinfo=None)) == [0, 10]
    assert first("clock", "!=", datetime.time(1)) == [0, 20, 30]
    for name in ["price", "wide"]:
        assert first(name, ">", decimal.Decimal("0.25")) == first(name, ">", "2.5e-1") == [20, 30]
        assert first(name, "<=", decimal.Decimal("0.2500001")) == [0, 10]
        assert first(name, "<", 0) == []
    for value, wanted in [(at(0), "column 'day' is Date32"), (1.5, "does not compare"), (object(), "a date, a time, a duration or a decimal")]:
        with pytest.raises(ex.Error, match=wanted):
            first("day", "==", value)


def test_blocks_are_the_whole(tmp_path: pathlib.Path) -> None:
    rows = [{"i": i, "l": list(range(i % 5))} for i in range(100)]
    path = tmp_path / "rows.parquet"
    path.write_bytes(_file(rows, row_group_size=30))
    for size in [1, 7, 30, 1000]:
        blocks = [ex.to_py(block) for block in ex.read_parquet_blocks(path, size, paths=["i", "l"])]
        assert [row for block in blocks for row in block] == rows
        assert {len(block) for block in blocks[:-1]} <= {size}
    assert [block.shape[0] for block in ex.read_parquet_blocks(_file(rows[:0] or [{"i": 1}])[:])] == [1]
    with pytest.raises(ex.Error, match="0 rows"):
        ex.read_parquet_blocks(path, 0)


def test_errors_name_the_function_the_file_and_the_column(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rows.parquet"
    rows: "list[dict[str, object]]" = [{"user": {"l": [i] * 100}} for i in range(100)]
    options = {"use_dictionary": False, "compression": "none", "write_statistics": False, "row_group_size": 50}
    file = bytearray(_file(rows, **options))
    group = pq.read_metadata(io.BytesIO(file)).row_group(1)
    # The header of the first page of the second row group.
    start = group.column(0).data_page_offset
    file[start:start + 8] = b"\xff" * 8
    path.write_bytes(file)
    column = r"row group 1: column 'user\.l\[\*\]': the page at byte \d+: "
    with pytest.raises(ex.DataError, match=rf"^read_parquet: {re.escape(str(path))}: {column}"):
        ex.read_parquet(path)
    blocks = ex.read_parquet_blocks(path, 10)
    # A row group is proven before the rows are read that end where it begins.
    assert [len(next(blocks)["user"]) for _ in range(4)] == [10] * 4
    with pytest.raises(ex.DataError, match=rf"^read_parquet_blocks: {re.escape(str(path))}: {column}"):
        next(blocks)
    path.write_bytes(file[:-1])
    for read in [ex.read_parquet, ex.read_parquet_blocks, ex.infer_spec]:
        with pytest.raises(ex.DataError, match=rf"^{read.__name__}: {re.escape(str(path))}: "):
            read(path)
    spec = ex.infer_spec([{"user": {"l": ["text"]}}])
    path.write_bytes(_file(rows))
    with pytest.raises(ex.Error, match=rf"^read_parquet_blocks: {re.escape(str(path))}: (.|\n)*user\.l"):
        list(ex.read_parquet_blocks(path, 10, spec))


def test_malformed_files_give_errors() -> None:
    file = _file(ROWS * 10)
    for odd in [b"", b"PAR1", b"PAR1PAR1", b"x" * 100, file[:-1], file[: len(file) // 2], file[4:], json.dumps(ROWS).encode()]:
        with pytest.raises(ex.DataError):
            ex.read_parquet(odd)
    rng = random.Random(7)
    for _ in range(300):
        odd = bytearray(file)
        for _ in range(rng.randint(1, 4)):
            odd[rng.randrange(len(odd))] = rng.randrange(256)
        try:
            ex.to_py(ex.read_parquet(odd))
        except ex.Error as error:
            assert not isinstance(error, ex.InternalError), error


def test_a_flipped_bit_does_not_pass_a_checksum() -> None:
    rows: "list[dict[str, object]]" = [{"x": i * 0x0101_0101, "s": "name %d" % i, "l": [0.5 * i]} for i in range(100)]
    for version in ["1.0", "2.0"]:
        options = {"use_dictionary": False, "compression": "none", "write_statistics": False, "data_page_version": version}
        file = bytearray(_file(rows, write_page_checksum=True, **options))
        assert ex.to_py(ex.read_parquet(file)) == rows
        for content, field in [((99 * 0x0101_0101).to_bytes(8, "little"), "x"), (b"name 99", "s")]:
            file[file.index(content)] ^= 1
            # Only what is read is looked at.
            assert ex.to_py(ex.read_parquet(file, paths=["l"])) == [{"l": row["l"]} for row in rows]
            with pytest.raises(ex.DataError, match="CRC"):
                ex.read_parquet(file, paths=[field])
            file[file.index(content[1:]) - 1] ^= 1
        assert ex.to_py(ex.read_parquet(file)) == rows


def test_the_examples_of_the_docstrings_run() -> None:
    for function in [ex.read_parquet, ex.read_parquet_blocks, ex.write_parquet]:
        source = inspect.getdoc(function) or ""
        session = doctest.DocTestParser().get_doctest(source, {}, function.__name__, None, 0)
        assert session.examples
        assert doctest.DocTestRunner(verbose=False).run(session).failed == 0


def test_times_of_int96_under_a_dictionary() -> None:
    times = pa.array([1, 1], pa.timestamp("us"))
    target = io.BytesIO()
    pq.write_table(pa.table({"x": times.dictionary_encode()}), target, use_deprecated_int96_timestamps=True)
    assert pa.array(ex.read_parquet(target.getvalue())["x"]).to_pylist() == times.to_pylist()


def test_categories_whose_order_the_file_has_lost_are_unordered() -> None:
    words, codes = pa.array(["lo", "mid", "hi"]), pa.array([2, 0, 1, 0], pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, words, ordered=True)
    table = pa.table({"c": column, "l": pa.ListArray.from_arrays(pa.array([0, 2, 2, 3, 4], pa.int32()), column)})
    for group, ordered in ((4, True), (2, False)):
        sink = io.BytesIO()
        pq.write_table(table, sink, row_group_size=group)
        read = ex.read_parquet(sink.getvalue())
        assert read["c"].ordered is ordered
        assert read["c"].decoded().tolist() == ["hi", "lo", "mid", "lo"]
        if ordered:
            assert ex.to_py(ex.sort(read["c"])) == ["lo", "lo", "mid", "hi"]
    ours = ex.write_parquet(ex.from_arrow(table))
    again = ex.read_parquet(ours)
    # What Extenso writes says the order beside the words, which stand as they come first.
    assert again["c"].ordered is True
    assert again["c"].categories.tolist() == ["lo", "mid", "hi"]
    assert again["l"].to_py() == [["hi", "lo"], [], ["mid"], ["lo"]]
    schema = pq.read_table(io.BytesIO(ours)).schema
    assert not schema.field("c").type.ordered
    assert not schema.field("l").type.value_type.ordered


def test_counts_of_rows_that_do_not_agree_are_told(tmp_path: pathlib.Path) -> None:
    sink = io.BytesIO()
    pq.write_table(
        pa.table({"a": range(1000)}), sink, compression="none", use_dictionary=False, write_statistics=False, store_schema=False
    )
    file = sink.getvalue()
    of_group, of_file = file.rfind(b"\xd0\x0f"), file.find(b"\xd0\x0f", len(file) - 150)
    f = ex.function(lambda row: {"a": row["a"]}).get_concrete_function(ex.infer_spec(file))
    for places in ([of_group], [of_file], [of_group, of_file]):
        for count in (b"\x80\x00", b"\xe8\x07"):
            odd = bytearray(file)
            for at in places:
                odd[at : at + 2] = count
            (tmp_path / "odd.parquet").write_bytes(odd)
            for read in (
                lambda: ex.read_parquet(bytes(odd)),
                lambda: list(ex.read_parquet_blocks(bytes(odd))),
                lambda: f.run(bytes(odd)),
                lambda: f.run(tmp_path / "odd.parquet", target=io.BytesIO(), target_format="json", on_error="skip"),
            ):
                with pytest.raises(ex.DataError):
                    read()


@pytest.mark.parametrize(
    "words",
    [
        pa.array([decimal.Decimal("1.5"), decimal.Decimal("-2.5")]),
        pa.array([decimal.Decimal("1.5"), decimal.Decimal("-2.5")], pa.decimal256(40, 1)),
        pa.array([True, False]),
        pa.array([1.5, -2.0], pa.float16()),
        pa.array([b"ab", b"cd"], pa.binary(2)),
    ],
    ids=lambda words: str(words.type),
)
def test_categories_of_any_values_are_read_as_these(words: pa.Array) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.int32()), words)
    out = io.BytesIO()
    pq.write_table(pa.table({"x": column, "y": pa.array([[row] for row in column.to_pylist()])}), out)
    read = ex.read_parquet(out.getvalue())
    assert read["x"].to_py() == ex.from_arrow(column.dictionary_decode()).to_py()
    assert pq.read_table(io.BytesIO(out.getvalue()))["x"].to_pylist() == column.to_pylist()


def test_a_decimal_of_more_digits_than_its_type_is_not_written() -> None:
    for of, width in ((pa.decimal128(4, 2), 16), (pa.decimal256(4, 2), 32)):
        cells = b"".join(number.to_bytes(width, "little", signed=True) for number in (9999, -(10**6)))
        column = pa.Array.from_buffers(of, 2, [None, pa.py_buffer(cells)])
        for array in (column, pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), column)):
            with pytest.raises(ex.InvalidValueError, match="column 'x.*' has a decimal of more than 4 digits"):
                ex.write_parquet(pa.table({"x": array}))
        assert ex.read_parquet(ex.write_parquet(pa.table({"x": column.slice(0, 1)})))["x"].to_py() == ["99.99"]
