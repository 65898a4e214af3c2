"""What safe harbor proposed, as a policy file for people to check."""

from __future__ import annotations

from shoal.detection.profiles import yaml_key
from shoal.standards.hipaa.results import SafeHarbor


def policy_text(result: SafeHarbor) -> str:
    """A policy that decides what was proposed, the reasons as comments.

    Kept columns are named as comments only: undecided, their cells are searched for hidden identifiers.

    >>> import polars as pl
    >>> from shoal.standards.hipaa.safe_harbor import safe_harbor
    >>> print(policy_text(safe_harbor(pl.DataFrame({"age": [36, 91], "sex": ["f", "m"]}), year_of_data=2012)))
    # Proposed by shoal for HIPAA safe harbor. Check every line: what stands here counts as decided by you.
    columns:
      age: quasi-identifier
      sex: quasi-identifier
    safe_harbor:
      year_of_data: 2012
      columns:
        # 100% of the records with a value hold a number from 0 to 125; the header says 'age'.
        age: age
        # kept: sex (sex)
    <BLANKLINE>
    """
    kept = set(result.polars.columns)
    lines = [
        "# Proposed by shoal for HIPAA safe harbor. Check every line: what stands here counts as decided by you.",
        "columns:",
    ]
    lines += [f"  {yaml_key(entry.column)}: {entry.role}" for entry in result.treatments if entry.column in kept]
    lines += ["safe_harbor:", f"  year_of_data: {result.year_of_data}", "  columns:"]
    named = False
    for entry in result.treatments:
        key = yaml_key(entry.column)
        if entry.action == "kept" and not entry.decided:
            known = f" ({entry.kind})" if entry.kind else "; no rule recognised it"
            lines.append(f"    # kept: {key}{known}")
            continue
        word = entry.clause if entry.action == "removed" else "keep" if entry.action == "kept" else entry.action
        lines += [f"    # {' '.join(entry.reason.split())}", f"    {key}: {word}"]
        named = True
    if not named:
        lines[lines.index("  columns:")] = "  columns: {}"
    return "\n".join([*lines, ""])
