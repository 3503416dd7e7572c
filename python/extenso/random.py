"""Random numbers by their short names: `ex.random.normal(key, shape)` is `ex.random_normal(key, shape)`.

There is no state. A key is an integer or two u32 in a tensor, an argument like any other: it is traced and saved. The same key
gives the same bits on every machine, and the element at a place depends on the key and the place alone. Numbers that are to
have nothing to do with each other come from keys of their own, which `split` and `fold_in` make.

>>> import extenso as ex
>>> first, second = ex.unstack(ex.random.split(42))
>>> ex.random.normal(first, (2, 3)).shape
(2, 3)
>>> ex.to_py(ex.random.integers(0, low=1, high=7, shape=4))
[4, 5, 6, 1]
"""

from extenso._core import random_bernoulli as bernoulli
from extenso._core import random_bits as bits
from extenso._core import random_categorical as categorical
from extenso._core import random_choice as choice
from extenso._core import random_exponential as exponential
from extenso._core import random_fold_in as fold_in
from extenso._core import random_gumbel as gumbel
from extenso._core import random_integers as integers
from extenso._core import random_key as key
from extenso._core import random_normal as normal
from extenso._core import random_permutation as permutation
from extenso._core import random_shuffle as shuffle
from extenso._core import random_split as split
from extenso._core import random_truncated_normal as truncated_normal
from extenso._core import random_uniform as uniform
from extenso._core import random_unit as unit
from extenso._core import random_unit_like as unit_like

__all__ = [
    "bernoulli",
    "bits",
    "categorical",
    "choice",
    "exponential",
    "fold_in",
    "gumbel",
    "integers",
    "key",
    "normal",
    "permutation",
    "shuffle",
    "split",
    "truncated_normal",
    "uniform",
    "unit",
    "unit_like",
]
