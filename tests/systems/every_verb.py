"""`python every_verb.py FOLDER REPORT`: every verb of the command line on small tables in a folder, in one process.

REPORT gets a list of JSON: the words of each command, its exit code, and the bytes that it printed. A third argument is
a file with other commands, in JSON.
"""

from __future__ import annotations

import gc
import io
import json
import os
import sys
from pathlib import Path

import polars as pl

from shoal.cli import main

POLICY = """\
columns:
  {age: quasi-identifier, sex: quasi-identifier, "ville → été": quasi-identifier, illness: sensitive, seen: other}
models: [{model: k-anonymity, k: 3}]
attacks: {singling_out: {accept: the people are invented}, inference: {accept: the people are invented}}
"""
SURVEY = """\
questions:
  sex: {answers: [f, m], epsilon: 1}
  illness: {answers: [grippe, Krankheit Ω, asthma], epsilon: 1}
  age: {range: [18, 98], epsilon: 1}
"""
STREAM = "columns: {age: quasi-identifier, who: identifier}\nperson: who\nmodels: [{model: k-anonymity, k: 3}]\n"
PRIVATE = """\
columns: {age: other, sex: other, "ville → été": identifier, illness: identifier, seen: identifier}
domains: {age: {min: 18, max: 98, width: 20}, sex: [f, m]}
"""
ROLES = ["--decide", "seen=other"]
QI = ["--qi", "age,sex,ville → été"]
K = [*QI, "-k", "3", "--seed", "1", *ROLES]
# the verb, its arguments and the exit code if that is not 0
COMMANDS: list[tuple[list[str], int]] = [
    (["sample-data", "discharges", "-n", "60", "--seed", "0", "-o", "sample.csv"], 0),
    (["sample-data", "licences", "-n", "300", "--seed", "1", "-o", "licences.csv"], 0),
    (["profile", "people.csv", "--write-policy", "proposed.yaml"], 0),
    (["profile", "people.csv", "--json"], 0),
    (["detect", "people.csv", "--chart", "frontier.svg"], 0),
    (["detect", "people.csv", "--json"], 0),
    (["risk", "people.csv", *QI, "--threshold", "ema", "--sampling", "50%", "--junit", "risk.xml"], 0),
    (["risk", "people.csv", *QI, "--json"], 0),
    (["risk", "people.csv", *QI, "--fail-above-threshold", "--threshold", "ema"], 1),
    (["risk", "people.csv", *QI, "--memory", "1kB"], 0),
    (["risk", "missing.csv", *QI], 2),
    (["leak", "people.csv", "--qi", "age", "--leaked", "10", "--threshold", "ema"], 0),
    (["lattice", "people.csv", *QI, "-k", "3", "--suppression", "10%", "--chart", "lattice.html"], 0),
    (["cells", "counts.csv", "--by", "sex", "--count", "n"], 1),
    (["hierarchy", "build", "people.csv", "-o", "trees", "--column", "age,sex"], 0),
    (["hierarchy", "check", "trees/age.csv", "trees/sex.csv", "--data", "people.csv"], 0),
    (["anonymize", "people.csv", "-o", "safe.csv", *K, "--sensitive", "illness"], 0),
    (["anonymize", "people.csv", "-o", "safe.csv", *K, "--sensitive", "illness", "--force"], 0),
    (["anonymize", "people.csv", "-o", "boxes.parquet", *K, "--sensitive", "illness", "--method", "mondrian"], 0),
    (["anonymize", "people.csv", "-o", "tree.csv", *K, "--sensitive", "illness", "--method", "lattice"], 0),
    (["anonymize", "people.csv", "-o", "disk.csv", "--qi", "age,seen", "-k", "3", "--seed", "1",
      "--sensitive", "illness", "--decide", "sex=other,ville → été=other", "--method", "sorted-clusters",
      "--memory", "1kB"], 0),
    (["anonymize", "people.csv", "-o", "sqlite:///safe.db?table=safe", *K, "--sensitive", "illness"], 0),
    (["anonymize", "people.csv", "-o", "book.xlsx", *K, "--sensitive", "illness"], 0),
    (["anonymize", "visits.csv", "-o", "survey.sav", "--qi", "age,zip", "-k", "3", "--seed", "1",
      "--decide", "patient=identifier,admitted=other"], 0),
    (["risk", "survey.sav", "--qi", "age"], 0),
    (["perturb", "people.csv", "-o", "noisy.csv", "--noise", "age=0.1", "--seed", "1", *ROLES,
      "--decide", "sex=quasi-identifier,ville → été=quasi-identifier"], 0),
    (["safe-harbor", "visits.csv", "-o", "harbor.csv", "--write-policy", "harbor.yaml", "--seed", "1"], 0),
    (["pseudonymize", "visits.csv", "--column", "patient", "--key-file", "key.bin", "-o", "pseudo.csv"], 0),
    (["pseudonymize", "visits.csv", "--column", "patient", "--key-file", "key.bin", "-o", "pseudo.csv", "--force"], 0),
    (["pseudonymize", "visits.csv", "--column", "patient", "--surrogates", "table.csv", "-o", "words.csv"], 0),
    (["shift-dates", "visits.csv", "--person", "patient", "--key-file", "key.bin", "-o", "shifted.csv"], 0),
    (["scrub", "notes.csv", "--text", "note", "--known", "name", "-o", "scrubbed.csv"], 0),
    (["k-safety", "notes.csv", "--text", "note", "--entities", "entities.csv", "-k", "2", "-o", "k-safe.csv"], 0),
    (["regenerate", "masked.csv", "--distribution", "race.csv", "--seed", "1", "-o", "filled.csv"], 0),
    (["apply", "tree.plan.json", "people.csv", "-o", "again.csv", "--seed", "1"], 0),
    (["signing-key", "owner.pem"], 0),
    (["publish", "people.csv", "--policy", "policy.yaml", "-o", "release", "--seed", "1", "--sign", "owner.pem"], 0),
    (["publish", "people.csv", "--policy", "policy.yaml", "-o", "release", "--seed", "1", "--no-pdf", "--force"], 0),
    (["publish", "people.csv", "--policy", "strict.yaml", "-o", "refused", "--keep-evidence", "evidence"], 1),
    (["report", "release.private", "-o", "report.html"], 0),
    (["stream", "arriving.jsonl", "--policy", "stream.yaml", "--delay", "20", "--state", "waiting",
      "-o", "leaving.jsonl"], 0),
    (["verify", "leaving.jsonl", "--state", "waiting"], 0),
    (["dp-release", "people.csv", "--policy", "private.yaml", "--epsilon", "1", "-o", "private.csv"], 0),
    (["epsilon", "people.csv", "--policy", "private.yaml"], 0),
    (["anonymize", "people.csv", "-o", "apart", "--method", "anatomy", "--l", "2", "--sensitive", "illness",
      "--seed", "1", *ROLES], 0),
    (["estimate", "apart", "--where", "age >= 40"], 0),
    (["verify", "safe.csv", "--original", "people.csv", "--sarif", "verify.sarif"], 0),
    (["verify", "release"], 0),
    (["verify", "sqlite:///safe.db?table=safe"], 0),
    (["attack", "all", "safe.csv"], 0),
    (["attack", "link", "safe.csv", "--with", "people.csv", "--on", "age,sex"], 0),
    (["attack", "unicity", "long.csv", "--person", "who", "--columns", "thing,value", "--points", "1,2"], 0),
    (["attack", "scoreboard", "long.csv", "--person", "who", "--item", "thing", "--value", "value", "--date", "day",
      "--known", "2", "--wrong", "1"], 0),
    (["attack", "intersect", "people.csv", "people.csv", "--person", "seen", "--qi", "sex",
      "--sensitive", "illness"], 0),
    (["attack", "membership", "frequencies.csv", "--candidates", "in.csv", "--reference", "out.csv"], 0),
    (["attack", "reconstruct", "answers.csv", "--people", "people.csv"], 0),
    (["compare", "safe.csv", "tree.csv", "-o", "compare.html"], 0),
    (["standards"], 0),
    (["standards", "ema-0070"], 0),
    (["standards", "ema-0070", "-o", "ema.yaml"], 0),
    (["import-policy", "hierarchy.txt", "-o", "taken.yaml"], 0),
    (["desk", "open", "people.csv", "--epsilon", "1", "--confirm-types", "-o", "desk"], 0),
    (["desk", "query", "desk", "count", "--where", "age >= 40", "--epsilon", "0.1"], 0),
    (["desk", "query", "desk", "count", "--epsilon", "3"], 3),
    (["desk", "show", "desk"], 0),
    (["local", "collect-spec", "survey.yaml", "-o", "kit"], 0),
    (["local", "collect-spec", "survey.yaml", "-o", "kit"], 2),
    (["local", "randomize", "people.csv", "--spec", "kit", "--person", "seen", "--memo", "memo.json",
      "-o", "reports.csv"], 0),
    (["local", "estimate", "reports.csv", "--spec", "kit", "--cross", "sex,illness"], 0),
    (["joint", "simulate", "--peers", "40", "-k", "4", "--liars", "5%"], 0),
    (["reproduce", "pastore", "--data", "licences.csv", "-o", "papers", "--no-charts"], 0),
    (["schema"], 0),
    (["schema", "risk"], 0),
    (["doctor"], 0),
    (["app", "--help"], 0),
]  # fmt: skip


def write_inputs() -> None:
    """Small tables and files in the current folder."""
    rows = range(60)
    ill = ["grippe", "Krankheit Ω", "asthma"]
    people = {
        "age": [20 + row * 7 % 50 for row in rows],
        "sex": ["f" if row % 2 else "m" for row in rows],
        "ville → été": [f"{75000 + row % 4}" for row in rows],
        "illness": [ill[row % 3] for row in rows],
        "seen": [1000 + row for row in rows],
    }
    pl.DataFrame(people).write_csv("people.csv")
    names = [f"Person{row % 20}" for row in rows]
    dates = [f"2012-{1 + row % 12:02}-{1 + row % 28:02}" for row in rows]
    visits = {"patient": names, "admitted": dates, "zip": people["ville → été"], "age": people["age"]}
    pl.DataFrame(visits).write_csv("visits.csv")
    pl.DataFrame({"name": names, "note": [f"{name} came back coughing" for name in names]}).write_csv("notes.csv")
    pl.DataFrame({"entity": ["a", "b", "c"], "term": ["coughing", "coughing", "Person1"]}).write_csv("entities.csv")
    long = {"who": [1, 1, 1, 2, 2, 3], "thing": list("abcabc"), "value": [5, 4, 3, 2, 1, 5], "day": [1, 20, 3, 4, 5, 6]}
    pl.DataFrame(long).write_csv("long.csv")
    markers = [f"rs{number}" for number in range(30)]
    genomes = pl.DataFrame({name: [n % 2, (n + 1) % 2, n % 3, 1] for n, name in enumerate(markers)})
    genomes.head(2).write_csv("in.csv")
    genomes.write_csv("out.csv")
    pl.DataFrame({"marker": markers, "frequency": [0.25] * 30}).write_csv("frequencies.csv")
    texts = {
        "policy.yaml": POLICY,
        "strict.yaml": POLICY.replace("k: 3", "k: 99"),
        "counts.csv": "sex,n\nf,20\nm,5\nTotal,25\n",
        "masked.csv": "race,n\n*,7\nwhite,1\n*,2\n",
        "race.csv": "race,n\nblack,1\n",
        "answers.csv": "where,answer\nsex = 'f',2\nsex = 'm',1\n",
        "survey.yaml": SURVEY,
        "stream.yaml": STREAM,
        "private.yaml": PRIVATE,
        "arriving.jsonl": "".join(f'{{"age": {20 + row * 7 % 50}, "who": {row}}}\n' for row in rows),
        "hierarchy.txt": "distinct\nname town\ntype string\nheight 2\n\nall has Oslo Rome\n",
    }
    for name, text in texts.items():
        Path(name).write_bytes(text.encode())
    Path("key.bin").write_bytes(bytes(range(200, 232)))
    Path("key.bin").chmod(0o600)


def run(words: list[str], encoding: str = "cp1252") -> tuple[object, bytes]:
    """The exit code of a command, and what it printed to a terminal that raises on signs it does not know."""
    printed = io.BytesIO()
    before = sys.argv, sys.stdout, sys.stderr
    sys.argv = ["shoal", *words]
    terminal = io.TextIOWrapper(printed, encoding=encoding, errors="strict", write_through=True)
    sys.stdout = sys.stderr = terminal
    code: object = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException as error:
        code = repr(error)
    finally:
        sys.argv, sys.stdout, sys.stderr = before
        gc.collect()
    terminal.flush()
    return code, printed.getvalue()


if __name__ == "__main__":
    report = Path(sys.argv[2]).absolute()
    commands = json.loads(Path(sys.argv[3]).read_bytes()) if sys.argv[3:] else COMMANDS
    os.chdir(sys.argv[1])
    write_inputs()
    found = []
    for asked, expected in commands:
        ended, text = run(asked)
        found.append({"words": asked, "expected": expected, "code": ended, "text": text.decode("cp1252")})
    report.write_bytes(json.dumps(found).encode())
