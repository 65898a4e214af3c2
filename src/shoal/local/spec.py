"""The spec of a survey: what is asked, how each answer is randomised, what it costs. Read from YAML, kept in a kit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from shoal.errors import InputError, check_choice
from shoal.local import randomizer
from shoal.local.randomizer import UNIT, decimal, identity, in_words, odds
from shoal.policy.amounts import decimal_of, written
from shoal.policy.loading import duplicate_keys
from shoal.results import Files, Grid, Headline, Notes, Result, Section
from shoal.storage.reading.bytes import read_small
from shoal.storage.writing import write_text
from shoal.verbs.asking import LocalCollectSpecRequest
from shoal.verbs.base import takes
from shoal.vocabulary import LocalMechanism, words_of
from shoal.wording import counted

SPEC_FILE, RANDOMIZER = "spec.json", "randomize.py"
SMALLEST, LARGEST, MOST_ANSWERS, MOST_STEPS = Decimal("0.001"), Decimal(30), 4096, 10**12
_KEYS = {"epsilon", "answers", "range", "step", "mechanism"}
_EXAMPLE = "Write questions: {smokes: {answers: ['yes', 'no'], epsilon: 1}, age: {range: [0, 120], epsilon: 1}}."
# what comes before the spec in the one file of a kit
_PLACE = "SPEC: dict[str, Any] = {}"


@dataclass(frozen=True, repr=False)
class LocalSpec(Result):
    """A survey as it is handed out: its questions with mechanism and epsilon, and what they cost a person in all."""

    name: ClassVar[str] = "local-spec"

    id: str
    total_epsilon: str
    questions: dict[str, dict[str, Any]]
    folder: str

    def summary(self) -> str:
        """How much is asked, and what it costs."""
        asked = counted(len(self.questions), "question")
        return f"A survey of {asked} with epsilon {self.total_epsilon} in all for each person."

    def sections(self) -> list[Section]:
        """The questions, the price in words, the files."""
        rows = [(name, one["mechanism"], one["epsilon"]) for name, one in self.questions.items()]
        notes = [
            f"epsilon {self.total_epsilon} for all questions together: {in_words(self.total_epsilon)}",
            "whoever is asked again gives the first report again; a new survey of the same people adds its epsilon",
        ]
        files = {
            "for respondents": str(Path(self.folder) / RANDOMIZER),
            "for the collector": str(Path(self.folder) / SPEC_FILE),
        }
        table = Grid(("question", "mechanism", "epsilon"), rows, 2)
        return [Headline(self.summary(), "good"), table, Notes(notes), Files(files)]

    @property
    def content(self) -> dict[str, Any]:
        """What `spec.json` holds."""
        return {"format": 1, "id": self.id, "total_epsilon": self.total_epsilon, "questions": self.questions}


@takes(LocalCollectSpecRequest)
def local_collect_spec(source: Any, asked: LocalCollectSpecRequest) -> LocalSpec:
    """Make the kit of a survey: the randomiser for respondents (one file), and the spec for whoever estimates.

    `source` is a YAML file, or its content: `questions`, each with `answers` or a `range` of numbers, and an `epsilon`.

    >>> import tempfile
    >>> survey = {"questions": {"smokes": {"answers": ["yes", "no"], "epsilon": "0.5"}}}
    >>> local_collect_spec(survey, output=tempfile.mkdtemp() + "/kit").total_epsilon
    '0.5'
    """
    spec, folder = survey_spec(source), Path(asked.output)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists already.", "Choose another folder: reports of people may rest on that kit.")
    if not folder.absolute().parent.is_dir():
        raise InputError(f"There is no folder {folder.parent}.", "Make it first.")
    folder.mkdir(exist_ok=True)
    write_text(folder / RANDOMIZER, kit_file(spec))
    write_text(folder / SPEC_FILE, json.dumps(spec.content, ensure_ascii=False, indent=1) + "\n")
    return replace(spec, folder=str(asked.output))


def kit_file(spec: LocalSpec) -> str:
    """The randomiser with its spec: the one file that a respondent needs."""
    code = Path(randomizer.__file__).read_text(encoding="utf-8")
    assert code.count(_PLACE) == 1
    return code.replace(_PLACE, f"SPEC: dict[str, Any] = {spec.content!r}")


def survey_spec(source: Any) -> LocalSpec:
    """A survey as a spec; everything that is wrong with it is refused."""
    content = source if isinstance(source, Mapping) else _yaml(Path(source))
    questions = content.get("questions")
    if set(content) != {"questions"} or not isinstance(questions, Mapping) or not questions:
        raise InputError("A survey is a mapping with the key `questions`, and at least one of them.", _EXAMPLE)
    made = {_name(name): _question(name, given) for name, given in questions.items()}
    total = written(sum((Decimal(one["epsilon"]) for one in made.values()), Decimal(0)))
    content = LocalSpec("", total, made, "").content
    return LocalSpec(identity(content), total, made, "")


def load_spec(given: Any) -> LocalSpec:
    """The spec of a kit, from its folder or its `spec.json`; one that was edited is refused."""
    if isinstance(given, LocalSpec):
        return given
    path = Path(given) / SPEC_FILE if Path(given).is_dir() else Path(given)
    try:
        content = json.loads(read_small(path))
        # made again from what it says, so that an edited one with a new hash must be a survey too
        made = survey_spec({"questions": {name: _as_given(one) for name, one in content["questions"].items()}})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        cure = "Name the folder that `shoal local collect-spec` wrote, unedited."
        raise InputError(f"{path} cannot be read as a spec.", cure) from None
    if made.content != content:
        raise InputError(
            f"{path} was edited after it was made: what reports cost, and what they mean, would not be what it says.",
            "Restore it, or make a new kit with `shoal local collect-spec`: its epsilon adds to what was spent.",
        )
    return made


def _yaml(path: Path) -> Mapping[str, Any]:
    import yaml

    try:
        text = read_small(path, 1_000_000).decode()
        tree, content = yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
        twice = duplicate_keys(tree)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Name the YAML file of the survey.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise InputError(f"{path} is not YAML{where}.", _EXAMPLE) from None
    if twice:
        raise InputError(f"{path}, line {twice[0][0]}: {twice[0][1]}.", "Write each question once.")
    if not isinstance(content, Mapping):
        raise InputError(f"{path} is no survey.", _EXAMPLE)
    return content


def _name(name: Any) -> str:
    if (
        not isinstance(name, str)
        or not name.strip()
        or name != name.strip()
        or name == "spec"
        or not name.isprintable()
    ):
        raise InputError("A question has a name that cannot be one.", "Use a word other than `spec`, in quotes.")
    return name


def _question(name: str, given: Any) -> dict[str, Any]:
    """A question as the spec says it: numbers as texts, the mechanism chosen where none is named."""
    if not isinstance(given, Mapping) or not set(given) <= _KEYS or ("answers" in given) == ("range" in given):
        raise InputError(f"Question '{name}' needs `epsilon`, and either `answers` or a `range`.", _EXAMPLE)
    epsilon = decimal_of(given.get("epsilon", "none"), f"epsilon of question '{name}'")
    if not SMALLEST <= epsilon <= LARGEST:
        raise InputError(
            f"Question '{name}' has an epsilon of {written(epsilon)}.",
            f"Use {SMALLEST} to {LARGEST}: less gives noise only, more promises nothing; 1 is common.",
        )
    kind = _answers(name, given["answers"]) if "answers" in given else _range(name, given)
    mechanism = given.get("mechanism") or _best(kind, written(epsilon))
    check_choice(f"The mechanism of question '{name}':", str(mechanism), words_of(LocalMechanism))
    if (mechanism == "laplace") != ("low" in kind) or (
        mechanism == "randomized-response" and len(kind["answers"]) != 2
    ):
        raise InputError(
            f"Question '{name}' cannot have the mechanism {mechanism}.",
            "laplace is for a range of numbers, randomized-response for two answers, the others for any answers.",
        )
    return {"mechanism": mechanism, "epsilon": written(epsilon), **kind}


def _answers(name: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, (list, tuple)) or not all(type(one) in (str, int, float) for one in given):
        cure = "Write a list of texts or numbers; yes, no, on, off and dates stand in quotes: ['yes', 'no']."
        raise InputError(f"The answers of question '{name}' cannot be read.", cure)
    answers = [str(one).strip() for one in given]
    if not 2 <= len(answers) <= MOST_ANSWERS or len(set(answers)) < len(answers) or "" in answers:
        raise InputError(
            f"Question '{name}' needs 2 to {MOST_ANSWERS:,} different answers.", "Join rare ones to `other`."
        )
    return {"answers": answers}


def _range(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    ends = given["range"]
    if not isinstance(ends, (list, tuple)) or len(ends) != 2:
        raise InputError(f"The range of question '{name}' has two ends.", "Write range: [0, 120].")
    low, high, step = (
        Fraction(decimal_of(one, f"The range of question '{name}':")) for one in (*ends, given.get("step", 1))
    )
    if not (low < high and step > 0 and (high - low) % step == 0 and (high - low) / step <= MOST_STEPS):
        raise InputError(
            f"The range of question '{name}' is not a number of whole steps.",
            "Write range: [0, 120] with step: 5, or leave the step out: it is 1 then.",
        )
    return {"low": decimal(low), "high": decimal(high), "step": decimal(step)}


def _as_given(one: dict[str, Any]) -> dict[str, Any]:
    """A question of a spec as a survey would have it."""
    known = {name: one[name] for name in ("mechanism", "epsilon", "answers", "step") if name in one}
    return known | ({"range": [one["low"], one["high"]]} if "low" in one else {})


def _best(kind: dict[str, Any], epsilon: str) -> str:
    """The mechanism of least variance: k-ary below 3 e^epsilon + 2 answers, else unary (Wang et al. 2017)."""
    if "low" in kind:
        return "laplace"
    answers = len(kind["answers"])
    return "randomized-response" if answers == 2 else "k-ary" if (answers - 2) * UNIT < 3 * odds(epsilon) else "unary"


def chances(question: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """How likely a report speaks for an answer: if it is the true one, and if it is not.

    >>> [round(float(one), 3) for one in chances({"mechanism": "k-ary", "epsilon": "1", "answers": ["a", "b", "c"]})]
    [0.576, 0.212]
    """
    true, others = odds(question["epsilon"]), len(question["answers"]) - 1
    if question["mechanism"] == "unary":
        return Fraction(1, 2), Fraction(UNIT, true + UNIT)
    if question["mechanism"] == "hadamard":
        return Fraction(true, true + UNIT), Fraction(1, 2)
    return Fraction(true, true + others * UNIT), Fraction(UNIT, true + others * UNIT)
