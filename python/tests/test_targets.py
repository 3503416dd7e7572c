"""Where writers and runs write: files, links, pipes, and objects that take what they like."""

import copy
import doctest
import errno
import io
import os
import pathlib
import pickle
import threading
from collections.abc import Callable
from typing import Any

import extenso as ex
import pytest

ROWS = ex.constant([{"a": i} for i in range(100)])
WRITERS: "list[Callable[..., Any]]" = [ex.write_json, ex.write_csv, ex.write_parquet, ex.write_avro, ex.write_arrow]


class Slow(io.RawIOBase):
    """Takes five bytes at a time, and after `room` bytes nothing."""

    def __init__(self, room: int = 1 << 30) -> None:
        self.held, self.room = b"", room

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> "int | None":
        taken = bytes(data[: min(5, self.room - len(self.held))])
        self.held += taken
        return len(taken) or None


def _read_from(pipe: pathlib.Path, write: "Callable[[], Any]") -> bytes:
    got: "list[bytes]" = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write()
    reader.join()
    return got[0]


@pytest.mark.parametrize("write", WRITERS)
def test_an_object_that_takes_a_part_is_given_the_rest(write: "Callable[..., Any]") -> None:
    slow = Slow()
    write(ROWS, slow)
    assert len(slow.held) == len(write(ROWS))
    with pytest.raises(ex.FileError):
        write(ROWS, Slow(room=7))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_what_is_no_file_is_written_to(tmp_path: pathlib.Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for write in WRITERS:
        assert _read_from(pipe, lambda write=write: write(ROWS, pipe)) == write(ROWS)
    double = ex.function(lambda rows: {"a": rows["a"] * 2}).get_concrete_function(ex.infer_spec([{"a": 1}]))
    run = lambda: double.run([{"a": 1}, {"a": 2}], target=pipe, target_format="json")
    assert _read_from(pipe, run) == b'{"a":2}\n{"a":4}\n'
    assert pipe.is_fifo()


def test_links_stay_and_permissions_too(tmp_path: pathlib.Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to("real")
    double = ex.function(lambda rows: {"a": rows["a"] * 2}).get_concrete_function(ex.infer_spec([{"a": 1}]))
    ex.write_json(ROWS, link)
    assert link.is_symlink() and real.read_bytes() == ex.write_json(ROWS) and real.stat().st_mode & 0o777 == 0o600
    double.run([{"a": 1}], target=link, target_format="json")
    assert link.is_symlink() and real.read_text() == '{"a":2}\n' and sorted(os.listdir(tmp_path)) == ["link", "real"]
    (tmp_path / "to nothing").symlink_to("new")
    ex.write_csv(ROWS, tmp_path / "to nothing")
    assert (tmp_path / "new").read_bytes() == ex.write_csv(ROWS)


def test_runs_into_one_file_side_by_side_leave_one_whole(tmp_path: pathlib.Path) -> None:
    double = ex.function(lambda rows: {"a": rows["a"] * 2}).get_concrete_function(ex.infer_spec([{"a": 1}]))
    target, failed = tmp_path / "out.json", []
    (tmp_path / f"out.json.{os.getpid()}.part").write_text("of a run that was ended")

    def run() -> None:
        try:
            double.run([{"a": 1}] * 1000, target=target)
        except ex.FileError as error:
            failed.append(error)

    runs = [threading.Thread(target=run) for _ in range(4)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert not failed and target.read_text() == '{"a":2}\n' * 1000


def test_the_examples_of_docstrings_hold() -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    tried = 0
    for name in dir(ex):
        thing = getattr(ex, name)
        members = [(f"{name}.{part}", getattr(thing, part)) for part in dir(thing)] if isinstance(thing, type) else []
        for title, member in [(name, thing), *members]:
            text = getattr(member, "__doc__", None)
            if not name.startswith("_") and isinstance(text, str) and ">>>" in text:
                runner.run(parser.get_doctest(text, {"ex": ex}, title, None, None))
                tried += 1
    assert tried > 100 and runner.summarize(verbose=False).failed == 0


def _refused(call: "Callable[[], Any]") -> Any:
    try:
        call()
    except ex.FileError as error:
        return error
    raise AssertionError("nothing was refused")


def test_what_the_system_refuses_is_what_python_calls_it_too(tmp_path: pathlib.Path) -> None:
    missing, folder = tmp_path / "missing.csv", tmp_path / "folder"
    folder.mkdir()
    double = ex.function(lambda rows: rows["a"] * 2).get_concrete_function(ex.spec_of(ROWS))
    readers: "list[Callable[[Any], Any]]" = [ex.read_json, ex.read_csv, ex.read_parquet, ex.read_avro, ex.read_arrow, ex.load]
    readers += [double.run, ex.infer_spec, lambda path: double.run(path, target=tmp_path / "out.csv")]
    readers += [lambda path: ex.read_arrow(path, memory_map=True), lambda path: ex.read_parquet_blocks(path, 1)]
    for read in readers:
        error = _refused(lambda read=read: read(missing))
        assert isinstance(error, FileNotFoundError) and (error.errno, error.filename) == (errno.ENOENT, str(missing)), read
        assert error.strerror == os.strerror(errno.ENOENT) and str(missing) in str(error) and str(error) == error.args[0]
    for read in (ex.read_csv, lambda path: ex.read_arrow(path, memory_map=True)):
        error = _refused(lambda read=read: read(folder))
        assert isinstance(error, IsADirectoryError) and (error.errno, error.filename) == (errno.EISDIR, str(folder))
    nowhere = tmp_path / "no folder" / "rows"
    for write in WRITERS:
        error = _refused(lambda write=write: write(ROWS, nowhere))
        assert isinstance(error, FileNotFoundError) and (error.errno, error.filename) == (errno.ENOENT, str(nowhere))
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error) and str(again) == str(error) and again.filename == error.filename
    plain = pickle.loads(pickle.dumps(ex.FileError("text")))
    assert type(plain) is ex.FileError and str(plain) == "text" and plain.errno is None
    assert repr(error).startswith("FileError(")
    if os.geteuid() != 0:
        missing.write_bytes(b"a")
        missing.chmod(0)
        error = _refused(lambda: ex.read_csv(missing))
        assert isinstance(error, PermissionError) and error.errno == errno.EACCES


@pytest.mark.parametrize("name", ["x.ndjson.gz", "x.csv.zst", "x.parquet.gz"])
def test_a_name_that_says_packed_is_no_target(tmp_path: pathlib.Path, name: str) -> None:
    """Files that are packed are read, and none is written, by no writer and no run."""
    write = {"ndjson": ex.write_json, "csv": ex.write_csv, "parquet": ex.write_parquet}[name.split(".")[1]]
    with pytest.raises(ValueError, match="the name of a packed file"):
        write(ex.constant([{"a": 1}]), tmp_path / name)
    assert not list(tmp_path.iterdir())
