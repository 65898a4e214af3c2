"""How an attack is simulated, and whether that goes with what is asked."""

from __future__ import annotations

from typing import get_args

from shoal.dataclasses import dataclass
from shoal.errors import InputError, check_choice
from shoal.policy.amounts import parse_share
from shoal.vocabulary import Draw, LeakUnit


@dataclass(frozen=True)
class Simulation:
    """An attack to be simulated `runs` times (None: not at all).

    `draw`: whom targets are drawn from. `unit`: persons leak whole, or records. `history`: of a leaked person's
    records, only this share leaks. Records and parts of histories have no formula, so they need runs and a table.

    >>> Simulation(1000, seed=1).partial, Simulation(1000, history="50%").partial
    (False, True)
    """

    runs: int | None = None
    seed: int | None = None
    draw: Draw = "everybody"
    unit: LeakUnit = "persons"
    history: float | str | None = None

    @property
    def share(self) -> float | None:
        """The part of a history that leaks, as a number."""
        return None if self.history is None else parse_share(self.history, "history")

    @property
    def partial(self) -> bool:
        """Whether histories leak in parts, for which there is no formula."""
        return self.unit == "records" or self.share not in (None, 1.0)

    def check(self, exact: bool, has_table: bool, has_classes: bool) -> None:
        """Refuse what does not go together with the law that is asked for and with what the classes come from."""
        check_choice("unit", self.unit, get_args(LeakUnit))
        check_choice("draw", self.draw, get_args(Draw))
        if self.partial and (not has_table or self.runs is None):
            raise InputError(
                "For records or parts of histories that leak there is no formula.",
                "Name a table and set simulate to 1000, for example.",
                settings="simulate",
            )
        if self.partial and (not exact or self.draw == "leak"):
            raise InputError(
                "Parts of histories are simulated only.", "Leave out method and draw.", settings=("method", "draw")
            )
        if self.unit == "records" and self.history is not None:
            raise InputError(
                "Records leak, or parts of persons' histories, not both.",
                "Set unit to records, or set history.",
                settings=("unit", "history"),
            )
        if self.runs is not None and not has_classes:
            raise InputError(
                "There are no classes to simulate.",
                "Give class_size 5 or sizes 3:2,4:1.",
                settings=("class_size", "sizes"),
            )


def as_simulation(simulate: int | Simulation | None) -> Simulation:
    """A number of runs, or all settings.

    >>> as_simulation(1000)
    Simulation(runs=1000, seed=None, draw='everybody', unit='persons', history=None)
    """
    return simulate if isinstance(simulate, Simulation) else Simulation(simulate)
