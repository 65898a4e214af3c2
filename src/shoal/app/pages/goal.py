"""The goal as a form shows it and as the policy keeps it. The rules are the library's."""

from __future__ import annotations

import math
from typing import Any

from shoal.errors import InputError
from shoal.policy import Policy, as_policy, share_of
from shoal.policy.overrides import decided
from shoal.policy.standards import standards
from shoal.policy.thresholds import DEFAULT

Form = dict[str, list[str]]
_LARGEST = 10**9
# what a form can set; a model of another kind comes with a policy that is loaded, and stays
_SET_HERE = ("k-anonymity", "l-diversity", "t-closeness")
_METHODS = {"": "The least loss, by any method"}
# methods that do nothing without settings which a page does not have; a policy that is loaded may name them
_NEED_SETTINGS = ("mask", "recode")
# standards about tables of counts, which these pages do not release
_NOT_RECORDS = ("cms-cells",)
_PREFERS = (
    ("", "As shoal sees fit"),
    ("least-loss", "The one that loses least"),
    ("hierarchies", "One that goes by hierarchies"),
    ("few-suppressed", "The one that leaves out fewest records"),
)


def goal_of(policy: Policy) -> dict[str, Any]:
    """The goal as the form shows it."""
    from shoal.anonymization.methods import METHODS

    by_name = {model.model: model for model in policy.models}
    figures = {"k": 5, "l": 1, "t": 1.0}
    for key, model in zip(figures, _SET_HERE, strict=True):
        figures[key] = getattr(by_name.get(model), key, figures[key])
    sensitive = bool(policy.sensitive)
    threshold = policy.threshold if isinstance(policy.threshold, (int, float)) else None
    named = [one for one in standards().standards if one.models and one.name not in _NOT_RECORDS]
    return {
        "standard": _standard(policy, named),
        "standards": named,
        "sliders": [
            _slider("k", "People who look alike, at least (k)", 2, 50, 1, figures["k"], 10**9,
                    "Everybody shares all quasi-identifiers with k − 1 others or more."),
            *([
                _slider("l", "Different sensitive values in each such group (l)", 1, 10, 1, figures["l"], 10**6,
                        "1 asks for nothing. From 2 on, knowing the group does not give the value away."),
                _slider("t", "How far a group may differ from everybody (t)", 0.05, 1, 0.05, figures["t"], 1,
                        "1 asks for nothing. The smaller, the less the group tells about what is sensitive."),
            ] if sensitive else []),
            _slider("threshold", "Highest risk that is accepted", 0.01, 1, 0.01,
                    DEFAULT if threshold is None else threshold, 1,
                    "What Risk and the report hold every record against: 0.2 is one in five."),
        ],
        "sensitive": sensitive,
        "methods": [{"name": name, "words": words} for name, words in _METHODS.items()]
        + [
            {"name": kind.name, "words": f"{kind.name}: {kind.does}"}
            for kind in METHODS.values()
            if kind.name not in _NEED_SETTINGS or (policy.method and policy.method.name == kind.name)
        ],
        "method": policy.method.name if policy.method else "",
        "prefers": _PREFERS,
        "prefer": "",
        "suppression": f"{100 * policy.suppression:g}%",
    }  # fmt: skip


def _slider(
    key: str, label: str, low: float, high: float, step: float, value: float, most: float, words: str
) -> dict[str, Any]:
    return {
        "key": key, "label": label, "low": low, "high": high, "step": step, "value": f"{value:g}", "most": most,
        "words": words,
    }  # fmt: skip


def _standard(policy: Policy, named: list[Any]) -> str:
    """The standard whose figures the policy has."""
    models = [model.model_dump() for model in policy.models]
    same = [one.name for one in named if one.models == models and one.threshold == policy.threshold]
    return same[0] if same else ""


def with_goal(policy: Policy, form: Form, only_k: bool = False) -> Policy:
    """The policy with the goal of a form."""
    from shoal.policy.named import find_standard

    name = _one(form, "standard")
    method = {"name": chosen} if (chosen := _one(form, "method")) else None
    if only_k:
        goal = decided(policy, [], [], _whole(form, "k"), None, None)
        return as_policy({**goal.as_written(), "method": method})
    others = [model for model in policy.models if model.model not in _SET_HERE]
    base = {**policy.as_written(), "method": method, "suppression": _share(form, "suppression")}
    if name:
        standard = find_standard(name).policy.as_written()
        for part in ("threshold", "models", "attacks"):
            base[part] = standard.get(part)
        return as_policy({part: value for part, value in base.items() if value is not None})
    # what a standard asked of attacks goes with it; what a loaded policy asks of models that have no slider stays
    kept = [{"model": one.model, **one.model_dump(exclude_defaults=True)} for one in others]
    base |= {"models": kept, "threshold": _number(form, "threshold")}
    if _standard(policy, standards().standards):
        base["attacks"] = None
    plain = as_policy({part: value for part, value in base.items() if value is not None})
    groups = _whole(form, "l") if form.get("l") else 1
    close = _number(form, "t") if form.get("t") else 1.0
    return decided(plain, [], [], _whole(form, "k"), groups if groups > 1 else None, close if close < 1 else None)


def _one(form: Form, name: str) -> str:
    return form.get(name, [""])[0].strip()


def _number(form: Form, name: str) -> float:
    try:
        found = float(_one(form, name))
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{name} is not a number.", "Write 5 or 0.2, for example.")
    return found


def _whole(form: Form, name: str) -> int:
    found = _number(form, name)
    if found != int(found) or abs(found) > _LARGEST:
        raise InputError(f"{name} is not a whole number up to {_LARGEST:,}.", "Write 5, for example.")
    return int(found)


def _share(form: Form, name: str) -> float:
    try:
        return share_of(_one(form, name) or 0)
    except (ValueError, ArithmeticError) as error:
        raise InputError(f"{name}: {error}.", "Write 5%, for example.") from None
