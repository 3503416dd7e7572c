"""The interfaces of what Extenso is made of: what a thing is, and nothing of how it is done.

They serve static checks and `isinstance`. A class of any library that has the members of an interface has the interface.

>>> import extenso as ex
>>> isinstance(ex.tensor([1.0]), ex.types.Value), isinstance([1.0], ex.types.TensorLike)
(True, True)
"""

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from extenso._core import ExtensionType

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Composite",
    "ConcreteFunction",
    "DType",
    "Function",
    "RowPartition",
    "Shape",
    "Symbol",
    "Tensor",
    "TensorLike",
    "Value",
    "Variable",
]

if TYPE_CHECKING:
    _Interface = type
else:

    class _Interface(type(Protocol)):
        """Asks the class of an object for the members of an interface: a property of a symbol may have no value yet."""

        def __instancecheck__(cls, instance):
            members = {
                name
                for base in cls.__mro__
                if isinstance(base, _Interface)
                for name in vars(base)
                if not name.startswith("_") or name == "__extenso_type_spec__" or name == "__call__"
            }
            condition = _CONDITIONS.get(cls.__name__, lambda instance: True)
            return all(hasattr(type(instance), name) for name in members) and condition(instance)


@runtime_checkable
class DType(Protocol, metaclass=_Interface):
    """The element type of a tensor."""

    @property
    def name(self) -> str: ...
    @property
    def itemsize(self) -> int | None: ...
    @property
    def is_integer(self) -> bool: ...
    @property
    def is_float(self) -> bool: ...


@runtime_checkable
class Shape(Protocol, metaclass=_Interface):
    """The sizes of axes, as far as they are known."""

    @property
    def rank(self) -> int | None: ...
    @property
    def dims(self) -> tuple[int | None, ...] | None: ...


@runtime_checkable
class Tensor(Protocol, metaclass=_Interface):
    """A dense array of one dtype: a `Value` or a `Symbol`."""

    @property
    def dtype(self) -> DType: ...
    @property
    def shape(self) -> tuple[int | None, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def is_symbolic(self) -> bool: ...


@runtime_checkable
class Value(Tensor, Protocol, metaclass=_Interface):
    """A tensor that holds data."""

    def tolist(self) -> Any: ...


@runtime_checkable
class Symbol(Tensor, Protocol, metaclass=_Interface):
    """A tensor that stands for data while a function is traced."""


@runtime_checkable
class RowPartition(Protocol, metaclass=_Interface):
    """How a flat list is cut into rows."""

    @property
    def nrows(self) -> int | None: ...
    @property
    def nvalues(self) -> int | None: ...
    def row_splits(self) -> Tensor: ...


@runtime_checkable
class Variable(Protocol, metaclass=_Interface):
    """A named tensor that changes."""

    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> DType: ...
    def read(self) -> Tensor: ...
    def assign(self, value: Any) -> Tensor: ...


@runtime_checkable
class Composite(Protocol, metaclass=_Interface):
    """A value of an extension type: it is made of tensors, row partitions and other composites."""

    def __extenso_type_spec__(self) -> Any: ...


@runtime_checkable
class ConcreteFunction(Protocol, metaclass=_Interface):
    """A function traced for one spec of its arguments."""

    @property
    def input_spec(self) -> Any: ...
    @property
    def output_spec(self) -> Any: ...
    def required_paths(self) -> list[str]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


@runtime_checkable
class Function(Protocol, metaclass=_Interface):
    """A function that is traced once per spec of its arguments."""

    @property
    def traces(self) -> "Sequence[ConcreteFunction]": ...
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


@runtime_checkable
class _Array(Protocol):
    """An object that NumPy takes as an array."""

    def __array__(self) -> Any: ...


@runtime_checkable
class _Convertible(Protocol):
    """An object that says which tensor it is."""

    def __extenso_tensor__(self) -> Any: ...


if TYPE_CHECKING:
    TensorLike: TypeAlias = Tensor | bool | int | float | str | bytes | Sequence[Any] | _Array | _Convertible
else:

    class _TensorLike(type):
        def __instancecheck__(cls, instance):
            plain = (Tensor, bool, int, float, str, bytes, bytearray, memoryview, list, tuple)
            # A value made of several tensors has an array of NumPy, and is no tensor.
            names = ("__extenso_tensor__",) if isinstance(instance, ExtensionType) else ("__array__", "__extenso_tensor__")
            return isinstance(instance, plain) or any(hasattr(type(instance), name) for name in names)

    class TensorLike(metaclass=_TensorLike):
        """Whatever is made a tensor where one is wanted: tensors, numbers, texts, lists of these, arrays."""


# What an interface asks of an object besides its members.
_CONDITIONS = {
    "Value": lambda tensor: not tensor.is_symbolic,
    "Symbol": lambda tensor: tensor.is_symbolic,
    "Composite": lambda value: not isinstance(value, Tensor | RowPartition),
}
