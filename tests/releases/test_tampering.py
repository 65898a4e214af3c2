"""Sixty kinds of tampering, each with the hash in the manifest made anew: all are refused."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import ShoalError
from shoal.policy import Policy
from shoal.policy.manifest import manifest_path, plan_path, private_path

QI = ["age", "job"]
PEOPLE = pl.DataFrame(
    {
        "name": [f"N{row}" for row in range(24)],
        "age": [20 + (row * 7) % 23 for row in range(24)],
        "job": [["clerk", "monk", "poet", "cook"][row % 4] for row in range(24)],
        "ward": [["a", "b", "c"][row % 3] for row in range(24)],
        "pay": [1000.5 + 13 * row for row in range(24)],
        "illness": [["flu", "cold", "gout"][row % 3] for row in range(24)],
    }
)
POLICY = Policy.model_validate(
    {
        "columns": {"name": "identifier", "age": "quasi-identifier", "job": "quasi-identifier", "illness": "sensitive"},
        "models": [{"model": "k-anonymity", "k": 3}],
    }
)


def release(folder: Path, **how: Any) -> Path:
    """A release in a folder; each kind is made once and copied."""
    made = _made(tuple(sorted(how.items())))
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder / "safe.csv"


@cache
def _made(how: tuple[tuple[str, Any], ...]) -> Path:
    folder = Path(tempfile.mkdtemp())
    options: dict[str, Any] = {"method": "mondrian", **dict(how)}
    shoal.release(shoal.anonymize(PEOPLE, POLICY, **options), folder / "safe.csv", shuffle=True, seed=5)
    return folder


def rehash(path: Path, **changes: Any) -> None:
    manifest = json.loads(manifest_path(path).read_text())
    manifest |= changes
    manifest["data_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest_path(path).write_text(json.dumps(manifest))


def manifest_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(manifest_path(path).read_text())
    return found


def refused(path: Path, original: Any = PEOPLE, policy: Any = None) -> bool:
    try:
        return shoal.verify(path, policy, original=original).verdict == "refused"
    except ShoalError:
        return True


Frame = Callable[[pl.DataFrame], pl.DataFrame]


def cell(column: str, change: Callable[[str], str | None], row: int = 3) -> Frame:
    def edit(frame: pl.DataFrame) -> pl.DataFrame:
        texts = frame[column].to_list()
        texts[row] = change(texts[row])
        return frame.with_columns(pl.Series(column, texts, dtype=pl.String))

    return edit


def swapped(column: str, one: str, two: str) -> Frame:
    return lambda frame: frame.with_columns(
        pl.col(column).replace({one: two, two: one}) if frame[column].is_in([one, two]).any() else pl.lit("x")
    )


def where_range(column: str, change: Callable[[str], str]) -> Frame:
    """Change the first cell that is a range or a set."""

    def edit(frame: pl.DataFrame) -> pl.DataFrame:
        row = next(place for place, text in enumerate(frame[column].to_list()) if text.startswith("["))
        return cell(column, lambda text: change(str(text)), row)(frame)

    return edit


DATA: dict[str, Frame] = {
    "a range that misses its value": cell("age", lambda _: "[1;2]"),
    "a range narrowed to a point": where_range("age", lambda text: text[1:].split(";")[0]),
    "a range stretched to another": where_range("age", lambda text: text.replace(";", ";1")),
    "a range with a leading zero": where_range("age", lambda text: "[0" + text[1:]),
    "a range with a blank": where_range("age", lambda text: "[ " + text[1:]),
    "a range with a dash": where_range("age", lambda text: text.replace(";", "-")),
    "a range with a fraction": where_range("age", lambda text: text.replace(";", ".0;")),
    "a range with a plus": where_range("age", lambda text: text.replace("[", "[+")),
    "a range without brackets": where_range("age", lambda text: text[1:-1].replace(";", "-")),
    "a range in other brackets": where_range("age", lambda text: "{" + text[1:-1] + "}"),
    "a range the other way round": where_range("age", lambda text: "[" + ";".join(text[1:-1].split(";")[::-1]) + "]"),
    "a star in capitals": cell("age", lambda _: "**"),
    "an age emptied": cell("age", lambda _: None),
    "an age as text": cell("age", lambda _: "old"),
    "a prefix in place of a range": cell("age", lambda _: "2*"),
    "a set in another order": where_range("job", lambda text: "[" + ", ".join(text[1:-1].split(", ")[::-1]) + "]"),
    "a set without its blank": where_range("job", lambda text: text.replace(", ", ",")),
    "a set with a member twice": where_range("job", lambda text: text.replace("[", "[clerk, clerk, ")),
    "a set in curly brackets": where_range("job", lambda text: "{" + text[1:-1] + "}"),
    "a set with quotes": where_range("job", lambda text: '["' + text[1:].replace(", ", '", ', 1)),
    "a set of others": where_range("job", lambda _: "[nun, pilot]"),
    "a plain category that is false": cell("job", lambda _: "pilot"),
    "a category with a needless backslash": cell("job", lambda text: "\\" + str(text)),
    "two categories exchanged throughout": lambda frame: frame.with_columns(
        pl.col("job").str.replace_all("clerk", "#").str.replace_all("monk", "clerk").str.replace_all("#", "monk")
    ),
    "a sensitive value changed": cell("illness", lambda _: "ebola"),
    "a sensitive value emptied": cell("illness", lambda _: None),
    "two sensitive values exchanged": swapped("illness", "flu", "cold"),
    "another column changed": cell("ward", lambda _: "z"),
    "a number changed in its last digit": cell("pay", lambda text: str(text) + "1"),
    "a number column turned to text": cell("pay", lambda _: "n/s"),
    "a row removed": lambda frame: frame.head(23),
    "a row doubled": lambda frame: pl.concat([frame, frame.head(1)]),
    "a row replaced by another": lambda frame: pl.concat([frame.head(23), frame.head(1)]),
    "two rows exchanged": lambda frame: pl.concat([frame[1:2], frame[0:1], frame[2:]]),
    "all rows turned round": lambda frame: frame.reverse(),
    "a column removed": lambda frame: frame.drop("ward"),
    "a quasi-identifier removed": lambda frame: frame.drop("job"),
    "a column added": lambda frame: frame.with_columns(pl.lit("x").alias("extra")),
    "a column renamed": lambda frame: frame.rename({"ward": "station"}),
    "columns in another order": lambda frame: frame.select(frame.columns[::-1]),
    "a column that was removed put back": lambda frame: frame.with_columns(PEOPLE["name"]),
    "all ages the same star": lambda frame: frame.with_columns(pl.lit("**").alias("age")),
}


@pytest.mark.parametrize("private", [True, False], ids=["private record kept", "private record lost"])
@pytest.mark.parametrize("how", DATA)
def test_data(tmp_path: Path, how: str, private: bool) -> None:
    path = release(tmp_path)
    assert not refused(path)
    before = path.read_bytes()
    DATA[how](pl.read_csv(path, infer_schema=False)).write_csv(path)
    assert path.read_bytes() != before
    rehash(path)
    if not private:
        private_path(path).unlink()
    assert refused(path)


def entry(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(column for column in manifest["columns"] if column["name"] == name)
    return found


def _redirected(path: Path, manifest: dict[str, Any]) -> None:
    frame = pl.read_csv(path, infer_schema=False)
    frame.with_columns(pl.lit("1").alias("constant")).write_csv(path)
    entry(manifest, "age")["released_as"] = ["constant"]


def _renamed(path: Path, manifest: dict[str, Any]) -> None:
    pl.read_csv(path, infer_schema=False).rename({"age": "years"}).write_csv(path)
    entry(manifest, "age").update(name="years", released_as=["years"])


def _false_ranges(path: Path, manifest: dict[str, Any]) -> None:
    pl.read_csv(path, infer_schema=False).with_columns(pl.lit("[1;2]").alias("age")).write_csv(path)
    entry(manifest, "age")["nature"] = "representative"


def _false_means(path: Path, manifest: dict[str, Any]) -> None:
    pl.read_csv(path, infer_schema=False).with_columns(pl.lit("1.5").alias("age")).write_csv(path)
    entry(manifest, "age").update(nature="representative", types=["number"])
    entry(manifest, "age")["form"] = {"kind": "mean", "type": "integer"}


def _perturbed(path: Path, manifest: dict[str, Any]) -> None:
    pl.read_csv(path, infer_schema=False).with_columns(pl.lit("1").alias("age")).write_csv(path)
    entry(manifest, "age").update(nature="perturbed", types=["integer"])
    entry(manifest, "age")["form"] = {"kind": "perturbed", "type": "integer"}


def _extra(path: Path, manifest: dict[str, Any]) -> None:
    frame = pl.read_csv(path, infer_schema=False)
    frame.with_columns(pl.Series("ssn", [f"123-45-{row:04}" for row in range(24)])).write_csv(path)
    manifest["columns"].append({**entry(manifest, "ward"), "name": "ssn", "released_as": ["ssn"]})


def _unlisted(path: Path, manifest: dict[str, Any]) -> None:
    manifest["columns"] = [column for column in manifest["columns"] if column["name"] != "age"]


def _weaker(path: Path, manifest: dict[str, Any]) -> None:
    manifest["policy"]["models"][0]["k"] = 2
    manifest["policy_sha256"] = Policy.model_validate(manifest["policy"]).digest()


def _stripped(path: Path, manifest: dict[str, Any]) -> None:
    manifest["policy"]["models"] = []
    manifest["policy_sha256"] = Policy.model_validate(manifest["policy"]).digest()
    manifest["no_guarantee"] = True


def _role(path: Path, manifest: dict[str, Any]) -> None:
    entry(manifest, "age")["role"] = "other"


def without(*names: str) -> Callable[[Path, dict[str, Any]], None]:
    def edit(path: Path, manifest: dict[str, Any]) -> None:
        for name in names:
            del manifest[name]

    return edit


def with_(**entries: Any) -> Callable[[Path, dict[str, Any]], None]:
    return lambda path, manifest: manifest.update(entries)


MANIFEST: dict[str, Callable[[Path, dict[str, Any]], None]] = {
    "a quasi-identifier redirected to a constant": _redirected,
    "a quasi-identifier renamed in data and manifest": _renamed,
    "representative over false ranges": _false_ranges,
    "false means in place of ranges": _false_means,
    "called perturbed": _perturbed,
    "an identifier added with an entry": _extra,
    "a quasi-identifier left out of the list": _unlisted,
    "a weaker k with a re-made hash": _weaker,
    "no models with a re-made hash": _stripped,
    "another role": _role,
    "no method": without("method"),
    "no columns": without("columns"),
    "no models": without("models"),
    "no checks": without("checks"),
    "no count of records": without("written"),
    "another count of records": with_(written=23),
    "an unknown key": with_(trust="me"),
    "another version": with_(schema_version=1),
    "a policy by its path": with_(policy="/dev/zero"),
    "said not to be shuffled": with_(shuffled=False),
    "data in another file": with_(data="../other.csv"),
}


@pytest.mark.parametrize("how", MANIFEST)
def test_manifest(tmp_path: Path, how: str) -> None:
    path = release(tmp_path)
    manifest = manifest_of(path)
    MANIFEST[how](path, manifest)
    manifest["data_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest_path(path).write_text(json.dumps(manifest))
    assert refused(path)
    assert refused(path, policy=POLICY)


# what nothing but the private record or a signature can tell: the data keeps the policy that stands there
ONLY_VOUCHED = {"a weaker k with a re-made hash", "no models with a re-made hash", "said not to be shuffled"}


@pytest.mark.parametrize("how", sorted(MANIFEST.keys() - ONLY_VOUCHED))
def test_manifest_without_the_private_record(tmp_path: Path, how: str) -> None:
    path = tmp_path / "safe.csv"
    shoal.release(shoal.anonymize(PEOPLE, POLICY, method="mondrian"), path)
    private_path(path).unlink()
    assert not refused(path)
    manifest = manifest_of(path)
    MANIFEST[how](path, manifest)
    manifest["data_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest_path(path).write_text(json.dumps(manifest))
    assert refused(path)
    assert refused(path, policy=POLICY)


def test_there_are_sixty_kinds() -> None:
    assert len(DATA) + len(MANIFEST) >= 60


@pytest.mark.parametrize("how", ["columns", "midpoint"])
def test_ranges_in_two_columns_and_midpoints(tmp_path: Path, how: str) -> None:
    path = _by_age(tmp_path, how)
    assert not refused(path, PEOPLE.drop("job"), AGE)
    frame = pl.read_csv(path, infer_schema=False)
    column = "age_low" if how == "columns" else "age"
    frame.with_columns(pl.lit("99").alias(column)).write_csv(path)
    rehash(path)
    assert refused(path, PEOPLE.drop("job"), AGE)


AGE = Policy.model_validate(
    {"columns": {"name": "identifier", "age": "quasi-identifier"}, "models": [{"model": "k-anonymity", "k": 3}]}
)


def _by_age(folder: Path, interval: Any) -> Path:
    result = shoal.anonymize(PEOPLE.drop("job"), AGE, method="sorted-clusters", interval=interval)
    return shoal.release(result, folder / "safe.csv", shuffle=True).output


def test_unrelated_originals(tmp_path: Path) -> None:
    path = release(tmp_path)
    other = pl.DataFrame({"x": list(range(24))})
    assert refused(path, other)
    assert refused(path, PEOPLE.drop("ward"))
    assert refused(path, PEOPLE.with_columns(pl.lit(1).alias("more")))
    assert refused(path, PEOPLE.sort("age"))
    assert refused(path, PEOPLE.with_columns(pl.col("age") + 1))


def test_a_frame_without_a_manifest_is_compared_too() -> None:
    """Plain categories as well: 99.98% of the sexes swapped once passed."""
    result = shoal.anonymize(PEOPLE, POLICY, method="mondrian")
    assert shoal.verify(result.frame, POLICY, original=PEOPLE).verdict == "holds"
    frame = result.frame.with_columns(
        pl.col("job").str.replace_all("clerk", "#").str.replace_all("monk", "clerk").str.replace_all("#", "monk")
    )
    assert shoal.verify(frame, POLICY, original=PEOPLE).verdict == "refused"
    assert shoal.verify(result.frame, POLICY, original=pl.DataFrame({"x": list(range(24))})).verdict == "refused"


def test_a_plan_of_another_release(tmp_path: Path) -> None:
    path = release(tmp_path, method="lattice", suppression="50%")
    assert not refused(path)
    plan = json.loads(plan_path(path).read_text())
    plan["rounds"] = [dict.fromkeys(plan["columns"], 0)]
    plan_path(path).write_text(json.dumps(plan))
    assert refused(path)
    plan_path(path).unlink()
    assert refused(path)
