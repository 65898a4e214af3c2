"""Machine code made ahead: for any processor of the last ten years, used before anything is compiled."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shoal.anonymization.search import kernels
from shoal.compiled import kept, machine
from shoal.installation import ahead

pytestmark = pytest.mark.skipif(
    not machine.is_supported() or not kept._runs_here(machine.PORTABLE),
    reason="machine code is made ahead for Linux on x86-64-v3",
)
PATH = os.pathsep.join(filter(None, sys.path))
RUN = """
import sys
from pathlib import Path
from shoal.compiled import kept
from shoal.installation import ahead
kept.AHEAD = Path(sys.argv[1])
ahead.large_search()
from shoal.anonymization.search import kernels
print("numba" in sys.modules, kernels.lowest.built, kernels.lowest.is_ready())
"""


def test_what_is_made_ahead_is_used_and_numba_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    assert ahead._started("shoal.installation.ahead:large_search", folder).wait() == 0
    made = {".".join(file.name.split(".")[:3]) for file in folder.glob("*.loop")}
    assert {f"search.kernels.{name}" for name in ("lowest", "highest_below", "classes_by_sample")} <= made
    assert any(name.startswith("search.packed") for name in made)
    env = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "own"),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    done = subprocess.run([sys.executable, "-c", RUN, str(folder)], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "0", "True"]
    assert not list((tmp_path / "own").rglob("*.loop"))


def test_the_processor_that_it_is_made_for_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MAKING", [tmp_path])
    assert kept.this_processor.__wrapped__() == machine.PORTABLE
    assert kept.folder(kernels.lowest) == tmp_path


def test_every_job_is_a_function_that_says_what_it_runs() -> None:
    for job in ahead._THEN:
        assert getattr(ahead, job).__doc__
    assert len(ahead._FIRST) == len(set(ahead._FIRST))


def test_elsewhere_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(machine, "processor", lambda: ("old", frozenset({"lm"})))
    ahead.main([], said.append)
    assert said == ["Nothing is made ahead here: loops are compiled at their first use.\n"]


# modules whose loops are compiled at their first use: attacks, and what few tables need
AT_FIRST_USE = {"attacks.kernels", "linking.kernels", "partition.bound", "partition.counted", "perturbation.swap"}


def test_every_loop_that_commands_wait_for_is_made_ahead() -> None:
    """In this installation, which made them (`make setup`)."""
    made = {tuple(file.name.split(".")[:3]) for file in kept.AHEAD.glob("*.loop")}
    if not made:
        pytest.skip("nothing is made ahead here: run python -m shoal.installation.ahead")
    source = Path(ahead.__file__).parents[1]
    for file in source.rglob("*.py"):
        if f"{file.parent.name}.{file.stem}" not in AT_FIRST_USE:
            found = re.findall(r"^@compiled\n(?:@.*\n)*def (\w+)", file.read_text(), re.MULTILINE)
            missing = {name for name in found if (file.parent.name, file.stem, name) not in made}
            assert not missing, f"{file.relative_to(source)}: {missing} are compiled at first use"


@pytest.mark.slow
def test_groups_are_the_same_whatever_the_processor(tmp_path: Path) -> None:
    """Sums in any order could differ with the width of the processor's vectors; they do not, in nine columns either."""
    code = (
        "import sys; from pathlib import Path; import numpy as np; from shoal.compiled import kept\n"
        "kept.make_ahead(Path(sys.argv[1])) if len(sys.argv) > 1 else setattr(kept, 'AHEAD', Path('none'))\n"
        "from shoal.anonymization.partition.groups import improved, loss, peeled\n"
        "rows = np.random.default_rng(0).random((6000, 9), np.float32)\n"
        "groups = peeled(rows, 5, 1 << 16, 10)\n"
        "print(groups.order.tolist(), groups.first.tolist(), loss(groups))"
    )
    features = ",".join(f"+{name}" for name in f"{ahead._FEATURES} {ahead._MORE}".split())
    told = {"NUMBA_CPU_NAME": machine.PORTABLE, "NUMBA_CPU_FEATURES": features}
    path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = [sys.executable, "-c", code]
    portable = subprocess.run(
        [*run, str(tmp_path)], env={**os.environ, **told, **path}, capture_output=True, check=True
    )
    own = subprocess.run(run, env={**os.environ, **path}, capture_output=True, check=True)
    assert portable.stdout == own.stdout
    assert np.isfinite(float(own.stdout.split()[-1]))
