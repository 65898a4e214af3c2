"""What failed, as a page says it: the file by its name, each cause once, settings as the page calls them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shoal.app.project import Workspace

# verbs that read the same file: what is wrong with it is said once, in the words of the last
_READ = ("preview", "propose", "detect")
# settings as the library names them, and as the pages do
_NAMES = {"`suppression`": "more “Records that may be left out”", "`method`": "“How”", "`encoding`": "“Encoding”"}


def in_page_words(failures: Iterable[dict[str, Any]], workspace: Workspace) -> list[dict[str, Any]]:
    """Failures as a page shows them."""
    found = list(failures)
    readers = [one for one in found if one["verb"] in _READ]
    return [_said(one, workspace) for one in found if one["verb"] not in _READ or one is readers[-1]]


def _said(failure: dict[str, Any], workspace: Workspace) -> dict[str, Any]:
    said = dict(failure)
    for part in ("what", "cure"):
        text = said[part] or ""
        for written, shown in {str(workspace.source): workspace.name, **_NAMES}.items():
            text = text.replace(written, shown)
        said[part] = text
    return said
