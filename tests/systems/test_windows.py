"""What Windows does not do as others: open files stay, modes are not kept, names are refused, signals are missing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from systems.conftest import SYSTEMS, environment

On = Callable[..., str]

PEOPLE = """
import polars as pl, shoal
from shoal.errors import InputError
people = pl.DataFrame({"age": [30, 34, 51, 52] * 3, "illness": ["flu", "cold"] * 6})
policy = {
    "columns": {"age": "quasi-identifier", "illness": "sensitive"},
    "models": [{"model": "k-anonymity", "k": 3}],
    "attacks": {name: {"accept": "the people are invented"} for name in ("singling_out", "inference")},
}
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_the_other_system_is_another_one(on_system: On, tmp_path: Path) -> None:
    code = """
import os, sys
from pathlib import Path
import numpy as np
namespace = {"__name__": "shoal.somewhere"}
for line in ("import fcntl", "import os; os.getuid()", "import os; os.fork", "import signal; signal.SIGHUP"):
    try:
        exec(line, namespace)
        print("there:", line)
    except (ImportError, AttributeError):
        pass
folder = Path(sys.argv[1])
mapped, opened = folder / "mapped", folder / "opened"
np.arange(9).tofile(mapped)
array, file = np.memmap(mapped, np.int64, "r"), opened.open("wb")
for refused in (mapped.unlink, opened.unlink, lambda: opened.replace(folder / "new"), lambda: folder.rename("other")):
    try:
        refused()
        print("done:", refused)
    except PermissionError:
        pass
file.close()
del array
mapped.unlink()
opened.chmod(0o600)
(folder / "text").write_text("a\\n", "utf-8")
print(oct(opened.stat().st_mode & 0o777), (folder / "text").read_bytes())
"""
    assert on_system("win32", code, tmp_path) == "0o666 b'a\\r\\n'\n"


def test_a_file_that_is_open_is_not_replaced_and_nothing_is_lost(on_system: On, tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from shoal.errors import InputError
from shoal.systems import files
pauses = []
files.time.sleep = pauses.append
new, old = Path(sys.argv[1]) / "new", Path(sys.argv[1]) / "old"
new.write_bytes(b"new")
old.write_bytes(b"old")
with old.open("rb"):
    for act in (files.replace, files.move):
        try:
            act(new, old) if act is files.replace else act(old, new.with_name("other"))
        except InputError as error:
            print(error.what.replace(str(new.parent), "."))
    print(files.remove(old), len(pauses) > 4)
print(new.read_bytes(), old.read_bytes())
files.replace(new, old)
print(old.read_bytes(), files.remove(old), files.remove(old))
"""
    said = on_system("win32", code, tmp_path).splitlines()
    assert said == [
        "./old is open in another program, or may not be written to.",
        "./other is open in another program, or may not be written to.",
        "False True",
        "b'new' b'old'",
        "b'new' True True",
    ]


@pytest.mark.parametrize("part", ["safe.csv", "safe.manifest.json", "safe.private.json"])
def test_a_release_is_whole_or_not_at_all(on_system: On, tmp_path: Path, part: str) -> None:
    code = f"""{PEOPLE}
import sys
from pathlib import Path
from shoal.systems import files
files.time.sleep = lambda _: None
output = Path(sys.argv[1]) / "safe.csv"
shoal.release(shoal.anonymize(people, policy=policy), output, seed=1)
kept = {{file.name: file.read_bytes() for file in output.parent.iterdir()}}
with output.with_name(sys.argv[2]).open("rb"):
    try:
        shoal.release(shoal.anonymize(people, policy=policy), output, seed=2, force=True)
    except InputError as error:
        print(error.what.rpartition("/")[2])
assert kept == {{file.name: file.read_bytes() for file in output.parent.iterdir()}}
shoal.release(shoal.anonymize(people, policy=policy), output, seed=2, force=True)
print(kept.keys() == {{file.name for file in output.parent.iterdir()}}, shoal.verify(output).holds)
"""
    said = on_system("win32", code, tmp_path, part).splitlines()
    assert said == [f"{part} is open in another program, or may not be written to.", "True True"]


def test_a_publication_is_whole_or_not_at_all(on_system: On, tmp_path: Path) -> None:
    code = f"""{PEOPLE}
import sys
from pathlib import Path
from shoal.systems import files
files.time.sleep = lambda _: None
output = Path(sys.argv[1]) / "release"
shoal.publish(people, policy, output=output, pdf=False)
kept = sorted((file, file.read_bytes()) for file in output.parent.rglob("*") if file.is_file())
with (output / "report.html").open("rb"):
    try:
        shoal.publish(people, policy, output=output, pdf=False, force=True)
    except InputError as error:
        print("open in another program" in error.what)
print(kept == sorted((file, file.read_bytes()) for file in output.parent.rglob("*") if file.is_file()))
shoal.publish(people, policy, output=output, pdf=False, force=True)
print(sorted(entry.name for entry in output.parent.iterdir()), shoal.verify(output).holds)
"""
    said = on_system("win32", code, tmp_path).splitlines()
    assert said == ["True", "True", "['release', 'release.private'] True"]


def test_arrays_on_disk_that_are_still_used_go_with_the_process(on_system: On, temporary: Path) -> None:
    code = """
import sys
import numpy as np
from shoal.storage.spill import Spill
def mapped():
    with Spill(memory=1000) as spill:
        spill.start(10_000)
        file = spill.new_file("ages")
        file.append(np.array([34, 51], np.uint8))
        return file.mapped(np.uint8), spill.folder
ages, folder = mapped()
print(ages.tolist(), folder.exists())
others, other = mapped()  # a run does not take up what is in use
print(folder != other, folder.exists())
del others
mapped()
print(folder.exists(), other.exists())
if len(sys.argv) == 1:
    del ages
"""
    assert on_system("win32", code) == "[34, 51] True\nTrue True\nTrue False\n"
    assert list(temporary.iterdir()) == []
    on_system("win32", code, "used to the end")
    assert list(temporary.glob("shoal-spill-*"))
    on_system("win32", code)  # the next run removes what nobody uses any more
    assert list(temporary.iterdir()) == []


def test_secrets_work_where_modes_are_not_kept_and_the_doctor_says_so(on_system: On, tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from shoal.doctor import doctor
from shoal.keys import find_key, is_private_file
from shoal.methods.pseudonyms.pseudonymize import read_surrogates, write_surrogates
from shoal.releases.signing import make_signing_key, read_signing_key
folder = Path(sys.argv[1])
print(find_key(folder / "key")[1], find_key(folder / "key")[1], is_private_file(folder / "key"))
write_surrogates(folder / "table.csv", {"7": "abc"})
print(read_surrogates(folder / "table.csv"))
make_signing_key(folder / "owner.pem")
read_signing_key(folder / "owner.pem")
parts = {part.name: part.state for part in doctor().parts}
print(parts["file modes"], parts["locks"], parts["console"])
"""
    said = on_system("win32", code, tmp_path).splitlines()
    assert said == ["True False True", "{'7': 'abc'}", "absent fine absent"]
    assert on_system("darwin", code.replace('/ "', '/ "other-'), tmp_path).splitlines()[2] == "fine fine absent"


def test_names_that_windows_refuses_are_refused_before_any_work(on_system: On, tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from shoal.errors import InputError
from shoal.ranges.hierarchy import build_hierarchies
from shoal.systems.files import is_file_name
names = ["age.csv", "a:b.csv", "con.csv", "NUL", "a?.csv", "name.", "über.csv", "a\\\\b", "com1.txt", "company.csv"]
print([name for name in names if not is_file_name(name)])
for columns in (["a:b", "sex"], ["Age", "age"]):
    try:
        build_hierarchies({name: [1, 2] for name in columns}, output=Path(sys.argv[1]) / "trees")
    except InputError as error:
        print(error.what)
"""
    said = on_system("win32", code, tmp_path).splitlines()
    assert said == [
        "['a:b.csv', 'con.csv', 'NUL', 'a?.csv', 'name.', 'a\\\\b', 'com1.txt']",
        "Columns 'a:b' have no name for a file.",
        "Columns 'Age', 'age' have no name for a file.",
    ]
    assert on_system("here", code, tmp_path).splitlines() == ["[]"]


def test_machines_are_known_by_their_own_ways(on_system: On) -> None:
    code = """
import os
from shoal.systems import console, files, machine
print(machine.free_memory() >> 30 if os.environ["SHOAL_TEST_SYSTEM"] == "win32" else machine.free_memory() > 1 << 20)
print(machine.processors() == os.cpu_count(), [signal.name for signal in machine.ENDING_SIGNALS])
print(files.user() == str(os.getuid()), console.shell_line("shoal", "risk", "C:\\\\my data\\\\people.csv"))
"""
    assert on_system("win32", code).splitlines() == [
        "8",
        "True ['SIGTERM']",
        'False shoal risk "C:\\my data\\people.csv"',
    ]
    assert on_system("darwin", code).splitlines() == [
        "True",
        "True ['SIGTERM', 'SIGHUP']",
        "True shoal risk 'C:\\my data\\people.csv'",
    ]


def test_a_file_that_output_is_sent_to_is_utf_8(tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "people.csv").write_bytes("größe → été\n1\n2\n".encode())
    command = [sys.executable, "-m", "shoal", "profile", str(tmp_path / "people.csv"), "--json"]
    told = environment("win32", temporary)
    escaped = subprocess.run(command, env=told, capture_output=True, check=True).stdout
    assert json.loads(escaped.decode("ascii"))["columns"][0]["name"] == "größe → été"
    del told["PYTHONIOENCODING"]
    plain = subprocess.run(command, env=told, capture_output=True, check=True).stdout
    assert "größe → été" in plain.decode("utf-8")
    assert json.loads(plain) == json.loads(escaped)


@pytest.mark.parametrize("system", ["here", *SYSTEMS])
def test_a_lock_ends_with_its_process_however_that_ends(system: str, tmp_path: Path, temporary: Path) -> None:
    code = """
import sys
from pathlib import Path
from shoal.systems.locks import Lock
lock = Lock(Path(sys.argv[1]))
print(lock.take(), flush=True)
if len(sys.argv) > 2:
    sys.stdin.read()
lock.release()
"""
    path = tmp_path / "work.lock"
    command = [sys.executable, "-c", code, str(path)]
    told = environment(system, temporary)

    def asked() -> str:
        return subprocess.run(command, env=told, capture_output=True, check=True, text=True).stdout.strip()

    holder = subprocess.Popen([*command, "hold"], env=told, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == b"True"
    assert asked() == "False"
    holder.kill()
    holder.communicate()
    assert path.exists()
    assert asked() == "True"
    assert not path.exists()
