"""One small real run of every verb, from the library and on the command line, on a table full of traps.

The table holds secret values, a column whose name is a tag of HTML, and one whose name holds a control character.
Whoever adds a result adds a case here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.doctor import doctor
from shoal.dp.results import Opened
from shoal.methods.regenerate import regenerate
from shoal.policy.named import standards
from shoal.ranges.hierarchy import build_hierarchies, check_hierarchies
from shoal.reproduction.sample.written import write_sample
from shoal.results import Result

TAG = "<script>alert(1)</script>"
CONTROL = "bell\x07\x1b[31m"
SECRETS = ("Zqxsecret", "73919")
ODD = {
    TAG: ["Zqxsecret1", "Zqxsecret1", "Zqxsecret2", "Zqxsecret3"],
    CONTROL: [73919, 73919, 73918, 73917],
    "sex": ["f", "f", "m", "m"],
}
NAMES = list(ODD)


@dataclass(frozen=True)
class Case:
    """A result, the command that gives the same (None: there is none), and whether it names columns of the data.

    `apart`: keys that must differ, because the command cannot write to the same place a second time.
    """

    result: Result
    command: Sequence[str] | None = None
    names_columns: bool = True
    apart: frozenset[str] = frozenset()


def odd_table(folder: Path) -> Path:
    path = folder / "odd.parquet"
    pl.DataFrame(ODD).write_parquet(path)
    return path


def _profile(folder: Path) -> Case:
    table, policy = odd_table(folder), folder / "policy.yaml"
    result = shoal.profile(table, write_policy=policy)
    return Case(result, ["profile", str(table), "--write-policy", str(policy), "--force"])


def _detect(folder: Path) -> Case:
    table, chart = odd_table(folder), folder / "frontier.svg"
    from shoal.reports.charts import with_chart

    result = with_chart(lambda: shoal.detect(table), chart, sources=[table])
    return Case(result, ["detect", str(table), "--chart", str(chart), "--force"])


def _risk(folder: Path) -> Case:
    table, policy = odd_table(folder), folder / "policy.yaml"
    policy.write_text("models: [{model: k-anonymity, k: 2}, {model: average-risk, threshold: 0.5}]\n")
    result = shoal.risk(
        table,
        quasi_identifiers=NAMES,
        knowledge={TAG: ["sex"]},
        policy=policy,
        sensitive=["sex", CONTROL],
        sampling="50%",
        estimate="all",
        suda=True,
    )
    options = [item for name in NAMES for item in ("--qi", name)] + ["--sensitive", f"sex,{CONTROL}"]
    command = ["risk", str(table), *options, "--knowledge", f"{TAG}=sex", "--policy", str(policy)]
    return Case(result, [*command, "--sampling", "50%", "--estimate", "all", "--suda"])


def _leak(folder: Path) -> Case:
    table = odd_table(folder)
    result = shoal.leak(table, quasi_identifiers=["sex"], leaked=2, threshold="ema", simulate=50, seed=1)
    asked = ["--leaked", "2", "--threshold", "ema", "--simulate", "50", "--seed", "1"]
    return Case(result, ["leak", str(table), "--qi", "sex", *asked], names_columns=False)


def _leak_series(folder: Path) -> Case:
    result = shoal.leak(sizes={3: 2, 4: 1}, leaked=[3, 6], targets=[1, 2], threshold=[0.2, "ema"])
    asked = ["--leaked", "3,6", "--targets", "1,2", "--threshold", "0.2,ema"]
    return Case(result, ["leak", "--sizes", "3:2,4:1", *asked], names_columns=False)


def _cells(folder: Path) -> Case:
    path = folder / "counts.csv"
    path.write_text("sex,n\nZqxsecret,20\nm,*\nTotal,25\n")
    return Case(shoal.cells(path, by="sex", count="n"), ["cells", str(path), "--by", "sex", "--count", "n"], False)


def _quality(folder: Path) -> Case:
    old = pl.DataFrame(ODD)
    new = old.with_columns(pl.lit("*").alias(TAG))
    return Case(shoal.quality(old, new, NAMES, target="sex"))


def _compare(folder: Path) -> Case:
    table, outputs = odd_table(folder), []
    for method in ("lattice", "mondrian"):
        output = folder / f"safe_with_a_long_name_{method}.csv"
        released = shoal.anonymize(table, quasi_identifiers=NAMES, k=2, method=method)
        shoal.release(released, output)
        outputs.append(str(output))
    return Case(shoal.compare(outputs), ["compare", *outputs], names_columns=False)


def _anonymize(folder: Path) -> Case:
    from shoal.releases.jobs import release_anonymized

    table, output = odd_table(folder), folder / "safe.csv"
    how = {"quasi_identifiers": NAMES, "k": 2, "method": "lattice", "suppression": 0.5}
    result = release_anonymized(table, output=output, **how)
    asked = ["--qi", ",".join(NAMES), "-k", "2", "--method", "lattice", "--suppression", "50%", "--force"]
    return Case(result, ["anonymize", str(table), "-o", str(output), *asked])


def _anatomized(folder: Path) -> tuple[Result, list[str]]:
    from shoal.releases.jobs import release_anonymized

    table, output = odd_table(folder), folder / "apart"
    how = {"quasi_identifiers": [TAG, "sex"], "sensitive": [CONTROL], "l": 2, "method": "anatomy"}
    asked = ["--qi", f"{TAG},sex", "--sensitive", CONTROL, "--l", "2", "--method", "anatomy", "--force"]
    return release_anonymized(table, output=output, **how), ["anonymize", str(table), "-o", str(output), *asked]


def _anatomy(folder: Path) -> Case:
    return Case(*_anatomized(folder), names_columns=False)


def _estimate(folder: Path) -> Case:
    _anatomized(folder)
    result = shoal.estimate(folder / "apart", where=["sex = f"])
    return Case(result, ["estimate", str(folder / "apart"), "--where", "sex = f"], names_columns=False)


def _publish_tables(folder: Path) -> Case:
    (folder / "data").mkdir()
    pl.DataFrame({"id": [1, 2, 3, 4], **ODD}).write_parquet(folder / "data" / "people.parquet")
    pl.DataFrame({"who": [1, 2, 3, 4], "day": [1, 2, 3, 4]}).write_parquet(folder / "data" / "visits.parquet")
    roles = {TAG: "quasi-identifier", CONTROL: "sensitive", "sex": "quasi-identifier"}
    visits = {"references": {"who": "people"}, "columns": {"day": "quasi-identifier"}}
    relations = {"person": "people", "tables": {"people": {"key": "id", "columns": roles}, "visits": visits}}
    policy = folder / "relations.yaml"
    policy.write_text(json.dumps({"relations": relations, "models": [{"model": "k-anonymity", "k": 2}]}))
    command = ["publish", str(folder / "data"), "--policy", str(policy), "-o", str(folder / "out"), "--force"]
    return Case(shoal.publish(folder / "data", policy, output=folder / "out"), command, names_columns=False)


def _lattice(folder: Path) -> Case:
    table = odd_table(folder)
    result = shoal.lattice(table, quasi_identifiers=NAMES, k=2, suppression=0.5)
    return Case(result, ["lattice", str(table), "--qi", ",".join(NAMES), "-k", "2", "--suppression", "50%"])


def _hierarchy_build(folder: Path) -> Case:
    table, output = folder / "jobs.csv", folder / "trees"
    table.write_text(f"{TAG},sex\nZqxsecret,f\nZqxsecret2,m\nsmith,m\n".replace("/", ""))
    result = build_hierarchies(table, output=output)
    return Case(result, ["hierarchy", "build", str(table), "-o", str(output), "--force"])


def _hierarchy_check(folder: Path) -> Case:
    table = folder / "people.csv"
    table.write_text("sex,town\nf,Zqxsecret\nm,Oslo\n")
    (folder / "sex.csv").write_text("f;*\nm;*\n")
    (folder / "town.csv").write_text("Oslo;NO;*\n")
    files = [str(folder / "sex.csv"), str(folder / "town.csv")]
    result = check_hierarchies(files, data=str(table))
    return Case(result, ["hierarchy", "check", *files, "--data", str(table)], names_columns=False)


def _import_policy(folder: Path) -> Case:
    source, output = folder / "hierarchy.txt", folder / "taken.yaml"
    source.write_text(f"distinct\nname {TAG}\ntype string\nheight 2\n\nall has Zqxsecret1 Zqxsecret2\n")
    result = shoal.import_policy(source, output=output)
    return Case(result, ["import-policy", str(source), "-o", str(output), "--force"])


def _standards(folder: Path) -> Case:
    output = folder / "policy.yaml"
    result = standards("ema-0070", output=output)
    return Case(result, ["standards", "ema-0070", "-o", str(output), "--force"], names_columns=False)


def _doctor(folder: Path) -> Case:
    return Case(doctor(), names_columns=False)  # how much is free may change until the command looks


def _sample(folder: Path) -> Case:
    output = folder / "sample.csv"
    result = write_sample("licences", output=output, rows=20, seed=3)
    command = ["sample-data", "licences", "-n", "20", "--seed", "3", "-o", str(output), "--force"]
    return Case(result, command, names_columns=False)


def _reproduce(folder: Path) -> Case:
    table = folder / "licences.csv"
    shoal.sample_data("licences", 300, seed=1).write_csv(table)
    result = shoal.reproduce("pastore", data=table)
    return Case(result, ["reproduce", "pastore", "--data", str(table)], names_columns=False)


def _regenerate(folder: Path) -> Case:
    table, distribution, output = folder / "masked.csv", folder / "race.csv", folder / "filled.csv"
    table.write_text(f"{TAG},n\n*,73919\nZqxsecret,1\n*,2\n")
    distribution.write_text(f"{TAG},n\nZqxsecret,1\n")
    result = regenerate(table, distribution=distribution, output=output, seed=1)
    asked = ["--distribution", str(distribution), "--seed", "1", "-o", str(output), "--force"]
    return Case(result, ["regenerate", str(table), *asked])


def _desk(folder: Path) -> tuple[Opened, shoal.Desk]:
    types = {TAG: "text", CONTROL: "integer", "sex": "text"}
    opened = shoal.open_desk(odd_table(folder), folder=folder / "desk", epsilon="1", types=types)
    return opened, shoal.Desk(folder / "desk")


def _desk_open(folder: Path) -> Case:
    opened, _ = _desk(folder)
    asked = ["--epsilon", "1", "--confirm-types", "-o", str(folder / "other")]
    apart = frozenset({"folder", "ledger_key"})
    return Case(opened, ["desk", "open", str(folder / "odd.parquet"), *asked], apart=apart)


def _desk_query(folder: Path) -> Case:
    _, desk = _desk(folder)
    desk.query("count", where="sex = 'f'", epsilon="0.1")
    again = desk.query("count", where="sex = 'f'", epsilon="0.1")
    asked = ["count", "--where", "sex = 'f'", "--epsilon", "0.1"]
    return Case(again, ["desk", "query", str(folder / "desk"), *asked], names_columns=False)


def _desk_preview(folder: Path) -> Case:
    _, desk = _desk(folder)
    asked = ["count", "--epsilon", "0.1", "--preview"]
    command = ["desk", "query", str(folder / "desk"), *asked]
    return Case(desk.preview("count", epsilon="0.1"), command, names_columns=False)


def _desk_refusal(folder: Path) -> Case:
    _, desk = _desk(folder)
    with pytest.raises(shoal.BudgetRefused) as refused:
        desk.query("count", epsilon="3")
    command = ["desk", "query", str(folder / "desk"), "count", "--epsilon", "3"]
    return Case(desk.refusal(refused.value), command, names_columns=False)


def _desk_show(folder: Path) -> Case:
    _, desk = _desk(folder)
    desk.query("count", where="sex = 'f'", epsilon="0.1")
    return Case(desk.budget(), ["desk", "show", str(folder / "desk")])


def _pseudonymize(folder: Path) -> Case:
    from shoal.releases.jobs import release_pseudonymized

    table, key, out = odd_table(folder), folder / "key.bin", folder / "out.parquet"
    shoal.pseudonymize(table, column=TAG, key=key)
    result = release_pseudonymized(table, column=TAG, key=key, output=out)
    asked = ["--column", TAG, "--key-file", str(key), "-o", str(out), "--force"]
    return Case(result, ["pseudonymize", str(table), *asked])


def _shift_dates(folder: Path) -> Case:
    from shoal.releases.jobs import release_shifted

    path, key, out = folder / "dated.parquet", folder / "key.bin", folder / "out.parquet"
    pl.DataFrame({**ODD, f"{TAG} on": ["2012-03-04", "2012-05-06", "2012-06-07", "2012-07-08"]}).write_parquet(path)
    shoal.shift_dates(path, person=TAG, key=key)
    result = release_shifted(path, person=TAG, key=key, output=out)
    asked = ["--person", TAG, "--key-file", str(key), "-o", str(out), "--force"]
    return Case(result, ["shift-dates", str(path), *asked])


def _scrub(folder: Path) -> Case:
    from shoal.releases.jobs import release_scrubbed

    path, out = folder / "notes.parquet", folder / "out.parquet"
    notes = [f"{name} came back, {number} said {name}" for name, number in zip(ODD[TAG], ODD[CONTROL], strict=True)]
    pl.DataFrame({**ODD, "note": notes}).write_parquet(path)
    shoal.scrub(path, text="note", known=[TAG, CONTROL])
    result = release_scrubbed(path, text="note", known=[TAG, CONTROL], output=out)
    asked = ["--text", "note", "--known", TAG, "--known", CONTROL, "-o", str(out), "--force"]
    return Case(result, ["scrub", str(path), *asked])


def _k_safety(folder: Path) -> Case:
    notes, entities, out = folder / "notes.parquet", folder / "entities.parquet", folder / "safe.parquet"
    pl.DataFrame({TAG: ["Zqxsecret1 came", "Zqxsecret2 came"]}).write_parquet(notes)
    names = ["Zqxsecret1", "a", "b"]
    pl.DataFrame({"entity": names, "term": ["Zqxsecret1", "came", "came"]}).write_parquet(entities)
    result = shoal.k_safety(notes, text=TAG, entities=entities, k=2, output=out)
    asked = ["--text", TAG, "--entities", str(entities), "-k", "2", "-o", str(out), "--force"]
    return Case(result, ["k-safety", str(notes), *asked], names_columns=False)


def _safe_harbor(folder: Path) -> Case:
    from shoal.releases.jobs import release_safe_harbor

    table, out, policy = odd_table(folder), folder / "safe.parquet", folder / "policy.yaml"
    result = release_safe_harbor(table, output=out, write_policy=policy)
    return Case(result, ["safe-harbor", str(table), "-o", str(out), "--write-policy", str(policy), "--force"])


def _perturb(folder: Path) -> Case:
    from shoal.releases.jobs import Writing, release_perturbed

    table, out = odd_table(folder), folder / "safe.parquet"
    decide: Any = {"sex": "quasi-identifier"}
    how: Any = {"noise": {CONTROL: 0.1}, "pram": {TAG: 0.5}, "decide": decide}
    result = release_perturbed(table, output=out, writing=Writing(seed=1), **how)
    asked = ["--noise", f"{CONTROL}=0.1", "--pram", f"{TAG}=0.5", "--seed", "1", "-o", str(out), "--force"]
    asked += ["--decide", "sex=quasi-identifier"]
    return Case(result, ["perturb", str(table), *asked])


def _released(folder: Path) -> tuple[Result, str]:
    output = folder / "safe.csv"
    made = shoal.anonymize(odd_table(folder), quasi_identifiers=NAMES, k=2, method="mondrian")
    return shoal.release(made, output), str(output)


def _release(folder: Path) -> Case:
    return Case(_released(folder)[0], names_columns=False)


def _verify(folder: Path) -> Case:
    output = _released(folder)[1]
    return Case(shoal.verify(output), ["verify", output], names_columns=False)


def _attack(folder: Path) -> Case:
    output = folder / "attacked.csv"
    made = shoal.anonymize(odd_table(folder), quasi_identifiers=NAMES[:1], sensitive=NAMES[1:2], k=2, method="mondrian")
    shoal.release(made, output, decide={"sex": "other"})
    return Case(shoal.attack(output), ["attack", "all", str(output)], names_columns=False)


def _published(folder: Path) -> tuple[shoal.Publication, list[str]]:
    table, policy, output = odd_table(folder), folder / "decided.yaml", folder / "published"
    columns = {TAG: "quasi-identifier", CONTROL: "sensitive", "sex": "other"}
    policy.write_text(json.dumps({"columns": columns, "models": [{"model": "k-anonymity", "k": 2}]}))
    command = ["publish", str(table), "--policy", str(policy), "-o", str(output), "--force", "--no-pdf"]
    return shoal.publish(table, policy, output=output, pdf=False), command


def _publish(folder: Path) -> Case:
    result, command = _published(folder)
    return Case(result, command, names_columns=False, apart=frozenset({"steps"}))  # they take other times


def _compare_publications(folder: Path) -> Case:
    output = _published(folder)[0].output
    folders = [str(output), f"{output}.private"]
    return Case(shoal.compare_publications(folders), ["compare", *folders])


def _findings(folder: Path) -> Case:
    return Case(_published(folder)[0].document)


def _attack_link(folder: Path) -> Case:
    output, people = _released(folder)[1], str(odd_table(folder))
    found = shoal.attack_link(output, identified=people, on=NAMES)
    return Case(found, ["attack", "link", output, "--with", people, "--on", ",".join(NAMES)], names_columns=False)


def _long_table(folder: Path) -> Path:
    """Everybody's rows of one odd thing after the other, with a day each."""
    path = folder / "long.parquet"
    users, things = (
        [1, 1, 1, 2, 2, 3],
        ["Zqxsecret1", "Zqxsecret2", "Zqxsecret3", "Zqxsecret1", "Zqxsecret2", "Zqxsecret3"],
    )
    frame = {"who": users, TAG: things, CONTROL: [73919, 73918, 73917, 1, 2, 3], "day": [1, 20, 300, 4, 50, 600]}
    pl.DataFrame(frame).write_parquet(path)
    return path


def _unicity(folder: Path) -> Case:
    from shoal.attacks.unicity import attack_unicity

    path = _long_table(folder)
    how = {"person": "who", "columns": [TAG, CONTROL], "points": [1, 2], "coarsen": {CONTROL: ["10", "100"]}}
    asked = ["--person", "who", "--columns", f"{TAG},{CONTROL}", "--points", "1,2", "--coarsen", f"{CONTROL}=10,100"]
    return Case(attack_unicity(path, **how), ["attack", "unicity", str(path), *asked])  # type: ignore[arg-type]


def _scoreboard(folder: Path) -> Case:
    from shoal.attacks.scoreboard import attack_scoreboard

    path = _long_table(folder)
    result = attack_scoreboard(path, person="who", item=TAG, value=CONTROL, date="day", known=2, wrong=1)
    asked = ["--person", "who", "--item", TAG, "--value", CONTROL, "--date", "day", "--known", "2", "--wrong", "1"]
    return Case(result, ["attack", "scoreboard", str(path), *asked], names_columns=False)


def _intersect(folder: Path) -> Case:
    from shoal.attacks.intersect import attack_intersect

    path = str(odd_table(folder))
    result = attack_intersect(path, second=path, person=CONTROL, quasi_identifiers=["sex"], sensitive=[TAG])
    return Case(result, ["attack", "intersect", path, path, "--person", CONTROL, "--qi", "sex", "--sensitive", TAG])


def _stream(folder: Path) -> Case:
    lines, policy = folder / "odd.jsonl", folder / "stream.json"
    rows = [dict(zip(ODD, row, strict=True)) for row in zip(*ODD.values(), strict=True)]
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = dict.fromkeys(ODD, "quasi-identifier") | {CONTROL: "sensitive"}
    policy.write_text(json.dumps({"columns": columns, "models": [{"model": "k-anonymity", "k": 2}]}))
    result = shoal.stream(lines, policy=policy, delay=3, output=folder / "out.jsonl")
    asked = ["--policy", str(policy), "--delay", "3", "-o", str(folder / "again.jsonl")]
    return Case(result, ["stream", str(lines), *asked], names_columns=False)


def _membership(folder: Path) -> Case:
    from shoal.attacks.membership import attack_membership

    names = [TAG, CONTROL, *(f"rs{number}" for number in range(30))]
    genomes = pl.DataFrame({name: [number % 2, (number + 1) % 2, number % 3, 1] for number, name in enumerate(names)})
    genomes.head(2).write_parquet(folder / "in.parquet")
    genomes.write_parquet(folder / "out.parquet")
    pl.DataFrame({"marker": names, "frequency": [0.25] * 32}).write_parquet(folder / "f.parquet")
    people = {"candidates": str(folder / "in.parquet"), "reference": str(folder / "out.parquet")}
    asked = [item for name, path in people.items() for item in (f"--{name}", path)] + ["--epsilon", "2"]
    result = attack_membership(str(folder / "f.parquet"), **people, epsilon=2.0)
    return Case(result, ["attack", "membership", str(folder / "f.parquet"), *asked], names_columns=False)


def _reconstruct(folder: Path) -> Case:
    from shoal.attacks.reconstruct import attack_reconstruct

    pl.DataFrame({"where": ["sex = 'f'", "sex = 'm'"], "answer": [2, 1]}).write_csv(folder / "answers.csv")
    answers, people = str(folder / "answers.csv"), str(odd_table(folder))
    command = ["attack", "reconstruct", answers, "--people", people]
    return Case(attack_reconstruct(answers, people=people), command, names_columns=False)


_PUBLIC = {"columns": {CONTROL: "identifier"}, "domains": {TAG: ["known", "too"], "sex": ["f", "m"]}}


def _private_policy(folder: Path) -> tuple[str, str]:
    people = folder / "people.parquet"
    pl.DataFrame({name: values * 20 for name, values in ODD.items()}).write_parquet(people)
    (folder / "public.yaml").write_text(json.dumps(_PUBLIC))
    return str(people), str(folder / "public.yaml")


def _dp_release(folder: Path) -> Case:
    people, policy = _private_policy(folder)
    result = shoal.dp_release(people, policy, epsilon="1", preview=True)
    return Case(result, ["dp-release", people, "--policy", policy, "--epsilon", "1", "--preview"])


def _epsilon(folder: Path) -> Case:
    from shoal.attacks.epsilon import epsilon

    people, policy = _private_policy(folder)
    command = ["epsilon", people, "--policy", policy]
    return Case(epsilon(people, policy), command, names_columns=False, apart=frozenset({"epsilons"}))


SURVEY = {"questions": {TAG: {"answers": ["f", "m"], "epsilon": 1}, "sex": {"answers": ["f", "m"], "epsilon": "0.5"}}}


def _survey(folder: Path) -> tuple[Path, str]:
    path = folder / "survey.yaml"
    path.write_text(json.dumps(SURVEY))
    return path, str(folder / "kit")


def _local_spec(folder: Path) -> Case:
    path, kit = _survey(folder)
    made = shoal.local_collect_spec(path, output=kit)
    command = ["local", "collect-spec", str(path), "-o", str(folder / "other")]
    return Case(made, command, apart=frozenset({"folder"}))


def _randomized(folder: Path) -> tuple[Result, str, str]:
    path, kit = _survey(folder)
    shoal.local_collect_spec(path, output=kit)
    (folder / "answers.csv").write_text(f'"{TAG}",sex\nf,m\nm,m\nf,f\n')
    made = shoal.local_randomize(folder / "answers.csv", spec=kit, output=folder / "noisy.csv")
    return made, kit, str(folder / "noisy.csv")


def _local_randomize(folder: Path) -> Case:
    made, kit, noisy = _randomized(folder)
    command = ["local", "randomize", str(folder / "answers.csv"), "--spec", kit, "-o", noisy, "--force"]
    return Case(made, command, names_columns=False)


def _local_estimate(folder: Path) -> Case:
    _, kit, noisy = _randomized(folder)
    result = shoal.local_estimate(noisy, spec=kit, cross=[[TAG, "sex"]])
    return Case(result, ["local", "estimate", noisy, "--spec", kit, "--cross", f"{TAG},sex"])


def _joint(folder: Path) -> Case:
    result = shoal.joint_simulate(peers=60, k=4, liars="5%", seed=2)
    command = ["joint", "simulate", "--peers", "60", "-k", "4", "--liars", "5%", "--seed", "2"]
    return Case(result, command, names_columns=False)


CASES: dict[str, Callable[[Path], Case]] = {
    "anatomy": _anatomy,
    "estimate": _estimate,
    "publish-tables": _publish_tables,
    "joint-simulate": _joint,
    "local-estimate": _local_estimate,
    "local-randomize": _local_randomize,
    "local-spec": _local_spec,
    "attack": _attack,
    "attack-intersect": _intersect,
    "attack-link": _attack_link,
    "attack-membership": _membership,
    "attack-reconstruct": _reconstruct,
    "attack-scoreboard": _scoreboard,
    "attack-unicity": _unicity,
    "cells": _cells,
    "compare": _compare,
    "compare-publications": _compare_publications,
    "anonymize": _anonymize,
    "lattice": _lattice,
    "desk-open": _desk_open,
    "desk-preview": _desk_preview,
    "desk-query": _desk_query,
    "desk-refusal": _desk_refusal,
    "desk-show": _desk_show,
    "detect": _detect,
    "findings": _findings,
    "dp-release": _dp_release,
    "epsilon": _epsilon,
    "hierarchy-build": _hierarchy_build,
    "hierarchy-check": _hierarchy_check,
    "leak": _leak,
    "leak-series": _leak_series,
    "profile": _profile,
    "publish": _publish,
    "quality": _quality,
    "regenerate": _regenerate,
    "reproduce": _reproduce,
    "release": _release,
    "risk": _risk,
    "sample-data": _sample,
    "import-policy": _import_policy,
    "standards": _standards,
    "stream": _stream,
    "doctor": _doctor,
    "perturb": _perturb,
    "pseudonymize": _pseudonymize,
    "safe-harbor": _safe_harbor,
    "k-safety": _k_safety,
    "scrub": _scrub,
    "shift-dates": _shift_dates,
    "verify": _verify,
}
