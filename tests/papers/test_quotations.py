"""What stands in quotation marks is the paper's own: one of the sentences that the `*_printed` modules hold."""

from __future__ import annotations

import re
from types import ModuleType

import pytest

from shoal.reproduction import Reproduction, antoniou_printed, pastore_printed, reproduce, sanchez_printed


def sentences(module: ModuleType) -> set[str]:
    """All texts of a module, and what of them stands between three dots."""
    texts = {value for value in vars(module).values() if isinstance(value, str)}
    return {part.strip() for text in texts for part in [text, *text.split("...")]}


def quotations(found: Reproduction) -> list[str]:
    texts = [found.text]
    for exhibit in found.exhibits:
        texts += [exhibit.text, exhibit.heading]
        for line in exhibit.lines:
            texts += [line.what, line.ours, line.printed or "", line.reason]
    return [part.strip() for text in texts for quote in re.findall(r"“([^”]*)”", text) for part in quote.split("...")]


@pytest.mark.parametrize("paper", ["sanchez", "pastore"])
def test_quotations_are_verbatim(paper: str) -> None:
    module = {"sanchez": sanchez_printed, "pastore": pastore_printed}[paper]
    found = quotations(reproduce(paper, rows=200))
    assert len(found) > 8
    assert set(found) <= sentences(module)


def test_quotations_of_antoniou(antoniou: Reproduction) -> None:
    found = quotations(antoniou)
    assert len(found) > 8
    assert set(found) <= sentences(antoniou_printed)
