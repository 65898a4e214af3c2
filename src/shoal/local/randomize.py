"""The answers of many people become reports: what each respondent's randomiser does, for a table."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from secrets import SystemRandom
from typing import Any, ClassVar

import polars as pl

from shoal.errors import InputError, Message
from shoal.keys import check_no_secret
from shoal.local.randomizer import AnswerRefused, in_words, memo_of, randomize, read_memo
from shoal.local.spec import LocalSpec, load_spec
from shoal.results import Files, Headline, Notes, Result, Section
from shoal.storage.reading import Options, read
from shoal.storage.texts import key_texts
from shoal.storage.writing import check_apart, check_target, write_frame, write_json
from shoal.systems.locks import lock_beside
from shoal.verbs.asking import LocalRandomizeRequest
from shoal.verbs.base import takes
from shoal.wording import counted


@dataclass(frozen=True, repr=False)
class LocalRandomized(Result):
    """Reports of people: how many, how many of them were given before, and what they cost each person."""

    name: ClassVar[str] = "local-randomize"

    spec: str
    reports: int
    repeated: int
    total_epsilon: str
    output: str

    def summary(self) -> str:
        """How many reports there are, and what each costs."""
        words = f"{counted(self.reports, 'report')}, each of them epsilon {self.total_epsilon} of its person"
        return words + (f"; {self.repeated:,} given before and free." if self.repeated else ".")

    def sections(self) -> list[Section]:
        """The sentence, what it means, the file."""
        notes = [in_words(self.total_epsilon), "rows are shuffled; columns that are no questions are left out"]
        return [Headline(self.summary(), "good"), Notes(notes), Files({"reports": self.output})]


@takes(LocalRandomizeRequest)
def local_randomize(source: Any, asked: LocalRandomizeRequest) -> LocalRandomized:
    """Randomise a table of true answers, one row per person: a file of reports that may leave.

    With `person` and a `memo` whoever has reported before gives the same report again, whatever the answers are now.

    >>> import tempfile
    >>> from shoal.local.spec import local_collect_spec
    >>> folder = tempfile.mkdtemp()
    >>> survey = {"questions": {"smokes": {"answers": ["yes", "no"], "epsilon": 1}}}
    >>> kit = local_collect_spec(survey, output=folder + "/kit")
    >>> done = local_randomize({"smokes": ["yes", "no"]}, spec=folder + "/kit", output=folder + "/noisy.csv")
    >>> done.reports, done.repeated
    (2, 0)
    """
    spec, target, memo = load_spec(asked.spec), Path(asked.output), None if asked.memo is None else Path(asked.memo)
    check_target(target, asked.force)
    check_no_secret(target)
    check_apart(input=source, output=target, memo=memo, spec=asked.spec)
    if memo is not None and asked.person is None:
        raise InputError("A memo needs to know who is who.", Message("Name the column: {person=id}."))
    answers, people = _answers(source, spec, asked.person)
    try:
        # nobody else reads the memo before it is written
        with nullcontext() if memo is None else lock_beside(memo):
            before = {} if memo is None else read_memo(memo, spec.content)
            known = dict(before)
            for row, person in enumerate(people):
                if person not in known:
                    known[person] = randomize(spec.content, {name: answers[name][row] for name in answers})
            if memo is not None:
                write_json(memo, memo_of(spec.content, known), 0o600)
    except AnswerRefused as error:
        raise InputError(error.what, error.cure) from None
    except OSError as error:
        raise InputError(f"The memo cannot be written: {error.strerror}.", "Choose another folder.") from None
    present = list(dict.fromkeys(people))
    SystemRandom().shuffle(present)
    rows = [known[person] for person in present]
    write_frame(pl.DataFrame(rows, schema=dict.fromkeys(("spec", *spec.questions), pl.String)), target, asked.force)
    repeated = sum(person in before for person in present)
    return LocalRandomized(spec.id, len(rows), repeated, spec.total_epsilon, str(asked.output))


def _answers(source: Any, spec: LocalSpec, person: str | None) -> tuple[dict[str, list[Any]], list[str]]:
    """The true answers of each question, and the persons; without a column of them each row is one."""
    table = read(source, None, Options(as_text=True))
    needed = [*spec.questions, *([person] if person else [])]
    if missing := [name for name in needed if name not in table.columns]:
        raise InputError.missing_columns(missing, table.names, "The table")
    if "spec" in table.columns and spec.id in table["spec"].values:
        raise InputError(
            "These are reports, randomised before: twice, and estimates would be wrong.", "Give the answers."
        )
    if not table.rows:
        raise InputError("The table has no rows.", "Give one row per person.")
    texts = {name: table[name].decode().cast(pl.String).to_list() for name in spec.questions}
    people = [str(row) for row in range(table.rows)] if person is None else key_texts(table[person].decode()).to_list()
    if None in people:
        raise InputError(f"Column '{person}' has rows without a person.", "Fill them in, or leave them out.")
    return texts, people
