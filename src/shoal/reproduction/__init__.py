"""The published sources: each table and figure reproduced by one command, and the sample tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, Message, check_choice
from shoal.reproduction.results import Line, PaperPart, Reproduction

if TYPE_CHECKING:
    from shoal.storage.reading import Options


PAPERS = ("sanchez", "pastore", "antoniou", "course")

__all__ = ["PAPERS", "Line", "PaperPart", "Reproduction", "reproduce", "reproduce_all"]


def reproduce(paper: str, **settings: Any) -> Reproduction:
    """Reproduce `sanchez`, `pastore`, `antoniou` or the `course`; the settings are those of `reproduce_all`.

    >>> reproduce("sanchez", rows=200).found["s2"]["3"]["uniques"]
    0
    """
    return reproduce_all([paper], **settings)[0]


def reproduce_all(
    papers: Sequence[str] = PAPERS,
    *,
    output: str | Path | None = None,
    charts: bool = True,
    force: bool = False,
    rows: int | None = None,
    seed: int = 0,
    data: Any = None,
    files: bool = False,
    columns: Mapping[str, str | None] | None = None,
    options: Options | None = None,
) -> list[Reproduction]:
    """Reproduce papers; with `output`, as files in a folder, all of them or none.

    `rows` is the size of Sánchez's table. `data` (a frame or a file) is the authors' table in the place of a generated
    one: Sánchez's discharges, or the licences of a region for Pastore, whose columns `columns` names (year,
    municipality, province, sex, count). `files`: the twelve files of Sánchez's Table S10 are written too.

    >>> [paper.paper for paper in reproduce_all(["pastore"])]
    ['pastore']
    """
    from shoal.reproduction.page import check_folder, contents, write_folder
    from shoal.reproduction.results import command
    from shoal.reproduction.sanchez_printed import FILES

    for paper in papers:
        check_choice("paper", paper, PAPERS)
    if seed < 0:
        raise InputError("A seed is zero or more.", "Set seed to 0, for example.")
    folder = None if output is None else Path(output)
    if data is not None and (len(papers) > 1 or papers[0] in ("antoniou", "course")):
        raise InputError("A table belongs to one paper, sanchez or pastore.", "Reproduce that paper alone.")
    if data is not None and rows is not None:
        raise InputError("A table that is given has its own number of rows.", Message("Leave `{rows}` out."))
    if files and (folder is None or "sanchez" not in papers):
        raise InputError(
            "The files of Table S10 belong to sanchez and need a folder.", Message("Name one with `{output}`.")
        )
    if folder is not None:
        more = list(FILES) if files else []
        own = Path(data) if isinstance(data, (str, Path)) else None
        if own is not None and own.name in more and (folder / own.name).resolve() == own.resolve():
            raise InputError(f"{own.name} is read and would be written.", "Choose another folder.")
        check_folder(folder, [*(f"{paper}.html" for paper in papers), *more], force, charts)
    results = []
    for paper in papers:
        result = _measured(paper, rows, seed, data, columns or {}, options)
        made_by = command(paper, result.found, data, columns or {}, options, folder, charts, files)
        results.append(replace(result, command=made_by, files=result.files if files else {}))
    if folder is not None:
        write_folder(folder, {name: file for one in results for name, file in contents(one, charts).items()})
    return results


def _measured(
    paper: str, rows: int | None, seed: int, data: Any, columns: Mapping[str, str | None], options: Options | None
) -> Reproduction:
    if paper == "sanchez":
        from shoal.reproduction.sanchez import sanchez

        return sanchez(rows, seed, data=data, options=options)
    if paper == "pastore":
        from shoal.reproduction.pastore import LicenceColumns, pastore

        named = {name: column for name, column in columns.items() if column is not None}
        return pastore(data, LicenceColumns(**named), seed=seed, options=options)
    if paper == "course":
        from shoal.reproduction.course import course

        return course(seed)
    from shoal.reproduction.antoniou import antoniou

    return antoniou(seed)
