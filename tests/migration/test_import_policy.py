"""Policies from ARX, sdcMicro and Amnesia."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from projects import AMNESIA, RANGES, SDC, arx_parts, config, write_zip

import shoal
from shoal.policy.migration import arx
from shoal.policy.migration.arx import Archive, parse_xml

SCRIPT = Path(shoal.__file__).parent / "migration" / "sdcmicro_to_json.R"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_arx_project_becomes_a_policy_that_runs(here: Path) -> None:
    write_zip(here / "project.deid", arx_parts())
    found = shoal.import_policy("project.deid", output="policy.yaml")
    policy = shoal.load_policy("policy.yaml")
    assert policy.columns == {
        "ssn": "identifier",
        "age": "quasi-identifier",
        "zip": "quasi-identifier",
        "seen": "quasi-identifier",
        "income": "quasi-identifier",
        "illness": "sensitive",
        "a < b & c": "other",
    }
    assert [model.model_dump(exclude_defaults=True) | {"model": model.model} for model in policy.models] == [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "l": 2, "sensitive": "illness"},
        {"model": "t-closeness", "t": 0.3, "distance": "equal", "sensitive": "illness"},
    ]
    assert (policy.suppression, policy.minimize, policy.importance) == (0.02, "loss", {"age": 0.75, "zip": 0.5})
    assert policy.levels == {"age": (1, 2)}
    assert policy.types["seen"].format == ("%d.%m.%Y",)
    assert found.tool_version == "3.9.0"
    assert Path("policy-hierarchies/zip.csv").exists()
    left = " ".join(f"{entry.what} {entry.why}" for entry in found.not_taken)
    assert "population-uniqueness" in left
    assert "microaggregation of 'income'" in left
    assert "serialised Java" in left
    assert "Zqxsecret" not in found.policy_text + left
    # the hierarchies are read by a verb, as the policy names them
    ages = pl.DataFrame({"age": [20, 25, 31, 38] * 5})
    plain = {"columns": {"age": "quasi-identifier"}, "hierarchies": policy.hierarchies}
    assert set(shoal.anonymize(ages, plain, k=10, method="lattice").frame["age"]) == {"20-29", "30-39"}


def test_adults_own_hierarchies_keep_their_warning(here: Path) -> None:
    levels = "19;15-19;*\n20;15-19;*\n21;20-24;*\n"
    write_zip(here / "p.deid", {**arx_parts(), "input/hierarchies/age.csv": levels})
    found = shoal.import_policy("p.deid")
    assert any("1 leaves lie outside" in entry.what for entry in found.not_taken)


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("2-anonymity", {"model": "k-anonymity", "k": 2}),
        ("entropy-2.5-diversity for attribute 'x'", {"model": "entropy-l-diversity", "l": 2.5, "sensitive": "x"}),
        ("shannon-entropy-3.0-diversity for attribute 'x'", {"model": "entropy-l-diversity", "l": 3, "sensitive": "x"}),
        (
            "recursive-(4.0,3)-diversity for attribute 'x'",
            {"model": "recursive-l-diversity", "c": 4.0, "l": 3, "sensitive": "x"},
        ),
        (
            "0.2-closeness with hierarchical distance for attribute 'it's'",
            {"model": "t-closeness", "t": 0.2, "distance": "hierarchical", "sensitive": "it's"},
        ),
        ("1.5-basic likeness for attribute 'x'", {"model": "beta-likeness", "beta": 1.5, "sensitive": "x"}),
        ("enhanced-1.5-likeness for attribute 'x'", {"model": "enhanced-beta-likeness", "beta": 1.5, "sensitive": "x"}),
        ("(0.05)-avg-reidentification-risk", {"model": "average-risk", "threshold": 0.05}),
    ],
)
def test_models_of_arx(text: str, model: dict[str, Any]) -> None:
    assert arx.model_of(text) == model
    columns = {"x": "sensitive", "it's": "sensitive"}
    assert shoal.Policy(columns=columns, models=[model]).models[0].model == model["model"]


def test_delta_is_turned_to_natural_logarithms() -> None:
    found = arx.model_of("1.0-disclosure privacy for attribute 'x'")
    assert isinstance(found, dict)
    assert found["delta"] == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    "text",
    [
        "(5)-map",
        "(0.1,0.9)-presence",
        "(0.2, 0.25 (0.3), 0.05)-avg-reidentification-risk",
        "(0.01)-sample-uniqueness",
        "(2.0,1.0E-5)-differential privacy",
        "prosecutor profitability",
        "grassberger-entropy-3.0-diversity for attribute 'x'",
        "something new",
        "",
    ],
)
def test_what_is_not_a_model_here_says_why(text: str) -> None:
    assert isinstance(arx.model_of(text), str)


def test_hostile_archives_are_refused(here: Path) -> None:
    bomb = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><config>&b;</config>'
    deep = "<a>" * 5000 + "</a>" * 5000
    outside = '<!DOCTYPE a SYSTEM "file:///etc/passwd"><config/>'
    for content in (bomb, deep, outside, "<config>", "", "no xml", b"\xff\xfe\x00"):
        write_zip(here / "p.deid", arx_parts(config_xml=content))
        with pytest.raises(shoal.InputError) as error:
            shoal.import_policy("p.deid", output="policy.yaml")
        assert "plain XML" in error.value.what
        assert not Path("policy.yaml").exists()
    Path("p.deid").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(shoal.InputError, match="ZIP"):
        shoal.import_policy("p.deid")
    write_zip(here / "p.deid", arx_parts(definition_xml=None))
    with pytest.raises(shoal.InputError, match="not an ARX project"):
        shoal.import_policy("p.deid")


def test_a_part_that_unpacks_to_too_much_is_refused(here: Path) -> None:
    write_zip(here / "p.deid", arx_parts(config_xml=b" " * (65 << 20)))
    assert Path("p.deid").stat().st_size < 200_000
    with pytest.raises(shoal.InputError, match="more than"):
        shoal.import_policy("p.deid")


def test_names_in_an_archive_write_nothing_elsewhere(here: Path) -> None:
    parts = arx_parts()
    parts["input/definition.xml"] = str(parts["input/definition.xml"]).replace(">age<", ">../../age<")
    parts["../../evil.csv"] = "x"
    write_zip(here / "p.deid", parts)
    (here / "sub").mkdir()
    found = shoal.import_policy("p.deid", output="sub/policy.yaml")
    assert found.hierarchy_files is not None
    assert all(Path(file).parent == Path("sub/policy-hierarchies") for file in found.hierarchy_files.values())
    assert "../../evil.csv" in Archive(here / "p.deid").names
    assert not (here.parent / "evil.csv").exists()


@given(st.binary(max_size=200))
@settings(max_examples=50)
def test_no_bytes_break_the_xml_reader(content: bytes) -> None:
    with contextlib.suppress(shoal.InputError):
        parse_xml(content, "x")


def test_a_broken_hierarchy_is_listed_and_the_rest_is_taken(here: Path) -> None:
    write_zip(here / "p.deid", {**arx_parts(), "input/hierarchies/zip.csv": "1;a;*\n2;a\n"})
    found = shoal.import_policy("p.deid")
    assert "zip" not in found.hierarchies
    assert any("hierarchy of 'zip'" in entry.what for entry in found.not_taken)
    write_zip(here / "p.deid", arx_parts(config_xml=config([], metric="Publisher payout", limit="many")))
    found = shoal.import_policy("p.deid")
    assert found.models == []
    assert found.policy.suppression == 0
    assert any("Publisher payout" in entry.what for entry in found.not_taken)


def test_amnesia(here: Path) -> None:
    Path("education.txt").write_text(AMNESIA)
    found = shoal.import_policy("education.txt", output="policy.yaml")
    assert found.hierarchies == {"education": 3}
    assert Path("policy-hierarchies/education.csv").read_text().splitlines()[0] == "primary;school;*"
    Path("age.txt").write_text(RANGES)
    tree = shoal.import_policy("age.txt", column="years").trees["years"]
    assert tree.levels[0].to_list() == [str(age) for age in range(41)]
    assert [level[10] for level in tree.levels] == ["10", "[10;19]", "[0;19]", "*"]
    assert [level[40] for level in tree.levels] == ["40", "[30;40]", "[20;40]", "*"]
    Path("age.txt").write_text(RANGES.replace("type int", "type decimal"))
    found = shoal.import_policy("age.txt")
    assert not found.hierarchies
    assert any("ranges of 'age'" in entry.what for entry in found.not_taken)


@pytest.mark.parametrize(
    "text",
    [
        AMNESIA.replace("all has", "all had"),
        AMNESIA + "\nother has primary\n",
        AMNESIA.replace("all has school university\n", "school has all\nall has school\n"),
        AMNESIA.split("\n\n")[0],
        RANGES.replace("0.0,10.0", "zero"),
    ],
)
def test_broken_hierarchies_of_amnesia(here: Path, text: str) -> None:
    Path("h.txt").write_text(text)
    with pytest.raises(shoal.InputError):
        shoal.import_policy("h.txt")


def test_sdcmicro(here: Path) -> None:
    Path("problem.json").write_text(json.dumps(SDC))
    found = shoal.import_policy("problem.json", output="policy.yaml")
    policy = shoal.load_policy("policy.yaml")
    assert policy.quasi_identifiers == ["urbrur", "roof", "sex"]
    assert (policy.weight, policy.household) == ("w", "hh")
    assert (policy.null_rule, policy.wildcard_alpha) == ("wildcard", 0.5)
    assert found.models == [{"model": "k-anonymity", "k": 3}]
    assert found.columns == dict(policy.columns)
    assert "weight w, household hh" in found.summary()
    named = " ".join([*found.columns, *(entry.what for entry in found.not_taken)])
    assert [name for name in SDC["columns"] if name not in named] == []
    assert {entry.what for entry in found.not_taken} >= {
        "'expend' as continuous key variable",
        "'region' as stratum",
        "what was done already: local suppression",
    }
    Path("problem.json").write_text(json.dumps({**SDC, "surprise": 1}))
    with pytest.raises(shoal.InputError, match="surprise"):
        shoal.import_policy("problem.json")


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_r_script_writes_what_is_read(here: Path) -> None:
    """With a class that has the slots that sdcMicro documents; sdcMicro itself is not installed."""
    Path("try.R").write_text(
        'setClass("sdcMicroObj", representation(origData = "ANY", keyVars = "ANY", numVars = "ANY", pramVars = "ANY", '
        'weightVar = "ANY", hhId = "ANY", strataVar = "ANY", sensibleVar = "ANY", deletedVars = "ANY", '
        'ghostVars = "ANY", '
        'options = "list", localSuppression = "ANY"))\n'
        'dat <- data.frame(sex = 1:2, age = 3:4, "odd \\"name\\\\" = 5:6, w = 7:8, ill = 9:10, check.names = FALSE)\n'
        'obj <- new("sdcMicroObj", origData = dat, keyVars = 1:3, numVars = NULL, pramVars = NULL, weightVar = 4L, '
        "hhId = NULL, strataVar = NULL, sensibleVar = 5L, deletedVars = NULL, "
        "ghostVars = list(list(1L, 5L)), options = list(alpha = 0.5), "
        "localSuppression = list(k = 4))\n"
        f'source("{SCRIPT}")\nsdcmicro_to_json(obj, "problem.json")\n'
    )
    done = subprocess.run(["Rscript", "--vanilla", "try.R"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = shoal.import_policy("problem.json")
    assert found.policy.quasi_identifiers == ["sex", "age", 'odd "name\\']
    assert found.policy.weight == "w"
    assert found.policy.sensitive == ["ill"]
    assert any("'ill' as ghost variable" in entry.what for entry in found.not_taken)
    assert found.models == [{"model": "k-anonymity", "k": 4}]


def test_unknown_files_and_targets(here: Path) -> None:
    for content in ("{}", "[1]", "hello", '{"tool": "other"}'):
        Path("x.json").write_text(content)
        with pytest.raises(shoal.InputError) as error:
            shoal.import_policy("x.json")
        assert "ARX" in str(error.value.cure)
    with pytest.raises(shoal.InputError, match="no file"):
        shoal.import_policy("absent.deid")
    Path("education.txt").write_text(AMNESIA)
    Path("policy.yaml").write_text("mine")
    with pytest.raises(shoal.InputError, match="exists"):
        shoal.import_policy("education.txt", output="policy.yaml")
    assert Path("policy.yaml").read_text() == "mine"
    assert shoal.import_policy("education.txt", output="policy.yaml", force=True).output == "policy.yaml"
