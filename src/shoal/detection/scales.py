"""Words that come in an order: answers of questionnaires, levels of education, sizes. Lowest first, variants with /."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.kinds.letters import squeeze
from shoal.table.dates import FULL_MONTHS

_SCALES = (
    *tuple(
        [[squeeze(word) for word in place.split("/")] for place in scale.split(",")]
        for scale in (
            "very low, low, medium/middle/moderate/mid/average, high, very high",
            "none/no, mild/light/slight, moderate/medium, severe/strong, very severe/extreme, life threatening",
            "minor, moderate, major, extreme/critical",
            "never, rarely/seldom, sometimes/occasionally, often/frequently/usually, always",
            "very poor/very bad, poor/bad, fair/average, good, very good, excellent",
            "strongly disagree, disagree, neutral/neither agree nor disagree/undecided, agree, strongly agree",
            "very dissatisfied, dissatisfied, neutral/neither, satisfied, very satisfied",
            "very unlikely, unlikely, neutral/possible, likely, very likely",
            "not at all, a little/slightly/not really, somewhat/moderately, very/quite a bit, extremely/very much",
            "none/no schooling/no education/no degree, primary/primary education/elementary/primary school,"
            "lower secondary/middle school, secondary/secondary education/upper secondary/high school/hs,"
            "post secondary/some college/vocational, associate/associates/associate degree,"
            "bachelor/bachelors/bachelors degree/ba/bsc/tertiary/higher/tertiary education/university/college,"
            "master/masters/masters degree/ma/msc/postgraduate, doctorate/phd/doctoral degree/doctor",
            "preschool, 1st 4th, 5th 6th, 7th 8th, 9th, 10th, 11th, 12th, hs grad, some college, assoc voc, assoc acdm,"
            "bachelors, masters, prof school, doctorate",
            "xxs, xs, s, m, l, xl, xxl, xxxl",
            "small, medium, large, very large/extra large",
            "infant/baby/newborn, toddler, child/children, teenager/adolescent/teen, young adult, adult, middle aged,"
            "elderly/senior",
            "monday/mon, tuesday/tue, wednesday/wed, thursday/thu, friday/fri, saturday/sat, sunday/sun",
            "niedrig, mittel, hoch",
            "nie, selten, manchmal, oft/häufig, immer",
            "basso/bassa, medio/media, alto/alta",
            "mai, raramente, talvolta/qualche volta, spesso, sempre",
            "faible/bas, moyen/moyenne, élevé/haut/fort",
            "jamais, rarement, parfois, souvent, toujours",
            "bajo/baja, medio/media, alto/alta",
            "nunca, raramente/rara vez, a veces, a menudo/frecuentemente, siempre",
        )
    ),
    [[name, name[:3]] for name in FULL_MONTHS],
)
# two words may be alike by chance
_LEAST = 3


def order_of(texts: Iterable[str]) -> tuple[str, ...] | None:
    """Texts in the order of a scale that knows all of them; None where none does.

    >>> order_of(["High", "low", "medium"])
    ('low', 'medium', 'High')
    """
    words = {text: squeeze(text) for text in texts}
    if len(words) < _LEAST:
        return None
    for scale in _SCALES:
        place = {word: number for number, variants in enumerate(scale) for word in variants}
        found = {text: place.get(word) for text, word in words.items()}
        if None not in found.values() and len(set(found.values())) == len(found):
            return tuple(sorted(found, key=lambda text: found[text]))  # type: ignore[arg-type,return-value]
    return None
