"""From reports to shares, means and cross-tables of all respondents, unbiased, with intervals.

A report *speaks for* an answer with probability p if that is the true one, else with q (`spec.chances`). Where f is the
share of respondents whose answer it is, the share c of n reports that speak for it has the mean q + f (p - q), so that
f̂ = (c - q) / (p - q) is unbiased (Wang et al. 2017). What is estimated is the share among *those who answered*: chance
is only in the randomising, and Var f̂ = (q (1 - q) + f (p (1 - p) - q (1 - q))) / (n (p - q)²). The interval holds every
f of which f̂ is at most 1.96 standard errors away, each by its own standard error (Wilson's way).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, expm1, sqrt
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal.errors import InputError, Message
from shoal.local.randomizer import in_words, steps_of
from shoal.local.spec import LocalSpec, chances, load_spec
from shoal.results import Grid, Headline, Notes, Result, Section
from shoal.storage import Array
from shoal.storage.reading import Options, read
from shoal.verbs.asking import LocalEstimateRequest
from shoal.verbs.base import takes
from shoal.wording import between, counted, percent

Z95 = 1.959963984540054
# cells of a block of rows times answers
_BLOCK = 1 << 22


@dataclass(frozen=True)
class EstimatedShare:
    """The share of respondents with an answer, or a pair of them; it and its interval are not cut off at 0 and 1."""

    answer: list[str]
    share: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True)
class EstimatedQuestion:
    """A question: the shares of its answers, or the mean of its numbers (under `mean`, in the unit of the question)."""

    question: str
    mechanism: str
    epsilon: str
    shares: list[EstimatedShare]
    mean: EstimatedShare | None


@dataclass(frozen=True)
class EstimatedCross:
    """The shares of the pairs of answers of two questions."""

    questions: list[str]
    shares: list[EstimatedShare]


@dataclass(frozen=True, repr=False)
class LocalEstimate(Result):
    """What all reports say together, and what one report tells about its person."""

    name: ClassVar[str] = "local-estimate"

    spec: str
    reports: int
    total_epsilon: str
    questions: list[EstimatedQuestion]
    crosses: list[EstimatedCross]

    def summary(self) -> str:
        """From how many reports of what price."""
        asked = counted(len(self.questions), "question")
        return f"{asked} estimated from {counted(self.reports, 'report')} of epsilon {self.total_epsilon} each."

    def sections(self) -> list[Section]:
        """A table per question and per pair of questions, and what the figures mean."""
        shown: list[Section] = [Headline(self.summary(), "good")]
        heads = ("share", "95% interval")
        for one in self.questions:
            rows = [_row(entry) for entry in one.shares]
            if one.mean is not None:
                rows = [("mean", f"{one.mean.share:,.4g}", f"{one.mean.low:,.4g} to {one.mean.high:,.4g}")]
            title = f"{one.question} ({one.mechanism}, epsilon {one.epsilon})"
            shown.append(Grid((("answer", *heads) if one.mean is None else ("", "", heads[1])), rows, title=title))
        for cross in self.crosses:
            rows = [_row(entry) for entry in cross.shares]
            shown.append(Grid((*cross.questions, *heads), rows, 2, title=" by ".join(cross.questions)))
        notes = [
            f"one report, epsilon {self.total_epsilon}: {in_words(self.total_epsilon)}",
            "shares are of those who answered; the interval is of the randomising alone. Somebody who samples a "
            "population adds the error of sampling: share · (1 - share) / reports to the square of the standard error",
            "an estimate below 0% or above 100% is noise around a small or large share; it is not cut off: "
            "sums and means would be biased",
        ]
        return [*shown, Notes(notes)]


@takes(LocalEstimateRequest)
def local_estimate(source: Any, asked: LocalEstimateRequest) -> LocalEstimate:
    """Estimate the shares of all answers, the means of numbers, and cross-tables (`cross`) from reports.

    >>> from shoal.local.randomizer import randomize
    >>> from shoal.local.spec import survey_spec
    >>> spec = survey_spec({"questions": {"smokes": {"answers": ["yes", "no"], "epsilon": 20}}})
    >>> reports = pl.DataFrame([randomize(spec.content, {"smokes": "no"}) for _ in range(100)])
    >>> local_estimate(reports, spec=spec).questions[0].shares[1].share
    1.0...
    """
    spec = load_spec(asked.spec)
    pairs = [_pair(spec, names) for names in asked.cross]
    texts, rows = _reports(source, spec)
    decoded = {name: _decoded(one, name, texts[name]) for name, one in spec.questions.items()}
    questions = [
        EstimatedQuestion(name, one["mechanism"], one["epsilon"], *_estimated(one, decoded[name]))
        for name, one in spec.questions.items()
    ]
    crosses = [EstimatedCross(list(pair), _cross(spec, pair, decoded)) for pair in pairs]
    return LocalEstimate(spec.id, rows, spec.total_epsilon, questions, crosses)


def _pair(spec: LocalSpec, names: Sequence[str]) -> tuple[str, str]:
    for name in names:
        if name not in spec.questions:
            raise InputError.missing_columns([name], spec.questions, "The spec")
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(
            "A cross-table is of two questions.", Message("Name two in each `{cross}`, such as smokes,town.")
        )
    if numbers := [name for name in names if "answers" not in spec.questions[name]]:
        raise InputError(
            f"Question '{numbers[0]}' is a number, and a cross-table is of answers.",
            "Ask for ranges in the next survey: answers: [under 18, 18 to 64, 65 and more].",
        )
    return names[0], names[1]


def _reports(source: Any, spec: LocalSpec) -> tuple[dict[str, pl.Series], int]:
    table = read(source, None, Options(as_text=True))
    if missing := [name for name in ("spec", *spec.questions) if name not in table.columns]:
        if "spec" in missing:
            raise InputError("The file holds no reports: it has no column 'spec'.",
                             "Give what `shoal local randomize` or respondents' randomize.py wrote.")  # fmt: skip
        raise InputError.missing_columns(missing, table.names, "The file of reports")
    if not table.rows:
        raise InputError("There are no reports.", "Collect some first.")
    texts = {name: table[name].decode().cast(pl.String) for name in ("spec", *spec.questions)}
    if (strangers := table.rows - int((texts.pop("spec") == spec.id).sum())) > 0:
        raise InputError(
            f"{counted(strangers, 'report')} of the {table.rows:,} are of another spec.",
            "Estimate the reports of each kit by themselves.",
        )
    return texts, table.rows


def _decoded(question: dict[str, Any], name: str, texts: pl.Series) -> Array:
    """Reports as numbers: the place of an answer, rows of bits, a number; what no randomiser gives is refused."""
    mechanism, answers = question["mechanism"], question.get("answers", [])
    if mechanism == "unary":
        fits = texts.str.contains(rf"^b[01]{{{len(answers)}}}$")
    elif mechanism == "hadamard":
        numbers = texts.cast(pl.Int64, strict=False)
        fits = (numbers >= 0) & (numbers < 1 << len(answers).bit_length())
    elif mechanism == "laplace":
        numbers = texts.cast(pl.Float64, strict=False)
        # steps from the low end: whole ones, and none with a chance below e^-64
        steps = (numbers - float(question["low"])) / float(question["step"])
        fits = (steps - steps.round()).abs() <= 1e-9 * (steps.abs() + 1)
        fits &= steps.abs() <= steps_of(question) * (1 + 64 / float(question["epsilon"]))
    else:
        fits = texts.is_in(answers)
    if wrong := len(texts) - int(fits.fill_null(False).sum()):
        raise InputError(
            f"Question '{name}': {counted(wrong, 'report')} cannot come from the randomiser of this spec.",
            "Leave these rows out, and look where they come from.",
        )
    if mechanism == "unary":
        letters = np.frombuffer("".join(texts).encode(), np.uint8).reshape(-1, len(answers) + 1)
        return np.asarray(letters[:, 1:] == ord("1"))
    if mechanism in ("hadamard", "laplace"):
        return np.asarray(numbers)
    return np.asarray(texts.replace_strict(answers, list(range(len(answers))), return_dtype=pl.Int64))


def _speaks(question: dict[str, Any], report: Array) -> Array:
    """Of each report, which answers it speaks for."""
    answers = np.arange(len(question["answers"]))
    if question["mechanism"] == "unary":
        return report
    if question["mechanism"] == "hadamard":
        return np.asarray(np.bitwise_count(report[:, None] & (answers + 1)) % 2 == 0)
    return np.asarray(report[:, None] == answers)


def _blocks(rows: int, width: int) -> Iterator[slice]:
    step = max(_BLOCK // width, 1)
    return (slice(start, start + step) for start in range(0, rows, step))


def _shares(question: dict[str, Any], report: Array) -> list[EstimatedShare]:
    answers, rows = [[answer] for answer in question["answers"]], len(report)
    spoken = sum(_speaks(question, report[part]).sum(0) for part in _blocks(rows, len(answers)))
    p, q = map(float, chances(question))
    shares = (np.asarray(spoken) / rows - q) / (p - q)
    base, slope = (part / (p - q) ** 2 / rows for part in (q * (1 - q), p * (1 - p) - q * (1 - q)))
    return [_with_interval(*each, base, slope) for each in zip(answers, shares.tolist(), strict=True)]


def _with_interval(answer: list[str], share: float, base: float, slope: float) -> EstimatedShare:
    """All f with (share - f)² <= z² (base + slope f): the ends solve a quadratic equation."""
    half = share + Z95**2 * slope / 2
    room = sqrt(max(half**2 - share**2 + Z95**2 * base, 0.0))
    error = sqrt(max(base + slope * min(max(share, 0.0), 1.0), 0.0))
    return EstimatedShare(answer, share, error, half - room, half + room)


def _estimated(question: dict[str, Any], report: Array) -> tuple[list[EstimatedShare], EstimatedShare | None]:
    if question["mechanism"] == "laplace":
        return [], _mean(question, report)
    return _shares(question, report), None


def _mean(question: dict[str, Any], report: Array) -> EstimatedShare:
    """The mean; discrete Laplace noise with a = e^(-epsilon / steps) has the variance 2 a / (1 - a)²."""
    rate = float(question["epsilon"]) / steps_of(question)
    deviation = sqrt(2 * exp(-rate)) / -expm1(-rate) * float(question["step"])
    return _within(["mean"], float(report.mean()), deviation / sqrt(len(report)))


def _within(answer: list[str], value: float, error: float) -> EstimatedShare:
    return EstimatedShare(answer, value, error, value - Z95 * error, value + Z95 * error)


def _cross(spec: LocalSpec, pair: tuple[str, str], decoded: dict[str, Array]) -> list[EstimatedShare]:
    """The product of two unbiased and independent indicators is one of the pair: its mean is the share.

    For one respondent its variance is its second moment less the square of the truth, which is the truth again; the
    moment is known from the four counts of who speaks for the one, the other, both.
    """
    first, second = (spec.questions[name] for name in pair)
    left, right = (decoded[name] for name in pair)
    rows, sizes = len(left), (len(first["answers"]), len(second["answers"]))
    both, ones, twos = np.zeros(sizes), np.zeros(sizes[0]), np.zeros(sizes[1])
    for part in _blocks(rows, max(sizes)):
        one, two = (_speaks(*each).astype(np.float32) for each in ((first, left[part]), (second, right[part])))
        both += one.T @ two
        ones += one.sum(0)
        twos += two.sum(0)
    (p, q), (r, s) = (tuple(map(float, chances(question))) for question in (first, second))

    def moment(power: int) -> Array:
        """The mean of the product's powers: each factor has one value where it speaks, another where it does not."""
        yes, no = ((1 - q) / (p - q)) ** power, (-q / (p - q)) ** power
        also, nor = ((1 - s) / (r - s)) ** power, (-s / (r - s)) ** power
        only_one, only_two = ones[:, None] - both, twos[None, :] - both
        neither = rows - both - only_one - only_two
        found: Array = (both * yes * also + only_one * yes * nor + only_two * no * also + neither * no * nor) / rows
        return found

    shares, variances = moment(1), np.maximum(moment(2) - moment(1), 0) / rows
    return [
        _within([answer, other], float(shares[i, j]), sqrt(variances[i, j]))
        for i, answer in enumerate(first["answers"])
        for j, other in enumerate(second["answers"])
    ]


def _row(entry: EstimatedShare) -> tuple[str, ...]:
    return (*entry.answer, percent(entry.share), between(entry.low, entry.high))
