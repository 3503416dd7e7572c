"""Reads the annotations of extension types. Imported when the first class is defined."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read(cls: type) -> "dict[str, Any]":
    """Returns the annotations of a class body; one that names what is not defined yet stays text."""
    # The frame below this one runs the class statement, because the code between them is not Python.
    names = sys._getframe(1).f_locals
    return {name: evaluate(cls, annotation, names) for name, annotation in _own(cls).items()}


def evaluate(cls: type, annotation: "Any", names: "dict[str, Any] | None" = None) -> "Any":
    """Returns what a text annotation says, or the text if a name in it is not defined."""
    if not isinstance(annotation, str):
        return annotation
    module = sys.modules.get(cls.__module__)
    scope = {**(vars(module) if module else {}), **(names or {}), cls.__name__: cls}
    try:
        return eval(annotation, scope)
    except NameError:
        return annotation


def _own(cls: type) -> "dict[str, Any]":
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    else:
        annotations: dict[str, Any] = cls.__dict__.get("__annotations__", {})
        return annotations
