"""What a newcomer meets on the way from a file to a release: the proposed policy, a draft, its cures, small answers."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.results.sections import Notes


def panel(persons: int = 120, waves: int = 4) -> pl.DataFrame:
    draw = np.random.default_rng(2)
    who = np.repeat(np.arange(persons), waves)
    return pl.DataFrame({
        "idcode": who + 1001,
        "year": np.tile(np.arange(waves) + 70, persons),
        "birth_year": draw.integers(1940, 1955, persons)[who],
        "race": draw.choice(["black", "white", "asian"], persons)[who],
        "hours": draw.integers(10, 50, persons * waves),
    })  # fmt: skip


def test_a_panel_names_its_persons_as_a_pseudonym() -> None:
    text = shoal.profile(panel()).policy_text()
    assert "\nperson: idcode\n" in text
    assert "  idcode: {role: other, treat: {method: pseudonym}}\n" in text


def test_a_number_whose_rows_differ_in_what_does_not_change_is_no_person() -> None:
    frame = panel()
    mixed = frame.with_columns(frame["birth_year"].shuffle(seed=1), frame["race"].shuffle(seed=2))
    assert "\nperson:" not in shoal.profile(mixed).policy_text()


def test_a_number_by_its_header_alone_is_a_persons_and_no_amount() -> None:
    draw = np.random.default_rng(3)
    for header in ("id", "nr", "subject", "person_no"):
        frame = pl.DataFrame({
            header: np.repeat(np.arange(150) + 1, 6),
            "year": np.tile(np.arange(6) + 1979, 150),
            "hours": draw.lognormal(7, 0.4, 900).round(3),
            "wage": draw.lognormal(2, 0.4, 900).round(3),
        })  # fmt: skip
        text = shoal.profile(frame).policy_text()
        assert f"\nperson: {header}\n" in text
        assert f"  {header}: {{role: other, treat: {{method: pseudonym}}}}\n" in text
    counted = frame.rename({"person_no": "visits"})
    assert "\nperson:" not in shoal.profile(counted).policy_text()


def test_short_headers_of_a_panel_are_read_by_what_they_hold() -> None:
    draw = np.random.default_rng(4)
    frame = pl.DataFrame({
        "nr": np.repeat(draw.permutation(12_000)[:150], 6),
        "year": np.tile(np.arange(6) + 1980, 150),
        "hisp": np.repeat(draw.integers(0, 2, 150), 6),
        "hours": draw.integers(0, 4_900, 900),
        "lwage": draw.normal(1.6, 0.5, 900),
        "educ": np.repeat(draw.integers(3, 16, 150), 6),
        "married": draw.integers(0, 2, 900),
        "union": draw.integers(0, 2, 900),
        "exper": draw.integers(0, 18, 900),
    })  # fmt: skip
    found = {column.name: column for column in shoal.profile(frame).columns}
    assert found["nr"].unit == "person"
    assert found["hours"].proposed_type == "number"
    assert found["lwage"].kind != "age"


def test_a_number_of_somebody_that_is_nobody_elses_is_an_identifier() -> None:
    draw = np.random.default_rng(5)
    spread = np.unique((10_000 * draw.lognormal(1, 1, 900)).astype(int))[:600]
    frame = pl.DataFrame({"pidnum": spread, "reach": spread, "age": np.arange(600) % 60 + 20})
    found = {column.name: column.role for column in shoal.profile(frame).columns}
    assert found["pidnum"] == "identifier"
    assert found["reach"] == "other"


def test_things_that_are_bought_stand_for_nobody_and_are_no_amounts() -> None:
    draw = np.random.default_rng(6)
    products = draw.integers(800_000, 9_900_000, 1_500)
    litres = np.exp(draw.uniform(3, 10, 60)).astype(int)
    frame = pl.DataFrame({
        "product_id": draw.choice(products, 4_000),
        "quantity": np.concatenate([draw.integers(1, 4, 3_940), litres]),
        "age": np.arange(4_000) % 60 + 20,
    })  # fmt: skip
    found = {column.name: column for column in shoal.profile(frame).columns}
    assert (found["product_id"].role, found["product_id"].proposed_type) == ("other", "nominal")
    assert found["quantity"].role == "other"
    odd = [501_510_691, 733_910_002, 948_201_377]
    hidden = frame.with_columns(pl.Series("quantity", [*odd, *frame["quantity"][3:]]))
    assert {column.name: column.role for column in shoal.profile(hidden).columns}["quantity"] == "identifier"


def test_a_proposed_policy_is_made_stricter_by_its_own_cure_and_a_given_one_is_not(tmp_path: Path) -> None:
    draw = np.random.default_rng(7)
    frame = pl.DataFrame({
        "age": draw.integers(20, 80, 600),
        "sex": draw.choice(["f", "m"], 600),
        "colour": draw.choice([f"c{n}" for n in range(40)], 600),
        "shape": draw.choice([f"s{n}" for n in range(30)], 600),
    })  # fmt: skip
    answers = {"recipient": "public", "colour": "other", "shape": "other"}
    given = {"columns": {"age": "quasi-identifier", "sex": "quasi-identifier"}, "threshold": "public",
             "models": [{"model": "k-anonymity", "k": 11}]}  # fmt: skip
    assert shoal.publish(frame, given).verdict == "draft"
    found = shoal.publish(frame, answers=answers, output=tmp_path / "release", pdf=False)
    assert found.verdict == "holds"
    (note,) = [note for note in found.warnings or [] if "made stricter" in note]
    assert "colour" in note
    assert "singling-out" in note
    changed = [entry for entry in found.findings["change"]["columns"] if entry["column"] in ("colour", "shape")]
    assert {entry["decided_by"] for entry in changed if entry["role"] != "other"} == {"proposal"}
    assert shoal.verify(tmp_path / "release").holds


def test_the_twin_is_attacked_by_the_same_columns_as_the_release(tmp_path: Path) -> None:
    draw = np.random.default_rng(8)
    frame = pl.DataFrame({
        "age": draw.integers(20, 80, 800),
        "ill": draw.choice(["a", "b", "c"], 800, p=[0.7, 0.2, 0.1]),
        "income": draw.lognormal(10, 1, 800).round(2),
    })  # fmt: skip
    policy = {
        "columns": {"age": "quasi-identifier", "ill": "sensitive",
                    "income": {"role": "sensitive", "treat": {"method": "microaggregate", "k": 20}}},
        "models": [{"model": "k-anonymity", "k": 5}],
    }  # fmt: skip
    place = tmp_path / "data.csv"
    shoal.release(shoal.anonymize(frame, policy), place)
    found = {one.name: one for one in shoal.attack(place, original=frame).attacks}
    assert "similarity" not in found  # income leaves as means
    assert "similarity (twin)" not in found
    assert abs(found["likely-value"].baseline - found["likely-value (twin)"].baseline) < 0.05


def test_what_tells_a_quasi_identifier_is_recoded_with_it_and_the_report_counts_persons(tmp_path: Path) -> None:
    frame = panel().drop("birth_year", "year").with_columns(
        age=pl.Series(np.repeat(np.arange(120) % 30 + 20, 4)), q7=pl.Series(np.repeat(np.arange(120) % 30 * 3, 4))
    )  # fmt: skip
    frame.write_csv(tmp_path / "visits of a panel.csv")
    text = shoal.profile(frame, write_policy=tmp_path / "policy.yaml").policy_text()
    assert "  # Whoever knows it knows age: it is recoded as well.\n  q7: quasi-identifier\n" in text
    found = shoal.publish(
        tmp_path / "visits of a panel.csv", tmp_path / "policy.yaml", output=tmp_path / "r", pdf=False
    )
    page = (tmp_path / "r" / "report.html").read_text()
    assert "Anonymisation report: visits of a panel" in page
    assert found.findings["risk"]["after"]["persons"] is not None
    assert "of the persons were unique in their quasi-identifiers; now every person shares them" in page


def test_long_reasons_stand_once_in_a_report() -> None:
    from shoal.reports.chapters.summary import _reason
    from shoal.reports.findings import ReportedColumn

    said = "100% of the records with a value fit the variable of this name in a survey of these years."
    first: dict[str, str] = {}
    told = [
        _reason(
            ReportedColumn(
                column=name, role="other", decided_by="policy", reasons=["Decided in the policy.", said],
                nature="truthful", technique="none", released=True,
            ),
            first,
        )
        for name in ("a", "b")
    ]  # fmt: skip
    assert told == [f"Decided in the policy. {said}", "Decided in the policy. As a."]


def test_columns_of_which_nothing_is_left_are_named(tmp_path: Path) -> None:
    frame = pl.DataFrame({"code": [f"c{row}" for row in range(60)], "age": [20 + row % 2 for row in range(60)]})
    policy = {
        "columns": {"code": "quasi-identifier", "age": "quasi-identifier"},
        "types": {"code": "nominal"},
        "models": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "lattice"},
        "attacks": {"linkability": {"accept": "a test"}, "singling_out": {"accept": "a test"}},
    }
    found = shoal.publish(frame, policy, pdf=False)
    assert any(warning.startswith("code is the same in every record now") for warning in found.warnings or [])


def test_a_first_name_that_repeats_is_no_person() -> None:
    names = ["Anna", "Ben", "Carla", "David", "Eva", "Frank", "Gina", "Hugo"]
    frame = pl.DataFrame({"first_name": names * 20, "age": [20 + n % 40 for n in range(160)], "sex": ["f", "m"] * 80})
    assert "person: first_name" not in shoal.profile(frame).policy_text()


def test_a_survey_names_weight_and_household_and_its_amounts_leave_together() -> None:
    draw = np.random.default_rng(5)
    home = np.repeat(np.arange(250), 2)
    frame = pl.DataFrame({
        "hid": home + 1,
        "age": draw.integers(18, 80, 500),
        "sex": draw.choice(["male", "female"], 500),
        "household_income": np.round(draw.lognormal(10, 0.5, 250), 0)[home],
        "wage": np.round(draw.lognormal(9, 0.5, 500), 0),
        "sampling_weight": np.round(draw.uniform(90, 300, 250), 2)[home],
    })  # fmt: skip
    text = shoal.profile(frame).policy_text()
    assert "\nhousehold: hid\n" in text
    assert "\nweight: sampling_weight\n" in text
    assert text.count("treat: {method: microaggregate, k: 20, group: amounts}") == 3


def test_postal_codes_of_several_lengths_are_released(tmp_path: Path) -> None:
    codes = [f"{98101 + n % 9}" if n % 3 else f"{98101 + n % 9}-{1000 + n}" for n in range(300)]
    frame = pl.DataFrame({"zip": [*codes, "4750"], "age": [20 + n % 40 for n in range(301)]})
    frame.write_csv(tmp_path / "licences.csv")
    policy = {
        "columns": {"zip": "quasi-identifier", "age": "quasi-identifier"},
        "types": {"zip": "code"},
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    shoal.release(shoal.anonymize(tmp_path / "licences.csv", policy), tmp_path / "safe.csv")
    assert shoal.verify(tmp_path / "safe.csv", original=tmp_path / "licences.csv").holds


def test_a_label_of_codes_that_begins_otherwise_is_still_untrue() -> None:
    from shoal.ranges.hierarchy.outside import held

    leaves, labels = pl.Series(["98101", "98101-2210", "105"]), pl.Series(["97*", "97*", "1*"])
    assert held(leaves, labels, codes=True).tolist() == [False, True, True]
    assert held(pl.Series(["105"]), pl.Series(["1*"])).tolist() == [False]


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    draw = np.random.default_rng(1)
    frame = pl.DataFrame({"age": draw.integers(20, 60, 400), "charge": draw.integers(0, 50_000, 400)})
    columns = {"age": "quasi-identifier", "charge": "other"}
    policy = {"columns": columns, "models": [{"model": "k-anonymity", "k": 5}], "threshold": 0.2}
    frame.write_csv(tmp_path / "people.csv")
    result = shoal.publish(tmp_path / "people.csv", policy, output=tmp_path / "draft", pdf=False)
    assert result.verdict == "draft"
    assert any(cure.enough for cure in result.cures or [])
    return tmp_path / "draft"


def test_a_draft_says_that_it_is_one_and_is_no_release_of_least_loss(draft: Path) -> None:
    with pytest.raises(InputError, match="holds no data: it is a draft"):
        shoal.verify(draft)
    released = draft.with_name("released")
    again = shoal.publish(draft.with_name("people.csv"), draft / "cure-1.yaml", output=released, pdf=False)
    assert again.verdict == "holds"
    found = shoal.compare_publications([draft, released])
    assert found.drafts == [str(draft)]
    assert found.best != str(draft)


def test_a_cure_never_leaves_out_what_a_model_needs() -> None:
    from shoal.attacks.cures import _families
    from shoal.policy import Policy
    from shoal.storage.reading import read

    frame = {"age": [20 + n % 40 for n in range(400)], "ill": ["a", "b"] * 200, "item": ["x", "y", "z", "w"] * 100}
    rules = Policy.model_validate({
        "columns": {"age": "quasi-identifier", "ill": "other", "item": "other"},
        "models": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "sensitive": "ill"}],
    })  # fmt: skip
    made = [policy for family in _families(read(frame), rules, ["ill", "item"]) for policy in family]
    assert made
    assert all(policy.columns["ill"] == "other" for policy in made)
    assert any(policy.columns["item"] == "identifier" for policy in made)


def test_words_of_others_for_quasi_identifiers_are_answered() -> None:
    with pytest.raises(InputError, match="quasi_identifiers"):
        shoal.anonymize({"age": [1, 2]}, qi=["age"], k=2)
    with pytest.raises(InputError, match="quasi_identifiers"):
        shoal.anonymize({"age": [1, 2]}, ["age"], k=2)  # type: ignore[arg-type]


def test_means_of_codes_are_named() -> None:
    frame = {"level": [1 + n * 7 % 5 for n in range(300)], "age": [20 + n * 31 % 61 for n in range(300)]}
    result = shoal.anonymize(frame, quasi_identifiers=["level", "age"], k=100, method="microaggregate")
    said = [note for section in result.sections() if isinstance(section, Notes) for note in section.notes]
    assert any(note.startswith("level may hold codes") for note in said)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("page.html", "<!DOCTYPE html>\n<p>no table</p>\n", "is a web page, and no table"),
        ("paper.csv", "%PDF-1.4\n1 0 obj\n", "is a PDF, and no table"),
        ("apart.csv", "Status;Age\nA;33\nB;44\n", "Its columns were not set apart"),
    ],
)
def test_files_that_are_no_tables_and_columns_that_were_not_set_apart(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    from shoal.storage.reading import Options

    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as told:
        shoal.risk(tmp_path / name, quasi_identifiers=["Age"], options=Options(delimiter=","))
    assert said in str(told.value)


def test_a_file_without_a_header_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("Hope,33,12345\nMark,44,12346\nAnn,55,12347\n")
    assert any(
        note.startswith("the first line looks like a record") for note in shoal.profile(tmp_path / "people.csv").notes
    )


def test_answers_that_are_proposed_keep_how_columns_leave() -> None:
    """Who answers as the error proposes gets the policy that is proposed: pseudonyms and means, no exact numbers."""
    from shoal.reports.publication.questions import policy_from, questions_of

    draw = np.random.default_rng(3)
    frame = pl.DataFrame({
        "id": np.repeat(np.arange(150) + 1, 6),
        "year": np.tile(np.arange(6) + 1979, 150),
        "lnhr": draw.lognormal(7, 0.4, 900).round(3),
        "lnwg": draw.lognormal(2, 0.4, 900).round(3),
    })  # fmt: skip
    found = shoal.profile(frame)
    asked = questions_of(found, {})
    assert "As other its values leave as pseudonyms." in next(one.text for one in asked if one.key == "id")
    answers = {"recipient": "contract", **{one.key: one.proposed or "" for one in asked if one.key != "recipient"}}
    rules = policy_from(found, answers)
    assert (rules.person, rules.treat["id"].method) == ("id", "pseudonym")
    assert {rules.treat[name].method for name in ("lnhr", "lnwg")} == {"microaggregate"}
    assert policy_from(found, {**answers, "lnhr": "sensitive"}).treat.keys() == {"id", "lnwg"}


def test_an_amount_with_gaps_in_a_panel_is_no_range() -> None:
    draw = np.random.default_rng(6)
    frame = panel().with_columns(
        pl.Series("chol", [None if draw.random() < 0.3 else float(draw.lognormal(5, 0.4)) for _ in range(480)])
    )
    text = shoal.profile(frame).policy_text()
    assert "  chol: {role: other, treat: {method: microaggregate, k: 20}}\n" in text


def test_the_joined_spelling_has_no_blanks_around_it() -> None:
    frame = {"resistance": ["Fled on Foot   "] * 9 + ["fled on foot"] * 2 + ["None   "] * 5}
    found = shoal.profile(frame).columns[0].declaration
    assert found is not None
    assert found.map == {"Fled on Foot   ": "Fled on Foot", "fled on foot": "Fled on Foot"}


def test_a_cure_keeps_amounts_in_the_groups_that_they_share() -> None:
    from shoal.attacks.cures import _families
    from shoal.policy import Policy
    from shoal.storage.reading import read

    frame = {"age": [n % 40 for n in range(900)], "pay": [n * 37 % 901 for n in range(900)]}
    frame |= {"wait": [n * 11 % 907 for n in range(900)]}
    treat = {"method": "microaggregate", "k": 20, "group": "amounts"}
    rules = Policy.model_validate({
        "columns": {"age": "quasi-identifier"} | {name: {"role": "other", "treat": treat} for name in ("pay", "wait")},
        "models": [{"model": "k-anonymity", "k": 5}],
    })  # fmt: skip
    first = next(iter(next(iter(_families(read(frame), rules, ["wait"])))))
    assert {name: (section.k, section.group) for name, section in first.treat.items()} == {
        "pay": (320, "amounts"),
        "wait": (320, "amounts"),
    }


def test_a_refusal_says_nothing_of_one_class_that_suppression_would_keep() -> None:
    from shoal.errors import PolicyNotMet
    from shoal.policy import Policy
    from shoal.reports.publication.steps import why_not_met
    from shoal.storage.reading import read

    who = np.repeat(np.arange(43), [4] * 40 + [9] * 3)
    table = read({"id": who, "sex": np.where(who % 2, "f", "m")})
    rules = {"columns": {"id": "other", "sex": "quasi-identifier"}, "person": "id", "suppression": "20%"}
    error = PolicyNotMet("No method keeps the policy.", None)
    for share, said in (("20%", False), ("1%", True)):
        asked = Policy.model_validate(rules | {"suppression": share, "models": [{"model": "k-anonymity", "k": 5}]})
        assert ("Even with all records in one class" in why_not_met(table, asked, error)[0]) is said


def test_numbers_of_primary_units_have_no_mean_and_identify_where_each_is_of_one_person() -> None:
    draw = np.random.default_rng(8)
    rows = 600
    survey = {
        "cntry": ["NO"] * rows,
        "idno": draw.permutation(rows) + 10_000,
        "dweight": np.ones(rows),
        "stratum": draw.integers(1, 30, rows) + 300,
        "psu": draw.permutation(rows) + 9_000,
        "agea": draw.integers(18, 80, rows),
        "gndr": draw.integers(1, 3, rows),
        "lrscale": draw.integers(0, 11, rows),
        "hinctnta": draw.integers(1, 11, rows),
        "eduyrs": draw.integers(7, 22, rows),
    }
    roles = {column.name: column.in_policy for column in shoal.profile(pl.DataFrame(survey)).columns}
    assert roles["psu"] == "identifier"
    shared = survey | {"psu": draw.integers(0, 120, rows) + 9_000}
    roles = {column.name: column.in_policy for column in shoal.profile(pl.DataFrame(shared)).columns}
    assert roles["psu"] == "other"
