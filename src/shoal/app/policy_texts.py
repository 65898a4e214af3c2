"""Policies as the app keeps them: their text, parsed once, and the files that they name."""

from __future__ import annotations

import re
import threading
from typing import Any

from shoal.errors import InputError

# how `recode` generalises a column without a file
_NO_FILE = re.compile(r"|\*|(?:runs|chunks):[0-9]+")
_OURS = "of this file"
_MOST = 8
_PARSED: dict[bytes, Any] = {}
_LOCK = threading.Lock()


def parsed(text: bytes | None) -> Any:
    """The policy of a text; an empty one where there is none.

    >>> parsed(b"columns: {age: quasi-identifier}").quasi_identifiers, parsed(None).quasi_identifiers
    (['age'], [])
    """
    from shoal.policy import Policy
    from shoal.policy.loading import policy_from_text

    if text is None:
        return Policy()
    found = _PARSED.get(text)
    return found if found is not None else _remember(text, policy_from_text(text.decode("utf-8", "replace"), _OURS))


def _remember(text: bytes, policy: Any) -> Any:
    """Keep a policy beside its text: a long one takes seconds to parse."""
    with _LOCK:
        while len(_PARSED) >= _MOST:
            del _PARSED[next(iter(_PARSED))]
        _PARSED[text] = policy
    return policy


def as_text(policy: Any) -> bytes:
    """A policy (the library's, or its content, which the library checks) as the text of its file."""
    import yaml

    from shoal.policy import as_policy
    from shoal.policy.loading import LONGEST_POLICY

    made = as_policy(policy)
    text = yaml.safe_dump(made.as_written(), sort_keys=False, allow_unicode=True)
    if len(text) > LONGEST_POLICY:
        raise InputError(
            f"Written out, the policy is longer than {LONGEST_POLICY:,} characters.",
            "Keep large hierarchies in files, and name these.",
        )
    try:
        written = text.encode()
    except UnicodeEncodeError:
        raise InputError("The policy holds what is not text (half of a character).", "Remove it.") from None
    _remember(written, made)
    return written


def named_files(policy: Any) -> list[str]:
    """Every file or folder that a policy or its method names, whether it is there or not.

    >>> from shoal.policy import as_policy
    >>> tree = {"name": "lattice", "hierarchies": {"age": "age.csv"}}
    >>> named_files(as_policy({"method": tree, "hierarchies": {"zip": "zip.csv", "sex": [["f", "*"]]}}))
    ['zip.csv', 'age.csv']
    """
    options = policy.method.options if policy.method is not None else {}
    named = [name for model in policy.models for name in model.needs_files]
    named += [] if policy.relations is None else [one.file for one in policy.relations.tables.values()]
    for trees in (policy.hierarchies, options.get("hierarchies")):
        named += trees.values() if isinstance(trees, dict) else [trees]
    maps = options.get("generalize")
    named += maps.values() if isinstance(maps, dict) else []
    return [name for name in named if isinstance(name, str) and not _NO_FILE.fullmatch(name)]
