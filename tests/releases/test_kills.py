"""Commands that write, killed at any moment: nothing partial under a final name, nothing lost, the next one works."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import shoal

COMMANDS = {
    "anonymize": ["anonymize", "in.csv", "-o", "out.csv", "--qi", "age_yrs,sex", "-k", "5", "--method", "mondrian",
                  "--decide", "ethncty=other,race=other,patzip=other,patcnty=other,adm_qtr=other"],
    "perturb": ["perturb", "in.csv", "-o", "out.csv", "--noise", "charge=0.1", "--decide",
                "age_yrs=other,sex=other,ethncty=other,race=other,patzip=other,patcnty=other,adm_qtr=other"],
    "safe-harbor": ["safe-harbor", "in.csv", "-o", "out.csv"],
    "pseudonymize": ["pseudonymize", "in.csv", "--column", "oshpd_id", "--key-file", "key.bin", "-o", "out.csv"],
}  # fmt: skip


def killed(folder: Path, name: str, seconds: float, force: bool) -> None:
    command = [sys.executable, "-m", "shoal", *COMMANDS[name], *(["--force"] if force else [])]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen(command, cwd=folder, env=os.environ.copy(), **quiet)  # type: ignore[call-overload]
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    child.wait()


def rounds(folder: Path, name: str, kills: int) -> None:
    shoal.sample_data("discharges", 2_000, seed=0).write_csv(folder / "in.csv")
    original = hashlib.sha256((folder / "in.csv").read_bytes()).hexdigest()
    draw, data = np.random.default_rng(len(name)), folder / "out.csv"
    for number in range(kills):
        killed(folder, name, float(draw.uniform(0.2, 3.5)), force=number % 3 > 0 or data.exists())
        assert hashlib.sha256((folder / "in.csv").read_bytes()).hexdigest() == original
        if data.exists():
            assert shoal.verify(data, original=folder / "in.csv").verdict == "holds"
        elif number % 2:
            for part in folder.glob("out.*"):  # of a fresh release that never came: they must not block the next
                assert part.name != "out.csv"
    done = subprocess.run(
        [sys.executable, "-m", "shoal", *COMMANDS[name], *(["--force"] if data.exists() else [])],
        cwd=folder, check=False, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert shoal.verify(data, original=folder / "in.csv").verdict == "holds"


@pytest.mark.parametrize("name", ["anonymize", "pseudonymize"])
def test_killed_a_few_times(tmp_path: Path, name: str) -> None:
    rounds(tmp_path, name, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(COMMANDS))
def test_killed_two_hundred_and_fifty_times(tmp_path: Path, name: str) -> None:
    rounds(tmp_path, name, 250)
