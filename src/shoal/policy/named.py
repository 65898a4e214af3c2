"""Other standards as named policies, each with its source and date. Which one applies is the user's to confirm."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from shoal.errors import InputError
from shoal.models import KAnonymity
from shoal.policy import Policy
from shoal.policy.sections import AttackLimits
from shoal.results import Cell, Files, Grid, Headline, Notes, Result, Section, where_known
from shoal.storage.writing import check_target, write_text
from shoal.wording import counted

SAFE_HARBOR_RULE = "45 CFR 164.514(b)(2), HIPAA Privacy Rule, safe harbor method; guidance of HHS OCR, 26 November 2012"


@dataclass(frozen=True)
class Test:
    """One thing that a standard asks, and the command that answers it (None: not measured yet)."""

    __test__ = False  # no test of pytest's

    name: str
    question: str
    command: str | None


@dataclass(frozen=True)
class Standard:
    """A regulation or guidance as a policy: where it stands, since when, what it asks."""

    name: str
    title: str
    source: str
    date: str
    policy: Policy
    tests: tuple[Test, ...]
    remark: str

    def policy_text(self) -> str:
        """The policy as a file to be completed with the roles of columns and confirmed."""
        lines = [f"# {self.title}", f"# {self.source} ({self.date})", f"# {self.remark}", "# Confirm the figures."]
        lines.append("columns: {}  # name them: age: quasi-identifier, …")
        if self.policy.threshold is not None:
            lines.append(f"threshold: {self.policy.threshold}")
        if self.policy.models:
            lines.append("models:")
        lines += [
            f"  - {{model: k-anonymity, k: {model.k}}}" for model in self.policy.models if isinstance(model, KAnonymity)
        ]
        if self.policy.attacks is not None:
            lines.append("attacks:  # how much more an attack may succeed on people in the release than on others")
            limits = self.policy.attacks.model_dump(exclude_none=True)
            lines += [f"  {name}: {limit:g}" for name, limit in limits.items()]
        return "\n".join([*lines, ""])


_ATTACK = "shoal verify FILE --policy wp29 --original ORIGINAL --attack"
_RISK = "shoal risk FILE --policy {name} --qi … --fail-above-threshold"


def _at_most(name: str) -> tuple[Test, ...]:
    return (Test("re-identification", "Is the risk of every record at most the threshold?", _RISK.format(name=name)),)


STANDARDS = {
    standard.name: standard
    for standard in (
        Standard(
            "hipaa-safe-harbor", "HIPAA safe harbor", SAFE_HARBOR_RULE,
            "rule of 14 August 2002, guidance of 26 November 2012",
            Policy(),
            (Test("18 identifiers", "Is everything removed that the rule lists?", "shoal safe-harbor FILE -o …"),),
            "A list of things to remove; it bounds no risk.",
        ),
        Standard(
            "ema-0070", "EMA Policy 0070, clinical reports made public",
            "European Medicines Agency, external guidance on Policy 0070, EMA/90915/2016",
            "2 March 2016, and later versions",
            Policy(threshold="ema", models=[KAnonymity(k=12)]), _at_most("ema-0070"),
            "A risk of at most 0.09 takes classes of 12: 1/11 is 0.0909.",
        ),
        Standard(
            "health-canada", "Health Canada, Public Release of Clinical Information",
            "Health Canada, guidance document on the Public Release of Clinical Information", "12 March 2019",
            Policy(threshold="health-canada", models=[KAnonymity(k=12)]), _at_most("health-canada"),
            "A risk of at most 0.09 takes classes of 12: 1/11 is 0.0909.",
        ),
        Standard(
            "cms-cells", "CMS cell size suppression, for tables of counts",
            "US Centers for Medicare & Medicaid Services, cell size suppression policy for data users",
            "as published by ResDAC; confirm with your data use agreement",
            Policy(threshold="cms", models=[KAnonymity(k=11)]),
            (Test("cells", "Is no count of 1 to 10 shown or derivable?", "shoal cells FILE --by … --count …"),),
            "No count of 1 to 10, nor a figure from which one follows; zero may be shown.",
        ),
        Standard(
            "k-11", "Classes of at least 11, for records",
            "the cell size of the US Centers for Medicare & Medicaid Services, applied to classes of records",
            "see cms-cells", Policy(models=[KAnonymity(k=11)]), _at_most("k-11"),
            "Everybody shares all quasi-identifiers with ten others at least.",
        ),
        Standard(
            "wp29", "GDPR: three tests of the Article 29 Working Party",
            "Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques, WP216", "10 April 2014",
            Policy(
                models=[KAnonymity(k=2)], attacks=AttackLimits(singling_out=0.05, linkability=0.05, inference=0.05)
            ),
            (
                Test("singling out", "Can a record of a person be isolated?", _ATTACK),
                Test("linkability", "Can records about one person be linked?", _ATTACK),
                Test("inference", "Can a value be deduced with significant probability?", _ATTACK),
            ),
            "The Opinion names three tests and no figures: the limits on attacks are a proposal.",
        ),
    )
}  # fmt: skip


def find_standard(name: str) -> Standard:
    """A standard by its name.

    >>> find_standard("ema-0070").policy.threshold
    'ema'
    """
    if name not in STANDARDS:
        raise InputError(f"There is no standard '{name}'.", f"Known: {', '.join(STANDARDS)}.")
    return STANDARDS[name]


# The list of standards that shoal knows, or one of them as a policy file.


@dataclass(frozen=True)
class StandardEntry:
    """A standard with the threshold and the models of its policy, and that policy as a file."""

    name: str
    title: str
    source: str
    date: str
    threshold: float | str | None
    models: list[dict[str, Any]]
    tests: list[Test]
    remark: str
    policy_text: str

    @classmethod
    def of(cls, standard: Standard) -> StandardEntry:
        """As an entry of the list."""
        return cls(
            name=standard.name,
            title=standard.title,
            source=standard.source,
            date=standard.date,
            threshold=standard.policy.threshold,
            models=[model.model_dump() for model in standard.policy.models],
            tests=list(standard.tests),
            remark=standard.remark,
            policy_text=standard.policy_text(),
        )


@dataclass(frozen=True, repr=False)
class Standards(Result):
    """The standards that shoal knows, or one of them, and the policy file that was written."""

    name: ClassVar[str] = "standards"

    standards: list[StandardEntry]
    policy_file: str | None = where_known()

    def summary(self) -> str:
        """How many there are, or which one it is."""
        if len(self.standards) == 1:
            return f"{self.standards[0].title}. {self.standards[0].remark}"
        return f"{counted(len(self.standards), 'standard')} as named policies."

    def sections(self) -> list[Section]:
        """Names with their sources, and the command that answers each test."""
        rows = [(entry.name, entry.title, Cell(f"{entry.source} ({entry.date})", "dim")) for entry in self.standards]
        notes = [
            f"{entry.name}, {test.name}: {test.command or 'not measured yet'}"
            for entry in self.standards
            for test in entry.tests
        ]
        notes.append("which standard applies, and with which threshold, is yours to confirm")
        grid = Grid(("name", "what it is", "source and date"), rows, 3)
        shown: list[Section] = [Headline(self.summary()), grid, Notes(notes)]
        return shown if self.policy_file is None else [*shown, Files({"policy": self.policy_file})]


def standards(name: str | None = None, *, output: str | Path | None = None, force: bool = False) -> Standards:
    """The standards that shoal knows, or one by its name; `output` writes the policy of one to a file.

    >>> [entry.name for entry in standards().standards][:2]
    ['hipaa-safe-harbor', 'ema-0070']
    """
    chosen = list(STANDARDS.values()) if name is None else [find_standard(name)]
    entries = [StandardEntry.of(standard) for standard in chosen]
    if output is None:
        return Standards(entries)
    if name is None:
        raise InputError("No standard is named.", "Name the one whose policy is written, such as ema-0070.")
    target = Path(output)
    check_target(target, force, (".yaml", ".yml"))
    write_text(target, entries[0].policy_text)
    return Standards(entries, policy_file=str(target))
