"""`python compare_commits.py OLD NEW`: some 260 commands with two installations, and what they did differently.

OLD and NEW are interpreters of environments in which one commit each is installed, or interpreter:folder-of-source.
Every command runs in a folder of its own installation, on tables that both wrote alike; compared are exit codes, what
was printed, and every file that was written, byte for byte. Times, secrets drawn at random, versions and dates are
masked.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from systems import every_verb

QI = ["--qi", "age_yrs,sex,race,patzip"]
OTHER = ["--decide", "ethncty=other,patcnty=other,oshpd_id=other,los=other,adm_qtr=other,charge=other"]
SEED = ["--seed", "1"]
FORMATS = ["csv", "tsv", "parquet", "arrow", "xlsx", "sav", "dta", "jsonl", "db"]
METHODS = {
    "mondrian": [],
    "lattice": [],
    "sorted-clusters": [],
    "microaggregate": [],
    "coarsen": ["--resolution", "4"],
    "recode": [],
    "suppress": [],
}
VERBS = """sample-data profile detect risk leak lattice cells hierarchy anonymize perturb safe-harbor pseudonymize
shift-dates scrub k-safety regenerate apply signing-key publish report verify attack compare standards
import-policy desk app reproduce schema doctor"""
# less than the sample takes as codes: what is read goes to disk
SMALL = ["--memory", "1MB"]
MODELS = [
    ["--l", "2"],
    ["--t", "0.4"],
    ["--model", "beta-likeness beta=4 sensitive=charge"],
    ["--model", "entropy-l-diversity l=1.5 sensitive=charge"],
    ["--model", "k-anonymity k=6"],
    ["--model", "average-risk threshold=0.1"],
]


def commands() -> Iterator[list[str]]:
    """The words of every command, in the order in which they are run."""
    for name, rows in (("discharges", "6000"), ("licences", "500"), ("ratings", "2000"), ("trips", "2000")):
        yield ["sample-data", name, "-n", rows, *SEED, "-o", f"{name}.csv"]
    table = "discharges.csv"
    for ending in FORMATS:
        name = f"copy-{ending}.{ending}" if ending != "db" else "sqlite:///copy.db?table=t"
        yield ["anonymize", table, *QI, "-k", "3", *SEED, *OTHER, "-o", name, "--method", "mondrian", "--keep-order"]
        yield ["risk", name, *QI, "--json"]
        yield ["verify", name, "--original", table, "--json"]
        yield ["profile", name, "--json"]
    for method, settings in METHODS.items():
        for memory in ([], SMALL):
            out = f"{method}{len(memory)}.csv"
            yield [
                "anonymize",
                table,
                *QI,
                "-k",
                "5",
                *SEED,
                *OTHER,
                "-o",
                out,
                "--method",
                method,
                *settings,
                *memory,
                "--json",
            ]
            yield ["verify", out, "--original", table]
            yield ["attack", "all", out, *SEED]
    for number, model in enumerate(MODELS):
        given = [
            *QI,
            "--sensitive",
            "charge",
            "-k",
            "4",
            *model,
            *SEED,
            *OTHER[:1],
            OTHER[1].replace(",charge=other", ""),
        ]
        yield ["anonymize", table, *given, "-o", f"model{number}.parquet", "--json"]
        yield ["verify", f"model{number}.parquet", "--json"]
    for memory in ([], ["--memory", "20kB"]):
        for more in (
            ["--threshold", "ema"],
            ["--sampling", "5%", "--estimate", "all"],
            ["--suda"],
            ["--null-rule", "wildcard"],
            ["--null-rule", "drop"],
            ["--sensitive", "charge", "--disclosure", "charge>100000"],
            ["--count", "los"],
            ["--person", "oshpd_id"],
            ["--weight", "age_yrs", "--household", "oshpd_id"],
            ["--knowledge", "census=age_yrs,sex", "--knowledge", "place=patzip,patcnty"],
        ):
            keys = [] if "--knowledge" in more else QI
            yield ["risk", table, *keys, *more, *memory]
            yield ["risk", table, *keys, *more, *memory, "--json"]
        for name in ("discharges", "licences", "ratings", "trips"):
            yield ["detect", f"{name}.csv", *memory]
            yield ["detect", f"{name}.csv", *memory, "--json"]
        yield ["leak", table, *QI, "--leaked", "100", *memory]
        yield ["leak", table, *QI, "--leaked", "10%", "--threshold", "ema", "--json", *memory]
    for name in ("discharges", "licences", "ratings", "trips"):
        yield ["profile", f"{name}.csv", "--write-policy", f"{name}.yaml"]
    yield ["lattice", table, *QI, "-k", "3", "--suppression", "5%", "--json"]
    yield ["hierarchy", "build", table, "-o", "trees", "--column", "age_yrs,patzip"]
    yield ["hierarchy", "check", "trees/age_yrs.csv", "trees/patzip.csv", "--data", table]
    for change in (
        ["--noise", "charge=0.1"],
        ["--swap", "age_yrs=5%"],
        ["--pram", "race=0.9"],
        ["--shuffle", "charge=age_yrs+los"],
        ["--top-code", "charge=99%", "--round", "charge=100"],
        ["--correlated-noise", "charge,los=0.2"],
    ):
        out = f"perturbed{change[0]}.csv"
        roles = ["--decide", "age_yrs=other,sex=other,race=other,patzip=other," + OTHER[1]]
        yield ["perturb", table, "-o", out, *change, *SEED, *roles, "--json"]
        yield ["verify", out, "--original", table]
    yield ["safe-harbor", "visits.csv", "-o", "harbor.csv", "--write-policy", "harbor.yaml", *SEED]
    yield ["pseudonymize", "visits.csv", "--column", "patient", "--key-file", "key.bin", "-o", "pseudo.csv", "--json"]
    yield ["shift-dates", "visits.csv", "--person", "patient", "--key-file", "key.bin", "-o", "shifted.csv", "--json"]
    for style in ("tag", "mask"):
        yield ["scrub", "notes.csv", "--text", "note", "--known", "name", "-o", f"{style}.csv", "--replace", style]
    key = ["--key-file", "key.bin"]
    yield [
        "scrub",
        "notes.csv",
        "--text",
        "note",
        "--known",
        "name",
        "-o",
        "surrogate.csv",
        "--replace",
        "surrogate",
        *key,
    ]
    yield ["scrub", "notes.csv", "--text", "note", "-o", "unknown.csv", "--json"]
    yield ["k-safety", "notes.csv", "--text", "note", "--entities", "entities.csv", "-k", "2", "-o", "k-safe.csv"]
    yield ["regenerate", "masked.csv", "--distribution", "race.csv", *SEED, "-o", "filled.csv"]
    yield ["cells", "counts.csv", "--by", "sex", "--count", "n"]
    yield ["cells", "counts.csv", "--by", "sex", "--count", "n", "--json"]
    yield ["apply", "lattice0.plan.json", table, "-o", "again.csv", *SEED, "--json"]
    for pdf in ([], ["--json"]):
        yield ["publish", table, "--policy", "publish.yaml", "-o", f"release{len(pdf)}", *SEED, "--no-pdf", *pdf]
        yield ["verify", f"release{len(pdf)}", *pdf]
    yield ["report", "release0.private", "-o", "report.html"]
    yield ["attack", "link", "mondrian0.csv", "--with", table, "--on", "age_yrs,sex"]
    yield ["attack", "unicity", "trips.csv", "--person", "person", "--columns", "cell,hour", "--points", "1,2", *SEED]
    yield ["compare", "mondrian0.csv", "lattice0.csv", "-o", "compare.html"]
    for name in ("ema-0070", "hipaa-safe-harbor", "wp29", "cms-cells"):
        yield ["standards", name]
    yield ["standards"]
    yield ["import-policy", "hierarchy.txt", "-o", "taken.yaml"]
    yield ["desk", "open", table, "--epsilon", "1", "--confirm-types", "-o", "desk"]
    yield ["desk", "show", "desk"]
    yield ["schema"]
    yield ["reproduce", "pastore", "--counts", "licences.csv", "-o", "papers", "--no-charts"]
    # refused, each for a reason of its own
    yield from (
        ["risk", "missing.csv", *QI],
        ["risk", table, "--qi", "nothing"],
        ["risk", table, *QI, "--threshold", "7"],
        ["risk", table, *QI, "--estimate", "nobody"],
        ["risk", table, *QI, "--null-rule", "perhaps"],
        ["detect", table, "--max-columns", "-1"],
        ["anonymize", table, *QI, "-k", "0", "-o", "bad.csv", *OTHER],
        ["anonymize", table, *QI, "-k", "3", "-o", "bad.unknown", *OTHER],
        ["anonymize", table, *QI, "-k", "3", "-o", table, *OTHER],
        ["anonymize", table, *QI, "-k", "3", "-o", "bad.csv"],
        ["anonymize", table, *QI, "-o", "bad.csv", *OTHER],
        ["anonymize", table, *QI, "-k", "9999", "-o", "bad.csv", *OTHER, "--method", "lattice", "--suppression", "0%"],
        ["anonymize", table, *QI, "-k", "3", "-o", "bad.csv", *OTHER, "--method", "magic"],
        ["perturb", table, "-o", "bad.csv", "--noise", "charge=-1"],
        ["verify", "discharges.csv"],
        ["verify", "nothing.csv"],
        ["leak", table, *QI, "--leaked", "0"],
        ["publish", table, "--policy", "wrong.yaml", "-o", "bad"],
        ["publish", table, "--policy", "strict.yaml", "-o", "bad", "--keep-evidence", "evidence", *SEED],
        ["scrub", "notes.csv", "--text", "nothing", "-o", "bad.csv"],
        ["attack", "all", table],
        ["apply", "nothing.json", table, "-o", "bad.csv"],
        ["schema", "nothing"],
        ["nothing"],
        ["risk", table, "--nothing"],
    )
    for verb in VERBS.split():
        yield [verb, "--help"]


def write_inputs() -> None:
    """Small files in the current folder that neither `sample-data` nor the table of every verb makes."""
    rows = range(90)
    names = [["Anna Berger", "John Miller", "Jürgen Groß", "Marie Dupont"][row % 4] for row in rows]
    dates = [f"2012-{1 + row % 12:02}-{1 + row % 28:02}" for row in rows]
    visits = ["patient,admitted,zip,age"]
    notes = ["name,note"]
    for row in rows:
        visits.append(f"P{row % 20},{dates[row]},{75000 + row % 4},{20 + row * 7 % 80}")
        notes.append(
            f'{names[row]},"{names[row]} (SSN {100 + row}-45-{6000 + row}) was seen on {dates[row]} at 7500{row % 10}; '
            f'call 617-555-{1000 + row} or {names[row].split()[0].lower()}@example.org, age {60 + row}"'
        )
    columns = "age_yrs: quasi-identifier, sex: quasi-identifier, race: quasi-identifier, patzip: quasi-identifier"
    others = "charge: sensitive, ethncty: other, patcnty: other, oshpd_id: other, los: other, adm_qtr: other"
    policy = f"columns: {{{columns}, {others}}}\nmodels: [{{model: k-anonymity, k: 5}}]\n"
    texts = {
        "visits.csv": "\n".join(visits) + "\n",
        "notes.csv": "\n".join(notes) + "\n",
        "publish.yaml": policy,
        "strict.yaml": policy.replace("k: 5", "k: 5999"),
        "wrong.yaml": policy.replace("models", "modles"),
        "entities.csv": "entity,term\na,coughing\nb,coughing\nc,Anna\n",
    }
    for name, text in texts.items():
        Path(name).write_bytes(text.encode())


MASKS = [
    (re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|\+00:00)"), b"MOMENT"),
    (re.compile(rb"\b20\d\d-\d\d-\d\d \d\d:\d\d( UTC)?"), b"MOMENT"),
    (re.compile(rb"\b[0-9a-f]{32,128}\b|head begins with [0-9a-f]{16}"), b"HASH"),
    # the folders that are compared, and the seconds of a table of steps
    (re.compile(rb"/compared-\w+/(old|new)/"), b"/FOLDER/"),
    (re.compile(rb"(?m)(done|holds|measured|failed|refused) +[\d.]+ *$"), b"TIME"),
    (re.compile(rb'<td class="number">[\d.,]+</td>(?=\s*</tr>)'), b"TIME"),
    (re.compile(rb'"(cpu_)?seconds": [\d.e+-]+'), b'"seconds": 0'),
    (re.compile(rb"[\d.]+ (CPU )?(s|seconds?|ms|minutes?|MB|GB)\b"), b"TIME"),
]


def masked(content: bytes) -> bytes:
    """A file or print without what differs between two runs of one commit."""
    for pattern, instead in MASKS:
        content = pattern.sub(instead, content)
    return content


def record(folder: Path) -> None:
    """Runs every command in a folder, and keeps what came out of it and which files it wrote or changed."""
    report_file = folder.parent.absolute() / f"{folder.name}.jsonl"
    os.chdir(folder)
    every_verb.write_inputs()
    write_inputs()
    known: dict[str, int] = {}
    with report_file.open("w", encoding="utf-8") as report:
        for words in commands():
            code, printed = every_verb.run(words, "utf-8")
            changed = []
            for path in sorted(Path().rglob("*")):
                if path.is_file() and known.get(str(path)) != path.stat().st_mtime_ns:
                    known[str(path)] = path.stat().st_mtime_ns
                    changed.append(str(path))
            line = {"words": words, "code": code, "text": masked(printed).decode(), "files": changed}
            report.write(json.dumps(line) + "\n")
            report.flush()


def installed(which: str, name: str, folder: Path) -> subprocess.Popen[bytes]:
    """The recorder, started with one of the two installations."""
    interpreter, _, source = which.partition(":")
    work = folder / name
    work.mkdir()
    environment = {**os.environ, "COLUMNS": "100", "PYTHONHASHSEED": "0", "SHOAL_NO_PROGRESS": "1"}
    if source:
        environment["PYTHONPATH"] = source
    return subprocess.Popen([interpreter, __file__, "--record", str(work)], env=environment)


def compare(folder: Path) -> int:
    """How many commands differ; prints each."""
    lines = [(folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines() for name in ("old", "new")]
    differing = 0
    for first, second in zip(*lines, strict=True):
        old, new = json.loads(first), json.loads(second)
        reasons = [what for what in ("code", "text", "files") if old[what] != new[what]]
        for name in sorted(set(old["files"]) & set(new["files"])):
            ours = [masked((folder / side / name).read_bytes()) for side in ("old", "new")]
            if ours[0] != ours[1]:
                reasons.append(name)
        if reasons:
            differing += 1
            print("shoal", *old["words"])
            print("   differs:", ", ".join(reasons))
            if "code" in reasons:
                print(f"   exit {old['code']} -> {new['code']}")
    print(f"{len(lines[0])} commands, {differing} differ; kept in {folder}")
    return differing


if __name__ == "__main__":
    if sys.argv[1] == "--record":
        record(Path(sys.argv[2]))
    else:
        kept = Path(tempfile.mkdtemp(prefix="compared-"))
        started = [installed(which, name, kept) for which, name in zip(sys.argv[1:3], ("old", "new"), strict=True)]
        for process in started:
            process.wait()
        sys.exit(1 if compare(kept) else 0)
