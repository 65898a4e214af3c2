"""The picture of which risk to report: `python docs/which_risk.py` draws docs/images/which-risk.svg."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple

PICTURE = Path(__file__).parent / "images" / "which-risk.svg"
WIDTH, HEIGHT = 1000, 560
LINE = 17
COLOURS = {"question": ("#eef3f8", "#5b7fa3"), "answer": ("#f4f1e6", "#a08a3c"), "figure": ("#eaf4ec", "#4f8a5b")}


class Box(NamedTuple):
    """A box: its middle, its top, its width, its kind, its lines of text; the first is strong."""

    x: int
    y: int
    width: int
    kind: str
    text: str

    @property
    def lines(self) -> list[str]:
        return self.text.split(" / ")

    @property
    def height(self) -> int:
        return LINE * len(self.lines) + 16


BOXES = {
    "who": Box(
        500, 16, 420, "question",
        "Does the attacker know who is in the table? / a register, a trial, a neighbour who tells",
    ),
    "prosecutor": Box(
        115, 116, 210, "answer", "Prosecutor / 1 over the class in the table / no assumption, no estimate"
    ),
    "known": Box(
        600, 116, 420, "question",
        "No: it is a sample of a population. What is known of it? / if nothing is, report the prosecutor's risk",
    ),
    "table": Box(
        325, 236, 190, "answer", "A table of everybody / journalist, by the class there / counted"
    ),
    "weights": Box(520, 236, 180, "answer", "Weights of records / individual risk E[1/F | f] / estimated"),
    "size": Box(715, 236, 190, "answer", "Its size or the share / E[1/F | f], and estimators / of population uniques"),
    "margins": Box(905, 236, 170, "answer", "Margins only / fitted population / never proves a limit"),
    "target": Box(500, 352, 300, "question", "Whom must the figure protect?"),
    "highest": Box(
        130, 446, 220, "figure", "The person at greatest risk / highest: public releases, / EMA, Health Canada"
    ),
    "average": Box(
        378, 446, 236, "figure", "The file as a whole / marketer's average, global risk: / expected re-identifications"
    ),
    "household": Box(
        628, 446, 224, "figure", "Families in the file / household risk 1 − Π(1 − r): / one match gives away all"
    ),
    "special": Box(
        868, 446, 216, "figure", "Whom to treat first / special uniques (SUDA), the / records of highest risk"
    ),
}  # fmt: skip
ARROWS = [
    ("who", "prosecutor", "yes"),
    ("who", "known", "no"),
    *(("known", name, "") for name in ("table", "weights", "size", "margins")),
    *((name, "target", "") for name in ("prosecutor", "table", "weights", "size", "margins")),
    *(("target", name, "") for name in ("highest", "average", "household", "special")),
]


def picture() -> str:
    """The picture as SVG, without fonts or addresses from elsewhere."""
    parts = [_arrow(*arrow) for arrow in ARROWS] + [_box(box) for box in BOXES.values()]
    style = "text { font: 13px system-ui, sans-serif; fill: #223; text-anchor: middle } .strong { font-weight: 600 }"
    label = "Which risk to report: who the attacker is, what is known of the population, whom the figure protects"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">\n'
        f"<style>{style}</style>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _box(box: Box) -> str:
    fill, edge = COLOURS[box.kind]
    shape = (
        f'<rect x="{box.x - box.width // 2}" y="{box.y}" width="{box.width}" height="{box.height}" rx="7" '
        f'fill="{fill}" stroke="{edge}"/>'
    )
    texts = []
    for number, line in enumerate(box.lines):
        strong = ' class="strong"' if number == 0 else ""
        texts.append(f'<text x="{box.x}" y="{box.y + 21 + LINE * number}"{strong}>{escape(line)}</text>')
    return shape + "".join(texts)


def _arrow(start: str, end: str, word: str) -> str:
    """A line with corners, from the foot of one box to the head of the other."""
    first, last = BOXES[start], BOXES[end]
    bottom = first.y + first.height
    if start == "prosecutor":  # round the boxes beside it
        path = f"M{first.x} {bottom} V{last.y + last.height // 2} H{last.x - last.width // 2}"
        return f'<path d="{path}" fill="none" stroke="#8a93a0"/>'
    middle = (bottom + last.y) // 2
    line = f'<path d="M{first.x} {bottom} V{middle} H{last.x} V{last.y}" fill="none" stroke="#8a93a0"/>'
    return line + (f'<text x="{(first.x + last.x) // 2}" y="{middle - 6}">{word}</text>' if word else "")


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
