"""A verb and its release in one: what the front ends call, which know no order of steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.perturbation.results import Perturbed
from shoal.releases.write import Refused, release
from shoal.standards.hipaa.policy_text import policy_text
from shoal.standards.hipaa.results import SafeHarbor
from shoal.standards.hipaa.safe_harbor import SafeHarborReading, apply_safe_harbor, residual_risk
from shoal.writing import check_apart, check_target, write_whole


@dataclass(frozen=True, slots=True)
class Writing:
    """How a release is written; the command line shuffles rows, because their order can identify."""

    force: bool = False
    shuffle: bool = True
    seed: int | None = None
    excel_safe: bool = False


def check_output(source: Any, output: str | Path | None, writing: Writing, policy: Any = None) -> None:
    """Refuse an output that is an input or the policy, or that is there already, before any work is done for it."""
    check_apart(input=source, policy=policy, output=output)
    if output is not None:
        check_target(Path(output), writing.force)


def released_perturbed(result: Perturbed, output: str | Path, source: Any, writing: Writing) -> Perturbed:
    """Release a perturbed table: the same result, with where it is."""
    made = release(
        result,
        output,
        force=writing.force,
        shuffle=writing.shuffle,
        seed=writing.seed,
        no_guarantee=True,
        excel_safe=writing.excel_safe,
        source=one_file(source),
    )
    return result.as_released(made.written, made.output, made.manifest)


def publish_safe_harbor(
    source: Any,
    *,
    policy: Any = None,
    reading: SafeHarborReading | None = None,
    output: str | Path | None = None,
    write_policy: str | Path | None = None,
    writing: Writing | None = None,
) -> SafeHarbor:
    """Safe harbor, its proposal written as a policy file, and its release, each where a file is named for it."""
    writing = writing or Writing()
    check_output(source, output, writing, policy if isinstance(policy, (str, Path)) else None)
    if write_policy is not None:
        given = policy if isinstance(policy, (str, Path)) else None
        check_apart(input=source, policy=given, output=output, written_policy=write_policy)
        check_target(Path(write_policy), writing.force, (".yaml", ".yml"))
    result = apply_safe_harbor(source, policy, reading or SafeHarborReading())
    if write_policy is not None:
        write_whole(Path(write_policy), lambda draft: draft.write_text(policy_text(result), encoding="utf-8"))
        result = result.with_policy_file(write_policy)
    if output is None:
        return result.measured(residual_risk(result.polars, result))
    try:
        made = release(
            result,
            output,
            force=writing.force,
            shuffle=writing.shuffle,
            seed=writing.seed,
            excel_safe=writing.excel_safe,
            source=one_file(source),
        )
    except Refused as refusal:
        return result.as_refused(str(refusal))
    residual = residual_risk(made.output, result)
    return result.measured(residual).as_released(made.written, made.output, made.manifest)


def one_file(source: Any) -> Path | None:
    """The file that was read, where it is one."""
    if isinstance(source, (list, tuple)) and len(source) == 1:
        source = source[0]
    return Path(source) if isinstance(source, (str, Path)) else None
