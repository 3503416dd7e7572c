"""Times calls of Extenso beside NumPy and jax, and the build, and says which bars are missed.

Run by `cargo xtask bench --peers -- --build`, whose table goes into RESULTS.md. Without the peers or the build the table
is printed alone. Each time is the median of several rounds of the mean of many calls; a ratio is of two medians of one
process, taken in turn. The exit status is not 0 if a bar is missed.
"""

import argparse
import importlib.util
import json
import math
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 9
MEMORY_OF = """
import os, subprocess, sys
run = subprocess.Popen(sys.argv[1:])
_, status, used = os.wait4(run.pid, 0)
print(status, used.ru_maxrss)
"""


def seconds(*calls: "Callable[[], object]") -> "list[float]":
    """Returns the median seconds of each call, the calls taken in turn."""
    numbers = [max(1, int(0.02 / max(timeit.timeit(call, number=20) / 20, 1e-9))) for call in calls]
    rounds = [[timeit.timeit(c, number=n) / n for c, n in zip(calls, numbers)] for _ in range(ROUNDS)]
    return [statistics.median(times) for times in zip(*rounds)]


def text(s: float) -> str:
    """Returns a time with three digits."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if s * factor >= 1.0:
            return f"{s * factor:.3g} {unit}"
    return f"{s * 1e9:.3g} ns"


class Bar(NamedTuple):
    """What is wanted of a row, in words and of its number and its ratio to the peer's, which is NaN without a peer."""

    words: str
    is_met: "Callable[[float, float], bool]"


NO_BAR = Bar("", lambda ours, ratio: True)


class Table:
    """Rows of what was measured beside what was wanted."""

    def __init__(self) -> None:
        self.rows: "list[tuple[str, str, str, str, str]]" = []
        self.missed: "list[str]" = []
        self.lacks: "list[str]" = []

    def add(
        self, what: str, ours: float, bar: Bar, peer: str = "", other: float = math.nan, show: "Callable[[float], str]" = text
    ) -> None:
        """Adds a row of a number beside a peer's, and notes a missed bar."""
        ratio = ours / other
        beside = (peer, "") if math.isnan(ratio) else (f"{peer} {show(other)}", f"{ratio:.2f}")
        self.rows.append((what, show(ours), *beside, bar.words))
        print(" | ".join(self.rows[-1]), flush=True)
        if not bar.is_met(ours, ratio):
            self.missed.append(" | ".join(self.rows[-1]))

    def pair(self, what: str, peer: str, bar: Bar, ours: "Callable[[], object]", other: "Callable[[], object] | None") -> None:
        """Times one call beside a peer's."""
        if other is None:
            self.lack(peer)
            self.add(what, seconds(ours)[0], bar, "not installed")
            return
        a, b = seconds(ours, other)
        self.add(what, a, bar, peer, b)

    def lack(self, what: str) -> None:
        """Notes what a complete table would have."""
        if what not in self.lacks:
            self.lacks.append(what)

    def markdown(self) -> str:
        """Returns the table as a page."""
        head = f"# Results\n\nWritten by `benches/run.py`. {machine()}. Medians; a ratio is ours over the peer's, of one run.\n\n"
        lines = ["| what | ours | beside | ratio | bar |", "|---|---|---|---|---|", *(f"| {' | '.join(row)} |" for row in self.rows)]
        return head + "\n".join(lines) + "\n"


def import_row(table: Table) -> None:
    code = "import time;t=time.perf_counter();import {m};print(time.perf_counter()-t);import sys;print('numpy' in sys.modules)"

    def fresh(module: str) -> "tuple[float, str]":
        outs = [subprocess.run([sys.executable, "-c", code.format(m=module)], capture_output=True, text=True, check=True) for _ in range(7)]
        lines = [o.stdout.split() for o in outs]
        return statistics.median(float(line[0]) for line in lines), lines[-1][1]

    (ours, loads_numpy), (peer, _) = fresh("extenso"), fresh("numpy")
    assert loads_numpy == "False", "importing extenso imports numpy"
    table.add("import", ours, Bar("< 25 ms, without NumPy", lambda ours, _: ours < 25e-3), "numpy", peer)


def call_rows(table: Table) -> None:
    import numpy as np

    import extenso as ex

    jax = importlib.import_module("jax") if importlib.util.find_spec("jax") else None
    a8 = np.arange(8, dtype=np.float32)
    x = ex.tensor(a8)
    as_numpy = Bar("<= 1.0 x numpy", lambda _, ratio: ratio <= 1.0)
    table.pair("eager add of two f32[8]", "numpy", as_numpy, lambda: x + x, lambda: a8 + a8)

    class Masked(ex.ExtensionType):
        values: ex.Tensor
        mask: ex.Tensor

        def __validate__(self) -> None:
            if self.mask.ndim != self.values.ndim:
                raise ValueError("mask and values differ in rank")

    @ex.dispatch_for(ex.add, Masked)
    def _(p: Masked, q: Masked) -> Masked:
        return Masked(p.values + q.values, p.mask & q.mask)

    class NumpyMasked:
        def __init__(self, values: object, mask: object) -> None:
            self.values, self.mask = values, mask

        def __array_ufunc__(self, ufunc, method, a, b):  # type: ignore[no-untyped-def]
            return NumpyMasked(ufunc(a.values, b.values), a.mask & b.mask)

    m, n = Masked(x, x > 3.0), NumpyMasked(a8, a8 > 3)

    def within(us: float) -> Bar:
        return Bar(f"<= {us:g} us", lambda ours, _: ours <= us * 1e-6)

    table.pair(
        "eager add of a user's masked type", "numpy `__array_ufunc__` class", within(1.5), lambda: ex.add(m, m), lambda: np.add(n, n)
    )

    r, q = ex.MaskedTensor(x, x > 3.0), np.ma.MaskedArray(a8, a8 <= 3)
    table.pair("eager add of two masked f32[8], a type of Rust", "numpy.ma", within(0.6), lambda: r + r, lambda: q + q)

    def nested(leaf: "Callable[[object], object]") -> object:
        return {f"g{i}": {f"k{j}": leaf(a8 + i * 10 + j) for j in range(10)} for i in range(5)}

    pick = lambda d: d["g0"]["k0"] + d["g4"]["k9"]
    f, g, h = ex.function(lambda x: x + 1.0), ex.function(lambda m: Masked(m.values + 1.0, m.mask)), ex.function(pick)
    d = nested(ex.tensor)
    peers: "list[Callable[[], object] | None]" = [None, None, None]
    if jax is not None:
        import dataclasses

        @jax.tree_util.register_dataclass
        @dataclasses.dataclass
        class JaxMasked:
            values: object
            mask: object

        jf, jg, jh = jax.jit(lambda x: x + 1.0), jax.jit(lambda m: JaxMasked(m.values + 1.0, m.mask)), jax.jit(pick)
        jx, jm, jd = jax.numpy.asarray(a8), JaxMasked(jax.numpy.asarray(a8), jax.numpy.asarray(a8 > 3)), nested(jax.numpy.asarray)
        peers = [lambda: jf(jx), lambda: jg(jm), lambda: jh(jd)]
    call = "call of a traced function"
    table.pair(f"{call}: one tensor", "jax.jit", within(1.5), lambda: f(x), peers[0])
    table.pair(f"{call}: a user's type, which it returns", "jax.jit", within(2), lambda: g(m), peers[1])
    table.pair(f"{call}: a dict of 50 leaves, 2 of them read", "jax.jit", within(6), lambda: h(d), peers[2])


def structure_rows(table: Table) -> None:
    """Nests of 1000 leaves, and the trace of 200 ops."""
    import numpy as np

    import extenso as ex

    jax = importlib.import_module("jax") if importlib.util.find_spec("jax") else None
    tree = {f"a{i}": {f"b{j}": [float(k) for k in range(10)] for j in range(10)} for i in range(10)}
    same = lambda leaf: leaf
    peers: "list[Callable[[], object] | None]" = [None, None, None]

    def chain(x, sin, cos):  # type: ignore[no-untyped-def]
        for _ in range(50):
            x = sin(x) + x * cos(x)
        return x

    if jax is not None:
        jnp = jax.numpy
        jx = jnp.asarray(np.arange(8, dtype=np.float32))

        def traced() -> object:
            jax.clear_caches()
            return jax.make_jaxpr(lambda x: chain(x, jnp.sin, jnp.cos))(jx)

        peers = [lambda: jax.tree.flatten(tree), lambda: jax.tree.map(same, tree), traced]
    as_jax = Bar("<= 1.0 x jax", lambda _, ratio: not ratio > 1.0)
    table.pair("flatten 1000 leaves", "jax.tree", as_jax, lambda: ex.nest.flatten(tree), peers[0])
    table.pair("map over 1000 leaves", "jax.tree", as_jax, lambda: ex.nest.map_structure(same, tree), peers[1])
    spec = ex.TensorSpec([None], "f32")
    trace = lambda: ex.function(lambda x: chain(x, ex.sin, ex.cos)).get_concrete_function(spec)
    table.pair("trace of 200 ops", "jax.make_jaxpr", Bar("<= 0.6 ms", lambda ours, _: ours <= 0.6e-3), trace, peers[2])


def fused_rows(table: Table) -> None:
    """One fused block of mask, arithmetic and reduction: a mask of bits, one of bytes, and none.

    A boolean of ours is a bit, so a mask of bytes is compared with 0 in the same block, one step more than a mask of bits.
    NumPy's booleans are bytes, and it makes an array for each step.
    """
    import numpy as np

    import extenso as ex

    n = 4_000_000
    rng = np.random.default_rng(7)
    a, flags = rng.standard_normal(n, dtype=np.float32), rng.random(n) < 0.5
    x, bits, bytes_ = ex.tensor(a), ex.tensor(flags), ex.tensor(flags.astype(np.uint8))
    with_bits = ex.function(lambda x, m: ex.sum(ex.where(m, x * 2.0 + 1.0, 0.0)))
    with_bytes = ex.function(lambda x, m: ex.sum(ex.where(ex.not_equal(m, 0), x * 2.0 + 1.0, 0.0)))
    without = ex.function(lambda x: ex.sum(x * 2.0 + 1.0))
    one, byte, none, peer = seconds(
        lambda: with_bits(x, bits), lambda: with_bytes(x, bytes_), lambda: without(x), lambda: np.where(flags, a * 2 + 1, 0).sum()
    )
    table.add(f"fused masked sum of {n:,} f32, a mask of bits", one, NO_BAR, "numpy, unfused, a mask of bytes", peer)
    no_dearer = Bar("bits cost no more than bytes: >= 1", lambda _, ratio: ratio >= 1.0)
    table.add("the same, a mask of bytes, made bits in the block", byte, no_dearer, "mask of bits", one)
    table.add("the same, no mask", none, NO_BAR, "mask of bits", one)


def build_rows(table: Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "CARGO_TARGET_DIR": folder}
        build = ["cargo", "build", "--release", "-p", "extenso-py", "-p", "extenso"]

        def timed(command: "list[str]", **more: object) -> float:
            start = time.perf_counter()
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True, **more)  # type: ignore[call-overload]
            return time.perf_counter() - start

        table.add(f"clean release build, {os.cpu_count()} cores", timed(build, env=env), Bar("< 6 min", lambda ours, _: ours < 360.0))
    source = ROOT / "crates" / "extenso-core" / "src" / "ops" / "elementwise.rs"
    before = source.read_text(encoding="utf-8")
    formula = "floats: |x| 1.0 / x"
    assert formula in before, "the formula that is edited for the measurement is gone"
    # The derived conformance of every op, the edited one among them.
    test = ["cargo", "test", "-q", "-p", "extenso-testkit", "--test", "ops"]
    subprocess.run(test, cwd=ROOT, check=True, capture_output=True)
    try:
        source.write_text(before.replace(formula, "floats: |x| (1.0 / x) * 1.0"), encoding="utf-8")
        start = time.perf_counter()
        subprocess.run(test, cwd=ROOT, check=True, capture_output=True)
        seconds_taken = time.perf_counter() - start
    finally:
        source.write_text(before, encoding="utf-8")
    table.add("an edit of one op to its test", seconds_taken, Bar("< 20 s", lambda ours, _: ours < 20.0))


def memory_row(table: Table) -> None:
    """The most memory that a process of the command line has while it scores lines of JSON, files that it maps included."""
    import extenso as ex
    from data import recipes

    size = 536_000_000
    build = ["cargo", "build", "--release", "-q", "-p", "extenso-cli", "--message-format", "json"]
    built = subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    program = next(line["executable"] for line in map(json.loads, built) if line.get("executable"))
    x = ex.from_arrow(recipes(30_000))

    def score(x):  # type: ignore[no-untyped-def]
        return {"id": x["id"], "score": ex.mean(x["user_rating", "score"], axis=1) * ex.log1p(x["recipe", "est_time"])}

    with tempfile.TemporaryDirectory() as folder:
        rows, model = pathlib.Path(folder, "rows.ndjson"), pathlib.Path(folder, "score.exo")
        ex.write_json(x, rows)
        once = rows.read_bytes()
        with rows.open("wb") as file:
            for _ in range(-(-size // len(once))):
                file.write(once)
        ex.save(ex.function(score, input_signature=[ex.infer_spec(rows)]), model)
        # What a process has had counts from the one that starts it, so that a small one does.
        run = [program, "run", model, rows, "--quiet", "--output", pathlib.Path(folder, "scores.parquet")]
        done = subprocess.run([sys.executable, "-c", MEMORY_OF, *run], check=True, stdout=subprocess.PIPE, text=True)
        status, used = map(int, done.stdout.split())
        assert status == 0, "the run failed"
    most = Bar("<= 200 MB", lambda ours, _: ours <= 200e6)
    table.add(
        f"memory of `extenso run` over {size / 1e6:.0f} MB of NDJSON, to Parquet",
        used * 1024,
        most,
        show=lambda size: f"{size / 1e6:.0f} MB",
    )


def wheel_row(table: Table) -> None:
    wheels = sorted((ROOT / "target" / "wheels").glob("*.whl"), key=lambda p: p.stat().st_mtime)
    if not wheels:
        table.lack("a wheel")
        return
    table.add("wheel", wheels[-1].stat().st_size, Bar("< 20 MB", lambda ours, _: ours < 20e6), show=lambda size: f"{size / 1e6:.2f} MB")


def write(page: str) -> None:
    """Replaces the page up to the part that workloads.py writes."""
    results = ROOT / "benches" / "RESULTS.md"
    _, heading, workloads = results.read_text(encoding="utf-8").partition("\n## Workloads")
    results.write_text(page + heading + workloads, encoding="utf-8")


def machine() -> str:
    cpu = next((l.split(":", 1)[1].strip() for l in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if "model name" in l), "")
    versions = [f"Python {platform.python_version()}"]
    for name in ("numpy", "jax"):
        if importlib.util.find_spec(name):
            versions.append(f"{name} {importlib.import_module(name).__version__}")
    rustc = shutil.which("rustc")
    if rustc:
        versions.append(subprocess.run([rustc, "--version"], capture_output=True, text=True, check=True).stdout.split(" (")[0].strip())
    return f"{cpu}, {os.cpu_count()} cores; {', '.join(versions)}; {time.strftime('%Y-%m-%d')}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", action="store_true", help="time a clean release build and an edit of one op too")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON too")
    options = parser.parse_args()
    table = Table()
    import_row(table)
    call_rows(table)
    structure_rows(table)
    fused_rows(table)
    if options.build:
        build_rows(table)
        if importlib.util.find_spec("pyarrow"):
            memory_row(table)
        else:
            table.lack("pyarrow")
    else:
        table.lack("--build")
    wheel_row(table)
    if table.lacks:
        print(f"\n{table.markdown()}\nRESULTS.md stays as it is: this run is without {', '.join(table.lacks)}.")
    else:
        write(table.markdown())
    if options.json:
        print(json.dumps(table.rows))
    if table.missed:
        sys.exit("\n".join(["bars that are missed:", *table.missed]))


if __name__ == "__main__":
    main()
