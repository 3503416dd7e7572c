"""The saved file from Python: types come back by definition, or opaque; Rust runs it on records without Python."""

import copy
import importlib
import json
import pathlib
import pickle
import subprocess
import sys
from typing import Any

import extenso as ex
import numpy as np
import pytest
from rust_programs import built


class Order(ex.ExtensionType):
    """One batch of orders: twelve leaves."""

    __extenso_name__ = "tests.saved/Order"

    id: ex.Tensor
    price: ex.Tensor
    count: ex.Tensor
    discount: ex.Tensor
    weight: ex.Tensor
    vat: ex.Tensor
    country: ex.Tensor
    city: ex.Tensor
    street: ex.Tensor
    sku: ex.Tensor
    note: ex.Tensor
    paid: ex.Tensor


class Money(ex.ExtensionType):
    """An amount of a currency."""

    __extenso_name__ = "tests.saved/Money"

    units: ex.Tensor
    currency: str = "EUR"


FLOATS = ("price", "count", "discount", "weight", "vat")


def _spec() -> object:
    dtypes = {"id": ex.i64, "paid": ex.bool, **dict.fromkeys(FLOATS, ex.f64)}
    names = list(Order.__match_args__)
    return Order.Spec(**{n: ex.TensorSpec([None], dtypes.get(n, ex.string)) for n in names})


def revenue(orders: Order) -> ex.Tensor:
    return orders.price * orders.count * (1.0 - orders.discount)


@ex.function
def total(batch: "dict[str, Order]") -> "dict[str, object]":
    """The revenue of each order, and how fast it grows with the price: a nest in, a nest out, a gradient between."""
    orders = batch["orders"]
    slope = ex.grad(lambda o: ex.sum(revenue(o)))(orders)
    return {"total": Money(revenue(orders)), "slope": Money(slope.price)}


ROWS = [
    {n: (i + 1.0) / 2 if n in FLOATS else {"id": i, "paid": True}.get(n, "ß") for n in Order.__match_args__}
    for i in range(3)
]
TOTALS = [
    {
        "slope": {"units": r["count"] * (1.0 - r["discount"])},
        "total": {"units": r["price"] * r["count"] * (1.0 - r["discount"])},
    }
    for r in ROWS
]


@pytest.fixture
def saved(tmp_path: pathlib.Path) -> pathlib.Path:
    ex.save(total.get_concrete_function({"orders": _spec()}), tmp_path / "total.exo")
    return tmp_path / "total.exo"


def _ndjson(rows: "list[object]") -> bytes:
    return "".join(json.dumps({"orders": r}) + "\n" for r in rows).encode()


def test_only_needed_leaves_are_decoded() -> None:
    f = total.get_concrete_function({"orders": _spec()})
    assert sorted(f.required_paths()) == ["orders.count", "orders.discount", "orders.price"]
    rows = [{**r, "note": [1, {}], "id": "no number"} for r in ROWS]
    assert [json.loads(line) for line in f.run_ndjson(_ndjson(rows)).splitlines()] == TOTALS


def test_a_loaded_function_gives_values_of_the_live_type(saved: pathlib.Path) -> None:
    model = ex.load(saved)
    order = Order(*[ex.tensor([r[n] for r in ROWS]) for n in Order.__match_args__])
    money = model.total({"orders": order})["total"]
    assert isinstance(money, Money) and money.currency == "EUR"
    assert money.units.tolist() == [t["total"]["units"] for t in TOTALS]
    assert ("tests.saved/Money", 1) in [t[:2] for t in model.types]


def test_rust_runs_the_file_on_records_without_python(saved: pathlib.Path, tmp_path: pathlib.Path) -> None:
    rows = tmp_path / "orders.ndjson"
    rows.write_bytes(_ndjson(ROWS))
    command = [built("example", "run"), str(saved), "total", str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == TOTALS
    assert 'total: Money(units: f64[?], currency="EUR")' in done.stderr
    # There the type is unknown: its values are opaque, and their components keep their names.
    assert "total is an opaque tests.saved/Money" in done.stderr
    assert f"total.units = {[t['total']['units'] for t in TOTALS]}" in done.stderr


def test_a_class_defined_again_replaces_the_old_one_and_files_keep_theirs(tmp_path: pathlib.Path) -> None:
    def cell(version: int, body: str) -> type:
        scope: dict[str, object] = {"ex": ex, "__name__": "notebook"}
        exec(f"class Score(ex.ExtensionType):\n    __extenso_version__ = {version}\n{body}", scope)
        return scope["Score"]  # type: ignore[return-value]

    def save(cls: type, name: str) -> pathlib.Path:
        f = ex.function(lambda x: cls(x), name="score")
        f(ex.tensor([1.0]))
        ex.save(f, tmp_path / name)
        return tmp_path / name

    first = cell(1, "    value: ex.Tensor\n")
    old = save(first, "old.exo")
    assert isinstance(ex.load(old).score(ex.tensor([2.0])), first)

    second = cell(2, "    value: ex.Tensor\n    unit: str = 'm'\n")
    new = save(second, "new.exo")
    # Two files with two versions of one type, side by side.
    a, b = ex.load(old).score(ex.tensor([2.0])), ex.load(new).score(ex.tensor([3.0]))
    assert isinstance(b, second) and b.unit == "m"
    assert isinstance(a, ex.OpaqueExtension)
    assert "version 2" in a.reason and "version 1" in a.reason
    assert a.components["value"].tolist() == [2.0]


def _saved(path: pathlib.Path, f: object) -> "ex.ConcreteFunction":
    ex.save(f, path)
    return next(getattr(model, name) for model in [ex.load(path)] for name in model.functions)


def test_nested_arguments_keep_their_names_and_structure(tmp_path: pathlib.Path) -> None:
    @ex.function
    def f(b: "dict[str, object]", a: ex.Tensor, *rest: ex.Tensor, z: ex.Tensor, unit: str = "m") -> "dict[str, object]":
        return {"z": b["z"] - b["a"][0], "a": (a - z, [r - z for r in rest])}  # type: ignore[index, operator]

    one, two, four = (ex.tensor(float(v)) for v in (1, 2, 4))
    wanted = f({"z": four, "a": [one]}, two, four, one, z=one)
    loaded = _saved(tmp_path / "f.exo", f)
    assert loaded.input_spec == f.traces[0].input_spec
    assert list(loaded.input_spec) == ["b", "a", "rest", "z", "unit"]
    assert loaded.required_paths() == ["b.a[0]", "b.z", "a", "rest[0]", "rest[1]", "z"]
    assert wanted == {"a": (one, [ex.tensor(3.0), ex.tensor(0.0)]), "z": ex.tensor(3.0)}
    # By position in the order of the parameters, by name in any order; the keys of a dict have no order.
    assert loaded({"a": [one], "z": four}, two, (four, one), one) == wanted
    assert loaded(z=one, rest=(four, one), a=two, b={"z": four, "a": [one]}) == wanted


def test_parameters_in_any_alphabetical_order_are_not_swapped(tmp_path: pathlib.Path) -> None:
    x, y = ex.tensor(5.0), ex.tensor(3.0)
    for i, f in enumerate([lambda a, b: a - b, lambda b, a: b - a, lambda x10, x9: x10 - x9]):
        traced = ex.function(f, name="f")
        assert traced(x, y).item() == 2.0
        loaded = _saved(tmp_path / f"{i}.exo", traced)
        first, second = loaded.input_spec
        assert loaded(x, y).item() == loaded(**{second: y, first: x}).item() == 2.0


def test_equal_names_in_different_places_stay_as_they_are(tmp_path: pathlib.Path) -> None:
    f = ex.function(lambda a, b: a["x"] - b["x"] - b["a"], name="f")
    f({"x": ex.tensor([9.0])}, {"x": ex.tensor([1.0]), "a": ex.tensor([2.0])})
    loaded = _saved(tmp_path / "f.exo", f)
    assert loaded.required_paths() == ["a.x", "b.a", "b.x"]
    assert json.loads(loaded.run_ndjson(b'{"b": {"a": 2.0, "x": 1.0}, "a": {"x": 9.0}}')) == 6.0


def test_rows_that_are_results_have_their_dtype(tmp_path: pathlib.Path) -> None:
    f = ex.function(lambda x: {"rows": ex.RaggedTensor.from_row_lengths(x, [2, 0, 1])}, name="f")
    f(ex.tensor([1, 2, 3], "i8"))
    loaded = _saved(tmp_path / "f.exo", f)
    assert loaded.output_spec["rows"].dtype is ex.i8
    rows = loaded(ex.tensor([4, 5, 6], "i8"))["rows"]
    assert isinstance(rows, ex.RaggedTensor) and rows.dtype is ex.i8 and rows.to_py() == [[4, 5], [], [6]]


def test_a_type_that_is_not_registered_leaves_the_file_readable(tmp_path: pathlib.Path) -> None:
    code = (
        "import sys, extenso as ex\n"
        "class Price(ex.ExtensionType):\n"
        "    __extenso_name__ = 'tests.gone/Price'\n"
        "    x: ex.Tensor\n"
        "    unit: str = 'm'\n"
        "f = ex.function(lambda p: Price(p.x * 2.0, p.unit), name='f')\n"
        "f(Price([1.0], 'km'))\n"
        "ex.save(f, sys.argv[1])\n"
    )
    path = tmp_path / "f.exo"
    subprocess.run([sys.executable, "-P", "-c", code, str(path)], check=True)
    loaded = ex.load(path).f
    assert repr(loaded.output_spec) == '<spec Price(x: f64[1], unit="km")>'
    result = loaded.run([{"x": 1.5}])
    assert isinstance(result, ex.OpaqueExtension) and result.components["x"].tolist() == [3.0]
    # What a function gave can be given to one again.
    assert loaded(result).components["x"].tolist() == [6.0]


def test_an_argument_of_a_type_that_is_not_defined_is_given_by_its_components(tmp_path: pathlib.Path) -> None:
    code = (
        "import sys, extenso as ex\n"
        "class Span(ex.ExtensionType):\n"
        "    __extenso_name__ = 'tests.gone/Span'\n"
        "    low: ex.Tensor\n"
        "    high: ex.Tensor\n"
        "    unit: str = 'm'\n"
        "class Trip(ex.ExtensionType):\n"
        "    __extenso_name__ = 'tests.gone/Trip'\n"
        "    span: Span\n"
        "    stops: ex.RaggedTensor\n"
        "spec = ex.TensorSpec([None], 'f64')\n"
        "stops = ex.RaggedTensorSpec([None, None], 'i64')\n"
        "f = ex.function(lambda t, k: ((t.span.high - t.span.low) * k, ex.sum(t.stops, axis=1)), name='f')\n"
        "span = Span.Spec(spec, spec, 'km')\n"
        "f.get_concrete_function(Trip.Spec(span, stops), ex.TensorSpec([], 'f64'))\n"
        "ex.save(f, sys.argv[1])\n"
    )
    path = tmp_path / "f.exo"
    subprocess.run([sys.executable, "-P", "-c", code, str(path)], check=True)
    loaded = ex.load(path).f
    stops = [[1, 2], []]
    for span in ({"low": [1, 2], "high": np.array([4.0, 6.0])}, ([1, 2], ex.tensor([4.0, 6.0]))):
        for trip in ({"stops": stops, "span": span}, (span, stops)):
            lengths, counts = loaded(trip, 2)
            assert (lengths.tolist(), counts.tolist()) == ([6.0, 8.0], [3, 0])
    good = {"low": [1.0], "high": [2.0]}
    cases: list[tuple[object, type[Exception], str]] = [
        ({"span": good}, KeyError, "tests.gone/Trip: the component 'stops' is missing"),
        ({"span": good, "stops": [[1]], "x": 1}, KeyError, "there is no component 'x'"),
        ({"span": {"low": ["a"], "high": [2.0]}, "stops": [[1]]}, TypeError, "component 'span': component 'low'"),
        ({"span": {**good, "low": ex.tensor([1])}, "stops": [[1]]}, TypeError, "component 'low': found i64"),
        ({"span": good, "stops": [1]}, ValueError, "component 'stops'"),
        ((good,), ValueError, "tests.gone/Trip: 1 components are given.*\n.*span, stops"),
        (3, TypeError, "tests.gone/Trip: found a value of type int"),
    ]
    for trip, error, text in cases:
        with pytest.raises(error, match=text) as raised:
            loaded(trip, 2)
        assert raised.value.__notes__ == ["This is the argument 't'."]


def test_what_a_method_reads_of_self_is_part_of_its_signature(tmp_path: pathlib.Path) -> None:
    class Scale(ex.ExtensionType):
        __extenso_name__ = "tests.saved/Scale"
        weight: ex.Tensor
        power: int = 1

        @ex.function
        def apply(self, x: ex.Tensor) -> ex.Tensor:
            for _ in range(self.power):
                x = x * self.weight
            return x

    x = ex.tensor(1.0)
    assert [Scale(w, p).apply(x).item() for w, p in ((2.0, 1), (3.0, 1), (2.0, 3))] == [2.0, 3.0, 8.0]
    assert len(Scale.apply.traces) == 2
    loaded = _saved(tmp_path / "f.exo", Scale.apply.traces[1])
    assert loaded(Scale(5.0, 3), x).item() == 125.0
    with pytest.raises(TypeError, match="argument 'self'.*power=1"):
        loaded(Scale(5.0, 1), x)


def test_a_damaged_file_is_an_error(saved: pathlib.Path) -> None:
    data = bytearray(saved.read_bytes())
    data[len(data) // 2] ^= 1
    saved.write_bytes(data)
    with pytest.raises(ex.DataError):
        ex.load(saved)
    with pytest.raises(ex.FileError):
        ex.load(saved.with_name("missing.exo"))


def test_arguments_that_do_not_fit_are_named(saved: pathlib.Path) -> None:
    with pytest.raises(TypeError, match="'batch' is missing"):
        ex.load(saved).total()
    with pytest.raises(ValueError, match=r"'batch': found Money\("):
        ex.load(saved).total(Money([1.0]))
    with pytest.raises(TypeError, match="argument 'batch.orders'"):
        ex.load(saved).total({"orders": Money([1.0])})
    with pytest.raises(AttributeError, match="It has total"):
        ex.load(saved).other


def test_a_file_of_one_function_is_that_function(saved: pathlib.Path) -> None:
    model = ex.load(saved)
    (name,) = model.functions
    only = model[name]
    assert model.input_spec == only.input_spec == {"batch": {"orders": _spec()}}
    assert model.output_spec == only.output_spec and model.required_paths() == only.required_paths()
    assert model.run_ndjson(_ndjson(ROWS)) == only.run_ndjson(_ndjson(ROWS))
    ran = model.run([{"orders": row} for row in ROWS])
    assert ran["total"].units.tolist() == [t["total"]["units"] for t in TOTALS]
    order = Order(*[ex.tensor([r[n] for r in ROWS]) for n in Order.__match_args__])
    assert model({"orders": order})["total"] == ran["total"]


def test_a_file_of_several_functions_says_which_there_are(tmp_path: pathlib.Path) -> None:
    number = [ex.TensorSpec([], ex.f64)]
    double = ex.function(lambda x: x * 2.0, number, name="double")
    half = ex.function(lambda x: x / 2.0, number, name="half")
    ex.save([double, half], tmp_path / "both.exo")
    model = ex.load(tmp_path / "both.exo")
    assert model.functions == ["double", "half"]
    assert (model.double(3.0).item(), model["half"](3.0).item()) == (6.0, 1.5)
    with pytest.raises(ValueError, match=r"2 functions(.|\n)*double, half"):
        model(3.0)
    with pytest.raises(AttributeError, match="It has double, half"):
        model.run
    with pytest.raises(TypeError, match="a function made by `function`"):
        ex.save(lambda x: x, tmp_path / "no.exo")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no function"):
        ex.save([], tmp_path / "no.exo")
    with pytest.raises(ValueError, match=r"has 0 traces(.|\n)*get_concrete_function"):
        ex.save(ex.function(lambda x: x), tmp_path / "no.exo")


def test_functions_and_models_are_copied_and_pickled_as_their_file(tmp_path: pathlib.Path) -> None:
    f = ex.function(lambda x: x * 2.0, name="twice")
    concrete = f.get_concrete_function(ex.TensorSpec([None], "f64"))
    assert copy.deepcopy(f) is f
    assert copy.deepcopy(concrete) is concrete
    again = pickle.loads(pickle.dumps(concrete))
    assert again([1.0]).tolist() == [2.0]
    assert again.input_spec == concrete.input_spec
    ex.save(concrete, tmp_path / "one.exo")
    model = ex.load(tmp_path / "one.exo")
    assert list(model) == ["twice"]
    assert len(model) == 1
    assert "twice" in model
    assert 0 not in model
    assert copy.copy(model) is model
    assert pickle.loads(pickle.dumps(model)).twice([1.0]).tolist() == [2.0]
    ex.save(model, tmp_path / "two.exo")
    assert (tmp_path / "two.exo").read_bytes() == (tmp_path / "one.exo").read_bytes()


def test_required_paths_lead_into_what_may_be_missing() -> None:
    rows = [{"items": [{"a": 1, "b": "x"}], "c": {"p": 1, "q": 2}}, {"items": None, "c": None}]
    f = ex.function(lambda o: {"a": o["items", "a"], "p": o["c", "p"]}).get_concrete_function(ex.infer_spec(rows))
    assert f.required_paths() == ["items[*].a", "c.p"]
    n = ex.function(lambda o: ex.num(o["items"], axis=1)).get_concrete_function(ex.infer_spec(rows))
    assert n.required_paths() == ["items"]


def test_a_loaded_function_is_called_as_the_python_function_was(tmp_path: pathlib.Path) -> None:
    number, vector = ex.TensorSpec([], "f64"), ex.TensorSpec([None], "f64")
    rest = ex.function(lambda x, *xs: x + xs[0] * xs[1]).get_concrete_function(vector, number, number)
    named = ex.function(lambda x, **by: x * by["y"]).get_concrete_function(vector, y=number)
    static = ex.function(lambda x, names=("a", "b"), of={"k": 1}: x * 2.0).get_concrete_function(vector)
    pairs = ex.function(lambda x, pair: x + pair[0] * pair[1]).get_concrete_function(vector, (number, number))
    x = ex.tensor([1.0])
    for name, function in (("rest", rest), ("named", named), ("static", static), ("pairs", pairs)):
        ex.save(function, tmp_path / name)
        for f in (function, ex.load(tmp_path / name)):
            match name:
                case "rest":
                    assert f(x, 2.0, 3.0).tolist() == f(x, (2.0, 3.0)).tolist() == f(x, xs=(2.0, 3.0)).tolist() == [7.0]
                    for wrong in ((x,), (x, 2.0), (x, 2.0, 3.0, 4.0)):
                        with pytest.raises(ex.Error):
                            f(*wrong)
                case "named":
                    assert f(x, y=3.0).tolist() == f(x, by={"y": 3.0}).tolist() == [3.0]
                    with pytest.raises(ex.DTypeError, match="argument 'by' is missing"):
                        f(x)
                    with pytest.raises(ex.DTypeError, match="argument 'z' is not known"):
                        f(x, y=3.0, z=4.0)
                case "static":
                    assert f(x).tolist() == f(x, ("a", "b")).tolist() == f(x, of={"k": 1}).tolist() == [2.0]
                    with pytest.raises(ex.InvalidValueError, match="names"):
                        f(x, ("a", "c"))
                    with pytest.raises(ex.DTypeError, match="argument 'x' is given twice"):
                        f(x, x=x)
                case "pairs":
                    assert f(x, (2.0, 3.0)).tolist() == f(x, pair=(2.0, 3.0)).tolist() == [7.0]


def test_a_function_is_pickled_by_its_name(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["import extenso as ex", "@ex.function", "def twice(x):", "    return x + x"]
    lines += ["class Model:", "    @ex.function", "    def call(self, x):", "        return x"]
    (tmp_path / "functions_by_name.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("functions_by_name")
    for function in (module.twice, module.Model.call):
        assert pickle.loads(pickle.dumps(function)) is function
    program = "import pickle, sys; sys.path.append(sys.argv[1]); print(pickle.loads(sys.stdin.buffer.read())(21))"
    call = [sys.executable, "-P", "-c", program, str(tmp_path)]
    assert subprocess.run(call, input=pickle.dumps(module.twice), capture_output=True, check=True).stdout == b"42\n"


def test_a_function_that_no_name_leads_to_says_so_when_it_is_pickled() -> None:
    def inner(x: Any) -> Any:
        return x

    for function in (ex.function(inner), ex.function(_plain), ex.grad(ex.function(_plain))):
        with pytest.raises(pickle.PicklingError, match="is not this one.\nWanted: a function that a module has"):
            pickle.dumps(function)


def _plain(x: Any) -> Any:
    return x
