"""What `verify` believes: the reader's policy, the file as it is, a signature. Attacks that once succeeded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from releases.forging import PEOPLE, POLICY, forge, genuine, rehash, rows_of, write
from shoal.errors import InputError
from shoal.policy import Policy
from shoal.policy.manifest import dictionary_path, manifest_path, pending_path, plan_path, policy_path, private_path
from shoal.releases.jobs import Writing, release_anonymized, release_safe_harbor


def failed(found: Any) -> list[str]:
    return [check.name for check in found.checks if not check.holds]


def test_a_manifest_does_not_decide_on_columns(tmp_path: Path) -> None:
    """Without any forging: `decide` said it for the release, the reader's policy does not."""
    source = PEOPLE.with_columns(ssn=pl.Series([f"123-45-{1000 + row}" for row in range(24)]))
    made = shoal.anonymize(source, POLICY, method="mondrian")
    shoal.release(made, tmp_path / "safe.csv", decide={"ssn": "other"})
    found = shoal.verify(tmp_path / "safe.csv", POLICY, original=source)
    assert failed(found) == ["undecided columns"]
    assert shoal.verify(tmp_path / "safe.csv", policy_path(tmp_path / "safe.csv"), original=source).holds


@pytest.mark.parametrize("excel_safe", [False, True])
@pytest.mark.parametrize("method", ["mondrian", "suppress", "lattice", "microaggregate"])
def test_the_effective_policy_accepts_what_was_written(method: str, excel_safe: bool, tmp_path: Path) -> None:
    """With everything that was said beside the policy: columns, k, decisions, how stars are written, types."""
    source, output = tmp_path / "people.csv", tmp_path / "safe.csv"
    PEOPLE.with_columns(pl.lit("x").alias("=note"), size=pl.lit(3.5)).write_csv(source)
    writing = Writing(excel_safe=excel_safe, output=shoal.OutputFormat(suppressed_as="hidden"))
    decide = {"=note": "other", "ill": "sensitive"}
    release_anonymized(
        source, output=output, quasi_identifiers=["age", "job"], k=3, method=method, decide=decide, writing=writing
    )
    assert policy_path(output).stat().st_mode & 0o077 == 0
    written = Policy.model_validate(shoal.Policy.model_validate(shoal.load_policy(policy_path(output))).model_dump())
    assert written.columns["ill"] == "sensitive"
    assert written.output.suppressed_as == "hidden"
    for original in (None, source):
        found = shoal.verify(output, policy_path(output), original=original)
        assert found.holds, found.reasons()


def test_a_hidden_manifest_is_not_preferred_to_the_visible_one(tmp_path: Path) -> None:
    key, public = shoal.make_signing_key(tmp_path / "owner.pem")
    shoal.release(shoal.anonymize(PEOPLE, POLICY, method="mondrian"), tmp_path / "safe.csv", sign=key)
    path = tmp_path / "safe.csv"
    private_path(path).unlink()
    manifest = json.loads(manifest_path(path).read_text())
    shutil.copy(manifest_path(path), pending_path(manifest_path(path), manifest["data_sha256"]))
    assert shoal.verify(path, signed_by=public).holds
    manifest["policy"]["models"][0]["k"] = 50
    manifest_path(path).write_text(json.dumps(manifest))
    assert "signature" in failed(shoal.verify(path, signed_by=public))
    # a visible one of other data gives way: it is gone then, and what is verified is what everybody sees
    manifest_path(path).write_text(json.dumps({**manifest, "data_sha256": "0" * 64}))
    assert shoal.verify(path, signed_by=public).holds
    assert json.loads(manifest_path(path).read_text())["policy"]["models"][0]["k"] == 3
    assert not list(tmp_path.glob(".safe*"))


@pytest.mark.parametrize(("old", "new"), [("quasi-identifier", "sensitive"), ("truthful", "perturbed")])
def test_the_dictionary_is_checked(old: str, new: str, tmp_path: Path) -> None:
    path = genuine(tmp_path)
    assert shoal.verify(path, POLICY).holds
    dictionary = dictionary_path(path)
    dictionary.write_text(dictionary.read_text().replace(old, new))
    assert failed(shoal.verify(path, POLICY)) == ["parts"]
    dictionary.unlink()
    assert failed(shoal.verify(path, POLICY)) == ["parts"]


def test_a_dictionary_with_its_hash_made_anew_says_what_the_manifest_says(tmp_path: Path) -> None:
    path = genuine(tmp_path)
    manifest = json.loads(manifest_path(path).read_text())
    words = dictionary_path(path).read_text().replace("or a range", "exactly")
    rehash(path, manifest)
    import hashlib

    dictionary_path(path).write_text(words)
    manifest["parts"] = {"dictionary": hashlib.sha256(words.encode()).hexdigest()}
    manifest_path(path).write_text(json.dumps(manifest))
    assert failed(shoal.verify(path, POLICY)) == ["parts"]


def test_a_plan_that_is_not_that_of_the_release_tells_nothing(tmp_path: Path) -> None:
    """Its labels would let any job pass for any other; it is salted, so that its hash confirms no guess of values."""
    made = shoal.anonymize(PEOPLE, POLICY, method="lattice")
    shoal.release(made, tmp_path / "safe.csv")
    path = tmp_path / "safe.csv"
    assert len(json.loads(plan_path(path).read_text())["salt"]) == 32
    assert shoal.verify(path, POLICY, original=PEOPLE).holds
    private_path(path).unlink()
    plan_path(path).write_text(plan_path(path).read_text().replace("clerk", "monk", 1))
    found = shoal.verify(path, POLICY, original=PEOPLE)
    assert "parts" in failed(found)


SAFE_HARBOR = pl.DataFrame(
    {
        "ssn": [f"123-45-{1000 + row}" for row in range(60)],
        "zip": ["03601", "10001", "90210"] * 20,
        "born": [f"19{40 + row % 50}-03-{1 + row % 28:02}" for row in range(60)],
        "sex": ["f", "m"] * 30,
    }
)


@pytest.mark.parametrize("column", ["zip", "born", "sex"])
def test_safe_harbor_is_done_again_on_the_original(column: str, tmp_path: Path) -> None:
    source, path = tmp_path / "visits.csv", tmp_path / "safe.csv"
    SAFE_HARBOR.write_csv(source)
    release_safe_harbor(source, output=path, writing=Writing(shuffle=False))
    private_path(path).unlink()
    assert shoal.verify(path, original=source).holds
    rows = rows_of(path)
    place, other = rows[0].index(column), {"zip": "100", "born": "1950", "sex": "f"}[column]
    write(path, [rows[0]] + [[other if at == place else cell for at, cell in enumerate(row)] for row in rows[1:]])
    rehash(path, {**json.loads(manifest_path(path).read_text()), "written": 60})
    manifest = json.loads(manifest_path(path).read_text())
    manifest_path(path).write_text(json.dumps({**manifest, "written": 60}))
    assert set(failed(shoal.verify(path, original=source))) - {"forms"} == {f"column {column}"}


def test_counts_of_people_and_years_are_claims(tmp_path: Path) -> None:
    path = tmp_path / "safe.csv"
    SAFE_HARBOR.write_csv(tmp_path / "visits.csv")
    release_safe_harbor(tmp_path / "visits.csv", output=path, writing=Writing(shuffle=False))
    private_path(path).unlink()
    detail = {check.name: check.detail for check in shoal.verify(path).checks}["year of the data"]
    assert detail.endswith("claimed, not checked")
    manifest = json.loads(manifest_path(path).read_text())
    manifest["sections"]["safe_harbor"]["zip_populations"]["kept"] = ["036", "100", "902"]
    rows = rows_of(path)
    write(path, [[cell.replace("000", "036") for cell in row] for row in rows])
    rehash(path, manifest)
    manifest = json.loads(manifest_path(path).read_text())
    manifest_path(path).write_text(json.dumps({**manifest, "written": 60}))
    assert failed(shoal.verify(path)) == ["ZIP codes"]


def test_a_column_that_the_policy_keeps_was_not_searched(tmp_path: Path) -> None:
    SAFE_HARBOR.write_csv(tmp_path / "visits.csv")
    policy = {"safe_harbor": {"columns": {"ssn": "keep"}}}
    release_safe_harbor(tmp_path / "visits.csv", output=tmp_path / "safe.csv", policy=policy)
    details = {check.name: check.detail for check in shoal.verify(tmp_path / "safe.csv").checks}
    assert details["other columns"].endswith("not looked at, for the policy keeps them: ssn")
    found = shoal.verify(tmp_path / "safe.csv", Policy())
    assert "other columns" in failed(found)


def test_a_sensitive_column_has_no_order_by_the_word_of_a_manifest(tmp_path: Path) -> None:
    """t-closeness moves shares less far along an order than between words."""
    policy = Policy.model_validate(
        {
            "columns": {"g": "quasi-identifier", "s": "sensitive"},
            "models": [{"model": "k-anonymity", "k": 2}, {"model": "t-closeness", "t": 0.45, "sensitive": "s"}],
        }
    )
    frame = pl.DataFrame({"g": ["a"] * 4 + ["b"] * 4, "s": ["x", "y"] * 2 + ["z", "w"] * 2})
    assert shoal.verify(frame, policy).models[1].holds is False
    roomy = policy.model_copy(update={"models": policy.models[:1]})
    shoal.release(shoal.anonymize(frame, roomy, method="mondrian"), tmp_path / "safe.csv")
    path = tmp_path / "safe.csv"
    private_path(path).unlink()
    manifest = json.loads(manifest_path(path).read_text())
    manifest["policy"]["types"] = {"s": {"type": "ordered", "order": ["x", "z", "w", "y"]}}
    rehash(path, {**manifest, "written": 8})
    assert "t-closeness" in [model.name for model in shoal.verify(path, policy).models if not model.holds]


@pytest.mark.parametrize("pair", [("NA", "None"), ("NA", ""), ("1.0", "1.00"), ("5", "5."), ("null", "NULL")])
@pytest.mark.parametrize("word", [None, "number", "nominal"])
def test_two_texts_are_two_classes_without_a_manifest(pair: tuple[str, str], word: str | None, tmp_path: Path) -> None:
    if word == "number" and not pair[0][0].isdigit():
        return
    path = tmp_path / "given.csv"
    path.write_text("a,z\n7,q\n7,q\n" + "".join(f"{text},q\n" for text in pair))
    said = {"columns": {"a": "quasi-identifier", "z": "other"}, "models": [{"model": "k-anonymity", "k": 2}]}
    policy = Policy.model_validate({**said, **({} if word is None else {"types": {"a": word}})})
    assert shoal.verify(path, policy).k == 1


def test_no_row_of_the_file_is_set_aside(tmp_path: Path) -> None:
    """`drop` leaves rows with a missing value out of the count of `risk`, never of what is certified."""
    path = tmp_path / "given.csv"
    path.write_text("age,town,ill\n30,A,flu\n30,A,cold\n40,B,flu\n40,B,cold\n,C,hiv\n")
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"}
    policy = Policy.model_validate(
        {"columns": roles, "null_rule": "drop", "models": [{"model": "k-anonymity", "k": 2}],
         "leak": {"leaked": "100%", "threshold": 0.5}}
    )  # fmt: skip
    found = shoal.verify(path, policy)
    assert (found.k, found.holds) == (1, False)
    assert "5 of 5 persons" in {check.name: check.detail for check in found.checks}["leak"]


def test_a_raw_star_counts_in_a_leak(tmp_path: Path) -> None:
    frame = pl.DataFrame({"g": ["*", "*", "b", "b", "b"], "s": list("uvwuv")})
    policy = Policy.model_validate(
        {"columns": {"g": "quasi-identifier", "s": "sensitive"}, "models": [{"model": "k-anonymity", "k": 2}],
         "leak": {"leaked": "100%", "threshold": 0.35}}
    )  # fmt: skip
    with pytest.raises(shoal.ShoalError, match=r"probability 0\.4"):
        shoal.release(shoal.anonymize(frame, policy, method="mondrian"), tmp_path / "safe.csv")


def test_entropy_of_nothing_is_none() -> None:
    found = shoal.risk(pl.DataFrame({"q": ["a", "b"], "v": ["flu", None]}), quasi_identifiers=["q"], sensitive=["v"])
    assert (found.sensitive[0].l_distinct, found.sensitive[0].l_entropy) == (0, 0.0)


@pytest.mark.parametrize("model", ["l-diversity", "entropy-l-diversity"])
def test_one_value_suffices_for_an_l_of_one(model: str) -> None:
    said = {"columns": {"q": "quasi-identifier"}, "models": [{"model": model, "l": 1, "sensitive": "v"}]}
    for values, holds in ((["flu", "flu"], True), (["flu", None], False)):
        found = shoal.verify(pl.DataFrame({"q": ["a", "b"], "v": values}), said)
        assert found.models[0].holds is holds


def test_json_lines_with_a_key_twice_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "given.jsonl"
    for twice in ('"age"', '"\\u0061ge"', '"age" '):
        path.write_text("".join(f'{{"age":"[20;60]","ill":"flu",{twice}:"{20 + row}"}}\n' for row in range(3)))
        with pytest.raises(InputError, match="line 1: an object has a key twice"):
            shoal.risk(path, quasi_identifiers=["age"])
    path.write_text('{"age":"a: \\"b\\": c","ill":"\\"age\\":"}\n{"ill":{"a":1,"b":{"a":2}},"age":"x"}\n'.replace(
        '{"a":1,"b":{"a":2}}', '"y"'))  # fmt: skip
    assert shoal.risk(path, quasi_identifiers=["age"]).records == 2


def test_public_counts_are_not_small() -> None:
    from shoal.reports.publication.small_counts import grouped_sizes

    before = [{"size": 1, "records": 298}, {"size": 2, "records": 2}]
    for groups in (grouped_sizes(before, [{"size": 6, "records": 300}]), grouped_sizes(before[::-1], [])):
        assert all(line[when] == 0 or line[when] >= 11 for line in groups for when in ("before", "after"))


def test_forging_nothing_is_no_forgery(tmp_path: Path) -> None:
    path = genuine(tmp_path)
    forge(path, lambda rows: rows, lambda manifest: manifest)
    assert set(failed(shoal.verify(path, POLICY))) <= {"manifest", "forms"}


@pytest.mark.parametrize(
    ("name", "value"), [("information_loss_by_column", "x"), ("scrubbed", [1]), ("scrubbed", {"columns": "x"})]
)
def test_findings_of_another_shape_are_one_error(name: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "safe.csv"
    people = pl.DataFrame({"age": [30, 34, 51, 52], "ill": ["a", "b", "a", "b"]})
    shoal.release(shoal.anonymize(people, quasi_identifiers=["age"], k=2, decide={"ill": "other"}), path)
    manifest = tmp_path / "safe.manifest.json"
    said = json.loads(manifest.read_text())
    said["findings"][name] = value
    manifest.write_text(json.dumps(said))
    with pytest.raises(shoal.InputError, match="manifest"):
        shoal.verify(path)
