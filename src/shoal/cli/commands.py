"""The commands as a table: where each lives, in which panel of the help it stands, and its one line there.

The order is that of the help. A module is imported when its command is called; the help reads this table only.
A test holds every line against the command's own help.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A command: the module and the name of its function (or of its Typer, for a group), its panel, its line."""

    module: str
    function: str
    panel: str
    help: str


MEASURE, CHANGE, RELEASE, ASK = "Measure", "Change", "Release", "Ask and reproduce"

COMMANDS = {
    "sample-data": Command(
        "shoal.cli.sample_data",
        "sample_data",
        MEASURE,
        "**Generate a table to try shoal on**: synthetic, modelled on real tables.",
    ),
    "profile": Command(
        "shoal.cli.profile",
        "profile",
        MEASURE,
        "**What is in this table?** Types, missing and distinct values, and the role that each column may play.",
    ),
    "detect": Command("shoal.cli.detect", "detect", MEASURE, "**Which columns identify people?**"),
    "risk": Command("shoal.cli.risk", "risk", MEASURE, "**How exposed are the people in this table?**"),
    "leak": Command("shoal.cli.leak", "leak", MEASURE, "**How many people does a stolen part of the release expose?**"),
    "lattice": Command(
        "shoal.cli.lattice",
        "lattice",
        MEASURE,
        "**Look at the solution space: the best generalisations, and what a lower risk costs.**",
    ),
    "cells": Command(
        "shoal.cli.cells",
        "cells",
        MEASURE,
        "**May this table of counts be shown?** No count of 1 to 10, nor one that follows from the margins by "
        "subtraction.",
    ),
    "hierarchy": Command(
        "shoal.cli.hierarchy",
        "app",
        CHANGE,
        "**How a column gets coarser**: build hierarchies, or check those you have.",
    ),
    "anonymize": Command(
        "shoal.cli.anonymize",
        "anonymize",
        CHANGE,
        "**Anonymise the table to satisfy its policy, and release it.**",
    ),
    "perturb": Command(
        "shoal.cli.perturb",
        "perturb",
        CHANGE,
        "**Change values at random so that totals stay and single values can no longer be trusted.**",
    ),
    "safe-harbor": Command(
        "shoal.cli.safe_harbor",
        "safe_harbor",
        CHANGE,
        "**HIPAA safe harbor to the letter**: the 18 identifiers of 45 CFR 164.514(b)(2), clause by clause.",
    ),
    "pseudonymize": Command(
        "shoal.cli.pseudonymize",
        "pseudonymize",
        CHANGE,
        "**The same person, the same pseudonym, everywhere**; only the key's owner can tell who it is.",
    ),
    "shift-dates": Command(
        "shoal.cli.shift_dates",
        "shift_dates",
        CHANGE,
        "**Shift all dates of a person by the person's own secret number of days.** Intervals stay exactly as they "
        "are.",
    ),
    "scrub": Command(
        "shoal.cli.scrub",
        "scrub",
        CHANGE,
        "**Replace what points at people in columns of free text**, and release the table.",
    ),
    "k-safety": Command(
        "shoal.cli.scrub",
        "k_safety",
        CHANGE,
        "**Remove the terms by which a document tells whom or what it is about**, so that K entities still fit.",
    ),
    "regenerate": Command(
        "shoal.cli.regenerate",
        "regenerate",
        CHANGE,
        "**Fill masked cells so that a known distribution comes out** (Sánchez et al., Algorithm S1).",
    ),
    "apply": Command(
        "shoal.cli.apply",
        "apply",
        RELEASE,
        "**Apply a plan to new data: fit once, release again, verified again.**",
    ),
    "signing-key": Command(
        "shoal.cli.signing_key", "signing_key", RELEASE, "**Make a key pair to sign releases with.**"
    ),
    "publish": Command(
        "shoal.cli.publish",
        "publish",
        RELEASE,
        "**From a table to a folder that may be published: measured, changed, verified, attacked, reported.**",
    ),
    "report": Command(
        "shoal.cli.report", "report", RELEASE, "**Write the report of a publication again**, from its findings alone."
    ),
    "verify": Command(
        "shoal.cli.verify",
        "verify",
        RELEASE,
        "**Does this file keep its promise?** Read it afresh and measure every model of the policy.",
    ),
    "attack": Command(
        "shoal.cli.attack",
        "app",
        RELEASE,
        "**Attack the release**: what somebody learns about the people in it who tries.",
    ),
    "compare": Command(
        "shoal.cli.compare", "compare", RELEASE, "**Set releases side by side: loss, disclosure, classes, time.**"
    ),
    "standards": Command(
        "shoal.cli.standards",
        "standards",
        RELEASE,
        "**Standards as named policies**, each with its source and date. Thresholds are yours to confirm.",
    ),
    "import-policy": Command(
        "shoal.cli.import_policy",
        "import_policy",
        RELEASE,
        "**Take over a project of ARX, sdcMicro or Amnesia as a policy**, and say what could not be taken.",
    ),
    "desk": Command(
        "shoal.cli.desk",
        "app",
        ASK,
        "**A desk that answers questions about a table until its privacy budget is spent.**",
    ),
    "app": Command(
        "shoal.cli.app_command",
        "app_command",
        ASK,
        "**The same work in the browser**: from a file to a verified release, on this machine only.",
    ),
    "reproduce": Command(
        "shoal.cli.reproduce",
        "app",
        ASK,
        "**The papers, reproduced**: every table and figure, or why not, with a reason for every difference.",
    ),
    "schema": Command(
        "shoal.cli.schema",
        "schema",
        ASK,
        "**The JSON Schema of what `--json` prints**, for each result.",
    ),
    "doctor": Command(
        "shoal.cli.doctor",
        "doctor",
        ASK,
        "**What is installed here, and what is missing?** One line of cure each.",
    ),
}
