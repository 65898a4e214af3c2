"""A policy from its file: YAML with all problems at once, each with its line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from shoal.errors import InputError, Message, Setting, check_choice
from shoal.models import MODELS, AnyModel, KAnonymity, LDiversity, TCloseness
from shoal.policy.schema import COUNT_OR_PERSON, Policy
from shoal.storage.reading.bytes import read_small
from shoal.vocabulary import Role

if TYPE_CHECKING:
    import yaml


LONGEST_POLICY = 1_000_000
# so many brackets in a row would keep the reader of YAML busy for minutes
_DEEP = re.compile(r"(?:[\[{]\s*){50}")
_HALF = re.compile("[\ud800-\udfff]")
# YAML 1.1 reads truths and numbers here
_AS_WRITTEN = re.compile(r"(?i:yes|no|on|off)|[-+]?0[0-9_]+|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+")
_MODEL_NAMES = {model.model_fields["model"].default for model in MODELS}


class PolicyError(InputError):
    """All problems of a policy file at once, each with its line."""

    def __init__(self, path: Path | str, problems: list[tuple[int | None, str]]) -> None:
        self.problems = problems
        lines = [f"  line {line}: {text}" if line else f"  {text}" for line, text in problems]
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        cure = "Fix it, then try again." if len(problems) == 1 else "Fix all of them, then try again."
        super().__init__(f"Policy {path} has {count}:\n" + "\n".join(lines), cure)


def as_policy(given: Policy | dict[str, Any] | str | Path | None) -> Policy:
    """A policy from what was given: one, its content, the path of a file, or nothing.

    >>> as_policy({"null_rule": "drop"}).null_rule
    'drop'
    """
    if given is None:
        return Policy()
    if isinstance(given, Policy):
        return given
    if isinstance(given, dict):
        try:
            return Policy.model_validate(given)
        except ValidationError as error:
            raise PolicyError("given", [(None, _problem(found)) for found in error.errors()]) from None
    return load_policy(given)


def _broken_line(error: Exception, text: str) -> int | None:
    """The line of what is not YAML: where it starts, if its end is missed only behind the last line."""
    mark, start = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if mark is not None and start is not None and mark.line >= len(text.rstrip().splitlines()):
        mark = start
    return mark.line + 1 if mark is not None else None


def load_policy(path: str | Path) -> Policy:
    """Read and check a policy file; the name of a standard (`ema-0070`) gives its policy."""
    path = Path(path)
    if not path.exists():
        from shoal.policy.named import STANDARDS

        if str(path) in STANDARDS:
            return STANDARDS[str(path)].policy
    try:
        text = read_small(path, 4 * LONGEST_POLICY).decode()
    except FileNotFoundError:
        raise InputError(
            f"There is no policy file {path}.",
            "Start one from the example in docs/policy.md, or name a standard (shoal standards).",
        ) from None
    except (UnicodeDecodeError, OSError):
        raise InputError(f"Policy {path} cannot be read as UTF-8 text.", "Save it as plain UTF-8 YAML.") from None
    return policy_from_text(text, path)


def policy_from_text(text: str, path: str | Path) -> Policy:
    """Check the text of a policy file; `path` is its name in messages."""
    if len(text) > LONGEST_POLICY:
        raise InputError(f"Policy {path} is longer than {LONGEST_POLICY:,} characters.", "That is not a policy.")
    if _DEEP.search(text):
        raise PolicyError(path, [(None, "brackets are nested too deeply: this is not YAML of a policy")])
    import yaml

    try:
        tokens = list(yaml.scan(text))
        aliases = [token.start_mark.line + 1 for token in tokens if isinstance(token, yaml.AliasToken)]
        if aliases:
            raise PolicyError(path, [(line, "write it out: references (*name) are not read") for line in aliases])
        halves = [t.start_mark.line + 1 for t in tokens if isinstance(t, yaml.ScalarToken) and _HALF.search(t.value)]
        if halves:
            raise PolicyError(path, [(line, "half of a character (\\ud800 to \\udfff) is no text") for line in halves])
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        content = _content(text)
    except PolicyError:
        raise
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise PolicyError(path, [(_broken_line(error, text), "this is not YAML")]) from None
    if not isinstance(content, dict):
        raise PolicyError(path, [(1, "a policy is a mapping such as `columns: {age: quasi-identifier}`")])
    problems = duplicate_keys(tree)
    if content.get("count") is not None and content.get("person") is not None:
        problems.append((_line(tree, ["person"]), COUNT_OR_PERSON))
    try:
        policy = Policy.model_validate(content)
    except ValidationError as error:
        found_problems = [found for found in error.errors() if COUNT_OR_PERSON not in found["msg"]]
        problems += [(_line(tree, list(found["loc"])), _problem(found)) for found in found_problems]
    if problems:
        raise PolicyError(path, sorted(problems, key=lambda problem: problem[0] or 0))
    return policy


def _content(text: str) -> Any:
    """What a policy says; values of domains as they are written: yes is no truth there, 01 and 12:30 are no numbers."""
    import yaml

    loader = yaml.SafeLoader(text)
    tree = loader.get_single_node()
    if tree is None:
        return None
    sections = tree.value if isinstance(tree, yaml.MappingNode) else []
    left = [value for key, value in sections if key.value in ("domains", "structural_zeros")]
    while left:
        node = left.pop()
        if isinstance(node, yaml.ScalarNode):
            if node.style is None and _AS_WRITTEN.fullmatch(node.value):
                node.tag = "tag:yaml.org,2002:str"
        else:
            left += [one for part in node.value for one in (part if isinstance(part, tuple) else [part])]
    return loader.construct_document(tree)


def _problem(found: Any) -> str:
    where = ".".join(str(part) for part in found["loc"] if part not in _MODEL_NAMES)
    if found["type"] == "extra_forbidden":
        near = get_close_matches(str(found["loc"][-1]), list(Policy.model_fields), n=1)
        return f"unknown key `{where}`" + (f"; did you mean `{near[0]}`?" if near else "")
    if found["type"] == "union_tag_invalid":
        given = str(found["ctx"]["tag"])
        near = get_close_matches(given, _MODEL_NAMES, n=1, cutoff=0.5)
        known = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(sorted(_MODEL_NAMES))}"
        return f"{where}: there is no model `{given}`; {known}"
    if found["type"] == "union_tag_not_found":
        return f"{where}: `model` is missing, such as `model: k-anonymity`"
    if found["type"] == "missing":
        return f"{where} is missing"
    message = found["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def _line(node: yaml.Node | None, location: list[Any]) -> int | None:
    """The line of the file that a pydantic location points to, as deep as it can be followed."""
    import yaml

    line = None
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pairs = {key.value: (key, value) for key, value in node.value}
            if str(part) not in pairs:  # the name of the model, by which pydantic chose; or a key that is missing
                continue
            key, node = pairs[str(part)]
            line = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line if line is not None else (node.start_mark.line + 1 if node is not None else None)


def duplicate_keys(node: yaml.Node | None) -> list[tuple[int | None, str]]:
    """Keys written twice: YAML would take the last and say nothing."""
    import yaml

    problems: list[tuple[int | None, str]] = []
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                problems.append((key.start_mark.line + 1, f"`{key.value}` is written twice"))
            seen.add(key.value)
            problems += duplicate_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            problems += duplicate_keys(item)
    return problems


# What was decided: a policy, and what is said beside it.


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
    if policy.relations is not None:
        raise InputError(
            "The policy is about several tables (`relations`), and this takes one.",
            "Use `shoal publish FOLDER --policy`, which anonymises them together.",
        )
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
    if "quasi-identifier" not in roles.values() and not policy.set_columns:
        raise InputError(
            "No quasi-identifiers are named.",
            Message("Name them with `{quasi_identifiers}` age,sex,zip or in a policy; `shoal detect` proposes them."),
        )
    named = [name for name, role in roles.items() if role == "sensitive"]
    models: list[AnyModel] = list(policy.models)
    if k is not None:
        if isinstance(k, bool) or not isinstance(k, int):
            raise InputError(Message("{k} is not a whole number."), "Use 5, for example.")
        if k < 2:
            raise InputError(f"k = {k} protects nobody.", "Use 2 or more.")
        if k > 2**53:
            raise InputError("k is larger than any table.", "Use a smaller one.")
        models = [KAnonymity(k=k), *(model for model in models if not isinstance(model, KAnonymity))]
    if l is not None:
        if l < 1:
            raise InputError(
                f"l = {l} is no number of values.", "Use 2 or more; with 1 a class may have a single value."
            )
        _need_sensitive("l-diversity", named)
        rest = [model for model in models if not isinstance(model, LDiversity)]
        models = [*rest, *(LDiversity(l=l, sensitive=name) for name in named)]
    if t is not None:
        if not 0 < t <= 1:
            raise InputError(f"t = {t} is not above 0 and up to 1.", Message("Use `{t}` 0.1, for example."))
        _need_sensitive("t-closeness", named)
        close = [model for model in models if not isinstance(model, TCloseness)]
        models = [*close, *(TCloseness(t=t, sensitive=name) for name in named)]
    return policy.model_copy(update={"columns": roles, "models": [*models, *more]})


def with_sets(
    policy: Policy,
    items: str | None,
    items_in: Mapping[str, str] | None,
    person: str | None,
    events: Mapping[str, str] | None,
    km: Sequence[int] | None,
    lkc: Sequence[float] | None,
) -> Policy:
    """The policy with the items or events that were named beside it, whose they are, and what is asked of them.

    The person's column becomes a pseudonym, where nothing else was decided about it.

    >>> found = with_sets(Policy(), "item", None, "customer", None, [2, 5], None)
    >>> found.columns, found.person, found.models[0].k, found.treat["customer"].method
    ({'item': 'items', 'customer': 'other'}, 'customer', 5, 'pseudonym')
    """
    if not any((items, items_in, person, events, km, lkc)):
        return policy
    content = policy.as_written()
    columns, models = dict(content.get("columns", {})), list(content.get("models", []))
    if items is not None:
        columns[items] = "items"
    for name, separator in (items_in or {}).items():
        columns[name] = "items"
        content["items"] = {**content.get("items", {}), name: {"separator": separator}}
    for part, name in (events or {}).items():
        if part not in ("place", "time"):
            raise InputError("An event has a place and a time.", Message("Write {events} place=ward,time=day."))
        columns[name] = f"event-{part}"
    if person is not None:
        content["person"] = person
        if person not in columns:
            columns[person] = "other"
            content["treat"] = {person: {"method": "pseudonym"}, **content.get("treat", {})}
    asked = (("km", km, "km-anonymity", ("m", "k"), "2,5"), ("lkc", lkc, "lkc-privacy", ("l", "k", "c"), "2,5,0.5"))
    for setting, given, model, parameters, example in asked:
        if given is not None:
            if len(given) != len(parameters):
                what = Message("{} takes {} numbers.", Setting(setting), len(parameters))
                raise InputError(what, f"Write {','.join(parameters).upper()}, for example {example}.")
            whole = [
                int(one) if float(one).is_integer() and name != "c" else one
                for name, one in zip(parameters, given, strict=True)
            ]
            models = [one for one in models if one["model"] != model]
            models.append({"model": model, **dict(zip(parameters, whole, strict=True))})
    return as_policy({**content, "columns": columns, "models": models})


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
                Message("Column '{}' stands in `{}` and is decided as {}.", odd[0], Setting(setting), decide[odd[0]]),
                "Decide on one role.",
            )


def _need_sensitive(model: str, named: list[str]) -> None:
    if not named:
        raise InputError(f"{model} needs a sensitive column.", Message("Name it with `{sensitive}`."))
