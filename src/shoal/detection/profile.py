"""What is in a table, column by column, in one pass, and which role each column may play. No value is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.detection.context import Codebook, Context, context_of_table
from shoal.detection.labelled_codes import propose_labelled_type
from shoal.detection.microdata import with_guesses
from shoal.detection.named_by_header import looks_like_weights, trouble_with_weights
from shoal.detection.profiles import ColumnProfile, Profile
from shoal.detection.proposal import proposed_rules
from shoal.detection.roles import is_measured, propose_role
from shoal.engine import engine_of
from shoal.errors import as_names
from shoal.formats.labels import ColumnLabels
from shoal.kinds import DECIDED, find_kinds
from shoal.policy import Policy, as_policy
from shoal.reading import Options, declaring
from shoal.table import Column
from shoal.table.type_words import type_word
from shoal.vocabulary import Role
from shoal.writing import check_target, write_whole

DECIDED_IN_POLICY = "Decided in the policy."
_NO_QUASI_IDENTIFIER = (
    "no column looks like a quasi-identifier: the policy can be used once you give at least one column this role"
)


def profile(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    policy: Policy | str | Path | None = None,
    codebook: str | Path | Codebook | None = None,
    write_policy: str | Path | None = None,
    force: bool = False,
    options: Options | None = None,
) -> Profile:
    """Profile a table: types, missing and distinct values, and a proposed role and type with their reasons.

    With a policy, the roles and types that it names are taken. A `codebook`, else that of the options, says what
    columns of codes hold (DDI, SPSS, CSV: docs/coded.md). `write_policy` writes a policy that is ready to run:
    the proposed roles and types, k-anonymity, l-diversity of what is sensitive. `force` replaces a file that exists.

    >>> import polars as pl
    >>> found = profile(pl.DataFrame({"email": ["a@b.org", "c@d.org", None], "sex": ["f", "m", "f"]}))
    >>> [(column.name, column.role, column.kind, column.nulls) for column in found.columns]
    [('email', 'identifier', 'email', 1), ('sex', 'quasi-identifier', 'sex', 0)]
    """
    target = None if write_policy is None else Path(write_policy)
    if target is not None:
        check_target(target, force, (".yaml", ".yml"))
    decided = as_policy(policy)
    names = None if columns is None else as_names(columns)
    reading = declaring(options, decided.types)
    table = engine_of(source, reading).rows(source, names, reading, needed=[])  # each column is looked at by itself
    profiles, names = [], [*table.columns, *table.beside]
    context = context_of_table(table, options.codebook if codebook is None and options is not None else codebook)
    for number, name in enumerate(names):
        progress.report("looking at columns", number, len(names))
        profiles.append(_profile(table[name], table.rows, decided.columns.get(name), context))
    profiles = with_guesses(table, profiles)
    rules = tuple(proposed_rules(table, profiles))
    result = Profile(table.rows, profiles, [*table.notes, *decided.remarks(table)], rules=rules)
    if target is None:
        return result
    if not any(column.role == "quasi-identifier" for column in profiles):
        result = replace(result, notes=[*result.notes, _NO_QUASI_IDENTIFIER])
    write_whole(target, lambda draft: draft.write_text(result.policy_text(), encoding="utf-8"))
    return replace(result, policy_file=str(target))


def _profile(column: Column, records: int, decided: Role | None, context: Context) -> ColumnProfile:
    counts = column.frequencies()
    kinds = find_kinds(context.view(column, counts, records)) if len(counts) else []
    said = context.codebook.get(column.name, ColumnLabels())
    proposal = propose_labelled_type(column, counts, records, kinds, said)
    measured = is_measured(column) or (column.dtype == pl.String and proposal.measured)
    role, confidence, reasons = propose_role(column, counts, records, kinds, measured)
    weights = looks_like_weights(column)
    if weights is not None:
        role, confidence, reasons = "other", 0.8, [weights]
    elif kinds and kinds[0].kind == "survey-weight" and kinds[0].confidence >= DECIDED:
        weights = None if kinds[0].rule == "source-series" else kinds[0].reason
    if decided is not None:
        role, confidence, reasons = decided, 1.0, [DECIDED_IN_POLICY, *reasons]
    inside, searched = None, None
    if role == "text" or (kinds and kinds[0].kind == "free-text" and kinds[0].confidence >= DECIDED):
        from shoal.detection.inside_text import in_words_of, kinds_inside

        inside, searched = kinds_inside(column, counts)
        reasons = [*reasons, in_words_of(inside, searched, records - column.nulls)]
    return ColumnProfile(
        kinds_inside=inside,
        records_searched=searched,
        name=column.name,
        type=type_word(column.dtype),
        nulls=column.nulls,
        distinct=len(column.values),
        single=int(np.count_nonzero(counts == 1)),
        role=role,
        kind=kinds[0].kind if kinds else None,
        confidence=round(confidence, 3),
        reasons=reasons,
        proposed_type=proposal.type.type if proposal.type is not None else None,
        type_reason=proposal.reason or None,
        declaration=proposal.type,
        weights=weights is not None,
        weights_trouble=None if weights is None else trouble_with_weights(column, counts),
    )
