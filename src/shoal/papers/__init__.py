"""Each published table and figure, reproduced by one command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, check_choice
from shoal.reports.exhibit import Exhibit, Line, Reproduction

if TYPE_CHECKING:
    from shoal.reading import Options

PAPERS = ("sanchez", "pastore", "antoniou")

__all__ = ["PAPERS", "Exhibit", "Line", "Reproduction", "reproduce", "reproduce_all"]


def reproduce(paper: str, **asked: Any) -> Reproduction:
    """Reproduce a paper: `sanchez`, `pastore` or `antoniou`; what may be asked is what `reproduce_all` takes.

    >>> found = reproduce("sanchez", rows=200)
    >>> found.found["s2"]["3"]["uniques"]
    0
    """
    return reproduce_all([paper], **asked)[0]


def reproduce_all(
    papers: Sequence[str] = PAPERS,
    *,
    output: str | Path | None = None,
    charts: bool = True,
    force: bool = False,
    rows: int | None = None,
    seed: int = 0,
    counts: Any = None,
    columns: Mapping[str, str | None] | None = None,
    options: Options | None = None,
) -> list[Reproduction]:
    """Reproduce papers; with `output`, as files in a folder, all of them or none.

    `rows` is the size of Sánchez's table, `counts` the licence table of Pastore (a frame or a file; generated if not
    given) and `columns` what its columns are called (year, municipality, province, sex, count).

    >>> [paper.paper for paper in reproduce_all(["pastore"])]
    ['pastore']
    """
    from shoal.reports.files import check_folder, contents, write_folder

    for paper in papers:
        check_choice("paper", paper, PAPERS)
    if seed < 0:
        raise InputError("A seed is zero or more.", "Use --seed 0, for example.")
    folder = None if output is None else Path(output)
    if folder is not None:
        check_folder(folder, papers, force, charts)
    found = [_found(paper, rows, seed, counts, columns or {}, options) for paper in papers]
    if folder is not None:
        write_folder(folder, {name: file for paper in found for name, file in contents(paper, charts).items()})
    return found


def _found(
    paper: str, rows: int | None, seed: int, counts: Any, columns: Mapping[str, str | None], options: Options | None
) -> Reproduction:
    if paper == "sanchez":
        from shoal.papers.sanchez import sanchez

        return sanchez(seed=seed) if rows is None else sanchez(rows, seed)
    if paper == "pastore":
        from shoal.papers.pastore import Names, pastore

        given = {name: value for name, value in columns.items() if value is not None}
        return pastore(counts, Names(**given), seed=seed, options=options)
    from shoal.papers.antoniou import antoniou

    return antoniou(seed)
