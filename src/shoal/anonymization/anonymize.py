"""Change a table so that it keeps its policy, and say what that cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal import progress
from shoal.anonymization.chooser import choose
from shoal.anonymization.findings import Anonymized
from shoal.anonymization.methods import How, Method, run
from shoal.anonymization.partition import Cuts, Effort
from shoal.anonymization.search.wishes import wishes_of
from shoal.anonymization.transforms.coarsen import Labels
from shoal.anonymization.transforms.sorted_clusters import Remainder
from shoal.anonymization.transforms.wishes import Where
from shoal.errors import as_names
from shoal.models import AnyModel, KAnonymity
from shoal.policy import Policy, as_policy
from shoal.policy.conditions import parse_condition
from shoal.policy.overrides import decided
from shoal.ranges.columns import Form
from shoal.reading import Options, read

__all__ = ["Anonymized", "Method", "anonymize"]


def anonymize(
    source: Any,
    policy: Policy | str | Path | None = None,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | str | None = None,
    k: int | None = None,
    l: int | None = None,  # noqa: E741
    t: float | None = None,
    models: Sequence[AnyModel] = (),
    method: Method | None = None,
    resolution: int | None = None,
    labels: Labels = "range",
    remainder: Remainder = "top",
    effort: Effort = "default",
    cuts: Cuts = "best",
    weights: Mapping[str, float] | None = None,
    mdav: bool = False,
    strata: Sequence[str] | str | None = None,
    untouched_if_safe: bool = False,
    interval: Form | None = None,
    generalize: Mapping[str, str] | None = None,
    where: Where = "all",
    search: bool = False,
    hierarchies: Any = None,
    suppression: float | str | None = None,
    quality: str | None = None,
    levels: Mapping[str, tuple[int, int]] | None = None,
    local: bool = False,
    complete_hierarchies: bool = False,
    time_limit: float = 60.0,
    reading: str | None = None,
    importance: Mapping[str, float] | None = None,
    all_m: int | None = None,
    disclosure: Sequence[str] = (),
    options: Options | None = None,
) -> Anonymized:
    """Anonymise a table; what is given here overrides the policy.

    Without a `method`, those that the policy allows are tried within the time limit and the one that loses least is
    taken; `findings.search` says which, why, and what the others lost.

    `sorted-clusters`: Algorithm S2 (k), with t also S4; `coarsen`: S3 (resolution); `mask`: the policy's masking steps;
    `recode`: labels as `generalize` says (a file of labels, `*`, `runs:4`, `chunks:4`), everywhere or only `where`
    records stand out; `search` tries all combinations and elects the best (Pastore et al.). `mondrian`: groups of k
    near records, of any columns and under any model, with `effort` fast, default or best; `cuts` strict or relaxed for
    Mondrian as published; `weights` for columns that matter more. `microaggregate`: means of groups of k, by `mdav` as
    published if asked, within `strata`, with t-closeness first if the policy names one. `lattice`: the best level
    of a hierarchy for every column (`hierarchies`: a folder or a mapping; built where none is given), proven to be the
    best by `quality` with at most `suppression` of the records left out; `local` generalises those again. `suppress`:
    few cells become `*`, where `reading` says what that means (wildcard: it matches anything; strict: a value of its
    own), `importance` what a column is worth, and `all_m` that every combination of m columns is protected.

    `interval` is how ranges are written; microaggregation writes means if nothing is said.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 34, 51, 52], "charge": [1, 2, 3, 4]})
    >>> result = anonymize(people, quasi_identifiers=["age"], sensitive="charge", k=2)
    >>> result.frame["age"].to_list(), result.findings.k, result.verdict
    (['[30;34]', '[30;34]', '[51;52]', '[51;52]'], 2, 'holds')
    """
    given = decided(as_policy(policy), as_names(quasi_identifiers), as_names(sensitive), k, l, t, models)
    table = read(source, None, options)
    table.select([*given.quasi_identifiers, *given.sensitive])
    conditions = [parse_condition(text) for text in disclosure]
    table.select([condition.column for condition in conditions])
    how = How(
        resolution=resolution,
        labels=labels,
        remainder=remainder,
        effort=effort,
        cuts=cuts,
        weights=weights or given.weights,
        mdav=mdav,
        strata=as_names(strata),
        untouched_if_safe=untouched_if_safe,
        interval=interval,
        generalize=generalize or {},
        where=where,
        search=search,
        hierarchies=hierarchies,
        complete_hierarchies=complete_hierarchies,
        wishes=wishes_of(given, suppression, quality, weights, levels, local, time_limit),
        conditions=conditions,
        reading=reading,
        importance=importance or given.weights,
        all_m=all_m,
        # a k beside a policy that names k-anonymity means what the policy means
        k_alone=k is not None and not any(isinstance(model, KAnonymity) for model in as_policy(policy).models),
    )
    progress.report("anonymising", 0)
    if method is not None:
        return run(method, table, given, how)
    return choose(table, given, how, time_limit)
