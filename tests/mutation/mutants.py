"""Mutants of what certifies: one small change of the source each, and the tests that should notice it."""

from __future__ import annotations

import ast
import gc
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import CodeType, FunctionType
from typing import Any

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
_RELEASED = [
    "tests/releases/test_first.py", "tests/releases/test_what_is_certified.py", "tests/releases/test_honest.py",
    "tests/releases/test_belief.py", "tests/releases/test_tampering.py", "tests/releases/test_written_again.py",
    "tests/releases/test_decided.py", "tests/test_release.py", "tests/releases/test_output_format.py",
    "tests/releases/test_more_forgeries.py", "tests/releases/test_joined_texts.py",
]  # fmt: skip
# what certifies, each change of which should be noticed, and the tests that may notice it besides the modules' examples
TESTS: dict[str, list[str]] = {
    "models": [
        "tests/models", "tests/test_risk_models.py", "tests/test_agreement.py",
        "tests/releases/test_what_is_certified.py",
    ],
    "policy/judgement": [
        "tests/models", "tests/test_risk.py", "tests/test_households.py", "tests/test_weighted.py",
        "tests/test_journalist.py", "tests/releases/test_what_is_certified.py", "tests/test_release.py",
    ],
    "policy/manifest.py": _RELEASED,
    "ranges": [
        "tests/test_boxes.py", "tests/hierarchy", "tests/test_decode.py", "tests/types/test_exact.py",
        "tests/types/test_labels.py", "tests/test_linkage.py", "tests/transform", *_RELEASED,
    ],
    "releases": _RELEASED,
}  # fmt: skip
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
    def tree(self) -> ast.Module:
        """The module with the change, its lines numbered as they are in the file."""
        tree = ast.parse((SOURCE / self.file).read_text())
        _change(list(_changeable(tree))[self.place])
        return ast.fix_missing_locations(tree)

    @property
    def function(self) -> str:
        """The innermost function around the change, by its file and its qualified name."""

        def inner(body: Sequence[ast.AST], name: str) -> str:
            for node in body:
                inside = node.lineno <= self.line <= node.end_lineno  # type: ignore[attr-defined]
                if inside and isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    own = f"{name}{node.name}"
                    is_function = isinstance(node, ast.FunctionDef)
                    return inner(node.body, f"{own}.<locals>." if is_function else f"{own}.") or own
            return ""

        return f"{self.file}:{inner(ast.parse((SOURCE / self.file).read_text()).body, '')}"

    def __str__(self) -> str:
        text = (SOURCE / self.file).read_text().splitlines()[self.line - 1].strip()
        return f"{self.file}:{self.line} {self.what}: {text}"


def all_mutants() -> list[Mutant]:
    """Every mutant of every module, in order."""
    found = []
    for part in TESTS:
        path = SOURCE / "shoal" / part
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
        for value in ast.iter_child_nodes(statement):
            if isinstance(value, ast.expr) and value is not getattr(statement, "annotation", None):
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


def patch(mutant: Mutant) -> None:
    """From here on the functions of the module do what they do in the mutant; wherever they were imported to."""
    importlib.import_module(mutant.module)
    file = str(SOURCE / mutant.file)
    changed = {(code.co_qualname, code.co_firstlineno): code for code in _codes(compile(mutant.tree, file, "exec"))}
    patched = 0
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename == file:
            place = (function.__code__.co_qualname, function.__code__.co_firstlineno)
            if place in changed:
                function.__code__ = changed[place]
                patched += 1
    assert patched, f"no function of {mutant.file} is there"


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of every function in a module, those in functions too."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)
