"""TensorFlow's names."""

import extenso as ex
import pytest
from extenso import _core, tf


def test_every_name_leads_to_a_function() -> None:
    """Checks the names of the declarations and those of the module."""
    for name in [*dict(_core.op_tf_names()), *tf._OTHERS]:
        function = tf
        for part in name.split("."):
            function = getattr(function, part)
        assert callable(function), name


def test_a_name_is_the_function_of_the_declaration() -> None:
    """Checks some names, with a namespace and without."""
    assert ex.tf.reduce_max is ex.max
    assert ex.tf.strings.reduce_join is ex.reduce_join
    assert ex.tf.nn.softmax is ex.softmax
    assert {"lower", "split", "reduce_join"} <= set(dir(ex.tf.strings))
    assert {"strings", "nn", "reduce_sum"} <= set(dir(ex.tf))


def test_an_unknown_name_says_where_to_look() -> None:
    """Checks names of the module and of a namespace in it."""
    with pytest.raises(AttributeError, match="'sum'.*'extenso'"):
        ex.tf.sum
    with pytest.raises(AttributeError, match="strings.nothing"):
        ex.tf.strings.nothing
