"""Ways in which a release was once certified that did not hold: each is refused, or done right, now."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError, ShoalError
from shoal.policy import Policy
from shoal.policy.manifest import manifest_path, pending_path, plan_path, private_path
from shoal.ranges.parsing import unescape
from shoal.storage.formats import zstandard
from shoal.storage.reading.beside import held_beside

BIG = 2**53 + 1


def keeping(k: int, *names: str, **more: Any) -> Policy:
    columns = {**dict.fromkeys(names, "quasi-identifier"), **more.pop("columns", {})}
    return Policy.model_validate({"columns": columns, "models": [{"model": "k-anonymity", "k": k}], **more})


# two texts are two classes


@pytest.mark.parametrize(
    "texts",
    [
        ("AX*", "A**"),
        ("12X", "12x"),
        ("0937*", "937*"),
        ("0*", "00*"),
        (f"[{BIG - 1};{BIG + 3}]", f"[{BIG};{BIG + 3}]"),
        ("[05;09]", "[5;9]"),
        ("5", "[5;5]"),
    ],
)
def test_texts_that_differ_are_two_classes(texts: tuple[str, str]) -> None:
    frame = pl.DataFrame({"a": list(texts)})
    assert shoal.verify(frame, keeping(2, "a")).verdict == "refused"
    assert shoal.risk(frame, quasi_identifiers=["a"], generalized="yes").k == 1


def test_dates_written_in_two_ways_beside_a_range() -> None:
    frame = pl.DataFrame({"a": ["2020-01-05", "2020-1-5", "[2020-01-01;2020-02-01]", "[2020-01-01;2020-02-01]"]})
    assert shoal.verify(frame, keeping(2, "a")).k == 1


def test_a_stem_that_ends_in_x_keeps_it() -> None:
    assert shoal.risk({"a": ["AX*", "AX*", "AB1"]}, quasi_identifiers=["a"]).uniques == 1


def test_a_star_among_raw_values_is_a_text() -> None:
    frame = pl.DataFrame({"a": ["*", "a", "a"]})
    assert shoal.verify(frame, keeping(2, "a")).verdict == "refused"


def test_codes_beside_a_recoded_column_are_counted_as_they_are(tmp_path: Path) -> None:
    """`12X` and `12x` are two codes: at k=4 classes of 2 were once released."""
    frame = pl.DataFrame({"code": ["12X", "12X", "12x", "12x"], "age": [1, 2, 3, 4]})
    made = shoal.anonymize(frame, keeping(4, "code", "age"), method="recode", generalize={"age": "*"})
    with pytest.raises(shoal.Refused):
        shoal.release(made, tmp_path / "x.csv")


# raw values that look like released ones


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_look_alikes_are_escaped_and_come_back(tmp_path: Path, ending: str) -> None:
    raw = ["*", "*", "12X", "12X", "[1;2]", "[1;2]", "937**", "937**", "\\x", "\\x", "alone"]
    frame = pl.DataFrame({"a": raw})
    made = shoal.anonymize(frame, keeping(2, "a"), method="suppress", reading="strict")
    path = shoal.release(made, tmp_path / f"x.{ending}").output
    shown = shoal.read(path)["a"].decode()
    assert shown.to_list()[:10] == [
        "\\*",
        "\\*",
        "\\12X",
        "\\12X",
        "\\[1;2]",
        "\\[1;2]",
        "\\937**",
        "\\937**",
        "\\\\x",
        "\\\\x",
    ]
    assert shown[10] == "*"
    assert unescape(shown).to_list()[:10] == raw[:10]
    assert shoal.verify(path, original=frame).verdict == "holds"
    dictionary = json.loads((tmp_path / "x.dictionary.json").read_text())["columns"][0]
    assert "\\ before it" in dictionary["form_in_words"]


def test_look_alikes_in_sets(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["12X", "12X", "*", "*", "b", "c"]})
    made = shoal.anonymize(frame, keeping(2, "a"), method="mondrian")
    path = shoal.release(made, tmp_path / "x.csv").output
    assert shoal.verify(path, original=frame).verdict == "holds"


# exact numbers


@pytest.mark.parametrize("base", [BIG, 2**63 - 9, -(2**63)])
@pytest.mark.parametrize(
    "how", [{"method": "mondrian"}, {"method": "sorted-clusters"}, {"method": "coarsen", "resolution": 2}]
)
def test_large_integers_stay_exact(tmp_path: Path, base: int, how: dict[str, Any]) -> None:
    values = [base, base + 1, base + 2, base + 3, base + 6, base + 7]
    frame = pl.DataFrame({"a": values})
    made = shoal.anonymize(frame, keeping(2, "a"), **how)
    path = shoal.release(made, tmp_path / "x.parquet").output
    for text, value in zip(shoal.read(path)["a"].decode().cast(pl.String), values, strict=True):
        low, high = (int(end) for end in (text[1:-1].split(";") if text.startswith("[") else (text, text)))
        assert low <= value <= high
    assert shoal.verify(path, original=frame).verdict == "holds"
    moved = pl.DataFrame({"a": [value + 1 if value < 2**63 - 1 else value for value in values]})
    assert shoal.verify(path, original=moved).verdict == "refused"


def test_a_mean_that_no_float_holds_is_refused() -> None:
    frame = pl.DataFrame({"a": [BIG, BIG, BIG + 2, BIG + 3]})
    with pytest.raises(InputError, match="exactly"):
        shoal.anonymize(frame, keeping(2, "a"), method="microaggregate")
    made = shoal.anonymize(frame, keeping(2, "a"), method="microaggregate", interval="bracket")
    assert made.polars["a"].cast(pl.String).to_list()[:2] == [str(BIG)] * 2


def test_coarsened_means_are_means() -> None:
    made = shoal.anonymize(
        {"a": [9, 12, 12, 1, 4, 1]}, keeping(2, "a"), method="coarsen", resolution=2, interval="mean"
    )
    assert made.polars["a"].to_list() == [11, 11, 11, 2, 2, 2]


# what is not touched stays


def test_untouched_columns_stay_byte_for_byte(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text(
        "age,income,seen,part\n1,57800000,2020-01-05 10:00,NA\n1,25,2020-01-06 11:30,0.5\n1,0.50,2020-01-07 12:00,2\n"
    )
    made = shoal.anonymize(str(source), keeping(2, "age"), method="mondrian", decide={"seen": "other"})
    path = shoal.release(made, tmp_path / "out.csv").output
    assert path.read_text() == source.read_text()
    assert shoal.verify(path, original=str(source)).verdict == "holds"


def test_zeros_keep_their_sign(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 1, 1], "x": [0.0, -0.0, 1.5]})
    made = shoal.anonymize(frame, keeping(2, "age"), method="mondrian")
    path = shoal.release(made, tmp_path / "x.parquet").output
    assert pl.read_parquet(path)["x"].cast(pl.String).to_list() == ["0.0", "-0.0", "1.5"]
    assert shoal.verify(path, original=frame).verdict == "holds"
    assert shoal.verify(path, original=frame.with_columns(x=pl.Series([-0.0, 0.0, 1.5]))).verdict == "refused"


def test_empty_text_and_null_in_a_text_file(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 1, 1], "note": ["", None, "x"]})
    path = shoal.release(
        shoal.anonymize(frame, keeping(2, "age"), method="mondrian"), tmp_path / "x.csv", decide={"note": "other"}
    ).output
    assert shoal.verify(path, original=frame).verdict == "holds"


def test_categories_that_no_row_has_do_not_leave(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 1], "ward": pl.Series(["a", "a"], dtype=pl.Enum(["a", "secret"]))})
    for ending in ("parquet", "arrow"):
        path = shoal.release(
            shoal.anonymize(frame, keeping(2, "age"), method="mondrian"), tmp_path / f"{ending}.{ending}"
        ).output
        assert b"secret" not in path.read_bytes()


def test_spreadsheet_safe_releases_pass_their_own_verification(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "age": [-3, -3, -1, -2],
            "=cmd": ["x"] * 4,
            "note": ["=A1", "\n=1+1", "＝1", "plain"],
            "job": ["=a", "=a", "b", "c"],
        }
    )
    made = shoal.anonymize(frame, keeping(2, "age", "job"), method="mondrian")
    path = shoal.release(made, tmp_path / "x.csv", excel_safe=True, shuffle=True, decide={"note": "other"}).output
    shown = shoal.read(path)
    assert "'=cmd" in shown.columns
    assert sorted(shown["note"].values) == sorted(["'=A1", "'\n=1+1", "'＝1", "plain"])
    assert shoal.verify(path, original=frame).verdict == "holds"
    assert shoal.verify(path, original=frame.with_columns(note=pl.lit("y"))).verdict == "refused"


SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"
OF_SPARK = '{"type":"struct","fields":[{"name":"age","type":"long","nullable":true,"metadata":{}}]}'


@pytest.mark.parametrize(
    ("key", "value", "nothing"),
    [
        ("org.apache.spark.version", "4.0.1", True),
        (SPARK_SCHEMA, OF_SPARK, True),
        ("note", "4.0.1", False),
        ("org.apache.spark.version", "4.0.1 of Ann", False),
        (SPARK_SCHEMA, OF_SPARK.replace("{}", '{"comment":"Ann"}'), False),
        (SPARK_SCHEMA, OF_SPARK.replace('"age"', '"Ann"'), False),
        (SPARK_SCHEMA, OF_SPARK.replace('"long"', '"Ann"'), False),
        (SPARK_SCHEMA, OF_SPARK + " ", False),
        (SPARK_SCHEMA, OF_SPARK.replace('"type":"struct"', '"type":"struct","type":"struct"'), False),
        (SPARK_SCHEMA, "Ann", False),
        (SPARK_SCHEMA, "[1]", False),
    ],
)
def test_of_the_metadata_of_parquet_only_what_spark_says_of_its_columns(
    key: str, value: str, nothing: bool, tmp_path: Path
) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"age": [1, 1]}).write_parquet(path, metadata={key: value})
    assert (held_beside(path, shoal.read(path)) == []) == nothing


SKIPPED = b"\x50\x2a\x4d\x18\x03\x00\x00\x00Ann"


def _gzip(flags: int, extra: bytes = b"") -> bytes:
    plain = gzip.compress(b"age\n1\n1\n", mtime=0)
    return plain[:3] + bytes([flags]) + plain[4:10] + extra + plain[10:]


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("a.csv.gz", _gzip(0), ""),
        ("a.csv.gz", _gzip(0) + _gzip(0), ""),
        ("a.csv.gz", _gzip(8, b"Ann\0"), "gzip header"),
        ("a.csv.gz", _gzip(16, b"Ann\0"), "gzip header"),
        ("a.csv.gz", _gzip(4, b"\3\0Ann"), "gzip header"),
        ("a.csv.gz", _gzip(0) + _gzip(8, b"Ann\0"), "gzip header"),
        ("a.csv.gz", _gzip(0) + bytes(3), "after the end"),
        ("a.csv.zst", zstandard.compress(b"age\n1\n1\n"), ""),
        ("a.csv.zst", zstandard.compress(b"age\n1\n1\n") + SKIPPED, "zstd skips"),
        ("a.csv.zst", zstandard.compress(b"age\n1\n") + SKIPPED + zstandard.compress(b"1\n"), "zstd skips"),
    ],
)
def test_nothing_stands_between_the_parts_of_a_compressed_file(
    name: str, content: bytes, what: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    found = held_beside(path, shoal.read(path))
    assert what in found[0] if what else found == []


@pytest.mark.parametrize("writer", ["arrow", "stream"])
def test_nothing_stands_behind_the_messages_of_an_arrow_file(writer: str, tmp_path: Path) -> None:
    path, frame = tmp_path / "x.arrow", pl.DataFrame({"age": [1, 1], "job": ["a", "b"]})
    frame.write_ipc(path) if writer == "arrow" else frame.write_ipc_stream(path)
    assert held_beside(path, shoal.read(path)) == []
    content = path.read_bytes()
    end = len(content) if writer == "stream" else len(content) - 10 - int.from_bytes(content[-10:-6], "little")
    path.write_bytes(content[:end] + b"Ann came." + content[end:])
    assert held_beside(path, shoal.read(path)) == ["bytes that belong to none of its parts"]


def test_the_writer_of_a_parquet_file_is_one_that_there_is(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"age": [1, 1]}).write_parquet(path)
    assert held_beside(path, shoal.read(path)) == []
    content = path.read_bytes()
    path.write_bytes(content.replace(b"Polars (python)", b"Ann Hill came in"[:15]))
    assert path.read_bytes() != content
    assert held_beside(path, shoal.read(path)) == ["a writer that there is not, or fields that nobody reads"]


# suppressed rows


def test_few_suppressed_rows_do_not_keep_what_is_sensitive(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"a": ["x", "x", "x", "y"], "b": ["1", "1", "1", "2"], "illness": ["flu", "cold", "flu", "HIV"]}
    )
    policy = keeping(2, "a", "b", columns={"illness": "sensitive"}, suppression=0.5)
    trees = {"a": [["x", "*"], ["y", "*"]], "b": [["1", "*"], ["2", "*"]]}
    made = shoal.anonymize(frame, policy, method="lattice", hierarchies=trees)
    assert made.findings.suppressed_rows == 1
    found = shoal.release(made, tmp_path / "x.csv")
    assert (found.suppressed_rows, found.blanked_cells, found.written) == (1, 1, 4)
    assert found.summary().startswith("4 records released: 3 in classes of at least 3, 1 suppressed in every")
    assert "HIV" not in (tmp_path / "x.csv").read_text()
    assert shoal.verify(tmp_path / "x.csv", original=frame).verdict == "holds"
    assert shoal.verify(made.polars, policy).verdict == "refused"


@pytest.mark.parametrize("removed", [0, 1])
def test_suppressed_rows_are_measured_or_claimed_and_not_both(tmp_path: Path, removed: int) -> None:
    """They are counted again on the file; where rows were removed the method's own count is another figure."""
    frame = pl.DataFrame({"a": ["x", "x", "x", "y"], "b": ["1", "1", "1", "2"]})
    trees = {"a": [["x", "*"], ["y", "*"]], "b": [["1", "*"], ["2", "*"]]}
    policy = keeping(2, "a", "b", suppression=0.5)
    shoal.release(shoal.anonymize(frame, policy, method="lattice", hierarchies=trees), tmp_path / "x.csv")
    place = manifest_path(tmp_path / "x.csv")
    manifest = json.loads(place.read_text())
    manifest["findings"]["suppressed_rows"] += removed
    place.write_text(json.dumps(manifest))
    [said] = [one.detail for one in shoal.verify(tmp_path / "x.csv").checks if one.name == "figures"]
    again, claims = said.split("; claimed, not checked: ")
    assert "suppressed_rows" in again
    assert "suppressed_rows" not in claims
    assert ("suppressed rows as the method counts them" in claims) == bool(removed)


# the release step


def simple(folder: Path, name: str = "safe.csv", **how: Any) -> Path:
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "pay": [1, 2, 3, 4]})
    return shoal.release(shoal.anonymize(frame, keeping(2, "age"), method="mondrian"), folder / name, **how).output


def test_the_input_is_never_replaced(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("age\n1\n1\n2\n2\n")
    made = shoal.anonymize(str(source), keeping(2, "age"), method="mondrian")
    os.link(source, tmp_path / "hard.csv")
    (tmp_path / "soft.csv").symlink_to(source)
    for name in ("in.csv", "hard.csv", "soft.csv"):
        with pytest.raises(InputError, match="at once"):
            shoal.release(made, tmp_path / name, force=True)
    assert source.read_text() == "age\n1\n1\n2\n2\n"


@pytest.mark.parametrize("event", range(1, 14))
def test_interrupted_at_any_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, event: int) -> None:
    """Whenever it ends, the old release is whole or the new one is, plan and private record included."""
    frame = pl.DataFrame({"age": [1, 1, 1, 1, 2, 2, 2], "pay": [1, 2, 3, 4, 5, 6, 7]})
    old = shoal.anonymize(frame, keeping(2, "age"), method="lattice")
    path = shoal.release(old, tmp_path / "safe.csv", shuffle=True, seed=1).output
    new = shoal.anonymize(frame, keeping(3, "age"), method="lattice")
    real, count = Path.replace, [0]

    class Ended(BaseException):
        pass

    def replace(self: Path, target: Any) -> Path:
        count[0] += 1
        if count[0] == event:
            raise Ended
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(Path, "unlink", lambda self, missing_ok=False: None)  # nothing is cleaned up after a hard end
    with suppress(Ended):
        shoal.release(new, path, force=True, shuffle=True, seed=2)
    monkeypatch.undo()
    found = shoal.verify(path, original=frame)
    assert found.verdict == "holds", found.reasons()
    assert shoal.Release.open(path).private is not None
    for file in tmp_path.iterdir():
        os.utime(file, (0, 0))
    shoal.release(new, path, force=True)
    assert shoal.verify(path, original=frame).verdict == "holds"
    assert not [file for file in tmp_path.iterdir() if ".json." in file.name]


def test_an_interrupted_fresh_release_does_not_block_the_next(tmp_path: Path) -> None:
    path = simple(tmp_path)
    path.unlink()
    assert manifest_path(path).exists()
    simple(tmp_path)
    with pytest.raises(InputError, match="another release"):
        simple(tmp_path, "safe.parquet")


# reading what was written


def test_a_release_opens_by_its_data_or_its_manifest(tmp_path: Path) -> None:
    path = simple(tmp_path)
    for source in (path, manifest_path(path)):
        found = shoal.Release.open(source)
        assert (found.data, found.manifest.method, found.policy.models[0].k) == (path, "mondrian", 2)  # type: ignore[union-attr]
        assert found.table().rows == 4
        assert found.plan is None
        assert found.private is not None
    assert pending_path(manifest_path(path), "a" * 64).name.startswith(".safe")


def mutants(text: str) -> list[str]:
    content = json.loads(text)
    odd: list[Any] = [None, [], {}, "x", -1, 1e400, 10**30, True, [[]] * 3, {"a": {"b": 1}}, "/dev/zero", "\ud800"]
    found = ["", "[]", "null", "{}", "[" * 200_000, text[:100], text.replace('"', "'"), '{"a": NaN}', "\x00"]
    for key in content:
        found.append(json.dumps({name: value for name, value in content.items() if name != key}))
        found += [json.dumps({**content, key: value}) for value in odd]
    return found


@pytest.mark.parametrize("part", ["manifest", "private", "plan"])
def test_damaged_parts_are_input_errors(tmp_path: Path, part: str) -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "pay": [1, 2, 3, 4]})
    made = shoal.anonymize(frame, keeping(2, "age"), method="lattice")
    path = shoal.release(made, tmp_path / "safe.csv", shuffle=True).output
    file = {"manifest": manifest_path, "private": private_path, "plan": plan_path}[part](path)
    for text in mutants(file.read_text()):
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        with suppress(ShoalError):
            shoal.verify(path, original=frame)
        if part == "plan":
            with suppress(ShoalError):
                shoal.apply_plan(frame, plan=file)


def test_a_part_that_is_no_ordinary_file(tmp_path: Path) -> None:
    path = simple(tmp_path)
    manifest_path(path).unlink()
    manifest_path(path).symlink_to("/dev/zero")
    with pytest.raises(InputError, match="ordinary file"):
        shoal.verify(path)


# signatures


def test_a_lowered_k_is_caught_by_the_signature(tmp_path: Path) -> None:
    key, public = shoal.make_signing_key(tmp_path / "owner.pem")
    assert key.stat().st_mode & 0o777 == 0o600
    path = simple(tmp_path, sign=key)
    assert shoal.verify(path, signed_by=public).verdict == "holds"
    private_path(path).unlink()
    manifest = json.loads(manifest_path(path).read_text())
    manifest["policy"]["models"] = [{"model": "k-anonymity", "k": 1 + 1}, {"model": "k-anonymity", "k": 2}]
    manifest["policy_sha256"] = Policy.model_validate(manifest["policy"]).digest()
    manifest_path(path).write_text(json.dumps(manifest))
    assert "figures" in shoal.verify(path).reasons()  # its verdicts are about other models
    manifest["models"] = [{**manifest["models"][0], "parameters": {"k": 2}}] * 2
    manifest_path(path).write_text(json.dumps(manifest))
    assert shoal.verify(path).verdict == "holds"  # nothing else tells
    assert shoal.verify(path, signed_by=public).verdict == "refused"
    other = shoal.make_signing_key(tmp_path / "other.pem")[1]
    assert shoal.verify(simple(tmp_path, "again.csv", sign=key), signed_by=other).verdict == "refused"
    assert shoal.verify(simple(tmp_path, "unsigned.csv"), signed_by=public).verdict == "refused"
    with pytest.raises(InputError, match="exists already"):
        shoal.make_signing_key(key)
    with pytest.raises(InputError, match="at once"):
        simple(tmp_path, "owner.pem", sign=key, force=True)


def test_the_order_of_the_quasi_identifiers_does_not_change_what_is_measured(tmp_path: Path) -> None:
    """Of several classes that are equally bad one is told: always the same."""
    draw = random.Random(7)
    rows = {
        "a": [draw.choice([True, False]) for _ in range(20)],
        "b": [draw.choice([None, None, None, None, "x"]) for _ in range(20)],
        "c": [draw.choice("pqrstuv") for _ in range(20)],
    }
    pl.DataFrame(rows).write_csv(tmp_path / "in.csv")
    for names in itertools.permutations("abc"):
        path = tmp_path / f"{''.join(names)}.csv"
        made = shoal.anonymize(tmp_path / "in.csv", quasi_identifiers=list(names), k=3, method="suppress")
        assert "20 records released, each matching at least " in shoal.release(made, path).summary()
        assert shoal.verify(path).verdict == "holds"
