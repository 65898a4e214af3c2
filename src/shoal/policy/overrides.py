"""What was decided: a policy, and what is said beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from shoal.errors import InputError, check_choice
from shoal.models import AnyModel, KAnonymity, LDiversity, TCloseness
from shoal.policy import Policy
from shoal.vocabulary import Role


def decided(
    policy: Policy,
    names: list[str],
    sensitive: list[str],
    k: int | None,
    l: int | None,  # noqa: E741
    t: float | None,
    more: Sequence[AnyModel] = (),
    decide: Mapping[str, Role] | None = None,
) -> Policy:
    """The policy with what was given beside it; l and t are asked of every sensitive column."""
    decide = decide or {}
    _check_once(decide, names, sensitive)
    policy = with_roles(policy, decide)
    if names:
        names = [*names, *(name for name, role in decide.items() if role == "quasi-identifier" and name not in names)]
    roles: dict[str, Role] = dict(policy.columns)
    for name in names:
        roles[name] = "quasi-identifier"
    if names:
        roles = {name: role for name, role in roles.items() if role != "quasi-identifier" or name in names}
    both = [name for name in sensitive if roles.get(name) == "quasi-identifier"]
    if both:
        raise InputError(f"Column '{both[0]}' is a quasi-identifier and sensitive at once.", "Decide on one role.")
    roles.update(dict.fromkeys(sensitive, "sensitive"))
    if "quasi-identifier" not in roles.values():
        raise InputError("No quasi-identifiers are named.", "Name them with --qi age,sex,zip or in a policy.")
    named = [name for name, role in roles.items() if role == "sensitive"]
    models: list[AnyModel] = list(policy.models)
    if k is not None:
        if isinstance(k, bool) or not isinstance(k, int):
            raise InputError("k is not a whole number.", "Use 5, for example.")
        if k < 2:
            raise InputError(f"k = {k} protects nobody.", "Use 2 or more.")
        if k > 2**53:
            raise InputError("k is larger than any table.", "Use a smaller one.")
        models = [KAnonymity(k=k), *(model for model in models if not isinstance(model, KAnonymity))]
    if l is not None:
        if l < 2:
            raise InputError(f"l = {l} asks for nothing.", "Use 2 or more.")
        _need_sensitive("l-diversity", named)
        rest = [model for model in models if not isinstance(model, LDiversity)]
        models = [*rest, *(LDiversity(l=l, sensitive=name) for name in named)]
    if t is not None:
        if not 0 < t <= 1:
            raise InputError(f"t = {t} is not above 0 and up to 1.", "Use --t 0.1, for example.")
        _need_sensitive("t-closeness", named)
        close = [model for model in models if not isinstance(model, TCloseness)]
        models = [*close, *(TCloseness(t=t, sensitive=name) for name in named)]
    return policy.model_copy(update={"columns": roles, "models": [*models, *more]})


def with_roles(policy: Policy, decide: Mapping[str, Role] | None) -> Policy:
    """The policy with roles that were decided beside it.

    >>> with_roles(Policy(columns={"age": "other"}), {"ssn": "identifier"}).columns
    {'age': 'other', 'ssn': 'identifier'}
    """
    if not decide:
        return policy
    for name, role in decide.items():
        check_choice(f"decide for column '{name}'", role, get_args(Role))
    return policy.model_copy(update={"columns": {**policy.columns, **decide}})


def _check_once(decide: Mapping[str, Role], names: Sequence[str], sensitive: Sequence[str]) -> None:
    """What is decided of a column is not what another setting says otherwise."""
    for setting, role, listed in (
        ("quasi_identifiers", "quasi-identifier", names),
        ("sensitive", "sensitive", sensitive),
    ):
        if odd := [name for name in listed if decide.get(name, role) != role]:
            raise InputError(
                f"Column '{odd[0]}' stands in `{setting}` and is decided as {decide[odd[0]]}.", "Decide on one role."
            )


def _need_sensitive(model: str, named: list[str]) -> None:
    if not named:
        raise InputError(f"{model} needs a sensitive column.", "Name it with --sensitive.")
