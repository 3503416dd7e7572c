"""What was found at the edges of formats: names that are no text, packed Parquet, places of bad rows, intervals as text."""

import gzip
import json
import os
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import extenso as ex


@pytest.mark.parametrize(
    "array",
    [
        pa.StructArray.from_arrays([pa.array([1])], fields=[pa.field(b"\xff", pa.int64())]),
        pa.array([1], pa.timestamp("s", tz=b"\xff")),
    ],
    ids=["name", "zone"],
)
def test_what_is_no_text_in_a_schema_is_an_error_and_no_panic(array: pa.Array) -> None:
    with pytest.raises(ex.DataError, match="from_arrow: the Arrow array is malformed"):
        ex.from_arrow(array)


def test_a_requested_schema_that_is_malformed_is_an_error() -> None:
    schema = pa.schema([pa.field(b"\xff", pa.int64())]).__arrow_c_schema__()
    with pytest.raises(ex.DataError, match="malformed"):
        ex.tensor([1]).__arrow_c_array__(schema)


def test_an_array_that_was_taken_already_is_an_error() -> None:
    class Once:
        def __init__(self) -> None:
            self.capsules = pa.array([1, 2]).__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return self.capsules

    array = Once()
    assert ex.from_arrow(array).tolist() == [1, 2]
    with pytest.raises(ex.DataError, match="released"):
        ex.from_arrow(array)


def test_row_groups_are_left_out_by_the_comparison_of_ops() -> None:
    x = ex.tensor([0.1], "f32")
    file = ex.write_parquet({"x": x})
    for sign, fits in {"<=": x <= 0.1, "==": ex.equal(x, 0.1), ">=": x >= 0.1}.items():
        assert ex.read_parquet(file, prune=("x", sign, 0.1)).shape == (sum(fits.tolist()),)


def test_packed_parquet_runs_into_a_target(tmp_path: pathlib.Path) -> None:
    pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / "rows.parquet")
    packed = tmp_path / "rows.parquet.gz"
    packed.write_bytes(gzip.compress((tmp_path / "rows.parquet").read_bytes()))
    spec = ex.StructTensorSpec([None], {"x": ex.TensorSpec([None], "f64")})
    double = ex.function(lambda row: {"y": row["x"] * 2.0}, input_signature=[spec])
    double.run(packed, target=tmp_path / "out.ndjson")
    assert (tmp_path / "out.ndjson").read_text() == '{"y":2.0}\n{"y":4.0}\n'


def test_a_bad_row_without_bytes_of_its_own_has_no_offset(tmp_path: pathlib.Path) -> None:
    file = ex.write_parquet(ex.constant([{"s": "1.5"}, {"s": "no number"}]))
    decimals = ex.DecimalTensor.Spec(cells=ex.TensorSpec([None, 16], "u8"), precision=5, scale=2, bits=128)
    spec = ex.StructTensorSpec([None], {"s": decimals})
    read, bad = ex.read_parquet(file, spec, on_error="skip")
    assert (len(read), bad.first[0].row, bad.first[0].offset) == (1, 1, None)
    text = b'{"s":"1.5"}\n{"s":"no"}\n'
    assert ex.read_json(text, spec, on_error="skip")[1].first[0].offset == 17


def test_intervals_come_back_from_their_text() -> None:
    spans = pa.array([(1, -2, 3), None, (0, 0, -5)], pa.month_day_nano_interval())
    x = ex.from_arrow(pa.table({"m": spans}))
    written = bytes(ex.write_json(x))
    assert [json.loads(line)["m"] for line in written.splitlines()] == ["1mo -2d 3ns", None, "0mo 0d -5ns"]
    assert pa.array(ex.read_json(written, ex.spec_of(x))["m"]).equals(spans)
    assert ex.to_py(ex.encode_json(x)) == written.decode().splitlines()
    csv = bytes(ex.write_csv(x))
    assert pa.array(ex.read_csv(csv, ex.spec_of(x))["m"]).equals(spans)
    with pytest.raises(ex.DataError, match="row 0(.|\n)*an interval, such as \"1mo 2d 3ns\""):
        ex.read_json(b'{"m":"1d 2mo"}', ex.spec_of(x))


def test_categories_are_inferred_where_some_are_missing() -> None:
    words = pa.table({"c": pa.array(["u", None, "v"]).dictionary_encode()})
    file = ex.write_arrow(ex.from_arrow(words))
    run = ex.function(lambda row: row["c"]).run(file)
    assert isinstance(run.values, ex.CategoricalTensor)
    assert run.tolist() == ["u", None, "v"]
    one, other = ex.from_arrow(words)["c"], ex.from_arrow(pa.table({"c": pa.array(["v"]).dictionary_encode()}))["c"]
    for joined in (ex.concat([one, other]), ex.concat([other, one])):
        assert isinstance(joined.values, ex.CategoricalTensor)


def test_an_empty_string_in_a_table_is_not_a_missing_one() -> None:
    rows = [{"s": "", "n": 1, "t": "x"}, {"s": None, "n": None, "t": ""}, {"s": 'a"b\n', "n": 3, "t": ","}]
    x = ex.constant(rows)
    written = bytes(ex.write_csv(x))
    assert written == b's,n,t\n"",1,x\n,,\n"a""b\n",3,","\n'
    assert ex.to_py(ex.read_csv(written, ex.spec_of(x))) == rows
    packed = gzip.compress(b"\xef\xbb\xbf" + written)
    assert ex.to_py(ex.read_csv(packed, ex.spec_of(x))) == rows
    # Quotes around nothing are all that the row of one column can be.
    alone = ex.constant([{"s": None}, {"s": ""}])
    with pytest.raises(ex.InvalidValueError, match="row 1 of the only column 's'"):
        ex.write_csv(alone)
    # Writers that put all into quotes write numbers that are missing so too.
    assert ex.to_py(ex.read_csv(b'"s","n","t"\n"","",""\n', ex.spec_of(x))) == [{"s": "", "n": None, "t": ""}]
    assert ex.to_py(ex.read_csv(b's\n""\n""\n', ex.spec_of(alone))) == [{"s": None}, {"s": None}]
    rows = [{"r": {"s": ""}, "n": 1}, {"r": None, "n": 2}]
    nested = ex.constant(rows)
    assert ex.to_py(ex.read_csv(bytes(ex.write_csv(nested)), ex.spec_of(nested))) == rows


def test_the_name_of_json_lines_is_a_format(tmp_path: pathlib.Path) -> None:
    spec = ex.StructTensorSpec([None], {"x": ex.TensorSpec([None], "i64")})
    more = ex.function(lambda row: {"y": row["x"] + 1}, input_signature=[spec])
    more.run(b'{"x":1}\n{"x":2}', target=tmp_path / "out", target_format="ndjson")
    assert (tmp_path / "out").read_text() == '{"y":2}\n{"y":3}\n'


def test_a_bad_rows_file_is_not_the_file_that_is_open(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text('{"x": 1}\n{"x": "a"}\n')
    f = ex.function(lambda r: r["x"])
    with path.open("rb") as source, pytest.raises(ex.Error, match="is read or written by the run itself"):
        f.run(source, bad_rows=path, on_error="skip")
    assert path.read_text() == '{"x": 1}\n{"x": "a"}\n'


def test_one_value_where_a_list_is_wanted_names_its_path() -> None:
    spec = ex.spec_of(ex.from_arrow(FIXED))
    with pytest.raises(ex.Error, match=r"'emb' has the Arrow type Float64"):
        ex.from_arrow(pa.table({"id": [1], "emb": [1.0]}), spec=spec)


FIXED = pa.table({"id": [1], "emb": pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2.0, 3.0]), 3)})


@pytest.mark.parametrize("rows", [None, 100])
def test_a_long_word_in_many_rows_is_a_category_or_refused(rows: "int | None", tmp_path: pathlib.Path) -> None:
    n, word = 700, "x" * (1 << 20)
    words = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([word]))
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"w": words}), path, dictionary_pagesize_limit=1 << 22, row_group_size=rows)
    assert ex.shape(ex.read_parquet(path)["w"]) == (n,)
    pq.write_table(pa.table({"w": words}), path, dictionary_pagesize_limit=1 << 22, row_group_size=rows, store_schema=False)
    with pytest.raises(ex.Error, match="far more bytes than the file"):
        ex.read_parquet(path)


def blocks_of(path: pathlib.Path, rows: int) -> "list[ex.StructTensor]":
    return list(ex.read_parquet_blocks(path, rows))


def test_ordered_categories_keep_their_order_in_blocks(tmp_path: pathlib.Path) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([2, 0, 1] * 50, pa.int8()), pa.array(["lo", "mid", "hi"]), ordered=True)
    path = tmp_path / "ordered.parquet"
    pq.write_table(pa.table({"x": words}), path)
    for block in [ex.read_parquet(path), *blocks_of(path, 40)]:
        assert ex.max(block["x"]).to_py() == "hi"
        assert block["x"].categories.to_py() == ["lo", "mid", "hi"]


def test_a_category_that_nobody_sees_is_a_place_of_something(tmp_path: pathlib.Path) -> None:
    inner = pa.DictionaryArray.from_arrays(pa.array([0, 0, 0], pa.int8()), pa.array(["w"]))
    field = pa.field("a", pa.dictionary(pa.int8(), pa.string()), nullable=False)
    records = pa.StructArray.from_arrays([inner], fields=[field], mask=pa.array([True, True, False]))
    path = tmp_path / "hidden.parquet"
    pq.write_table(pa.table({"x": records}), path)
    wanted = [{"x": None}, {"x": None}, {"x": {"a": "w"}}]
    assert ex.read_parquet(path).to_py() == wanted
    for rows in (1, 2, 3):
        assert [row for block in blocks_of(path, rows) for row in block.to_py()] == wanted


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.large_binary()])
def test_texts_that_repeat_the_ones_before_are_bounded(text: pa.DataType, tmp_path: pathlib.Path) -> None:
    word = ["x" * (1 << 20)] * 20
    path = tmp_path / "delta.parquet"
    options = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY", "compression": "zstd"}
    with pq.ParquetWriter(path, pa.schema([("t", text)]), **options) as writer:
        for _ in range(30):
            writer.write_table(pa.table({"t": pa.array(word, text)}))
    with pytest.raises(ex.Error, match="column 't': the texts have far more bytes than the file"):
        ex.read_parquet(path)
    with pytest.raises(ex.Error, match="column 't': the texts have far more bytes than the file"):
        blocks_of(path, 100)


def test_bad_rows_are_not_written_through_a_link(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "a.ndjson"
    text = '{"x": 1}\n{"x": "a"}\n'
    source.write_text(text)
    (tmp_path / "hard").hardlink_to(source)
    (tmp_path / "soft").symlink_to(tmp_path / "out.ndjson")
    f = ex.function(lambda r: {"x": r["x"]}).get_concrete_function(ex.StructTensorSpec([None], {"x": ex.TensorSpec([None], "i64")}))
    opened = os.fdopen(os.open(source, os.O_RDONLY), "rb")
    for bad_rows, given in [("hard", source), ("soft", source), ("a.ndjson", opened)]:
        with pytest.raises(ex.Error, match="is read or written by the run itself"):
            f.run(given, target=tmp_path / "out.ndjson", bad_rows=tmp_path / bad_rows, on_error="skip")
    opened.close()
    assert source.read_text() == text and not (tmp_path / "out.ndjson").exists()


@pytest.mark.parametrize("array", [pa.array([b"0123456789abcdef"], pa.uuid()), pa.array([1, 0], pa.bool8()), pa.array(["{}"], pa.json_())])
def test_an_extension_type_that_is_asked_for_is_given(array: pa.Array) -> None:
    x = ex.from_arrow(array)
    assert pa.array(x).type == array.type
    # PyArrow asks for what the type is stored as, and takes that for the array.
    assert pa.array(x, type=array.type).type in (array.type, array.type.storage_type)
    assert pa.array(x, type=array.type.storage_type).equals(array.storage)


def test_records_with_lists_are_repeated_with_what_is_missing() -> None:
    x = ex.constant([None, {"l": [3, 2]}, {"l": []}])
    for n in (2, 3):
        assert ex.to_py(ex.broadcast_to(x, (n, 3))) == [ex.to_py(x)] * n
    assert ex.to_py(ex.broadcast_to(x[:1], (4, 1))) == [[None]] * 4
    with pytest.raises(ex.ShapeError, match="broadcast_like"):
        ex.broadcast_like(ex.constant([[1, 2], [3]]), ex.tensor([[0], [0]]))
    with pytest.raises(ex.Error):
        ex.function(ex.broadcast_like)(ex.constant([[1, 2], [3]]), ex.tensor([[0], [0]]))
    one = ex.mask(ex.constant([[10, 20]]), [True])
    assert ex.to_py(ex.broadcast_like(one, ex.constant([[1, 2], [3, 4]]))) == [[10, 20], [10, 20]]


def test_rows_that_are_missing_are_turned_with_nothing_in_them() -> None:
    for lists in ([[1], [2, 3], [], [4], [5, 6, 7], [8]], [[1], [2, 3], [], [], [], []]):
        rows = ex.RaggedTensor.from_uniform_row_length(ex.constant(lists), 3)
        turned = ex.transpose(ex.mask(rows, ex.tensor([True, False])), (1, 0, 2))
        assert ex.to_py(turned) == [[[1], None], [[2, 3], None], [[], None]]
