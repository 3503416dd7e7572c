"""What a user's type says of data that is read: of what is there, once, and as a fault of a row, whatever the rows are stored in."""

import json
from collections.abc import Callable
from typing import Any

import extenso as ex
import pytest


class Positive(ex.ExtensionType):
    """A number above zero."""

    v: ex.Tensor

    def __validate_data__(self) -> None:
        assert self.v.shape[0] != 0, "nothing is there to be looked at"
        if bool(ex.any(self.v <= 0.0)):
            raise ValueError("not positive")


ROWS: list[dict[str, Any]] = [
    {"p": {"v": 1.0}, "l": [{"v": 2.0}], "n": 0},
    {"p": {"v": -1.0}, "l": [], "n": 1},
    {"p": {"v": 3.0}, "l": [{"v": 4.0}, {"v": 0.0}], "n": 2},
    {"p": {"v": 5.0}, "l": [{"v": 6.0}], "n": 3},
]
GOOD = [ROWS[0], ROWS[3]]


def _spec() -> ex.StructTensorSpec:
    one = Positive.Spec(v=ex.TensorSpec([None], "f64"))
    return ex.StructTensorSpec(
        [None], {"p": one, "l": ex.RaggedTensorSpec([None, None], flat_values_spec=one), "n": ex.TensorSpec([None], "i64")}
    )


def _read(said: str, rows: list[dict[str, Any]], spec: Any, **keywords: Any) -> Any:
    if said == "list":
        return ex.read_json(rows, spec, **keywords)
    if said == "lines":
        return ex.read_json(b"".join(json.dumps(row).encode() + b"\n" for row in rows), spec, **keywords)
    if said == "array":
        return ex.read_json(json.dumps(rows).encode(), spec, **keywords)
    plain = ex.constant(rows)
    if said == "parquet":
        return ex.read_parquet(ex.write_parquet(plain), spec, **keywords)
    if said == "arrow":
        return ex.read_arrow(ex.write_arrow(plain), spec, **keywords)
    return ex.read_avro(ex.write_avro(plain), spec, **keywords)


FORMATS = ["list", "lines", "array", "parquet", "arrow", "avro"]


@pytest.mark.parametrize("said", FORMATS)
def test_a_refusal_is_a_fault_of_its_row(said: str) -> None:
    spec = _spec()
    assert ex.to_py(_read(said, GOOD, spec)["n"]) == [0, 3]
    with pytest.raises((ValueError, ex.Error), match="not positive") as caught:
        _read(said, ROWS, spec)
    told = " ".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert "row 1" in told and "'p'" in told
    value, bad = _read(said, ROWS, spec, on_error="skip")
    assert value["n"].tolist() == [0, 3] and value["p"].v.tolist() == [1.0, 5.0]
    assert list(bad.rows) == [1, 2]
    value, bad = _read(said, ROWS, spec, on_error="default")
    assert value["n"].tolist() == [0, 0, 0, 3] and value["p"].v.tolist() == [1.0, 0.0, 0.0, 5.0]
    assert ex.row_lengths(value["l"].partition).tolist() == [1, 0, 0, 1]
    assert list(bad.rows) == [1, 2]


@pytest.mark.parametrize("said", FORMATS)
def test_rows_that_are_bad_otherwise_are_counted_too(said: str) -> None:
    if said in ("parquet", "arrow", "avro"):
        pytest.skip("a column is of one type")
    rows = [{**ROWS[0], "n": "x"}, *ROWS]
    value, bad = _read(said, rows, _spec(), on_error="skip")
    assert value["n"].tolist() == [0, 3] and list(bad.rows) == [0, 2, 3]
    value, bad = _read(said, rows, _spec(), on_error="default")
    assert value["n"].tolist() == [0, 0, 0, 0, 3] and list(bad.rows) == [0, 2, 3]


@pytest.mark.parametrize("write", [ex.write_parquet, ex.write_arrow])
@pytest.mark.parametrize("own", [True, False])
def test_what_lies_under_a_missing_record_is_nobodys(write: Any, own: bool) -> None:
    """Of files whose columns name their types, and of others."""
    there = ex.mask(ex.StructTensor([3], {"p": Positive([1.0, 2.0, 3.0])}), [True, False, True])
    value = ex.StructTensor([3], {"r": there})
    spec = ex.spec_of(value)
    given = value if own else ex.read_json([{"r": {"p": {"v": 1.0}}}, {"r": None}, {"r": {"p": {"v": 3.0}}}])
    read = ex.read_parquet if write is ex.write_parquet else ex.read_arrow
    data = write(given)
    again = read(data, spec)
    assert again["r"].mask.tolist() == [True, False, True]
    if own:
        again = read(data)
        assert again["r"].mask.tolist() == [True, False, True] and ex.spec_of(again).is_compatible_with(spec)
        from_json = ex.read_json([{"r": {"p": {"v": 1.0}}}, {"r": None}], spec)
        assert read(write(from_json))["r"].mask.tolist() == [True, False]
    with pytest.raises(ValueError, match="not positive"):
        ex.read_json([{"r": {"p": {"v": -1.0}}}, {"r": None}], spec)


def test_blocks_count_their_rows_from_the_first() -> None:
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
    found = [list(bad.rows) for _, bad in ex.read_json_blocks(lines, 2, spec=_spec(), on_error="skip")]
    assert found == [[1], [2]]


def test_one_refusal_is_looked_for_where_one_is_told() -> None:
    looks = []

    class Refused(ex.ExtensionType):
        v: ex.Tensor

        def __validate_data__(self) -> None:
            looks.append(self.v.shape[0])
            if bool(ex.any(self.v < 0)):
                raise ValueError("negative")

    spec = ex.StructTensorSpec([None], {"p": Refused.Spec(v=ex.TensorSpec([None], "i64"))})
    lines = b'{"p":{"v":-1}}\n' * 4096
    with pytest.raises(ValueError, match="negative") as caught:
        ex.read_json(lines, spec)
    assert "Found in row 0 of the records." in caught.value.__notes__
    assert looks == [4096 >> n for n in range(13)]
    looks.clear()
    assert len(ex.read_json(lines.replace(b"-1", b"1"), spec)["p"].v) == 4096 and looks == [4096]



class Both(ex.ExtensionType):
    """Two numbers, of which one is looked at."""

    v: ex.Tensor
    w: ex.Tensor

    def __validate_data__(self) -> None:
        if bool(ex.any(self.v <= 0.0)):
            raise ValueError("not positive")


WIDE: list[dict[str, Any]] = [
    {"n": 0, "p": {"v": 1.0, "w": 10.0}, "l": [{"a": 1, "p": {"v": 1.0, "w": 1.0}}], "o": None, "skipped": "x"},
    {"n": 1, "p": {"v": -1.0, "w": 11.0}, "l": [], "o": {"v": 1.0, "w": 1.0}, "skipped": "y"},
    {"n": 2, "p": {"v": 2.0, "w": 12.0}, "l": [{"a": 2, "p": {"v": 0.0, "w": 2.0}}], "o": None, "skipped": "z"},
    {"n": 3, "p": {"v": 3.0, "w": 13.0}, "l": [{"a": 3, "p": {"v": 3.0, "w": 3.0}}] * 2, "o": {"v": 0.0, "w": 1.0}, "skipped": "u"},
    {"n": 4, "p": {"v": 4.0, "w": 14.0}, "l": [{"a": 4, "p": {"v": 4.0, "w": 4.0}}], "o": {"v": 2.0, "w": 1.0}, "skipped": "v"},
]


def _wide() -> ex.StructTensorSpec:
    one = Both.Spec(v=ex.TensorSpec([None], "f64"), w=ex.TensorSpec([None], "f64"))
    items = ex.StructTensorSpec([None], {"a": ex.TensorSpec([None], "i64"), "p": one})
    text = ex.TensorSpec([None], "string")
    fields: dict[str, Any] = {"n": ex.TensorSpec([None], "i64"), "p": one}
    fields |= {"l": ex.RaggedTensorSpec([None, None], flat_values_spec=items), "o": ex.MaskedTensorSpec(one, ex.TensorSpec([None], "bool")), "skipped": text}
    return ex.StructTensorSpec([None], fields)


PROTO = """
syntax = "proto3";
message P { double v = 1; double w = 2; }
message I { int64 a = 1; P p = 2; }
message R { int64 n = 1; P p = 2; repeated I l = 3; optional P o = 4; string skipped = 5; }
"""


def _stored(said: str) -> tuple[Any, dict[str, Any]]:
    plain = ex.constant(WIDE)
    if said == "lines":
        return b"".join(json.dumps(row).encode() + b"\n" for row in WIDE), {}
    if said == "array":
        return json.dumps(WIDE).encode(), {}
    if said == "messages":
        keywords: dict[str, Any] = {"descriptor": PROTO, "message": "R"}
        return ex.write_proto(plain, **keywords), keywords
    return {"parquet": ex.write_parquet, "arrow": ex.write_arrow, "avro": ex.write_avro}[said](plain), {}


STORED = ["lines", "array", "messages", "parquet", "arrow", "avro"]


def _needs(what: str) -> tuple[Any, list[Any], list[int]]:
    """A function that needs a part of the records, what it makes of them, and which rows are refused."""
    if what == "part":
        return lambda r: r["p"].w, [10.0, 11.0, 12.0, 13.0, 14.0], [1]
    if what == "items":
        return lambda r: ex.segment_sum(r["l"].values["p"].w, r["l"].partition), [1.0, 0.0, 2.0, 6.0, 4.0], [2]
    if what == "optional":
        return lambda r: r["o"].mask, [False, True, False, True, True], [3]
    if what == "both":
        return lambda r: r["p"].w + ex.cast(ex.row_lengths(r["l"].partition), "f64"), [11.0, 11.0, 13.0, 15.0, 15.0], [1]
    return lambda r: r["n"], [0, 1, 2, 3, 4], []


@pytest.mark.parametrize("what", ["part", "items", "both", "nothing", "optional"])
@pytest.mark.parametrize("said", STORED)
def test_a_run_looks_at_a_type_of_which_anything_is_needed(said: str, what: str) -> None:
    """Whatever the rows are stored in: the same rows are refused, and the policies mean the same."""
    f, wanted, refused = _needs(what)
    source, keywords = _stored(said)
    run = ex.function(f).get_concrete_function(_wide()).run
    if not refused:
        assert run(source, **keywords).tolist() == wanted
        return
    with pytest.raises((ValueError, ex.Error), match="not positive") as caught:
        run(source, **keywords)
    assert f"row {refused[0]}" in " ".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    value, bad = run(source, on_error="skip", **keywords)
    assert value.tolist() == [x for row, x in enumerate(wanted) if row not in refused] and list(bad.rows) == refused
    value, bad = run(source, on_error="default", **keywords)
    assert len(value) == len(wanted) and list(bad.rows) == refused
    assert [x for row, x in enumerate(value.tolist()) if row not in refused] == [
        x for row, x in enumerate(wanted) if row not in refused
    ]
    assert not value.tolist()[refused[0]]


@pytest.mark.parametrize("said", STORED)
def test_a_run_in_blocks_counts_the_rows_of_the_source(said: str, tmp_path: Any) -> None:
    source, keywords = _stored(said)
    run = ex.function(lambda r: {"w": r["p"].w}).get_concrete_function(_wide()).run
    target = tmp_path / "out.ndjson"
    done = run(source, target=target, on_error="skip", **keywords)
    assert [json.loads(line)["w"] for line in target.read_text().splitlines()] == [10.0, 12.0, 13.0, 14.0]
    assert done is not None


@pytest.mark.parametrize("policy", ["raise", "default"])
def test_ops_on_texts_look_at_what_is_there(policy: Any) -> None:
    spec = _wide()
    texts = [json.dumps(row) for row in WIDE]
    good = ex.constant([texts[0], None, texts[4]])
    messages = ex.encode_proto(ex.constant(WIDE), PROTO, "R")
    parse = ex.parse_json(good, spec, on_error=policy)
    value, bad = (parse, None) if policy == "raise" else parse
    assert value.mask.tolist() == [True, False, True] and (bad is None or bad.tolist() == [False] * 3)

    @ex.function
    def of_texts(x: Any) -> Any:
        return ex.parse_json(x, spec, on_error=policy) if policy == "raise" else ex.parse_json(x, spec, on_error="default")[0]

    @ex.function
    def weights(x: Any) -> Any:
        """Of a type of which a part is needed."""
        records = of_texts(x)
        return records["p"].values.w if isinstance(records, ex.MaskedTensor) else records["p"].w

    assert weights(good).tolist() == [10.0, 0.0, 14.0]
    given: list[tuple[Any, Any]] = [(texts, lambda x: ex.parse_json(x, spec, on_error=policy))]
    given.append((messages, lambda x: ex.parse_proto(x, PROTO, "R", spec=spec, on_error=policy)))
    for x, f in given:
        if policy == "raise":
            with pytest.raises(ValueError, match="not positive") as caught:
                f(x)
            assert "Found in row 1 of the records." in caught.value.__notes__
            continue
        value, bad = f(x)
        assert bad.tolist() == [False, True, True, True, False]
        assert value["n"].tolist() == [0, 0, 0, 0, 4] and value["p"].w.tolist() == [10.0, 0.0, 0.0, 0.0, 14.0]
        assert ex.row_lengths(value["l"].partition).tolist() == [1, 0, 0, 0, 1]
    if policy == "raise":
        with pytest.raises(ValueError, match="not positive"):
            weights(ex.constant(texts))
    else:
        assert weights(ex.constant(texts)).tolist() == [10.0, 0.0, 0.0, 0.0, 14.0]


def test_rows_of_a_table_and_messages_are_refused_too(tmp_path: Any) -> None:
    one = Positive.Spec(v=ex.TensorSpec([None], "f64"))
    spec = ex.StructTensorSpec([None], {"p": one, "n": ex.TensorSpec([None], "i64")})
    table = b"p.v,n\n1.0,0\n-1.0,1\n3.0,2\n"
    messages = ex.write_proto(
        ex.constant([{"n": n, "p": {"v": v, "w": 0.0}} for n, v in enumerate([1.0, -1.0, 3.0])]), descriptor=PROTO, message="R"
    )
    for read in (
        lambda **keywords: ex.read_csv(table, spec, **keywords),
        lambda **keywords: ex.read_proto(messages, descriptor=PROTO, message="R", spec=spec, **keywords),
    ):
        with pytest.raises(ValueError, match="not positive") as caught:
            read()
        assert "Found in row 1 of the records." in caught.value.__notes__
        value, bad = read(on_error="skip")
        assert value["n"].tolist() == [0, 2] and list(bad.rows) == [1]
        value, bad = read(on_error="default")
        assert value["n"].tolist() == [0, 0, 2] and list(bad.rows) == [1]
    run = ex.function(lambda r: r["p"].v + 1.0).get_concrete_function(spec).run
    value, bad = run(table, format="csv", on_error="skip")
    assert value.tolist() == [2.0, 4.0] and list(bad.rows) == [1]


def test_a_refused_row_starts_at_a_byte(tmp_path: Any) -> None:
    one = Positive.Spec(v=ex.TensorSpec([None], "f64"))
    spec = ex.StructTensorSpec([None], {"p": one})
    rows = [b'{"p":{"v":%d.0}}' % (-1 if i % 1000 == 7 else 1) for i in range(20_000)]
    wanted = [(i, i) for i in range(7, 20_000, 1000)][:16]
    lines, array, table = b"\n".join(rows), b"[" + b", ".join(rows) + b"]", b"p.v\n" + b"\n".join(row[10:-2] for row in rows)
    run = ex.function(lambda r: {"v": r["p"].v}).get_concrete_function(spec).run
    for source, format, gap in ((lines, "json", 1), (array, "json", 2), (table, "csv", 1)):
        sizes = [len(row) - (12 if format == "csv" else 0) for row in rows]
        first = {"csv": 4}.get(format, 1 if source is array else 0)
        starts = [first + sum(sizes[:i]) + gap * i for i, _ in wanted]
        reads: "list[Callable[[], Any]]" = [lambda: run(source, format=format, on_error="default")]
        reads += [lambda: ex.read_csv(source, spec, on_error="skip") if format == "csv" else ex.read_json(source, spec, on_error="skip")]
        for read in reads:
            _, bad = read()
            assert [(row.row, row.offset) for row in bad.first] == [(i, start) for (i, _), start in zip(wanted, starts)]
            assert len(bad.rows) == 20
        report = tmp_path / "bad.ndjson"
        run(source, format=format, on_error="skip", target=tmp_path / "out.ndjson", bad_rows=report)
        assert [json.loads(line)["byte"] for line in report.read_text().splitlines()[:16]] == starts


@pytest.mark.parametrize("said", ["parquet", "arrow"])
def test_our_own_files_are_judged_by_row_without_a_spec(said: str) -> None:
    wild = False

    class Tame(ex.ExtensionType):
        v: ex.Tensor

        def __validate_data__(self) -> None:
            if not wild and bool(ex.any(self.v < 0)):
                raise ValueError("wild")

    wild = True
    value = ex.StructTensor([4], {"t": Tame(v=[1, -1, 2, -2]), "n": [0, 1, 2, 3]})
    write, read = (ex.write_parquet, ex.read_parquet) if said == "parquet" else (ex.write_arrow, ex.read_arrow)
    data = write(value)
    assert read(data)["t"].v.tolist() == [1, -1, 2, -2]
    wild = False
    with pytest.raises(ValueError, match="wild") as caught:
        read(data)
    assert "Found in row 1 of the records." in caught.value.__notes__
    found, bad = read(data, on_error="skip")
    assert found["n"].tolist() == [0, 2] and found["t"].v.tolist() == [1, 2] and list(bad.rows) == [1, 3]
    found, bad = read(data, on_error="default")
    assert found["n"].tolist() == [0, 0, 2, 0] and list(bad.rows) == [1, 3]


def test_a_list_of_one_size_is_a_fault_of_its_row() -> None:
    inner = ex.RaggedTensorSpec([None, 2, None], "i64")
    spec = ex.StructTensorSpec([None], {"r": ex.MaskedTensorSpec(ex.StructTensorSpec([None], {"x": inner})), "n": ex.TensorSpec([None], "i64")})
    rows: list[dict[str, Any]] = [{"r": {"x": [[1], [2, 3]]}, "n": 0}, {"r": None, "n": 1}, {"r": {"x": [[4]]}, "n": 2}, {"n": 3}]
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    with pytest.raises(ex.Error, match=r"row 2, byte \d+, 'r.x': a list of 1 items came"):
        ex.read_json(lines, spec)
    value, bad = ex.read_json(lines, spec, on_error="skip")
    assert value["r"].mask.tolist() == [True, False, False] and list(bad.rows) == [2]
    assert value["r"].values["x"].shape == (3, 2, None) and value["n"].tolist() == [0, 1, 3]
    value, bad = ex.read_json(lines, spec, on_error="default")
    assert value["r"].mask.tolist() == [True, False, False, False] and value["r"].values["x"].shape == (4, 2, None)


@pytest.mark.parametrize("said", ["json", "parquet", "arrow", "avro", "own parquet", "own arrow"])
def test_no_path_leads_into_a_type(said: str) -> None:
    rows = [{"p": {"v": 1.0, "w": 2.0}, "l": [{"v": 3.0, "w": 4.0}], "n": 1}]
    one = Both.Spec(v=ex.TensorSpec([None], "f64"), w=ex.TensorSpec([None], "f64"))
    lists = ex.RaggedTensorSpec([None, None], flat_values_spec=one)
    spec: Any = ex.StructTensorSpec([None], {"p": one, "l": lists, "n": ex.TensorSpec([None], "i64")})
    lines = json.dumps(rows[0]).encode()
    value, spec = (ex.constant(rows), spec) if not said.startswith("own") else (ex.read_json(lines, spec), None)
    read: Any = {
        "json": lambda paths: ex.read_json(lines, spec, paths=paths),
        "parquet": lambda paths: ex.read_parquet(ex.write_parquet(value), spec, paths=paths),
        "arrow": lambda paths: ex.read_arrow(ex.write_arrow(value), spec, paths=paths),
        "avro": lambda paths: ex.read_avro(ex.write_avro(value), spec, paths=paths),
    }[said.split()[-1]]
    for path, whole in (("p.v", "p"), ("l[*].w", "l[*]")):
        with pytest.raises(ex.Error, match="the path goes on with") as caught:
            read([path])
        assert f"'{whole}' is" in str(caught.value) and "Both" in str(caught.value)
        assert read([whole, "n"])["n"].tolist() == [1]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, MemoryError, ex.OutOfMemoryError, AttributeError])
@pytest.mark.parametrize("on_error", ["raise", "skip", "default"])
def test_what_says_nothing_of_the_data_is_no_bad_row(raised: type[BaseException], on_error: str) -> None:
    class Faulty(ex.ExtensionType):
        v: ex.Tensor

        def __validate_data__(self) -> None:
            if bool(ex.any(self.v < 0.0)):
                raise raised("not of the row")

    spec = ex.StructTensorSpec([None], {"m": Faulty.Spec(ex.TensorSpec([None], "f64"))})
    f = ex.function(lambda r: r["m"].v * 2.0).get_concrete_function(spec)
    with pytest.raises(raised):
        f.run(b'{"m":{"v":1}}\n{"m":{"v":-1}}\n{"m":{"v":2}}\n', on_error=on_error)
