"""Headers that are whole questions, as forms and survey tools export them, and flags that institutions keep."""

from labelled_cases import Case, case
from labelled_makers import one_of, whole

_WEIGHT = one_of("0.4|0.75|1.1|1.62|2.3|3.05")
_SCALE = one_of("1|2|3|4|5")

QUESTIONS: list[Case] = [
    case("household", "How many people live in your household?", whole(1, 8)),
    case("household", "Nombre d'enfants dans le ménage", whole(0, 5)),
    case("language", "Which language do you speak at home?", one_of("English|Urdu|Polish|Welsh")),
    case("language", "Che lingua parla in casa?", one_of("italiano|dialetto|altro")),
    case("survey-weight", "Final sampling weight of the person", _WEIGHT),
    case("survey-weight", "Factor de expansión de la persona", _WEIGHT),
    case("survey-design", "Primary sampling unit of the respondent", whole(1, 60)),
    case("survey-design", "Stratum used in the sample design", whole(1, 20)),
    case("survey-process", "Mode of interview of this respondent", whole(1, 3)),
    case("survey-process", "Dauer des Interviews in Minuten", whole(12, 80)),
    case("opinion", "How satisfied are you with democracy?", _SCALE),
    case("opinion", "item_14", one_of("strongly agree|agree|disagree|strongly disagree")),
    case("opinion", "Vertrauen in das Parlament insgesamt", _SCALE),
    case("health", "Has a doctor ever told you that you had a stroke?", one_of("yes|no")),
    case("health", "abitudine_al_fumo", one_of("si|no")),
    case("health", "sick_leave_taken", one_of("Y|N")),
    case("benefits", "receives_food_stamps", one_of("Y|N")),
    case("benefits", "Bezug von Wohngeld oder Arbeitslosengeld", one_of("ja|nein")),
    case("assessment", "Disciplinary action", one_of("none|reprimand|written warning")),
    case("assessment", "performance_review", one_of("A|B|C")),
    case(None, "What colour is the box of the product?", one_of("red|blue|green")),
    case(None, "How did you hear of our shop?", one_of("friend|radio|poster")),
]
