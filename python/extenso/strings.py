"""Ops on strings by their short names: `ex.strings.length(x)` is `ex.string_length(x)`.

They take tensors of strings, ragged and masked ones too. Characters are Unicode code points.
"""

from extenso._core import (
    as_string,
    contains,
    ends_with,
    lookup,
    lookup_values,
    lower,
    lstrip,
    reduce_join,
    regex_full_match,
    regex_replace,
    rstrip,
    starts_with,
    strip,
    substr,
    to_hash_bucket_fast,
    to_hash_bucket_strong,
    to_number,
    upper,
)
from extenso._core import string_characters as characters
from extenso._core import string_join
from extenso._core import string_length as length
from extenso._core import string_ngrams as ngrams
from extenso._core import string_reverse as reverse
from extenso._core import string_split as split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "as_string",
    "characters",
    "contains",
    "ends_with",
    "join",
    "length",
    "lookup",
    "lookup_values",
    "lower",
    "lstrip",
    "ngrams",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "reverse",
    "rstrip",
    "split",
    "starts_with",
    "string_join",
    "strip",
    "substr",
    "to_hash_bucket_fast",
    "to_hash_bucket_strong",
    "to_number",
    "to_string",
    "upper",
]

to_string = as_string


def join(x: object, separator: str = "") -> "Any":
    """The strings of each innermost row joined into one, with `separator` between them.

    >>> import extenso as ex
    >>> ex.to_py(ex.strings.join(ex.constant([["a", "b"], []]), "-"))
    ['a-b', '']
    """
    return reduce_join(x, axis=-1, separator=separator)
