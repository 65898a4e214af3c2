"""Columns that a policy calls text, scrubbed as its section `text` says: for every verb that releases a table."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.policy import Policy
from shoal.scrubbing.columns import scrubbed_columns
from shoal.scrubbing.knowledge import knowledge_of
from shoal.scrubbing.summary import ScrubbedText
from shoal.table import Table
from shoal.text.model import engine_name


def scrubbed_text(
    table: Table, policy: Policy, names: Sequence[str] | None = None, removed: Sequence[str] = ()
) -> ScrubbedText | None:
    """The columns with the role `text`, scrubbed; None where there is none.

    All identifiers of the policy, and columns that are `removed`, are looked for, and those that the section names.
    """
    texts = [name for name in names or policy.with_role("text") if name in table.columns]
    if not texts:
        return None
    section = policy.text
    person = section.person or policy.person
    there = [name for name in policy.with_role("identifier") if name in table.columns]
    named = section.known or ()
    table.select([*named, *([section.person] if section.person is not None else [])])
    looked_at = dict.fromkeys([*named, *there, *removed])
    known = [name for name in looked_at if name in table.columns and name not in texts]
    whose = person if person in table.columns else None
    looked_for = list(dict.fromkeys([*known, *([whose] if whose is not None else [])]))
    made = scrubbed_columns(table, texts, knowledge_of(table, looked_for, whose), section.replace)
    return ScrubbedText(section.replace, known, whose, engine_name(None), made)
