"""What a user's type says of data that is read: of what is there, once, and as a fault of a row, whatever the rows are stored in."""

import json
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
