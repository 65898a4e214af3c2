"""A proposed policy is complete: `anonymize` runs on it as it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.models import KAnonymity, LDiversity


def run_on(source: Path, folder: Path) -> shoal.Policy:
    """Profile, write the policy, anonymise by it, release, verify; the policy."""
    policy = folder / "policy.yaml"
    shoal.profile(source, write_policy=policy)
    made = shoal.anonymize(source, policy)
    assert made.verdict == "holds", made.summary()
    shoal.release(made, folder / "safe.csv")
    assert shoal.verify(folder / "safe.csv", original=source).verdict == "holds"
    return shoal.load_policy(policy)


@pytest.mark.parametrize("name", ["discharges", "licences"])
def test_generated_tables(name: str, tmp_path: Path) -> None:
    shoal.sample_data(name, rows=300).write_csv(tmp_path / f"{name}.csv")
    policy = run_on(tmp_path / f"{name}.csv", tmp_path)
    assert KAnonymity(k=5) in policy.models


@pytest.mark.parametrize("name", ["adult/adult.csv", "sdcmicro/testdata.csv"])
def test_real_tables(name: str, data: Path, tmp_path: Path) -> None:
    frame = pl.read_csv(data / name, n_rows=500, infer_schema=False, separator=";" if "adult" in name else ",")
    frame.write_csv(tmp_path / "real.csv")
    policy = run_on(tmp_path / "real.csv", tmp_path)
    assert any(isinstance(model, LDiversity) for model in policy.models)


def test_what_it_asks_for(tmp_path: Path) -> None:
    ids = [f"P{number // 3:05}" for number in range(120)]
    table = pl.DataFrame(
        {
            "patient_id": ids,
            "age": [20 + number % 50 for number in range(120)],
            "diagnosis": ["flu", "gout", "asthma"] * 40,
            "hiv status": ["negative"] * 118 + ["positive"] * 2,
        }
    )
    text = shoal.profile(table).policy_text()
    assert "  - {model: l-diversity, l: 2, sensitive: diagnosis}\n" in text
    assert '  # - {model: l-diversity, l: 2, sensitive: "hiv status"}\n' in text
    assert "\n  patient_id: {role: other, treat: {method: pseudonym}}\n" in text
    assert "\nperson: patient_id\n" in text
    # what stands there as a comment is valid once the # is taken out
    path = tmp_path / "policy.yaml"
    lines = [line.removeprefix("# ") for line in text.splitlines() if line.startswith(("# context", "#   "))]
    lines = [line.removeprefix("#") for line in lines]
    path.write_text("\n".join(["context:", *(line for line in lines if not line.startswith("context"))]))
    assert shoal.load_policy(path).context.recipient == "who receives the data"


def test_small_tables_and_tables_without_quasi_identifiers() -> None:
    few = pl.DataFrame({"age": [30, 31, 40, 41], "sex": ["f", "m", "f", "m"]})
    assert "{model: k-anonymity, k: 2}" in shoal.profile(few).policy_text()
    assert "No column looks like a quasi-identifier" in shoal.profile({"zz": ["a", "b"]}).policy_text()


@pytest.mark.parametrize(
    ("header", "values", "role", "kind"),
    [
        ("electcon", [1, 2, 3, 4, 5], "other", None),
        ("bornagain", [0, 1], "sensitive", "religion"),
        ("policePrecinct", [1, 2, 3, 4, 5], "quasi-identifier", "geography"),
        ("prerace", ["White", "Black", "Asian"], "quasi-identifier", "ethnicity"),
        ("preRace", ["White", "Black", "Asian"], "quasi-identifier", "ethnicity"),
        ("weight", [2100 + 35 * step for step in range(80)], "other", None),
        ("weight", [900 + 200 * step * step for step in range(80)], "other", "survey-weight"),
    ],
)
def test_headers_that_were_misread(header: str, values: list[Any], role: str, kind: str | None) -> None:
    """Beside short headers, as files of statistical offices have them: electricity, a faith, a place, bodies."""
    others = ["age", "sex", "educ", "marst", "relig", "hlth", "occup", "income2"]
    frame = {name: [1 + row * 7 % (place + 2) for row in range(480)] for place, name in enumerate(others)}
    found = shoal.profile({**frame, header: values * (480 // len(values))}).columns[-1]
    assert (found.role, found.kind) == (role, kind)
    assert found.weights == (kind == "survey-weight")


def test_a_reason_names_the_header_by_which_a_survey_knows_a_column() -> None:
    short = ["age", "sex", "educ", "marst", "relig", "hlth", "occup", "urbrur"]
    frame = {name: [1 + row * 7 % (place + 2) for row in range(480)] for place, name in enumerate(short)}
    frame["expend"] = [100_000_000 + row * 104_729 * 13 for row in range(480)]
    reasons = shoal.profile(frame).columns[-1].reasons
    assert "Its header alone says 'expend'." in reasons[0]
    assert not any("None" in reason for reason in reasons)
