"""Programs in Rust that tests run."""

import json
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What the tests in Rust have built is not built again: of the same packages, and with a test of the derive macro, without which cargo
# optimises what that is made of otherwise.
_TESTED = ["--workspace", "--exclude", "extenso-py", "--test", "derive"]


def built(kind: str, name: str) -> pathlib.Path:
    """Returns the path of a program of the workspace: of the kind `bin` or `example`."""
    cargo = shutil.which("cargo")
    assert cargo is not None, "cargo is needed to build the program"
    subprocess.run([cargo, "build", "-q", *_TESTED, f"--{kind}", name], cwd=ROOT, check=True)
    metadata = subprocess.run(
        [cargo, "metadata", "--format-version=1", "--no-deps"], cwd=ROOT, capture_output=True, check=True
    )
    debug = pathlib.Path(json.loads(metadata.stdout)["target_directory"]) / "debug"
    return (debug / "examples" if kind == "example" else debug) / name
