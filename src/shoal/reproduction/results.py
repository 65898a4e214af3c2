"""A paper, reproduced: what was measured, and every statement of the paper beside it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from shoal.results import Cell, Grid, Headline, Result, Section, Tone, beside, left_out

if TYPE_CHECKING:
    from shoal.storage.reading import Options


# what the papers measure, by their names in JSON; a test keeps the list complete
# fmt: off
KEYS = (
    # all, or two of them
    "records", "seed",
    # the course
    "without_names", "linked", "unique_by_zip_size", "searches", "ratings", "five_records", "four_records",
    "two_diverse", "nine_records", "laplace", "desk", "clauses", "columns_left", "membership",
    # Sánchez
    "attributes", "eq1", "original", "correlations", "s2", "s3", "s4", "sweep", "masking", "chain",
    "least_loss", "table_s6", "table_s7", "table_s9", "s1", "correlation_of_tables", "largest_difference_from_table_s5",
    # Pastore
    "removed_rows", "columns", "detection", "strategies", "best", "anonymize_k_2", "k_anonymity",
    "generated",
    # Antoniou
    "persons", "runs", "example", "fig_1", "fig_2", "fig_3a", "fig_3b", "fig_4a", "fig_4b", "fig_5", "smallest_k",
    "counterexample", "one_less_or_more", "positives",
)
# fmt: on
Number = str | int | float | None
TONES: dict[bool | None, Tone] = {True: "good", False: "bad", None: "warning"}


def quoted(words: str) -> str:
    """Words of the paper, verbatim, in quotation marks; three dots stand for words left out.

    >>> quoted("The two approaches agree.")
    '“The two approaches agree.”'
    """
    return f"“{words}”"


@dataclass(frozen=True)
class Line:
    """One statement: ours, the printed one where the paper prints it, and why they differ where they do.

    `match` is None where nothing is printed, or where the table has nothing to test a statement with. `within`: how far
    from the print still matches, or how we read a sentence; without it a number matches to its last printed digit.

    >>> Line("t for k = 10", "0.05", "0.05", True).verdict
    'match'
    >>> Line("age of the first group", "[35-52]", "[42-52]", False, "a misprint").verdict
    'a misprint'
    >>> Line("safe records that were changed", "0 of 0", "none", None, "no record was safe").verdict
    'not tested: no record was safe'
    """

    what: str
    ours: str
    printed: str | None = None
    match: bool | None = None
    reason: str = ""
    within: str = ""

    def __post_init__(self) -> None:
        if self.printed is None and self.match is not None:
            raise ValueError(f"'{self.what}' matches what is not printed")
        if self.printed is not None and not self.match and not self.reason:
            raise ValueError(f"'{self.what}' differs from the paper without a reason")

    @property
    def tolerance(self) -> str:
        """How far from the print still matches; nothing where nothing is compared."""
        if self.printed is None or self.match is None:
            return ""
        return self.within or ("as worded" if self.printed.startswith("“") else "as printed")

    @property
    def verdict(self) -> str:
        """`match` (of a number) or `holds` (of a sentence), the reason why not, or that there is nothing to match."""
        if self.printed is None:
            return f"not printed: {self.reason}" if self.reason else "not printed"
        if self.match is None:
            return f"not tested: {self.reason}"
        if not self.match:
            return self.reason
        return "holds" if self.printed.startswith("“") else "match"


@dataclass(frozen=True)
class PaperPart:
    """One table or figure: its words, its numbers, the comparison with the paper, its picture."""

    key: str
    heading: str
    text: str
    header: Sequence[str] = ()
    rows: Sequence[Sequence[Number]] = ()
    lines: Sequence[Line] = ()
    chart: Callable[[], Any] | None = field(default=None, repr=False, compare=False)
    # pictures of which one is looked at, by what chooses it
    steps: Mapping[str, Callable[[], Any]] = field(default_factory=dict, repr=False, compare=False)

    def comparison(self) -> Grid:
        """Each statement: ours, the printed one, how far from it still matches, the verdict."""
        rows = [
            (
                line.what,
                line.ours,
                line.printed or "–",
                line.tolerance,
                Cell(line.verdict, TONES[line.match] if line.printed else "dim"),
            )
            for line in self.lines
        ]
        return Grid(("", "ours", "printed", "tolerance", "verdict"), rows, left=5, title=self.heading)


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """A paper, reproduced: its name, the numbers that were measured, and the comparison with what is printed.

    In JSON the numbers of `found` stand beside `paper` and `comparison`: each paper has its own.
    """

    name: ClassVar[str] = "reproduce"

    paper: str
    found: dict[str, Any] = beside(KEYS)
    comparison: list[Line] = field(default_factory=list)
    title: str = left_out(default="")
    source: str = left_out(default="")
    text: str = left_out(default="")
    exhibits: Sequence[PaperPart] = left_out(default=())
    command: str = left_out(default="")
    # more files, each written by a function that takes its path
    files: Mapping[str, Callable[[Path], None]] = left_out(default_factory=dict)

    @classmethod
    def of(
        cls, paper: str, title: str, source: str, text: str, found: dict[str, Any], exhibits: Sequence[PaperPart]
    ) -> Reproduction:
        """The comparison is that of the exhibits, in the order of the page."""
        comparison = [line for exhibit in exhibits for line in exhibit.lines]
        return cls(paper, found, comparison, title, source, text, exhibits)

    def counts(self) -> dict[bool | None, int]:
        """How many printed statements match, differ, and could not be tested."""
        printed = [line.match for line in self.comparison if line.printed is not None]
        return {match: printed.count(match) for match in (True, False, None)}

    def summary(self) -> str:
        """One sentence of plain words."""
        counts = self.counts()
        tail = ""
        if differ := counts[False]:
            tail += f"; {differ} {'differs' if differ == 1 else 'differ'}, with the reason"
        if untested := counts[None]:
            tail += f"; {untested} could not be tested here"
        return f"{self.title}: {counts[True]} of {sum(counts.values())} printed statements come out{tail}."

    def sections(self) -> list[Section]:
        """The sentence, then every exhibit that has something to compare."""
        return [Headline(self.summary()), *(exhibit.comparison() for exhibit in self.exhibits if exhibit.lines)]


# The command that makes a page again, for its footer.


def command(
    paper: str,
    found: Mapping[str, Any],
    data: Any,
    columns: Mapping[str, str | None],
    options: Options | None,
    folder: Path | None,
    charts: bool,
    files: bool = False,
) -> str:
    """The whole command, with every setting that the numbers depend on; files by their name, without their folder.

    >>> command("sanchez", {"records": 20000, "seed": 0}, None, {}, None, Path("/data/papers"), True)
    'shoal reproduce sanchez --rows 20000 --seed 0 -o papers'
    """
    words = ["shoal", "reproduce", paper]
    if paper == "sanchez" and data is None:
        words += ["--rows", str(found["records"])]
    if data is not None:
        words += ["--data", Path(data).name if isinstance(data, (str, Path)) else "TABLE"]
        words += (_columns(columns) if paper == "pastore" else []) + _reading(options)
    if paper != "pastore" or data is None:
        words += ["--seed", str(found["seed"])]
    if folder is not None:
        words += ["-o", folder.absolute().name]
        words += [] if charts else ["--no-charts"]
        words += ["--files"] if files else []
    return shlex.join(words)


def _columns(columns: Mapping[str, str | None]) -> list[str]:
    from shoal.reproduction.pastore import LicenceColumns

    usual = vars(LicenceColumns())
    own = {name: column for name, column in columns.items() if column is not None and column != usual[name]}
    return [word for name, column in own.items() for word in (f"--{name}", column)]


def _reading(options: Options | None) -> list[str]:
    """How the file was read, where it is not the default."""
    if options is None:
        return []
    delimiter = "tab" if options.delimiter == "\t" else options.delimiter
    missing = ",".join(options.missing) or None
    named = {"--encoding": options.encoding, "--delimiter": delimiter, "--missing": missing}
    return [word for name, value in named.items() if value is not None for word in (name, value)]
