"""What only a person can answer, asked where there is no policy: who receives it, and the columns in doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from shoal.detection.profiles import ColumnProfile, Profile
from shoal.detection.proposed_rules import usual_l
from shoal.errors import InputError, Message
from shoal.identifiers import DECIDED
from shoal.models import KAnonymity, LDiversity
from shoal.policy import Policy
from shoal.policy.manifest import DecidedBy
from shoal.policy.sections import ContextSection
from shoal.storage.column_type import ColumnType
from shoal.vocabulary import Role
from shoal.wording import in_words

# to whom, the smallest class that is usual for them, and the highest risk that goes with it: no cell under 11 in public
# (CMS), 0.2 for known recipients under contract (El Emam), 0.33 for trusted people who may see the data anyway
RECIPIENTS: dict[str, tuple[int, float | str, str]] = {
    "public": (11, "cms", "everybody: it is published"),
    "contract": (5, 0.2, "known recipients under a contract"),
    "inside": (4, "trusted", "people of the same organisation"),
}
_WORDS = (
    "Who receives it? public: everybody; contract: known recipients under a contract; inside: the same organisation."
)
_FEWEST_VALUES = 2


@dataclass(frozen=True)
class OpenQuestion:
    """One thing that a person must decide: its key (a setting or a column), the words, and what may be answered."""

    key: str
    text: str
    choices: tuple[str, ...]
    proposed: str | None = None


class Unanswered(InputError):
    """Questions without an answer; nothing was done. What was answered already stands in the line that is proposed."""

    def __init__(self, questions: list[OpenQuestion], answered: Mapping[str, str]) -> None:
        lines = [f"{entry.key}: {entry.text}" for entry in questions]
        whole = {**answered, **{entry.key: entry.proposed or entry.choices[0] for entry in questions}}
        answers = ",".join(f"{key}={answer}" for key, answer in whole.items())
        super().__init__(
            "There is no policy, and these questions are for a person:\n  " + "\n  ".join(lines),
            Message("Give {answers}, for example '{}', or a policy (shoal profile --write-policy).", answers),
        )
        self.questions = questions


def questions_of(found: Profile, answers: Mapping[str, str]) -> list[OpenQuestion]:
    """What is left to ask: the recipient, and the role of each column that no rule is sure of."""
    left = [] if "recipient" in answers else [OpenQuestion("recipient", _WORDS, tuple(RECIPIENTS), "public")]
    roles = tuple(get_args(Role))
    for column in found.columns:
        if _is_guess(column) and column.name not in answers:
            why, role = " ".join(column.reasons), _proposed(column)
            how = column.treat.in_words if column.treat else "pseudonyms" if column.unit == "person" else None
            why += f" As {role} its values leave as {how}." if how else ""
            left.append(OpenQuestion(column.name, f"which role has this column? {why}", roles, role))
    return left


def _proposed(column: ColumnProfile) -> Role:
    """The role that a column has in the policy that is proposed; who answers by it gets what goes with it, too."""
    said = column.in_policy
    role: Role = said if isinstance(said, str) else said["role"]  # type: ignore[assignment]
    return role


def _is_guess(column: ColumnProfile) -> bool:
    """Whether no rule is sure of a column; one with a single value tells nobody from others."""
    return column.confidence < DECIDED and column.distinct >= _FEWEST_VALUES


def who_decided(found: Profile, answers: Mapping[str, str]) -> dict[str, DecidedBy]:
    """Whether a column's role is a person's answer or what shoal proposed."""
    return {column.name: "answer" if column.name in answers else "proposal" for column in found.columns}


def policy_from(found: Profile, answers: Mapping[str, str]) -> Policy:
    """A policy from the proposed roles and the answers; refused while a question is open.

    >>> from shoal.detection.profile import profile
    >>> ages = profile({"age": [30, 31, 52, 53, 60] * 4, "sex": ["f", "m"] * 10})
    >>> policy_from(ages, {"recipient": "contract"}).models[0].k
    5
    """
    if left := questions_of(found, answers):
        raise Unanswered(left, answers)
    names = {column.name for column in found.columns}
    if unknown := [key for key in answers if key != "recipient" and key not in names]:
        raise InputError.missing_columns(unknown, sorted(names), "The table")
    recipient = answers["recipient"]
    if recipient not in RECIPIENTS:
        raise InputError("The recipient is not known.", f"Answer with one of {', '.join(RECIPIENTS)}.")
    roles: dict[str, Any] = {column.name: answers.get(column.name, column.role) for column in found.columns}
    if odd := [name for name, role in roles.items() if role not in get_args(Role)]:
        raise InputError(f"The role of {in_words(odd)} is not known.", f"Use one of {', '.join(get_args(Role))}.")
    k, threshold, words = RECIPIENTS[recipient]
    sensitive = [column for column in found.columns if roles[column.name] == "sensitive"]
    models: list[Any] = [KAnonymity(k=k)]
    models += [
        LDiversity(sensitive=column.name, l=usual_l(column))
        for column in sensitive
        if column.distinct >= _FEWEST_VALUES
    ]
    if "quasi-identifier" not in roles.values():
        raise InputError("No column is a quasi-identifier: there is nothing to protect people in.", "Answer which are.")
    proposed = {column.name: column.declaration for column in found.telling() if column.declaration is not None}
    types = {name: _without_order(declared) for name, declared in proposed.items() if declared.type != "ordered"}
    context = ContextSection(recipient=words)
    alike = [column for column in found.columns if answers.get(column.name) in (None, _proposed(column))]
    asked = {column.name: column.in_policy for column in alike}
    units: dict[str, str] = {column.unit: column.name for column in alike if column.unit}
    content = {"columns": {**roles, **asked}, "models": models, "types": types, "threshold": threshold, **units}
    return Policy.model_validate({**content, "context": context, **({"suppression": 0.1} if "person" in units else {})})


def _without_order(declared: ColumnType) -> ColumnType:
    """A type as it was found; an order found in the data lists its values, and is found again where it is needed."""
    return declared if declared.order is None else declared.model_copy(update={"order": None})
