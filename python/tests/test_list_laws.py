"""Functions of lists obey the laws of `list_laws`, over random lists of every kind."""

import pytest
from list_laws import LAWS, Law, broken

import extenso as ex


@pytest.mark.parametrize("name", LAWS)
def test_a_function_of_lists_obeys_its_laws(name: str) -> None:
    faults = [broken(LAWS[name], seed) for seed in range(50)]
    assert [fault for fault in faults if fault is not None] == []


def test_the_laws_are_broken_by_what_looks_under_missing_elements_or_at_other_rows() -> None:
    looks_under = Law(lambda x: x.values if isinstance(x, ex.MaskedTensor) else x, ["i64"], axis=False, by_row=False)
    looks_around = Law(lambda x, axis: x - ex.max(x), ["i64"])
    assert any(broken(looks_under, seed) for seed in range(50))
    assert any(broken(looks_around, seed) for seed in range(50))
