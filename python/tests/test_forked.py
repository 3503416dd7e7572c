"""A process that was forked has none of the threads of the one before, and computes what it would."""

import os
import signal
import time

import extenso as ex
import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_computes_alone() -> None:
    x = ex.random.normal(ex.random.key(1), (1 << 20,), dtype="f32")
    rows = b"".join(b'{"x": %d}\n' % i for i in range(50_000))

    def results() -> "tuple[float, int]":
        return ex.sum(ex.exp(x)).item(), ex.read_json(rows)["x"].shape[0]

    wanted = results()
    child = os.fork()
    if child == 0:
        os._exit(0 if results() == wanted else 1)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the forked process waits forever")
