"""No call of a function ends the process, hangs, or takes memory out of proportion, whatever its arguments."""

import contextlib
import os
import pathlib
import pickle
import resource
import subprocess
import sys

import extenso as ex
import pytest

CALLS = pathlib.Path(__file__).with_name("hostile_calls.py")
GIB = 2**30
ENDLESS = ex.zeros((2**46, 0))


def test_any_call_gives_a_value_or_a_documented_error(tmp_path: pathlib.Path) -> None:
    """A panic is caught by the binding; an abort or a hang is not, so that the calls are made in a process of their own."""
    pytest.importorskip("hypothesis")
    ran = subprocess.run(
        [sys.executable, "-P", str(CALLS), "20"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 * GIB, 8 * GIB)),
        check=False,
    )
    assert ran.returncode == 0, f"the process ended with {ran.returncode}:\n{ran.stderr[-4000:]}"
    assert ran.stdout.strip() == "", ran.stdout


KNOWS_MEMORY = pytest.mark.skipif(sys.platform != "linux", reason="the system says elsewhere how much memory a process uses")

IN_ROOM = """
import resource

used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {room}, -1))
try:
    {call}
except MemoryError as e:
    print(type(e).__name__, e)
"""

LARGE = """
import extenso as ex

n = 20_000_000
x = ex.cast(ex.arange(n), "f64")
held = x + 1
""" + IN_ROOM


GROWTH = """
import resource
import extenso as ex

text = ex.tensor(["a" * 100_000])
texts = ex.concat([text] * 40, 0)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**31, -1))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    {call}
except MemoryError as e:
    print(type(e).__name__, e, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@KNOWS_MEMORY
@pytest.mark.parametrize("call", [
    "ex.string_replace(texts, 'a', 'b' * 100_000)", "ex.regex_replace(texts, '(a)', r'\\1' + 'b' * 100_000)",
    "ex.string_replace_slice(texts, 0, 1, 'b' * 100_000_000)",
    "ex.string_join([texts, texts], separator='b' * 100_000_000)",
    "ex.reduce_join(texts, separator='b' * 100_000_000)", "ex.cartesian([ex.constant([list(range(40))])] * 7)",
])
def test_texts_and_tuples_are_counted_before_they_are_made(call: str) -> None:
    program = GROWTH.format(call=call)
    ran = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.startswith("OutOfMemoryError") and " bytes" in ran.stdout, ran.stdout
    assert int(ran.stdout.split()[-1]) < 2**20, "a GiB was used before"


@KNOWS_MEMORY
@pytest.mark.parametrize("room", [2**26, 2**28])
@pytest.mark.parametrize("call", [
    "ex.sort(x)", "ex.argsort(x)", "ex.unique(x)", "ex.concat([x, x, x], 0)", "ex.take(ex.concat([x], 0), ex.cast(x, 'i64'), 0)",
    "ex.cumulative_sum(ex.cast(x, 'bool'))", "x.tolist()", "ex.to_py(x)", "x + 1", "ex.argsort(ex.cast(x, 'bool'))",
])
def test_what_memory_does_not_hold_is_an_error_that_names_the_size(call: str, room: int) -> None:
    program = LARGE.format(call=call, room=room)
    ran = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    if room == 2**26:
        assert ran.stdout.startswith("OutOfMemoryError") and " bytes" in ran.stdout, ran.stdout


LONG = """
import extenso as ex

spec = ex.infer_spec([{{"a": 1, "b": "x"}}])
f = ex.function(lambda r: r["a"])
path = {path!r}
""" + IN_ROOM


@KNOWS_MEMORY
@pytest.mark.parametrize(("begin", "each", "end", "calls"), [
    (b"a,b\n1,", b"x", b"\n2,y\n", ["ex.infer_spec(path, format='csv')", "f.run(path, target=path + '.out', format='csv')"]),
    (b'a,b\n1,"', b"\n", b'"\n2,y\n', ["ex.infer_spec(path, format='csv')"]),
    (b"a,b\n1", b",", b"\n2,y\n", ["ex.infer_spec(path, format='csv')"]),
    (b"a", b",", b"\n2,y\n", ["ex.infer_spec(path, format='csv')"]),
    (b'[{"a":1,"b":"', b"x", b'"}]', ["ex.infer_spec(path)", "list(ex.read_json_blocks(path, 9, spec))", "ex.read_json(path, spec)"]),
    (b'{"a":1,"b":"', b"x", b'"}\n', ["ex.infer_spec(path)", "list(ex.read_json_blocks(path, 9, spec))", "ex.read_json(path, spec)"]),
])
@pytest.mark.parametrize("room", [2**27, 2**28])
def test_a_record_that_memory_does_not_hold_is_an_error(
    tmp_path: pathlib.Path, begin: bytes, each: bytes, end: bytes, calls: "list[str]", room: int
) -> None:
    path = tmp_path / "long"
    path.write_bytes(begin + each * (room + room // 2) + end)
    for call in calls:
        program = LONG.format(call=call, room=room, path=str(path))
        command = [sys.executable, "-P", "-c", program]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert ran.returncode == 0, ran.stderr[-2000:]
        assert ran.stdout.startswith("OutOfMemoryError"), (call, ran.stdout)


@KNOWS_MEMORY
@pytest.mark.parametrize(("begin", "each", "end", "call"), [
    (b"a,b\n1,", b"x", b"\n2,y\n", "f.run(path, target=path + '.out', format='csv')"),
    (b'{"b":"', b"x", b'","a":1}\n', "f.run(path, target=path + '.out', format='json')"),
    (b'{"b":"', b"x", b'","a":1}\n', "ex.read_json(path, spec, paths=['a'])"),
])
def test_a_record_that_memory_holds_is_read(tmp_path: pathlib.Path, begin: bytes, each: bytes, end: bytes, call: str) -> None:
    """A record is refused by what is asked for of it, and not by what is skipped."""
    path = tmp_path / "long"
    path.write_bytes(begin + each * (70 * 2**20) + end)
    program = LONG.format(call=call, room=3 * 2**27, path=str(path))
    command = [sys.executable, "-P", "-c", program]
    # Threads would take room that they do not use.
    env = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100, check=False)
    assert (ran.returncode, ran.stdout) == (0, ""), (ran.stdout, ran.stderr[-2000:])


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda: ex.to_py(ENDLESS), "lists without an element"),
        (lambda: ENDLESS.tolist(), "lists without an element"),
        (lambda: ex.to_py(ex.RaggedTensor.from_row_lengths(ENDLESS, [2**46])), "lists without an element"),
        (lambda: ex.write_json(ENDLESS), "rows are without an element"),
        (lambda: ex.sum(ENDLESS, axis=1), "bytes"),
        (lambda: ex.mean(ex.zeros((0, 2**46)), axis=0), "bytes"),
        (lambda: ex.function(lambda x: ex.sum(x + 1, axis=1))(ENDLESS), "bytes"),
        (lambda: ex.concat([ex.zeros((2**62, 0))] * 2, 0), "more elements than memory can address"),
        (lambda: ex.reshape(ex.ones((1,)), (1,) * 1000), "at most 64 axes"),
        (lambda: ex.zeros((2**60,)), "9223372036854775808 bytes"),
        (lambda: ex.zeros((2**60, 2**60)), "more elements than memory can address"),
        (lambda: ex.broadcast_to(["a"], (2**60,)), "9223372036854775808 bytes"),
        (lambda: ex.one_hot([1], 2**60), "bytes"),
        (lambda: ex.one_hot([1], -1), "not negative"),
        (lambda: ex.arange(2**60), "bytes"),
        (lambda: ex.arange(0, float("nan")), "finite numbers"),
        (lambda: ex.arange(0, 1e300, 1e-300), "more than memory holds"),
        (lambda: ex.linspace(0, 1, -1), "not negative"),
        (lambda: ex.repeat([1, 2], 2**60, axis=0), "bytes"),
        (lambda: ex.tile(ex.tensor([1]), (2**60,)), "bytes"),
        (lambda: ex.matmul(ex.zeros((2**20, 0)), ex.zeros((0, 2**20))), "bytes"),
        (lambda: ex.RaggedTensor.from_value_rowids([1], [0], 2**60), "rows do not fit into memory"),
        (lambda: ex.grad(ex.sum, ENDLESS), "0 elements"),
        (lambda: ex.read_json(b"{}", paths=range(2**60)), "a list of paths"),
    ],
)
def test_absurd_sizes_are_named_before_memory_is_asked_for(call: "object", wanted: str) -> None:
    assert callable(call)
    with pytest.raises((ex.Error, TypeError), match=wanted):
        call()


def test_endless_shapes_are_shown_compared_and_pickled() -> None:
    for x in (ENDLESS, ex.zeros((2**23, 2**23, 0)), ex.zeros((3,) * 38 + (0,))):
        assert len(repr(x)) < 100_000
        assert pickle.loads(pickle.dumps(x)).shape == x.shape
        assert (x == x).shape == x.shape
        # NumPy itself has a limit.
        with contextlib.suppress(ValueError):
            assert x.to_numpy().shape == tuple(x.shape)
    assert repr(ENDLESS).count("[]") == 100 and ", ..., " in repr(ENDLESS)


def test_a_field_without_a_step_is_named() -> None:
    text = r"Pair.*field 'right'.*__extenso_paths__(.|\n)*Wanted: 'right' among the keys"
    with pytest.raises(ex.MissingNameError, match=text):

        class Pair(ex.ExtensionType):
            __extenso_name__ = "tests.hostile/Pair"
            __extenso_paths__ = {"left": "left"}

            left: ex.Tensor
            right: ex.Tensor
