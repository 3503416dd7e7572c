"""The stub of the binding says of the ops what their declarations say."""

import pathlib

import extenso as ex
from extenso import _core


def test_the_stub_has_every_op_as_declared() -> None:
    stub = pathlib.Path(ex.__file__).with_name("_core.pyi").read_text(encoding="utf-8")
    missing = [line for line in _core.generate_stubs().splitlines() if line not in stub.splitlines()]
    assert not missing, "Write these lines into python/extenso/_core.pyi:\n" + "\n".join(missing)
