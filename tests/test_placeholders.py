"""Every setting and every flag that a message in the source names: each exists, for whoever reads the message."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import shoal
from flags import commands, named_in, names_flags, unknown_in
from shoal.attacks.epsilon import epsilon
from shoal.cli import group
from shoal.cli.group import flags
from shoal.cli.render import printable
from shoal.dp.queries import RawQuery
from shoal.errors import Message
from shoal.methods import METHODS
from shoal.methods.lattice import Lattice
from shoal.models import MODELS
from shoal.ranges.hierarchy.check import check_hierarchies
from shoal.reports.publication.results import report_files
from shoal.storage.databases import with_query

SOURCES = Path(shoal.__file__).parent
PLACE = re.compile(r"\{([a-z_.]*)")

# whose parameters a command gives, beside those of how it reads its table
VERBS: dict[str, list[Callable[..., Any]]] = {
    "profile": [shoal.profile],
    "detect": [shoal.detect],
    "risk": [shoal.risk],
    "leak": [shoal.leak],
    "lattice": [shoal.lattice],
    "cells": [shoal.cells],
    "hierarchy build": [shoal.build_hierarchy],
    "hierarchy check": [check_hierarchies],
    "anonymize": [shoal.anonymize, shoal.OutputFormat],
    "perturb": [shoal.perturb],
    "safe-harbor": [shoal.safe_harbor],
    "pseudonymize": [shoal.pseudonymize],
    "shift-dates": [shoal.shift_dates],
    "scrub": [shoal.scrub],
    "k-safety": [shoal.k_safety],
    "apply": [shoal.apply_plan],
    "publish": [shoal.publish],
    "stream": [shoal.stream],
    "dp-release": [shoal.dp_release],
    "epsilon": [epsilon],
    "estimate": [shoal.estimate],
    "verify": [shoal.verify],
    "attack all": [shoal.attack],
    "attack link": [shoal.attack_link],
    "attack membership": [shoal.attack_membership],
    "attack reconstruct": [shoal.attack_reconstruct],
    "attack scoreboard": [shoal.attack_scoreboard],
    "attack unicity": [shoal.attack_unicity],
    "attack intersect": [shoal.attack_intersect],
    "import-policy": [shoal.import_policy],
    "desk open": [shoal.open_desk],
    "desk query": [RawQuery],
    "local collect-spec": [shoal.local_collect_spec],
    "local randomize": [shoal.local_randomize],
    "local estimate": [shoal.local_estimate],
    "joint simulate": [shoal.joint_simulate],
}
# what a command takes as an argument, otherwise or not at all: its messages call it as Python does
WITHOUT_OPTION = {
    "lattice": {"local"},
    "apply": {"plan"},
    "verify": {"seed"},
    "attack link": {"policy"},
    "desk query": {"kind"},
}
OPTIONS_OF_METHODS = {"anonymize": [*METHODS.values()], "lattice": [Lattice]}
# texts that name flags themselves, and the commands that show them
SHOWN_BY = {
    "app/api.py": [*VERBS],
    "app/": ["app"],
    "attacks/battery.py": ["attack all", "verify"],
    "attacks/opening.py": ["attack all"],
    "detection/undecided.py": ["anonymize", "perturb", "apply", "publish"],
    "engine/spark/keys.py": ["profile", "detect", "risk", "leak"],
    "reports/publication/results.py": ["verify"],
    "storage/reading/": [
        "profile",
        "detect",
        "risk",
        "leak",
        "lattice",
        "cells",
        "anonymize",
        "safe-harbor",
        "publish",
    ],
    "reports/charts.py": ["anonymize"],
}


@pytest.fixture(autouse=True)
def _nothing_called() -> Iterator[None]:
    yield
    group._called.clear()


@cache
def trees() -> dict[str, ast.Module]:
    return {str(path.relative_to(SOURCES)): ast.parse(path.read_text()) for path in sorted(SOURCES.rglob("*.py"))}


@cache
def templates() -> list[tuple[str, ast.Call]]:
    """Every message of the source, with its place."""
    return [
        (f"{path}:{node.lineno}", node)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Message"
        if path != "errors.py"
    ]


def template_of(message: ast.Call) -> str:
    template = message.args[0]
    assert isinstance(template, ast.Constant), ast.unparse(message)
    return str(template.value)


@cache
def placeholders() -> dict[str, str]:
    """Every setting that a message names, with a place where it does."""
    named = {name: place for place, message in templates() for name in PLACE.findall(template_of(message)) if name}
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Setting":
                given = node.args[0]
                named |= {given.value: f"{path}:{node.lineno}"} if isinstance(given, ast.Constant) else {}
    return named


def parameters_of(*verbs: Callable[..., Any]) -> set[str]:
    return {name for verb in verbs for name in inspect.signature(verb).parameters}


def test_a_message_is_a_template_with_a_field_for_every_place() -> None:
    for place, message in templates():
        names = PLACE.findall(template_of(message))
        assert names, place
        assert sum(not name for name in names) == len(message.args) - 1, place
        assert not set("{}") & set(re.sub(r"\{[a-z_.]*(?:=[^{}]+)?\}", "", template_of(message))), place


def test_every_placeholder_is_a_parameter_of_the_library() -> None:
    public = [getattr(shoal, name) for name in shoal.__all__]
    known = parameters_of(*(one for one in public if inspect.isfunction(one)))
    known |= parameters_of(shoal.Options, shoal.OutputFormat, RawQuery)
    known |= parameters_of(check_hierarchies, report_files, with_query) | {"prefer", "events"}
    known |= {name for kind in (*METHODS.values(), *MODELS, shoal.Policy) for name in kind.model_fields}
    assert not {name: place for name, place in placeholders().items() if name not in known}


@pytest.mark.parametrize("name", VERBS)
def test_a_command_has_an_option_for_every_setting_of_its_verb_that_a_message_names(name: str) -> None:
    own = parameters_of(*VERBS[name])
    own |= {option for kind in OPTIONS_OF_METHODS.get(name, []) for option in kind.model_fields}
    group._called[:] = [commands()[name]]
    assert (own & set(placeholders())) - set(flags()) == WITHOUT_OPTION.get(name, set())


def test_every_flag_that_a_message_names_exists_in_the_command_that_shows_it() -> None:
    messages = [Message(template_of(call), *["x" for _ in call.args[1:]]) for _, call in templates()]
    for name, command in commands().items():
        group._called[:] = [command]
        for message, (place, _) in zip(messages, templates(), strict=True):
            assert not unknown_in(printable(message), command), (name, place)


def written_texts() -> Iterator[tuple[str, str]]:
    """The texts of the source that people may read, with their places: words, not documentation of the code."""
    for path, tree in trees().items():
        apart = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            apart |= set(node.values) if isinstance(node, ast.JoinedStr) else set()
        for node in ast.walk(tree):
            if node in apart or not isinstance(node, ast.JoinedStr | ast.Constant):
                continue
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in parts)
            if " " in text and names_flags(text):
                yield f"{path}:{node.lineno}", text


def test_a_text_that_names_flags_itself_is_shown_by_commands_that_have_them() -> None:
    for place, text in written_texts():
        shown_by = next((names for start, names in SHOWN_BY.items() if place.startswith(start)), [])
        assert not unknown_in(text, *(commands()[name] for name in shown_by)), place
        if not place.startswith(("cli/", "verbs/", "reproduction/")):
            assert shown_by or not named_in(text), f"{place}: name the setting in a Message"


def test_every_flag_that_a_command_names_in_a_message_is_its_own() -> None:
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "InputError":
                said = " ".join(str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant))
                if path.startswith("cli/") and named_in(said):  # what commands share names flags of some of them
                    unknown = [unknown_in(said, command) for command in commands().values()]
                    assert not set.intersection(*unknown), f"{path}:{node.lineno}"
