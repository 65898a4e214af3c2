"""Shared by the tests of the papers: Antoniou takes seconds, so it is reproduced once."""

from __future__ import annotations

import pytest

from shoal.reproduction import Reproduction, reproduce


@pytest.fixture(scope="session")
def antoniou() -> Reproduction:
    """The paper with the seed 0."""
    return reproduce("antoniou")
