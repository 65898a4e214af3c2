"""Whether the tests notice when what certifies is changed: mutants of verify, the manifest, models and judgement."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

import pytest

from mutation.mutants import ROOT, TESTS, all_mutants, drawn

COUNT, SEED = 400, 15
LEAST = 0.9


def test_mutants_are_drawn_by_seed_and_compile() -> None:
    assert len(all_mutants()) > 2 * COUNT
    assert all((ROOT / test).exists() for tests in TESTS.values() for test in tests)
    sample = drawn(60, SEED)
    assert sample == drawn(60, SEED)
    assert len({mutant.what for mutant in sample}) > 4
    for mutant in sample:
        original = (ROOT / "src" / mutant.file).read_text()
        compile(mutant.tree, mutant.file, "exec")
        assert ast.unparse(mutant.tree) != ast.unparse(ast.parse(original))
        assert mutant.function.startswith(f"{mutant.file}:")


@pytest.mark.slow
def test_nine_of_ten_mutants_are_noticed() -> None:
    """In a process that has not imported shoal; the share counts mutants that change nothing as missed."""
    command = [sys.executable, "-m", "mutation.run", str(COUNT), str(SEED)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])}
    done = subprocess.run(command, cwd=ROOT / "tests", env=environment, capture_output=True, text=True, check=True)
    missed = [line for line in done.stdout.splitlines() if line.startswith("survives")]
    assert len(missed) <= (1 - LEAST) * COUNT, "\n".join(missed)
