"""Open a file: one of this machine, the built-in example, or one that is uploaded (`uploads.py`)."""

from __future__ import annotations

from shoal.app.jobs import Job, Jobs
from shoal.app.picker import Picker
from shoal.app.project import Project, Reading, Workspace
from shoal.policy import Policy, as_policy

EXAMPLE_ROWS = 20_000


def open_place(project: Project, picker: Picker, place: str) -> Workspace:
    """A file of this machine, by its place in the picker; it stays where it is."""
    path = picker.file(place)
    return project.new(path.name, "machine", path)


def open_example(
    project: Project, jobs: Jobs, sample: str = "discharges", rows: int = EXAMPLE_ROWS, seed: int = 0
) -> tuple[Workspace, Job]:
    """A generated table; a child generates it."""
    workspace = project.new(f"{sample}.csv", "example")
    return workspace, jobs.start(workspace, "sample-data", {"sample": sample, "rows": rows, "seed": seed})


def allowed_reading(reading: Reading, picker: Picker) -> Reading:
    """A way of reading whose files, if it names any, lie below the allowed folders."""
    picker.check_files(reading.files())
    return reading


def keep_policy(workspace: Workspace, policy: Policy | dict[str, object], picker: Picker) -> Policy:
    """Keep a policy whose files, if it names any, lie below the allowed folders; the library checks the rest."""
    made = as_policy(policy)
    picker.check_policy(made)
    workspace.set_policy(made)
    return made
