"""CSV in and out: kinds of columns, nested fields, policies, files; against the module `csv`."""

import csv
import doctest
import gzip
import inspect
import io
import pathlib

import extenso as ex
import pytest


def _table(rows: "list[list[object]]", **options: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, **options).writerows(rows)
    return text.getvalue().encode()


ROWS: "list[list[object]]" = [["id", "user.name", "score", "ok"], [1, 'a, "b"\n', 0.5, "true"], [2, "", "", "False"]]
RECORDS = [
    {"id": 1, "user": {"name": 'a, "b"\n'}, "score": 0.5, "ok": True},
    {"id": 2, "user": {"name": ""}, "score": None, "ok": False},
]


def test_every_kind_of_source_gives_the_same(tmp_path: pathlib.Path) -> None:
    text = _table(ROWS)
    path = tmp_path / "rows.csv"
    path.write_bytes(text)
    for source in [text, bytearray(text), path, str(path), io.BytesIO(text), io.StringIO(text.decode()), gzip.compress(text)]:
        assert ex.to_py(ex.read_csv(source)) == RECORDS
    assert ex.to_py(ex.read_csv(_table(ROWS, delimiter="\t"), delimiter="\t")) == RECORDS
    assert ex.to_py(ex.read_csv(text, paths=["user", "id"])) == [{"id": r["id"], "user": r["user"]} for r in RECORDS]
    for name in ["rows.tsv", "rows.TSV"]:
        ex.write_csv(ex.constant(RECORDS), tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(b"id\tuser.name\tscore\tok\n")
        assert ex.to_py(ex.read_csv(tmp_path / name)) == RECORDS
        ex.write_csv(ex.constant(RECORDS), tmp_path / name, delimiter=",")
        assert ex.to_py(ex.read_csv(str(tmp_path / name), delimiter=",")) == RECORDS
    for delimiter in ["", ",,", "\n", "é"]:
        with pytest.raises(ex.InvalidValueError, match="delimiter: found"):
            ex.read_csv(text, delimiter=delimiter)


def test_what_is_written_is_read(tmp_path: pathlib.Path) -> None:
    value = ex.constant(RECORDS)
    path = tmp_path / "rows.csv"
    assert ex.write_csv(value, path) is None
    assert path.read_bytes() == ex.write_csv(value)
    assert next(csv.reader(io.StringIO(path.read_text()))) == ["id", "user.name", "score", "ok"]
    assert ex.to_py(ex.read_csv(path, ex.spec_of(value))) == RECORDS
    assert ex.write_csv({"a": ex.tensor([1, 2]), "b": ex.tensor(["x", "y"])}) == b"a,b\n1,x\n2,y\n"
    with pytest.raises(ex.DTypeError, match="'a' is a list, and CSV has none"):
        ex.write_csv({"a": ex.constant([[1], []])})


def test_rows_that_do_not_fit() -> None:
    text = b"id\n1\ntwo\n3\n"
    spec = ex.StructTensorSpec([None], {"id": ex.TensorSpec([None], "i32")})
    with pytest.raises(ex.DataError, match="row 1, byte 5, 'id': 'two' came in column 1"):
        ex.read_csv(text, spec)
    kept, bad = ex.read_csv(text, spec, on_error="skip")
    assert (ex.to_py(kept), bad.rows, bad.first[0].path) == ([{"id": 1}, {"id": 3}], [1], "id")
    filled, bad = ex.read_csv(text, spec, on_error="default")
    assert filled["id"].tolist() == [1, 0, 3]
    assert ex.to_py(ex.read_csv(text)) == [{"id": "1"}, {"id": "two"}, {"id": "3"}]
    for odd, wanted in [(b"", "no row of names"), (b"a,a\n1,2\n", "another has"), (b"a\n", "there are no|^"), (b"a,b\n1\n", "1 cells")]:
        with pytest.raises(ex.Error, match=wanted):
            ex.read_csv(odd, spec if odd == b"a\n" else None)


def test_functions_run_over_tables(tmp_path: pathlib.Path) -> None:
    spec = ex.StructTensorSpec([None], {"a": ex.TensorSpec([None], "f64"), "b": ex.TensorSpec([None], "string")})
    f = ex.function(lambda r: {"twice": r["a"] * 2.0}, name="twice").get_concrete_function(spec)
    (tmp_path / "rows.tsv").write_text("a\tc\n1\tx\n2.5\ty\n")
    f.run(tmp_path / "rows.tsv", target=tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "twice\n2.0\n5.0\n"


def test_the_examples_of_the_docstrings_run() -> None:
    for function in [ex.read_csv, ex.write_csv]:
        session = doctest.DocTestParser().get_doctest(inspect.getdoc(function) or "", {}, function.__name__, None, 0)
        assert session.examples
        assert doctest.DocTestRunner(verbose=False).run(session).failed == 0


def test_an_empty_line_is_a_missing_row_of_a_table_of_one_column() -> None:
    assert ex.to_py(ex.read_csv(b"x\n1\n\n3\n")) == [{"x": 1}, {"x": None}, {"x": 3}]
    f = ex.function(lambda rows: rows["x"]).get_concrete_function(
        ex.StructTensorSpec([None], {"x": ex.TensorSpec([None], "i64")})
    )
    found, bad = f.run(b"x\n1\n\n3\n", format="csv", on_error="skip")
    assert ex.to_py(found) == [1, 3] and [b.row for b in bad.first] == [1]
    with pytest.raises(ex.Error, match="row 1, byte 4"):
        f.run(b"x\n1\n\n3\n", format="csv")


def test_a_table_of_one_column_is_its_values() -> None:
    spec = ex.TensorSpec([None], "f64")
    twice = ex.function(lambda x: x * 2.0, [spec], name="twice").get_concrete_function()
    written: bytes = ex.write_csv(ex.tensor([1.0, 2.0]))
    assert ex.read_csv(written, spec).tolist() == [1.0, 2.0]
    assert twice.run(written, format="csv").tolist() == [2.0, 4.0]
    assert ex.read_csv(b"x\n1.5\n\n", ex.MaskedTensorSpec(spec)).to_py() == [1.5, None]
    with pytest.raises(ex.ShapeError, match="the table has 2 columns.\nWanted: one column, of f64"):
        ex.read_csv(b"a,b\n1,2\n", spec)


def test_empty_lines_before_the_names_are_passed() -> None:
    f = ex.function(lambda r: {"t": r["a"]}).get_concrete_function(ex.StructTensorSpec([None], {"a": ex.TensorSpec([None], "i64")}))
    for before in [b"", b"\n", b"\n\n\n\n", b"\r\n\r\n\r\n", b"\xef\xbb\xbf\n", b"\n" * 3_000_000]:
        text = before + b"a,b\n1,2\n"
        assert ex.to_py(ex.read_csv(text)) == [{"a": 1, "b": 2}]
        assert ex.infer_spec(text, format="csv").field_names() == ["a", "b"]
        assert f.run(text, format="csv")["t"].tolist() == [1]
    with pytest.raises(ex.DataError, match="no row of names"):
        ex.infer_spec(b"\n" * 1000, format="csv")
