"""Times calls of Extenso beside NumPy and jax, and the build, and writes the table in RESULTS.md.

Run by `cargo xtask bench --peers`; with `-- --build` the build is timed too. Each time is the median of several rounds of
the best of many calls; a ratio is of two medians of one process, taken in turn.
"""

import argparse
import importlib.util
import json
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 9


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


class Table:
    """Rows of what was measured beside what was wanted."""

    def __init__(self) -> None:
        self.rows: "list[tuple[str, str, str, str, str]]" = []

    def add(self, what: str, ours: str, peer: str, ratio: str, bar: str) -> None:
        self.rows.append((what, ours, peer, ratio, bar))
        print(" | ".join(self.rows[-1]), flush=True)

    def pair(self, what: str, peer: str, bar: str, ours: "Callable[[], object]", other: "Callable[[], object] | None") -> None:
        """Times one call beside a peer's."""
        if other is None:
            self.add(what, text(seconds(ours)[0]), "not installed", "", bar)
            return
        a, b = seconds(ours, other)
        self.add(what, text(a), f"{peer} {text(b)}", f"{a / b:.2f}", bar)


def import_row(table: Table) -> None:
    code = "import time;t=time.perf_counter();import {m};print(time.perf_counter()-t);import sys;print('numpy' in sys.modules)"

    def fresh(module: str) -> "tuple[float, str]":
        outs = [subprocess.run([sys.executable, "-c", code.format(m=module)], capture_output=True, text=True, check=True) for _ in range(7)]
        lines = [o.stdout.split() for o in outs]
        return statistics.median(float(line[0]) for line in lines), lines[-1][1]

    (ours, loads_numpy), (peer, _) = fresh("extenso"), fresh("numpy")
    assert loads_numpy == "False", "importing extenso imports numpy"
    table.add("import", text(ours), f"numpy {text(peer)}", f"{ours / peer:.2f}", "< 25 ms, without NumPy")


def call_rows(table: Table) -> None:
    import numpy as np

    import extenso as ex

    jax = importlib.import_module("jax") if importlib.util.find_spec("jax") else None
    a8 = np.arange(8, dtype=np.float32)
    x = ex.tensor(a8)
    table.pair("eager add of two f32[8]", "numpy", "<= 1.5 x numpy", lambda: x + x, lambda: a8 + a8)

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
    table.pair(
        "eager add of a user's masked type", "numpy `__array_ufunc__` class", "<= 2 us", lambda: ex.add(m, m), lambda: np.add(n, n)
    )

    def nested(leaf: "Callable[[object], object]") -> object:
        return {f"g{i}": {f"k{j}": leaf(a8 + i * 10 + j) for j in range(10)} for i in range(5)}

    pick = lambda d: d["g0"]["k0"] + d["g4"]["k9"]
    f, g, h = ex.function(lambda x: x + 1.0), ex.function(lambda m: m.values + 1.0), ex.function(pick)
    d = nested(ex.tensor)
    peers: "list[Callable[[], object] | None]" = [None, None, None]
    if jax is not None:
        import dataclasses

        @jax.tree_util.register_dataclass
        @dataclasses.dataclass
        class JaxMasked:
            values: object
            mask: object

        jf, jg, jh = jax.jit(lambda x: x + 1.0), jax.jit(lambda m: m.values + 1.0), jax.jit(pick)
        jx, jm, jd = jax.numpy.asarray(a8), JaxMasked(jax.numpy.asarray(a8), jax.numpy.asarray(a8 > 3)), nested(jax.numpy.asarray)
        peers = [lambda: jf(jx), lambda: jg(jm), lambda: jh(jd)]
    table.pair("call of a traced function: one tensor", "jax.jit", "<= 2 us", lambda: f(x), peers[0])
    table.pair("call of a traced function: a user's type", "jax.jit", "<= 3 us", lambda: g(m), peers[1])
    table.pair("call of a traced function: a dict of 50", "jax.jit", "<= 8 us", lambda: h(d), peers[2])


def fused_rows(table: Table) -> None:
    """One fused block of mask, arithmetic and reduction: booleans of one bit beside booleans of one byte and none."""
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
    table.add(f"fused masked sum of {n:,} f32, mask of bits", text(one), f"numpy {text(peer)}", f"{one / peer:.2f}", "")
    table.add("the same, mask of bytes", text(byte), f"bits {text(one)}", f"{byte / one:.2f}", "bits do not cost: >= 1")
    table.add("the same, no mask", text(none), f"bits {text(one)}", f"{none / one:.2f}", "")


def build_rows(table: Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "CARGO_TARGET_DIR": folder}
        build = ["cargo", "build", "--release", "-p", "extenso-py", "-p", "extenso"]

        def timed(command: "list[str]", **more: object) -> float:
            start = time.perf_counter()
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True, **more)  # type: ignore[call-overload]
            return time.perf_counter() - start

        table.add("clean release build, two cores", text(timed(build, env=env)), "", "", "< 6 min")
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
    table.add("an edit of one op to its test", text(seconds_taken), "", "", "< 20 s")


def wheel_row(table: Table) -> None:
    wheels = sorted((ROOT / "target" / "wheels").glob("*.whl"), key=lambda p: p.stat().st_mtime)
    if wheels:
        table.add("wheel", f"{wheels[-1].stat().st_size / 1e6:.2f} MB", "", "", "< 20 MB")


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
    fused_rows(table)
    if options.build:
        build_rows(table)
    wheel_row(table)
    head = f"# Results\n\nWritten by `benches/run.py`. {machine()}. Medians; a ratio is ours over the peer's, of one run.\n\n"
    lines = ["| what | ours | beside | ratio | bar |", "|---|---|---|---|---|", *(f"| {' | '.join(row)} |" for row in table.rows)]
    (ROOT / "benches" / "RESULTS.md").write_text(head + "\n".join(lines) + "\n")
    if options.json:
        print(json.dumps(table.rows))


if __name__ == "__main__":
    main()
