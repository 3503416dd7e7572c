"""The workloads on dense numbers."""

import os
from collections.abc import Callable, Iterator
from typing import Any

from work import NO_BAR, Bar, Work, total

ELEMENTS, COLUMNS = 10_000_000, 128
LAYERS, UNITS = 3, 256


def of_numbers() -> "Iterator[Callable[[], Work]]":
    """The workloads on dense numbers."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    import extenso as ex

    adds = lambda o: {"sum": total(o), "n": float(np.asarray(o).size)}
    formula = lambda lib, x: lib.where(x > 0.0, lib.log1p(x), 0.0) * 0.5 + lib.sqrt(lib.abs(x))

    def elementwise() -> Work:
        x = np.random.default_rng(6).standard_normal(ELEMENTS, dtype=np.float32)
        ours, theirs = ex.function(lambda x: formula(ex, x)), jax.jit(lambda x: formula(jnp, x))
        a, b = ex.tensor(x), jnp.asarray(x)
        return Work(
            "W6a: `where(x > 0, log1p(x), 0) * 0.5 + sqrt(abs(x))` of 10M f32",
            Bar(1.0),
            (lambda: ours(a), adds),
            {"jax.jit": (lambda: theirs(b).block_until_ready(), adds)},
        )

    yield elementwise

    def summed() -> Work:
        x = np.random.default_rng(6).standard_normal(ELEMENTS, dtype=np.float32)
        ours, theirs = ex.function(lambda x: ex.sum(formula(ex, x))), jax.jit(lambda x: formula(jnp, x).sum())
        a, b = ex.tensor(x), jnp.asarray(x)
        return Work(
            "W6b: the sum of it",
            Bar(1.0),
            (lambda: ours(a), adds),
            {"jax.jit": (lambda: theirs(b).block_until_ready(), adds)},
        )

    yield summed

    def broadcast() -> Work:
        rng = np.random.default_rng(7)
        x, y = rng.standard_normal((ELEMENTS // COLUMNS, COLUMNS), dtype=np.float32), rng.standard_normal(COLUMNS, dtype=np.float32)
        theirs = jax.jit(lambda a, b: a + b)
        a, b, c, d = ex.tensor(x), ex.tensor(y), jnp.asarray(x), jnp.asarray(y)
        return Work(
            "W6d: f32[78125, 128] + f32[128]",
            Bar(1.0),
            (lambda: a + b, adds),
            {"jax.jit": (lambda: theirs(c, d).block_until_ready(), adds)},
        )

    yield broadcast
    for size, bar, alone in ((1, Bar(1.0), NO_BAR), (64, NO_BAR, Bar(1.0)), (4096, Bar(1.1), NO_BAR)):
        yield lambda size=size, bar=bar, alone=alone: perceptron(size, bar, alone)


def perceptron(size: int, bar: Bar, alone: Bar) -> Work:
    """Three layers of 256 units, relu between them."""
    import numpy as np
    import onnxruntime as ort

    import extenso as ex

    rng = np.random.default_rng(8)
    weights = [
        (rng.standard_normal((UNITS, UNITS), dtype=np.float32) / 16, rng.standard_normal(UNITS, dtype=np.float32)) for _ in range(LAYERS)
    ]
    x = np.random.default_rng(9).standard_normal((size, UNITS), dtype=np.float32)
    constants = [(ex.tensor(w), ex.tensor(b)) for w, b in weights]

    @ex.function
    def ours(x):  # type: ignore[no-untyped-def]
        for i, (w, b) in enumerate(constants):
            x = ex.matmul(x, w) + b
            x = ex.relu(x) if i < LAYERS - 1 else x
        return x

    options = ort.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", 0))
    session = ort.InferenceSession(onnx_model(weights), options, providers=["CPUExecutionProvider"])
    a, feed = ex.tensor(x), {"x": x}
    adds = lambda o: {"sum": float(np.abs(np.asarray(o, np.float64)).sum())}
    return Work(
        f"W7: 3 dense layers of 256, batch {size}",
        bar,
        (lambda: ours(a), adds),
        {"onnxruntime": (lambda: session.run(None, feed)[0], adds)},
        alone=alone,
    )


def onnx_model(weights: "list[Any]") -> bytes:
    """Returns the layers as an ONNX model."""
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants, last = [], [], "x"
    for i, (w, b) in enumerate(weights):
        constants += [numpy_helper.from_array(w, f"w{i}"), numpy_helper.from_array(b, f"b{i}")]
        nodes.append(helper.make_node("Gemm", [last, f"w{i}", f"b{i}"], [f"h{i}"]))
        last = f"h{i}"
        if i < len(weights) - 1:
            nodes.append(helper.make_node("Relu", [last], [f"r{i}"]))
            last = f"r{i}"
    sizes = {"x": weights[0][0].shape[0], last: weights[-1][0].shape[1]}
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, size]) for name, size in sizes.items()]
    graph = helper.make_graph(nodes, "layers", ends[:1], ends[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
