"""What a pipeline reads of a check: JUnit and SARIF files, written also where the check fails."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from shoal import __version__
from shoal.errors import InputError
from shoal.results.sections import Case, Judged
from shoal.storage.writing import check_apart, write_text, write_whole

# Cases as JUnit XML, the form in which Jenkins, GitLab, Azure and GitHub actions read the results of tests.


# what XML 1.0 cannot hold at all
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(cases: Sequence[Case], suite: str, seconds: float) -> bytes:
    """A suite with one test per case; a case that does not hold is a failure.

    >>> print(junit_xml([Case("model", "k-anonymity", "k=5", True, "holds")], "shoal verify", 0.5).decode())
    <?xml version='1.0' encoding='utf-8'?>
    <testsuites tests="1" failures="0" errors="0" time="0.500">
      <testsuite name="shoal verify" tests="1" failures="0" errors="0" skipped="0" time="0.500">
        <testcase classname="shoal verify.model" name="k-anonymity k=5" time="0.000" />
      </testsuite>
    </testsuites>
    """
    failed = sum(not case.holds for case in cases)
    counts = {"tests": str(len(cases)), "failures": str(failed), "errors": "0"}
    root = Element("testsuites", {**counts, "time": f"{seconds:.3f}"})
    listed = SubElement(root, "testsuite", {"name": suite, **counts, "skipped": "0", "time": f"{seconds:.3f}"})
    for case in cases:
        of = {"classname": f"{suite}.{case.kind}", "name": _text(case.title), "time": "0.000"}
        one = SubElement(listed, "testcase", of)
        if not case.holds:
            failure = SubElement(one, "failure", {"message": _text(case.detail), "type": case.kind})
            failure.text = _text(f"{case.title}: {case.detail}")
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


# Cases as SARIF 2.1.0, the form in which code scanning reads what a tool objects to (OASIS, 2020).


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


@dataclass(frozen=True)
class CiReports:
    """Where a check leaves its JUnit and SARIF files; refused before any work if they cannot be written there.

    A file that is there is replaced, as test runners do; the data that is checked never is.
    """

    command: str
    source: Any
    junit: Path | None = None
    sarif: Path | None = None
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        check_apart(input=self.source, junit=self.junit, sarif=self.sarif)
        for path in (self.junit, self.sarif):
            if path is not None and (not path.parent.is_dir() or path.is_dir()):
                raise InputError(f"{path} cannot be written: it is a folder, or is in none.", "Name another file.")

    def write(self, result: Judged) -> None:
        """Write what was asked for."""
        cases = result.cases()
        if self.junit is not None:
            content = junit_xml(cases, f"shoal {self.command}", time.monotonic() - self.started)
            write_whole(self.junit, lambda draft: draft.write_bytes(content))
        if self.sarif is not None:
            several = self.source if isinstance(self.source, (list, tuple)) else [self.source]
            log = sarif_log(cases, str(several[0]), result.summary())
            text = json.dumps(log, indent=2, ensure_ascii=False) + "\n"
            write_text(self.sarif, text)
