"""A report as PDF, set by typst: the texts go in as data, never as markup."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from shoal.errors import InputError
from shoal.reports.blocks import exhibits_of
from shoal.reports.report_charts import NARROW, WIDE, drawing


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
        note = {"kind": "notes", "notes": ["Some letters have no glyph in the fonts of this PDF: see the HTML report."]}
        document["chapters"][0]["blocks"].append(note)
        return compiled(accessible=False)
