"""Functions over rows of which the argument is a column, and over what other libraries hold."""

import json
import pathlib
from typing import Any

import extenso as ex
import pyarrow as pa
import pyarrow.parquet
import pytest

INNER = ex.MaskedTensorSpec(ex.StructTensorSpec([None], {"b": ex.MaskedTensorSpec(ex.TensorSpec([None], "i64"))}))
OPTIONAL = ex.MaskedTensorSpec(ex.StructTensorSpec([None], {"a": INNER}))


def of_arrow(table: pa.Table, directory: pathlib.Path, **options: Any) -> "list[Any]":
    """The same rows as all that Arrow's own library writes; the options are those of Parquet."""
    pyarrow.parquet.write_table(table, directory / "rows.parquet", **options)
    with pa.ipc.new_file(directory / "rows.arrow", table.schema) as file:
        file.write_table(table)
    with pa.ipc.new_stream(directory / "rows.arrows", table.schema) as file:
        file.write_table(table)
    return [table, *(directory / f"rows.{ending}" for ending in ("parquet", "arrow", "arrows"))]


def written(table: pa.Table, directory: pathlib.Path) -> "list[Any]":
    """The same rows as all that holds columns."""
    ex.write_avro(ex.from_arrow(table), directory / "rows.avro")
    return [*of_arrow(table, directory), directory / "rows.avro"]


@pytest.mark.parametrize("result", [lambda rows: rows, lambda rows: ex.is_none(rows)], ids=["all", "mask"])
def test_an_only_column_is_a_field_or_the_argument_by_its_name(result: Any, tmp_path: pathlib.Path) -> None:
    f = ex.function(result).get_concrete_function(OPTIONAL)
    records = pa.array([{"a": {"b": 1}}, {"a": {"b": None}}])
    wanted = ex.to_py(f(ex.from_arrow(records, OPTIONAL)))
    by_fields = pa.Table.from_struct_array(records)
    by_value = pa.table({"value": pa.array([{"a": {"b": 1}}, {"a": {"b": None}}])})
    for table in (by_fields, by_value):
        for source in (*written(table, tmp_path), records):
            assert ex.to_py(f.run(source)) == wanted
            f.run(source, target=tmp_path / "out.ndjson")
            lines = (tmp_path / "out.ndjson").read_text().splitlines()
            assert [json.loads(line) for line in lines] == wanted
    missing = pa.array([{"a": {"b": 1}}, None])
    wanted = ex.to_py(f(ex.from_arrow(missing, OPTIONAL)))
    assert ex.to_py(f.run(missing)) == ex.to_py(f.run(pa.table({"value": missing}))) == wanted


def test_what_is_written_of_optional_records_has_one_layout(tmp_path: pathlib.Path) -> None:
    rows = pa.chunked_array([pa.array([{"x": 1}, {"x": 2}]), pa.array([{"x": 3}, None])])
    spec = ex.MaskedTensorSpec(ex.StructTensorSpec([None], {"x": ex.TensorSpec([None], "i64")}))
    f = ex.function(lambda rows: rows).get_concrete_function(spec)
    for name, read in (("a.arrows", ex.read_arrow), ("a.parquet", ex.read_parquet), ("a.avro", ex.read_avro)):
        f.run(rows, target=tmp_path / name)
        assert ex.to_py(read(tmp_path / name)) == [{"value": row} for row in rows.to_pylist()]
        assert ex.to_py(f.run(tmp_path / name)) == rows.to_pylist()


def test_a_row_that_is_missing_has_no_value_in_its_only_column() -> None:
    hidden = pa.StructArray.from_arrays([pa.array([1, 2, 3])], ["x"], mask=pa.array([False, True, False]))
    f = ex.function(lambda x: x).get_concrete_function(ex.MaskedTensorSpec(ex.TensorSpec([None], "i64")))
    assert f.run(hidden).to_py() == [1, None, 3]


def test_columns_that_nobody_needs_are_not_joined() -> None:
    words = [pa.DictionaryArray.from_arrays(pa.array(range(100), pa.int8()), [f"{k}{i}" for i in range(100)]) for k in "ab"]
    table = pa.table({"x": pa.array(range(200)), "word": pa.chunked_array(words)})
    assert ex.function(lambda rows: rows["x"]).run(table).tolist() == list(range(200))
    both = ex.function(lambda rows: (rows["x"], rows["word"])).run(table)
    assert ex.to_py(both[1]) == table["word"].to_pylist()


def test_an_array_keeps_what_its_field_says() -> None:
    f = ex.function(lambda x: x)
    ordered = pa.DictionaryArray.from_arrays(pa.array([0, 1]), ["b", "a"], ordered=True)
    assert f.run(ordered).ordered
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(ex.reshape(ex.arange(12.0), [2, 2, 3]).to_numpy())
    assert f.run(tensors).shape == (2, 2, 3)
    assert isinstance(f.run(pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8()))), ex.Bool8Tensor)


def test_ordered_words_of_several_vocabularies_have_no_order() -> None:
    words = [pa.DictionaryArray.from_arrays(pa.array([0, 1]), of, ordered=True) for of in (["b", "a"], ["a", "b"])]
    table = pa.table({"d": pa.chunked_array(words)})
    found = ex.function(lambda rows: rows).run(table)["d"]
    assert not found.ordered and ex.to_py(found) == ["b", "a", "a", "b"]


def test_rows_without_columns_are_counted() -> None:
    assert ex.function(lambda rows: rows).run(pa.table({"a": [1, 2]}).select([])).shape == (2,)


def test_what_is_asked_of_a_table_amiss_is_told() -> None:
    table = pa.table({"x": [1.0]})
    f = ex.function(lambda rows: rows["x"])
    with pytest.raises(ex.InvalidValueError, match="on_error: found 'sip'"):
        ex.infer_spec(table, on_error="sip")
    for function in (f, f.get_concrete_function(ex.infer_spec(table))):
        with pytest.raises(ex.InvalidValueError, match="a table is records already, and no messages"):
            function.run(table, message="tf.train.Example")
    with pytest.raises(ex.DTypeError, match="takes 'a' and others, and the rows are"):
        ex.function(lambda a, b: a + b).run(pa.array([1, 2]))


def _variable(rows: "list[Any]", levels: int = 1) -> "list[Any]":
    """Lists of no stated size, as a table, as its later rows, and as pieces of one row."""
    kind: pa.DataType = pa.int64()
    for _ in range(levels):
        kind = pa.list_(kind)
    table = pa.table({"x": pa.array(rows, kind)})
    later = pa.table({"x": pa.array([*rows[:1], *rows], kind)}).slice(1)
    return [table, later, pa.Table.from_batches(table.to_batches(max_chunksize=1))]


def _of_x(spec: ex.TypeSpec) -> Any:
    return ex.function(lambda rows: {"x": rows["x"]}).get_concrete_function(ex.StructTensorSpec([None], {"x": spec}))


def test_lists_that_nobody_sees_have_any_size(tmp_path: pathlib.Path) -> None:
    pair, mask = ex.TensorSpec([None, 2], "i64"), ex.TensorSpec([None], "bool")
    f = _of_x(ex.MaskedTensorSpec(pair, mask=mask))
    for source in _variable([[1, 2], None, [3, 4]]):
        assert ex.to_py(f.run(source)["x"]) == [[1, 2], None, [3, 4]]
        with pytest.raises(ex.DataError, match="row 1, 'x': null came.\n.*The mask is of elements"):
            _of_x(ex.MaskedTensorSpec(pair)).run(source)
    under = pa.StructArray.from_arrays(
        [pa.array([[1, 2], [9]], pa.list_(pa.int64()))], ["v"], mask=pa.array([False, True])
    )
    g = _of_x(ex.MaskedTensorSpec(ex.StructTensorSpec([None], {"v": pair}), mask=mask))
    for source in written(pa.table({"x": under}), tmp_path):
        assert ex.to_py(g.run(source)["x"]) == [{"v": [1, 2]}, None]
    inner = _of_x(ex.RaggedTensorSpec([None, None, 2], "i64", ragged_rank=1))
    whole = pa.table({"x": pa.array([[[1, 2]], [[3]]], pa.list_(pa.list_(pa.int64())))})
    assert ex.to_py(inner.run(whole.slice(0, 1))["x"]) == [[[1, 2]]]


@pytest.mark.parametrize(("on_error", "kept"), [("skip", [[[1, 2], [3, 4]], []]), ("default", [[[1, 2], [3, 4]], [], []])])
def test_a_list_of_another_size_is_a_bad_row_with_its_path(on_error: str, kept: "list[Any]") -> None:
    f = _of_x(ex.RaggedTensorSpec([None, None, 2], "i64", ragged_rank=1))
    for source in _variable([[[1, 2], [3, 4]], [[5, 6], [7]], []], levels=2):
        found, bad = f.run(source, on_error=on_error)
        assert ex.to_py(found["x"]) == kept
        assert [(b.row, b.path) for b in bad.first] == [(1, "x[*]")]
        with pytest.raises(ex.Error, match=r"run: row 1, 'x\[\*\]': a list of 1 came"):
            f.run(source)
    times = pa.array([[0], [10**16], [1]], pa.list_(pa.timestamp("us")))
    finer = ex.infer_spec(pa.table({"x": pa.array([[0]], pa.list_(pa.timestamp("ns")))}))
    g = ex.function(lambda rows: {"x": rows["x"]}).get_concrete_function(finer)
    assert len(ex.to_py(g.run(pa.table({"x": times}).slice(0, 1))["x"])) == 1
    found, bad = g.run(pa.table({"x": times}), on_error=on_error)
    assert [(b.row, b.path) for b in bad.first] == [(1, "x[*]")] and len(ex.to_py(found["x"])) == len(kept)


#: Three texts, of which the second is no UTF-8, in every layout of Arrow's.
TEXTS = [pa.array([b"a", b"b\xff", "ß".encode()], kind) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())]
TEXTS = [text.view(kind) for text, kind in zip(TEXTS, (pa.string(), pa.large_string(), pa.string_view()))]
TEXT = ex.TensorSpec([None], "string")
ONE_EACH = pa.array([0, 1, 2, 3], pa.int32())


@pytest.mark.parametrize("text", TEXTS, ids=str)
@pytest.mark.parametrize(
    ("around", "spec", "path", "wanted"),
    [
        (lambda text: text, TEXT, "x", ["a", "ß"]),
        (lambda text: text, ex.MaskedTensorSpec(TEXT), "x", ["a", "ß"]),
        (
            lambda text: pa.ListArray.from_arrays(ONE_EACH, text),
            ex.RaggedTensorSpec([None, None], "string"), "x[*]", [["a"], ["ß"]],
        ),
        (
            lambda text: pa.StructArray.from_arrays([text], ["t"]),
            ex.StructTensorSpec([None], {"t": TEXT}), "x.t", [{"t": "a"}, {"t": "ß"}],
        ),
        (lambda text: pa.FixedSizeListArray.from_arrays(text, 1), ex.TensorSpec([None, 1], "string"), "x[*]", [["a"], ["ß"]]),
    ],
    ids=["column", "masked", "list", "record", "pair"],
)
@pytest.mark.parametrize("encoding", ["words", "plain", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
def test_a_text_that_is_not_utf8_is_a_bad_row_with_its_path(
    text: Any, around: Any, spec: Any, path: str, wanted: "list[Any]", encoding: str, tmp_path: pathlib.Path
) -> None:
    table = pa.table({"x": around(text), "n": [1, 2, 3]})
    options: dict[str, Any] = {"use_dictionary": encoding == "words"}
    if encoding.startswith("DELTA"):
        options["column_encoding"] = dict.fromkeys(("x", "x.t", "x.list.element"), encoding)
    for source in of_arrow(table, tmp_path, **options):
        f = _of_x(spec)
        found, bad = f.run(source, on_error="skip")
        assert ex.to_py(found["x"]) == wanted
        assert [(b.row, b.path) for b in bad.first] == [(1, path)], source
        found, bad = f.run(source, on_error="default")
        assert [row for i, row in enumerate(ex.to_py(found["x"])) if i != 1] == wanted and bad.rows == [1]
        with pytest.raises(ex.DataError, match="not UTF-8"):
            f.run(source)
        read: Any = ex.read_parquet if str(source).endswith("parquet") else ex.read_arrow
        rows, bad = read(source, on_error="skip")
        assert ex.to_py(rows["x"]) == wanted and [(b.row, b.path) for b in bad.first] == [(1, path)]
        rows, bad = read(source, spec=ex.StructTensorSpec([None], {"x": spec}), on_error="default")
        assert len(ex.to_py(rows)) == 3 and bad.rows == [1]


def test_categories_beside_defaults_have_the_codes_of_their_spec() -> None:
    spec = ex.CategoricalTensor.Spec(ex.TensorSpec([None], "i8"), ex.TensorSpec([None], "string"), False)
    f = ex.function(lambda rows: {"c": rows["x"].codes}).get_concrete_function(ex.StructTensorSpec([None], {"x": spec}))
    found, bad = f.run(pa.table({"x": ["a", None, "c"]}), on_error="default")
    assert found["c"].dtype == ex.i8 and [b.row for b in bad.first] == [1]


def test_runs_without_a_target_name_themselves_and_the_file(tmp_path: pathlib.Path) -> None:
    table = pa.table({"q": [1]})
    f = _of_x(ex.TensorSpec([None], "i64"))
    for source in written(table, tmp_path):
        with pytest.raises(ex.Error) as raised:
            f.run(source)
        name = f"{source}: " if isinstance(source, pathlib.Path) else ""
        assert str(raised.value).startswith(f"run: {name}there is no column 'x'"), raised.value
