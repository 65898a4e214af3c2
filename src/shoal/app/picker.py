"""Files of this machine below the folders that the user allowed at start; links and `..` do not lead out of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shoal.errors import InputError

MOST_ENTRIES = 2_000


@dataclass(frozen=True)
class Entry:
    """A file or a folder: its name, the address by which the picker knows it, and the size of a file."""

    name: str
    place: str
    size: int | None = None


@dataclass(frozen=True)
class Listing:
    """A folder: where it is, its folders and tables, the folder above, and whether more is there than is shown."""

    place: str
    shown: str
    above: str | None
    folders: list[Entry]
    files: list[Entry]
    more: bool = False


class Picker:
    """Looks into allowed folders. A place is `0/sub/people.csv`: the number of the folder, then the way below it."""

    def __init__(self, allow: tuple[Path, ...]) -> None:
        self.roots = tuple(folder.resolve() for folder in allow)

    def look(self, place: str = "") -> Listing:
        """What is in a folder; without a place, the allowed folders (or the one there is)."""
        if not place and len(self.roots) != 1:
            entries = [Entry(str(root), str(number)) for number, root in enumerate(self.roots)]
            return Listing("", "", None, entries, [])
        place = place or "0"
        folder = self._resolve(place)
        if not folder.is_dir():
            raise _not_allowed()
        above = place.rpartition("/")[0] if "/" in place else ("" if len(self.roots) > 1 else None)
        folders, files = self._entries(folder, place)
        more = len(folders) + len(files) > MOST_ENTRIES
        return Listing(place, str(folder), above, folders[:MOST_ENTRIES], files[:MOST_ENTRIES], more)

    def _entries(self, folder: Path, place: str) -> tuple[list[Entry], list[Entry]]:
        from shoal.reading.files import table_extensions

        known = (*table_extensions(), ".json")
        folders, files = [], []
        try:
            inside = sorted(folder.iterdir(), key=lambda path: path.name.lower())
        except OSError:
            raise InputError("This folder cannot be read.", "Check the rights on it.") from None
        for path in inside:
            if path.name.startswith((".", "_")) or not self._is_inside(path) or "\\" in path.name:
                continue
            if path.is_dir():
                folders.append(Entry(path.name, f"{place}/{path.name}"))
            elif path.is_file() and any(ending.lower() in known for ending in path.suffixes[-2:]):
                files.append(Entry(path.name, f"{place}/{path.name}", path.stat().st_size))
        return folders, files

    def file(self, place: str) -> Path:
        """The file of a place, with all links followed; refused where it is not below an allowed folder."""
        path = self._resolve(place)
        if not path.is_file():
            raise _not_allowed()
        return path

    def allows(self, path: Path) -> bool:
        """Whether a path may be read."""
        return self._is_inside(path)

    def _resolve(self, place: str) -> Path:
        number, _, below = place.partition("/")
        parts = below.split("/") if below else []
        if not (number.isascii() and number.isdigit()) or int(number) >= len(self.roots):
            raise _not_allowed()
        if any(part in ("", ".", "..") or part.startswith(".") or "\0" in part for part in parts):
            raise _not_allowed()
        path = self.roots[int(number)].joinpath(*parts)
        if not self._is_inside(path):
            raise _not_allowed()
        return path.resolve()

    def _is_inside(self, path: Path) -> bool:
        """Whether a path, links followed, is below one of the folders and hidden nowhere on the way."""
        try:
            found = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return False
        below = [found.relative_to(root) for root in self.roots if found.is_relative_to(root)]
        return any(not any(part.startswith(".") for part in way.parts) for way in below)


def _not_allowed() -> InputError:
    return InputError(
        "This is not a file below the folders that the app may look into.",
        "Allow its folder at start.",
        settings="allow",
    )
