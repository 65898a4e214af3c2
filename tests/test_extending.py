"""What CONTRIBUTING.md says of adding things is true: a dummy of each is added to a copy of the package, and works.

Each test touches the files that the page names, at most three, and nothing else.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accepted import ACCEPTED
from shoal.attacks import Attack

ROOT = Path(__file__).parents[1]
Edit = Callable[..., None]


class Copy:
    """A copy of the package in which files are added and lines inserted; it counts what it touches."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "src" / "shoal", folder / "shoal", ignore=shutil.ignore_patterns("__pycache__"))
        self.touched: set[str] = set()

    def add(self, name: str, text: str) -> None:
        assert not (self.folder / "shoal" / name).exists()
        (self.folder / "shoal" / name).write_text(text)
        self.touched.add(name)

    def change(self, name: str, old: str, new: str) -> None:
        path = self.folder / "shoal" / name
        text = path.read_text()
        assert old in text, f"{old!r} is not in {name}"
        path.write_text(text.replace(old, new, 1))
        self.touched.add(name)

    def run(self, code: str) -> str:
        assert len(self.touched) <= 3
        page = (ROOT / "CONTRIBUTING.md").read_text()
        for name in self.touched:  # a new file stands there with its folder
            assert name in page or f"{Path(name).parent}/" in page, f"CONTRIBUTING.md does not name {name}"
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.folder,
            env={"PYTHONPATH": f"{self.folder}{os.pathsep}{ROOT / 'tests'}", "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def publish(self, policy: dict[str, Any], table: str | None = None, *pages: str) -> dict[str, str]:
        """What a publication, its report and the app's pages show of sixty-one people, each by its name."""
        if table is None:
            table = "people.csv"
            rows = "".join(f"{20 + n % 30},{'abc'[n % 3]}\n" for n in range(61))
            (self.folder / table).write_text(f"age,illness\n{rows}")
        policy = {"attacks": ACCEPTED, **policy}
        shown: dict[str, str] = json.loads(self.run(THROUGH_THE_APP.format(table=table, policy=policy, pages=pages)))
        return shown


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


THROUGH_THE_APP = """
import json
from pathlib import Path
from app.conftest import running
from shoal.app.project import Settings
from shoal.reports.findings import read_findings
from shoal.reports.report import report_html

with running(Settings(allow=(Path.cwd(),))) as app:
    workspace = app.open(Path({table!r}).absolute())
    workspace.set_policy({policy!r})
    for verb, options in (("propose", {{}}), ("risk", {{}}), ("protect", {{}}), ("publish", {{"no_pdf": True}})):
        app.done(workspace, verb, **options)
    folder = Path(app.jobs.found(workspace, "publish").result["output"])
    with app.browser() as client:
        shown = {{key: client.get(f"/w/{{workspace.id}}/{{key}}").text for key in ("protect", "check", *{pages!r})}}
    shown["report"] = (folder / "report.html").read_text()
    shown["hipaa"] = report_html(read_findings(folder), "hipaa")
print(json.dumps(shown))
"""
ROLES = {"age": "quasi-identifier", "illness": "sensitive"}
K = {"model": "k-anonymity", "k": 3}
PEOPLE = "{'age': [30, 30, 30, 51, 51, 51], 'illness': list('abcabc')}"


def test_a_model(copy: Copy) -> None:
    copy.add(
        "models/odd_sizes.py",
        '''"""Every class has an odd number of members."""

from typing import Literal

from shoal.models.base import Evidence, Model
from shoal.storage import Array


class OddSizes(Model):
    """A dummy."""

    model: Literal["odd-sizes"] = "odd-sizes"

    @property
    def limit(self) -> float:
        return 1

    def measure(self, evidence: Evidence) -> Array:
        return evidence.sizes % 2
''',
    )
    copy.change(
        "models/__init__.py",
        "from shoal.models.k_anonymity import KAnonymity\n",
        "from shoal.models.k_anonymity import KAnonymity\nfrom shoal.models.odd_sizes import OddSizes\n",
    )
    copy.change("models/__init__.py", "    XYAnonymity,\n)", "    XYAnonymity,\n    OddSizes,\n)")
    policy = "{'columns': {'age': 'quasi-identifier'}, 'models': [{'model': 'odd-sizes'}]}"
    out = copy.run(
        f"import shoal\nfound = shoal.risk({PEOPLE}, policy={policy})\n"
        "print(found.models[0].name, found.models[0].holds)"
    )
    assert out == "odd-sizes True\n"
    one_class = {"name": "coarsen", "resolution": 1}
    shown = copy.publish(
        {"attacks": ACCEPTED, "columns": ROLES, "models": [{"model": "odd-sizes"}], "method": one_class}
    )
    assert all("odd-sizes" in shown[place] for place in ("report", "protect", "check"))


def test_a_method(copy: Copy) -> None:
    copy.add(
        "methods/one_box.py",
        '''"""`one-box`: everybody in one box."""

from typing import Any, ClassVar

from pydantic import Field

from shoal.methods.boxes import BoxesByColumn, MakeBoxes
from shoal.methods.coarsen import coarsen
from shoal.policy import Policy
from shoal.storage import Table


class OneBox(BoxesByColumn):
    """A dummy."""

    name: ClassVar[str] = "one-box"
    does: ClassVar[str] = "everybody in one box"

    why: str = Field(default="no reason", description="An option of its own.")

    def boxes(self, table: Table, policy: Policy) -> tuple[MakeBoxes, dict[str, Any]]:
        return lambda columns: coarsen(columns, 1, "range"), {"why": self.why}
''',
    )
    listed = '    "suppress": "Suppress",\n'
    copy.change("methods/__init__.py", listed, f'{listed}    "one-box": "OneBox",\n')
    roles = "'columns': {'age': 'quasi-identifier', 'illness': 'sensitive'}"
    policy = (
        f"{{{roles}, 'models': [{{'model': 'k-anonymity', 'k': 2}}], 'method': {{'name': 'one-box', 'why': 'asked'}}}}"
    )
    out = copy.run(
        f"import shoal\nfound = shoal.anonymize({PEOPLE}, {policy})\n"
        "print(found.method, found.parameters['why'], found.frame['age'].to_list()[0], found.verdict)\n"
        "try:\n    shoal.anonymize({'age': [1, 1]}, quasi_identifiers=['age'], k=2, method='one-box', effort='best')\n"
        "except shoal.InputError as error:\n    print('why' in str(error))"
    )
    assert out == "one-box asked [30;51] holds\nTrue\n"
    asked = copy.run("import sys\nfrom shoal.cli import main\nsys.argv = ['shoal', 'anonymize', '--help']\nmain()")
    assert "--why" in asked
    shown = copy.publish({"columns": ROLES, "models": [K], "method": {"name": "one-box"}})
    assert "Method: one-box (everybody in one box)." in shown["report"]
    assert "by one-box, on all 61 records" in shown["protect"]


def test_a_format(copy: Copy) -> None:
    copy.add(
        "storage/reading/pipes.py",
        '''"""Values between bars, a dummy format: the first line begins with `|`."""

from collections.abc import Iterator

import polars as pl

from shoal.storage.reading.files import InputFile, Options, TableFile


def open_pipes(found: InputFile, options: Options, head: bytes) -> TableFile:
    """Open a file."""
    lines = [line.strip("|").split("|") for line in found.path.read_text().splitlines()]

    def batches(columns: list[str]) -> Iterator[tuple[pl.DataFrame, int]]:
        yield pl.DataFrame(lines[1:], schema=lines[0], orient="row").select(columns), found.path.stat().st_size

    return TableFile(found.path, lines[0], batches, from_text_file=True)
''',
    )
    copy.change(
        "storage/reading/files.py",
        "OPENERS: dict[str, tuple[str, ...]] = {",
        'OPENERS: dict[str, tuple[str, ...]] = {"pipes": ("pipes", "open_pipes"), ',
    )
    copy.change(
        "storage/formats/__init__.py",
        "FORMATS: list[FileFormat] = [\n",
        "def write_pipes(frame, path, labels):\n"
        '    """Write a file."""\n'
        "    rows = [frame.columns, *frame.rows()]\n"
        '    path.write_text("".join("|" + "|".join(map(str, row)) + "|\\n" for row in rows))\n\n'
        "FORMATS: list[FileFormat] = [\n"
        '    FileFormat("pipes", (".pipes",), _starts(b"|"), writes=(".pipes",), write=write_pipes),\n',
    )
    out = copy.run(
        "import shoal, polars as pl\nfrom shoal.storage.writing import write_frame\n"
        f"write_frame(pl.DataFrame({PEOPLE}), 'people.pipes')\n"
        "table = shoal.read('people.pipes')\nprint(table.names, table.rows, table['age'].values.to_list())"
    )
    assert out == "['age', 'illness'] 6 [30, 51]\n"
    rows = "".join(f"|{20 + n % 30}|{'abc'[n % 3]}|\n" for n in range(61))
    (copy.folder / "all.pipes").write_text(f"|age|illness|\n{rows}")
    shown = copy.publish({"columns": ROLES, "models": [K]}, "all.pipes", "release")
    assert "61 records in 2 columns" in shown["report"]
    assert "data.pipes" in shown["release"]


def test_an_attack(copy: Copy) -> None:
    copy.add(
        "attacks/everybody.py",
        '''"""A dummy that hits everybody."""

from typing import ClassVar

import numpy as np

from shoal.attacks.base import Attack, AttackOutcome, Criterion
from shoal.attacks.subject import Subject


class Everybody(Attack):
    """A dummy."""

    name: ClassVar[str] = "everybody"
    criterion: ClassVar[Criterion] = "singling-out"
    knows: ClassVar[str] = "Knows everything about everybody."
    success: ClassVar[str] = "Always."

    def skips(self, subject: Subject) -> str | None:
        return None

    def run(self, subject: Subject) -> AttackOutcome:
        return AttackOutcome.of(self.name, self.criterion, np.ones(subject.table.rows))
''',
    )
    copy.change(
        "attacks/__init__.py",
        "from shoal.attacks.homogeneity import Homogeneity\n",
        "from shoal.attacks.everybody import Everybody\nfrom shoal.attacks.homogeneity import Homogeneity\n",
    )
    copy.change("attacks/__init__.py", "ATTACKS.extend([", "ATTACKS.extend([Everybody(), ")
    out = copy.run(
        "import shoal\n"
        f"made = shoal.anonymize({PEOPLE}, quasi_identifiers=['age'], sensitive='illness', k=3,\n"
        "    method='sorted-clusters')\n"
        "shoal.release(made, 'safe.parquet')\n"
        "found = shoal.attack('safe.parquet').attacks[0]\n"
        "print(found.name, found.successes, found.targets)"
    )
    assert out == "everybody 6 6\n"
    shown = copy.publish({"columns": ROLES, "models": [K]})
    for place in ("report", "check"):
        assert "Knows everything about everybody." in shown[place]
        assert re.search(r"everybody</t[dh]><td[^>]*>61", shown[place])


def test_an_attack_without_words_is_refused_where_it_is_written() -> None:
    with pytest.raises(TypeError, match="The attack silent lacks knows and success, by which a report explains it"):
        type("Silent", (Attack,), {"name": "silent", "criterion": "inference"})


def test_a_country(copy: Copy) -> None:
    lion = r"""# Narnia, a dummy: the number of a lion.
[nn-lion]
country = NN
kind = national-id
noun = a Narnian lion number
form = ^NN\d{4}$
words = lion
alone = 0.9

[us-ssn]"""
    copy.change("identifiers/countries.ini", "[us-ssn]", lion)
    rows = "".join(f"NN{1000 + n},{20 + n % 30},{'abc'[n % 3]}\n" for n in range(61))
    (copy.folder / "lions.csv").write_text(f"lion,age,illness\n{rows}")
    shown = copy.publish(
        {"attacks": ACCEPTED, "columns": {"lion": "identifier", **ROLES}, "models": [K]}, "lions.csv", "columns"
    )
    assert "a Narnian lion number" in shown["columns"]
    assert "a Narnian lion number" in shown["report"]


def test_a_chapter_of_a_report(copy: Copy) -> None:
    copy.add(
        "reports/chapters/lions.py",
        '''"""What lions would say."""

from __future__ import annotations

from shoal.reports.chapters.base import Chapter
from shoal.reports.findings import ReportFindings
from shoal.results import Headline


def lions(found: ReportFindings) -> Chapter:
    """A dummy."""
    return Chapter("lions", "Lions", "A dummy.", [Headline(f"Lions know of {found.data.released} people.")])
''',
    )
    copy.change(
        "reports/chapters/__init__.py",
        "from shoal.reports.chapters.summary import",
        "from shoal.reports.chapters.lions import lions\nfrom shoal.reports.chapters.summary import",
    )
    copy.change("reports/chapters/__init__.py", "utility, limits,", "utility, lions, limits,")
    shown = copy.publish({"columns": ROLES, "models": [K]}, None, "report")
    for place in ("report", "hipaa"):  # a standard that has no heading for it shows it all the same
        assert "Lions know of 61 people." in shown[place]
        assert 'href="#lions"' in shown[place]


def test_a_page_of_the_app(copy: Copy) -> None:
    copy.add(
        "app/pages/lions.py",
        '''"""Lions, a dummy page: what the risk is, in the library's own sections."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from shoal.app.pages.request import ensure
from shoal.app.pages.steps import AppStep, page
from shoal.app.server import jobs_of, workspace_of
from shoal.results.html import markup

router = APIRouter()
STEP = AppStep(
    "lions", "Lions", "What lions see", "What do lions see?", "A dummy.",
    verbs={"risk": "Lions are looking"}, done_by="risk",
)


@router.get("/w/{identifier}/lions")
def lions(request: Request, identifier: str) -> HTMLResponse:
    """A dummy."""
    workspace = workspace_of(request, identifier)
    ensure(request, workspace, "risk")
    found = jobs_of(request).found(workspace, "risk")
    return page(request, workspace, "lions", found=Markup(markup(found.sections)) if found else None)
''',
    )
    copy.add(
        "app/templates/lions.html",
        '{% extends "base.html" %}{% block main %}<h1>{{ step.title }}</h1>{% include "jobs.html" %}'
        '{% if found %}<div class="shown">{{ found }}</div>{% endif %}{% endblock %}',
    )
    copy.change("app/pages/__init__.py", "    hierarchies,\n", "    hierarchies,\n    lions,\n")
    copy.change(
        "app/pages/__init__.py", "(start, steps, data, columns, risk,", "(start, steps, data, columns, risk, lions,"
    )
    shown = copy.publish({"columns": ROLES, "models": [K]}, None, "lions", "risk")
    assert "<h1>What do lions see?</h1>" in shown["lions"]
    assert "class size" in shown["lions"]
    assert 'aria-current="step"' in shown["lions"]
    for place in ("risk", "check"):  # a step among the others: linked, done, and the next one after risk
        assert re.search(r'<li class="done">\s*<a href="[^"]*/w/[0-9a-f]+/lions">', shown[place])
    assert re.search(r'href="[^"]*/w/[0-9a-f]+/lions">Next: lions', shown["risk"])


def test_an_option(copy: Copy) -> None:
    """One field is a keyword of the library, an option with its help, a field of the API, part of a step that is
    repeated by hand, and a line of the documentation."""
    copy.change(
        "verbs/measuring.py",
        "    options: Any = None\n\n\n@dataclass(frozen=True, kw_only=True)\nclass LatticeRequest",
        "    hair: Annotated[int, Option('--hair-length', 'A dummy.', 'CM', unit='centimetres', least=3)] = 7\n"
        "    options: Any = None\n\n\n@dataclass(frozen=True, kw_only=True)\nclass LatticeRequest",
    )
    out = copy.run(
        "import inspect, runpy, shoal, sys\n"
        "print(inspect.signature(shoal.leak).parameters['hair'])\n"
        "print(shoal.leak(persons=10, leaked=4, class_size=5, hair=9).persons)\n"
        "from click.testing import CliRunner\nfrom shoal.cli.group import app\n"
        "print(CliRunner().invoke(app, ['leak', '--help']).output)\n"
        "done = CliRunner().invoke(app, 'leak --persons 10 --leaked 4 --class-size 5 --hair-length 9'.split())\n"
        "print(done.exit_code)\n"
        "from shoal.app.api import router\nfrom fastapi import FastAPI\n"
        "server = FastAPI()\nserver.include_router(router)\n"
        "print(server.openapi()['components']['schemas']['LeakOptions']['properties']['hair_length'])\n"
        "from pathlib import Path\nfrom shoal.app.project import Project\n"
        "from shoal.app.reproduce_step import reproduce_step\n"
        "space = Project.open(Path('project')).new('people.csv', 'upload')\n"
        "print(*vars(reproduce_step(space, 'leak', {'leaked': 4, 'hair_length': 9})).values(), sep='\\n')\n"
        f"print(runpy.run_path({str(ROOT / 'docs' / 'option_tables.py')!r})['table']('leak'))"
    )
    signature, persons, rest = out.split("\n", 2)
    assert (signature, persons) == ("hair: int = 7", "10")
    assert re.search(r"--hair-length CM +A dummy. \[default: 7\]", rest)
    assert "'minimum': 3" in rest
    assert "'description': 'A dummy. In centimetres.'" in rest
    assert "shoal leak people.csv --leaked 4 --hair-length 9" in rest
    assert "shoal.leak('people.csv', leaked=4, hair=9)" in rest
    assert "| `--hair-length CM` | `hair` | `hair_length` | A dummy. [default: 7] (at least 3 centimetres) |" in rest


def test_a_report_section(copy: Copy) -> None:
    """A result shows one more grid in all media by naming it in `sections()`: one file."""
    copy.change(
        "exposure/results.py",
        "        return [*shown, ",
        '        shown.append(Grid(("dummy", "figure"), [("one more section", "42")]))\n        return [*shown, ',
    )
    out = copy.run(
        "import shoal\nfrom shoal.cli.render import show\n"
        f"found = shoal.risk({PEOPLE}, quasi_identifiers=['age'])\n"
        "show(found)\nprint('one more section' in found._repr_html_())"
    )
    assert re.search(r"one more section +42", out)
    assert out.endswith("True\n")


def test_an_engine_operation(copy: Copy) -> None:
    copy.change(
        "engine/base.py",
        "    def pairs(",
        '    def rows_of(self, source: Any) -> int:\n        """How many rows a source has."""\n\n    def pairs(',
    )
    copy.change(
        "engine/local.py",
        "    def pairs(",
        "    def rows_of(self, source: Any) -> int:\n"
        '        """How many rows a source has."""\n'
        "        return read(source).rows\n\n"
        "    def pairs(",
    )
    out = copy.run(f"from shoal.engine import LOCAL\nprint(LOCAL.rows_of({PEOPLE}))")
    assert out == "6\n"
