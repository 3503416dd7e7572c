"""The suite of the Python Array API standard, from the checkout that the environment variable ARRAY_API_TESTS names.

The checkout is that of github.com/data-apis/array-api-tests with its submodule, and what its `requirements.txt` names is installed.
Known deviations stand in `array_api_xfails.txt`, each with its reason.
"""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
CHECKOUT = os.environ.get("ARRAY_API_TESTS")
EXAMPLES = os.environ.get("ARRAY_API_TESTS_EXAMPLES", "20")


@pytest.mark.skipif(CHECKOUT is None, reason="ARRAY_API_TESTS names no checkout of data-apis/array-api-tests")
def test_the_suite_of_the_standard_passes_but_for_known_deviations() -> None:
    """Runs the suite in a process of its own: it configures pytest and Hypothesis for itself."""
    options = ["-q", "-W", "ignore", "-p", "array_api_plugin", "--xfails-file", str(HERE / "array_api_xfails.txt")]
    drawn = ["--max-examples", EXAMPLES, "--derandomize", "--disable-deadline"]
    environment = os.environ | {"ARRAY_API_TESTS_MODULE": "extenso", "PYTHONPATH": os.pathsep.join([str(HERE), str(CHECKOUT)])}
    environment |= {"ARRAY_API_TESTS_VERSION": "2024.12", "ARRAY_API_TESTS_SKIP_DTYPES": "complex64,complex128"}
    command = [sys.executable, "-P", "-m", "pytest", "array_api_tests", *options, *drawn]
    done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
