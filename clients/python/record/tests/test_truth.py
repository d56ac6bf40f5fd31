"""Fifty random programs against the oracle; `truth.py` runs a thousand."""

import pytest
import truth
from conftest import COMPILED, PURE, PYTHONS


@pytest.mark.parametrize("version", COMPILED)
def test_nothing_is_recorded_that_did_not_happen(library, version):
    found = truth.check(PYTHONS[version], 50, 5000, library)
    assert not found.counts["contradictions"], "\n".join(found.wrong)
    assert found.counts["calls"] > 1000 and found.counts["writes"] > 5000 and found.counts["paths"] > 500


@pytest.mark.parametrize("version", [it for it in PURE if it != "3.9"])
def test_nor_by_the_recorder_without_a_library(version):
    # The oracle asks for qualified names, which 3.9 has not.
    found = truth.check(PYTHONS[version], 50, 5000, None)
    assert not found.counts["contradictions"], "\n".join(found.wrong)
    assert found.counts["calls"] > 1000 and found.counts["writes"] > 5000 and found.counts["paths"] > 500
