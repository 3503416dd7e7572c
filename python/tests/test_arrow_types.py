"""Every Arrow type to its value and back: the same addresses, sliced or not; and IPC files of them."""

import datetime
import decimal
import doctest
import io
import pathlib
import uuid

import extenso as ex
import pyarrow as pa
import pytest


def _addresses(array: pa.Array) -> "list[int | None]":
    return [b.address if b is not None and b.size > 0 else None for b in array.buffers()]


def _storage(array: pa.Array) -> pa.Array:
    return array.storage if isinstance(array, pa.ExtensionArray) else array


_N = 32
_DICTIONARY = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1] * 8, pa.int8()), pa.array(["a", "b"]))
_SPARSE = pa.UnionArray.from_sparse(
    pa.array([0, 1, 0, 1] * 8, pa.int8()), [pa.array(range(_N), pa.int32()), pa.array(["x", None] * 16)], ["n", "t"]
)
_DENSE = pa.UnionArray.from_dense(
    pa.array([0, 1, 0, 1] * 8, pa.int8()),
    pa.array([i // 2 for i in range(_N)], pa.int32()),
    [pa.array(range(16), pa.int32()), pa.array(["x", None] * 8)],
    ["n", "t"],
)

_ARRAYS = [
    pa.array([0, 1, None, -1] * 8, pa.timestamp("s")),
    pa.array([0, 1, 2, -1] * 8, pa.timestamp("us", "UTC")),
    pa.array([0, None, 2, -1] * 8, pa.timestamp("ns", "Europe/Berlin")),
    pa.array([0, None, 19782, -1] * 8, pa.date32()),
    pa.array([0, None, 86_400_000, -86_400_000] * 8, pa.date64()),
    pa.array([0, None, 2, 86_399] * 8, pa.time32("s")),
    pa.array([0, 1, 2, 3] * 8, pa.time32("ms")),
    pa.array([0, None, 2, 3] * 8, pa.time64("us")),
    pa.array([0, None, 2, 3] * 8, pa.time64("ns")),
    pa.array([0, None, -2, 3] * 8, pa.duration("ms")),
    pa.array([pa.MonthDayNano([1, -2, 3]), None] * 16),
    pa.array([decimal.Decimal("1.10"), None, decimal.Decimal("-0.05"), decimal.Decimal("0.00")] * 8, pa.decimal128(10, 2)),
    pa.array([decimal.Decimal("1.10"), decimal.Decimal("-3")] * 16, pa.decimal256(60, 20)),
    pa.array([b"abcd", None, b"\x00\xff\x00\xff", b"efgh"] * 8, pa.binary(4)),
    pa.array([b"ab", None, b"", b"c"] * 8, pa.large_binary()),
    _DICTIONARY,
    pa.array(["a", None, "b", "a"] * 8).dictionary_encode(),
    _SPARSE,
    _DENSE,
    pa.array([[("k", 1)], None, [], [("a", 2), ("b", None)]] * 8, pa.map_(pa.string(), pa.int64())),
    pa.array([{"when": datetime.date(2024, 2, 29), "x": None}, None, {"when": None, "x": 1}, None] * 8),
    pa.array([[datetime.timedelta(seconds=1)], None, [], [None]] * 8),
    pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(range(16)), None] * 16, pa.binary(16))),
    pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, None, 0, 1] * 8, pa.int8())),
    pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", None, "[1]", "2"] * 8)),
]


def _python(array: pa.Array) -> object:
    return [list(v) if isinstance(v, (list, tuple)) else v for v in array.to_pylist()]


@pytest.mark.parametrize("start, length", [(0, 32), (3, 16), (8, 9), (0, 0), (31, 1)])
@pytest.mark.parametrize("array", _ARRAYS, ids=lambda array: str(array.type)[:40])
def test_every_type_keeps_its_addresses(array: pa.Array, start: int, length: int) -> None:
    sliced = array.slice(start, length)
    value = ex.from_arrow(sliced)
    out = value.to_arrow()
    out.validate(full=True)
    assert out.type == sliced.type or pa.types.is_map(array.type), out.type
    assert len(out) == length
    if not pa.types.is_map(array.type):
        assert out.equals(sliced), (out, sliced)
    if length:
        here, there = _addresses(_storage(sliced)), _addresses(_storage(out))
        if sliced.null_count == 0:
            here, there = here[1:], there[1:]
            if pa.types.is_nested(array.type) or sliced.offset == 0 or array.null_count:
                return
            width = sliced.type.bit_width // 8
            assert there == [here[0] + width * sliced.offset]
            return
        # In a slice of one item, validity that hides nothing is left behind.
        assert there == here or (length == 1 and all(b in (None, a) for a, b in zip(here, there, strict=True)))
    repr(value)


@pytest.mark.parametrize("array", _ARRAYS, ids=lambda array: str(array.type)[:40])
def test_every_type_comes_back_from_a_file(array: pa.Array, tmp_path: pathlib.Path) -> None:
    table = pa.table({"x": array, "n": pa.array(range(len(array)))})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=20)
    records = ex.read_arrow(tmp_path / "a.arrow")
    assert records.shape == (32,) and records["n"].tolist() == list(range(32))
    ex.write_arrow(records, tmp_path / "b.arrow")
    again = pa.ipc.open_file(tmp_path / "b.arrow").read_all()
    assert again["n"].equals(table["n"])
    out = again["x"].chunk(0)
    # Joined batches have offsets of 64 bits, so that texts are large ones.
    wide = pa.types.is_map(array.type) or pa.types.is_union(array.type) or isinstance(array, pa.JsonArray)
    assert wide or out.equals(array)
    if not pa.types.is_map(array.type) and str(array.type) not in ("timestamp[ns, tz=Europe/Berlin]", "time64[ns]"):
        assert out.to_pylist() == array.to_pylist()


def test_views_runs_and_nulls_are_converted() -> None:
    texts = ["a", None, "a text that is longer than twelve bytes", ""]
    assert ex.from_arrow(pa.array(texts, pa.string_view())).to_py() == texts
    runs = pa.RunEndEncodedArray.from_arrays([2, 3, 6], pa.array([7, None, 8]))
    assert ex.from_arrow(runs).to_py() == [7, 7, None, 8, 8, 8]
    assert ex.from_arrow(runs.slice(1, 3)).to_py() == [7, None, 8]
    views = pa.ListViewArray.from_arrays([2, 0, 1], [1, 2, 0], pa.array([1, 2, 3]))
    assert ex.from_arrow(views).to_py() == [[3], [1, 2], []]
    nothing = ex.from_arrow(pa.nulls(3))
    assert isinstance(nothing, ex.MaskedTensor) and nothing.to_py() == [None] * 3
    assert ex.from_arrow(pa.array([None, None]).dictionary_encode()).to_py() == [None, None]


def test_times_are_compared_subtracted_and_taken_apart() -> None:
    stamps = ex.from_arrow(pa.array([0, 951_782_400_123], pa.timestamp("ms", "UTC")))
    assert stamps.to_py() == ["1970-01-01T00:00:00Z", "2000-02-29T00:00:00.123Z"]
    assert stamps.year.tolist() == [1970, 2000] and stamps.month.tolist() == [1, 2] and stamps.day.tolist() == [1, 29]
    assert (stamps[1:] - stamps[:1]).to_py() == ["951782400123ms"]
    assert (stamps + ex.DurationTensor([1, 2], "s")).to_py()[0] == "1970-01-01T00:00:01Z"
    assert (stamps < stamps[::-1]).tolist() == [True, False]
    assert ex.cast_unit(stamps, "s").values.tolist() == [0, 951_782_400]
    with pytest.raises(ValueError, match="64 bits"):
        ex.cast_unit(ex.TimestampTensor([2**62], "s"), "ns")
    with pytest.raises(ValueError, match="64 bits"):
        ex.DurationTensor([2**63 - 1], "s") + ex.DurationTensor([1], "s")
    assert ex.date_part(ex.TimestampTensor([0], "s", "Europe/Berlin"), "hour").tolist() == [1]
    with pytest.raises(ValueError, match="Europe/Atlantis"):
        ex.date_part(ex.TimestampTensor([0], "s", "Europe/Atlantis"), "hour")
    assert ex.date_part(ex.TimestampTensor([0], "s", "+05:30"), "hour").tolist() == [5]
    masked = ex.from_arrow(pa.array([datetime.date(2024, 12, 31), None]))
    assert ex.date_part(masked, "day_of_year").to_py() == [366, None]


def test_every_day_has_the_parts_that_python_says() -> None:
    days = list(range(-719_162, 2_932_897, 997))
    dates = ex.DateTensor(ex.tensor(days, dtype="i32"), "d")
    known = [datetime.date(1970, 1, 1) + datetime.timedelta(days=d) for d in days]
    assert dates.year.tolist() == [d.year for d in known]
    assert dates.month.tolist() == [d.month for d in known]
    assert dates.day.tolist() == [d.day for d in known]
    assert dates.weekday.tolist() == [d.weekday() for d in known]
    assert ex.date_part(dates, "day_of_year").tolist() == [d.timetuple().tm_yday for d in known]
    assert dates.to_py() == [d.isoformat() for d in known]


def test_decimals_are_exact() -> None:
    texts = ["0.10", "-123456789012345678901234567890.12", "999999999999999999999999999999999999.99"]
    values = ex.DecimalTensor.parse(texts, 38, 2)
    assert values.to_py() == texts and ex.cast(values, "f64").tolist() == [float(text) for text in texts]
    assert pa.array(values.to_arrow()).to_pylist() == [decimal.Decimal(text) for text in texts]
    assert (values < values[::-1]).tolist() == [True, False, False] and (values == values).tolist() == [True] * 3
    with pytest.raises(ValueError, match="precision"):
        values + values
    for bad in ["1.234", "", "x", "1" * 40, "--1"]:
        with pytest.raises(ValueError, match="element 0"):
            ex.DecimalTensor.parse([bad], 38, 2)
    wide = ex.from_arrow(pa.array([decimal.Decimal("1e40"), decimal.Decimal("-1e40")], pa.decimal256(60, 3)))
    assert (wide > wide[::-1]).tolist() == [True, False]


def test_sums_of_decimals_are_exact_along_axes_and_in_rows() -> None:
    prices = ex.reshape(ex.DecimalTensor.parse(["0.10", "0.20", "-1.00", "99999999.99"], 10, 2), (2, 2))
    assert ex.sum(prices).to_py() == "99999999.29"
    summed = ex.function(lambda x: ex.sum(x, axis=1, keepdims=True))
    assert summed(prices).to_py() == ex.sum(prices, axis=1, keepdims=True).to_py() == [["0.30"], ["99999998.99"]]
    rows = ex.from_arrow(pa.array([[decimal.Decimal("1.5")], [], [decimal.Decimal("2.5"), decimal.Decimal("0.1")]]))
    assert ex.sum(rows, axis=1).to_py() == ["1.5", "0.0", "2.6"]
    assert ex.sum(prices).spec == ex.sum(ex.DecimalTensor.parse(["1"], 38, 2)).spec


def test_categories_are_what_they_mean() -> None:
    words = ex.from_arrow(pa.array(["b", None, "a", "b"]).dictionary_encode())
    assert words.to_py() == ["b", None, "a", "b"]
    assert (words == "b").to_py() == [True, None, False, True]
    other = ex.CategoricalTensor([0, 1], ["b", "c"])
    both = ex.concat([words.values, other])
    assert both.to_py()[-2:] == ["b", "c"] and (both == "b").tolist()[-2:] == [True, False]
    assert ex.upper(other).tolist() == ["B", "C"] and other.dtype == ex.string
    assert ex.CategoricalTensor.of(["x", "y", "x"]).codes.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="categories"):
        ex.CategoricalTensor([2], ["a", "b"])


def test_unions_give_their_children() -> None:
    for array in (_SPARSE, _DENSE):
        union = ex.from_arrow(array.slice(2, 4))
        assert isinstance(union, ex.UnionTensor) and union.child_names() == ["n", "t"]
        assert union.to_py() == array.slice(2, 4).to_pylist() and len(union) == 4
        assert union.child("t").to_py() == [None if i % 2 == 0 else union.to_py()[i] for i in range(4)]
        assert ex.take(union, [3, 0]).to_py() == [union.to_py()[3], union.to_py()[0]]
        assert ex.concat([union, union]).to_py() == union.to_py() * 2
        assert union[1:3].to_py() == union.to_py()[1:3]
        with pytest.raises(KeyError, match="one of: n, t"):
            union.child("z")


def test_uuids_booleans_and_json_are_seen_as_what_they_are() -> None:
    one = uuid.UUID("12345678-1234-5678-1234-567812345678")
    ids = ex.from_arrow(pa.ExtensionArray.from_storage(pa.uuid(), pa.array([one.bytes], pa.binary(16))))
    assert ids.to_py() == [str(one)] and (ids == ids).tolist() == [True]
    flags = ex.from_arrow(pa.ExtensionArray.from_storage(pa.bool8(), pa.array([2, 0], pa.int8())))
    assert ex.logical_not(flags).tolist() == [False, True]
    texts = ex.from_arrow(pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}"])))
    assert ex.string_length(texts).tolist() == [2]
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(ex.reshape(ex.arange(12), [2, 3, 2]).to_numpy())
    assert ex.from_arrow(tensors).shape == (2, 3, 2)


def test_types_of_users_come_back_from_a_file() -> None:
    class Priced(ex.ExtensionType):
        __extenso_name__ = "tests.arrow/Priced"
        amount: ex.Tensor
        tags: ex.RaggedTensor
        currency: str = "EUR"
        scale: "tuple[int, float] | None" = None

    priced = Priced([1.5, 2.5], ex.constant([["a"], []]), "USD", (1, 0.5))
    again = ex.read_arrow(ex.write_arrow(priced))
    assert isinstance(again, Priced) and again.currency == "USD" and again.scale == (1, 0.5)
    assert again.amount.tolist() == [1.5, 2.5] and again.tags.to_py() == [["a"], []]
    records = ex.read_arrow(ex.write_arrow({"p": priced, "n": ex.tensor([1, 2])}, stream=True))
    assert isinstance(records["p"], Priced)
    assert isinstance(ex.from_arrow(ex.to_arrow(priced)), Priced)
    bound = pa.table(ex.to_arrow(ex.StructTensor([2], {"p": priced})))
    assert isinstance(ex.from_arrow(bound)["p"], Priced)
    twice = ex.from_arrow(pa.concat_tables([bound, bound]))["p"]
    assert twice.amount.tolist() == [1.5, 2.5] * 2 and twice.tags.to_py() == [["a"], []] * 2


def test_a_column_of_a_users_type_has_the_rows_of_its_array() -> None:
    class Amounts(ex.ExtensionType):
        __extenso_name__ = "tests.arrow/Amounts"
        amount: ex.Tensor

    amounts = Amounts([1.5, 2.5])
    for entries in ({"m": amounts}, {"m": amounts, "n": ex.tensor([1, 2])}, {"n": ex.tensor([1, 2]), "m": amounts}):
        for stream in (False, True):
            assert ex.read_arrow(ex.write_arrow(entries, stream=stream))["m"].amount.tolist() == [1.5, 2.5]
    with pytest.raises(ex.ShapeError, match=r"field 'n': the outer shape is \[3, ...\], and that of the records \[2\]"):
        ex.write_arrow({"m": amounts, "n": ex.tensor([1, 2, 3])})


def test_tables_of_several_batches_are_one_value() -> None:
    table = pa.concat_tables([pa.table({"a": [1, 2], "s": ["x", None]}), pa.table({"a": [3, None], "s": ["y", "z"]})])
    wanted = [{"a": 1, "s": "x"}, {"a": 2, "s": None}, {"a": 3, "s": "y"}, {"a": None, "s": "z"}]
    for value in (ex.from_arrow(table), ex.read_arrow(table)):
        assert ex.to_py(value) == wanted
    assert ex.from_arrow(table["a"]).to_py() == [1, 2, 3, None]
    assert ex.to_py(ex.read_arrow(table, paths=["s"])) == [{"s": row["s"]} for row in wanted]
    assert ex.from_arrow(pa.table({"a": pa.array([], pa.int64())})).shape == (0,)
    spec = ex.StructTensorSpec([None], {"a": ex.TensorSpec([None], "i64")})
    with pytest.raises(ValueError, match="row 3, 'a': null came"):
        ex.read_arrow(table, spec)
    value, bad = ex.read_arrow(table, spec, on_error="skip")
    assert value["a"].tolist() == [1, 2, 3] and bad.rows == [3] and bad.first[0].path == "a"
    value, bad = ex.read_arrow(table, spec, on_error="default")
    assert value["a"].tolist() == [1, 2, 3, 0] and bad.defaulted.tolist() == [False] * 3 + [True]


def test_a_spec_says_what_is_read() -> None:
    table = pa.table({"a": pa.array([1, 2], pa.int16()), "b": [{"c": 1.5}, {"c": 2.5}], "odd": pa.nulls(2)})
    spec = ex.StructTensorSpec([None], {"a": ex.TensorSpec([None], "i64"), "z": ex.MaskedTensorSpec(ex.TensorSpec([None], "f32"))})
    value = ex.from_arrow(table, spec)
    assert value["a"].dtype == ex.i64 and value["z"].to_py() == [None, None]
    with pytest.raises(TypeError, match="'a' has the Arrow type Int16"):
        ex.from_arrow(table, ex.StructTensorSpec([None], {"a": ex.TensorSpec([None], "string")}))
    with pytest.raises(KeyError, match="no column 'q'"):
        ex.from_arrow(table, ex.StructTensorSpec([None], {"q": ex.TensorSpec([None], "string")}))
    assert ex.to_py(ex.read_arrow(table, paths=["b.c"])) == [{"b": {"c": 1.5}}, {"b": {"c": 2.5}}]
    with pytest.raises(KeyError, match="one of: a, b, odd"):
        ex.read_arrow(table, paths=["nowhere"])


@pytest.mark.parametrize(
    "name",
    ["read_arrow", "write_arrow", "date_part", "cast_unit", "decimal_to_string", "TimestampTensor", "DecimalTensor", "CategoricalTensor"],
)
def test_the_examples_run(name: str) -> None:
    test = doctest.DocTestParser().get_doctest(getattr(ex, name).__doc__, {}, name, None, None)
    assert test.examples and doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_files_streams_and_file_objects(tmp_path: pathlib.Path) -> None:
    records = ex.constant([{"id": 1, "tags": ["a"]}, {"id": 2, "tags": []}])
    for stream in (False, True):
        data = ex.write_arrow(records, stream=stream)
        assert ex.to_py(ex.read_arrow(data)) == ex.to_py(records)
        assert ex.to_py(ex.read_arrow(io.BytesIO(data))) == ex.to_py(records)
    ex.write_arrow(records, tmp_path / "x.arrows")
    assert pa.ipc.open_stream(tmp_path / "x.arrows").read_all().num_rows == 2
    target = io.BytesIO()
    ex.write_arrow(records, target)
    assert pa.ipc.open_file(target.getvalue()).read_all().to_pylist() == ex.to_py(records)
    dense = ex.MaskedTensor([[1, 2], [3, 4]], [[True, False], [True, True]])
    for value in (ex.tensor([1, 2]), ex.constant([[1], []]), ex.constant([1, None]), ex.constant(["a", "b"]), dense):
        assert ex.to_py(ex.read_arrow(ex.write_arrow(value))) == ex.to_py(value)
    assert ex.to_py(ex.read_arrow(ex.write_arrow({"a": ex.tensor([1])}))) == [{"a": 1}]
    for empty in (ex.tensor([], dtype="i64"), ex.constant([])):
        assert ex.to_py(ex.read_arrow(ex.write_arrow(empty))) == []


def changed_bytes_are_read_or_refused(data: bytes) -> None:
    for i in range(0, len(data), 3):
        changed = bytearray(data)
        changed[i] ^= 0xFF
        try:
            ex.to_py(ex.read_arrow(bytes(changed)))
        except (ex.Error, ValueError):
            pass


def test_bytes_that_are_no_file_are_an_error() -> None:
    data = ex.write_arrow(ex.constant([{"id": 1, "tags": ["a"]}, {"id": 2, "tags": []}]))
    for bad in (b"", b"ARROW1", b"nonsense that is long enough", data[:-3], data[:40], data[:8] + data[-10:]):
        with pytest.raises(ex.Error):
            ex.read_arrow(bad)
    stream = ex.write_arrow(ex.tensor([1, 2, 3]), stream=True)
    for cut in range(0, len(stream) - 8, 7):
        try:
            ex.read_arrow(stream[:cut])
        except ex.Error:
            pass
    changed_bytes_are_read_or_refused(data)
    table = pa.table({"a": list(range(1000))})
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    data = sink.getvalue()
    assert ex.read_arrow(data)["a"].tolist() == list(range(1000))
    changed_bytes_are_read_or_refused(data)
    with pytest.raises(TypeError, match="source"):
        ex.read_arrow(7)


def test_elements_of_a_dense_axis_keep_what_they_are() -> None:
    def pairs(items: pa.Array) -> pa.Array:
        return pa.FixedSizeListArray.from_arrays(items, 2)

    uuids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"a" * 16, b"b" * 16], pa.binary(16)))
    texts = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", "2"]))
    flags = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1], pa.int8()))
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["a", "b"]), ordered=True)
    for items in (uuids, texts, flags, words):
        value = ex.from_arrow(pa.table({"x": pairs(items)}))
        assert pa.table(value)["x"].to_pylist() == pairs(items).to_pylist()
        assert pa.ipc.open_file(ex.write_arrow(value)).read_all()["x"].to_pylist() == pairs(items).to_pylist()
        assert ex.spec_of(ex.read_arrow(ex.write_arrow(value))) == ex.spec_of(value)
        target = io.BytesIO()
        ex.write_parquet(value, target)
        assert ex.spec_of(ex.read_parquet(target.getvalue())) == ex.spec_of(value)


def test_what_the_c_interface_has_no_text_for_is_an_error() -> None:
    for value in (ex.TimestampTensor([0], "s", "a\0b"), ex.StructTensor([1], {"a\0b": [1]})):
        with pytest.raises(ex.InvalidValueError, match="NUL"):
            value.to_arrow()


def test_unions_go_out_in_the_order_of_their_rows() -> None:
    kinds, places = pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32())
    union = ex.from_arrow(pa.UnionArray.from_dense(kinds, places, [pa.array([1, 2]), pa.array(["a"])]))
    for moved, wanted in ((union[::-1], [2, "a", 1]), (ex.take(union, [2, 1, 0, 2]), [2, "a", 1, 2])):
        array = pa.array(ex.to_arrow(moved))
        array.validate(full=True)
        assert array.to_pylist() == wanted
        table = pa.ipc.open_file(ex.write_arrow({"x": moved})).read_all()
        table.validate(full=True)
        assert table["x"].to_pylist() == wanted


class Score(ex.ExtensionType):
    """A value that may be missing."""

    __extenso_name__ = "tests.arrow_types/Score"

    v: ex.MaskedTensor


@pytest.mark.parametrize("mask", [[True, False], [True, True]])
def test_a_component_that_may_be_missing_stays_so_where_nothing_is(mask: "list[bool]", tmp_path: pathlib.Path) -> None:
    rows = ex.StructTensor([2], {"x": Score(ex.MaskedTensor([1, 2], mask))})
    spec = ex.StructTensorSpec([None], {"x": Score.Spec(v=ex.MaskedTensorSpec(ex.TensorSpec([None], "i64")))})
    read = ex.function(lambda rows: rows["x"].v).get_concrete_function(spec)
    assert ex.from_arrow(ex.to_arrow(rows)) == rows
    for name, write in (("a.parquet", ex.write_parquet), ("a.avro", ex.write_avro), ("a.arrow", ex.write_arrow)):
        write(rows, tmp_path / name)
        reader = getattr(ex, write.__name__.replace("write", "read"))
        assert reader(tmp_path / name) == reader(tmp_path / name, spec) == rows
        assert read.run(tmp_path / name).to_py() == [1, 2 if mask[1] else None]
        read.run(tmp_path / name, target=tmp_path / "out.ndjson")
        assert (tmp_path / "out.ndjson").read_text().split() == ["1", "2" if mask[1] else "null"]


def test_fields_of_missing_records_are_not_missing_by_themselves() -> None:
    records = pa.array([{"a": 1, "b": {"c": [1]}}, None], pa.struct([("a", pa.int64()), ("b", pa.struct([("c", pa.list_(pa.int64(), 1))]))]))
    inner = ex.StructTensorSpec([2], {"c": ex.TensorSpec([2, 1], "i64")})
    assert ex.spec_of(ex.from_arrow(records)) == ex.MaskedTensorSpec(
        ex.StructTensorSpec([2], {"a": ex.TensorSpec([2], "i64"), "b": inner})
    )
