"""Files of this machine below the folders that the user allowed at start; links and `..` do not lead out of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.app.project import PROJECT_MARK, named_files
from shoal.errors import InputError
from shoal.policy.manifest import OWNERS_ENDINGS

MOST_ENTRIES = 2_000
# what a reader takes for more than the one path: patterns, addresses, the home of a user; and what no name holds
_NOT_A_PATH = re.compile(r"[*?\[\]\0\ud800-\udfff]|^~|^[A-Za-z][A-Za-z0-9+.-]+:")


@dataclass(frozen=True)
class PickerEntry:
    """A file or a folder: its name, the address by which the picker knows it, and the size of a file."""

    name: str
    place: str
    size: int | None = None


@dataclass(frozen=True)
class FolderListing:
    """A folder: where it is, its folders and tables, the folder above, and whether more is there than is shown."""

    place: str
    folder: str
    above: str | None
    folders: list[PickerEntry]
    files: list[PickerEntry]
    more: bool = False


class Picker:
    """Looks into allowed folders. A place is `0/sub/people.csv`: the number of the folder, then the way below it."""

    def __init__(self, allow: tuple[Path, ...]) -> None:
        self.roots = tuple(folder.resolve() for folder in allow)

    @staticmethod
    def is_table(path: Path) -> bool:
        """Whether a file is listed and may be opened: its ending is one of a table, its name not one of an own file."""
        from shoal.storage.reading.files import table_extensions

        known = (*table_extensions(), ".json")
        if path.name.startswith((".", "_")) or "\\" in path.name:
            return False
        return path.is_file() and any(ending.lower() in known for ending in path.suffixes[-2:])

    def look(self, place: str = "") -> FolderListing:
        """What is in a folder; without a place, the allowed folders (or the one there is)."""
        if not place and len(self.roots) != 1:
            entries = [PickerEntry(str(root), str(number)) for number, root in enumerate(self.roots)]
            return FolderListing("", "", None, entries, [])
        place = place or "0"
        folder = self._resolve(place)
        if not folder.is_dir():
            raise _not_allowed()
        above = place.rpartition("/")[0] if "/" in place else ("" if len(self.roots) > 1 else None)
        folders, files = self._entries(folder, place)
        more = len(folders) + len(files) > MOST_ENTRIES
        return FolderListing(place, str(folder), above, folders[:MOST_ENTRIES], files[:MOST_ENTRIES], more)

    def _entries(self, folder: Path, place: str) -> tuple[list[PickerEntry], list[PickerEntry]]:
        folders, files = [], []
        try:
            inside = sorted(folder.iterdir(), key=lambda path: path.name.lower())
        except OSError:
            raise InputError("This folder cannot be read.", "Check the rights on it.") from None
        for path in inside:
            if path.name.startswith((".", "_")) or not self._is_inside(path) or "\\" in path.name:
                continue
            if path.is_dir():
                folders.append(PickerEntry(path.name, f"{place}/{path.name}"))
            elif self.is_table(path):
                files.append(PickerEntry(path.name, f"{place}/{path.name}", path.stat().st_size))
        return folders, files

    def file(self, place: str) -> Path:
        """The file of a place, with all links followed; refused where it is not below an allowed folder."""
        path = self._resolve(place)
        if not self.is_table(path):
            raise _not_allowed()
        return path

    def allows(self, name: str) -> bool:
        """Whether a file that a policy names may be read, should it be there: one path, not a pattern or an address."""
        if _NOT_A_PATH.search(name):
            return False
        try:
            found = Path(name).resolve()
            inside = list(found.iterdir()) if found.is_dir() else []  # a folder of hierarchies: no link leads out of it
            return all(self._is_below(path.resolve()) for path in (found, *inside))
        except (OSError, RuntimeError, ValueError):
            return False

    def check_policy(self, policy: Any) -> None:
        """Refuse a policy that names a file outside the folders."""
        if not all(self.allows(name) for name in named_files(policy)):
            raise InputError(
                "The policy names a file outside the folders that the app may look into.",
                "Allow its folder at start: --allow DIR.",
            )

    def check_files(self, names: list[str]) -> None:
        """Refuse a file, such as a key, that an option names outside the folders."""
        if not all(self.allows(name) for name in names):
            raise InputError(
                "A file that is named lies outside the folders that the app may look into.",
                "Allow its folder at start: --allow DIR.",
            )

    def _resolve(self, place: str) -> Path:
        number, _, below = place.partition("/")
        parts = below.split("/") if below else []
        if not (number.isascii() and number.isdigit()) or len(number) > 9 or int(number) >= len(self.roots):
            raise _not_allowed()
        if any(part in ("", ".", "..") or part.startswith(".") or "\0" in part for part in parts):
            raise _not_allowed()
        path = self.roots[int(number)].joinpath(*parts)
        if not self._is_inside(path):
            raise _not_allowed()
        return path.resolve()

    def _is_inside(self, path: Path) -> bool:
        """Whether a path, links followed, is there, below one of the folders and hidden nowhere on the way."""
        try:
            return self._is_below(path.resolve(strict=True))
        except (OSError, RuntimeError):
            return False

    def _is_below(self, found: Path) -> bool:
        """Below one of the folders, not hidden, not an owner's private part, not of a project of the app."""
        below = [found.relative_to(root) for root in self.roots if found.is_relative_to(root)]
        if not any(not any(_is_hidden(part) for part in way.parts) for way in below):
            return False
        return not any((folder / PROJECT_MARK).exists() for folder in (found, *found.parents))


def _is_hidden(name: str) -> bool:
    """Whether the app does not look at a name: hidden files, and the private part of a release.

    >>> _is_hidden(".ssh"), _is_hidden("release.private"), _is_hidden("safe.csv.private.json"), _is_hidden("a.csv")
    (True, True, True, False)
    """
    # not every file system tells capitals apart
    return name.startswith(".") or name.lower().endswith((".private", *OWNERS_ENDINGS))


def _not_allowed() -> InputError:
    return InputError(
        "This is not a file below the folders that the app may look into.", "Allow its folder at start: --allow DIR."
    )
