"""Cases as JUnit XML, the form in which Jenkins, GitLab, Azure and GitHub actions read the results of tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from shoal.results.cases import Case

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
