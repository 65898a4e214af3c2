"""Which released column is which column of another file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from shoal.attacks.linking.columns import UNLINKABLE
from shoal.errors import InputError
from shoal.releases.readable import Readable
from shoal.table import Table
from shoal.wording import in_words

On = Mapping[str, str] | Sequence[str] | str | None


def released_columns(released: Readable) -> list[str]:
    """The columns of a release by the names that they had in the original, those that tell something of it."""
    ends = {end for pair in released.pairs.values() for end in pair}
    names = [*released.pairs, *(name for name in released.table.names if name not in ends)]
    kinds = {name: released.forms[name].kind if name in released.forms else "as-it-was" for name in names}
    return [name for name in names if kinds[name] not in UNLINKABLE]


def columns_in_common(released: Readable, other: Table, on: On = None) -> dict[str, str]:
    """The columns to link on: each released one with its name in the other file.

    `on` names them, `age=age_yrs` where the names differ: the other file's name first, then the release's, or the
    other way round where only that is possible. Without it all names that both have.

    >>> from shoal.reading import read
    >>> from shoal.releases.readable import readable
    >>> columns_in_common(readable({"age_yrs": [1]}), read({"age": [1]}), "age=age_yrs")
    {'age_yrs': 'age'}
    """
    ours, theirs = released_columns(released), list(other.names)
    if on is None:
        found = {name: name for name in ours if name in theirs}
        if not found:
            raise InputError(
                "The release and the other file have no column in common.",
                "Say which belong together, such as age=age_yrs.",
            )
        return found
    return dict(_pair(left.strip(), right.strip(), ours, theirs) for left, right in _pairs(on))


def _pairs(on: Mapping[str, str] | Sequence[str] | str) -> Iterable[tuple[str, str]]:
    if isinstance(on, Mapping):
        return list(on.items())
    names = on.split(",") if isinstance(on, str) else list(on)
    if not names:
        raise InputError("No column to link on is named.", "Name one, or leave the setting `on` out.")
    parts = [name.partition("=") for name in names]
    return [(left, right if equals else left) for left, equals, right in parts]


def _pair(left: str, right: str, ours: list[str], theirs: list[str]) -> tuple[str, str]:
    if left in theirs and right in ours:
        return right, left
    if left in ours and right in theirs:
        return left, right
    for name in dict.fromkeys((left, right)):
        if name not in ours and name not in theirs:
            raise InputError(
                f"Neither file has a column '{name}'.",
                f"The release has {in_words(ours)}; the other file has {in_words(theirs)}.",
            )
    where = "the other file" if left in ours and right in ours else "the release"
    raise InputError(
        f"Columns '{left}' and '{right}' are not one of each file.", f"Name the column that {where} has: NAME=OTHER."
    )
