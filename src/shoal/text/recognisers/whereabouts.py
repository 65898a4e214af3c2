"""Where somebody lives, stays or works, as a phrase says it: `lives at The Old Manse`, `Contractor Nimbus Heating`.

What stands behind such words is known by its capitals alone: no list has the farms, hostels and firms of the world.
"""

from shoal.text.recognisers.pattern import Pattern, Patterns
from shoal.text.words import is_word_of

_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}"
# no capital of these starts a place: people, and the states of a note in capitals
_NOBODY = (
    r"(?!(?:the\s)?(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sister|Nurse|Mum|Mom|Dad|Day|Week|Stage|Grade|Level|Home|ED|ER|ICU|ITU|"
    r"AMU|MRI|CT|GP|OT|PT|A&E|NHS|BP|Risk|Least|Night)(?!\w))"
)
_RUN = (
    rf"(?:\d{{1,5}}[A-Za-z]?(?:[/-]\d{{1,4}})?\s)?(?:[Tt]he\s)?{_CAPITAL}(?:(?:\s(?:of|on|upon|the|and|under|de|la|by))"
    rf"{{0,2}}\s{_CAPITAL}){{0,3}}(?:,?\s(?:(?:nr|near|off|by|in|on|just\soff)\.?\s)?{_CAPITAL}(?:\s(?:of\s)?{_CAPITAL})"
    r"{0,2}(?:,?\s[A-Z]{1,3}\d{0,2})?(?:\s\d{4,6})?(?=[.,;:)\n]|$|\s[a-z])){0,2}"
)
_GROUP = rf"(?:\d{{1,5}}[a-z]?\s)?{_CAPITAL}(?:\s(?:of\s|the\s|on\s)?{_CAPITAL}){{0,3}}"
# `Dayton, OH` is a place and a state, which stays
_NO_STATE = r"(?![A-Z]{2,3}(?!\w))"
_LAST = r"(?:,?\s(?:[A-Z]{2,3}|[A-Z]{1,2}\d{1,2}[A-Z]?))?(?:\s\d{4,6})?"
_ROADS = (
    r"(?:Quay|Close|Court|Gardens|Grove|Mews|Square|Hill|Row|Wharf|Walk|Rise|View|Terrace|Green|Bank|Dock|Heights|Gate|"
    r"Crescent|Cres|Place|Parade|Vale|Croft|Drove|Embankment|Esplanade|Causeway|Street|Road|Avenue|Ave|Rd|Ln|Blvd|Dr)"
)
_HEADS = (
    r"(?:plant|factory|mill|depot|warehouse|works|yard|site|office|branch|store|shop|farm|mine|quarry|brewery|bakery|"
    r"refinery|shipyard|foundry|dairy|cannery|abattoir|salon|garage)"
)


def _is_name_of(text: str) -> bool:
    """Whether one of the words in capitals is no word of English: `Dell & Hartnoll`, not `Speech & Language`."""
    words = [word for word in text.replace("&", " ").split() if word[0].isupper()]
    return any(not is_word_of(word.lower(), "en") and not word.isupper() for word in words)


RECOGNISER = Patterns(
    "whereabouts",
    Pattern(
        r"(?<![\w-])(?i:lives?|living|lived|resid(?:es|ing|ed|ent)|stay(?:s|ing|ed)|sleep(?:s|ing)|slept|house|home|"
        r"bungalow|flat|caravan|boat|lodg(?:es|ing)|based|sheds|address|property|seen|visit(?:ed)?|attended|called|found|"
        rf"collected|dispatched)(?:\s(?:[\w'’]{{1,15}},?\s){{0,4}}(?:at|to)|\sis|:|\sas)\s(?P<id>{_NOBODY}{_RUN})"
        r"(?=[.,;:)\n]|$|\s(?:\(|and\s|with\s|but\s|since\s|on\s|at\s|for\s|who\s|where\s|is\s|has\s|when\s))",
        0.72, "after a word for living somewhere", "address", check=_is_name_of,
        parts=(
            "live", "living", "resid", "stay", "sleep", "slept", "house", "home", "bungalow", "flat", "caravan", "boat",
            "lodg", "based", "sheds", "address", "property", "seen", "visit", "attend", "called", "found", "collected",
            "dispatch",
        ),
    ),
    Pattern(
        rf"(?<![\w-])(?i:address|home|anschrift|adresse|domicilio|dirección|indirizzo|domicile|wohnort|residence)"
        rf"(?:\s(?i:confirmed|is|on file|given as))?[:\s]\s?(?P<id>(?:Flat\s\w+,\s)?{_GROUP}"
        rf"(?:,\s(?:Co\.\s)?{_GROUP}){{0,4}}{_LAST})"
        r"(?![\w'’])",
        0.74, "after a word for an address", "address",
        parts=("address", "home", "anschrift", "adresse", "domicil", "direcci", "indirizzo", "wohnort", "residence"),
        check=_is_name_of,
    ),
    Pattern(
        rf"(?<![\w-])(?:at|from|to|near|outside|in)\s(?P<id>{_NOBODY}(?:{_CAPITAL}\s\d{{1,4}}[a-z]?,\s)?{_GROUP}"
        rf"(?:,\s{_NO_STATE}{_GROUP}){{1,3}}{_LAST})(?=[.;:)\n]|$|\s[a-z(])",
        0.6, "places in a row", "address", parts=(", ",), check=_is_name_of,
    ),
    Pattern(
        rf"(?<![\w.,/-])\d{{1,4}}[a-z]?\s{_CAPITAL}(?:\s{_CAPITAL}){{1,2}},\s{_CAPITAL}(?=[.;)\n]|$|,\s[A-Z])",
        0.62, "number and names of places", "address", digits=True, at_digits=True, check=_is_name_of, parts=(", ",),
    ),
    Pattern(
        r"(?<![\w-])(?:owned|run|employed|hired|dismissed|fired|sacked|operated|managed|sponsored|contracted|left|"
        r"joined|quit|(?:resigned|retired|redundant)\sfrom|(?:at|from|rang)\swork,?)"
        rf"(?:\sby)?\s\(?(?:the\s)?(?P<id>{_NOBODY}{_CAPITAL}(?:\s(?:&\s)?{_CAPITAL}){{1,3}})(?!\w)",
        0.64, "after a word for work", "organisation", check=_is_name_of,
        parts=("owned ", "run ", "employed ", "hired ", "dismissed ", "fired ", "sacked ", "operated ", "managed ",
               "sponsored ", "contracted ", "left ", "joined ", "quit ", "resigned ", "retired ",
               "redundant ", " work"),
    ),
    Pattern(
        rf"(?<![\w-])(?:behind|opposite|outside|beside|under|beneath|above|near|past|off)\s(?P<id>{_NOBODY}the\s{_CAPITAL}"
        rf"(?:\s{_CAPITAL}){{0,2}}(?:\s(?:on|in|at)\s(?:the\s)?{_CAPITAL}(?:\s{_CAPITAL}){{0,2}})?)(?=[.,;:)\n]|$|\s[a-z])",
        0.66, "landmark", "address", check=_is_name_of,
        parts=("behind ", "opposite ", "outside ", "beside ", "under ", "beneath ", "above ", "near ", "past ", "off "),
    ),
    Pattern(
        rf"(?<![\w-])(?:on|off|along|down)\s(?P<id>{_NOBODY}(?:{_CAPITAL}\s){{1,2}}{_ROADS})(?!\w)",
        0.78, "name of a street", "address", parts=("on ", "off ", "along ", "down "),
    ),
    Pattern(
        rf"(?:\b(?i:age[d:]?)\s\d{{1,3}}|,\s\d{{2,3}}|\(\d{{2,3}}\)),?\sof\s(?P<id>{_NOBODY}{_RUN})(?=[.,;:)\n]|$)",
        0.72, "after an age", "address", digits=True, parts=(" of ",),
    ),
    Pattern(
        rf"(?<!\w)(?i:block|tower|wing|stair|pitch|plot|berth|mooring|caravan|chalet|bay|villa)\s[A-Z\d]{{1,3}},?\s"
        rf"(?!(?:Bed|Ward)\b){_CAPITAL}(?:\s{_CAPITAL}){{1,2}}(?!\w)",
        0.8, "part of a named building", "address",
        parts=(
            "block ", "tower ", "wing ", "stair ", "pitch ", "plot ", "berth ", "mooring ", "caravan ", "chalet ",
            "bay ", "villa ",
        ),
    ),
    Pattern(
        r"(?<![\w-])(?i:(?:sub)?contractors?|employer|supplier|agency|courier|landlord|insurer|company|firm|solicitors|"
        rf"garage|caterer|vendor|retailer)(?:\sis|\swas|,|:)?\s(?P<id>{_NOBODY}{_CAPITAL}(?:\s(?:&\s)?{_CAPITAL}){{1,3}})"
        r"(?!\w)",
        0.72, "after a word for a company", "organisation",
        parts=("contractor", "employer", "supplier", "agency", "courier", "landlord", "insurer", "company", "firm",
               "solicitors", "garage", "caterer", "vendor", "retailer"),
    ),
    Pattern(
        rf"(?<![\w-])(?:the|at|for|from)\s(?P<id>(?!The\b){_CAPITAL}(?:\s{_CAPITAL}){{0,2}}\s{_HEADS})(?!\w)",
        0.66, "ends with a word for a company", "organisation",
        parts=(" plant", " factory", " mill", " depot", " warehouse", " yard", " brewery", " bakery", " refinery",
               " shipyard", " foundry", " dairy", " store", " garage", " branch"),
        languages=("en",), check=_is_name_of,
    ),
    Pattern(
        rf"(?<![\w-]){_CAPITAL}(?:,\s{_CAPITAL})?\s&\s{_CAPITAL}(?:\s{_CAPITAL})?(?!\w)",
        0.87, "names of a company", "organisation", parts=(" & ",), check=_is_name_of,
    ),
)  # fmt: skip
