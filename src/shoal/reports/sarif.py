"""Cases as SARIF 2.1.0, the form in which code scanning reads what a tool objects to (OASIS, 2020)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from shoal import __version__
from shoal.results.cases import Case

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_log(cases: Sequence[Case], source: str, summary: str) -> dict[str, Any]:
    """A run with a rule per case and a result for each that does not hold.

    >>> log = sarif_log([Case("model", "k-anonymity", "k=5", False, "size 2")], "safe.csv", "Does not hold.")
    >>> log["runs"][0]["results"][0]["message"]["text"]
    'k-anonymity k=5: size 2'
    """
    rules = rule_names(cases)
    uri = artifact(source)
    results = [
        {
            "ruleId": rule,
            "ruleIndex": number,
            "level": "error",
            "kind": "fail",
            "message": {"text": f"{case.title}: {case.detail}"},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}}],
            "partialFingerprints": {"shoalCase/v1": hashlib.sha256(f"{rule} {uri}".encode()).hexdigest()},
        }
        for number, (rule, case) in enumerate(zip(rules, cases, strict=True))
        if not case.holds
    ]
    described = [
        {"id": rule, "name": case.name, "shortDescription": {"text": case.title}, "properties": {"kind": case.kind}}
        for rule, case in zip(rules, cases, strict=True)
    ]
    driver = {"name": "shoal", "version": __version__, "semanticVersion": __version__, "rules": described}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True}],
        "results": results,
        "columnKind": "unicodeCodePoints",
        "properties": {"summary": summary, "cases": len(cases)},
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def rule_names(cases: Sequence[Case]) -> list[str]:
    """A name of letters, digits and dashes for every case, no two alike.

    >>> rule_names([Case("check", "data hash", "", True, ""), Case("check", "Data: hash", "", True, "")])
    ['check/data-hash', 'check/data-hash-2']
    """
    seen: dict[str, int] = {}
    found = []
    for case in cases:
        plain = re.sub(r"[^a-z0-9]+", "-", case.name.lower()).strip("-") or "case"
        rule = f"{case.kind}/{plain}"
        seen[rule] = seen.get(rule, 0) + 1
        found.append(rule if seen[rule] == 1 else f"{rule}-{seen[rule]}")
    return found


def artifact(source: str) -> str:
    """The file as a relative address; of a path elsewhere its name only, of a database nothing but that it is one.

    >>> artifact("data/safe table.csv"), artifact("postgresql://me:secret@host/db?table=visits")
    ('data/safe%20table.csv', 'database')
    """
    if "://" in source:
        return "database"
    path = Path(source)
    if path.is_absolute():
        here = Path.cwd()
        path = path.relative_to(here) if path.is_relative_to(here) else Path(path.name)
    return quote(path.as_posix())
