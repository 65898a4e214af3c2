"""Terms that shoal knows: small words of languages, titles, context words, what stays."""

from __future__ import annotations

_SMALL = {
    "en": """the a an and or of to in is was were are be been has have had with for on at by from as that this these
    those he she his her him it its they their them not no but which who will would can could did does do if when then
    after before than also because so we i you your our my me there here about into out up down over under all any""",
    "de": """der die das den dem des ein eine einen einem einer eines und oder ist war waren sind sein hat haben hatte
    mit für auf bei von vom zu zum zur im in am an aus nach vor über unter nicht kein keine er sie es ihr ihre ihren ihm
    ihn sich wird wurde werden worden dass als auch noch nur wie wenn aber bis seit durch gegen ohne wir ich mein uns""",
    "fr": """le la les un une des de du et ou est était sont a ont avait avec pour sur chez par dans en au aux ce cette
    ces il elle ils elles son sa ses leur leurs ne pas plus qui que dont où mais comme été être sans sous depuis après
    avant nous je vous mon ma mes notre votre se on y lui""",
    "it": """il lo la i gli le un uno una di del dello della dei degli delle e o è era sono ha hanno aveva con per su
    sul sulla da dal dalla in nel nella nei al allo alla ai agli alle che chi non più si ma come stato stata essere suo
    sua suoi sue loro questo questa dopo prima anche ci mi ne ed ad""",
    "es": """el la los las un una unos unas de del y o es era son fue ha han había con por para en al que quien no más se
    su sus lo le les este esta estos estas ese esa como pero sin sobre desde hasta entre después antes también muy está
    estaba ser nos mi yo cuando donde porque""",
}
SMALL_WORDS: dict[str, tuple[str, ...]] = {}
for _language, _text in _SMALL.items():
    for _word in _text.split():
        SMALL_WORDS[_word] = (*SMALL_WORDS.get(_word, ()), _language)
WORDS: frozenset[str] = frozenset(SMALL_WORDS)


def bits(word: str) -> int:
    """The bits of a lower-case word."""
    return 0
