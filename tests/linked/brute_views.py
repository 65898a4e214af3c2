"""Views of persons by a join in plain Python, and small databases with everything that may be odd about them."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import Any

Rows = list[dict[str, Any]]
Database = dict[str, Rows]


def random_database(draw: random.Random) -> tuple[Database, dict[str, Any]]:
    """Persons with visits, diagnoses, wards that are looked up; at random also links of persons with courses, contacts
    of two persons, references among visits and among persons, references that name nothing; and its relations."""
    persons = [
        {"id": number, "age": draw.randint(1, 3), "sex": draw.choice("fm")} for number in range(draw.randint(2, 14))
    ]
    ids = [one["id"] for one in persons]
    visits = [
        {"no": f"v{number}", "who": draw.choice([*ids, *ids, *ids, None, 99]), "ward": draw.choice([1, 2, 3, None]),
         "day": draw.randint(1, 2)}
        for number in range(draw.randint(0, 20))
    ]  # fmt: skip
    numbers = [one["no"] for one in visits]
    diagnoses = [
        {"visit": draw.choice([*numbers, "v77"]), "code": draw.choice("AB"), "ill": draw.choice(["x", "y", "z", None])}
        for _ in range(draw.randint(0, 25))
    ]
    wards = [{"w": number, "floor": draw.randint(1, 2)} for number in (1, 2, 3)]
    tables: dict[str, Any] = {
        "persons": {"key": "id", "columns": {"age": "quasi-identifier", "sex": "quasi-identifier"}},
        "visits": {
            "key": "no",
            "references": {"who": "persons", "ward": "wards"},
            "columns": {"day": "quasi-identifier"},
        },
        "diagnoses": {"references": {"visit": "visits"}, "columns": {"code": "quasi-identifier", "ill": "sensitive"}},
        "wards": {"key": "w", "columns": {"floor": "quasi-identifier"}},
    }
    found = {"persons": persons, "visits": visits, "diagnoses": diagnoses, "wards": wards}
    if draw.random() < 0.4:  # many to many
        found["courses"] = [{"c": number, "kind": draw.choice("pq")} for number in range(3)]
        found["taken"] = [{"p": draw.choice(ids), "c": draw.randrange(3)} for _ in range(draw.randint(1, 12))]
        tables["courses"] = {"key": "c", "columns": {"kind": "quasi-identifier"}}
        tables["taken"] = {"references": {"p": "persons", "c": "courses"}}
    if draw.random() < 0.4:  # rows of two persons
        found["contacts"] = [
            {"one": draw.choice(ids), "other": draw.choice([*ids, None]), "how": draw.choice("ab")}
            for _ in range(draw.randint(1, 8))
        ]
        tables["contacts"] = {
            "references": {"one": "persons", "other": "persons"},
            "columns": {"how": "quasi-identifier"},
        }
    if draw.random() < 0.4:  # a table that refers to itself, within a person and across
        for one in visits:
            one["before"] = draw.choice([*numbers, None, None])
        tables["visits"]["references"]["before"] = "visits"
    if draw.random() < 0.3:
        for one in persons:
            one["mother"] = draw.choice([*ids, None, None])
        tables["persons"]["references"] = {"mother": "persons"}
    found = {name: rows or [dict.fromkeys(_names(tables[name]))] * 0 for name, rows in found.items()}
    found = {name: rows for name, rows in found.items() if rows}
    tables = {name: one for name, one in tables.items() if name in found}
    for one in tables.values():
        one["references"] = {column: target for column, target in one.get("references", {}).items() if target in found}
    tables = {name: one for name, one in tables.items() if name != "wards" or "visits" in tables}
    tables = {name: one for name, one in tables.items() if name != "diagnoses" or one["references"]}
    return {name: found[name] for name in tables}, {"person": "persons", "tables": tables}


def _names(table: dict[str, Any]) -> list[str]:
    return [*([table["key"]] if "key" in table else []), *table.get("references", {}), *table.get("columns", {})]


class Joined:
    """A database joined row by row: what each row refers to, and what refers to it; rows of nobody are left out."""

    def __init__(self, found: Database, relations: dict[str, Any]) -> None:
        self.relations, tables = relations, relations["tables"]
        self.rows = {(name, place): row for name, rows in found.items() for place, row in enumerate(rows)}
        keys = {(name, str(row[tables[name]["key"]])): (name, place)
                for (name, place), row in self.rows.items() if "key" in tables[name]}  # fmt: skip
        self.up: dict[Any, dict[str, Any]] = defaultdict(dict)
        self.down: dict[Any, list[tuple[str, Any]]] = defaultdict(list)
        for at, row in self.rows.items():
            for column, target in tables[at[0]].get("references", {}).items():
                named = keys.get((target, str(row[column]))) if row[column] is not None else None
                if named is not None:
                    self.up[at][column] = named
        reached = {at for at in self.rows if at[0] == relations["person"]}
        owned = {relations["person"]}
        while True:  # by references that lead to persons, other tables than their own
            more = {at for at in self.rows for one in self.up[at].values()
                    if one in reached and one[0] in owned and one[0] != at[0]} - reached  # fmt: skip
            tables_more = {name for name, one in tables.items()
                           if set(one.get("references", {}).values()) & owned} - owned  # fmt: skip
            if not more and not tables_more:
                break
            reached |= more
            owned |= tables_more
        while more := {one for at in reached for one in self.up[at].values() if one[0] not in owned} - reached:
            reached |= more
        self.owned = owned
        self.reached = reached
        for at in reached:
            self.up[at] = {column: one for column, one in self.up[at].items() if one in reached}
            for column, one in self.up[at].items():
                self.down[one].append((column, at))

    def shown(self, at: Any) -> tuple[Any, ...]:
        roles = self.relations["tables"][at[0]].get("columns", {})
        return (at[0], *(str(self.rows[at][name]) for name, role in roles.items() if role == "quasi-identifier"))

    def views(self) -> dict[Any, int]:
        """A number for each row, equal where all that can be reached from two rows looks alike, joined ever farther."""
        number = dict.fromkeys(self.reached, 0)
        kinds = 0
        while True:
            told = {
                at: (
                    self.shown(at),
                    number[at],
                    tuple(sorted((column, number[one]) for column, one in self.up[at].items())),
                    tuple(sorted((column, one[0], number[one]) for column, one in self.down[at])),
                )
                for at in self.reached
            }
            names: dict[Any, int] = {}
            number = {at: names.setdefault(told[at], len(names)) for at in sorted(self.reached)}
            if len(names) == kinds:
                return number
            kinds = len(names)

    def classes(self) -> dict[int, list[Any]]:
        number, found = self.views(), defaultdict(list)
        for at in self.reached:
            if at[0] == self.relations["person"]:
                found[number[at]].append(at)
        return found

    def k(self) -> int:
        return min(map(len, self.classes().values()))

    def owners(self) -> dict[Any, set[Any]]:
        """The persons of each row: along references that lead to persons, and of what those rows look up."""
        found: dict[Any, set[Any]] = defaultdict(set)
        for at in self.reached:
            if at[0] == self.relations["person"]:
                found[at].add(at)
        for _ in range(6):
            for at in self.reached:
                for one in self.up[at].values():
                    if at[0] in self.owned and one[0] in self.owned and one[0] != at[0]:
                        if at[0] != self.relations["person"]:
                            found[at] |= found[one]
                    elif one[0] not in self.owned and one[0] != at[0]:
                        found[one] |= found[at]
        return found

    def l(self, table: str, column: str) -> int:  # noqa: E743
        """The fewest values in any class of persons, over all their rows and at each kind of row; one where a value is
        held by everybody who has such rows."""
        number, owners = self.views(), self.owners()
        cells: dict[Any, dict[Any, set[Any]]] = defaultdict(lambda: defaultdict(set))
        for at in self.reached:
            if at[0] != table:
                continue
            for person in owners[at]:
                for cell in ((number[person],), (number[person], number[at])):
                    cells[cell][person].add(self.rows[at][column])
        fewest = []
        for having in cells.values():
            values = Counter(value for held in having.values() for value in held if value is not None)
            everybody = any(count == len(having) for count in values.values())
            fewest.append(1 if everybody and values else len(values))
        return min(fewest, default=10**9)
