"""Tests of the namespace of ops on strings."""

from __future__ import annotations

import doctest

import extenso as ex
import pytest
from extenso import strings


def test_every_name_is_there() -> None:
    assert sorted(strings.__all__) == strings.__all__
    assert all(callable(getattr(strings, name)) for name in strings.__all__)
    assert ex.strings is strings
    assert strings.length is ex.string_length


def test_the_docs_of_the_namespace_hold() -> None:
    results = doctest.testmod(strings)
    assert results.attempted >= 2 and results.failed == 0


def test_text_in_rows_comes_apart_and_together() -> None:
    x = ex.constant(["a b", "", " c "])
    words = strings.split(x)
    assert ex.to_py(words) == [["a", "b"], [], ["c"]]
    assert ex.to_py(strings.join(strings.upper(words), " ")) == ["A B", "", "C"]
    assert ex.to_py(strings.ngrams(words, 2)) == [["a b"], [], []]
    assert ex.to_py(strings.characters("ab")) == ["a", "b"]


def test_missing_strings_stay_missing() -> None:
    x = ex.constant(["1 2", None])
    assert ex.to_py(strings.split(x)) == [["1", "2"], None]
    assert ex.to_py(strings.to_number(ex.constant(["1", None]), "i64")) == [1, None]
    assert ex.to_py(strings.lookup(ex.constant(["b", None]), ["a", "b"])) == [1, None]


def test_text_to_features_in_a_traced_function() -> None:
    vocabulary = ex.tensor(["a", "b"])

    def features(x: object) -> object:
        return ex.sum(strings.lookup(strings.split(strings.lower(x)), vocabulary, oov_buckets=2), axis=-1)

    x = ["A b", "b", ""]
    traced = ex.function(features)
    assert ex.to_py(traced(ex.tensor(x))) == ex.to_py(features(ex.tensor(x))) == [1, 1, 0]


def test_an_error_names_position_and_text() -> None:
    with pytest.raises(ex.InvalidValueError, match=r'to_number: "x" .* \[1\]'):
        strings.to_number(["1", "x"], "i64")
