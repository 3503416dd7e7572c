"""Functions over Arrow files and streams: from bytes, paths and file objects, as a value and into files."""

import gzip
import io
import pathlib
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
