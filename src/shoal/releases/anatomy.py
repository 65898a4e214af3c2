"""The release of an anatomised table: two tables, their manifest, and the owner's record; and both read again."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.methods.anatomy import COUNT, GROUP, NOTES, QUASI_IDENTIFIERS, SENSITIVE, Anatomized
from shoal.methods.results import Anonymized
from shoal.models import LDiversity
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import TABLES_MANIFEST, TABLES_RECORD, private_folder
from shoal.releases.results import NEEDS_PRIVATE, Released, Verification
from shoal.releases.table_set import TablesDraft, TableSet, TablesPlace, write_tables
from shoal.storage import Table
from shoal.storage.order import shuffled_order
from shoal.storage.reading import Options, read
from shoal.wording import in_words


def release_anatomy(
    result: Anonymized,
    output: str | Path,
    *,
    force: bool = False,
    seed: int | None = None,
    sign: str | Path | None = None,
) -> Released:
    """Write both tables into a folder, once what was written was judged, in a drawn order: the old one tells values."""
    assert isinstance(result, Anatomized)
    seed = secrets.randbits(63) if seed is None else seed
    order = shuffled_order(result.table.rows, seed)
    tables = {**result.tables, QUASI_IDENTIFIERS: result.tables[QUASI_IDENTIFIERS][order]}
    columns = result.manifest_columns()
    apart = [column for column in columns if column.name == result.sensitive]
    notes = [*NOTES, *result.decisions.notes]
    found = {"groups": int(result.groups.max()) + 1, "uniques_of_exact_quasi_identifiers": result.findings.uniques}
    draft = TablesDraft(
        "anatomy",
        tables,
        {QUASI_IDENTIFIERS: [column for column in columns if column not in apart], SENSITIVE: apart},
        result.policy,
        result.parameters,
        found,
        {"seed": seed, "shuffled": True},
        notes,
        lambda written: judged(written, result.policy, result.table, order),
    )
    place = TablesPlace.of(output)
    made, _ = write_tables(draft, place, force=force, sign_with=sign)
    private = private_folder(place.folder) / TABLES_RECORD
    manifest, said = place.folder / TABLES_MANIFEST, made.manifest
    signed = None if said.signature is None else said.signature.public_key
    return Released(
        place.folder, manifest, manifest, private, result.table.rows, 0, 0, 0, 0, said.verdict, 0, result.models,
        [], None, signed, [entry.column for entry in result.decisions.undecided_columns], notes,
    )  # fmt: skip


def judged(
    tables: Mapping[str, Table], policy: Policy, original: Table | None = None, order: object = None
) -> Verification:
    """The two tables as they are written: every group in both, l different values in each, and as it was before."""
    model = next((one for one in policy.models if isinstance(one, LDiversity)), None)
    if model is None or {QUASI_IDENTIFIERS, SENSITIVE} - set(tables):
        raise InputError("This is no release by anatomy.", "Name the folder that the method anatomy wrote.")
    exact, apart = (tables[name] for name in (QUASI_IDENTIFIERS, SENSITIVE))
    exact.select([GROUP, *policy.quasi_identifiers])
    apart.select([GROUP, COUNT, model.sensitive])
    cells = apart.to_polars()
    counts = cells[COUNT].cast(pl.Int64, strict=False)
    sizes = [
        frame.with_columns(pl.col(GROUP).cast(pl.String)).group_by(GROUP).agg(pl.col(COUNT).sum()).sort(GROUP)
        for frame in (
            exact.to_polars().select(GROUP, pl.lit(1, pl.Int64).alias(COUNT)),
            cells.with_columns(counts.fill_null(0)),
        )
    ]
    whole = bool((counts.cast(pl.String) == cells[COUNT].cast(pl.String)).fill_null(False).all())
    same = sizes[0].equals(sizes[1]) and whole and bool((counts.fill_null(0) > 0).all())
    column = apart[GROUP]
    weights = counts.fill_null(0).clip(0).to_numpy()
    evidence = evidence_of_rows(
        column.codes.astype(np.int64), {model.sensitive: apart[model.sensitive]}, weights=weights
    )
    models = [model.judge(evidence)]
    detail = "every group has as many records as values" if same else "groups of the two tables do not fit"
    checks = [Check("groups", same, detail)]
    promised = [other.model for other in policy.models if other is not model]
    promised += [] if policy.leak is None else ["leak"]
    if promised:
        detail = f"anatomy keeps one l-diversity and nothing else: not {in_words(promised)}"
        checks.append(Check("models", False, detail))
    if original is not None:
        checks += _against_original(exact, cells, policy, model.sensitive, original, order)
    holds = all(check.holds for check in checks) and all(one.holds for one in models)
    return Verification("holds" if holds else "refused", exact.rows, 0, 0, models, checks)


def _against_original(
    exact: Table, cells: pl.DataFrame, policy: Policy, sensitive: str, original: Table, order: object
) -> list[Check]:
    """Every record as it was, and in every group the values of its own records."""
    if exact.rows != original.rows or not isinstance(order, np.ndarray):
        return [Check("rows", False, f"{exact.rows:,} released of {original.rows:,}")]
    names = [name for name in exact.names if name != GROUP]
    missing = [name for name in [*names, sensitive] if not original.has(name)]
    if missing:
        return [Check("original", False, f"it is not the table of this release: {', '.join(missing[:8])} not there")]
    texts = {name: _texts(original[name].as_it_came()[order]) for name in [*names, sensitive]}
    checks = []
    for name in names:
        same = bool(_texts(exact[name].decode()).eq_missing(texts[name]).all())
        checks.append(Check(f"column {name}", same, "as it was" if same else "it was changed"))
    keys = pl.col(GROUP).cast(pl.String), pl.col(sensitive)
    before = pl.DataFrame([exact[GROUP].decode(), texts[sensitive].alias(sensitive)])
    before = before.with_columns(keys).group_by(GROUP, sensitive).agg(pl.len().cast(pl.Int64).alias(COUNT))
    after = cells.with_columns(keys[0], _texts(cells[sensitive]).alias(sensitive), pl.col(COUNT).cast(pl.Int64))
    after = after.select(GROUP, sensitive, COUNT)
    same = before.sort(GROUP, sensitive).equals(after.sort(GROUP, sensitive))
    return [*checks, Check(f"column {sensitive}", same, "its own values in each group" if same else "it was changed")]


def _texts(values: pl.Series) -> pl.Series:
    """Cells as a text file has them, an empty one being missing."""
    written = pl.DataFrame([values.alias("x")]).write_csv(quote_style="always").encode()
    return pl.read_csv(written, infer_schema=False)["x"].fill_null("")


def verify_anatomy(release: TableSet, policy: Policy, original: object, options: Options | None) -> Verification:
    """A release by anatomy, read again; with its original record by record."""
    if original is None:
        return judged(release.tables, policy)
    private = release.private
    if private is None:
        found = judged(release.tables, policy)
        return Verification("refused", found.records, 0, 0, found.models,
                            [*found.checks, Check("rows", False, NEEDS_PRIVATE)])  # fmt: skip
    table = read(original, None, options)
    order = shuffled_order(table.rows, int(private["seed"])) if private["shuffled"] else np.arange(table.rows)
    return judged(release.tables, policy, table, order)
