"""A generated table in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from shoal.errors import InputError, Message
from shoal.keys import check_no_secret
from shoal.reproduction.sample import sample_data
from shoal.results import Files, Headline, Result, Section
from shoal.storage.writing import check_target, write_frame
from shoal.wording import counted

# a folder of small files, not one table
HANDOUTS = "course"


@dataclass(frozen=True, repr=False)
class SampleWritten(Result):
    """A generated table: which one, how many records, by which seed, and where it is."""

    name: ClassVar[str] = "sample-data"

    sample: str
    records: int
    seed: int
    output: str

    def summary(self) -> str:
        """What was generated."""
        if self.sample == HANDOUTS:
            return f"The hand-outs of the course: {counted(self.records, 'record')} in small files."
        return f"{counted(self.records, 'record')} of {self.sample} generated with seed {self.seed}."

    def sections(self) -> list[Section]:
        """What was generated, and where it is."""
        return [Headline(self.summary()), Files({"table": self.output})]


def write_sample(
    sample: str, *, output: str | Path, rows: int | None = None, seed: int = 0, force: bool = False
) -> SampleWritten:
    """Generate a table and write it to a file.

    >>> import tempfile
    >>> write_sample("licences", output=Path(tempfile.mkdtemp()) / "l.csv", rows=10).summary()
    '10 records of licences generated with seed 0.'
    """
    target = Path(output)
    if sample == HANDOUTS:
        return _write_handouts(target, rows, force)
    check_target(target, force)
    check_no_secret(target)
    frame = sample_data(sample, rows, seed)
    write_frame(frame, target, force)
    return SampleWritten(sample, len(frame), seed, str(target))


def _write_handouts(folder: Path, rows: int | None, force: bool) -> SampleWritten:
    from shoal.reproduction.course_printed import handout, handouts
    from shoal.reproduction.page import check_folder, write_folder

    if rows is not None:
        raise InputError("The hand-outs of the course have their own rows.", Message("Leave `{rows}` out."))
    check_folder(folder, list(handouts()), force, charts=False)
    check_no_secret(folder)
    write_folder(folder, handouts())
    return SampleWritten(HANDOUTS, sum(handout(name).height for name in handouts()), 0, str(folder))
