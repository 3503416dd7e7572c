"""The line on standard error that tells how far a run is, as the command `extenso run` shows it."""

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from extenso._core import Progress


class Line:
    """Shows a line that is written over on a terminal, and says at the end what was done."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self._shown = 0
        self._live = sys.stderr is not None and sys.stderr.isatty()

    def __call__(self, done: "Progress") -> None:
        if self._live:
            part = f"{min(done.bytes / done.size, 1):4.0%}  " if done.size else ""
            self._write(f"{part}{done.rows} rows  {self._speed(done.rows)}", end="")

    def finish(self, done: "Progress") -> None:
        """Says how much was read in what time."""
        bad = f"{done.bad} of {done.rows} rows did not fit.\n" if done.bad else ""
        seconds = time.perf_counter() - self._begun
        self._write(f"{bad}{done.rows} rows, {_size(done.bytes)}, {seconds:.2f} s, {self._speed(done.rows)}", end="\n")

    def _speed(self, rows: int) -> str:
        return f"{rows / max(time.perf_counter() - self._begun, 1e-9):.0f} rows/s"

    def _write(self, text: str, end: str) -> None:
        if sys.stderr is None:
            return
        # What is written over may be longer than what is written.
        before = "\r" + " " * self._shown + "\r" if self._shown else ""
        self._shown = 0 if end else len(text)
        sys.stderr.write(before + text + end)
        sys.stderr.flush()


def _size(count: float) -> str:
    if count < 1000:
        return f"{count} bytes"
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 1000:
            break
    return f"{count:.1f} {unit}"
