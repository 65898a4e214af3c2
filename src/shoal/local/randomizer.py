"""The randomiser: your answers become a report that you can send. It needs Python alone, and reaches for no network.

    python randomize.py                             shows the questions, and what a report tells about you
    python randomize.py answers.json report.json    answers.json is {"question": "answer", ...}

Every chance is a ratio of whole numbers, drawn by the system's own random source; nothing is a binary fraction. The
first report is kept beside this file and given again whenever you are asked again: many tell no more than one.
"""

import json
import os
import sys
from fractions import Fraction
from functools import cache
from hashlib import sha256
from math import ceil
from pathlib import Path
from secrets import randbelow
from typing import Any

# a kit has its spec here
SPEC: dict[str, Any] = {}
USAGE = """To answer, write a file such as {"question": "answer", ...}, with all questions, and run
  python randomize.py answers.json report.json
report.json is what you send; answers.json stays with you."""
# odds are whole numbers over this one
UNIT = 2**32


class AnswerRefused(ValueError):
    """What happened, and the cure."""

    def __init__(self, what: str, cure: str) -> None:
        self.what, self.cure = what, cure
        super().__init__(f"{what} {cure}")


def identity(spec: dict[str, Any]) -> str:
    """The name of a spec: a hash of all that it says."""
    content = {name: spec[name] for name in spec if name != "id"}
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


@cache
def odds(epsilon: str) -> int:
    """How much likelier a true answer is than another, in units: the whole part of UNIT · e^epsilon, never above it.

    >>> odds("1") / UNIT
    2.718281828...
    """
    exponent, term, total = Fraction(epsilon), Fraction(1), Fraction(1)
    for number in range(1, 3 * ceil(exponent) + 60):
        term = term * exponent / number
        total += term
    return int(total * UNIT)  # the series from below


def k_ary(question: dict[str, Any], place: int) -> str:
    """The true answer, or each other one with e^-epsilon of its chance (Warner 1965; Kairouz et al. 2014)."""
    true, answers = odds(question["epsilon"]), question["answers"]
    drawn = randbelow(true + (len(answers) - 1) * UNIT)
    if drawn < true:
        return str(answers[place])
    other = (drawn - true) // UNIT
    return str(answers[other + (other >= place)])


def unary(question: dict[str, Any], place: int) -> str:
    """One bit per answer: the true one is set with 1/2, each other one with 1 / (e^epsilon + 1) (Wang et al. 2017)."""
    true = odds(question["epsilon"])
    bits = (
        randbelow(2) if other == place else int(randbelow(true + UNIT) < UNIT)
        for other in range(len(question["answers"]))
    )
    return "b" + "".join(map(str, bits))


def hadamard(question: dict[str, Any], place: int) -> str:
    """A number whose bits agree with the true answer's row of a Hadamard matrix with e^epsilon / (e^epsilon + 1)
    (Acharya, Sun and Zhang 2019, with one block)."""
    true, row = odds(question["epsilon"]), place + 1
    number = randbelow(1 << len(question["answers"]).bit_length())
    agrees, shall = (number & row).bit_count() % 2 == 0, randbelow(true + UNIT) < true
    return str(number if agrees == shall else number ^ (row & -row))


def laplace(question: dict[str, Any], place: int) -> str:
    """The number with discrete Laplace noise for the whole range, in steps: it may lie outside of the range."""
    low, step, steps = Fraction(question["low"]), Fraction(question["step"]), steps_of(question)
    return decimal(low + step * (place + discrete_laplace(steps / Fraction(question["epsilon"]))))


def discrete_laplace(scale: Fraction) -> int:
    """A whole number z with a chance in proportion to e^(-|z| / scale), exactly (Canonne, Kamath and Steinke 2020)."""
    while True:
        start = randbelow(scale.numerator)
        if not happens(Fraction(start, scale.numerator)):
            continue
        rounds = 0
        while happens(Fraction(1)):
            rounds += 1
        size = (start + scale.numerator * rounds) // scale.denominator
        negative = randbelow(2)
        if size or not negative:
            return -size if negative else size


def happens(exponent: Fraction) -> bool:
    """Whether something with a chance of e^-exponent happens, for exponents from 0 to 1."""
    number = 1
    while randbelow(exponent.denominator * number) < exponent.numerator:
        number += 1
    return number % 2 == 1


def steps_of(question: dict[str, Any]) -> int:
    """How many steps the range of a number has."""
    return int((Fraction(question["high"]) - Fraction(question["low"])) / Fraction(question["step"]))


def decimal(number: Fraction) -> str:
    """A number as people write it, every digit kept.

    >>> decimal(Fraction("-0.25")), decimal(Fraction(30))
    ('-0.25', '30')
    """
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    text = str(abs(int(number * 10**digits))).rjust(digits + 1, "0")
    return ("-" if number < 0 else "") + (f"{text[:-digits]}.{text[-digits:]}" if digits else text)


MECHANISMS = {
    "randomized-response": k_ary,
    "k-ary": k_ary,
    "unary": unary,
    "hadamard": hadamard,
    "laplace": laplace,
}


def place_of(name: str, question: dict[str, Any], answer: object) -> int:
    """Which answer it is; for numbers the nearest step of the range."""
    if answer is None or str(answer).strip() == "":
        raise AnswerRefused(
            f"Question '{name}' has no answer, and a report without one would tell so.",
            "Answer it, or ask for a survey that has `no answer` among its answers.",
        )
    text = str(answer).strip()
    if "answers" in question:
        if text not in question["answers"]:
            listed = ", ".join(question["answers"][:20])
            raise AnswerRefused(
                f"Question '{name}' is given an answer that it does not have.", f"Its answers are: {listed}."
            )
        return int(question["answers"].index(text))
    try:
        if len(text) > 60 or "/" in text or abs(int(text.lower().partition("e")[2] or 0)) > 60:
            raise ValueError
        number = Fraction(text)
    except ValueError:
        raise AnswerRefused(
            f"Question '{name}' takes a number.", f"From {question['low']} to {question['high']}."
        ) from None
    return min(max(round((number - Fraction(question["low"])) / Fraction(question["step"])), 0), steps_of(question))


def randomize(spec: dict[str, Any], answers: dict[str, Any]) -> dict[str, str]:
    """A fresh report: it spends the epsilon of every question. All answers are looked at before the first is drawn."""
    places = {name: place_of(name, question, answers.get(name)) for name, question in spec["questions"].items()}
    drawn = {name: MECHANISMS[spec["questions"][name]["mechanism"]](spec["questions"][name], places[name])
             for name in places}  # fmt: skip
    return {"spec": spec["id"], **drawn}


def read_memo(path: Path, spec: dict[str, Any]) -> dict[str, dict[str, str]]:
    """The reports that were given before, by person."""
    if not path.exists():
        return {}
    try:
        memo = json.loads(path.read_text(encoding="utf-8"))
        of, reports = memo["spec"], memo["reports"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise AnswerRefused(f"{path} is not a memo.", "Restore it: without it answers would be spent again.") from None
    if of != spec["id"]:
        raise AnswerRefused(
            f"{path} is the memo of another spec.", "Name the memo of this one, or a file that is not there."
        )
    whole = {"spec", *spec["questions"]}
    if not isinstance(reports, dict) or not all(
        isinstance(one, dict) and set(one) == whole and one["spec"] == of and set(map(type, one.values())) == {str}
        for one in reports.values()
    ):
        raise AnswerRefused(f"{path} was changed: a report in it is not whole.", "Restore it.")
    return reports


def memo_of(spec: dict[str, Any], reports: dict[str, dict[str, str]]) -> dict[str, Any]:
    """What a memo holds: reports for the next time, and no answer."""
    return {"spec": spec["id"], "reports": reports}


def in_words(epsilon: str) -> str:
    """What an epsilon means for whoever answers.

    >>> in_words("1")
    'a report makes no answer more than 2.72 times as likely; an even guess (50%) rises to 73.1% at most'
    """
    if Fraction(epsilon) > 100:
        return f"a report makes no answer more than e^{epsilon} times as likely: it hides nothing"
    factor = Fraction(odds(epsilon), UNIT)
    times = f"{float(factor):,.3g}" if factor < 1000 else f"{int(factor):,}"
    even = 100 * float(factor / (1 + factor))
    most = f"{even:.1f}%" if even < 99.9 else "more than 99.9%"
    return f"a report makes no answer more than {times} times as likely; an even guess (50%) rises to {most} at most"


def choices(question: dict[str, Any]) -> str:
    """What may be answered."""
    if "answers" in question:
        return ", ".join(question["answers"])
    return f"a number from {question['low']} to {question['high']}"


def main(arguments: list[str]) -> int:
    """Show the survey, or make a report."""
    if identity(SPEC) != SPEC.get("id"):
        raise AnswerRefused("This randomiser was changed after it was made.", "Get it again from whoever asks.")
    if len(arguments) != 2:
        lines = [f"{name}: {choices(one)}\n  epsilon {one['epsilon']}: {in_words(one['epsilon'])}"
                 for name, one in SPEC["questions"].items()]  # fmt: skip
        total = SPEC["total_epsilon"]
        lines += [f"all together, epsilon {total}: {in_words(total)}", "", USAGE, ""]
        sys.stdout.write("\n".join(lines))
        return 2 if len(arguments) == 1 and not arguments[0].startswith("-") else 0
    source, target, memo = Path(arguments[0]), Path(arguments[1]), Path(__file__).with_name(f"memo-{SPEC['id']}.json")
    try:
        answers = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise AnswerRefused(f"{source} cannot be read as JSON.", 'Write {"question": "answer", ...}.') from None
    if not isinstance(answers, dict) or set(answers) != set(SPEC["questions"]):
        raise AnswerRefused(f"{source} does not answer these questions.", f"They are: {', '.join(SPEC['questions'])}.")
    reports = read_memo(memo, SPEC)
    if "me" not in reports:
        reports["me"] = randomize(SPEC, answers)
        # its owner's alone from the first byte on
        with os.fdopen(os.open(memo, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(json.dumps(memo_of(SPEC, reports)).encode())
    target.write_bytes(json.dumps(reports["me"]).encode() + b"\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (AnswerRefused, OSError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
