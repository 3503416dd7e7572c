"""What a workload is: our call, those of the peers, what their results add up to, and what is wanted."""

from collections.abc import Callable
from typing import Any, NamedTuple

Run = Callable[[], Any]
Digest = Callable[[Any], "dict[str, float]"]


class Bar(NamedTuple):
    """What is wanted: at most so much of the peer's time, or so many seconds."""

    ratio: float = float("inf")
    seconds: float = float("inf")

    def words(self) -> str:
        if self == NO_BAR:
            return ""
        return f"<= {self.ratio:g}" if self.ratio < float("inf") else f"<= {text(self.seconds)}"

    def is_met(self, ours: float, ratio: float) -> bool:
        return ours <= self.seconds and not ratio > self.ratio


NO_BAR = Bar()


class Work(NamedTuple):
    """One workload: our call and the peers', each with what its result adds up to."""

    what: str
    bar: Bar
    ours: "tuple[Run, Digest]"
    peers: "dict[str, tuple[Run, Digest]]"
    also: "Callable[[], dict[str, tuple[float, Bar]]]" = dict
    """What else is told of our call: seconds, and what is wanted of them."""
    alone: Bar = NO_BAR
    """What is wanted with one core."""


def text(s: float) -> str:
    """Returns a time with three digits."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if s * factor >= 1.0:
            return f"{s * factor:.3g} {unit}"
    return f"{s * 1e9:.3g} ns"


def total(x: Any) -> float:
    import numpy as np

    return float(np.nansum(np.asarray(x, dtype=np.float64)))
