"""The published sources: each table and figure reproduced by one command, and the sample tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, check_choice
from shoal.reproduction.results import Line, PaperPart, Reproduction

if TYPE_CHECKING:
    from shoal.storage.reading import Options


PAPERS = ("sanchez", "pastore", "antoniou")

__all__ = ["PAPERS", "Line", "PaperPart", "Reproduction", "reproduce", "reproduce_all"]


def reproduce(paper: str, **settings: Any) -> Reproduction:
    """Reproduce a paper: `sanchez`, `pastore` or `antoniou`; the settings are those of `reproduce_all`.

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
    from shoal.reproduction.page import check_folder, contents, write_folder
    from shoal.reproduction.results import command

    for paper in papers:
        check_choice("paper", paper, PAPERS)
    if seed < 0:
        raise InputError("A seed is zero or more.", "Set seed to 0, for example.")
    folder = None if output is None else Path(output)
    if folder is not None:
        check_folder(folder, papers, force, charts)
    results = []
    for paper in papers:
        result = _measured(paper, rows, seed, counts, columns or {}, options)
        made_by = command(paper, result.found, counts, columns or {}, options, folder, charts)
        results.append(replace(result, command=made_by))
    if folder is not None:
        write_folder(folder, {name: file for one in results for name, file in contents(one, charts).items()})
    return results


def _measured(
    paper: str, rows: int | None, seed: int, counts: Any, columns: Mapping[str, str | None], options: Options | None
) -> Reproduction:
    if paper == "sanchez":
        from shoal.reproduction.sanchez import sanchez

        return sanchez(seed=seed) if rows is None else sanchez(rows, seed)
    if paper == "pastore":
        from shoal.reproduction.pastore import LicenceColumns, pastore

        named = {name: column for name, column in columns.items() if column is not None}
        return pastore(counts, LicenceColumns(**named), seed=seed, options=options)
    from shoal.reproduction.antoniou import antoniou

    return antoniou(seed)
