"""More headers of public tables and of exports from everyday programs, written last and looked at once.

The tables: exports of contact books, shops and staff systems, NHANES, police stops, school and
housing surveys, and open data of European towns. No recogniser was changed for the answers they gave.
"""

import labelled_makers as m
import polars as pl
from labelled_cases import Case, case
from labelled_makers import digits, one_of, pattern, skewed, whole

EXPORTS = [
    case("name", "Given Name", m.given("en")),
    case("name", "Family Name", m.surname("en"), nulls=0.2),
    case("email", "E-mail 1 - Value", m.email()),
    case("phone", "Phone 1 - Value", lambda r: f"+44 20 7{digits(3)(r)} {digits(4)(r)}"),
    case("date-of-birth", "Birthday", m.day(1940, 2005, "%Y-%m-%d"), nulls=0.6),
    case("street-address", "Home Street", m.street("en")),
    case("geography", "Home City", m.city("en")),
    case(
        "postal-code",
        "Home Postal Code",
        lambda r: f"{r.choice(['SW', 'N', 'LS'])}{r.randint(1, 20)} {pattern('9AA')(r)}",
    ),
    case("fax", "Business Fax", lambda r: f"(212) {r.randint(200, 999)}-{digits(4)(r)}"),
    case(
        "free-text", "Notes", m.prose(6, 30, "met at the fair wants a call back in spring about the offer"), nulls=0.7
    ),
    case("name", "Billing Name", m.full_name("en")),
    case("street-address", "Shipping Address1", m.street("en")),
    case("geography", "Billing Province", one_of("CA|NY|TX|ON|FL|WA|OR|NV|AZ")),
    case(None, "Financial Status", one_of("paid|refunded|pending")),
    case(None, "Lineitem quantity", whole(1, 9)),
    case(None, "Lineitem name", one_of("Tea - 100g|Mug - Blue|Coffee - 1kg")),
    case(None, "Accepts Marketing", one_of("yes|no")),
    case(None, "Discount Code", one_of("SPRING10|VIP|WELCOME")),
    case("unique-code", "Order ID", whole(10**12, 10**13 - 1), nulls=0.0),
    case("payment-card", "Card Last4", lambda r: f"xxxx-xxxx-xxxx-{digits(4)(r)}"),
    case(
        "ip-address",
        "browser_ip",
        lambda r: f"{r.randint(60, 220)}.{r.randint(0, 255)}.{r.randint(0, 255)}.{r.randint(0, 255)}",
    ),
    case(None, "user_agent", one_of("Mozilla/5.0 (X11; Linux)|Mozilla/5.0 (Windows NT 10.0)|curl/7.88")),
    case("unique-code", "emp_no", whole(10_001, 499_999)),
    case("date", "hire_date", m.day(1985, 2000)),
    case("date", "from_date", m.day(1985, 2002)),
    case(None, "dept_no", one_of("d001|d002|d003|d004|d005")),
    case("occupation", "title", one_of("Senior Engineer|Staff|Technique Leader|Engineer")),
    case("income", "base_pay", skewed(60_000)),
]
SURVEYS = [
    case("age", "RIDAGEYR", whole(0, 80)),
    case("sex", "RIAGENDR", whole(1, 2)),
    case("ethnicity", "RIDRETH1", whole(1, 5)),
    case("income", "INDHHIN2", whole(1, 15)),
    case("age", "subject_age", whole(15, 90)),
    case("ethnicity", "subject_race", one_of("white|black|hispanic|asian/pacific islander|other/unknown")),
    case("sex", "subject_sex", one_of("male|female")),
    case("date", "stop_date", m.day(2010, 2016, "%Y-%m-%d")),
    case(None, "stop_time", lambda r: f"{r.randint(0, 23):02d}:{r.randint(0, 59):02d}"),
    case("criminal-record", "violation", one_of("speeding|dui|equipment|seat belt")),
    case("coordinates", "lat", lambda r: round(r.uniform(33, 42), 6)),
    case(None, "search_conducted", lambda r: r.random() < 0.1),
    case(
        "education",
        "parental level of education",
        one_of("some college|master's degree|high school|associate's degree"),
    ),
    case(None, "math score", whole(0, 100)),
    case("name", "teacher_name", m.full_name("en", "Mrs. {s}")),
    case("diagnosis", "primary_dx", lambda r: f"{r.choice('CEIJ')}{digits(2)(r)}.{digits(1)(r)}"),
    case("medication", "rx_name", one_of("lisinopril 10 MG|simvastatin 20 MG|metformin 500 MG")),
    case("religion", "faith", one_of("Muslim|Christian|Jewish|None of these")),
    case("national-id", "ssn_last_first", m.ssn()),
    case(None, "sample_weight", lambda r: round(r.uniform(0.1, 9), 4)),
    case(None, "household_size", whole(1, 9)),
    case(None, "sqft_living", whole(500, 6_000)),
    case(None, "grade_level", whole(1, 12)),
    case("postal-code", "incident_zip", lambda r: f"1{r.randint(0, 1)}{digits(3)(r)}"),
    case("geography", "borough", one_of("BRONX|BROOKLYN|MANHATTAN|QUEENS|STATEN ISLAND")),
]
TOWNS = [
    case("name", "Nome e Cognome", m.full_name("it")),
    case("date-of-birth", "Data nasc.", m.day(1930, 2010, "%d/%m/%Y")),
    case("street-address", "Indirizzo di residenza", m.street("it")),
    case("phone", "Cell.", lambda r: f"3{r.choice('234')}{digits(1)(r)}-{digits(7)(r)}"),
    case("national-id", "Cod. Fiscale", m.codice_fiscale),
    case("iban", "Coordinate bancarie", m.iban("IT", 27, "X")),
    case(None, "Importo contributo (€)", skewed(900)),
    case("nationality", "Cittadinanza", one_of("Italiana|Francese|Rumena|Tunisina")),
    case("marital-status", "St. civile", one_of("coniugato/a|celibe/nubile|vedovo/a")),
    case("date-of-birth", "geb_am", m.day(1930, 2010, "%d.%m.%Y")),
    case("name", "nachn", m.surname("de")),
    case("street-address", "str_hausnr", m.street("de")),
    case("geography", "wohnort_ortsteil", m.city("de")),
    case("religion", "konf", one_of("ev|rk|vd")),
    case(None, "anzahl_kinder", whole(0, 4)),
    case(None, "steuerklasse", whole(1, 6)),
    case("income", "bruttolohn", whole(1_500, 7_000)),
    case("name", "nom_usage", m.surname("fr")),
    case("date-of-birth", "né(e) le", m.day(1930, 2010, "%d/%m/%Y")),
    case("geography", "code_commune_insee", lambda r: f"{r.randint(1, 95):02d}{digits(3)(r)}"),
    case("phone", "tél. portable", lambda r: "06" + "".join(f".{digits(2)(r)}" for _ in range(4))),
    case("email", "adresse mél", m.email()),
    case(None, "quotient_familial", whole(200, 2_500)),
    case("name", "nombre", m.given("es")),
    case("sex", "sexo_cod", whole(1, 2)),
    case("street-address", "domicilio", m.street("es")),
    case("geography", "pais_nac", one_of("España|Marruecos|Ecuador|Rumanía")),
    case("education", "nivel_est", one_of("Primaria|ESO|Bachillerato|Universidad")),
    case("age", "edad_anios", whole(0, 99), dtype=pl.Float64),
    case(None, "num_hijos", whole(0, 6)),
    case("postal-code", "postcode4", whole(1011, 9999), dtype=pl.String),
    case("national-id", "bsn_nr", m.bsn),
]

FRESH: list[Case] = [*EXPORTS, *SURVEYS, *TOWNS]
