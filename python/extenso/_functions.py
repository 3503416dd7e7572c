"""How a function of `extenso.function` is pickled: by its name, as a plain function is; what it traced stays here."""

from extenso._core import Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def reduce(self: Function) -> "tuple[Callable[[str, str], object], tuple[str, str]]":
    """Returns the function below and the name of this one, for `pickle`.

    Errors: a `PicklingError` where the name of the module does not lead to the function.
    """
    module = getattr(self.__wrapped__, "__module__", None)
    name = getattr(self.__wrapped__, "__qualname__", None)
    try:
        found = named(str(module), str(name))
    except (ImportError, AttributeError, ValueError):
        found = None
    if found is not self:
        from pickle import PicklingError

        raise PicklingError(
            f"A function is pickled by its name, and '{module}.{name}' is not this one.\n"
            "Wanted: a function that a module has. Or pickle a concrete one: `f.get_concrete_function(...)`."
        )
    return named, (str(module), str(name))


def named(module: str, name: str) -> object:
    """Returns what a module has under a name, which may have dots."""
    from functools import reduce as folded
    from importlib import import_module

    return folded(getattr, name.split("."), import_module(module))


def attach() -> None:
    """Gives functions the method."""
    setattr(Function, "__reduce__", reduce)
