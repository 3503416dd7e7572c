"""Typed, nested, ragged tensors: one function from records to features to predictions."""

from extenso._core import *
