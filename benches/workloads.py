"""Times whole workloads of Extenso beside the libraries that are best at each, and says which bars are missed.

Run by `cargo xtask bench --peers` after run.py; its table is the last part of RESULTS.md. Data are made by a seed (data.py). The
calls of a workload are taken in turn, in one process, and what they return is compared before they are timed. Each workload is
measured again by a process that has one core and one thread, in processor time, which other processes do not lengthen. The exit
status is not 0 if a bar is missed or results differ.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from work import NO_BAR, Bar, Run, Work, text

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADING = "## Workloads"
ONE_CORE = {
    "EXTENSO_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
RECIPES, USERS = 100_000, 200_000
PEERS = ("numba", "polars", "pyarrow", "duckdb", "ptars", "msgspec", "jax", "onnxruntime")
PAUSE = 0.05


class Row(NamedTuple):
    what: str
    ours: float
    peer: str
    other: float
    one_core: bool
    bar: Bar

    def cells(self) -> "tuple[str, ...]":
        what = f"{self.what}, one core" if self.one_core else self.what
        beside = (f"{self.peer} {text(self.other)}", f"{self.ours / self.other:.2f}") if self.peer else ("", "")
        return what, text(self.ours), *beside, self.bar.words()

    def is_missed(self) -> bool:
        return not self.bar.is_met(self.ours, self.ours / self.other)


def seconds(calls: "list[Run]", rounds: int, budget: float, clock: "Callable[[], float]") -> "list[float]":
    """Returns the median seconds of each call by a clock, the calls taken in turn.

    Before its turn each waits: the threads of some libraries spin for a while after a call, on a core that the next one needs.
    """

    def once(call: Run, number: int) -> float:
        start = clock()
        for _ in range(number):
            call()
        return (clock() - start) / number

    # A core that slept is slow at first: what is measured is much longer than that.
    numbers = [max(1, int(0.05 / once(call, 2))) for call in calls]
    found: "list[list[float]]" = [[] for _ in calls]
    start = time.perf_counter()
    while len(found[0]) < rounds and (len(found[0]) < 5 or time.perf_counter() - start < budget):
        for times, call, number in zip(found, calls, numbers):
            time.sleep(PAUSE)
            call()
            times.append(once(call, number))
    return [statistics.median(times) for times in found]


def compare(what: str, ours: "dict[str, float]", peer: str, theirs: "dict[str, float]") -> None:
    """Ends the run where results differ by more than a thousandth."""
    for name, value in ours.items():
        if abs(value - theirs[name]) > 1e-3 * max(abs(value), abs(theirs[name])):
            sys.exit(f"{what}: {name} is {value}, and {theirs[name]} by {peer}")


def measured(work: Work, one_core: bool) -> Row:
    """Returns the row of a workload beside its fastest peer."""
    run, digest = work.ours
    ours = digest(run())
    for name, (call, of) in work.peers.items():
        compare(work.what, ours, name, of(call()))
    clock = time.process_time if one_core else time.perf_counter
    mine, *others = seconds([run, *(call for call, _ in work.peers.values())], 15, 4.0, clock)
    other, peer = min(zip(others, work.peers), default=(math.nan, ""))
    return Row(work.what, mine, peer, other, one_core, work.alone if one_core else work.bar)


def workloads(wanted: str) -> "Iterator[Callable[[], Work]]":
    """The workloads whose letter and number are wanted, with their data."""
    import data
    import dense_work
    import format_work
    import records_work

    if "W4" in wanted or "W5" in wanted:
        yield from records_work.of_recipes(data.recipes(RECIPES))
        yield from records_work.of_few_recipes(data.recipes(1_000))
        yield from records_work.of_events(data.events(USERS), data.vocabulary())
    if "W6" in wanted or "W7" in wanted:
        yield from dense_work.of_numbers()
    if any(name in wanted for name in ("W1", "W2", "W3", "W9")):
        with tempfile.TemporaryDirectory() as folder:
            yield from format_work.of_records(pathlib.Path(folder))


def measure(wanted: str, one_core: bool) -> "list[Row]":
    found = []
    for make in workloads(wanted):
        work = make()
        if work.what[:2] in wanted and (len(wanted) != 3 or work.what.startswith(wanted)):
            rows = [measured(work, one_core)]
            rows += [Row(what, ours, "", math.nan, one_core, NO_BAR if one_core else bar) for what, (ours, bar) in work.also().items()]
            for row in rows:
                print(" | ".join(row.cells()), file=sys.stderr, flush=True)
            found += rows
    return sorted(found, key=lambda row: row.what.split(":")[0])


def measure_with_one_core(wanted: str) -> "list[Row]":
    """Returns the rows of a process of its own."""
    command = [sys.executable, __file__, "--one-core", "--only", wanted]
    done = subprocess.run(command, env={**os.environ, **ONE_CORE}, stdout=subprocess.PIPE, text=True, check=True)
    return [Row(*row[:-1], Bar(*row[-1])) for row in json.loads(done.stdout)]


def markdown(rows: "list[Row]") -> str:
    import importlib.metadata

    versions = [f"{name} {importlib.metadata.version(name)}" for name in PEERS]
    when = f"{time.strftime('%Y-%m-%d')}, at a load of {os.getloadavg()[1]:.0f} on {os.cpu_count()} cores"
    head = f"{HEADING}\n\nWritten by `benches/workloads.py`, beside the fastest of {', '.join(versions)}; {when}. Medians of calls in turn;"
    head += " with one core, of processor time.\n\n"
    lines = ["| what | ours | beside | ratio | bar |", "|---|---|---|---|---|", *(f"| {' | '.join(row.cells())} |" for row in rows)]
    return head + "\n".join(lines) + "\n"


def write(part: str) -> None:
    """Puts the table in the place of the one before."""
    page = ROOT / "benches" / "RESULTS.md"
    kept = page.read_text(encoding="utf-8").split(HEADING)[0].rstrip("\n")
    page.write_text(f"{kept}\n\n{part}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="W1 W2 W3 W4 W5 W6 W7 W9", help="the workloads, such as W4 or W4b; RESULTS.md stays as it is")
    parser.add_argument("--one-core", action="store_true", help="measure with one core, and print the rows as JSON")
    options = parser.parse_args()
    if options.one_core:
        os.environ.update(ONE_CORE)
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(json.dumps(measure(options.only, one_core=True)))
        return
    both = zip(measure(options.only, one_core=False), measure_with_one_core(options.only))
    rows = [row for pair in both for row in pair]
    part = markdown(rows)
    if options.only == parser.get_default("only"):
        write(part)
    else:
        print(part)
    missed = [" | ".join(row.cells()) for row in rows if row.is_missed()]
    if missed:
        sys.exit("\n".join(["bars that are missed:", *missed]))


if __name__ == "__main__":
    main()
