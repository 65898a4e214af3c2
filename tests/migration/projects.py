"""Projects of other tools, written as these tools write them (from their sources; none of their files is here)."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

METADATA = "<metadata>\n\t<version>3.9.0</version>\n\t<vocabulary>2.0</vocabulary>\n</metadata>\n"
PROJECT = "<project>\n\t<name>p</name>\n\t<separator>;</separator>\n\t<linebreak>UNIX</linebreak>\n</project>\n"
CRITERIA = [
    "5-anonymity",
    "distinct-2-diversity for attribute 'illness'",
    "0.3-closeness with equal distance for attribute 'illness'",
    "(0.001)-population-uniqueness (ZAYATZ)",
]
HIERARCHIES = {
    "age": "20;20-29;*\n25;20-29;*\n31;30-39;*\n38;30-39;*\n",
    "zip": '"100;1";"100**";"*"\n10002;10***;*\n',
}


def column(name: str, kind: str, datatype: str = "String", more: str = "") -> str:
    return (
        f"\t<assigment>\n\t\t<name>{escape(name)}</name>\n\t\t<type>{kind}</type>\n"
        f"\t\t<datatype>{datatype}</datatype>\n{more}\t</assigment>\n"
    )


def definition() -> str:
    levels = "\t\t<ref>hierarchies/age.csv</ref>\n\t\t<min>1</min>\n\t\t<max>All</max>\n"
    ref = "\t\t<ref>hierarchies/zip.csv</ref>\n\t\t<min>All</min>\n\t\t<max>All</max>\n"
    date = "\t\t<format>dd.MM.yyyy</format>\n\t\t<locale>DE</locale>\n"
    mean = "\t\t<microAggregationFunction>Arithmetic mean</microAggregationFunction>\n"
    return (
        "<definition>\n"
        + column("ssn", "IDENTIFYING_ATTRIBUTE")
        + column("age", "QUASI_IDENTIFYING_ATTRIBUTE", "Integer", levels)
        + column("zip", "QUASI_IDENTIFYING_ATTRIBUTE", "String", ref)
        + column("seen", "QUASI_IDENTIFYING_ATTRIBUTE", "Date/Time", date)
        + column("income", "QUASI_IDENTIFYING_ATTRIBUTE", "Decimal", mean)
        + column("illness", "SENSITIVE_ATTRIBUTE")
        + column("a < b & c", "INSENSITIVE_ATTRIBUTE")
        + "</definition>\n"
    )


def config(criteria: list[str], metric: str = "Loss (geometric mean)", limit: str = "0.02") -> str:
    listed = "".join(f"\t\t<criterion>{escape(text)}</criterion>\n" for text in criteria)
    weights = "".join(
        f"\t\t<attributeWeight>\n\t\t\t<attribute>{name}</attribute>\n\t\t\t<weight>{weight}</weight>\n"
        "\t\t</attributeWeight>\n"
        for name, weight in (("age", 0.75), ("zip", 0.5))
    )
    return (
        "<config>\n\t<suppressTuplesInNonAnonymousOutput>true</suppressTuplesInNonAnonymousOutput>\n"
        "\t<suppressedAttributeTypes>\n\t\t<type>QUASI_IDENTIFYING_ATTRIBUTE</type>\n\t</suppressedAttributeTypes>\n"
        f"\t<practicalMonotonicity>false</practicalMonotonicity>\n\t<relativeMaxOutliers>{limit}</relativeMaxOutliers>\n"
        f"\t<metric>{metric}</metric>\n\t<attributeWeights>\n{weights}\t</attributeWeights>\n"
        f"\t<criteria>\n{listed}\t</criteria>\n</config>\n"
    )


def arx_parts(**changed: str | bytes | None) -> dict[str, str | bytes]:
    """The parts of a project by name; a keyword replaces one (`config_xml` is input/config.xml), None leaves it out."""
    parts: dict[str, str | bytes] = {
        "metadata.xml": METADATA,
        "project.dat": b"\xac\xed\x00\x05 a serialised object, never read",
        "project.xml": PROJECT,
        "data/input.csv": "ssn;age\n123;Zqxsecret\n",
        "input/config.dat": b"\xac\xed\x00\x05",
        "input/config.xml": config(CRITERIA),
        "input/definition.xml": definition(),
    }
    parts |= {f"input/hierarchies/{name}.csv": text for name, text in HIERARCHIES.items()}
    for key, content in changed.items():
        name = f"input/{key.replace('_xml', '.xml')}"
        parts.pop(name, None)
        if content is not None:
            parts[name] = content
    return parts


def write_zip(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


AMNESIA = """\
distinct
name education
type string
height 3

school has primary secondary
university has bachelor master

all has school university
"""
RANGES = """\
range
name age
type int
height 3

0.0,20.0 has 0.0,10.0 10.0,20.0
20.0,40.0 has 20.0,30.0 30.0,40.0

0.0,40.0 has 0.0,20.0 20.0,40.0
"""
SDC = {
    "tool": "sdcMicro",
    "version": "5.8.0",
    "columns": ["urbrur", "roof", "sex", "age", "expend", "w", "hh", "region", "ill", "name"],
    "keyVars": ["urbrur", "roof", "sex"],
    "numVars": ["expend"],
    "pramVars": [],
    "ghostVars": [],
    "deletedVars": ["name"],
    "sensibleVar": ["ill"],
    "weightVar": "w",
    "hhId": "hh",
    "strataVar": ["region"],
    "alpha": 0.5,
    "localSuppressionK": 3,
    "changed": ["local suppression"],
}
