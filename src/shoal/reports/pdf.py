"""A report as PDF, set by typst: the texts go in as data, never as markup."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

from shoal.errors import InputError
from shoal.reports.blocks import exhibits_of
from shoal.reports.report_charts import NARROW, WIDE, drawing

_NO_GLYPH = "Some letters have no glyph in the fonts of this PDF: they are shown as □. The HTML report shows them."
# what is beyond Latin, Greek and Cyrillic letters and the signs of mathematics and punctuation
_STRANGE = re.compile("[^\u0000-\u052f\u1e00-\u24ff\u2500-\u27ff]")


def pdf_of(document: dict[str, Any]) -> bytes:
    """The document as accessible PDF (PDF/UA-1); where a letter has no glyph, as plain PDF that says so."""
    try:
        import typst
    except ImportError:
        raise InputError("A PDF needs typst.", "Install it with: pip install 'shoal[report]'.") from None
    for chapter in document["chapters"]:
        for block in exhibits_of(chapter["blocks"]):
            block["svg"] = drawing(block["name"], block["data"], NARROW if block["small"] else WIDE)
    template = (files("shoal.reports") / "templates" / "report.typ").read_bytes()

    def compiled(accessible: bool) -> bytes:
        """Accessible PDF fails where an alternative text or a glyph is missing."""
        inputs = {"document": json.dumps(document, ensure_ascii=False)}
        made: bytes = typst.compile(
            template,
            format="pdf",
            sys_inputs=inputs,
            pdf_standards=["ua-1"] if accessible else [],
            ignore_system_fonts=True,
        )
        return made

    try:
        return compiled(accessible=True)
    except Exception as error:
        if "glyph" not in str(error) and "font" not in str(error):
            raise InputError("The PDF could not be set.", "Use the HTML report.") from None
        document = _without_strange(document)
        document["chapters"][0]["blocks"].insert(0, {"kind": "notes", "notes": [_NO_GLYPH]})
        return compiled(accessible=False)


def _without_strange(found: Any) -> Any:
    """The same document with a box for each letter that the typefaces of the PDF may lack.

    >>> _without_strange({"label": "北京路, età, Łódź, Ωμέγα, Київ"})
    {'label': '□□□, età, Łódź, Ωμέγα, Київ'}
    """
    if isinstance(found, str):
        return _STRANGE.sub("□", found)
    if isinstance(found, dict):
        return {key: _without_strange(value) for key, value in found.items()}
    return [_without_strange(value) for value in found] if isinstance(found, list) else found
