"""sdcMicro problems as the R script `sdcmicro_to_json.R` writes them: slots of an sdcMicroObj, without its data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from shoal.errors import InputError
from shoal.migration.draft import Draft

# columns that are named in one line
_SHOWN = 20


def _as_list(value: Any) -> Any:
    return [] if value is None else [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_as_list)]


class SdcProblem(BaseModel):
    """What the script writes; names of columns where sdcMicro has their numbers."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    tool: Literal["sdcMicro"]
    version: str | None = None
    columns: Names
    key_vars: Names = Field(alias="keyVars", default=[])
    num_vars: Names = Field(alias="numVars", default=[])
    pram_vars: Names = Field(alias="pramVars", default=[])
    ghost_vars: Names = Field(alias="ghostVars", default=[])
    deleted_vars: Names = Field(alias="deletedVars", default=[])
    sensitive_vars: Names = Field(alias="sensibleVar", default=[])
    weight_var: str | None = Field(alias="weightVar", default=None)
    household: str | None = Field(alias="hhId", default=None)
    strata_vars: Names = Field(alias="strataVar", default=[])
    alpha: float | None = None
    suppression_k: int | None = Field(alias="localSuppressionK", default=None)
    changed: Names = []


def read_sdcmicro(content: Any, path: Path) -> Draft:
    """Key variables as quasi-identifiers, weights and households; methods that were run are listed."""
    try:
        problem = SdcProblem.model_validate(content)
    except ValidationError as error:
        where = ", ".join(".".join(str(part) for part in entry["loc"]) for entry in error.errors()[:3])
        raise InputError(
            f"{path} is not what sdcmicro_to_json.R writes ({where}).",
            "Write it again with the script that is here.",
        ) from None
    draft = Draft("sdcMicro", problem.version)
    for names, role in (
        (problem.key_vars, "quasi-identifier"),
        (problem.sensitive_vars, "sensitive"),
        (problem.deleted_vars, "identifier"),
    ):
        draft.columns |= {name: role for name in names if name not in draft.columns}  # type: ignore[misc]
    if problem.weight_var is not None:
        draft.settings["weight"] = problem.weight_var
    if problem.household is not None:
        draft.settings["household"] = problem.household
    if problem.suppression_k is not None and problem.suppression_k > 1:
        draft.models.append({"model": "k-anonymity", "k": problem.suppression_k})
    else:
        draft.lacks("a k", "an sdcMicroObj states none unless local suppression was run: add a model")
    # freqCalc lets a missing value match all others, for this much of a record
    draft.settings["null_rule"] = "wildcard"
    if problem.alpha is not None and problem.alpha != 1:
        draft.settings["wildcard_alpha"] = problem.alpha
    _left(draft, problem)
    return draft


def _left(draft: Draft, problem: SdcProblem) -> None:
    """What has no place in a policy."""
    named: list[tuple[list[str], str, str]] = [
        (problem.num_vars, "continuous key variable", "decide its role: microaggregate it, or use `shoal perturb`"),
        (problem.pram_vars, "variable for PRAM", "use `shoal perturb --method pram`, and decide its role"),
        (problem.ghost_vars, "ghost variable", "cells that are suppressed with a key variable; decide its role"),
        (problem.strata_vars, "stratum", "models hold in the whole table, not by stratum; decide its role"),
    ]
    for names, what, why in named:
        for name in names:
            draft.lacks(f"'{name}' as {what}", why)
    said = {*draft.columns, problem.weight_var, problem.household, *(name for names, *_ in named for name in names)}
    if others := [name for name in problem.columns if name not in said]:
        more = f" and {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
        draft.lacks(f"{', '.join(others[:_SHOWN])}{more}", "sdcMicro gives these columns no part: decide their roles")
    for what in problem.changed:
        draft.lacks(f"what was done already: {what}", "shoal starts from the original table")
    if problem.sensitive_vars:
        draft.lacks("l-diversity of sensitive variables", "sdcMicro measures it without a limit: add a model")
