"""The map in ARCHITECTURE.md, made from the packages' own first sentences: `python docs/map.py` writes it anew."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "shoal"
PAGE = ROOT / "ARCHITECTURE.md"
START, END = "<!-- map -->\n```\n", "```\n<!-- end of map -->\n"
WIDTH = 118


def layers() -> list[str]:
    """The packages and modules at the top, lowest layer first, as the test of the layers has them."""
    text = (ROOT / "tests" / "test_house.py").read_text()
    found = re.search(r'LAYERS = """\n(.*?)"""', text, re.DOTALL)
    assert found is not None
    return found[1].split()


def sentence(path: Path) -> str:
    """The first sentence of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.split("\n")[0].removesuffix(".")


def line(indent: int, name: str, path: Path) -> str:
    """One line of the map."""
    words = f"{' ' * indent}{name:<{24 - indent}} {sentence(path)}"
    return words if len(words) <= WIDTH else words[: WIDTH - 1].rsplit(" ", 1)[0] + " …"


def made() -> str:
    """The map: every package in its layer, and the packages in it."""
    lines = ["src/shoal/"]
    for name in layers():
        package = PACKAGE / name
        if not package.is_dir():
            if (PACKAGE / f"{name}.py").exists():
                lines.append(line(2, f"{name}.py", PACKAGE / f"{name}.py"))
            continue
        lines.append(line(2, f"{name}/", package / "__init__.py"))
        parts = [path.parent for path in sorted(package.glob("*/__init__.py"))]
        lines += [line(4, f"{path.name}/", path / "__init__.py") for path in parts]
    return "\n".join(lines) + "\n"


def whole() -> str:
    """The page with the map as it must be."""
    text = PAGE.read_text()
    start, end = text.index(START) + len(START), text.index(END)
    return text[:start] + made() + text[end:]


if __name__ == "__main__":
    PAGE.write_text(whole())
