"""The project folder: private, kept or temporary, apart for every file, cleaned up after a crash."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.app.picker import Picker
from shoal.app.project import FileReading, Project
from shoal.errors import InputError


def test_folders_are_for_their_owner_only(own_temporary_folder: Path, tmp_path: Path) -> None:
    project = Project.open(tmp_path / "kept")
    workspace = project.new("people.csv", "upload")
    workspace.set_policy({"columns": {"age": "quasi-identifier"}})
    for path in [project.folder, *project.folder.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    project.close()


def test_a_kept_project_is_there_again(tmp_path: Path, people: Path) -> None:
    project = Project.open(tmp_path / "kept")
    first = project.new("people.csv", "machine", people).with_reading(FileReading("utf-8", ";", ("NA",)))
    first.set_policy({"columns": {"age": "quasi-identifier"}})
    project.close()
    again = Project.open(tmp_path / "kept")
    found = again.workspace(first.id)
    assert found == first
    assert found is not None
    assert found.policy().quasi_identifiers == ["age"]
    again.close()


def test_one_app_holds_a_project(tmp_path: Path) -> None:
    project = Project.open(tmp_path / "kept")
    with pytest.raises(InputError, match="another run"):
        Project.open(tmp_path / "kept")
    project.close()
    Project.open(tmp_path / "kept").close()


def test_a_temporary_project_goes_at_the_end(own_temporary_folder: Path) -> None:
    project = Project.open(None)
    project.new("people.csv", "upload").source.write_text("a\n1\n")
    project.close()
    assert not project.folder.exists()


def test_what_a_crash_left_is_removed_at_the_next_start(own_temporary_folder: Path) -> None:
    code = (
        f"import tempfile; tempfile.tempdir = {str(own_temporary_folder)!r}\n"
        "import os, sys\nfrom shoal.app.project import Project\n"
        "project = Project.open(None)\nproject.new('x.csv', 'upload').source.write_text('secret')\n"
        "print(project.folder, flush=True)\nsys.stdin.read()\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    assert child.stdout is not None
    left = Path(child.stdout.readline().strip())
    living = Project.open(None)
    assert left.exists()  # its app still runs
    child.send_signal(signal.SIGKILL)
    child.communicate()
    after = Project.open(None)
    assert not left.exists()
    assert living.folder.exists()
    living.close()
    after.close()


@pytest.mark.parametrize(
    "name", ["../../../etc/passwd", "..\\..\\x.csv", "/etc/passwd", "a\0b.csv", "", "." * 300, "x/../../y.csv"]
)
def test_no_path_comes_from_the_name_of_a_file(own_temporary_folder: Path, name: str) -> None:
    project = Project.open(None)
    before = set(own_temporary_folder.rglob("*"))
    workspace = project.new(name, "upload")
    assert workspace.source.parent == workspace.folder / "source"
    assert workspace.source.name == "data.csv"
    made = set(own_temporary_folder.rglob("*")) - before
    assert all(workspace.folder in (path, *path.parents) for path in made)
    assert "/" not in workspace.name
    assert "\\" not in workspace.name
    project.close()


@pytest.mark.parametrize(
    "name", ["..", ".", "", "../w", "0" * 15, "A" * 16, "0123456789abcdeg", "0123456789abcdef/../x"]
)
def test_only_names_of_ours_find_a_workspace(own_temporary_folder: Path, name: str) -> None:
    project = Project.open(None)
    assert project.workspace(name) is None
    project.close()


def test_a_link_is_not_taken_for_the_project(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(InputError, match="link"):
        Project.open(tmp_path / "link")


def test_a_broken_record_hides_one_file_only(own_temporary_folder: Path) -> None:
    project = Project.open(None)
    good, bad = project.new("a.csv", "upload"), project.new("b.csv", "upload")
    (bad.folder / "workspace.json").write_text("{")
    assert [found.id for found in project.workspaces()] == [good.id]
    project.close()


def test_files_keep_apart(app: Any, people: Path, tmp_path: Path) -> None:
    other = people.with_name("other.csv")
    other.write_text("age,town\n30,a\n31,b\n")
    first, second = app.open(people), app.open(other)
    jobs = [app.jobs.start(first, "risk", {"qi": ["age"]}), app.jobs.start(second, "risk", {"qi": ["age"]})]
    for workspace, job in zip((first, second), jobs, strict=True):
        assert app.wait(workspace, job).state == "done"
    first.set_policy({"columns": {"age": "quasi-identifier"}})
    assert not second.has_policy
    assert app.jobs.found(first, "risk").result["records"] == 210
    assert app.jobs.found(second, "risk").result["records"] == 2
    assert app.api.delete(f"/api/v1/workspaces/{second.id}").status_code == 204
    assert not second.folder.exists()
    assert other.exists()
    assert app.jobs.found(first, "risk") is not None
    assert app.api.get(f"/api/v1/workspaces/{second.id}").status_code == 404


def test_the_picker_stays_below_its_folders(tmp_path: Path) -> None:
    allowed, outside = tmp_path / "allowed", tmp_path / "outside"
    for folder in (allowed / "sub" / ".hidden", outside):
        folder.mkdir(parents=True)
    for path in (
        allowed / "a.csv",
        allowed / "sub" / "b.csv.gz",
        allowed / ".c.csv",
        allowed / "key.pem",
        outside / "d.csv",
    ):
        path.write_text("x\n1\n")
    (allowed / "sub" / ".hidden" / "e.csv").write_text("x\n1\n")
    (allowed / "out.csv").symlink_to(outside / "d.csv")
    (allowed / "outdir").symlink_to(outside)
    (allowed / "inside.csv").symlink_to(allowed / "a.csv")
    picker = Picker((allowed,))
    top = picker.look()
    assert [entry.name for entry in top.files] == ["a.csv", "inside.csv"]
    assert [entry.name for entry in top.folders] == ["sub"]
    assert picker.file(picker.look("0/sub").files[0].place) == allowed / "sub" / "b.csv.gz"
    for place in (
        "0/../outside/d.csv", "0/out.csv", "0/outdir/d.csv", "0/.c.csv", "0/sub/.hidden/e.csv", "1/a.csv", "-1/a.csv",
        "0//a.csv", "/etc/passwd", "0/a\0.csv", "0/" + "x" * 5000, "", "0", "²/a.csv", "0/sub/../../outside/d.csv",
    ):  # fmt: skip
        with pytest.raises(InputError):
            picker.file(place)


def test_the_command_ends_cleanly(tmp_path: Path, people: Path) -> None:
    """Ctrl-C and SIGTERM: the address is printed, the temporary project and the children are gone afterwards."""
    for how in (signal.SIGINT, signal.SIGTERM):
        folder = tmp_path / how.name
        folder.mkdir()
        environment = {**os.environ, "TMPDIR": str(folder)}
        command = [sys.executable, "-m", "shoal", "app", str(people), "--no-browser"]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        assert child.stdout is not None
        line = child.stdout.readline()
        assert line.startswith("shoal app: http://127.0.0.1:")
        assert "?token=" in line
        assert len(list(folder.glob("shoal-app-*/run-*"))) == 1
        child.send_signal(how)
        child.communicate(timeout=20)
        assert child.returncode == 128 + how
        assert list(folder.glob("shoal-app-*/*")) == []


def test_a_port_that_is_taken_is_said_so(app: Any) -> None:
    command = [sys.executable, "-m", "shoal", "app", "--no-browser", "--port", app.port]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "is taken" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_extra_the_command_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; sys.modules['fastapi'] = None\n"
        "from shoal.cli import main\nsys.argv = ['shoal', 'app', '--no-browser']\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'shoal[app]'" in done.stderr


def test_other_commands_do_not_load_the_web_server() -> None:
    code = (
        "import sys\nfrom shoal.cli import main\nsys.argv = ['shoal', 'profile', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "import shoal; print(sorted({'fastapi', 'starlette', 'uvicorn', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().splitlines()[-1] == "[]"


def test_idle_counting_processes_end(start: Callable[..., Any], people: Path) -> None:
    app = start(idle_seconds=0.0)
    workspace, other = app.open(people), app.open(people)
    counters = app.app.state.counters
    counters.ask(workspace, ["age"], ["age", "zip"])
    child = counters._of[workspace.id].child
    time.sleep(0.01)
    counters.ask(other, ["age"], ["age"])
    assert child.poll() is not None
    assert not list(workspace.folder.glob("count-*"))
