"""From several tables and a policy with relations to a folder of tables that still join, with one verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from shoal.errors import InputError, Message, PolicyNotMet, Setting
from shoal.methods.linked import anonymize_linked
from shoal.models import Verdict
from shoal.policy import Policy
from shoal.policy.judgement.linked_tables import LinkedTables, judge_views, read_linked, sources_of
from shoal.policy.relations import Relations
from shoal.releases.folder import check_free, check_outside
from shoal.releases.linked import draft_of, judged
from shoal.releases.signing import check_signing_key
from shoal.releases.table_set import TablesPlace, write_tables
from shoal.releases.write import Refused
from shoal.reports.tables import pages_of
from shoal.results import Commands, Grid, Headline, Notes, Result, Section, where_known
from shoal.results.sections import verdicts_grid
from shoal.storage.databases import Address, is_database
from shoal.storage.reading import read
from shoal.systems.console import shell_line
from shoal.verbs.releasing import PublishRequest
from shoal.wording import counted, percent


@dataclass(frozen=True)
class TableFigures:
    """What became of the rows of a table: released, suppressed to make persons alike, orphans (of no person), copies of
    rows that were looked up, references that were emptied; and the loss, a suppressed row losing all."""

    rows: int
    released: int
    orphans: int
    suppressed_rows: int
    copies: int
    emptied_references: int
    loss: float
    loss_by_column: dict[str, float]


@dataclass(frozen=True, repr=False)
class TablesPublication(Result):
    """Tables that were published together: one verdict on the views of persons, and what became of each table."""

    name: ClassVar[str] = "publish-tables"

    output: str | None
    verdict: str
    persons: int
    k: int
    classes: int
    uniques_before: int
    models: list[Verdict]
    tables: dict[str, TableFigures]
    refusal: str | None = where_known()
    notes: list[str] | None = where_known()

    def summary(self) -> str:
        """How many persons are alike in all tables together, or why nothing was written."""
        if self.refusal is not None:
            return " ".join(self.refusal.split())
        where = f" in {self.output}" if self.output else ""
        return (
            f"{counted(self.persons, 'person')} in {counted(len(self.tables), 'table')} ready to be published{where}: "
            f"each is like {self.k - 1:,} others or more in all tables together "
            f"({percent(self.uniques_before / max(self.persons, 1))} were unique)."
        )

    def sections(self) -> list[Section]:
        """The verdict, the tables, and where to look."""
        shown: list[Section] = [Headline(self.summary(), "good" if self.verdict == "holds" else "bad")]
        if self.models:
            shown.append(verdicts_grid(self.models))
        heads = ("table", "rows", "released", "suppressed", "orphans", "copies", "references emptied", "loss")
        rows = [
            (name, *(f"{count:,}" for count in (one.rows, one.released, one.suppressed_rows, one.orphans, one.copies,
             one.emptied_references)), f"{one.loss:.3f}")
            for name, one in self.tables.items()
        ]  # fmt: skip
        if rows:
            shown.append(Grid(heads, rows, 1))
        if self.notes:
            shown.append(Notes(list(self.notes)))
        if self.output is not None and self.verdict == "holds":
            private = f"{self.output} may leave; {self.output}.private is for its owner only"
            shown += [Notes([private]), Commands([f"shoal verify {shell_line(self.output)}"])]
        return shown


def publish_linked(source: Any, policy: Policy, request: PublishRequest) -> TablesPublication:
    """Anonymise all tables together, write them, join and judge what was written; the report has a page per table."""
    relations = policy.relations
    assert relations is not None
    _check_asked(policy, request)
    place = None if request.output is None else TablesPlace.of(request.output, _ending(source, relations))
    if place is not None:
        named = source if isinstance(source, (str, Path)) and not is_database(source) else None
        given = request.policy if isinstance(request.policy, (str, Path)) else None
        check_outside(named, given, policy, request.sign, place.folder, None)
        check_free(place.folder, request.force)
        if place.database is None and is_database(source):
            place = place._replace(database=_database_in(source, place.folder))
    check_signing_key(request.sign)
    linked = LinkedTables.of(relations, read_linked(source, relations, request.options))
    before = judge_views(linked, policy)
    uniques = int((before.sizes == 1).sum())
    try:
        result = anonymize_linked(linked, policy, request.seed)
        findings = {"persons": linked.persons, "uniques_before": uniques}
        draft = draft_of(result, findings)
        if place is None:
            found = judged({name: read(one.frame) for name, one in result.tables.items()}, policy)
        else:
            _, found = write_tables(draft, place, force=request.force, sign_with=request.sign, pages=pages_of)
    except (Refused, PolicyNotMet) as refusal:
        why = f"Refused, nothing was written. {refusal}" if isinstance(refusal, PolicyNotMet) else str(refusal)
        return TablesPublication(None, "refused", linked.persons, 0, 0, uniques, [], {}, why)
    tables = {name: TableFigures(**one.figures) for name, one in result.tables.items()}
    output = None if place is None else str(place.folder)
    notes = list(draft.notes) or None
    return TablesPublication(
        output, "holds", linked.persons, found.k, found.classes or 0, uniques, found.models, tables, None, notes
    )


def _check_asked(policy: Policy, request: PublishRequest) -> None:
    """Refuse what belongs to one table, and a policy that promises nothing."""
    if not policy.models:
        raise InputError("The policy names no privacy model, so nothing would be promised.", "Add one, such as k = 5.")
    given = [name for name in ("decide", "answers", "keep_evidence", "excel_safe") if getattr(request, name)]
    if given:
        raise InputError(
            Message("`{}` is for one table, and the policy is about several.", Setting(given[0])),
            "Leave it out; roles stand in the policy's relations.",
        )


def _ending(source: Any, relations: Relations) -> str:
    """The format of the tables: that in which they came."""
    found = {Path(one).suffix for one in sources_of(source, relations).values() if isinstance(one, Path)}
    return found.pop() if len(found) == 1 else ".csv"


def _database_in(source: Any, folder: Path) -> Any:
    """The database file of the same system in the folder of a release."""
    address = Address.of(source)
    if address.file is None:
        raise InputError(
            "Tables of a server are released into files.",
            Message("Name a database file: sqlite:///safe/clinic.db ({output})."),
        )
    return replace(address, database=str(folder / address.file.name), order=())
