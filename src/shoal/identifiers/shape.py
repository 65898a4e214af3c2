"""The two ways in which most columns are recognised: a form with or without a check digit, and a vocabulary."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np

from shoal.identifiers.base import Finding, above_chance, confidence, finding, percent
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.form import Form
from shoal.identifiers.header import HeaderWords, sections_of
from shoal.identifiers.letters import plain

# What is left of a header's weight where the form fits and the check digits are no better than chance.
_UNCHECKED = 0.4
# What is left of it where values have a possible form but none of the words known to the rule.
_FORM_ONLY = 0.8
_LEAST_SHARE = 0.1


def stdnum(module: str) -> Callable[[str], bool]:
    """The validator of a python-stdnum module, imported when it is first asked.

    >>> stdnum("it.codicefiscale")("RCCMNL83S18D969H")
    True
    """

    def check(value: str) -> bool:
        return bool(import_module(f"stdnum.{module}").is_valid(value))

    return check


@dataclass(frozen=True)
class Identifier:
    """A kind known by the form of its values, or by a pattern of whole cells.

    `check` verifies a check digit that `chance` of random values pass. `alone` is the worth of a full match without a
    header; with a check it is the worth of a verified one and `form_alone` that of the bare form. `width` puts back
    leading zeros that numbers have lost.
    """

    kind: str
    rule: str
    noun: str
    form: Form | str
    words: HeaderWords
    alone: float
    check: Callable[[str], bool] | None = None
    chance: float = 0.0
    form_alone: float = 0.0
    width: int = 0

    @property
    def pattern(self) -> str:
        """The pattern of a whole cell."""
        return self.form if isinstance(self.form, str) else self.form.cell

    def __call__(self, column: ColumnEvidence) -> Iterator[Finding]:
        """The finding, where a tenth of the records or more have the form."""
        mask = column.matches(self.pattern, self.width)
        share = column.share(mask)
        if share < _LEAST_SHARE:
            return
        strength, word = self.words.heard(column.header)
        form = f"have the form of {self.noun}"
        if self.check is None:
            sure = confidence(share, self.alone, strength)
            yield finding(self.kind, self.rule, form, share=share, word=word, sure=sure)
            return
        passed, tested = column.passes(self.check, mask, self.width)
        checked = confidence(share * above_chance(passed, self.chance, tested, strength), self.alone, strength)
        bare = confidence(share, self.form_alone, strength * _UNCHECKED)
        if checked >= bare:
            clause = f"{form} with a right check digit (random ones: {percent(self.chance)})"
            yield finding(self.kind, self.rule, clause, share=share * passed, word=word, sure=checked, checksum=True)
        else:
            clause = f"{form}, but of those only {percent(passed)} have a right check digit"
            yield finding(self.kind, self.rule, clause, share=share, word=word, sure=bare)


@dataclass(frozen=True)
class Vocabulary:
    """A kind known by its words: values from a list, or under a header that says so, values of a possible form.

    `alone` is the worth of a column made of words of the list under a header that says nothing.
    """

    kind: str
    rule: str
    noun: str
    words: HeaderWords
    values: frozenset[str] = field(default=frozenset(), repr=False)
    alone: float = 0.0
    form: str = r"."
    least_known: int = 2

    def __call__(self, column: ColumnEvidence) -> Iterator[Finding]:
        """The better of two findings: by the list of words, or by header and form."""
        if column.filled == 0:
            return
        strength, word = self.words.heard(column.header)
        known = np.zeros(len(column.weights), dtype=bool)
        if self.values and (strength or self.alone):
            known = column.known(self.values)
        share = column.share(known)
        alone = self.alone if int(known.sum()) >= self.least_known else 0.0
        by_list = confidence(share, alone, strength)
        possible = column.share(column.matches(self.form)) if strength else 0.0
        by_form = confidence(possible, 0.0, strength * _FORM_ONLY)
        if by_list >= by_form:
            clause = f"hold a word for {self.noun}"
            yield finding(self.kind, self.rule, clause, share=share, word=word, sure=by_list)
        else:
            clause = f"have a form that fits {self.noun}"
            rule = self.rule if self.rule == "by-header" else f"{self.rule}-by-header"
            yield finding(self.kind, rule, clause, share=possible, word=word, sure=by_form)


def values_of(kind: str) -> frozenset[str]:
    """The words for values of a section of `words.ini`; none where it lists none."""
    return vocabulary(sections_of("words.ini")[kind].get("values", ""))


def vocabulary(text: str) -> frozenset[str]:
    """Words for values from text, set apart by commas, in the form in which columns are compared.

    >>> sorted(vocabulary("Self-emp-inc, Männlich"))
    ['mannlich', 'self emp inc']
    """
    cleaned = (re.sub(r"[^\w+<>=]+|_", " ", plain(phrase)).strip() for phrase in text.split(","))
    return frozenset(phrase for phrase in cleaned if phrase)
