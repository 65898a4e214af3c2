"""Policies as the app keeps them: their text, parsed once, and the files that they name."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from shoal.errors import InputError

# how `recode` generalises a column without a file
_NO_FILE = re.compile(r"|\*|(?:runs|chunks):[0-9]+")


@lru_cache(maxsize=8)
def parsed(text: bytes | None) -> Any:
    """The policy of a text; an empty one where there is none.

    >>> parsed(b"columns: {age: quasi-identifier}").quasi_identifiers, parsed(None).quasi_identifiers
    (['age'], [])
    """
    from shoal.policy import Policy
    from shoal.policy.schema import policy_from_text

    return Policy() if text is None else policy_from_text(text.decode("utf-8", "replace"), "of this file")


def as_text(policy: Any) -> bytes:
    """A policy (the library's, or its content, which the library checks) as the text of its file."""
    import yaml

    from shoal.policy import as_policy
    from shoal.policy.schema import LONGEST_POLICY

    text = yaml.safe_dump(as_policy(policy).as_written(), sort_keys=False, allow_unicode=True)
    if len(text) > LONGEST_POLICY:
        raise InputError(
            f"Written out, the policy is longer than {LONGEST_POLICY:,} characters.",
            "Keep large hierarchies in files, and name these.",
        )
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError("The policy holds what is not text (half of a character).", "Remove it.") from None


def named_files(policy: Any) -> list[str]:
    """Every file or folder that a policy or its method names, whether it is there or not.

    >>> from shoal.policy import as_policy
    >>> tree = {"name": "lattice", "hierarchies": {"age": "age.csv"}}
    >>> named_files(as_policy({"method": tree, "hierarchies": {"zip": "zip.csv", "sex": [["f", "*"]]}}))
    ['zip.csv', 'age.csv']
    """
    options = policy.method.options if policy.method is not None else {}
    named = [name for model in policy.models for name in model.needs_files]
    named += [link.table for link in policy.linked]
    for trees in (policy.hierarchies, options.get("hierarchies")):
        named += trees.values() if isinstance(trees, dict) else [trees]
    maps = options.get("generalize")
    named += maps.values() if isinstance(maps, dict) else []
    return [name for name in named if isinstance(name, str) and not _NO_FILE.fullmatch(name)]
