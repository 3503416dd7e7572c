"""Runs over messages: from every source, into every target, bad ones told."""

import gzip
import io
import pathlib
from typing import Any

import extenso as ex
import pytest

SHOP = """
syntax = "proto3";
message Item { double price = 1; }
message Order { int64 id = 1; repeated Item items = 2; optional string note = 3; }
message Total { double total = 1; }
"""
ORDERS = [{"id": 1, "items": [{"price": 2.5}, {"price": 1.5}]}, {"id": 2, "items": []}, {"id": 3, "items": [{"price": 4.0}]}]


@pytest.fixture(name="total")
def _total() -> Any:
    total = ex.function(lambda orders: {"total": ex.sum(orders["items", "price"], axis=1)}, name="total")
    return total.get_concrete_function(ex.proto_spec(SHOP, "Order"))


@pytest.mark.parametrize("framing", ["delimited", "tfrecord"])
def test_every_source_of_messages_runs_alike(total: Any, framing: Any, tmp_path: pathlib.Path) -> None:
    messages = ex.write_proto(ex.constant(ORDERS), descriptor=SHOP, message="Order")
    path = tmp_path / "orders.bin"
    ex.write_proto(ex.constant(ORDERS), path, SHOP, "Order", framing=framing)
    data = path.read_bytes()
    said: dict[str, Any] = {"descriptor": SHOP, "message": "Order"}
    for make in (lambda: messages.tolist(), lambda: messages, lambda: path, lambda: data, lambda: io.BytesIO(data), lambda: gzip.compress(data)):
        assert total.run(make(), **said)["total"].tolist() == [4.0, 0.0, 4.0]
        for name in ("out.pb", "out.binpb", "out.tfrecord", "out.tfrecords"):
            assert total.run(make(), target=tmp_path / name, target_message="Total", **said) is None
            read = ex.read_proto(tmp_path / name, SHOP, "Total", framing="tfrecord" if "tf" in name else "delimited")
            assert read["total"].tolist() == [4.0, 0.0, 4.0]
    assert total.run(make(), target=tmp_path / "out.ndjson", target_message="Total", **said) is None
    assert (tmp_path / "out.ndjson").read_text() == '{"total":4.0}\n{}\n{"total":4.0}\n'
    assert total.run(path, framing=framing, **said)["total"].tolist() == [4.0, 0.0, 4.0]
    with pytest.raises(ex.Error):
        total.run(path, framing="tfrecord" if framing == "delimited" else "delimited", **said)


def test_messages_are_written_from_other_records_and_raw_ones_as_they_are(total: Any, tmp_path: pathlib.Path) -> None:
    assert total.run(ORDERS, target=tmp_path / "out.pb", descriptor=SHOP, target_message="Total") is None
    assert ex.read_proto(tmp_path / "out.pb", SHOP, "Total")["total"].tolist() == [4.0, 0.0, 4.0]
    raw = ex.function(lambda orders: ex.encode_proto(orders, SHOP, "Order"), name="raw")
    f = raw.get_concrete_function(ex.proto_spec(SHOP, "Order"))
    messages = ex.write_proto(ex.constant(ORDERS), descriptor=SHOP, message="Order")
    f.run(messages, target=tmp_path / "raw.tfrecord", descriptor=SHOP, message="Order")
    assert ex.to_py(ex.read_proto(tmp_path / "raw.tfrecord", SHOP, "Order")) == ex.to_py(ex.read_proto(messages, SHOP, "Order"))


def test_a_run_over_messages_tells_of_bad_ones(total: Any, tmp_path: pathlib.Path) -> None:
    messages = [*ex.write_proto(ex.constant(ORDERS), descriptor=SHOP, message="Order").tolist(), b"\x12\x01\x09"]
    said: dict[str, Any] = {"descriptor": SHOP, "message": "Order"}
    for target in ({}, {"target": tmp_path / "out.ndjson"}):
        with pytest.raises(ex.DataError, match=r"row 3, byte 3, 'items\[0\].price'"):
            total.run(messages, **said, **target)
    bad = total.run(messages, target=tmp_path / "out.ndjson", on_error="skip", **said)
    assert (bad.rows, bad.first[0].row) == ([3], 3)
    assert (tmp_path / "out.ndjson").read_text().splitlines() == ['{"total":4.0}', '{"total":0.0}', '{"total":4.0}']


@pytest.mark.parametrize(
    ("keywords", "wanted"),
    [
        ({"descriptor": SHOP}, "some arguments"),
        ({"message": "Order"}, "some arguments"),
        ({"framing": "delimited"}, "some arguments"),
        ({"target_message": "Total"}, "no target"),
        ({"target": "out.pb", "target_message": "Total"}, "some arguments"),
        ({"target": "out.pb"}, "nothing says which message"),
    ],
)
def test_keywords_of_messages_want_each_other(total: Any, keywords: "dict[str, Any]", wanted: str, tmp_path: pathlib.Path) -> None:
    if "target" in keywords:
        keywords = {**keywords, "target": tmp_path / "out.pb"}
    with pytest.raises(ex.Error, match=wanted):
        total.run(ORDERS, **keywords)
    assert list(tmp_path.iterdir()) == []


def test_a_run_reads_the_json_form_where_the_name_says_so(total: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "orders.ndjson"
    ex.write_json(ex.constant(ORDERS), path, descriptor=SHOP, message="Order")
    assert path.read_text().startswith('{"id":"1"')
    said: dict[str, Any] = {"descriptor": SHOP, "message": "Order"}
    assert total.run(path, **said)["total"].tolist() == [4.0, 0.0, 4.0]
    assert total.run(path, target=tmp_path / "out.csv", **said) is None
    assert ex.read_csv(tmp_path / "out.csv")["total"].tolist() == [4.0, 0.0, 4.0]


@pytest.mark.parametrize("on_error", ["raise", "skip", "default"])
def test_records_cut_in_their_first_bytes_are_no_messages(total: Any, on_error: Any, tmp_path: pathlib.Path) -> None:
    said: dict[str, Any] = {"descriptor": SHOP, "message": "Order", "on_error": on_error}
    ex.write_proto(ex.constant(ORDERS), tmp_path / "orders", SHOP, "Order", framing="tfrecord")
    data = (tmp_path / "orders").read_bytes()
    for cut in range(1, 12):
        # A name says what the bytes alone may not.
        named = tmp_path / "orders.tfrecord"
        for first, wanted in ((data, "row 0"), (bytes(12), "row 0, byte .*: the file ends in a record|the checksum of a length is wrong")):
            named.write_bytes(first[:cut])
            for source in (named, first[:cut], io.BytesIO(first[:cut])) if first is data else (named,):
                calls = [lambda source=source: ex.read_proto(source, **said), lambda source=source: total.run(source, **said)]
                calls.append(lambda source=source: total.run(source, target=tmp_path / "out.csv", **said))
                for call in calls:
                    with pytest.raises(ex.DataError, match=wanted):
                        if isinstance(source, io.BytesIO):
                            source.seek(0)
                        call()
