"""Tests of strings and features that give several values, that need a function or a peer, or that cases cannot write."""

from __future__ import annotations

import random
import re
import unicodedata

import extenso as ex
import pytest
from extenso import strings

CHARACTERS = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def is_known(character: str) -> bool:
    """Whether the tables of this Python have the character; ours may be newer."""
    return unicodedata.category(character) != "Cn"


def test_the_short_names_are_those_of_the_ops() -> None:
    assert strings.find is ex.string_find and strings.lpad is ex.rjust
    assert all(callable(getattr(strings, name)) for name in strings.__all__)


@pytest.mark.parametrize("name", ["title", "capitalize", "swapcase", "casefold"])
def test_case_is_that_of_python(name: str) -> None:
    got = getattr(ex, name)(CHARACTERS).tolist()
    wrong = [(c, g) for c, g in zip(CHARACTERS, got) if g != getattr(c, name)() and all(map(is_known, c + g))]
    assert not wrong, wrong[:20]
    words = ["ΟΔΟΣ ΑΣ.", "don't STOP", "ßfin ﬁN", "ǆa Ǆb", "x\u0345Y"]
    assert getattr(ex, name)(words).tolist() == [getattr(w, name)() for w in words]


@pytest.mark.parametrize("width", [0, 1, 4, 5, 6])
def test_filling_up_is_that_of_python(width: int) -> None:
    words = ["", "a", "ab", "-ab", "größe"]
    assert ex.center(words, width, "*").tolist() == [w.center(width, "*") for w in words]
    assert ex.zfill(words, width).tolist() == [w.zfill(width) for w in words]


def test_slices_are_those_of_python() -> None:
    places = [None, -7, -2, 0, 1, 3, 9]
    for start in places:
        for stop in places:
            for step in (-3, -1, 1, 2):
                got = ex.string_slice(["größe", ""], start, stop, step).tolist()
                assert got == ["größe"[start:stop:step], ""], (start, stop, step)


def test_slices_and_partitions_of_random_texts_are_those_of_python() -> None:
    rng = random.Random(5)
    texts = ["".join(rng.choice("ab=ß\u0301€😀\n") for _ in range(rng.randrange(9))) for _ in range(400)]
    ends = [None, *range(-10, 11), 2**62, -(2**62)]
    for _ in range(150):
        start, stop, step = rng.choice(ends), rng.choice(ends), rng.choice([1, 1, 1, 2, -1])
        assert ex.string_slice(texts, start, stop, step).tolist() == [t[start:stop:step] for t in texts]
        raw = [t.encode() for t in texts]
        assert ex.string_slice(ex.tensor(raw), start, stop, step, unit="byte").tolist() == [t[start:stop:step] for t in raw]
    for sep in ["=", "ab", "ß", "\n", "€😀", "."]:
        for ours, theirs in ((strings.partition, str.partition), (strings.rpartition, str.rpartition)):
            parts = [part.tolist() for part in ours(texts, sep)]
            assert list(zip(*parts, strict=True)) == [theirs(t, sep) for t in texts], sep
    with pytest.raises(ex.Error, match="string_partition.*empty"):
        strings.partition(texts, "")


def test_parts_are_a_tuple_and_keep_rows() -> None:
    x = ex.constant([["a=b"], [], ["c", "=d="]])
    parts = strings.partition(x, "=")
    assert [ex.to_py(p) for p in parts] == [[["a"], [], ["c", ""]], [["="], [], ["", "="]], [["b"], [], ["", "d="]]]
    assert [ex.to_py(p) for p in strings.rpartition("a.b.c", ".")] == ["a.b", ".", "c"]
    assert [ex.to_py(p) for p in strings.partition(ex.constant(["a.b", None]), ".")] == [["a", None], [".", None], ["b", None]]
    points, starts = ex.tf.strings.unicode_decode_with_offsets(ex.constant(["öa", None]))
    assert (ex.to_py(points), ex.to_py(starts)) == ([[246, 97], None], [[0, 2], None])
    characters, starts = strings.unicode_split_with_offsets(ex.constant(["öa", None]))
    assert (ex.to_py(characters), ex.to_py(starts)) == ([["ö", "a"], None], [[0, 2], None])


def test_bytes_and_strings_become_each_other() -> None:
    x = ex.tensor(["größe", "\U0001f600", ""])
    for encoding in ("utf-8", "utf-16-be", "utf-16-le", "utf-32-be", "utf-32-le"):
        encoded = strings.encode(x, encoding)
        assert encoded.tolist() == [w.encode(encoding) for w in x.tolist()]
        assert strings.decode(encoded, encoding).tolist() == x.tolist()
    raw = ex.tensor([bytes(range(256)), b"", b"\xfb\xff"])
    assert ex.base64_decode(ex.base64_encode(raw)).tolist() == raw.tolist()
    assert ex.hex_decode(ex.hex_encode(raw)).tolist() == raw.tolist()


def test_embeddings_have_gradients_in_a_function() -> None:
    params = ex.tensor([[1.0, 2.0], [3.0, 4.0], [0.5, -0.5]])
    ids = ex.constant([[0, 1, 1], [], [2]])
    weights = ex.constant([[1.0, 2.0, 0.5], [], [3.0]])

    @ex.function
    def total(params: object, weights: object) -> object:
        return ex.sum(ex.embedding_lookup(params, ids, weights, combiner="mean", max_norm=4.0))

    by_params, by_weights = ex.grad(total, argnums=(0, 1))(params, weights)
    assert by_params.shape == params.shape and ex.to_py(by_weights)[1] == []
    step = 1e-6
    for i, j in ((0, 0), (1, 1), (2, 0)):
        moved = [[v + step * ((a, b) == (i, j)) for b, v in enumerate(row)] for a, row in enumerate(params.tolist())]
        difference = (total(ex.tensor(moved), weights).item() - total(params, weights).item()) / step
        assert abs(by_params.tolist()[i][j] - difference) < 1e-4


def test_features_in_a_traced_function() -> None:
    @ex.function
    def features(words: object, ids: object) -> object:
        crossed = ex.cross_hashed([words, ids], 100)
        return ex.multi_hot(ex.bucketize(crossed, [20, 40, 80]), 4, dtype="i64")

    words, ids = ex.constant([["a"], ["b", "c"], []]), ex.constant([[5, -7], [3], [1]])
    assert ex.to_py(features(words, ids))[2] == [0, 0, 0, 0]


def test_crosses_are_those_of_tensorflow() -> None:
    tf = pytest.importorskip("tensorflow", reason="compares crosses with TensorFlow's")
    texts, numbers = [["a", "größe"], ["", "x", "y"], []], [[1, -1], [2**62], [7, 8]]
    given = [tf.ragged.constant(texts), tf.ragged.constant(numbers, dtype=tf.int64)]
    for buckets in (0, 7, 1000):
        wanted = tf.ragged.cross_hashed(given, num_buckets=buckets).to_list()
        assert ex.to_py(ex.cross_hashed([ex.constant(texts), ex.constant(numbers)], buckets)) == wanted


def test_many_texts_are_searched_as_by_python() -> None:
    draw = random.Random(11)
    parts = ["k=v", "größe=7", " ", "=", "a", "12", "x1=", "\u3000", "", "ab=c;"]
    texts = ["".join(draw.choices(parts, k=draw.randrange(6))) for _ in range(20_000)]
    x, pattern = ex.constant(texts), r"(?P<key>[^\W\d]+)=(\w)?"
    matches = [re.search(pattern, text) for text in texts]
    groups = [{"key": m and m["key"], "2": m and m[2]} for m in matches]
    assert ex.to_py(ex.regex_groups(x, pattern)) == groups
    traced = ex.function(lambda x: ex.regex_groups(x, pattern))
    assert ex.to_py(traced(x)) == groups
    rows = ex.RaggedTensor.from_row_lengths(x, [15_000, 0, 5_000])
    assert ex.to_py(ex.regex_groups(rows, pattern)) == [groups[:15_000], [], groups[15_000:]]
    there = [draw.random() < 0.5 for _ in texts]
    masked = [m if t else None for m, t in zip(groups, there, strict=True)]
    assert ex.to_py(ex.regex_groups(ex.mask(x, there), pattern)) == masked
    assert ex.to_py(ex.regex_find_all(x, pattern, group=1)) == [[m[1] for m in re.finditer(pattern, text)] for text in texts]
    assert ex.to_py(ex.regex_count(x, r"\d")) == [len(re.findall(r"\d", text)) for text in texts]
    assert ex.to_py(ex.regex_find(x, r"\d")) == [m.start() if m else -1 for m in (re.search(r"\d", text) for text in texts)]
    assert ex.to_py(ex.regex_split(x, "=")) == [re.split("=", text) for text in texts]
    assert ex.to_py(ex.string_count(x, "a")) == [text.count("a") for text in texts]
    assert ex.to_py(ex.string_find(x, "=")) == [text.find("=") for text in texts]
    assert ex.to_py(ex.string_characters(x)) == [list(text) for text in texts]
    words = ex.CategoricalTensor.of(ex.tensor(["a", "b", "a"]))
    assert ex.to_py(ex.regex_groups(words, "(a)")) == [{"1": "a"}, {"1": None}, {"1": "a"}]
