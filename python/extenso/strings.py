"""Ops on strings by their short names: `ex.strings.length(x)` is `ex.string_length(x)`.

They take tensors of strings, ragged and masked ones too. Characters are Unicode code points.
"""

from extenso._core import (
    as_string,
    base64_decode,
    base64_encode,
    capitalize,
    casefold,
    center,
    contains,
    contains_each,
    drop_empty,
    ends_with,
    ends_with_each,
    fingerprint,
    format_float,
    hash_bucket,
    hex_decode,
    hex_encode,
    is_alnum,
    is_alpha,
    is_ascii,
    is_digit,
    is_lower,
    is_number,
    is_numeric,
    is_printable,
    is_space,
    is_title,
    is_upper,
    ljust,
    lookup,
    lookup_values,
    lower,
    lstrip,
    match_like,
    reduce_join,
    regex_contains,
    regex_count,
    regex_extract,
    regex_find,
    regex_find_all,
    regex_full_match,
    regex_groups,
    regex_replace,
    regex_split,
    removeprefix,
    removesuffix,
    rjust,
    rstrip,
    starts_with,
    starts_with_each,
    strip,
    substr,
    substr_each,
    swapcase,
    title,
    to_hash_bucket_fast,
    to_hash_bucket_strong,
    to_number,
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_script,
    unicode_split_with_offsets,
    unicode_transcode,
    upper,
    zfill,
)
from extenso._core import string_characters as characters
from extenso._core import string_count as count
from extenso._core import string_decode as decode
from extenso._core import string_encode as encode
from extenso._core import string_find as find
from extenso._core import string_format as format
from extenso._core import string_index as index
from extenso._core import string_join
from extenso._core import string_length as length
from extenso._core import string_ngrams as ngrams
from extenso._core import string_normalize as normalize
from extenso._core import string_partition as partition
from extenso._core import string_repeat as repeat
from extenso._core import string_repeat_each as repeat_each
from extenso._core import string_replace as replace
from extenso._core import string_replace_slice as replace_slice
from extenso._core import string_reverse as reverse
from extenso._core import string_rfind as rfind
from extenso._core import string_rpartition as rpartition
from extenso._core import string_rsplit as rsplit
from extenso._core import string_slice as slice
from extenso._core import string_split as split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "as_string",
    "base64_decode",
    "base64_encode",
    "capitalize",
    "casefold",
    "center",
    "characters",
    "contains",
    "contains_each",
    "count",
    "decode",
    "drop_empty",
    "encode",
    "ends_with",
    "ends_with_each",
    "find",
    "fingerprint",
    "format",
    "format_float",
    "hash_bucket",
    "hex_decode",
    "hex_encode",
    "index",
    "is_alnum",
    "is_alpha",
    "is_ascii",
    "is_digit",
    "is_lower",
    "is_number",
    "is_numeric",
    "is_printable",
    "is_space",
    "is_title",
    "is_upper",
    "join",
    "length",
    "ljust",
    "lookup",
    "lookup_values",
    "lower",
    "lpad",
    "lstrip",
    "match_like",
    "ngrams",
    "normalize",
    "partition",
    "reduce_join",
    "regex_contains",
    "regex_count",
    "regex_extract",
    "regex_find",
    "regex_find_all",
    "regex_full_match",
    "regex_groups",
    "regex_replace",
    "regex_split",
    "removeprefix",
    "removesuffix",
    "repeat",
    "repeat_each",
    "replace",
    "replace_slice",
    "reverse",
    "rfind",
    "rjust",
    "rpad",
    "rpartition",
    "rsplit",
    "rstrip",
    "slice",
    "split",
    "starts_with",
    "starts_with_each",
    "string_join",
    "strip",
    "substr",
    "substr_each",
    "swapcase",
    "title",
    "to_hash_bucket_fast",
    "to_hash_bucket_strong",
    "to_number",
    "to_string",
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_script",
    "unicode_split_with_offsets",
    "unicode_transcode",
    "upper",
    "zfill",
]

to_string = as_string
lpad = rjust
rpad = ljust


def join(x: object, separator: str = "") -> "Any":
    """The strings of each innermost row joined into one, with `separator` between them.

    >>> import extenso as ex
    >>> ex.to_py(ex.strings.join(ex.constant([["a", "b"], []]), "-"))
    ['a-b', '']
    """
    return reduce_join(x, axis=-1, separator=separator)
