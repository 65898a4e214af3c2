"""The closed vocabularies: every word that has a fixed meaning, once."""

from __future__ import annotations

from typing import Any, Literal, get_args

# the smallest count of people by value or class that is shown (the rule of CMS for cells of 1 to 10)
LEAST_SHOWN = 11

# `text` is free text that is scrubbed: identifiers in it are replaced; of `items` and of events, a place at a time,
# somebody may know a few
Role = Literal[
    "identifier", "quasi-identifier", "sensitive", "other", "text", "items", "event-place", "event-time"
]  # fmt: skip
NullRule = Literal["value", "wildcard", "drop"]
# whether a risk is that of a record in the table, or estimated for the population that the table is a sample of
RiskOver = Literal["sample", "population"]
# what a search minimizes
Minimize = Literal["loss", "precision", "entropy", "discernibility", "average-class-size"]
# what decides between methods that keep the policy
Prefer = Literal["hierarchies", "least-loss", "few-suppressed"]
# whether released texts such as [20;29] and 937** are read as ranges
Generalized = Literal["auto", "yes", "no"]
# what a range stands for: every value between its ends, or those that occur
Domain = Literal["range", "observed"]
# what a plan does with values that it has not seen
Unseen = Literal["refuse", "suppress"]
# how hierarchies are built
HierarchyKind = Literal[
    "auto", "equal-width", "powers", "equal-frequency", "dates", "prefix", "categories", "boolean",
    "countries", "us-states", "icd-10", "nace", "isced",
]  # fmt: skip
# how a leak is computed, what leaks, and whom an attacker looks for
LeakMethod = Literal["exact", "recursion", "recursion-class-weights"]
LeakUnit = Literal["persons", "records"]
# what a column numbers, where several rows belong together
Unit = Literal["person", "household"]
Draw = Literal["everybody", "leak"]
PseudonymFormat = Literal["hex", "short", "uuid", "digits"]
PseudonymMethod = Literal["hmac-sha-256", "blake2b"]
DateOrder = Literal["dmy", "mdy", "ymd"]
# what a shift of dates keeps, and what happens to dates that cannot be read
KeptOfDates = Literal["nothing", "weekday", "season", "weekday-and-season"]
Unreadable = Literal["error", "blank"]
# what stands in a note where an identifier was
Replacing = Literal["tag", "surrogate", "mask"]
# the same where no key is at hand
KeylessReplacing = Literal["tag", "mask"]
# few terms of a document removed, fast, or the fewest
SafetyMethod = Literal["greedy", "exact"]
# how a privacy budget is added up, and the kind of noise
Accounting = Literal["basic", "zcdp"]
Mechanism = Literal["laplace", "gaussian"]
# how a table is drawn under differential privacy
Synthesizer = Literal["tree", "adaptive", "microaggregate"]
# how a respondent randomises an answer
LocalMechanism = Literal["randomized-response", "k-ary", "unary", "hadamard", "laplace"]
# what a desk can be asked
QueryKind = Literal["count", "persons", "sum", "mean", "variance", "median", "quantile", "histogram", "bounds"]
# the headings of a standard that a report may have
Crosswalk = Literal["iso-27559", "hipaa", "ema", "wp29"]


def words_of(vocabulary: Any) -> tuple[str, ...]:
    """The words of a vocabulary.

    >>> words_of(NullRule)
    ('value', 'wildcard', 'drop')
    """
    return get_args(vocabulary)
