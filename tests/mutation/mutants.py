"""Mutants of what certifies: one small change of the source each, and the tests that should notice it."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
_CERTIFIED = ["tests/releases", "tests/hierarchy/test_untrue_labels.py"]
_MODELS = ["tests/models", "tests/releases/test_what_is_certified.py", "tests/test_agreement.py"]
# which tests are asked about the modules of a folder, or about one module
TESTS: dict[str, list[str]] = {
    "shoal/releases/verify.py": _CERTIFIED,
    "shoal/releases/original.py": _CERTIFIED,
    "shoal/releases/treatment.py": _CERTIFIED,
    "shoal/releases/signing.py": _CERTIFIED,
    "shoal/releases/manifest_checks.py": _CERTIFIED,
    "shoal/releases/published.py": _CERTIFIED,
    "shoal/releases/open.py": _CERTIFIED,
    "shoal/ranges": ["tests/hierarchy", "tests/types/test_labels.py", *_CERTIFIED],
    "shoal/policy/manifest.py": _CERTIFIED,
    "shoal/models": _MODELS,
    "shoal/policy/judgement": [*_MODELS, "tests/releases/test_tampering.py"],
}
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of a module: of its `place`-th node that can be changed."""

    file: str
    place: int
    line: int
    what: str

    @property
    def module(self) -> str:
        return self.file.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")

    @property
    def tests(self) -> list[str]:
        return next(tests for part, tests in TESTS.items() if self.file.startswith(part))

    @property
    def source(self) -> str:
        tree = ast.parse((SOURCE / self.file).read_text())
        node = list(_changeable(tree))[self.place]
        _change(node)
        return ast.unparse(ast.fix_missing_locations(tree))


def all_mutants() -> list[Mutant]:
    """Every mutant of every module, in order."""
    found = []
    for part in TESTS:
        path = SOURCE / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            name = file.relative_to(SOURCE).as_posix()
            for place, node in enumerate(_changeable(ast.parse(file.read_text()))):
                found.append(Mutant(name, place, node.lineno, type(node).__name__))
    return found


def drawn(count: int, seed: int) -> list[Mutant]:
    """A sample that is the same for the same seed and source."""
    return Random(seed).sample(all_mutants(), count)


def _changeable(tree: ast.Module) -> Iterator[Any]:
    """Nodes that decide something: comparisons, and/or, not, arithmetic, numbers and truth values, guards.

    Annotations, class variables and what messages say decide nothing.
    """
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            yield from _in_body(function.body)


def _in_body(body: Sequence[ast.stmt]) -> Iterator[Any]:
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.Raise, ast.Import, ast.ImportFrom)):
            continue  # found by themselves, or words
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, ast.If) and all(
            isinstance(inner, (ast.Raise, ast.Return)) for inner in statement.body
        ):
            yield statement
        blocks = [value for value in ast.iter_child_nodes(statement) if isinstance(value, ast.expr)]
        for value in blocks:
            yield from _in_expression(value)
        for name in ("body", "orelse", "finalbody"):
            yield from _in_body(getattr(statement, name, []))


def _in_expression(node: ast.AST) -> Iterator[Any]:
    if isinstance(node, (ast.JoinedStr, ast.Lambda)):
        return
    if (
        (isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS)
        or isinstance(node, ast.BoolOp)
        or (isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)))
        or (isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS and not _is_text(node))
        or (isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)))
    ):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_expression(child)


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(s, ast.JoinedStr) or (isinstance(s, ast.Constant) and isinstance(s.value, str)) for s in sides
    )


def _change(node: Any) -> None:
    """The one change of a node, in place."""
    if isinstance(node, ast.Compare):
        node.ops = [_COMPARISONS[type(node.ops[0])]()]
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp):
        node.op = ast.Not() if isinstance(node.op, ast.Invert) else ast.UAdd()
        if isinstance(node.op, ast.UAdd):  # `not x` becomes `bool(x)`
            node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.BinOp):
        node.op = _OPERATORS[type(node.op)]()
    elif isinstance(node, ast.If):  # the check is gone
        node.test = ast.Constant(False)
    elif isinstance(node.value, bool):
        node.value = not node.value
    else:
        node.value = node.value + 1


class _Loader(importlib.abc.Loader):
    def __init__(self, source: str, file: Path) -> None:
        self.source, self.file = source, file

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, str(self.file), "exec"), module.__dict__)  # noqa: S102


class MutantFinder(importlib.abc.MetaPathFinder):
    """Gives one module in its mutated form; all others are as they are."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant, self.source = mutant, mutant.source

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.mutant.module:
            return None
        file = SOURCE / self.mutant.file
        folder = [str(file.parent)] if file.name == "__init__.py" else None
        loader = _Loader(self.source, file)
        return importlib.util.spec_from_file_location(name, file, loader=loader, submodule_search_locations=folder)


def install(mutant: Mutant) -> None:
    """From here on the module is imported as its mutant."""
    sys.meta_path.insert(0, MutantFinder(mutant))
